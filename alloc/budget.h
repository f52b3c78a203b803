/* One limit in bytes for everything that takes host memory: keys, matrices, the pool's arenas (idle ones too), scratch,
 * queued requests. First come, first served: a big request is never overtaken, so it cannot starve. Everything a job
 * needs is taken in one call before it starts and given back in stages; who already holds a share cannot wait for a
 * second one through budget_more, so two jobs cannot hold half of each other's memory. */
#ifndef ALLOC_BUDGET_H
#define ALLOC_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct budget;

/* Bytes that somebody holds. Zeroed = empty. Moved, not copied. */
struct budget_share {
    struct budget *budget;
    uint64_t bytes;
    bool permanent;
};

struct budget_wait {
    uint64_t wait_ns;           /* 0: do not wait; UINT64_MAX: no limit */
    const _Atomic bool *cancel; /* may be NULL; set it, then budget_wake */
};

/* Something that can be thrown away: an idle key, the pool's empty arenas. Callbacks run on a waiting thread, without
 * the budget's lock. */
struct budget_evictor {
    const char *name;
    unsigned rank; /* lower first; within a rank the one idle for longest first */
    void *ctx;
    /* Bytes that evict could free now; *since_ns = when they fell idle (clock_now_ns). 0: in use. */
    uint64_t (*idle)(void *ctx, uint64_t *since_ns);
    /* Free at least `bytes` or all that is idle, and give the bytes back to the budget. Negative: could not after all.
     */
    int (*evict)(void *ctx, uint64_t bytes);
    struct budget_evictor *next;
};

struct budget_opts {
    uint64_t limit_bytes;
    uint64_t min_idle_ns; /* evict only what has been idle for that long */
};

struct budget_view {
    uint64_t limit_bytes, taken_bytes, permanent_bytes, waiting_bytes;
    unsigned waiting;
    uint64_t takes, waits, refusals, evictions, evicted_bytes;
};

/* -EINVAL, -ENOMEM. */
int budget_open(struct budget **out, const struct budget_opts *opts);
/* -EBUSY (nothing done) while shares are held or threads wait. */
int budget_close(struct budget *b);

/* Take `bytes`, behind everybody who came before; evicts idle things when that, and only that, makes room.
 * -E2BIG at once when it exceeds the whole limit, -EAGAIN (wait_ns 0), -ETIMEDOUT, -ECANCELED. `share` must be empty.
 * Any thread that holds no lock an evictor needs. */
int budget_take(struct budget *b, struct budget_share *share, uint64_t bytes, const struct budget_wait *wait);

/* Take without waiting, evicting or overtaking: -EAGAIN, -E2BIG. */
int budget_try(struct budget *b, struct budget_share *share, uint64_t bytes);

/* Make a share larger; as budget_try. */
int budget_more(struct budget_share *share, uint64_t bytes);

/* Give a part or all (UINT64_MAX) of a share back. -EINVAL, and nothing happens, for more than it holds. */
int budget_give(struct budget_share *share, uint64_t bytes);

/* The share stays for the life of what it pays for (a resident key): counted apart, still given back by budget_give. */
void budget_keep(struct budget_share *share);

/* The evictor's memory is the caller's, until removed. Removing waits for a callback that runs. */
void budget_evictor_add(struct budget *b, struct budget_evictor *e);
void budget_evictor_remove(struct budget *b, struct budget_evictor *e);

/* Let waiting threads look at their cancel flags. */
void budget_wake(struct budget *b);

void budget_read(struct budget *b, struct budget_view *view);

#endif
