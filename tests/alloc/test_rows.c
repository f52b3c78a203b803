/* Claims: a writer refuses the first row that does not fit and touches nothing behind its buffers (a vector grown over
 * a wrong hint handed registered memory to realloc and broke the heap); a lease's buffers keep the sizes that were
 * asked for, whatever sizes the same memory had before (a label of a for all three led to writes out of bounds); staged
 * rows land as if written in place; circuits that look alike do not share a hint; workers run every item once, where
 * they should, and stop at the first error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/hints.h"
#include "alloc/pool.h"
#include "alloc/rows.h"
#include "alloc/workers.h"
#include "fake.h"
#include "perf/err.h"

enum { UNIT = 1 << 17 };

static struct pool *pool;

static int setup(void **state)
{
    (void)state;
    fake_begin();
    static const struct pool_node_opts node = {.id = -1, .start_units = 24};
    return pool_open(&pool, &(struct pool_opts){.node = &node, .n_nodes = 1, .unit_bytes = UNIT, .tier = TIER_4K});
}

static int teardown(void **state)
{
    (void)state;
    int rc = pool_close(pool);
    fake_end();
    return rc || atomic_load(&fake.mapped_bytes);
}

static void row(uint64_t i, unsigned column, unsigned char out[ROW_BYTES])
{
    for (unsigned k = 0; k < ROW_BYTES; k++)
        out[k] = (unsigned char)((i * 3 + column) * 0x9e3779b97f4a7c15u >> (k % 8 * 8));
}

static int push(struct rows *r, uint64_t i)
{
    unsigned char a[ROW_BYTES], b[ROW_BYTES], c[ROW_BYTES];
    row(i, 0, a);
    row(i, 1, b);
    row(i, 2, c);
    return rows_push(r, a, b, c);
}

static bool rows_right(const struct lease *l, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        for (unsigned c = 0; c < ROW_COLUMNS; c++) {
            unsigned char want[ROW_BYTES];
            row(i, c, want);
            if (memcmp(lease_buffer(l, c) + i * ROW_BYTES, want, ROW_BYTES) != 0)
                return false;
        }
    return true;
}

static void take(struct lease *l, uint64_t rows)
{
    size_t bytes = rows * ROW_BYTES;
    struct pool_want w = {.size = {bytes, bytes, bytes}, .buffers = 3};
    *l = (struct lease){0};
    assert_int_equal(pool_take(pool, l, &w), 0);
}

static void test_over_push_is_refused(void **state)
{
    (void)state;
    enum { ROWS = 1000 };
    struct lease l;
    struct rows r;
    take(&l, ROWS);
    memset(l.base, 0xee, l.bytes);
    assert_int_equal(rows_open(&r, &l, ROWS + 1), -EINVAL);
    assert_int_equal(rows_open(&r, &l, ROWS), 0);
    for (uint64_t i = 0; i < ROWS; i++)
        assert_int_equal(push(&r, i), 0);
    assert_int_equal(rows_finish(&r, ROWS), 0);
    for (int more = 0; more < 3; more++) {
        assert_int_equal(push(&r, ROWS), -ENOSPC);
        assert_string_equal(pen_last_error(), "row 1000 does not fit: the size was given as 1000 rows");
    }
    unsigned char many[5 * ROW_BYTES];
    assert_int_equal(rows_put(&r, many, many, many, 5), -ENOSPC);
    assert_int_equal(rows_count(&r), ROWS);
    assert_int_equal(rows_finish(&r, ROWS), -ENOSPC); /* a producer that ignores the refusals is told at the end */
    assert_true(rows_right(&l, ROWS));
    size_t end = l.offset[2] + l.size[2];
    for (size_t i = end; i < l.bytes; i++)
        assert_int_equal(l.base[i], 0xee);
    for (unsigned c = 0; c < 2; c++)
        for (size_t i = l.offset[c] + l.size[c]; i < l.offset[c + 1]; i++)
            assert_int_equal(l.base[i], 0xee);
    assert_int_equal(pool_give(pool, &l), 0);
}

