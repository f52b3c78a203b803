/* Claims: a triple is one run in one registration, with the sizes that were asked; 24 units hold 2 PoRep or 3 Snap
 * triples; requests that can never be served are refused at once; the oldest waiter is passed at most 4 times and only
 * outside its window; nobody waits while holding a lease; threads that end are forgotten; shrink never unmaps under a
 * lease, puts a busy arena to use again, and keeps what cannot be unregistered; idle memory is counted and its eviction
 * gains bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "alloc/pool.h"
#include "alloc/thread.h"
#include "fake.h"
#include "perf/clock.h"
#include "perf/err.h"

enum { UNIT = 1 << 17, MS = 1000 * 1000 };
#define FOR_EVER UINT64_MAX

static int setup(void **state)
{
    (void)state;
    fake_begin();
    return 0;
}

/* Every test ends with nothing mapped, nothing registered and no rule broken. */
static int teardown(void **state)
{
    (void)state;
    fake_end();
    return atomic_load(&fake.mapped_bytes) || atomic_load(&fake.registered) || atomic_load(&fake.violations);
}

static struct pool *open_pool(unsigned nodes, unsigned start, unsigned max, unsigned arena_units, struct budget *b)
{
    static struct pool_node_opts node[2];
    memset(node, 0, sizeof node);
    for (unsigned i = 0; i < nodes; i++)
        node[i] = (struct pool_node_opts){.id = i == 0 ? 0 : -1, .start_units = start, .max_units = max};
    if (nodes == 2)
        for (unsigned i = 0; i < 2; i++) {
            node[i].borrow[0] = 1 - i;
            node[i].n_borrow = 1;
        }
    struct pool_opts o = {.node = node, .n_nodes = nodes, .unit_bytes = UNIT, .arena_units = arena_units, .budget = b};
    o.tier = TIER_4K;
    o.registrar = fake_registrar;
    struct pool *p = NULL;
    assert_int_equal(pool_open(&p, &o), 0);
    return p;
}

static struct pool_want want(unsigned units, uint64_t wait_ns)
{
    return (struct pool_want){.size = {units * UNIT}, .buffers = 1, .wait_ns = wait_ns};
}

static int take(struct pool *p, struct lease *l, unsigned units)
{
    struct pool_want w = want(units, 0);
    return pool_take(p, l, &w);
}

static void test_triple(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 12, 12, 12, NULL);
    /* Sizes that differ: what each buffer holds is what was asked for it, whatever was leased there before. */
    struct pool_want w = {.size = {3 * UNIT - 5, UNIT, 2 * UNIT + 1}, .buffers = 3};
    struct lease l = {0}, m = {0};
    assert_int_equal(pool_footprint(p, &w), 7 * UNIT);
    assert_int_equal(pool_take(p, &l, &w), 0);
    assert_int_equal(l.buffers, 3);
    assert_int_equal(l.offset[1], 3 * UNIT);
    assert_int_equal(l.offset[2], 4 * UNIT);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(l.size[i], w.size[i]);
        assert_true(l.offset[i] + l.size[i] <= l.bytes);
        memset(lease_buffer(&l, i), (int)i, l.size[i]);
    }
    assert_int_equal(l.node, 0);
    /* 5 units are left: 6 cannot be had, and nothing was taken by trying. */
    w = (struct pool_want){.size = {2 * UNIT, 2 * UNIT, 2 * UNIT}, .buffers = 3};
    assert_int_equal(pool_take(p, &m, &w), -EAGAIN);
    assert_null(m.base);
    assert_int_equal(take(p, &m, 5), 0);
    struct pool_view v;
    pool_read(p, &v);
    assert_int_equal(v.leased_bytes, 12 * UNIT);
    assert_int_equal(v.idle_bytes, 0);
    assert_int_equal(pool_close(p), -EBUSY);
    assert_int_equal(pool_give(p, &l), 0);
    assert_int_equal(pool_give(p, &l), 0); /* empty by now */
    lease_copy_begin(&m);
    assert_int_equal(pool_give(p, &m), -EBUSY);
    lease_copy_end(&m);
    assert_int_equal(pool_give(p, &m), 0);
    assert_int_equal(pool_close(p), 0);
}

