/* stress_pool [SECONDS [THREADS [SEED]]]
 * Claims I1 to I9 under everything at once: takers of all sizes, waiting and not, that stamp every 4 KiB of their lease
 * and check the stamps at the end; threads that die with their lease (somebody else gives it back), threads that were
 * never seen before; growing, draining, reactivating, refused unregistration. At quiescence the books must be equal.
 * Built with TSan in the tsan preset. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/pool.h"
#include "alloc/thread.h"
#include "fake.h"
#include "perf/clock.h"
#include "perf/err.h"

enum { UNIT = 1 << 17, UNITS = 12, NODES = 2, THREADS_MAX = 64, LOST_MAX = 256, STEP = 4096 };

struct lost {
    struct lease lease;
    uint64_t stamp;
};

static struct pool *pool;
static struct budget *budget;
static _Atomic bool stop;
static _Atomic unsigned long faults, takes, deaths, shrinks, given_for_others;
static pthread_mutex_t lost_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lost lost[LOST_MAX];
static unsigned n_lost;

struct rng {
    uint64_t s;
};

static uint32_t rnd(struct rng *r)
{
    r->s = r->s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->s >> 33);
}

static void fault(const char *what)
{
    if (atomic_fetch_add(&faults, 1) < 5)
        fprintf(stderr, "fault: %s: %s\n", what, pen_last_error());
}

static void stamp(const struct lease *l, uint64_t mark)
{
    for (size_t i = 0; i < l->bytes; i += STEP)
        memcpy(l->base + i, &(uint64_t){mark + i}, sizeof(uint64_t));
}

static void stamp_check(const struct lease *l, uint64_t mark)
{
    for (size_t i = 0; i < l->bytes; i += STEP) {
        uint64_t seen;
        memcpy(&seen, l->base + i, sizeof seen);
        if (seen != mark + i) {
            fault("a page changed while it was leased (I1)");
            return;
        }
    }
}

static struct pool_want want_any(struct rng *r)
{
    struct pool_want w = {.place = rnd(r) % NODES, .buffers = 1 + rnd(r) % 3, .local = rnd(r) % 3 == 0};
    bool small = rnd(r) % 4 == 0;
    for (unsigned i = 0; i < w.buffers; i++)
        w.size[i] = small ? 1 + rnd(r) % 9000 : 1 + rnd(r) % (2 * UNIT);
    w.wait_ns = rnd(r) % 3 ? rnd(r) % 3000000 : 0;
    return w;
}

static void give(struct lease *l)
{
    if (pool_give(pool, l))
        fault("give");
}

/* A lease of a thread that died. */
static void collect_one(void)
{
    struct lost one = {0};
    pthread_mutex_lock(&lost_lock);
    if (n_lost) {
        lease_move(&one.lease, &lost[--n_lost].lease);
        one.stamp = lost[n_lost].stamp;
    }
    pthread_mutex_unlock(&lost_lock);
    if (!one.lease.base)
        return;
    stamp_check(&one.lease, one.stamp);
    give(&one.lease);
    atomic_fetch_add(&given_for_others, 1);
}

static bool abandon(struct lease *l, uint64_t mark)
{
    bool room;
    pthread_mutex_lock(&lost_lock);
    room = n_lost < LOST_MAX;
    if (room) {
        lease_move(&lost[n_lost].lease, l);
        lost[n_lost++].stamp = mark;
    }
    pthread_mutex_unlock(&lost_lock);
    return room;
}

static void take_stamp_give(struct rng *r, uint64_t me)
{
    struct pool_want w = want_any(r);
    struct lease l = {0};
    int rc = pool_take(pool, &l, &w);
    if (rc == -EAGAIN || rc == -ETIMEDOUT || rc == -ENOMEM || (rc == -ECANCELED && atomic_load(&stop)))
        return;
    if (rc) {
        fault("take");
        return;
    }
    atomic_fetch_add(&takes, 1);
    uint64_t mark = me << 40 | (uint64_t)rnd(r) << 8;
    if (w.local && (l.node != (w.place == 0 ? 0 : -1)))
        fault("a lease on the wrong node (I8)");
    stamp(&l, mark);
    for (uint32_t spin = rnd(r) % 2000; spin; spin--)
        atomic_signal_fence(memory_order_seq_cst);
    stamp_check(&l, mark);
    give(&l);
}

/* Dies after a few rounds, sometimes with a lease in its hands, at any step. */
static void *mortal(void *arg)
{
    struct rng r = {(uintptr_t)arg};
    uint64_t me = (uintptr_t)arg & 0xffff;
    for (uint32_t rounds = rnd(&r) % 50; rounds && !atomic_load(&stop); rounds--)
        take_stamp_give(&r, me);
    struct lease l = {0};
    struct pool_want w = want_any(&r);
    if (rnd(&r) % 2 && pool_take(pool, &l, &w) == 0) {
        uint64_t mark = me << 40 | 0xdead00;
        stamp(&l, mark);
        if (!abandon(&l, mark))
            give(&l);
        atomic_fetch_add(&deaths, 1);
    }
    return NULL;
}