static void test_sizes_are_not_inherited(void **state)
{
    (void)state;
    struct rows r;
    for (unsigned round = 0; round < 50; round++) {
        struct lease big, little;
        take(&big, 9000 + round);
        take(&little, 3000 - round);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(big.size[i], (9000 + round) * ROW_BYTES);
            assert_int_equal(little.size[i], (3000 - round) * ROW_BYTES);
        }
        assert_int_equal(rows_open(&r, &little, 9000), -EINVAL);
        /* Different buffers of one lease: the smallest decides. */
        pool_give(pool, round % 2 ? &big : &little);
        struct lease mixed = {0};
        struct pool_want w = {.size = {64 * ROW_BYTES, 63 * ROW_BYTES, 64 * ROW_BYTES}, .buffers = 3};
        assert_int_equal(pool_take(pool, &mixed, &w), 0);
        assert_int_equal(rows_open(&r, &mixed, 64), -EINVAL);
        assert_non_null(strstr(pen_last_error(), "buffer 1"));
        assert_int_equal(rows_open(&r, &mixed, 63), 0);
        pool_give(pool, &mixed);
        pool_give(pool, &big);
        pool_give(pool, &little);
    }
}

static void test_stage_and_land(void **state)
{
    (void)state;
    enum { ROWS = (1 << 16) * 2 + 77 }; /* three chunks */
    struct rows r;
    uint64_t copied;
    rows_stage(&r, ROWS);
    for (uint64_t i = 0; i < ROWS; i++)
        assert_int_equal(push(&r, i), 0);
    assert_int_equal(push(&r, ROWS), -ENOSPC);
    r.refused = 0;
    struct lease l = {.base = calloc(3, ROWS * ROW_BYTES), .buffers = 3};
    for (unsigned i = 0; i < 3; i++) {
        l.offset[i] = i * (size_t)ROWS * ROW_BYTES;
        l.size[i] = ROWS * ROW_BYTES - (i == 2);
    }
    assert_int_equal(rows_land(&r, &l, &copied), -EINVAL);
    assert_int_equal(rows_count(&r), ROWS); /* still there */
    l.size[2]++;
    assert_int_equal(rows_land(&r, &l, &copied), 0);
    assert_int_equal(copied, 3ull * ROWS * ROW_BYTES);
    assert_int_equal(rows_finish(&r, ROWS), 0);
    assert_true(rows_right(&l, ROWS));
    assert_int_equal(push(&r, ROWS), -ENOSPC);
    free(l.base);

    /* Nothing staged lands as nothing; a stage whose memory ends refuses. */
    rows_stage(&r, 10);
    assert_int_equal(rows_finish(&r, 0), 0);
    atomic_store(&fake.fail_at, atomic_load(&fake.calls) + 1);
    assert_int_equal(push(&r, 0), -ENOMEM);
    assert_int_equal(push(&r, 0), 0);
    assert_int_equal(rows_finish(&r, 1), -ENOSPC);
    rows_drop(&r);
}

struct job {
    struct rows part[8];
    uint64_t first[8], n[8];
    _Atomic unsigned ran;
};

static int write_part(void *ctx, size_t i, unsigned thread)
{
    struct job *j = ctx;
    (void)thread;
    atomic_fetch_add(&j->ran, 1);
    for (uint64_t k = 0; k < j->n[i]; k++) {
        int rc = push(&j->part[i], j->first[i] + k);
        if (rc)
            return rc;
    }
    return rows_finish(&j->part[i], j->n[i]);
}