static void test_refused_at_once(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 12, 12, 8, NULL); /* arenas of 8 and 4 */
    struct lease l = {0};
    struct pool_want w = want(9, FOR_EVER);
    assert_int_equal(pool_take(p, &l, &w), -E2BIG);
    w = (struct pool_want){.size = {SIZE_MAX, SIZE_MAX}, .buffers = 2};
    assert_int_equal(pool_take(p, &l, &w), -E2BIG);
    w = (struct pool_want){.size = {UNIT, 0}, .buffers = 2};
    assert_int_equal(pool_take(p, &l, &w), -EINVAL);
    w = (struct pool_want){.size = {UNIT}, .buffers = 5};
    assert_int_equal(pool_take(p, &l, &w), -EINVAL);
    w = want(1, 0);
    w.place = 1;
    assert_int_equal(pool_take(p, &l, &w), -EINVAL);
    assert_int_equal(pool_shrink(p, 0, UINT64_MAX, 0, NULL), 0);
    /* Nothing is mapped any more; growth on demand serves this one. */
    w = want(8, FOR_EVER);
    assert_int_equal(pool_take(p, &l, &w), 0);
    assert_int_equal(pool_give(p, &l), 0);
    assert_int_equal(pool_shrink(p, 0, UINT64_MAX, 0, NULL), 0);
    atomic_store(&fake.populate_errno, EFAULT);
    assert_int_equal(pool_take(p, &l, &w), -ENOMEM); /* growth fails: an endless wait would never end */
    assert_non_null(strstr(pen_last_error(), "population"));
    assert_int_equal(pool_close(p), 0);
}

/* The real sizes; nothing is touched, so 24 GiB of address space cost nothing. */
static void test_porep_and_snap(void **state)
{
    (void)state;
    atomic_store(&fake.no_populate, true);
    struct pool_node_opts node = {.id = -1, .start_units = 24};
    struct pool_opts o = {.node = &node, .n_nodes = 1, .tier = TIER_4K, .registrar = fake_registrar};
    struct pool *p;
    assert_int_equal(pool_open(&p, &o), 0);
    const size_t porep = 130278869ull * 32, snap = 81000000ull * 32;
    struct pool_want w = {.size = {porep, porep, porep}, .buffers = 3};
    struct lease l[4] = {0};
    assert_int_equal(pool_footprint(p, &w), 12ull << 30);
    assert_int_equal(pool_take(p, &l[0], &w), 0);
    assert_int_equal(pool_take(p, &l[1], &w), 0);
    assert_int_equal(pool_take(p, &l[2], &w), -EAGAIN);
    pool_give(p, &l[0]);
    pool_give(p, &l[1]);
    w = (struct pool_want){.size = {snap, snap, snap}, .buffers = 3};
    assert_int_equal(pool_footprint(p, &w), 8ull << 30);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pool_take(p, &l[i], &w), 0);
    assert_int_equal(l[1].offset[1] % (2 << 20), 0);
    for (int i = 0; i < 3; i++)
        pool_give(p, &l[i]);
    assert_int_equal(pool_close(p), 0);
}

static void test_small(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 4, 4, 4, NULL);
    struct pool_want w = {.size = {4096, 100, 4096}, .buffers = 3};
    assert_int_equal(pool_footprint(p, &w), 3 * 4096);
    struct lease l[11] = {0}, big = {0};
    struct pool_view v;
    for (int i = 0; i < 11; i++) {
        assert_int_equal(pool_take(p, &l[i], &w), 0);
        memset(l[i].base, i, l[i].bytes);
    }
    for (int i = 0; i < 11; i++)
        for (size_t k = 0; k < l[i].bytes; k++)
            assert_int_equal(l[i].base[k], i);
    pool_read(p, &v);
    assert_int_equal(v.small_arenas, 2); /* 10 fit into a unit of 32 slots */
    assert_int_equal(v.leased_bytes, 11 * 3 * 4096);
    assert_int_equal(v.mapped_bytes, 4 * UNIT);
    assert_int_equal(take(p, &big, 2), 0);
    pool_give(p, &big);
    for (int i = 0; i < 11; i++)
        pool_give(p, &l[i]);
    /* Divided units that are empty come back for a big request that waits. */
    struct pool_want four = want(4, FOR_EVER);
    assert_int_equal(pool_take(p, &big, &four), 0);
    pool_read(p, &v);
    assert_int_equal(v.small_arenas, 0);
    pool_give(p, &big);
    assert_int_equal(pool_close(p), 0);
}

