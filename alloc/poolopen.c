/* Opening, closing, and what an operator sees of a pool. */
#include <stdlib.h>
#include <string.h>

#include "alloc/pool_internal.h"
#include "perf/err.h"

enum { GIB = 1 << 30, ARENA_UNITS = 24 };

static int opts_check(struct pool_opts *o)
{
    if (!o->unit_bytes)
        o->unit_bytes = GIB;
    if (!o->arena_units)
        o->arena_units = ARENA_UNITS;
    if (o->unit_bytes < 4096 || (o->unit_bytes & (o->unit_bytes - 1)))
        return err_fail(-EINVAL, "units of %zu bytes: expected a power of two from 4096", o->unit_bytes);
    if (o->arena_units > WORD_UNITS)
        return err_fail(-EINVAL, "arenas of %u units: at most %d", o->arena_units, WORD_UNITS);
    if (o->n_nodes < 1 || o->n_nodes > POOL_NODES)
        return err_fail(-EINVAL, "a pool of %u nodes: expected 1 to %d", o->n_nodes, POOL_NODES);
    for (unsigned i = 0; i < o->n_nodes; i++)
        for (unsigned k = 0; k < o->node[i].n_borrow; k++)
            if (k >= POOL_NODES || o->node[i].borrow[k] >= o->n_nodes || o->node[i].borrow[k] == i)
                return err_fail(-EINVAL, "place %u borrows from place %u: expected another one below %u", i,
                                o->node[i].borrow[k], o->n_nodes);
    return 0;
}

static uint64_t evict_idle(void *ctx, uint64_t *since_ns)
{
    struct pool *p = ctx;
    struct arena *a;
    uint64_t bytes = 0;
    *since_ns = 0;
    if (!thread_enter())
        return 0;
    rcu_enter();
    for (unsigned i = 0; i < p->n_nodes; i++)
        DIRECTORY_EACH(a, p->node[i].big)
        {
            uint64_t w = atomic_load(&a->word);
            if (word_state(w) == ARENA_ACTIVE && word_bits(w) == 0)
                bytes += a->map.bytes;
        }
    rcu_leave();
    return bytes;
}

static int evict_run(void *ctx, uint64_t bytes)
{
    struct pool *p = ctx;
    uint64_t freed = 0, got;
    for (unsigned i = 0; i < p->n_nodes && freed < bytes; i++)
        if (pool_shrink(p, i, bytes - freed, 0, &got) == 0)
            freed += got;
    return freed ? 0 : err_fail(-EBUSY, "no idle arena after all");
}

static struct pool *pool_new(const struct pool_opts *o)
{
    struct pool *p = aligned_alloc(64, sizeof *p);
    size_t node_bytes = o->n_nodes * sizeof(struct pool_node), stripe_bytes = STRIPES * sizeof(struct stripe);
    void *nodes = aligned_alloc(64, node_bytes), *stripes = aligned_alloc(64, stripe_bytes);
    if (!p || !nodes || !stripes) {
        free(stripes);
        free(nodes);
        free(p);
        return NULL;
    }
    memset(p, 0, sizeof *p);
    p->node = memset(nodes, 0, node_bytes);
    p->stripes = memset(stripes, 0, stripe_bytes);
    p->opts = *o;
    p->n_nodes = o->n_nodes;
    pthread_mutex_init(&p->change, NULL);
    pthread_cond_init(&p->request_done, NULL);
    for (unsigned i = 0; i < o->n_nodes; i++) {
        struct pool_node *pn = &p->node[i];
        pn->opts = o->node[i];
        if (!pn->opts.max_units)
            pn->opts.max_units = pn->opts.start_units;
        pthread_mutex_init(&pn->queue_lock, NULL);
    }
    return p;
}

static void pool_free(struct pool *p)
{
    for (unsigned i = 0; i < p->n_nodes; i++) {
        free(atomic_load(&p->node[i].big));
        free(atomic_load(&p->node[i].small));
        pthread_mutex_destroy(&p->node[i].queue_lock);
    }
    for (struct directory *d = p->garbage, *next; d; d = next) {
        next = d->next;
        free(d);
    }
    pthread_cond_destroy(&p->request_done);
    pthread_mutex_destroy(&p->change);
    free(p->stripes);
    free(p->node);
    free(p);
}

/* Arenas that a device would not let go of when their pool closed. It may still read them, so they stay mapped for as
 * long as the process lives, and here, where a debugger and a leak checker find them. */
static struct arena *abandoned;
static pthread_mutex_t abandoned_lock = PTHREAD_MUTEX_INITIALIZER;

/* How many there were. */
static unsigned arenas_abandon(struct pool *p)
{
    unsigned n = 0;
    pthread_mutex_lock(&abandoned_lock);
    while (p->quarantine) {
        struct arena *a = p->quarantine;
        p->quarantine = a->next;
        a->next = abandoned;
        abandoned = a;
        n++;
    }
    pthread_mutex_unlock(&abandoned_lock);
    return n;
}

/* Nobody uses the pool: end what is mapped. Returns the arenas that would not go. */
static unsigned pool_empty(struct pool *p)
{
    atomic_store(&p->closing, true);
    for (unsigned i = 0; i < p->n_nodes; i++)
        pool_shrink(p, i, UINT64_MAX, 0, NULL);
    atomic_store(&p->quit, true);
    pool_wake_reclaimer(p);
    pthread_join(p->reclaimer, NULL);
    quarantine_retry(p);
    return arenas_abandon(p);
}