static void test_parts_by_workers(void **state)
{
    (void)state;
    enum { ROWS = 4001 };
    struct workers *w;
    struct lease l;
    struct rows all, none;
    struct job j = {0};
    assert_int_equal(workers_open(&w, &(struct workers_opts){.threads = 4}), 0);
    take(&l, ROWS);
    assert_int_equal(rows_open(&all, &l, ROWS), 0);
    for (unsigned i = 0; i < 8; i++) {
        j.first[i] = all.at;
        j.n[i] = i < 7 ? 500 : ROWS - 3500;
        assert_int_equal(rows_split(&all, &j.part[i], j.n[i]), 0);
    }
    assert_int_equal(rows_split(&all, &none, 1), -ENOSPC);
    assert_int_equal(workers_run(w, write_part, &j, 8), 0);
    assert_int_equal(j.ran, 8);
    assert_int_equal(rows_finish(&all, ROWS), 0);
    assert_true(rows_right(&l, ROWS));
    /* One part too long: its refusal is the run's error, and no neighbour's row is touched. */
    for (unsigned i = 0; i < 8; i++)
        j.part[i].at = 0;
    j.n[3] = 501;
    assert_int_equal(workers_run(w, write_part, &j, 8), -ENOSPC);
    assert_non_null(strstr(pen_last_error(), "row 500 does not fit"));
    assert_true(rows_right(&l, ROWS));
    pool_give(pool, &l);
    rows_stage(&all, 5);
    assert_int_equal(rows_split(&all, &none, 1), -EINVAL);
    workers_close(w);
}

struct seen {
    _Atomic unsigned times[1000];
    _Atomic unsigned by[64];
    _Atomic int wrong_cpu;
    struct workers *w;
    int cpu;
};

static int see(void *ctx, size_t i, unsigned thread)
{
    struct seen *s = ctx;
    atomic_fetch_add(&s->times[i], 1);
    atomic_fetch_add(&s->by[thread], 1);
    if (s->cpu >= 0 && sched_getcpu() != s->cpu)
        atomic_fetch_add(&s->wrong_cpu, 1);
    return i == 500 && workers_run(s->w, see, ctx, 1) != -EDEADLK;
}

static void test_workers(void **state)
{
    (void)state;
    cpu_set_t mine, one;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    struct seen s = {.cpu = 0};
    while (!CPU_ISSET((size_t)s.cpu, &mine))
        s.cpu++;
    CPU_ZERO(&one);
    assert_int_equal(workers_open(&s.w, &(struct workers_opts){.cpus = &one}), -EINVAL);
    CPU_SET((size_t)s.cpu, &one);
    assert_int_equal(workers_open(&s.w, &(struct workers_opts){.cpus = &one, .threads = 3, .one_cpu_each = true}), 0);
    assert_int_equal(workers_count(s.w), 3);
    assert_int_equal(workers_pinned(s.w), 3);
    for (int run = 1; run <= 20; run++) {
        assert_int_equal(workers_run(s.w, see, &s, 1000), 0);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(s.times[i], run);
    }
    assert_int_equal(workers_run(s.w, see, &s, 0), 0);
    assert_int_equal(s.wrong_cpu, 0);
    workers_close(s.w);
    /* Fewer threads than asked, or no pinning, is told, not fatal; no thread at all is. */
    atomic_store(&fake.fail_at, atomic_load(&fake.calls) + 4); /* calloc, create, pin, create */
    assert_int_equal(workers_open(&s.w, &(struct workers_opts){.cpus = &one, .threads = 3}), 0);
    assert_int_equal(workers_count(s.w), 1);
    workers_close(s.w);
    atomic_store(&fake.fail_at, atomic_load(&fake.calls) + 3);
    assert_int_equal(workers_open(&s.w, &(struct workers_opts){.cpus = &one, .threads = 3}), 0);
    assert_int_equal(workers_pinned(s.w), 2);
    workers_close(s.w);
    for (unsigned k = 1; k <= 2; k++) {
        atomic_store(&fake.fail_at, atomic_load(&fake.calls) + k);
        assert_int_equal(workers_open(&s.w, &(struct workers_opts){.threads = 1}), k == 1 ? -ENOMEM : -EAGAIN);
    }
}

