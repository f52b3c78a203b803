/* Claims: the list form and the set are inverse; what the kernel would never write is refused and changes nothing; the
 * set operations agree with a bool array on random sets with long runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "numa/idset.h"
#include "perf/err.h"

static void test_text(void **state)
{
    (void)state;
    static const char *const same[] = {"", "0", "0-3,8", "1,3,5", "0-2047", "63-64", "2047"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct idset set;
        char text[IDSET_TEXT];
        assert_int_equal(idset_parse(&set, same[i]), 0);
        assert_string_equal(idset_text(text, &set), same[i]);
    }
    struct idset set;
    char text[IDSET_TEXT];
    assert_int_equal(idset_parse(&set, "4,0-1,1-2\n"), 0);
    assert_string_equal(idset_text(text, &set), "0-2,4");
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        int rc;
    } bad[] = {{"a", -EINVAL},    {"0-", -EINVAL}, {"3-1", -EINVAL},  {"-1", -EINVAL},    {"0;1", -EINVAL},
               {"0,,1", -EINVAL}, {"1,", -EINVAL}, {"2048", -ERANGE}, {"0-9999", -ERANGE}};
    struct idset set = idset_first(3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err_set("");
        assert_int_equal(idset_parse(&set, bad[i].list), bad[i].rc);
        assert_true(pen_last_error()[0]);
        assert_int_equal(idset_count(&set), 3);
    }
}

/* A list of 1024 single numbers cannot fit: it is cut and says so. */
static void test_long(void **state)
{
    (void)state;
    struct idset set = {{0}};
    for (unsigned i = 0; i < IDSET_MAX; i += 2)
        idset_add(&set, i);
    char text[IDSET_TEXT];
    idset_text(text, &set);
    assert_true(strlen(text) < IDSET_TEXT);
    assert_string_equal(text + strlen(text) - 4, ",...");
}

static void fill_runs(struct idset *set, bool twin[IDSET_MAX])
{
    memset(set, 0, sizeof *set);
    bool on = rand() & 1;
    for (unsigned i = 0; i < IDSET_MAX;) {
        unsigned run = 1 + (unsigned)rand() % (rand() & 1 ? 3 : 200);
        for (; run && i < IDSET_MAX; run--, i++) {
            twin[i] = on;
            if (on)
                idset_add(set, i);
        }
        on = !on;
    }
}

static void test_operations(void **state)
{
    (void)state;
    const char *env = getenv("PENSTOCK_SEED");
    unsigned seed = env ? (unsigned)strtoul(env, NULL, 0) : 0x5eed2a;
    print_message("seed %#x (rerun: PENSTOCK_SEED=%#x)\n", seed, seed);
    srand(seed);
    for (int round = 0; round < 200; round++) {
        struct idset a, b;
        bool ta[IDSET_MAX], tb[IDSET_MAX];
        fill_runs(&a, ta);
        fill_runs(&b, tb);
        struct idset both = idset_and(&a, &b), any = idset_or(&a, &b), rest = idset_minus(&a, &b);
        unsigned count = 0;
        bool subset = true;
        int expect_next = idset_next(&a, 0);
        for (unsigned i = 0; i < IDSET_MAX; i++) {
            assert_int_equal(idset_has(&both, i), ta[i] && tb[i]);
            assert_int_equal(idset_has(&any, i), ta[i] || tb[i]);
            assert_int_equal(idset_has(&rest, i), ta[i] && !tb[i]);
            count += ta[i];
            subset = subset && (!ta[i] || tb[i]);
            if (ta[i]) {
                assert_int_equal(expect_next, (int)i);
                expect_next = idset_next(&a, i + 1);
            }
        }
        assert_int_equal(expect_next, -1);
        assert_int_equal(idset_count(&a), count);
        assert_int_equal(idset_subset(&a, &b), subset);
        assert_true(idset_subset(&both, &a));
        assert_int_equal(idset_equal(&a, &b), memcmp(ta, tb, sizeof ta) == 0);
        idset_remove(&a, (unsigned)rand() % IDSET_MAX);
        assert_true(idset_count(&a) == count || idset_count(&a) + 1 == count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
