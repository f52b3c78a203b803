/* Claims: first come, first served, so a big request does not starve; what exceeds the limit is refused at once; stages
 * and permanent shares add up; more than a share holds cannot be given back; the idlest thing of the lowest rank is
 * evicted, only when that serves the request; a failing request undoes nothing of others; no wake-up is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "alloc/budget.h"
#include "fake.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "tests/slower.h"

enum { MS = 1000 * 1000 };

static struct budget *open_budget(uint64_t limit, uint64_t min_idle_ns)
{
    struct budget *b = NULL;
    assert_int_equal(budget_open(&b, &(struct budget_opts){.limit_bytes = limit, .min_idle_ns = min_idle_ns}), 0);
    return b;
}

static struct budget_view view(struct budget *b)
{
    struct budget_view v;
    budget_read(b, &v);
    return v;
}

struct asker {
    struct budget *budget;
    struct budget_share share;
    uint64_t bytes;
    struct budget_wait wait;
    _Atomic int rc, done;
    _Atomic unsigned *order;
    unsigned place;
    pthread_t thread;
};

static void *ask(void *arg)
{
    struct asker *a = arg;
    int rc = budget_take(a->budget, &a->share, a->bytes, &a->wait);
    if (a->order)
        a->place = atomic_fetch_add(a->order, 1);
    atomic_store(&a->rc, rc);
    atomic_store(&a->done, 1);
    return NULL;
}

/* Start an asker and return when it stands in line. */
static void stand_in_line(struct asker *a, unsigned in_line)
{
    pthread_create(&a->thread, NULL, ask, a);
    while (view(a->budget).waiting < in_line && !atomic_load(&a->done))
        usleep(100);
}

static void test_stages(void **state)
{
    (void)state;
    struct budget *b = open_budget(100, 0), *none;
    struct budget_share job = {0}, key = {0}, more = {0};
    assert_int_equal(budget_open(&none, &(struct budget_opts){0}), -EINVAL);
    assert_int_equal(budget_take(b, &job, 60, NULL), 0);
    assert_int_equal(budget_take(b, &job, 1, NULL), -EINVAL); /* everything at once */
    assert_int_equal(budget_take(b, &key, 40, NULL), 0);
    budget_keep(&key);
    budget_keep(&key);
    assert_int_equal(view(b).permanent_bytes, 40);
    assert_int_equal(budget_try(b, &more, 1), -EAGAIN);
    assert_int_equal(budget_give(&job, 50), 0);
    assert_int_equal(job.bytes, 10);
    assert_int_equal(budget_give(&job, 11), -EINVAL);
    assert_int_equal(view(b).taken_bytes, 50);
    assert_int_equal(budget_more(&key, 5), 0);
    assert_int_equal(view(b).permanent_bytes, 45);
    assert_int_equal(budget_give(&key, 5), 0);
    assert_int_equal(budget_close(b), -EBUSY);
    assert_int_equal(budget_give(&job, UINT64_MAX), 0);
    assert_int_equal(budget_give(&key, UINT64_MAX), 0);
    assert_int_equal(budget_give(&key, UINT64_MAX), 0);
    assert_int_equal(view(b).permanent_bytes, 0);
    assert_int_equal(budget_close(b), 0);
}

static void test_impossible(void **state)
{
    (void)state;
    struct budget *b = open_budget(100, 0);
    struct budget_share s = {0};
    uint64_t t0 = clock_now_ns();
    assert_int_equal(budget_take(b, &s, 101, NULL), -E2BIG);
    assert_int_equal(budget_try(b, &s, UINT64_MAX), -E2BIG);
    assert_true(clock_now_ns() - t0 < slower() * 100 * MS);
    assert_non_null(strstr(pen_last_error(), "can never be had"));
    assert_int_equal(budget_take(b, &s, 100, NULL), 0);
    assert_int_equal(budget_give(&s, 100), 0);
    assert_int_equal(budget_take(b, &s, 0, NULL), 0); /* nothing is always there */
    assert_int_equal(budget_close(b), 0);
}

