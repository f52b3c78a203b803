/* Claim, without a GPU: the slices of a streamed MSM cover every scalar once, begin at multiples of 64 (words of bits),
 * never exceed what the buffers hold, and are few: three, or two where copies run ahead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/gpu/gpu.h"

static unsigned count_slices(size_t n, size_t most, bool warm)
{
    unsigned k = 0;
    for (size_t at = 0, some; at < n; at += some, k++) {
        some = gpu_slice(n, at, most, warm);
        assert_true(some > 0 && some <= n - at && some <= most);
        assert_int_equal(at % 64, 0);
    }
    return k;
}

static void cover(void **state)
{
    (void)state;
    for (size_t n = 1; n < 3000; n++)
        for (size_t most = 64; most < 2000; most *= 2)
            for (int warm = 0; warm < 2; warm++)
                count_slices(n, most, warm);
}

static void few(void **state)
{
    (void)state;
    for (size_t n = 1 << 12; n <= (size_t)1 << 28; n = n * 3 / 2) {
        size_t half = (n / 2 + 127) / 64 * 64;
        assert_int_equal(count_slices(n, half, true), 2);
        assert_int_equal(count_slices(n, half, false), 3);
        assert_true(gpu_slice(n, 0, half, false) <= n / 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cover), cmocka_unit_test(few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
