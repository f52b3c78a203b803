/* Claims: sentences are per thread and survive being their own argument; sizes parse exactly or fail; counters lose
 * nothing over threads that end; histograms put a bound into its own bucket; a full span list drops and counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "perf/count.h"
#include "perf/err.h"
#include "perf/hist.h"
#include "perf/span.h"
#include "perf/units.h"

static void *other_thread(void *arg)
{
    (void)arg;
    assert_string_equal(pen_last_error(), "");
    err_fail(-EIO, "theirs");
    return NULL;
}

static void test_err(void **state)
{
    (void)state;
    assert_int_equal(err_fail(-EINVAL, "section %d ends at byte %d", 5, 812), -EINVAL);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, other_thread, NULL), 0);
    pthread_join(t, NULL);
    assert_string_equal(pen_last_error(), "section 5 ends at byte 812");
    err_fail(-EINVAL, "again: %s", pen_last_error());
    assert_string_equal(pen_last_error(), "again: section 5 ends at byte 812");
    assert_int_equal(err_in(-EIO, "%s", "a.zkey"), -EIO);
    assert_string_equal(pen_last_error(), "a.zkey: again: section 5 ends at byte 812");
    char big[3000];
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = 0;
    err_fail(-EIO, "%s", big);
    assert_int_equal(strlen(pen_last_error()), 1023);
    err_in(-EIO, "%s", big);
    assert_int_equal(strlen(pen_last_error()), 1023);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes; /* -1: refused */
    } cases[] = {{"16GiB", 17179869184},
                 {"16g", 17179869184},
                 {"1.5 MiB", 1572864},
                 {"2GB", 2000000000},
                 {"4096", 4096},
                 {"0", 0},
                 {"", -1},
                 {"-1", -1},
                 {"12 parsecs", -1},
                 {"0x10", -1},
                 {"1e3", -1},
                 {"1.2.3M", -1},
                 {"99999999999999TiB", -1},
                 {"9007199254740993", 9007199254740993}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 7;
        int rc = units_parse_bytes(cases[i].text, &bytes);
        assert_int_equal(rc, cases[i].bytes < 0 ? -EINVAL : 0);
        assert_int_equal(bytes, cases[i].bytes < 0 ? 7 : (uint64_t)cases[i].bytes);
    }
    char text[UNITS_TEXT];
    assert_string_equal(units_bytes(text, 4168923808u), "3.88 GiB");
    assert_string_equal(units_bytes(text, 17), "17 B");
    assert_string_equal(units_seconds(text, 1.5), "1.50 s");
    assert_string_equal(units_seconds(text, 0.0342), "34.2 ms");
    assert_string_equal(units_seconds(text, 12e-6), "12 us");
}

static void *counting_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++)
        count_add(COUNT_READ_BYTES, 3);
    return NULL;
}

static void test_count(void **state)
{
    (void)state;
    uint64_t before = count_read(COUNT_READ_BYTES);
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&t[i], NULL, counting_thread, NULL), 0);
    count_add(COUNT_READ_BYTES, 1);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(count_read(COUNT_READ_BYTES) - before, 8 * 3000 + 1);
    assert_string_equal(count_name(COUNT_PROOFS), "penstock_proofs_total");
    assert_true(strlen(count_help(COUNT_PROOFS)) > 0);
}

static void test_hist(void **state)
{
    (void)state;
    static struct hist h;
    hist_add(&h, 5000000);       /* exactly 5 ms: first bucket */
    hist_add(&h, 5000001);       /* second */
    hist_add(&h, 601000000000u); /* above all */
    assert_int_equal(h.count[0], 1);
    assert_int_equal(h.count[1], 1);
    assert_int_equal(h.count[HIST_BUCKETS], 1);
    assert_int_equal(hist_total(&h), 3);
}

static void test_span(void **state)
{
    (void)state;
    struct span_list *list;
    assert_int_equal(span_list_open(&list, 2), 0);
    for (uint64_t i = 0; i < 3; i++)
        span_add(list, &(struct span){.stage = "msm", .lane = "compute", .job = i, .begin_ns = 1000, .end_ns = 3500});
    assert_int_equal(span_count(list), 2);
    assert_int_equal(span_dropped(list), 1);
    assert_int_equal(span_stage_ns(list, "msm"), 5000);
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    assert_int_equal(span_write_trace(list, f), 0);
    fclose(f);
    assert_non_null(strstr(text, "\"ts\":1.000,\"dur\":2.500"));
    free(text);
    span_add(NULL, &(struct span){0});
    span_list_close(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_err), cmocka_unit_test(test_units),
                                       cmocka_unit_test(test_count), cmocka_unit_test(test_hist),
                                       cmocka_unit_test(test_span)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
