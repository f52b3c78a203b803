/* Brings ranges of files into leased memory, in the order in which they were asked for, several reads in flight, while
 * the asker works on what is there:
 *
 *     load_ask(coefficients), load_ask(A), load_ask(B1) ...
 *       a thread: lease from the pool --> fill (io_uring, O_DIRECT) --> ready     load_wait --> use --> load_drop
 *
 * A loader has a pool of its own whose units are sized for its ranges, so that little is lost by rounding; the pool
 * takes the best pages that are there (1 GiB, 2 MiB, transparent, 4 KiB), registers them with the device, and counts
 * them in the budget. Parts of a file that are in the page cache are copied from there, the rest is read past it. */
#ifndef ALLOC_LOADER_H
#define ALLOC_LOADER_H

#include "alloc/fill.h"
#include "alloc/pool.h"

struct loader;
struct load;

struct loader_opts {
    uint64_t largest_bytes; /* of a range; sizes the units. Required */
    bool trim;              /* memory that no asked range waits for goes back to the system; else it stays for later */
    enum page_tier tier;    /* best tier; one whose pages are larger than a unit is passed over */
    bool strict;            /* no lower tier than `tier` */
    int node;               /* -1: anywhere */
    const cpu_set_t *cpus;  /* the node's, for reading and populating; may be NULL */
    uint64_t window_bytes;  /* the first range of a quarter of that or less makes an arena of that size for those that
                               follow */
    bool lazy;              /* pages come with the reads; where no device reads them by DMA */
    struct registrar registrar;
    struct budget *budget; /* may be NULL */
    enum fill_method first;
    struct span_list *spans; /* "read", "grow", "shrink"; may be NULL */
};

struct loader_view {
    struct pool_view pool;
    uint64_t bytes, cached_bytes; /* read so far; of these, copied from the page cache */
    uint64_t wait_ns;             /* that load_wait made threads wait */
    uint64_t peak_bytes;          /* in leases at once, at most */
    enum fill_method method;
    bool direct;   /* what was not in the page cache was read past it */
    char why[800]; /* "" or why not io_uring, why not O_DIRECT */
};

/* -ENOMEM, -EAGAIN (no thread), -EINVAL. */
int loader_open(struct loader **out, const struct loader_opts *opts);
/* Every load must have been dropped: -EBUSY (nothing done). -EIO: memory that would not unregister stays mapped. */
int loader_close(struct loader *l);

/* Ask for a range, behind those asked for before; `path` is copied. `after` (may be NULL): its memory is to be used
 * again, so this one is not begun before that one was dropped, unless somebody waits for it. -ENOMEM, -E2BIG (larger
 * than largest_bytes). */
int load_ask(struct loader *l, struct load **out, const char *path, uint64_t offset, uint64_t bytes,
             const struct load *after);

/* Wait until it is there; a range that somebody waits for comes before all others. What went wrong (-EIO, -ENODATA,
 * -ENOMEM, ..., with file and offset) is said to everyone who waits. Any thread, several too. */
int load_wait(struct load *load, const uint8_t **data);

/* For copies by DMA: lease_copy_begin, lease_copy_end. Only between load_wait and load_drop. */
struct lease *load_lease(struct load *load);

/* Give the memory back, or take the question back; a read under way is cancelled. Its copies have ended and nobody
 * waits for it. The load is gone for the caller; NULL is allowed. */
void load_drop(struct load *load);

/* Give idle memory back to the system now, without waiting for it. */
void loader_trim(struct loader *l);

void loader_read(struct loader *l, struct loader_view *view);

#endif
