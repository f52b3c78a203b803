/* The pool of leases. Per node a directory of arenas, published with RCU; taking and giving back are one
 * compare-and-swap each: no lock, no system call, no allocation. Everything slow (mapping, registration at 20 ms/GiB
 * which stalls the process's copies, unregistration, unmapping) happens on one reclaimer thread at a boundary that the
 * scheduler grants.
 *
 *   node 0: | arena: unit unit unit ... (one registration) | arena | ...     small: | slots of one unit | ...
 *   node 1: | arena | ...
 *
 * Who finds nothing waits in line: the oldest request of a node is passed by at most POOL_BYPASSES smaller ones, and
 * only where they leave alone the window it will get first. Nobody waits while holding a lease (-EDEADLK), so waiting
 * threads cannot block each other; what must be held together is asked together (a, b, c: one lease). */
#ifndef ALLOC_POOL_H
#define ALLOC_POOL_H

#include "alloc/arena.h"

struct pool;
struct span_list;

enum { POOL_BYPASSES = 4, POOL_NODES = 64 };

/* One node's part. Index in pool_opts.node is the pool's name for it ("place"); `id` is the system's. */
struct pool_node_opts {
    int id;                                     /* -1: memory without a node */
    unsigned start_units, max_units;            /* mapped at pool_open; never more than (0: start_units) */
    bool on_request;                            /* grows by pool_grow only, not because a request finds nothing */
    const cpu_set_t *cpus;                      /* for population; may be NULL */
    unsigned borrow[POOL_NODES];                /* places to borrow from, nearest first */
    double borrow_cost_ns_per_byte[POOL_NODES]; /* 1/bandwidth from there - 1/bandwidth from here, measured under load:
                                                 * a request waits here that long before it goes there */
    unsigned n_borrow;
};

/* Asks the scheduler for a moment when a stall of copies costs little. begin returns within wait_ns, granted (0) or not
 * (then the reclaimer goes on all the same: the wait is bounded). */
struct pool_boundary {
    int (*begin)(void *ctx, uint64_t wait_ns);
    void (*end)(void *ctx);
    void *ctx;
    uint64_t wait_ns; /* 0: 2 s */
};

struct pool_opts {
    const struct pool_node_opts *node;
    unsigned n_nodes;
    size_t unit_bytes;    /* 0: 1 GiB; power of two, at least 4 KiB */
    unsigned arena_units; /* 0: 24 = two PoRep or three Snap triples without a unit lost */
    enum page_tier tier;  /* best tier */
    bool strict;          /* no lower tier */
    bool lazy;            /* see hugepage.h */
    unsigned populate_threads;
    struct registrar registrar;
    struct budget *budget; /* every arena is counted there, leased or idle; may be NULL */
    struct pool_boundary boundary;
    struct span_list *spans; /* "grow" and "shrink" with their stalls; may be NULL */
};

struct pool_want {
    unsigned place; /* index of the node */
    size_t size[LEASE_BUFFERS];
    unsigned buffers;
    bool local;                 /* never another node's memory */
    uint64_t wait_ns;           /* 0: do not wait; UINT64_MAX: no limit */
    const _Atomic bool *cancel; /* may be NULL; set it, then pool_wake */
};

struct pool_view {
    uint64_t mapped_bytes; /* = active + draining + quarantined: what the kernel gave */
    uint64_t leased_bytes, idle_bytes, draining_bytes, quarantined_bytes;
    uint64_t hits, misses, waits, bypasses, borrowed, waited_ns;
    uint64_t grows, shrinks, reactivations;
    unsigned arenas, small_arenas, waiting;
    bool verified;          /* all arenas */
    enum page_tier lowest;  /* tier in use */
    char why[HUGEPAGE_WHY]; /* of the last arena that landed below `tier`, or failed to grow; "" */
};

/* Map, verify and register the start units; -ENOMEM, -EINVAL, or the registrar's error; nothing is left then. */
int pool_open(struct pool **out, const struct pool_opts *opts);

/* Unregister and unmap everything. -EBUSY (nothing done) while leases are out. A failed unregistration leaves that
 * memory mapped for ever; the pool is gone all the same and -EIO says so. Waiting threads must have left (pool_stop).
 */
int pool_close(struct pool *p);

/* From now on waiting and new waits end with -ECANCELED. */
void pool_stop(struct pool *p);

/* Take one lease for all buffers. -E2BIG: larger than an arena, or than anything this pool can have; -EAGAIN,
 * -ETIMEDOUT, -ECANCELED; -EDEADLK: must wait, but this thread holds a lease. `out` is written on success only. Any
 * thread. */
int pool_take(struct pool *p, struct lease *out, const struct pool_want *want);

/* Give back, empty the lease. Nothing happens for an empty one. -EBUSY while copies are in flight. -ENOMEM: the
 * first call of a thread for which no record can be had; the lease is as it was. Any thread. */
int pool_give(struct pool *p, struct lease *lease);

/* Let waiting threads look at their cancel flags. */
void pool_wake(struct pool *p);

/* Bytes that a request will occupy: buffers start at 2 MiB steps (4 KiB in small leases), the run is whole units. */
size_t pool_footprint(const struct pool *p, const struct pool_want *want);

/* Add arenas until the node has `units` more; by the reclaimer, the caller waits. -ENOMEM, -E2BIG (max_units), -EAGAIN
 * (budget). */
int pool_grow(struct pool *p, unsigned place, unsigned units);

/* Free idle arenas of a node, those with the fewest leases first, until `bytes` are free or nothing more can go; an
 * arena whose leases do not end within hold_ns is put to use again. *freed may be NULL. The caller waits. */
int pool_shrink(struct pool *p, unsigned place, uint64_t bytes, uint64_t hold_ns, uint64_t *freed);

void pool_read(struct pool *p, struct pool_view *view);

#endif
