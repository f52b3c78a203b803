/* Shrinking a node, on the reclaimer's thread: drain the idlest arena, wait a bounded time for its leases, put it to
 * use again when they do not end. */
#include "alloc/pool_internal.h"
#include "perf/clock.h"

/* The active arena with the fewest leases, below `most` leased units of those not tried. */
static struct arena *arena_idlest(struct pool_node *pn, const struct arena *const *tried, unsigned n_tried)
{
    struct arena *a, *best = NULL;
    unsigned fewest = WORD_UNITS + 1;
    rcu_enter();
    DIRECTORY_EACH(a, pn->big)
    {
        uint64_t w = atomic_load_explicit(&a->word, memory_order_acquire);
        bool skip = word_state(w) != ARENA_ACTIVE;
        for (unsigned i = 0; i < n_tried; i++)
            skip = skip || tried[i] == a;
        if (!skip && word_count(word_bits(w)) < fewest) {
            fewest = word_count(word_bits(w));
            best = a;
        }
    }
    rcu_leave();
    return best; /* only the reclaimer frees arenas, and this is its thread */
}

/* Drain one arena, wait hold_ns for its leases. Returns the bytes that went back meanwhile. */
static uint64_t drain_one(struct pool *p, struct arena *a, uint64_t hold_ns)
{
    uint64_t end = clock_now_ns() + hold_ns, freed = 0;
    rcu_enter();
    bool died = arena_drain(a);
    rcu_leave();
    if (died)
        dead_push(p, a);
    while (!died) {
        uint32_t seen = atomic_load(&p->work);
        uint64_t now = clock_now_ns();
        if (atomic_load(&p->dead)) { /* not freed before reclaim_dead: look who it is first */
            for (struct arena *d = atomic_load_explicit(&p->dead, memory_order_acquire); d; d = d->next)
                died = died || d == a;
            if (!died)
                freed += reclaim_dead(p);
            continue;
        }
        if (now >= end) {
            rcu_enter();
            bool back = arena_reactivate(a);
            rcu_leave();
            if (back) {
                pthread_mutex_lock(&p->change);
                p->reactivations++;
                pthread_mutex_unlock(&p->change);
                pool_returned(p);
                return freed;
            }
            end = UINT64_MAX; /* dead this moment; its last giver is about to hand it over */
            continue;
        }
        sys_futex_wait(&p->work, seen, end == UINT64_MAX ? end : end - now);
    }
    return freed + reclaim_dead(p);
}

void node_shrink(struct pool *p, struct request *r)
{
    const struct arena *tried[256];
    unsigned n = 0;
    atomic_fetch_and(&p->grow_asked, ~(1ull << r->place)); /* older than this request; who still waits asks again */
    small_sweep(p, r->place);
    r->freed = quarantine_retry(p) + reclaim_dead(p);
    while (r->freed < r->bytes && n < 256) {
        struct arena *a = arena_idlest(&p->node[r->place], tried, n);
        if (!a)
            break;
        tried[n++] = a;
        r->freed += drain_one(p, a, r->hold_ns);
    }
}
