/* Claim: the folded public values are the sum of single products, on both sides of the size from which one multi-scalar
 * multiplication takes over, with zeros, ones, r - 1 and points at infinity among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "prover/public_fold.h"
#include "tests/prover/random.h"

enum { MOST = 300 };

static struct scalar random_value(const struct curve *c)
{
    struct scalar s = {{0}};
    switch (random_below(5)) {
    case 0:
        s.l[0] = random_below(2);
        break;
    case 1: /* r - 1 */
        memcpy(&s, c->fr->p, sizeof s);
        s.l[0]--;
        break;
    default:
        for (int i = 0; i < 4; i++)
            s.l[i] = random_next();
        s.l[3] >>= 4;
    }
    return s;
}

static void check(const struct curve *c, size_t n)
{
    static struct point ic[MOST + 1];
    static struct scalar values[MOST];
    struct vk vk = {.curve = c, .n_public = n, .ic = ic};
    struct publics publics = {.values = values, .n = n};
    for (size_t i = 0; i <= n; i++) {
        struct scalar k = random_value(c);
        c->mul(GROUP_G1, &ic[i], &c->generator[GROUP_G1], &k);
    }
    struct point twin = ic[0], sum;
    for (size_t i = 0; i < n; i++) {
        struct point term;
        values[i] = random_value(c);
        c->mul(GROUP_G1, &term, &ic[i + 1], &values[i]);
        c->add(GROUP_G1, &twin, &twin, &term);
    }
    assert_int_equal(public_fold(&sum, &vk, &publics), 0);
    assert_memory_equal(&sum, &twin, sizeof sum);
}

static void test_fold(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 7, 22, 23, 24, 25, 64, 100, MOST};
    for (int id = 0; id < CURVES; id++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check(curve_get((enum curve_id)id), sizes[i]);
}

int main(void)
{
    seed_begin("test_public_fold");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
