/* Claims about the pairings of every instruction set: bilinear, not degenerate, infinity gives one, products over any
 * number of pairs; and with PENSTOCK_CORPUS, the value is the one that snarkjs wrote (vk_alphabeta_12) and snarkjs's
 * proofs hold while changed ones do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <jansson.h>
#include <string.h>

#include "cuda/math/curve.h"
#include "cuda/math/curve_tables.h"
#include "tests/cuda/math/big.h"
#include "tests/cuda/math/rand.h"
#include "tests/slower.h"

static struct scalar rand_scalar(const struct curve *c)
{
    struct scalar s;
    rand_runs(s.l, 4);
    big_mod(s.l, s.l, 4, c->fr->p, 4);
    return s;
}

static void check_bilinear(void **state)
{
    const struct curve *c = *state;
    const struct point *g1 = &c->generator[GROUP_G1], *g2 = &c->generator[GROUP_G2], zero = {{0}};
    unsigned char e[12 * 48], e2[12 * 48], one[12 * 48] = {1};
    size_t bytes = 12 * c->fq_bytes;
    c->pairing(e, g1, g2);
    assert_memory_not_equal(e, one, bytes);
    assert_false(c->pairing_is_one(g1, g2, 1));
    assert_true(c->pairing_is_one(g1, g2, 0));
    assert_true(c->pairing_is_one(&zero, g2, 1));
    assert_true(c->pairing_is_one(g1, &zero, 1));
    c->pairing(e, &zero, g2);
    assert_memory_equal(e, one, bytes);
    for (unsigned i = 0; i < rounds(10); i++) { /* e(a P, b Q) = e(a b P, Q), and e(a P, b Q) e(-b P, a Q) = 1 */
        struct scalar a = rand_scalar(c), b = rand_scalar(c), ab;
        struct point p[2], q[2], t;
        big_mulmod(ab.l, a.l, b.l, c->fr->p, 4);
        c->mul(GROUP_G1, &p[0], g1, &a);
        c->mul(GROUP_G2, &q[0], g2, &b);
        c->mul(GROUP_G1, &t, g1, &ab);
        c->pairing(e, &p[0], &q[0]);
        c->pairing(e2, &t, g2);
        assert_memory_equal(e, e2, bytes);
        c->mul(GROUP_G1, &p[1], g1, &b);
        c->neg(GROUP_G1, &p[1], &p[1]);
        c->mul(GROUP_G2, &q[1], g2, &a);
        assert_true(c->pairing_is_one(p, q, 2));
        c->add(GROUP_G1, &p[1], &p[1], g1);
        assert_int_equal(c->pairing_is_one(p, q, 2), point_is_infinity(&q[1]));
    }
}

/* sum of a_i b_i = 0 for n pairs, with infinite points among them */
static void check_products(void **state)
{
    const struct curve *c = *state;
    struct point p[40], q[40], zero = {{0}};
    for (size_t n = 2; n <= 40; n += n < 5 ? 1 : 7) {
        struct fr sum, t, u;
        struct scalar s;
        c->fr_from_u64(&sum, 0);
        for (size_t i = 0; i + 1 < n; i++) {
            uint64_t a = rand_u64() | 1, b = rand_u64() | 1;
            c->fr_from_u64(&t, a);
            c->fr_from_u64(&u, b);
            c->fr_mul(&t, &t, &u);
            c->mul(GROUP_G1, &p[i], &c->generator[GROUP_G1], &(struct scalar){{a}});
            c->mul(GROUP_G2, &q[i], &c->generator[GROUP_G2], &(struct scalar){{b}});
            if (i % 5 == 3)
                *(i % 2 ? &p[i] : &q[i]) = zero;
            else
                c->fr_add(&sum, &sum, &t);
        }
        c->fr_to_scalar(&s, &sum);
        c->mul(GROUP_G1, &p[n - 1], &c->generator[GROUP_G1], &s);
        c->neg(GROUP_G1, &p[n - 1], &p[n - 1]);
        q[n - 1] = c->generator[GROUP_G2];
        assert_true(c->pairing_is_one(p, q, n));
        c->add(GROUP_G2, &q[0], &q[0], &q[n - 1]);
        assert_false(c->pairing_is_one(p, q, n));
    }
}

/* Decimal digits -> words, multiply and add. */
static void read_decimal(uint64_t *w, int n, const char *text)
{
    memset(w, 0, (size_t)n * sizeof *w);
    for (; *text; text++) {
        unsigned __int128 carry = (unsigned)(*text - '0');
        for (int i = 0; i < n; i++) {
            carry += (unsigned __int128)w[i] * 10;
            w[i] = (uint64_t)carry;
            carry >>= 64;
        }
    }
}

static void read_coordinate(const struct curve *c, uint64_t *mont, const json_t *text)
{
    uint64_t plain[6];
    read_decimal(plain, 6, json_string_value(text));
    c->fq_from_plain(mont, plain);
}