int pool_open(struct pool **out, const struct pool_opts *opts)
{
    struct pool_opts o = *opts;
    int rc = opts_check(&o);
    if (rc)
        return rc;
    if (!thread_enter())
        return -ENOMEM;
    struct pool *p = pool_new(&o);
    if (!p)
        return err_fail(-ENOMEM, "no memory for a pool of %u nodes", o.n_nodes);
    rc = sys->thread_create(&p->reclaimer, NULL, pool_reclaimer, p);
    if (rc) {
        pool_free(p);
        return err_fail(-rc, "the pool's reclaimer thread: %s", strerror(rc));
    }
    for (unsigned i = 0; i < p->n_nodes && rc == 0; i++)
        if (p->node[i].opts.start_units)
            rc = pool_grow(p, i, p->node[i].opts.start_units);
    if (rc) {
        char said[1024];
        err_copy(said);
        pool_empty(p);
        pool_free(p);
        err_set(said);
        return rc;
    }
    if (o.budget) {
        p->evictor = (struct budget_evictor){.name = "pool", .ctx = p, .idle = evict_idle, .evict = evict_run};
        budget_evictor_add(o.budget, &p->evictor);
    }
    *out = p;
    return 0;
}

/* Let the reclaimer finish what it is in the middle of: between two of its steps a unit that was divided is neither in
 * the directory of small arenas nor back in its own, and looks leased. The second round serves what the first one
 * killed or was asked for. */
static void pool_settle(struct pool *p)
{
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < p->n_nodes; i++)
            pool_shrink(p, i, 0, 0, NULL);
}

int pool_close(struct pool *p)
{
    struct pool_view v;
    pool_settle(p);
    pool_read(p, &v);
    if (v.leased_bytes || v.waiting)
        return err_fail(-EBUSY, "%lu bytes of the pool are still leased, %u threads wait", v.leased_bytes, v.waiting);
    if (p->opts.budget)
        budget_evictor_remove(p->opts.budget, &p->evictor);
    unsigned left = pool_empty(p);
    uint64_t bytes = p->quarantined_bytes;
    pool_free(p);
    if (left)
        return err_fail(-EIO, "%u arenas (%lu bytes) stay mapped: their unregistration failed", left, bytes);
    return 0;
}

int pool_grow(struct pool *p, unsigned place, unsigned units)
{
    if (place >= p->n_nodes)
        return err_fail(-EINVAL, "place %u of a pool of %u nodes", place, p->n_nodes);
    struct request r = {.kind = REQUEST_GROW, .place = place, .units = units};
    return pool_request(p, &r);
}

int pool_shrink(struct pool *p, unsigned place, uint64_t bytes, uint64_t hold_ns, uint64_t *freed)
{
    if (place >= p->n_nodes)
        return err_fail(-EINVAL, "place %u of a pool of %u nodes", place, p->n_nodes);
    struct request r = {.kind = REQUEST_SHRINK, .place = place, .bytes = bytes, .hold_ns = hold_ns};
    int rc = pool_request(p, &r);
    if (freed)
        *freed = r.freed;
    return rc;
}

static void view_node(struct pool_node *pn, struct pool_view *v)
{
    struct arena *a;
    rcu_enter();
    DIRECTORY_EACH(a, pn->big)
    {
        uint64_t w = atomic_load(&a->word), leased = word_count(word_bits(w)) * a->unit_bytes;
        v->arenas++;
        v->leased_bytes += leased;
        *(word_state(w) == ARENA_ACTIVE ? &v->idle_bytes : &v->draining_bytes) += a->map.bytes - leased;
        v->verified = v->verified && a->map.verified;
        if (a->map.tier > v->lowest)
            v->lowest = a->map.tier;
    }
    DIRECTORY_EACH(a, pn->small)
    {
        /* A divided unit is leased as a whole from its arena; what is not leased inside is idle. */
        uint64_t idle = (a->units - word_count(word_bits(atomic_load(&a->word)))) * a->unit_bytes;
        v->small_arenas++;
        v->leased_bytes -= idle;
        v->idle_bytes += idle;
    }
    rcu_leave();
}

void pool_read(struct pool *p, struct pool_view *view)
{
    struct pool_view v = {.verified = true};
    if (!thread_enter())
        return;
    for (unsigned i = 0; i < p->n_nodes; i++) {
        struct pool_node *pn = &p->node[i];
        view_node(pn, &v);
        pthread_mutex_lock(&pn->queue_lock);
        for (const struct waiter *w = pn->first; w; w = w->next)
            v.waiting++;
        pthread_mutex_unlock(&pn->queue_lock);
    }
    uint64_t n[STATS] = {0};
    for (unsigned i = 0; i < STRIPES; i++)
        for (unsigned k = 0; k < STATS; k++)
            n[k] += atomic_load_explicit(&p->stripes[i].n[k], memory_order_relaxed);
    v.hits = n[STAT_HIT];
    v.misses = n[STAT_MISS];
    v.waits = n[STAT_WAIT];
    v.bypasses = n[STAT_BYPASS];
    v.borrowed = n[STAT_BORROW];
    v.waited_ns = n[STAT_WAITED_NS];
    pthread_mutex_lock(&p->change);
    v.quarantined_bytes = p->quarantined_bytes;
    v.grows = p->grows;
    v.shrinks = p->shrinks;
    v.reactivations = p->reactivations;
    memcpy(v.why, p->why, sizeof v.why);
    pthread_mutex_unlock(&p->change);
    v.mapped_bytes = v.leased_bytes + v.idle_bytes + v.draining_bytes + v.quarantined_bytes;
    *view = v;
}
