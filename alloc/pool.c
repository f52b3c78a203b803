#include <stdlib.h>
#include <string.h>

#include "alloc/pool_internal.h"
#include "perf/err.h"
#include "perf/units.h"

enum { BIG_STEP = 2 << 20, SMALL_STEP = 4096, SMALLEST_DIVIDED = ARENA_SLOTS * SMALL_STEP };

/* Offsets of the buffers in a run; returns the bytes they span. */
static size_t layout(const struct pool_want *w, size_t step, size_t offset[LEASE_BUFFERS])
{
    size_t at = 0;
    for (unsigned i = 0; i < w->buffers; i++) {
        offset[i] = at;
        at += (w->size[i] + step - 1) & ~(step - 1);
    }
    return at;
}

static size_t big_step(const struct pool *p)
{
    return p->opts.unit_bytes < BIG_STEP ? p->opts.unit_bytes : BIG_STEP;
}

static size_t slot_bytes(const struct pool *p)
{
    return p->opts.unit_bytes / ARENA_SLOTS;
}

bool pool_is_small(const struct pool *p, const struct pool_want *w)
{
    size_t offset[LEASE_BUFFERS];
    return p->opts.unit_bytes >= SMALLEST_DIVIDED && layout(w, SMALL_STEP, offset) <= p->opts.unit_bytes / 2;
}

unsigned pool_units_for(const struct pool *p, const struct pool_want *w)
{
    size_t offset[LEASE_BUFFERS];
    return (unsigned)((layout(w, big_step(p), offset) + p->opts.unit_bytes - 1) / p->opts.unit_bytes);
}

size_t pool_footprint(const struct pool *p, const struct pool_want *w)
{
    size_t offset[LEASE_BUFFERS];
    if (pool_is_small(p, w))
        return (layout(w, SMALL_STEP, offset) + slot_bytes(p) - 1) / slot_bytes(p) * slot_bytes(p);
    return pool_units_for(p, w) * p->opts.unit_bytes;
}

void lease_fill(struct lease *l, struct arena *a, unsigned first, unsigned units)
{
    *l = (struct lease){.base = a->base + first * a->unit_bytes, .bytes = units * a->unit_bytes};
    l->node = a->map.node;
    l->verified = a->map.verified;
    l->arena = a;
    l->first = first;
    l->units = units;
}

/* The arena and the first unit of the window in which the oldest waiter will be served soonest. */
static struct arena *front_window(const struct pool_node *pn, unsigned units, uint64_t *mask)
{
    struct arena *a, *best = NULL;
    unsigned fewest = WORD_UNITS + 1;
    DIRECTORY_EACH(a, pn->big)
    {
        uint64_t w = atomic_load_explicit(&a->word, memory_order_acquire);
        unsigned taken;
        int at = word_state(w) == ARENA_ACTIVE ? word_candidate(word_bits(w), a->units, units, &taken) : -1;
        if (at >= 0 && taken < fewest) {
            fewest = taken;
            best = a;
            *mask = word_mask(units) << at;
        }
    }
    return best;
}

/* Use up one bypass of the oldest waiter. False: not allowed to pass. *front is what was seen. */
static bool bypass_begin(struct pool_node *pn, unsigned units, uint64_t *front)
{
    for (uint64_t f = atomic_load(&pn->front); f;) {
        if (units >= front_units(f) || front_left(f) == 0)
            return false;
        if (atomic_compare_exchange_weak(&pn->front, &f,
                                         front_make(front_ticket(f), front_left(f) - 1, front_units(f)))) {
            *front = f;
            return true;
        }
    }
    *front = 0; /* nobody waits any more */
    return true;
}

static void bypass_undo(struct pool_node *pn, uint64_t front)
{
    uint64_t f = atomic_load(&pn->front);
    while (f && front_ticket(f) == front_ticket(front))
        if (atomic_compare_exchange_weak(&pn->front, &f,
                                         front_make(front_ticket(f), front_left(f) + 1, front_units(f))))
            return;
}

bool node_take(struct pool *p, unsigned place, unsigned units, uint64_t turn, struct arena **from, unsigned *first)
{
    struct pool_node *pn = &p->node[place];
    uint64_t front = atomic_load(&pn->front), avoid = 0;
    struct arena *a, *kept = NULL;
    bool passing = front && front_ticket(front) != turn, found = false;
    if (passing && (turn == TURN_BORROWING || !bypass_begin(pn, units, &front)))
        return false;
    passing = passing && front;
    rcu_enter();
    if (passing)
        kept = front_window(pn, front_units(front), &avoid);
    DIRECTORY_EACH(a, pn->big)
    if (!found && arena_take(a, units, a == kept ? avoid : 0, first)) {
        *from = a;
        found = true;
    }
    rcu_leave();
    if (passing && found)
        stat_add(p, STAT_BYPASS, 1);
    else if (passing)
        bypass_undo(pn, front);
    return found;
}

