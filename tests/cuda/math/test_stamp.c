/* Claims: the stamped fields, Fq2 and groups are right in every instruction set of this CPU (stamp_cases.c), and the
 * choice of the set can be lowered and never raised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cuda/math/isa.h"
#include "tests/cuda/math/rand.h"
#include "tests/cuda/math/stamp_cases.h"

static void test_portable(void **state)
{
    (void)state;
    stamp_cases_portable(rand_u64());
}

#if defined(__x86_64__)
static void test_adx(void **state)
{
    (void)state;
    if (isa_of_cpu() < ISA_ID_ADX)
        skip();
    stamp_cases_adx(rand_u64());
}
#endif

static void test_isa(void **state)
{
    (void)state;
    assert_true(isa_best() <= isa_of_cpu());
    assert_string_equal(isa_name(ISA_ID_PORTABLE), "portable");
    const char *want = getenv("PENSTOCK_ISA");
    if (want && strcmp(want, "portable") == 0)
        assert_int_equal(isa_best(), ISA_ID_PORTABLE);
    if (!want)
        assert_int_equal(isa_best(), isa_of_cpu());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isa),
        cmocka_unit_test(test_portable),
#if defined(__x86_64__)
        cmocka_unit_test(test_adx),
#endif
    };
    rand_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
