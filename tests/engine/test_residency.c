/* Claims: a plan never needs more than there is, is never slower with more memory, and says -ENOMEM with the sizes when
 * nothing fits; the shapes that matter get the plan that a person would make: everything resident on an H200, passes
 * shared by several proofs on a 24 GiB card, copies of bases only where they shorten a proof. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/residency.h"
#include "penstock/error.h"

#define GIB ((uint64_t)1 << 30)

/* PoRep 32 GiB and SnapDeals 32 GiB, one partition: published numbers of rows, variables, densities and terms. */
static struct key_sizes porep(void)
{
    return (struct key_sizes){.curve = curve_get(CURVE_BLS12_381),
                              .n_vars = 130170221,
                              .n_public = 327,
                              .domain_size = 1 << 27,
                              .points = {129753620, 33112282, 33112282, 130169893, (1 << 27) - 1},
                              .nonzeros = 309405051 + 130327340,
                              .n_dict = 1000,
                              .full_share = 0.013};
}

static struct residency_plan make(const struct key_sizes *key, uint64_t device, uint64_t pinned)
{
    struct residency_plan p;
    struct residency_limits limits = {.device_bytes = device, .pinned_bytes = pinned};
    assert_int_equal(residency_make(&p, key, &limits, NULL), 0);
    assert_true(p.device_bytes <= device);
    assert_true(p.proof_s >= p.link_s && p.proof_s >= p.compute_s);
    return p;
}

static void test_h200(void **state)
{
    (void)state;
    struct key_sizes key = porep();
    struct residency_plan p = make(&key, 139 * GIB, 0);
    for (int i = 0; i < GROTH16_PARTS; i++)
        assert_int_equal(p.part[i], PLACE_DEVICE);
    assert_true(p.matrices_on_device);
    assert_int_equal(p.host, HOST_NONE);
    assert_int_equal(p.streamed_bytes, 0);
    assert_int_equal(p.link_bytes, 130170221ull * 32); /* the witness and nothing else */
    assert_true(p.proof_s > 1.3 && p.proof_s < 1.95);  /* 1.62 s measured, 2026-12-01 */
    assert_true(p.multiples > 1);
    key.witness_bytes = 70000000; /* sent as bits */
    assert_int_equal(make(&key, 139 * GIB, 0).link_bytes, 70000000);
}

static void test_24_gib(void **state)
{
    (void)state;
    struct key_sizes key = porep();
    struct residency_plan p = make(&key, 24 * GIB, 60 * GIB), pageable = make(&key, 24 * GIB, 0);
    assert_int_equal(p.host, HOST_PINNED);
    assert_true(pageable.link_s > pageable.compute_s); /* such a card waits for its link */
    assert_true(p.link_bytes < 60000000000u);
    assert_int_equal(pageable.host, HOST_DISK);
    assert_true(pageable.proof_s > 5 * p.proof_s);
    struct residency_plan more = make(&key, 48 * GIB, 60 * GIB);
    assert_true(more.per_pass > 1 || more.streamed_bytes < p.streamed_bytes);
    assert_true(more.proof_s <= p.proof_s && more.link_s < p.link_s);
}

static void test_too_small(void **state)
{
    (void)state;
    struct key_sizes key = porep();
    struct residency_plan p = {.per_pass = 77};
    struct residency_limits limits = {.device_bytes = 8 * GIB};
    assert_int_equal(residency_make(&p, &key, &limits, NULL), -ENOMEM);
    assert_int_equal(p.per_pass, 77);
    assert_non_null(strstr(pen_last_error(), "8.00 GiB free"));
    limits.device_bytes = 17500000000u;
    assert_int_equal(residency_make(&p, &key, &limits, NULL), 0);
    assert_int_equal(p.slots, 1);
}

static uint64_t rnd(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t r = seed * 0x9e3779b97f4a7c15u;
        unsigned log_n = 10 + (unsigned)(rnd(&r) % 18);
        struct key_sizes key = {.curve = curve_get((enum curve_id)(rnd(&r) % CURVES)),
                                .domain_size = (uint64_t)1 << log_n,
                                .nonzeros = (uint64_t)3 << log_n,
                                .full_share = (double)(rnd(&r) % 100 + 1) / 100};
        key.n_vars = key.domain_size / 2 + rnd(&r) % key.domain_size / 2 + 1;
        for (int i = 0; i < GROTH16_PARTS; i++)
            key.points[i] = i == PART_H ? key.domain_size : rnd(&r) % key.n_vars;
        double last = INFINITY;
        for (uint64_t device = 1 << 24; device <= 256 * GIB; device *= 2) {
            struct residency_plan p;
            struct residency_limits limits = {.device_bytes = device, .pinned_bytes = 256 * GIB};
            if (residency_make(&p, &key, &limits, NULL)) {
                assert_true(last == INFINITY); /* what fitted once fits in more */
                continue;
            }
            assert_true(p.device_bytes <= device);
            assert_true(residency_score(&p) <= last * 1.000001);
            last = residency_score(&p);
        }
        assert_true(last < INFINITY);
    }
}

static void test_text(void **state)
{
    (void)state;
    struct key_sizes key = porep();
    struct residency_plan p = make(&key, 40 * GIB, 60 * GIB);
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(residency_write(&p, f), 0);
    fclose(f);
    static const char *const words[] = {"A ", "B1 ", "H ", "matrices ", "passes ", "proof ", "kernels ", "load "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(text, words[i]));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_h200), cmocka_unit_test(test_24_gib),
                                       cmocka_unit_test(test_too_small), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