/* A stream of small requests does not keep the big one waiting, and a big one that gives up frees the way. */
static void test_first_come_first_served(void **state)
{
    (void)state;
    struct budget *b = open_budget(100, 0);
    _Atomic unsigned order = 0;
    struct budget_share held = {0}, quick = {0};
    assert_int_equal(budget_take(b, &held, 50, NULL), 0);
    struct asker a[6];
    for (unsigned i = 0; i < 6; i++) {
        a[i] = (struct asker){.budget = b, .bytes = i == 0 ? 95 : 10, .wait = {.wait_ns = UINT64_MAX}, .order = &order};
        stand_in_line(&a[i], i + 1);
    }
    /* (95 leave no room for a small one: who returned first is then certain.) 50 are free, five small ones would fit;
     * they wait behind the big one. So does one that only tries. */
    assert_int_equal(budget_try(b, &quick, 10), -EAGAIN);
    assert_int_equal(view(b).taken_bytes, 50);
    assert_int_equal(view(b).waiting_bytes, 145);
    assert_int_equal(budget_give(&held, 50), 0);
    pthread_join(a[0].thread, NULL);
    assert_int_equal(a[0].place, 0);
    assert_int_equal(budget_give(&a[0].share, 95), 0);
    for (unsigned i = 1; i < 6; i++)
        pthread_join(a[i].thread, NULL);
    assert_int_equal(view(b).taken_bytes, 50);

    struct asker big = {.budget = b, .bytes = 90, .wait = {.wait_ns = 30 * MS}};
    struct asker small = {.budget = b, .bytes = 10, .wait = {.wait_ns = UINT64_MAX}};
    stand_in_line(&big, 1);
    stand_in_line(&small, 2);
    pthread_join(big.thread, NULL);
    pthread_join(small.thread, NULL);
    assert_int_equal(atomic_load(&big.rc), -ETIMEDOUT);
    assert_int_equal(atomic_load(&small.rc), 0);
    assert_int_equal(big.share.bytes, 0);

    _Atomic bool cancel = false;
    struct asker cancelled = {.budget = b, .bytes = 90, .wait = {.wait_ns = UINT64_MAX, .cancel = &cancel}};
    stand_in_line(&cancelled, 1);
    atomic_store(&cancel, true);
    budget_wake(b);
    pthread_join(cancelled.thread, NULL);
    assert_int_equal(atomic_load(&cancelled.rc), -ECANCELED);
    assert_int_equal(budget_give(&small.share, 10), 0);
    for (unsigned i = 1; i < 6; i++)
        assert_int_equal(budget_give(&a[i].share, 10), 0);
    assert_int_equal(budget_close(b), 0);
}

struct key {
    struct budget_evictor evictor;
    struct budget_share share;
    _Atomic uint64_t since; /* 0: in use */
    _Atomic int refuses;
    unsigned evicted;
};

static uint64_t key_idle(void *ctx, uint64_t *since)
{
    struct key *k = ctx;
    *since = atomic_load(&k->since);
    return *since ? k->share.bytes : 0;
}

static int key_evict(void *ctx, uint64_t bytes)
{
    struct key *k = ctx;
    (void)bytes;
    if (atomic_load(&k->refuses))
        return err_fail(-EBUSY, "in use after all");
    k->evicted++;
    return budget_give(&k->share, UINT64_MAX);
}

static void key_add(struct budget *b, struct key *k, uint64_t bytes, unsigned rank, uint64_t since)
{
    memset(k, 0, sizeof *k);
    assert_int_equal(budget_take(b, &k->share, bytes, NULL), 0);
    budget_keep(&k->share);
    atomic_store(&k->since, since);
    k->evictor = (struct budget_evictor){.name = "key", .rank = rank, .ctx = k, .idle = key_idle, .evict = key_evict};
    budget_evictor_add(b, &k->evictor);
}