struct taker {
    struct pool *pool;
    struct pool_want want;
    struct lease lease;
    _Atomic int rc;
    _Atomic bool done;
    pthread_t thread;
};

static void *taker_run(void *arg)
{
    struct taker *t = arg;
    int rc = pool_take(t->pool, &t->lease, &t->want);
    lease_pass(&t->lease);
    atomic_store(&t->rc, rc);
    atomic_store(&t->done, true);
    return NULL;
}

static void taker_start(struct taker *t, struct pool *p, struct pool_want w, unsigned waiting)
{
    memset(t, 0, sizeof *t);
    t->pool = p;
    t->want = w;
    assert_int_equal(pthread_create(&t->thread, NULL, taker_run, t), 0);
    struct pool_view v;
    do { /* until it stands in line */
        usleep(200);
        pool_read(p, &v);
    } while (v.waiting < waiting && !atomic_load(&t->done));
}

static void test_bounded_bypass(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 8, 8, 8, NULL);
    struct lease one[8] = {0}, got[8] = {0};
    for (int i = 0; i < 8; i++)
        assert_int_equal(take(p, &one[i], 1), 0);
    struct taker big, late;
    taker_start(&big, p, want(4, FOR_EVER), 1);
    /* Units 0 to 3 are its window. A unit there is not for others, one outside is, four times. */
    pool_give(p, &one[1]);
    assert_int_equal(take(p, &got[0], 1), -EAGAIN);
    for (int i = 0; i < 4; i++) {
        pool_give(p, &one[7]);
        assert_int_equal(take(p, &one[7], 1), 0);
    }
    pool_give(p, &one[7]);
    assert_int_equal(take(p, &one[7], 1), -EAGAIN); /* the fifth */
    struct pool_view v;
    pool_read(p, &v);
    assert_int_equal(v.bypasses, 4);
    taker_start(&late, p, want(1, FOR_EVER), 2); /* stands behind */
    assert_false(atomic_load(&late.done));
    pool_give(p, &one[0]);
    pool_give(p, &one[2]);
    pool_give(p, &one[3]);
    pthread_join(big.thread, NULL);
    pthread_join(late.thread, NULL); /* it is first now, and unit 7 is free */
    assert_int_equal(atomic_load(&big.rc), 0);
    assert_int_equal(atomic_load(&late.rc), 0);
    assert_int_equal(big.lease.first, 0);
    pool_give(p, &big.lease);
    pool_give(p, &late.lease);
    for (int i = 4; i < 7; i++)
        pool_give(p, &one[i]);
    assert_int_equal(pool_close(p), 0);
}

static void test_hold_and_wait(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 4, 4, 4, NULL);
    struct lease l = {0}, m = {0};
    assert_int_equal(take(p, &l, 3), 0);
    struct pool_want w = want(2, FOR_EVER);
    assert_int_equal(pool_take(p, &m, &w), -EDEADLK);
    lease_pass(&l); /* somebody else ends it: now waiting is allowed */
    w.wait_ns = 5 * MS;
    uint64_t t0 = clock_now_ns();
    assert_int_equal(pool_take(p, &m, &w), -ETIMEDOUT);
    assert_true(clock_now_ns() - t0 >= 5 * MS);
    assert_int_equal(pool_give(p, &l), 0);
    assert_int_equal(pool_close(p), 0);
}

static void test_stop_and_cancel(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 4, 4, 4, NULL);
    struct lease l = {0};
    assert_int_equal(take(p, &l, 4), 0);
    lease_pass(&l);
    _Atomic bool cancel = false;
    struct pool_want w = want(1, FOR_EVER);
    struct taker a, b;
    taker_start(&b, p, w, 1);
    w.cancel = &cancel;
    taker_start(&a, p, w, 2);
    atomic_store(&cancel, true);
    pool_wake(p);
    pthread_join(a.thread, NULL);
    assert_int_equal(atomic_load(&a.rc), -ECANCELED);
    assert_false(atomic_load(&b.done));
    pool_stop(p);
    pthread_join(b.thread, NULL);
    assert_int_equal(atomic_load(&b.rc), -ECANCELED);
    pool_give(p, &l);
    assert_int_equal(pool_close(p), 0);
}

