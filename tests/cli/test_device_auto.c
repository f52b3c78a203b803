/* Claims: `auto' takes a GPU exactly where the build has the device, the job is at or above the crossover and a GPU is
 * there; the driver is not asked before the first two hold; either answer has its reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "engine/cli/opt_device.h"

static unsigned gpus, asked;

static unsigned count(void)
{
    asked++;
    return gpus;
}

static void test_decision(void **state)
{
    (void)state;
    const uint64_t crossover = (uint64_t)16 * DEVICE_AUTO_ROWS_PER_THREAD;
    const struct {
        uint64_t rows;
        int built;
        unsigned gpus;
        bool gpu;
        unsigned asked;
        const char *why;
    } cases[] = {
        {DEVICE_ROWS_MANY, 0, 8, false, 0, "this build has no CUDA device"},
        {crossover - 1, 13000, 8, false, 0, "fewer than 640000 (40000 for each of 16 threads)"},
        {crossover, 13000, 8, true, 1, "the first of 8 GPUs, and 640000 rows"},
        {crossover, 13000, 0, false, 1, "no usable GPU"},
        {0, 13000, 1, false, 0, "0 rows"},
        {DEVICE_ROWS_MANY, 13000, 1, true, 1, "the first of 1 GPUs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[DEVICE_WHY] = "";
        gpus = cases[i].gpus;
        asked = 0;
        assert_int_equal(device_auto_is_gpu(why, cases[i].rows, 16, cases[i].built, count), cases[i].gpu);
        assert_int_equal(asked, cases[i].asked);
        if (!strstr(why, cases[i].why))
            fail_msg("case %zu: \"%s\" has no \"%s\"", i, why, cases[i].why);
    }
}

/* A named device is that device or an error. */
static void test_named(void **state)
{
    (void)state;
    struct device *d;
    struct device_info info;
    assert_int_equal(device_choice_open(&d, &(struct device_choice){.name = "cuda:999"}, DEVICE_ROWS_MANY), -ENODEV);
    assert_int_equal(device_choice_open(&d, &(struct device_choice){.name = "host"}, DEVICE_ROWS_MANY), 0);
    assert_int_equal(d->ops->info(d, &info), 0);
    assert_string_equal(info.id, "host");
    d->ops->close(d);
    assert_int_equal(device_choice_open(&d, &(struct device_choice){0}, 1), 0);
    assert_int_equal(d->ops->info(d, &info), 0);
    assert_string_equal(info.id, "host");
    d->ops->close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decision), cmocka_unit_test(test_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