static struct point read_g1(const struct curve *c, const json_t *a)
{
    struct point p = {{0}};
    if (strcmp(json_string_value(json_array_get(a, 2)), "0") == 0)
        return p;
    read_coordinate(c, p.w, json_array_get(a, 0));
    read_coordinate(c, p.w + c->fq->limbs, json_array_get(a, 1));
    assert_int_equal(c->check(GROUP_G1, &p), POINT_OK);
    return p;
}

static struct point read_g2(const struct curve *c, const json_t *a)
{
    struct point p = {{0}};
    for (size_t i = 0; i < 4; i++)
        read_coordinate(c, p.w + i * c->fq->limbs, json_array_get(json_array_get(a, i / 2), i % 2));
    assert_int_equal(c->check(GROUP_G2, &p), POINT_OK);
    return p;
}

static json_t *read_json(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_error_t error;
    json_t *j = json_load_file(path, 0, &error);
    if (!j)
        fail_msg("%s: %s", path, error.text);
    return j;
}

static void check_alphabeta(const struct curve *c, const json_t *vk, const struct point *alpha,
                            const struct point *beta)
{
    uint64_t got[12 * 6], want[6];
    c->pairing(got, alpha, beta);
    json_t *ab = json_object_get(vk, "vk_alphabeta_12");
    for (size_t i = 0; i < 12; i++) {
        json_t *c6 = json_array_get(ab, i / 6), *c2 = json_array_get(c6, i / 2 % 3);
        read_decimal(want, 6, json_string_value(json_array_get(c2, i % 2)));
        assert_memory_equal(got + i * c->fq->limbs, want, c->fq_bytes);
    }
}

/* e(-A, B) e(alpha, beta) e(sum, gamma) e(C, delta) = 1 */
static void check_proof(const struct curve *c, const char *folder)
{
    json_t *vk = read_json(folder, "verification_key.json"), *proof = read_json(folder, "proof.json");
    json_t *inputs = read_json(folder, "public.json"), *ic = json_object_get(vk, "IC");
    struct point g1[4], g2[4];
    g1[0] = read_g1(c, json_object_get(proof, "pi_a"));
    c->neg(GROUP_G1, &g1[0], &g1[0]);
    g2[0] = read_g2(c, json_object_get(proof, "pi_b"));
    g1[1] = read_g1(c, json_object_get(vk, "vk_alpha_1"));
    g2[1] = read_g2(c, json_object_get(vk, "vk_beta_2"));
    check_alphabeta(c, vk, &g1[1], &g2[1]);
    g1[2] = read_g1(c, json_array_get(ic, 0));
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        struct scalar s;
        struct point t = read_g1(c, json_array_get(ic, i + 1));
        read_decimal(s.l, 4, json_string_value(json_array_get(inputs, i)));
        c->mul(GROUP_G1, &t, &t, &s);
        c->add(GROUP_G1, &g1[2], &g1[2], &t);
    }
    g2[2] = read_g2(c, json_object_get(vk, "vk_gamma_2"));
    g1[3] = read_g1(c, json_object_get(proof, "pi_c"));
    g2[3] = read_g2(c, json_object_get(vk, "vk_delta_2"));
    assert_true(c->pairing_is_one(g1, g2, 4));
    c->add(GROUP_G1, &g1[2], &g1[2], &c->generator[GROUP_G1]);
    assert_false(c->pairing_is_one(g1, g2, 4));
    json_decref(vk);
    json_decref(proof);
    json_decref(inputs);
}

static void check_corpus(void **state)
{
    const struct curve *c = *state;
    const char *corpus = getenv("PENSTOCK_CORPUS");
    if (!corpus)
        skip();
    char folder[512], path[800];
    snprintf(folder, sizeof folder, "%s/good/%s", corpus, c->name);
    DIR *d = opendir(folder);
    assert_non_null(d);
    int proofs = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        check_proof(c, path);
        proofs++;
    }
    closedir(d);
    assert_true(proofs > 0);
    printf("%s: %d proofs\n", c->title, proofs);
}

int main(void)
{
    enum isa isa = isa_of_cpu() < ISA_ID_ADX ? ISA_ID_PORTABLE : ISA_ID_ADX;
    void *curves[4] = {(void *)(uintptr_t)curve_get_isa(CURVE_BN254, ISA_ID_PORTABLE),
                       (void *)(uintptr_t)curve_get_isa(CURVE_BLS12_381, ISA_ID_PORTABLE),
                       (void *)(uintptr_t)curve_get_isa(CURVE_BN254, isa),
                       (void *)(uintptr_t)curve_get_isa(CURVE_BLS12_381, isa)};
    struct CMUnitTest tests[12];
    static const char *const names[4] = {"bn254 portable", "bls12381 portable", "bn254 best", "bls12381 best"};
    for (int i = 0; i < 4; i++) {
        tests[3 * i] = (struct CMUnitTest){names[i], check_bilinear, NULL, NULL, curves[i]};
        tests[3 * i + 1] = (struct CMUnitTest){names[i], check_products, NULL, NULL, curves[i]};
        tests[3 * i + 2] = (struct CMUnitTest){names[i], check_corpus, NULL, NULL, curves[i]};
    }
    rand_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