static void *take_and_die(void *arg)
{
    struct taker *t = arg;
    atomic_store(&t->rc, pool_take(t->pool, &t->lease, &t->want));
    return NULL; /* with the lease */
}

static void test_threads_that_end(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 8, 8, 8, NULL);
    unsigned before = thread_count();
    struct taker t[8];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++) {
            t[i] = (struct taker){.pool = p, .want = want(1, 0)};
            pthread_create(&t[i].thread, NULL, take_and_die, &t[i]);
        }
        for (int i = 0; i < 8; i++) {
            pthread_join(t[i].thread, NULL);
            assert_int_equal(atomic_load(&t[i].rc), 0);
        }
        assert_int_equal(thread_count(), before);
        for (int i = 0; i < 8; i++)
            assert_int_equal(pool_give(p, &t[i].lease), 0);
    }
    assert_int_equal(pool_close(p), 0);
}

static void test_shrink(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 12, 12, 4, NULL); /* three arenas */
    struct lease l = {0};
    uint64_t freed;
    assert_int_equal(take(p, &l, 1), 0);
    memset(l.base, 7, l.bytes);
    /* All that is idle goes; the leased arena is drained, does not empty in time, and works again. */
    assert_int_equal(pool_shrink(p, 0, UINT64_MAX, 2 * MS, &freed), 0);
    assert_int_equal(freed, 8 * UNIT);
    assert_int_equal(atomic_load(&fake.registered), 1);
    for (size_t i = 0; i < l.bytes; i++)
        assert_int_equal(l.base[i], 7);
    struct pool_view v;
    pool_read(p, &v);
    assert_int_equal(v.reactivations, 1);
    assert_int_equal(v.draining_bytes, 0);
    assert_int_equal(v.mapped_bytes, 4 * UNIT);
    struct lease m = {0};
    assert_int_equal(take(p, &m, 3), 0);
    pool_give(p, &m);
    assert_int_equal(pool_grow(p, 0, 8), 0);
    assert_int_equal(pool_grow(p, 0, 1), -E2BIG);
    /* Only as much as is asked. */
    assert_int_equal(pool_shrink(p, 0, 1, 0, &freed), 0);
    assert_int_equal(freed, 4 * UNIT);
    pool_give(p, &l);
    assert_int_equal(pool_close(p), 0);
}

static void *give_later(void *arg)
{
    struct taker *t = arg;
    usleep(20000);
    pool_give(t->pool, &t->lease);
    return NULL;
}

static void test_drain_ends_with_last_lease(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 4, 4, 4, NULL);
    struct taker t = {.pool = p};
    assert_int_equal(take(p, &t.lease, 2), 0);
    pthread_create(&t.thread, NULL, give_later, &t);
    uint64_t freed;
    assert_int_equal(pool_shrink(p, 0, 1, 10000ull * MS, &freed), 0);
    assert_int_equal(freed, 4 * UNIT);
    pthread_join(t.thread, NULL);
    assert_int_equal(pool_close(p), 0);
}

static void test_quarantine(void **state)
{
    (void)state;
    struct budget *b;
    assert_int_equal(budget_open(&b, &(struct budget_opts){.limit_bytes = 100 * UNIT}), 0);
    struct pool *p = open_pool(1, 8, 8, 4, b);
    atomic_store(&fake.unregister_fails, true);
    uint64_t freed;
    assert_int_equal(pool_shrink(p, 0, 1, 0, &freed), 0);
    struct pool_view v;
    struct budget_view bv;
    pool_read(p, &v);
    budget_read(b, &bv);
    /* Mapped and paid for, but not lent out again. */
    assert_int_equal(v.quarantined_bytes, 4 * UNIT);
    assert_int_equal(v.mapped_bytes, 8 * UNIT);
    assert_int_equal(bv.taken_bytes, 8 * UNIT);
    assert_int_equal(atomic_load(&fake.mapped_bytes), 8 * UNIT + 2 * (2 << 20));
    /* The next shrink tries again, before it touches what works. */
    atomic_store(&fake.unregister_fails, false);
    assert_int_equal(pool_shrink(p, 0, 1, 0, &freed), 0);
    assert_int_equal(freed, 4 * UNIT);
    pool_read(p, &v);
    assert_int_equal(v.quarantined_bytes, 0);
    assert_int_equal(v.idle_bytes, 4 * UNIT);
    assert_int_equal(pool_close(p), 0);
    assert_int_equal(budget_close(b), 0);
}