static void *worker(void *arg)
{
    struct rng r = {(uintptr_t)arg * 0x9e3779b97f4a7c15u};
    while (!atomic_load(&stop)) {
        pthread_t child;
        if (pthread_create(&child, NULL, mortal, (void *)(uintptr_t)(rnd(&r) | 1)) == 0)
            pthread_join(child, NULL);
        for (int i = 0; i < 20; i++)
            take_stamp_give(&r, (uintptr_t)arg);
        collect_one();
    }
    return NULL;
}

static void *operator_run(void *arg)
{
    struct rng r = {(uintptr_t)arg};
    while (!atomic_load(&stop)) {
        usleep(rnd(&r) % 2000);
        unsigned place = rnd(&r) % NODES;
        atomic_store(&fake.unregister_fails, rnd(&r) % 16 == 0);
        if (rnd(&r) % 2)
            pool_shrink(pool, place, 1 + rnd(&r) % (2 * UNITS * UNIT), rnd(&r) % 2000000, NULL);
        else
            pool_grow(pool, place, 1 + rnd(&r) % UNITS); /* may well be refused */
        atomic_store(&fake.unregister_fails, false);
        atomic_fetch_add(&shrinks, 1);
        struct pool_view v;
        pool_read(pool, &v);
    }
    return NULL;
}

/* Has everything happened that the stress is for? */
static bool stressed(void)
{
    struct pool_view v;
    pool_read(pool, &v);
    return v.waits >= 10 && v.bypasses >= 1 && v.grows >= 3 && v.shrinks >= 3;
}

static void check_quiescence(void)
{
    struct pool_view v;
    struct budget_view b;
    while (n_lost)
        collect_one();
    for (unsigned i = 0; i < 2 * NODES; i++) /* the reclaimer is at rest, too: it has served what was asked of it */
        pool_shrink(pool, i % NODES, 0, 0, NULL);
    pool_read(pool, &v);
    budget_read(budget, &b);
    if (v.leased_bytes || v.draining_bytes || v.waiting)
        fault("something is leased, draining or waiting though everybody has left (I1, I4)");
    if (v.mapped_bytes != b.taken_bytes)
        fault("pages of all states are not the pages paid for (I7, I9)");
    printf("takes %lu hits %lu waits %lu bypasses %lu borrowed %lu grows %lu shrinks %lu reactivations %lu "
           "quarantined %lu KiB deaths %lu given for others %lu threads %u\n",
           atomic_load(&takes), v.hits, v.waits, v.bypasses, v.borrowed, v.grows, v.shrinks, v.reactivations,
           v.quarantined_bytes >> 10, atomic_load(&deaths), atomic_load(&given_for_others), thread_count());
    if (!stressed())
        fault("the stress did not stress");
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 3;
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 8;
    unsigned long seed = argc > 3 ? strtoul(argv[3], NULL, 0) : (unsigned long)clock_now_ns();
    printf("seed %lu (again: stress_pool %d %u %lu)\n", seed, seconds, threads, seed);
    fake_begin();
    static struct pool_node_opts node[NODES] = {
        {.id = 0, .start_units = UNITS, .max_units = 3 * UNITS, .borrow = {1}, .n_borrow = 1},
        {.id = -1, .start_units = UNITS, .max_units = 3 * UNITS, .borrow = {0}, .n_borrow = 1}};
    node[0].borrow_cost_ns_per_byte[0] = 0.5;
    struct pool_opts o = {.node = node, .n_nodes = NODES, .unit_bytes = UNIT, .arena_units = UNITS, .tier = TIER_4K};
    o.registrar = fake_registrar;
    if (budget_open(&budget, &(struct budget_opts){.limit_bytes = 5ull * UNITS * UNIT}))
        return 1;
    o.budget = budget;
    if (pool_open(&pool, &o)) {
        fprintf(stderr, "%s\n", pen_last_error());
        return 1;
    }
    pthread_t t[THREADS_MAX], op;
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, worker, (void *)(uintptr_t)(seed * 131 + i + 1));
    pthread_create(&op, NULL, operator_run, (void *)(uintptr_t)(seed | 1));
    usleep((useconds_t)seconds * 800000);
    unsigned long early = atomic_load(&takes);
    usleep((useconds_t)seconds * 200000);
    for (int more = 0; more < 20 * seconds && !stressed(); more++) /* a slow machine gets longer */
        sleep(1);
    if (atomic_load(&takes) < early + early / 40) /* an even pace would be a quarter */
        fault("the pool dries up: nothing comes back from quarantine or growth");
    atomic_store(&stop, true);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    pthread_join(op, NULL);
    check_quiescence();
    if (pool_close(pool))
        fault("close");
    if (budget_close(budget))
        fault("budget");
    fake_end();
    if (atomic_load(&fake.mapped_bytes) || atomic_load(&fake.registered) || atomic_load(&fake.violations))
        fault("the kernel's or the device's books (I5, I7)");
    return atomic_load(&faults) ? 1 : 0;
}
