/* Claim: with the trapdoor of a key known, every element of a proof is predicted exactly; so are both verdicts. For
 * random circuits of every domain 2^1..2^12 and of odd shapes, on both curves, by a route that shares no transform and
 * no multi-scalar multiplication with the prover: exponents are computed in the scalar field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"
#include "prover/groth16.h"
#include "prover/qap.h"
#include "prover/scalar_random.h"
#include "prover/setup.h"
#include "prover/verify.h"
#include "tests/engine/circuit.h"
#include "tests/slower.h"

static struct device *host;

static int open_host(void **state)
{
    (void)state;
    return device_open(&host, "host", &(struct device_opts){.threads = 3});
}

static int close_host(void **state)
{
    (void)state;
    host->ops->close(host);
    return 0;
}

struct fixture {
    const struct curve *cv;
    struct circuit circuit;
    struct r1cs *r1cs;
    struct wtns *wtns;
    struct zkey *zkey;
    struct trapdoor t;
    char *zkey_data, *vk_data;
    size_t zkey_bytes, vk_bytes;
};

static void fixture_open(struct fixture *f, const struct curve *cv, enum circuit_shape shape, uint32_t rows,
                         uint32_t publics, uint64_t seed)
{
    memset(f, 0, sizeof *f);
    f->cv = cv;
    circuit_make(&f->circuit, cv, shape, rows, publics, seed);
    assert_int_equal(r1cs_open_memory(&f->r1cs, "random.r1cs", f->circuit.r1cs, f->circuit.r1cs_bytes), 0);
    assert_int_equal(wtns_open_memory(&f->wtns, "random.wtns", f->circuit.wtns, f->circuit.wtns_bytes), 0);
    assert_int_equal(r1cs_check_witness(f->r1cs, f->wtns, NULL), 0);
    assert_int_equal(trapdoor_derive(cv, &f->t, seed), 0);
    FILE *z = open_memstream(&f->zkey_data, &f->zkey_bytes), *v = open_memstream(&f->vk_data, &f->vk_bytes);
    struct setup_stats stats;
    assert_int_equal(setup_write(z, v, host, f->r1cs, &f->t, &stats, NULL, NULL), 0);
    fclose(z);
    fclose(v);
    assert_int_equal(stats.zkey_bytes, f->zkey_bytes);
    assert_int_equal(zkey_open_memory(&f->zkey, "random.zkey", f->zkey_data, f->zkey_bytes), 0);
    assert_int_equal(wtns_match_zkey(f->wtns, f->zkey), 0);
}

static void fixture_close(struct fixture *f)
{
    zkey_close(f->zkey);
    wtns_close(f->wtns);
    r1cs_close(f->r1cs);
    free(f->zkey_data);
    free(f->vk_data);
    circuit_free(&f->circuit);
}

static struct fr dot(const struct curve *cv, const struct fr *k, const struct wtns *w, size_t first, size_t n)
{
    struct fr sum, x, t;
    cv->fr_from_u64(&sum, 0);
    for (size_t i = first; i < n; i++) {
        struct scalar s = wtns_value(w, i);
        cv->fr_from_scalar(&x, &s);
        cv->fr_mul(&t, &x, &k[i]);
        cv->fr_add(&sum, &sum, &t);
    }
    return sum;
}

static void expect_point(const struct curve *cv, enum group g, const struct point *is, const struct fr *exponent)
{
    struct scalar s;
    struct point due;
    cv->fr_to_scalar(&s, exponent);
    cv->mul(g, &due, &cv->generator[g], &s);
    assert_memory_equal(is, &due, sizeof due);
}

/* The proof's exponents from the polynomials at tau. */
static void expect_proof(const struct fixture *f, const struct proof *proof, const struct fr *r, const struct fr *s)
{
    const struct curve *cv = f->cv;
    struct qap q;
    assert_int_equal(qap_open(&q, f->r1cs, &f->t), 0);
    struct fr a_tau = dot(cv, q.a, f->wtns, 0, q.n_vars), b_tau = dot(cv, q.b, f->wtns, 0, q.n_vars), a, b, c, x, y;

    /* sum over all wires of C_s(tau) = sum of (beta A + alpha B + C) minus the other two */
    struct fr inside = dot(cv, q.l, f->wtns, q.n_public + 1, q.n_vars),
              outside = dot(cv, q.l, f->wtns, 0, q.n_public + 1), c_tau;
    cv->fr_mul(&c_tau, &inside, &f->t.delta);
    cv->fr_add(&c_tau, &c_tau, &outside);
    cv->fr_mul(&x, &f->t.beta, &a_tau);
    cv->fr_sub(&c_tau, &c_tau, &x);
    cv->fr_mul(&x, &f->t.alpha, &b_tau);
    cv->fr_sub(&c_tau, &c_tau, &x);

    cv->fr_mul(&x, r, &f->t.delta);
    cv->fr_add(&a, &f->t.alpha, &a_tau);
    cv->fr_add(&a, &a, &x);
    expect_point(cv, GROUP_G1, &proof->a, &a);

    cv->fr_mul(&x, s, &f->t.delta);
    cv->fr_add(&b, &f->t.beta, &b_tau);
    cv->fr_add(&b, &b, &x);
    expect_point(cv, GROUP_G2, &proof->b, &b);

    cv->fr_mul(&c, &a_tau, &b_tau); /* (A B - C)(tau) / delta */
    cv->fr_sub(&c, &c, &c_tau);
    cv->fr_inv(&x, &f->t.delta);
    cv->fr_mul(&c, &c, &x);
    cv->fr_add(&c, &c, &inside);
    cv->fr_mul(&x, s, &a);
    cv->fr_add(&c, &c, &x);
    cv->fr_mul(&x, r, &b);
    cv->fr_add(&c, &c, &x);
    cv->fr_mul(&y, r, s);
    cv->fr_mul(&x, &y, &f->t.delta);
    cv->fr_sub(&c, &c, &x);
    expect_point(cv, GROUP_G1, &proof->c, &c);
    qap_close(&q);
}