static void test_borrow(void **state)
{
    (void)state;
    struct pool *p = open_pool(2, 4, 4, 4, NULL);
    struct lease l = {0}, m = {0}, n = {0};
    assert_int_equal(take(p, &l, 4), 0);
    struct pool_want w = want(4, 0);
    w.local = true;
    assert_int_equal(pool_take(p, &m, &w), -EAGAIN);
    w.local = false;
    assert_int_equal(pool_take(p, &m, &w), 0);
    assert_int_equal(m.node, -1); /* the lease says where it lies */
    pool_give(p, &m);
    /* Not from a node where somebody waits. */
    w.place = 1;
    assert_int_equal(pool_take(p, &n, &w), 0);
    lease_pass(&n);
    struct taker other;
    w.wait_ns = FOR_EVER;
    w.local = true;
    taker_start(&other, p, w, 1);
    pool_give(p, &l);
    w = want(4, 0);
    w.place = 0;
    assert_int_equal(pool_take(p, &l, &w), 0);
    w.place = 0;
    assert_int_equal(pool_take(p, &m, &w), -EAGAIN);
    pool_give(p, &n);
    pthread_join(other.thread, NULL);
    pool_give(p, &other.lease);
    pool_give(p, &l);
    struct pool_view v;
    pool_read(p, &v);
    assert_int_equal(v.borrowed, 1);
    assert_int_equal(pool_close(p), 0);
}

/* Waits at home as long as the slower link would cost, then goes. */
static void test_borrow_waits_first(void **state)
{
    (void)state;
    static struct pool_node_opts node[2] = {{.id = 0, .start_units = 4, .borrow = {1}, .n_borrow = 1},
                                            {.id = 0, .start_units = 4}};
    node[0].borrow_cost_ns_per_byte[0] = 30.0 * MS / (4 * UNIT);
    struct pool_opts o = {.node = node, .n_nodes = 2, .unit_bytes = UNIT, .arena_units = 4, .tier = TIER_4K};
    struct pool *p;
    assert_int_equal(pool_open(&p, &o), 0);
    struct lease l = {0}, m = {0};
    assert_int_equal(take(p, &l, 1), 0);
    lease_pass(&l);
    struct pool_want w = want(4, FOR_EVER);
    uint64_t t0 = clock_now_ns();
    assert_int_equal(pool_take(p, &m, &w), 0);
    assert_true(clock_now_ns() - t0 >= 30 * MS);
    pool_give(p, &m);
    pool_give(p, &l);
    assert_int_equal(pool_close(p), 0);
}

static void test_grows_on_demand(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 0, 8, 4, NULL);
    struct lease l[3] = {0};
    struct pool_want w = want(4, 10000ull * MS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pool_take(p, &l[i], &w), 0);
        lease_pass(&l[i]);
    }
    w.wait_ns = 2 * MS;
    assert_int_equal(pool_take(p, &l[2], &w), -ETIMEDOUT);
    pool_give(p, &l[0]);
    pool_give(p, &l[1]);
    assert_int_equal(pool_close(p), 0);
}

/* A miss has just asked for growth when the pool is closed: nothing grows behind the last shrink. */
static void test_close_during_growth(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct pool *p = open_pool(1, 4, 12, 4, NULL);
        struct lease l = {0}, m = {0};
        assert_int_equal(take(p, &l, 4), 0);
        assert_int_equal(take(p, &m, 4), -EAGAIN);
        pool_give(p, &l);
        if (i % 2)
            usleep((useconds_t)i % 50);
        assert_int_equal(pool_close(p), 0);
        assert_int_equal(atomic_load(&fake.mapped_bytes), 0);
    }
}