static void test_eviction(void **state)
{
    (void)state;
    struct budget *b = open_budget(100, 0);
    struct key k[4];
    key_add(b, &k[0], 20, 1, 300);
    key_add(b, &k[1], 20, 1, 100); /* idle for longest */
    key_add(b, &k[2], 20, 1, 200);
    key_add(b, &k[3], 20, 1, 0); /* in use */
    struct budget_share job = {0};
    struct budget_wait brief = {.wait_ns = 5 * MS};
    /* 81 cannot be had by eviction: nothing is thrown away. */
    assert_int_equal(budget_take(b, &job, 81, &brief), -ETIMEDOUT);
    assert_int_equal(k[0].evicted + k[1].evicted + k[2].evicted, 0);
    assert_int_equal(budget_try(b, &job, 30), -EAGAIN); /* trying never evicts */
    assert_int_equal(budget_take(b, &job, 50, &brief), 0);
    assert_int_equal(k[1].evicted, 1);
    assert_int_equal(k[2].evicted, 1);
    assert_int_equal(k[0].evicted, 0);
    assert_int_equal(view(b).evictions, 2);
    assert_int_equal(view(b).evicted_bytes, 40);
    /* Refuses, then agrees: the request waits and gets it. */
    atomic_store(&k[0].refuses, 1);
    struct asker late = {.budget = b, .bytes = 30, .wait = {.wait_ns = UINT64_MAX}};
    stand_in_line(&late, 1);
    usleep(20000);
    assert_int_equal(atomic_load(&late.done), 0);
    atomic_store(&k[0].refuses, 0);
    pthread_join(late.thread, NULL);
    assert_int_equal(atomic_load(&late.rc), 0);
    assert_int_equal(k[0].evicted, 1);
    assert_int_equal(budget_give(&late.share, UINT64_MAX), 0);
    assert_int_equal(budget_give(&job, UINT64_MAX), 0);
    /* The lower rank goes first, however fresh. */
    struct key pool;
    key_add(b, &pool, 40, 0, 999);
    atomic_store(&k[3].since, 1);
    assert_int_equal(budget_take(b, &job, 70, &brief), 0);
    assert_int_equal(pool.evicted, 1);
    assert_int_equal(k[3].evicted, 0);
    assert_int_equal(budget_give(&job, UINT64_MAX), 0);
    for (int i = 0; i < 4; i++)
        budget_evictor_remove(b, &k[i].evictor);
    budget_evictor_remove(b, &pool.evictor);
    budget_give(&k[3].share, UINT64_MAX);
    assert_int_equal(budget_close(b), 0);
}

static void test_min_idle(void **state)
{
    (void)state;
    struct budget *b = open_budget(100, 60 * MS);
    struct key k;
    key_add(b, &k, 80, 1, clock_now_ns());
    struct budget_share job = {0};
    uint64_t t0 = clock_now_ns();
    assert_int_equal(budget_take(b, &job, 50, NULL), 0); /* waits until the key has been idle long enough */
    assert_true(clock_now_ns() - t0 >= 55 * MS);
    assert_int_equal(k.evicted, 1);
    budget_evictor_remove(b, &k.evictor);
    budget_give(&job, UINT64_MAX);
    assert_int_equal(budget_close(b), 0);
}

/* Many threads, every size, partial gives, cancels: the sum never exceeds the limit and nobody is left waiting. */
static struct budget *storm_budget;
static _Atomic uint64_t storm_taken;
static _Atomic int storm_faults;

static void *storm(void *arg)
{
    uint64_t x = (uintptr_t)arg;
    for (int i = 0; i < 3000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t bytes = 1 + (x >> 33) % ((x >> 20) % 8 == 0 ? 1000 : 100);
        struct budget_share s = {0};
        struct budget_wait w = {.wait_ns = (x >> 40) % 4 ? UINT64_MAX : 100000};
        int rc = budget_take(storm_budget, &s, bytes, &w);
        if (rc == -ETIMEDOUT)
            continue;
        if (rc || atomic_fetch_add(&storm_taken, bytes) + bytes > 1000)
            storm_faults++;
        uint64_t part = bytes / 3;
        atomic_fetch_sub(&storm_taken, bytes);
        if (budget_give(&s, part) || budget_give(&s, UINT64_MAX))
            storm_faults++;
    }
    return NULL;
}

static void test_storm(void **state)
{
    (void)state;
    storm_budget = open_budget(1000, 0);
    pthread_t t[12];
    for (uintptr_t i = 0; i < 12; i++)
        pthread_create(&t[i], NULL, storm, (void *)(i * 7919 + 1));
    for (int i = 0; i < 12; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(atomic_load(&storm_faults), 0);
    assert_int_equal(view(storm_budget).taken_bytes, 0);
    assert_int_equal(budget_close(storm_budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_first_come_first_served),
        cmocka_unit_test(test_eviction),
        cmocka_unit_test(test_min_idle),
        cmocka_unit_test(test_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
