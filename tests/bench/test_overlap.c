/* Claims: figures of a pipeline from its spans, on lists whose answers can be seen: union of overlapping copies, gaps
 * between jobs but not between steps of one, the first job left out, spans before the mark not counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perf/bench/overlap.h"

static void add(struct span_list *l, const char *lane, uint64_t job, uint64_t begin, uint64_t end, uint64_t bytes)
{
    span_add(l,
             &(struct span){.stage = "x", .lane = lane, .job = job, .begin_ns = begin, .end_ns = end, .bytes = bytes});
}

static void expect(double is, double want)
{
    assert_true(is > want * 0.999999 - 1e-15 && is < want * 1.000001 + 1e-15);
}

static void test_pipeline(void **state)
{
    (void)state;
    struct span_list *l;
    assert_int_equal(span_list_open(&l, 64), 0);
    add(l, "gpu0 compute", 9, 0, 50, 0); /* before the mark */
    size_t mark = span_count(l);
    add(l, "gpu0 copy", 1, 100, 200, 1000);
    add(l, "gpu0 copy", 1, 150, 300, 1000); /* two under way */
    add(l, "gpu0 copy", 2, 500, 600, 1000);
    add(l, "gpu0 compute", 1, 300, 400, 0);
    add(l, "gpu0 compute", 1, 410, 500, 0);  /* 10 between steps of one job */
    add(l, "gpu0 compute", 3, 900, 1000, 0); /* out of order in the list */
    add(l, "gpu0 compute", 2, 520, 800, 0);
    add(l, "gpu0 fold", 1, 500, 530, 0);
    add(l, "gpu0 read", 1, 0, 100, 0);
    struct overlap o;
    assert_true(overlap_of(&o, l, mark));
    assert_int_equal(o.jobs, 2);
    expect(o.wall_s, 500e-9);
    expect(o.compute_s, 380e-9);
    expect(o.gap_max_s, 100e-9);
    expect(o.gap_sum_s, 120e-9);
    expect(o.copy_s, 300e-9);
    assert_int_equal(o.copy_bytes, 3000);
    expect(o.read_s, 100e-9);
    expect(o.fold_s, 30e-9);
    span_list_close(l);
}

static void test_too_few(void **state)
{
    (void)state;
    struct span_list *l;
    struct overlap o;
    assert_int_equal(span_list_open(&l, 8), 0);
    assert_false(overlap_of(&o, l, 0));
    add(l, "gpu0 compute", 1, 300, 400, 0);
    assert_false(overlap_of(&o, l, 0));
    span_list_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pipeline), cmocka_unit_test(test_too_few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