bool pool_try(struct pool *p, struct lease *out, const struct pool_want *want, unsigned place, uint64_t turn)
{
    size_t offset[LEASE_BUFFERS];
    struct lease l;
    if (pool_is_small(p, want)) {
        if (!small_try(p, &l, want, place, turn))
            return false;
        layout(want, SMALL_STEP, offset);
    } else {
        struct arena *a;
        unsigned first, units = pool_units_for(p, want);
        if (!node_take(p, place, units, turn, &a, &first))
            return false;
        lease_fill(&l, a, first, units); /* its own bits keep the arena alive */
        layout(want, big_step(p), offset);
    }
    l.buffers = want->buffers;
    for (unsigned i = 0; i < want->buffers; i++) {
        l.offset[i] = offset[i];
        l.size[i] = want->size[i];
    }
    l.holder = thread_enter();
    atomic_fetch_add_explicit(&l.holder->held, 1, memory_order_relaxed);
    *out = l;
    return true;
}

static int want_check(const struct pool *p, const struct pool_want *w)
{
    if (w->place >= p->n_nodes)
        return err_fail(-EINVAL, "place %u of a pool of %u nodes", w->place, p->n_nodes);
    if (w->buffers < 1 || w->buffers > LEASE_BUFFERS)
        return err_fail(-EINVAL, "a lease of %u buffers: expected 1 to %d", w->buffers, LEASE_BUFFERS);
    size_t arena_bytes = p->opts.arena_units * p->opts.unit_bytes, total = 0;
    for (unsigned i = 0; i < w->buffers; i++) {
        if (w->size[i] == 0)
            return err_fail(-EINVAL, "buffer %u of a lease has 0 bytes", i);
        if (w->size[i] > arena_bytes || (total += w->size[i]) > arena_bytes)
            total = SIZE_MAX / 2;
    }
    if (total > arena_bytes || pool_units_for(p, w) > p->opts.arena_units) {
        char text[UNITS_TEXT];
        return err_fail(-E2BIG, "a lease lies in one arena of %u units of %s: these %u buffers do not fit",
                        p->opts.arena_units, units_bytes(text, p->opts.unit_bytes), w->buffers);
    }
    return 0;
}

int pool_take(struct pool *p, struct lease *out, const struct pool_want *want)
{
    int rc = want_check(p, want);
    if (rc)
        return rc;
    if (!thread_enter())
        return -ENOMEM;
    if (pool_try(p, out, want, want->place, TURN_PASSING)) {
        stat_add(p, STAT_HIT, 1);
        return 0;
    }
    stat_add(p, STAT_MISS, 1);
    return pool_wait(p, out, want);
}

void pool_returned(struct pool *p)
{
    /* Looks before it wakes: a give without waiters makes no system call. */
    if (atomic_load(&p->sleepers) == 0)
        return;
    atomic_fetch_add(&p->returns, 1);
    sys_futex_wake(&p->returns);
}

void lease_release(struct pool *p, struct lease *l)
{
    struct arena *a = l->arena;
    unsigned first = l->first, units = l->units;
    *l = (struct lease){0};
    rcu_enter();
    bool small = a->unit.base != NULL;
    bool died = arena_give(a, first, units);
    rcu_leave();
    if (died)
        pool_bury(p, a);
    if (small && atomic_load(&p->sleepers)) {
        atomic_store(&p->sweep_asked, true);
        pool_wake_reclaimer(p);
    }
    pool_returned(p);
}

int pool_give(struct pool *p, struct lease *lease)
{
    if (!lease->base)
        return 0;
    unsigned copies = atomic_load_explicit(&lease->copies, memory_order_acquire);
    if (copies)
        return err_fail(-EBUSY, "%u copies still read this lease", copies);
    if (!thread_enter())
        return -ENOMEM;
    lease_pass(lease);
    lease_release(p, lease);
    return 0;
}

void lease_pass(struct lease *l)
{
    if (l->holder)
        atomic_fetch_sub_explicit(&l->holder->held, 1, memory_order_relaxed);
    l->holder = NULL;
}

void lease_move(struct lease *to, struct lease *from)
{
    memcpy(to, from, sizeof *to);
    *from = (struct lease){0};
}

void pool_wake(struct pool *p)
{
    atomic_fetch_add(&p->returns, 1);
    sys_futex_wake(&p->returns);
}

void pool_stop(struct pool *p)
{
    atomic_store(&p->stop, true);
    pool_wake(p);
}
