/* Reads file extents straight into leased memory: io_uring with O_DIRECT on one thread of the lease's node; where
 * io_uring is refused (seccomp), pread threads; where a file refuses O_DIRECT, buffered. Each step down has its reason.
 *
 * An extent may start and end anywhere. What is read is its aligned superset, into the room, without a copy:
 *
 *   file:  ...|----4096----|--XXXXXXXX|XXXXXXXX|XXX-----|...     X: the extent
 *   room:     |            data^                        |        data = room + offset % 4096 */
#ifndef ALLOC_FILL_H
#define ALLOC_FILL_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filler;
struct fill;
struct span_list;

enum fill_method { FILL_URING, FILL_PREAD };

struct filler_opts {
    unsigned depth;        /* reads in flight; 0: 32 */
    size_t chunk_bytes;    /* per read, a multiple of 4096; 0: 1 MiB */
    const cpu_set_t *cpus; /* the node's I/O CPUs; NULL: not pinned */
    enum fill_method first;
    bool use_cache;           /* chunks that lie in the page cache are copied from there; it does not grow by that */
    struct span_list *spans;  /* a "read" span per job; may be NULL */
    void (*ended)(void *ctx); /* a job ended; called with the filler's lock held: only signal. May be NULL */
    void *ctx;
};

struct fill_extent {
    const char *path; /* must live until the job is closed */
    uint64_t offset, bytes;
    unsigned char *room; /* 4 KiB aligned, in a lease that stays until fill_wait has returned */
    size_t room_bytes;   /* at least fill_room(offset, bytes) */
    unsigned char *data; /* out: where the extent's first byte is */
};

struct fill_report {
    uint64_t bytes;        /* read so far, superset included */
    uint64_t cached_bytes; /* of these, copied from the page cache where they lay already */
    uint64_t ns;           /* from start to end (or now) */
    bool direct;           /* what did not lie in the page cache was read past it, of every file */
    char why[512];         /* why not, or "" */
};

/* -ENOMEM, -EAGAIN (no thread). Close with filler_close. */
int filler_open(struct filler **out, const struct filler_opts *opts);
/* -EBUSY (nothing done) while jobs are not closed. */
int filler_close(struct filler *f);

enum fill_method filler_method(const struct filler *f);
const char *filler_why(const struct filler *f); /* why not io_uring; "" */

/* Bytes of room that an extent needs. */
size_t fill_room(uint64_t offset, uint64_t bytes);

/* Start reading n extents, of any number of files; several jobs share the reads in flight evenly. Fails at once with
 * -EINVAL (extents), -ENODATA (an extent ends behind its file), or what open said. Any thread. */
int fill_start(struct filler *f, struct fill **out, struct fill_extent *extents, unsigned n, uint64_t job);

/* Wait for the end. 0: every byte is there. -EIO and others with path and offset, -ENODATA: the file ended early,
 * -ECANCELED. However it ended, no read is in flight any more: the lease may be given back. Any thread. */
int fill_wait(struct fill *j);
/* Stop issuing reads; the job ends as cancelled when those in flight are back. Any thread. */
void fill_cancel(struct fill *j);
bool fill_done(struct fill *j);
void fill_read(struct fill *j, struct fill_report *report);
/* Waits, then frees. */
void fill_close(struct fill *j);

#endif
