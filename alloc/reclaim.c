/* The reclaimer: the one thread on which arenas are made and end. A dead arena leaves its directory, a grace period
 * passes, then it is unregistered, and only if that succeeded unmapped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/pool_internal.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "perf/span.h"

enum { BOUNDARY_NS = 2000 * 1000 * 1000 };

void dead_push(struct pool *p, struct arena *a)
{
    a->next = atomic_load_explicit(&p->dead, memory_order_relaxed);
    /* Popped all at once, never one by one: no ABA. */
    while (!atomic_compare_exchange_weak_explicit(&p->dead, &a->next, a, memory_order_release, memory_order_relaxed))
        ;
}

void pool_wake_reclaimer(struct pool *p)
{
    atomic_fetch_add(&p->work, 1);
    sys_futex_wake(&p->work);
}

void pool_bury(struct pool *p, struct arena *a)
{
    dead_push(p, a);
    pool_wake_reclaimer(p);
}

int directory_add(struct pool *p, _Atomic(struct directory *) *where, struct arena *a)
{
    struct directory *old = atomic_load(where);
    unsigned n = old ? old->n : 0;
    for (unsigned i = 0; i < n; i++)
        if (!atomic_load(&old->arena[i])) {
            atomic_store_explicit(&old->arena[i], a, memory_order_release);
            return 0;
        }
    unsigned room = n ? 2 * n : DIRECTORY_SLOTS;
    struct directory *d = sys->calloc(1, sizeof *d + room * sizeof d->arena[0]);
    if (!d)
        return err_fail(-ENOMEM, "no memory for a directory of %u arenas", room);
    d->n = room;
    for (unsigned i = 0; i < n; i++)
        atomic_init(&d->arena[i], atomic_load(&old->arena[i]));
    atomic_init(&d->arena[n], a);
    atomic_store_explicit(where, d, memory_order_release);
    if (old) {
        old->next = p->garbage;
        p->garbage = old;
    }
    return 0;
}

/* p->change held. */
static void directory_drop(_Atomic(struct directory *) *where, const struct arena *a)
{
    struct directory *d = atomic_load(where);
    for (unsigned i = 0; d && i < d->n; i++)
        if (atomic_load(&d->arena[i]) == a)
            atomic_store(&d->arena[i], NULL);
}

static uint64_t stall_begin(struct pool *p)
{
    const struct pool_boundary *b = &p->opts.boundary;
    if (b->begin)
        b->begin(b->ctx, b->wait_ns ? b->wait_ns : BOUNDARY_NS); /* not granted in time: the wait is bounded, go on */
    return clock_now_ns();
}

static void stall_end(struct pool *p, const char *stage, uint64_t begin_ns, uint64_t bytes)
{
    struct span s = {.stage = stage, .lane = "pool", .begin_ns = begin_ns, .end_ns = clock_now_ns(), .bytes = bytes};
    span_add(p->opts.spans, &s);
    if (p->opts.boundary.end)
        p->opts.boundary.end(p->opts.boundary.ctx);
}

static void why_set(struct pool *p, const char *why)
{
    pthread_mutex_lock(&p->change);
    snprintf(p->why, sizeof p->why, "%s", why);
    pthread_mutex_unlock(&p->change);
}

int node_grow(struct pool *p, unsigned place, unsigned units)
{
    struct pool_node *pn = &p->node[place];
    struct arena_opts o = {.units = units, .unit_bytes = p->opts.unit_bytes, .registrar = p->opts.registrar};
    o.map = (struct hugepage_opts){.node = pn->opts.id, .first = p->opts.tier, .strict = p->opts.strict};
    o.map.cpus = pn->opts.cpus;
    o.map.threads = p->opts.populate_threads;
    o.map.lazy = p->opts.lazy;
    struct budget_share share = {0};
    int rc = p->opts.budget ? budget_try(p->opts.budget, &share, units * o.unit_bytes) : 0;
    if (rc)
        return rc;
    struct arena *a;
    uint64_t t0 = stall_begin(p);
    rc = arena_open(&a, &o);
    stall_end(p, "grow", t0, units * o.unit_bytes);
    if (rc)
        goto undo_budget;
    a->place = place;
    a->share = share;
    if (a->map.why[0])
        why_set(p, a->map.why);
    pthread_mutex_lock(&p->change);
    rc = directory_add(p, &pn->big, a);
    if (!rc)
        p->grows++;
    pthread_mutex_unlock(&p->change);
    if (rc)
        goto undo_arena;
    atomic_fetch_add(&pn->mapped_units, units);
    pool_returned(p);
    return 0;
undo_arena:
    if (arena_close(a)) { /* still registered: keep the memory, and the budget's bytes */
        pthread_mutex_lock(&p->change);
        a->next = p->quarantine;
        p->quarantine = a;
        p->quarantined_bytes += a->map.bytes;
        pthread_mutex_unlock(&p->change);
        return rc;
    }
undo_budget:
    budget_give(&share, UINT64_MAX);
    return rc;
}

/* A big arena after its grace period. */
static void arena_reclaim(struct pool *p, struct arena *a)
{
    struct budget_share share = a->share;
    struct pool_node *pn = &p->node[a->place];
    uint64_t bytes = a->map.bytes, t0 = stall_begin(p);
    unsigned units = a->units;
    int rc = arena_close(a);
    stall_end(p, "shrink", t0, bytes);
    atomic_fetch_sub(&pn->mapped_units, units);
    pthread_mutex_lock(&p->change);
    if (rc) {
        a->next = p->quarantine;
        p->quarantine = a;
        p->quarantined_bytes += bytes;
        snprintf(p->why, sizeof p->why, "%.*s", HUGEPAGE_WHY - 1, pen_last_error());
    } else {
        p->shrinks++;
    }
    pthread_mutex_unlock(&p->change);
    if (!rc)
        budget_give(&share, UINT64_MAX);
}