static void test_hints(void **state)
{
    (void)state;
    struct hints *h;
    struct hint x = {130278869, 128000000, 200}, y = {131000000, 128000000, 200}, got;
    assert_int_equal(hints_open(&h, 3), 0);
    unsigned char id[5][HINT_ID];
    for (unsigned i = 0; i < 5; i++)
        memset(id[i], 0xaa, HINT_ID);
    for (unsigned i = 0; i < 5; i++)
        id[i][HINT_ID - 1] = (unsigned char)i; /* alike but for one byte */
    assert_false(hints_get(h, id[0], &got));
    hints_put(h, id[0], &x);
    assert_false(hints_get(h, id[1], &got));
    hints_put(h, id[1], &y);
    assert_true(hints_get(h, id[0], &got));
    assert_int_equal(got.rows, 130278869);
    hints_put(h, id[0], &y); /* the newest run is right */
    assert_true(hints_get(h, id[0], &got));
    assert_int_equal(got.rows, 131000000);
    hints_put(h, id[2], &x);
    hints_put(h, id[3], &x); /* full: id 1 was not asked for longest */
    assert_false(hints_get(h, id[1], &got));
    assert_true(hints_get(h, id[0], &got) && hints_get(h, id[2], &got) && hints_get(h, id[3], &got));
    hints_close(h);
    atomic_store(&fake.fail_at, atomic_load(&fake.calls) + 1);
    assert_int_equal(hints_open(&h, 0), -ENOMEM);
}

/* What was learned survives a restart; a file damaged in any byte, or cut anywhere, gives nothing and a sentence; a
 * failed write leaves the old file. */
static void test_hints_file(void **state)
{
    (void)state;
    char name[] = "penstock-hints-XXXXXX";
    int fd = mkstemp(name);
    close(fd);
    unlink(name);
    struct hints *h, *again;
    struct hint got;
    unsigned char id[3][HINT_ID] = {{1}, {2}, {3}};
    assert_int_equal(hints_open(&h, 8), 0);
    assert_int_equal(hints_load(h, name), 0); /* there is none yet */
    for (uint64_t i = 0; i < 3; i++)
        hints_put(h, id[i], &(struct hint){.rows = 100 + i, .aux = 200 + i, .inputs = i});
    assert_true(hints_get(h, id[0], &got)); /* so that 1 is the oldest */
    assert_int_equal(hints_save(h, name), 0);
    assert_int_equal(hints_open(&again, 2), 0); /* room for the two used last */
    assert_int_equal(hints_load(again, name), 0);
    assert_false(hints_get(again, id[1], &got));
    assert_true(hints_get(again, id[0], &got));
    assert_true(got.rows == 100 && got.aux == 200 && got.inputs == 0);
    assert_true(hints_get(again, id[2], &got));
    hints_close(again);
    for (unsigned long k = 1; k < 40; k++) { /* a save that fails anywhere */
        fake_begin();
        atomic_store(&fake.fail_at, k);
        hints_put(h, id[0], &(struct hint){.rows = k});
        int rc = hints_save(h, name);
        bool failed = atomic_load(&fake.failed) > 0;
        fake_end();
        assert_true((rc != 0) == failed);
        assert_int_equal(hints_open(&again, 8), 0);
        assert_int_equal(hints_load(again, name), 0); /* whole, old or new */
        assert_true(hints_get(again, id[2], &got));
        hints_close(again);
        if (!failed)
            break;
    }
    unsigned char bytes[512];
    FILE *f = fopen(name, "r");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_in_range(n, 8 + 8 + 3 * 56 + 8, sizeof bytes - 1);
    for (size_t i = 0; i < 2 * n; i++) {
        bytes[i % n] ^= i < n ? 0x10 : 0;
        f = fopen(name, "w");
        fwrite(bytes, 1, i < n ? n : i - n, f);
        fclose(f);
        bytes[i % n] ^= i < n ? 0x10 : 0;
        assert_int_equal(hints_open(&again, 8), 0);
        assert_int_equal(hints_load(again, name), -EBADMSG);
        assert_non_null(strstr(pen_last_error(), name));
        assert_false(hints_get(again, id[2], &got));
        hints_close(again);
    }
    hints_close(h);
    unlink(name);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_over_push_is_refused),
        TEST(test_sizes_are_not_inherited),
        TEST(test_stage_and_land),
        TEST(test_parts_by_workers),
        TEST(test_workers),
        TEST(test_hints),
        cmocka_unit_test(test_hints_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
