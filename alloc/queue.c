#include <string.h>

#include "alloc/pool_internal.h"
#include "perf/clock.h"
#include "perf/err.h"

/* After growth on demand has failed, leave the kernel alone for that long; the budget, whose answer changes with every
 * job that ends, for less. */
enum { GROW_AGAIN_NS = 1000 * 1000 * 1000, BUDGET_AGAIN_NS = 50 * 1000 * 1000 };

static void front_publish(struct pool_node *pn)
{
    const struct waiter *w = pn->first;
    atomic_store(&pn->front, w ? front_make(w->ticket, POOL_BYPASSES, w->units) : 0);
}

static void queue_enter(struct pool *p, struct pool_node *pn, struct waiter *w)
{
    atomic_fetch_add(&p->sleepers, 1); /* before we look: from here on every give wakes */
    pthread_mutex_lock(&pn->queue_lock);
    w->ticket = ++pn->tickets;
    w->next = NULL;
    if (pn->last)
        pn->last->next = w;
    else
        pn->first = w;
    pn->last = w;
    if (pn->first == w)
        front_publish(pn);
    pthread_mutex_unlock(&pn->queue_lock);
}

static void queue_leave(struct pool *p, struct pool_node *pn, struct waiter *w)
{
    pthread_mutex_lock(&pn->queue_lock);
    struct waiter **at = &pn->first, *before = NULL;
    while (*at != w) {
        before = *at;
        at = &before->next;
    }
    *at = w->next;
    if (pn->last == w)
        pn->last = before;
    if (!before)
        front_publish(pn);
    pthread_mutex_unlock(&pn->queue_lock);
    atomic_fetch_sub(&p->sleepers, 1);
    pool_returned(p); /* the next one in line looks */
}

static bool node_has_arena(const struct pool_node *pn, unsigned units)
{
    struct arena *a;
    bool has = false;
    rcu_enter();
    DIRECTORY_EACH(a, pn->big)
    has = has || (a->units >= units && word_state(atomic_load(&a->word)) != ARENA_DEAD);
    rcu_leave();
    return has;
}

static bool node_has_room(const struct pool_node *pn, unsigned units)
{
    return node_units(pn) + units <= pn->opts.max_units;
}

static uint64_t grow_again_ns(const struct pool_node *pn)
{
    return atomic_load(&pn->grow_rc) == -EAGAIN ? BUDGET_AGAIN_NS : GROW_AGAIN_NS;
}

static bool node_may_grow(const struct pool_node *pn, unsigned units)
{
    uint64_t failed = atomic_load(&pn->grow_failed_ns);
    return !pn->opts.on_request && node_has_room(pn, units) &&
           (failed == 0 || clock_now_ns() - failed > grow_again_ns(pn));
}

/* Can returns or growth ever serve this? */
static bool possible(struct pool *p, const struct pool_want *w, unsigned units)
{
    const struct pool_node *pn = &p->node[w->place];
    if (node_has_arena(pn, units) || node_may_grow(pn, units))
        return true;
    if (node_has_room(pn, units) && atomic_load(&pn->grow_rc) == -EAGAIN)
        return true; /* only the budget is in the way */
    for (unsigned i = 0; !w->local && i < pn->opts.n_borrow; i++)
        if (node_has_arena(&p->node[pn->opts.borrow[i]], units))
            return true;
    return false;
}

/* Ask the reclaimer for what may help: another arena, empty divided units. */
static void ask_for_help(struct pool *p, const struct pool_want *w, unsigned units)
{
    struct pool_node *pn = &p->node[w->place];
    bool help = false;
    if (node_may_grow(pn, units)) {
        atomic_fetch_or(&p->grow_asked, 1ull << w->place);
        help = true;
    }
    if (atomic_load(&pn->small_count)) {
        atomic_store(&p->sweep_asked, true);
        help = true;
    }
    if (help)
        pool_wake_reclaimer(p);
}

