/* Requests of at most half a unit share one: the unit is leased from its arena and divided into 32 slots behind a word
 * of the same kind. A divided unit that falls empty goes back when somebody waits or the pool shrinks. */
#include <stdlib.h>

#include "alloc/pool_internal.h"

static bool small_take(struct pool_node *pn, unsigned slots, struct lease *out)
{
    struct arena *a;
    unsigned first;
    bool found = false;
    rcu_enter();
    DIRECTORY_EACH(a, pn->small)
    if (!found && arena_take(a, slots, 0, &first)) {
        lease_fill(out, a, first, slots);
        found = true;
    }
    rcu_leave();
    return found;
}

/* Divide another unit and take the first slots of it before anybody sees it. p->change held. */
static bool small_grow(struct pool *p, unsigned place, unsigned slots, struct lease *out, uint64_t turn)
{
    struct arena *from, *a;
    unsigned first;
    struct lease unit;
    if (!node_take(p, place, 1, turn, &from, &first))
        return false;
    lease_fill(&unit, from, first, 1);
    if (arena_divide(&a, &unit)) {
        lease_release(p, &unit);
        return false;
    }
    arena_take(a, slots, 0, &first);
    if (directory_add(p, &p->node[place].small, a)) {
        lease_release(p, &a->unit);
        free(a);
        return false;
    }
    atomic_fetch_add(&p->node[place].small_count, 1);
    lease_fill(out, a, first, slots);
    return true;
}

bool small_try(struct pool *p, struct lease *out, const struct pool_want *want, unsigned place, uint64_t turn)
{
    size_t slot = p->opts.unit_bytes / ARENA_SLOTS;
    unsigned slots = (unsigned)(pool_footprint(p, want) / slot);
    if (small_take(&p->node[place], slots, out))
        return true;
    pthread_mutex_lock(&p->change);
    bool found = small_take(&p->node[place], slots, out) || small_grow(p, place, slots, out, turn);
    pthread_mutex_unlock(&p->change);
    return found;
}

/* On the reclaimer's thread, which looks at the dead ones next. */
void small_sweep(struct pool *p, unsigned place)
{
    struct arena *a;
    rcu_enter();
    DIRECTORY_EACH(a, p->node[place].small)
    {
        uint64_t w = atomic_load_explicit(&a->word, memory_order_acquire);
        if (word_state(w) != ARENA_ACTIVE || word_bits(w))
            continue;
        if (arena_drain(a))
            dead_push(p, a);
        else
            arena_reactivate(a); /* somebody took a slot in between */
    }
    rcu_leave();
}