static enum pen_verdict judge(const struct fixture *f, const struct proof *proof, uint64_t add_to_public)
{
    struct vk vk = {0};
    struct publics publics = {.n = f->zkey->n_public, .values = calloc(f->zkey->n_public + 1, sizeof(struct scalar))};
    enum pen_verdict verdict;
    assert_non_null(publics.values);
    for (size_t i = 0; i < publics.n; i++)
        publics.values[i] = wtns_value(f->wtns, 1 + i);
    publics.values[0].l[0] ^= add_to_public;
    assert_int_equal(vk_from_zkey(&vk, f->zkey), 0);
    assert_int_equal(verify_groth16(&verdict, &vk, proof, &publics), 0);
    publics_close(&publics);
    vk_close(&vk);
    return verdict;
}

static void prove_and_expect(const struct fixture *f, const char *r_label, const char *s_label, uint64_t seed)
{
    struct groth16_key *key;
    struct groth16_sums sums;
    struct proof proof;
    struct scalar r, s;
    struct fr fr_r, fr_s;
    assert_int_equal(scalar_derive(f->cv, &r, seed, r_label), 0);
    assert_int_equal(scalar_derive(f->cv, &s, seed, s_label), 0);
    f->cv->fr_from_scalar(&fr_r, &r);
    f->cv->fr_from_scalar(&fr_s, &s);
    assert_int_equal(groth16_key_open(&key, host, f->zkey, &(struct groth16_key_opts){0}), 0);
    for (int round = 0; round < 2; round++) { /* the handle is used again */
        memset(&sums, 0xa5, sizeof sums);
        memset(&proof, 0xa5, sizeof proof);
        assert_int_equal(groth16_compute(key, &sums, f->wtns, NULL, NULL), 0);
        groth16_fold(&proof, f->zkey, &sums, &r, &s);
        expect_proof(f, &proof, &fr_r, &fr_s);
    }
    assert_int_equal(judge(f, &proof, 0), PEN_VALID);
    if (f->zkey->n_public)
        assert_int_equal(judge(f, &proof, 1), PEN_FALSE);
    groth16_key_close(key);
}

static void run(const struct curve *cv, enum circuit_shape shape, uint32_t rows, uint32_t publics, uint64_t seed)
{
    struct fixture f;
    fixture_open(&f, cv, shape, rows, publics, seed);
    prove_and_expect(&f, "r", "s", seed);
    fixture_close(&f);
}