/* Bury everything dead; returns how many bytes went back to the kernel's pool. */
uint64_t reclaim_dead(struct pool *p)
{
    struct arena *list = atomic_exchange_explicit(&p->dead, NULL, memory_order_acquire);
    pthread_mutex_lock(&p->change);
    struct directory *garbage = p->garbage;
    p->garbage = NULL;
    for (struct arena *a = list; a; a = a->next)
        directory_drop(a->unit.base ? &p->node[a->place].small : &p->node[a->place].big, a);
    pthread_mutex_unlock(&p->change);
    if (!list && !garbage)
        return 0;
    rcu_wait();
    uint64_t bytes = 0;
    for (struct arena *a = list, *next; a; a = next) {
        next = a->next;
        if (a->unit.base) {
            struct lease unit;
            lease_move(&unit, &a->unit);
            atomic_fetch_sub(&p->node[a->place].small_count, 1);
            free(a);
            lease_release(p, &unit);
        } else {
            bytes += a->map.bytes;
            arena_reclaim(p, a);
        }
    }
    for (struct directory *next; garbage; garbage = next) {
        next = garbage->next;
        free(garbage);
    }
    pool_returned(p); /* who waits for what no longer exists must hear it */
    return bytes;
}

static void request_run(struct pool *p, struct request *r)
{
    struct pool_node *pn = &p->node[r->place];
    if (r->kind == REQUEST_SHRINK) {
        node_shrink(p, r);
    } else {
        unsigned left = r->units;
        if (node_units(pn) + left > pn->opts.max_units)
            r->rc = err_fail(-E2BIG, "node %d has %zu units; %u more pass its limit of %u", pn->opts.id, node_units(pn),
                             left, pn->opts.max_units);
        while (left && r->rc == 0) {
            unsigned units = left < p->opts.arena_units ? left : p->opts.arena_units;
            r->rc = node_grow(p, r->place, units);
            left -= units;
        }
    }
    if (r->rc)
        err_copy(r->said);
}

int pool_request(struct pool *p, struct request *r)
{
    pthread_mutex_lock(&p->change);
    struct request **at = &p->requests;
    while (*at)
        at = &(*at)->next;
    *at = r;
    pool_wake_reclaimer(p);
    while (!r->done)
        pthread_cond_wait(&p->request_done, &p->change);
    pthread_mutex_unlock(&p->change);
    if (r->rc)
        err_set(r->said);
    return r->rc;
}

static void requests_run(struct pool *p)
{
    for (;;) {
        pthread_mutex_lock(&p->change);
        struct request *r = p->requests;
        if (r)
            p->requests = r->next;
        pthread_mutex_unlock(&p->change);
        if (!r)
            return;
        request_run(p, r);
        pthread_mutex_lock(&p->change);
        r->done = true;
        pthread_cond_broadcast(&p->request_done);
        pthread_mutex_unlock(&p->change);
    }
}

/* What takers asked for in passing. */
static void help_run(struct pool *p)
{
    if (atomic_exchange(&p->sweep_asked, false))
        for (unsigned i = 0; i < p->n_nodes; i++)
            small_sweep(p, i);
    uint64_t asked = atomic_exchange(&p->grow_asked, 0);
    if (atomic_load(&p->closing))
        return; /* an arena made now would outlive the last shrink */
    for (unsigned i = 0; i < p->n_nodes; i++) {
        struct pool_node *pn = &p->node[i];
        size_t room = pn->opts.max_units - node_units(pn);
        if (!(asked >> i & 1) || node_units(pn) >= pn->opts.max_units)
            continue;
        int rc = node_grow(p, i, room < p->opts.arena_units ? (unsigned)room : p->opts.arena_units);
        atomic_store(&pn->grow_rc, rc);
        atomic_store(&pn->grow_failed_ns, rc ? clock_now_ns() : 0);
        if (rc) {
            why_set(p, pen_last_error());
            pool_wake(p);
        }
    }
}

void *pool_reclaimer(void *arg)
{
    struct pool *p = arg;
    while (!thread_enter()) /* one small record; the pool works meanwhile, and pool_open waits for nothing here */
        sys_futex_wait(&p->work, atomic_load(&p->work), 1000 * 1000);
    for (;;) {
        uint32_t seen = atomic_load(&p->work);
        reclaim_dead(p);
        help_run(p);
        requests_run(p);
        if (atomic_load(&p->dead))
            continue;
        if (atomic_load(&p->quit))
            return NULL;
        sys_futex_wait(&p->work, seen, UINT64_MAX);
    }
}

uint64_t quarantine_retry(struct pool *p)
{
    uint64_t freed = 0;
    pthread_mutex_lock(&p->change);
    struct arena *list = p->quarantine, *left = NULL;
    p->quarantine = NULL;
    pthread_mutex_unlock(&p->change);
    for (struct arena *a = list, *next; a; a = next) {
        next = a->next;
        struct budget_share share = a->share;
        uint64_t bytes = a->map.bytes;
        if (arena_close(a)) {
            a->next = left;
            left = a;
        } else {
            freed += bytes;
            budget_give(&share, UINT64_MAX);
        }
    }
    pthread_mutex_lock(&p->change);
    p->quarantine = left; /* only the reclaimer adds, and this is its thread */
    p->quarantined_bytes -= freed;
    pthread_mutex_unlock(&p->change);
    return freed;
}
