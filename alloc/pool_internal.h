/* Shared by pool.c (open, take, give), small.c (leases below half a unit), queue.c (waiting), reclaim.c (the reclaimer
 * thread) and poolview.c. */
#ifndef ALLOC_POOL_INTERNAL_H
#define ALLOC_POOL_INTERNAL_H

#include <pthread.h>

#include "alloc/pool.h"
#include "alloc/sysops.h"
#include "alloc/thread.h"

/* Arenas of a node. A slot is emptied in place, so that removal needs no memory; a full directory is replaced by a
 * larger one and freed after a grace period. */
enum { DIRECTORY_SLOTS = 16 };
struct directory {
    struct directory *next; /* in the garbage list */
    unsigned n;
    _Atomic(struct arena *) arena[];
};

struct waiter {
    struct waiter *next;
    uint64_t ticket;
    unsigned units;
};

/* The oldest waiter of a node as one word, for takers that only pass by: | ticket 48 | bypasses left 8 | units 8 |;
 * 0 = nobody waits. */
static inline uint64_t front_make(uint64_t ticket, unsigned left, unsigned units)
{
    return ticket << 16 | left << 8 | units;
}
static inline uint64_t front_ticket(uint64_t f)
{
    return f >> 16;
}
static inline unsigned front_left(uint64_t f)
{
    return f >> 8 & 255;
}
static inline unsigned front_units(uint64_t f)
{
    return f & 255;
}

enum { STRIPES = 16 };
enum pool_stat { STAT_HIT, STAT_MISS, STAT_WAIT, STAT_BYPASS, STAT_BORROW, STAT_WAITED_NS, STATS };
struct stripe {
    _Alignas(64) _Atomic uint64_t n[STATS];
};

struct pool_node {
    struct pool_node_opts opts;
    _Atomic uint64_t mapped_units;
    _Atomic unsigned small_count;
    _Atomic int grow_rc;             /* of the last growth on demand */
    _Atomic uint64_t grow_failed_ns; /* when growth on demand failed last; 0: it did not */
    _Alignas(64) _Atomic(struct directory *) big;
    _Atomic(struct directory *) small;
    _Alignas(64) _Atomic uint64_t front;
    pthread_mutex_t queue_lock;
    struct waiter *first, *last;
    uint64_t tickets;
};

enum request_kind { REQUEST_GROW, REQUEST_SHRINK };
struct request {
    struct request *next;
    enum request_kind kind;
    unsigned place, units;
    uint64_t bytes, hold_ns, freed;
    int rc;
    bool done;
    char said[1024];
};

struct pool {
    struct pool_opts opts;
    unsigned n_nodes;
    struct pool_node *node;
    struct stripe *stripes;

    _Alignas(64) _Atomic uint32_t returns; /* futex of the waiting takers */
    _Atomic uint32_t sleepers;             /* read by every give, written by waiters only */
    _Atomic bool stop;

    _Alignas(64) _Atomic uint32_t work; /* futex of the reclaimer */
    _Atomic(struct arena *) dead;       /* arenas to reclaim; pushed by anybody, popped all at once */
    _Atomic bool sweep_asked;
    _Atomic uint64_t grow_asked; /* a bit per place */
    _Atomic bool closing;        /* no growth on demand any more */
    _Atomic bool quit;
    pthread_t reclaimer;
    pthread_mutex_t change; /* directories, garbage, requests, quarantine, text */
    pthread_cond_t request_done;
    struct directory *garbage;
    struct request *requests;
    struct arena *quarantine;
    uint64_t quarantined_bytes, grows, shrinks, reactivations;
    char why[HUGEPAGE_WHY];
    struct budget_evictor evictor;
};

static inline void stat_add(struct pool *p, enum pool_stat which, uint64_t n)
{
    unsigned stripe = thread_enter()->stripe % STRIPES;
    atomic_fetch_add_explicit(&p->stripes[stripe].n[which], n, memory_order_relaxed);
}

static inline size_t node_units(const struct pool_node *pn)
{
    return (size_t)atomic_load(&pn->mapped_units);
}

/* Whose turn is it? A ticket number, or one of these. */
#define TURN_PASSING   0ull
#define TURN_BORROWING UINT64_MAX /* from another node: only when nobody waits there */

/* pool.c */
bool pool_try(struct pool *p, struct lease *out, const struct pool_want *want, unsigned place, uint64_t turn);
bool node_take(struct pool *p, unsigned place, unsigned units, uint64_t turn, struct arena **from, unsigned *first);
void lease_fill(struct lease *l, struct arena *a, unsigned first, unsigned units);
void lease_release(struct pool *p, struct lease *l);
void pool_returned(struct pool *p);                                          /* wake the waiting, if any */
unsigned pool_units_for(const struct pool *p, const struct pool_want *want); /* whole units, as the queue counts */
bool pool_is_small(const struct pool *p, const struct pool_want *want);

/* small.c */
bool small_try(struct pool *p, struct lease *out, const struct pool_want *want, unsigned place, uint64_t turn);
void small_sweep(struct pool *p, unsigned place); /* drain the empty ones */

/* queue.c */
int pool_wait(struct pool *p, struct lease *out, const struct pool_want *want);

/* reclaim.c */
void *pool_reclaimer(void *pool);
void pool_wake_reclaimer(struct pool *p);
void pool_bury(struct pool *p, struct arena *a); /* hand a dead arena over; whoever made it dead */
void dead_push(struct pool *p, struct arena *a); /* the same without waking the reclaimer */
int pool_request(struct pool *p, struct request *r);
int directory_add(struct pool *p, _Atomic(struct directory *) *where, struct arena *a); /* p->change held */
int node_grow(struct pool *p, unsigned place,
              unsigned units);                       /* one arena; on the reclaimer's thread or before it runs */
void node_shrink(struct pool *p, struct request *r); /* shrink.c; on the reclaimer's thread */
uint64_t reclaim_dead(struct pool *p);               /* end what is dead; bytes that went back to the kernel's pool */
uint64_t quarantine_retry(struct pool *p);           /* with each shrink, and at close; bytes that went back */

/* Walk a directory inside a read section. */
#define DIRECTORY_EACH(a, where)                                                                                       \
    for (struct directory *d_ = atomic_load_explicit(&(where), memory_order_acquire); d_; d_ = NULL)                   \
        for (unsigned i_ = 0; i_ < d_->n; i_++)                                                                        \
            if (((a) = atomic_load_explicit(&d_->arena[i_], memory_order_acquire)) != NULL)

#endif