static void test_every_domain(void **state)
{
    (void)state;
    for (enum curve_id id = 0; id < CURVES; id++) {
        for (unsigned log = 1; log <= log_size(12, 7); log++) {
            uint32_t due = 1u << log; /* rows + publics + 1 fills the domain, or just passes half of it */
            uint32_t publics = log > 2 ? 3 : 0;
            run(curve_get(id), log % 2 ? SHAPE_MIXED : SHAPE_BITS, due - publics - 1, publics, 100 + log);
            if (log > 1 && log < 10)
                run(curve_get(id), SHAPE_MIXED, due / 2 + 1 - 1, 0, 200 + log);
        }
    }
}

static void test_odd_shapes(void **state)
{
    (void)state;
    static const struct {
        enum circuit_shape shape;
        uint32_t rows, publics;
    } cases[] = {{SHAPE_ONE_WIRE, 1, 0}, {SHAPE_ONE_WIRE, 5, 0}, {SHAPE_LINEAR, 9, 2}, {SHAPE_LINEAR, 1, 0},
                 {SHAPE_NO_A, 17, 1},    {SHAPE_NO_B, 17, 1},    {SHAPE_MIXED, 40, 0}, {SHAPE_MIXED, 3, 200},
                 {SHAPE_BITS, 64, 1},    {SHAPE_MIXED, 1, 1}};
    for (enum curve_id id = 0; id < CURVES; id++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            run(curve_get(id), cases[i].shape, cases[i].rows, cases[i].publics, 300 + i);
    }
}

/* A field whose largest root just fits the domain: the coset is 25 H, as snarkjs does at 2^28 on BN254. */
static void test_without_double_root(void **state)
{
    (void)state;
    for (enum curve_id id = 0; id < CURVES; id++) {
        struct curve low = *curve_get(id);
        low.two_adicity = 6;
        struct fixture f;
        fixture_open(&f, curve_get(id), SHAPE_MIXED, 59, 3, 400);
        assert_int_equal(f.zkey->log_domain, 6);
        /* the same circuit again, key and proof made over the curve with fewer roots */
        free(f.zkey_data);
        free(f.vk_data);
        zkey_close(f.zkey);
        f.r1cs->curve = f.wtns->curve = f.cv = &low;
        FILE *z = open_memstream(&f.zkey_data, &f.zkey_bytes), *v = open_memstream(&f.vk_data, &f.vk_bytes);
        assert_int_equal(setup_write(z, v, host, f.r1cs, &f.t, NULL, NULL, NULL), 0);
        fclose(z);
        fclose(v);
        assert_int_equal(zkey_open_memory(&f.zkey, "low.zkey", f.zkey_data, f.zkey_bytes), 0);
        f.zkey->curve = &low;
        prove_and_expect(&f, "r", "s", 1);
        fixture_close(&f);
    }
}

/* An unsatisfied witness must give a proof that does not verify. */
static void test_unsatisfied(void **state)
{
    (void)state;
    for (enum curve_id id = 0; id < CURVES; id++) {
        struct fixture f;
        fixture_open(&f, curve_get(id), SHAPE_MIXED, 30, 1, 500);
        f.circuit.wtns[f.circuit.wtns_bytes - 32] ^= 1;
        struct groth16_key *key;
        struct groth16_sums sums;
        struct proof proof;
        struct scalar r = {{3}}, s = {{4}};
        assert_int_equal(groth16_key_open(&key, host, f.zkey, &(struct groth16_key_opts){0}), 0);
        assert_int_equal(groth16_compute(key, &sums, f.wtns, NULL, NULL), 0);
        groth16_fold(&proof, f.zkey, &sums, &r, &s);
        assert_int_equal(judge(&f, &proof, 0), PEN_FALSE);
        uint64_t row = ~(uint64_t)0;
        assert_int_equal(r1cs_check_witness(f.r1cs, f.wtns, &row), -EBADMSG);
        assert_int_equal(row, 29);
        groth16_key_close(key);
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_domain), cmocka_unit_test(test_odd_shapes),
                                       cmocka_unit_test(test_without_double_root), cmocka_unit_test(test_unsatisfied)};
    return cmocka_run_group_tests(tests, open_host, close_host);
}