/* Another node's memory, once waiting has cost as much as the slower link will. *next_ns: when the next node's turn is.
 */
static bool try_borrow(struct pool *p, struct lease *out, const struct pool_want *w, uint64_t waited_ns,
                       uint64_t *next_ns)
{
    const struct pool_node_opts *o = &p->node[w->place].opts;
    size_t bytes = pool_footprint(p, w);
    for (unsigned i = 0; i < o->n_borrow; i++) {
        double cost = o->borrow_cost_ns_per_byte[i] * (double)bytes;
        if (w->wait_ns && cost > (double)waited_ns) {
            if (cost < (double)*next_ns)
                *next_ns = (uint64_t)cost + 1;
            continue;
        }
        if (pool_try(p, out, w, o->borrow[i], TURN_BORROWING)) {
            stat_add(p, STAT_BORROW, 1);
            return true;
        }
    }
    return false;
}

static int give_up(struct pool *p, const struct pool_want *w, unsigned units, uint64_t waited_ns)
{
    if (atomic_load(&p->stop))
        return err_fail(-ECANCELED, "the pool is stopping");
    if (w->cancel && atomic_load(w->cancel))
        return err_fail(-ECANCELED, "cancelled while waiting for a lease");
    if (!possible(p, w, units)) {
        pthread_mutex_lock(&p->change);
        char why[HUGEPAGE_WHY];
        memcpy(why, p->why, sizeof why);
        pthread_mutex_unlock(&p->change);
        return err_fail(-ENOMEM, "no arena of %u units on node %d, and none can be made%s%s", units,
                        p->node[w->place].opts.id, why[0] ? ": " : "", why);
    }
    if (waited_ns >= w->wait_ns)
        return err_fail(w->wait_ns ? -ETIMEDOUT : -EAGAIN, "no run of %u units is free on node %d%s", units,
                        p->node[w->place].opts.id, w->wait_ns ? " in time" : "");
    return 0;
}

static int wait_turn(struct pool *p, struct lease *out, const struct pool_want *want, const struct waiter *me)
{
    uint64_t start = clock_now_ns();
    for (;;) {
        uint32_t seen = atomic_load(&p->returns);
        uint64_t waited = clock_now_ns() - start, next = want->wait_ns;
        bool got = pool_try(p, out, want, want->place, me->ticket) ||
                   (!want->local && try_borrow(p, out, want, waited, &next));
        int rc = got ? 0 : give_up(p, want, me->units, waited);
        if (got || rc) {
            stat_add(p, STAT_WAITED_NS, waited);
            return rc;
        }
        const struct pool_node *pn = &p->node[want->place];
        if (node_has_room(pn, me->units)) { /* growth failed before, and may succeed later */
            ask_for_help(p, want, me->units);
            if (next > waited + grow_again_ns(pn))
                next = waited + grow_again_ns(pn);
        }
        sys_futex_wait(&p->returns, seen, next == UINT64_MAX ? next : next - waited);
    }
}

int pool_wait(struct pool *p, struct lease *out, const struct pool_want *want)
{
    unsigned units = pool_is_small(p, want) ? 1 : pool_units_for(p, want);
    uint64_t never = UINT64_MAX;
    if (want->wait_ns == 0) {
        if (!want->local && try_borrow(p, out, want, 0, &never))
            return 0;
        ask_for_help(p, want, units);
        return give_up(p, want, units, 0);
    }
    if (atomic_load(&thread_enter()->held))
        return err_fail(-EDEADLK,
                        "this thread would wait for a lease while it holds one: take all buffers as one lease, "
                        "or hand the first on with lease_pass");
    stat_add(p, STAT_WAIT, 1);
    struct waiter me = {.units = units};
    struct pool_node *pn = &p->node[want->place];
    queue_enter(p, pn, &me);
    ask_for_help(p, want, units);
    int rc = wait_turn(p, out, want, &me);
    queue_leave(p, pn, &me);
    return rc;
}