/* What a pool beside the budget did: with the limit reached by leases in use, every acquire destroyed the idle pool and
 * gained nothing. Here idle bytes are counted, and are freed only when that serves the request. */
static void test_budget_counts_idle(void **state)
{
    (void)state;
    struct budget *b;
    struct budget_view bv;
    assert_int_equal(budget_open(&b, &(struct budget_opts){.limit_bytes = 20 * UNIT}), 0);
    struct pool *p = open_pool(1, 8, 8, 4, b);
    budget_read(b, &bv);
    assert_int_equal(bv.taken_bytes, 8 * UNIT);
    struct budget_share key = {0}, scratch = {0};
    assert_int_equal(budget_take(b, &key, 12 * UNIT, NULL), 0);
    /* 9 units cannot come out of 8 idle ones: nothing is destroyed for it. */
    struct budget_wait brief = {.wait_ns = 2 * MS};
    assert_int_equal(budget_take(b, &scratch, 9 * UNIT, &brief), -ETIMEDOUT);
    struct pool_view v;
    pool_read(p, &v);
    assert_int_equal(v.arenas, 2);
    /* 3 can: one arena goes, not two. */
    assert_int_equal(budget_take(b, &scratch, 3 * UNIT, &brief), 0);
    pool_read(p, &v);
    assert_int_equal(v.arenas, 1);
    budget_read(b, &bv);
    assert_int_equal(bv.taken_bytes, (4 + 12 + 3) * UNIT);
    assert_int_equal(bv.evicted_bytes, 4 * UNIT);
    /* The pool cannot grow past the budget either. */
    assert_int_equal(pool_grow(p, 0, 4), -EAGAIN);
    assert_int_equal(budget_give(&key, UINT64_MAX), 0);
    assert_int_equal(pool_grow(p, 0, 4), 0);
    assert_int_equal(budget_give(&scratch, UINT64_MAX), 0);
    assert_int_equal(pool_close(p), 0);
    assert_int_equal(budget_close(b), 0);
}

/* Takers go on while an arena is being unregistered: shrink holds no lock that they need. */
static void test_take_during_shrink(void **state)
{
    (void)state;
    struct pool *p = open_pool(1, 8, 8, 4, NULL);
    atomic_store(&fake.register_us, 100000);
    struct taker t;
    taker_start(&t, p, want(1, 0), 0);
    pthread_join(t.thread, NULL);
    pool_give(p, &t.lease);
    pool_shrink(p, 0, 4 * UNIT, 0, NULL);
    struct lease l = {0};
    struct pool_want w = {.size = {UNIT * 4}, .buffers = 1, .wait_ns = 0};
    assert_int_equal(pool_take(p, &l, &w), 0); /* asks for growth on the next miss: 100 ms on the reclaimer */
    struct lease m = {0};
    assert_int_equal(pool_take(p, &m, &w), -EAGAIN);
    uint64_t t0 = clock_now_ns();
    unsigned rounds = 0;
    while (clock_now_ns() - t0 < 50 * MS) { /* half of the registration's time */
        assert_int_equal(pool_give(p, &l), 0);
        assert_int_equal(pool_take(p, &l, &w), 0);
        rounds++;
    }
    assert_true(rounds > 20); /* behind a lock it would be one */
    pool_give(p, &l);
    assert_int_equal(pool_close(p), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_triple),
        TEST(test_refused_at_once),
        TEST(test_porep_and_snap),
        TEST(test_small),
        TEST(test_bounded_bypass),
        TEST(test_hold_and_wait),
        TEST(test_stop_and_cancel),
        TEST(test_threads_that_end),
        TEST(test_shrink),
        TEST(test_drain_ends_with_last_lease),
        TEST(test_quarantine),
        TEST(test_borrow),
        TEST(test_borrow_waits_first),
        TEST(test_grows_on_demand),
        TEST(test_close_during_growth),
        TEST(test_budget_counts_idle),
        TEST(test_take_during_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
