/* Claims about the curve tables of every instruction set: constants follow from their definitions, scalars behave as
 * numbers modulo r, points are told apart as the definition of the subgroup (r P = 0) tells them, and the sets agree
 * byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cuda/math/curve.h"
#include "cuda/math/curve_tables.h"
#include "tests/cuda/math/big.h"
#include "tests/cuda/math/rand.h"

static struct scalar rand_scalar(const struct curve *c)
{
    struct scalar s;
    rand_runs(s.l, 4);
    big_mod(s.l, s.l, 4, c->fr->p, 4);
    return s;
}

/* p->x at random; y solved. */
static struct point rand_on_curve(const struct curve *c, enum group g)
{
    struct point p;
    do {
        memset(&p, 0, sizeof p);
        for (unsigned i = 0; i < (g == GROUP_G1 ? 1 : 2) * c->fq->limbs; i += c->fq->limbs) {
            rand_runs(p.w + i, (int)c->fq->limbs);
            big_mod(p.w + i, p.w + i, (int)c->fq->limbs, c->fq->p, (int)c->fq->limbs);
        }
    } while (!c->lift_x(g, &p));
    return p;
}

static bool point_eq(const struct point *a, const struct point *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void check_names(void **state)
{
    (void)state;
    assert_ptr_equal(curve_by_name("bn128"), curve_get(CURVE_BN254));
    assert_ptr_equal(curve_by_name("BN-254"), curve_get(CURVE_BN254));
    assert_ptr_equal(curve_by_name("alt_bn128"), curve_get(CURVE_BN254));
    assert_ptr_equal(curve_by_name("BLS12_381"), curve_get(CURVE_BLS12_381));
    assert_ptr_equal(curve_by_name("BLS12-381"), curve_get(CURVE_BLS12_381));
    assert_null(curve_by_name("bls12"));
    assert_null(curve_by_name(""));
    assert_null(curve_by_name("bn128bn128bn128bn128"));
    for (int id = 0; id < CURVES; id++) {
        const struct curve *c = curve_get((enum curve_id)id);
        assert_int_equal(c->id, id);
        assert_ptr_equal(curve_by_r(c->fr->p), c);
        assert_ptr_equal(curve_by_name(c->name), c);
        assert_int_equal(c->fq_bytes, c->fq->limbs * 8);
        assert_int_equal(c->fr_bits, c->fr->bits);
        struct scalar s;
        memcpy(s.l, c->fr->p, sizeof s.l);
        assert_false(scalar_is_canonical(c, &s));
        s.l[0]--;
        assert_true(scalar_is_canonical(c, &s));
    }
    uint64_t q[4];
    memcpy(q, bn254_fq_info.p, sizeof q);
    assert_null(curve_by_r(q));
}

static void check_scalars(const struct curve *c)
{
    struct fr a, b, r, one;
    struct scalar s, t, u, v;
    c->fr_from_u64(&one, 1);
    assert_memory_equal(&one, c->fr->one, sizeof one);
    for (int i = 0; i < 200; i++) {
        s = rand_scalar(c), t = rand_scalar(c);
        c->fr_from_scalar(&a, &s);
        c->fr_from_scalar(&b, &t);
        c->fr_to_scalar(&u, &a);
        assert_memory_equal(&u, &s, sizeof u);
        c->fr_mul(&r, &a, &b);
        c->fr_to_scalar(&u, &r);
        big_mulmod(v.l, s.l, t.l, c->fr->p, 4);
        assert_memory_equal(&u, &v, sizeof u);
        c->fr_add(&r, &a, &b);
        c->fr_sub(&r, &r, &b);
        assert_memory_equal(&r, &a, sizeof r);
        c->fr_inv(&r, &a);
        c->fr_mul(&r, &r, &a);
        bool zero = (a.l[0] | a.l[1] | a.l[2] | a.l[3]) == 0;
        assert_memory_equal(&r, zero ? &(struct fr){{0}} : &one, sizeof r);
        c->fr_pow(&r, &a, 3);
        c->fr_mul(&b, &a, &a);
        c->fr_mul(&b, &b, &a);
        assert_memory_equal(&r, &b, sizeof r);
    }
    struct fr many[600], inv;
    for (int i = 0; i < 600; i++) {
        s = rand_scalar(c);
        c->fr_from_scalar(&many[i], &s);
        if (i % 97 == 0)
            memset(&many[i], 0, sizeof many[i]);
    }
    struct fr copy[600];
    memcpy(copy, many, sizeof copy);
    c->fr_batch_inv(many, 600);
    for (int i = 0; i < 600; i++) {
        c->fr_inv(&inv, &copy[i]);
        assert_memory_equal(&inv, &many[i], sizeof inv);
    }
}

/* w_max = 5^((r-1)/2^s), by the twin's arithmetic on plain numbers. */
static void check_roots(const struct curve *c)
{
    uint64_t e[4], acc[4] = {1}, five[4] = {5};
    memcpy(e, c->fr->p, sizeof e);
    e[0]--;
    for (unsigned i = 0; i < c->two_adicity; i++) {
        assert_false(e[0] & 1);
        for (int k = 0; k < 4; k++)
            e[k] = e[k] >> 1 | (k < 3 ? e[k + 1] << 63 : 0);
    }
    assert_true(e[0] & 1);
    for (int bit = 255; bit >= 0; bit--) {
        big_mulmod(acc, acc, acc, c->fr->p, 4);
        if (e[bit / 64] >> (bit % 64) & 1)
            big_mulmod(acc, acc, five, c->fr->p, 4);
    }
    struct fr root, next, one;
    struct scalar s;
    c->fr_root(&root, c->two_adicity);
    c->fr_to_scalar(&s, &root);
    assert_memory_equal(&s, acc, sizeof s);
    for (unsigned k = c->two_adicity; k > 0; k--) {
        c->fr_root(&root, k);
        c->fr_root(&next, k - 1);
        c->fr_mul(&root, &root, &root);
        assert_memory_equal(&root, &next, sizeof root);
    }
    c->fr_from_u64(&one, 1);
    assert_memory_equal(&root, &one, sizeof one);
    c->fr_root(&root, 1);
    c->fr_add(&root, &root, &one); /* -1 + 1 */
    assert_memory_equal(&root, &(struct fr){{0}}, sizeof root);
}

static void check_group(const struct curve *c, enum group g)
{
    const struct point *gen = &c->generator[g], zero = {{0}};
    struct point p, q, r;
    struct scalar s, t, u;
    assert_int_equal(c->check(g, gen), POINT_OK);
    assert_int_equal(c->check(g, &zero), POINT_OK);
    memcpy(s.l, c->fr->p, sizeof s.l);
    c->mul(g, &p, gen, &s);
    assert_true(point_is_infinity(&p));
    s.l[0]--;
    c->mul(g, &p, gen, &s);
    c->neg(g, &q, gen);
    assert_true(point_eq(&p, &q));
    c->add(g, &r, &p, gen);
    assert_true(point_is_infinity(&r));
    c->add(g, &r, gen, &zero);
    assert_true(point_eq(&r, gen));
    c->add(g, &r, &zero, gen);
    assert_true(point_eq(&r, gen));
    c->neg(g, &r, &zero);
    assert_true(point_is_infinity(&r));
    c->add(g, &r, gen, gen);
    c->mul(g, &p, gen, &(struct scalar){{2}});
    assert_true(point_eq(&r, &p));
    for (int i = 0; i < 20; i++) {
        s = rand_scalar(c), t = rand_scalar(c);
        struct fr a, b;
        c->fr_from_scalar(&a, &s);
        c->fr_from_scalar(&b, &t);
        c->fr_add(&a, &a, &b);
        c->fr_to_scalar(&u, &a);
        c->mul(g, &p, gen, &s);
        c->mul(g, &q, gen, &t);
        c->add(g, &p, &p, &q);
        c->mul(g, &r, gen, &u);
        assert_true(point_eq(&p, &r));
        assert_int_equal(c->check(g, &r), POINT_OK);
        unsigned char packed[200];
        point_store(c, g, packed + 3, &r);
        point_load(c, g, &q, packed + 3);
        assert_true(point_eq(&q, &r));
    }
}

/* The definition: on the curve and r P = 0. */
static void check_faults(const struct curve *c, enum group g)
{
    struct point p, q, r;
    struct scalar order;
    memcpy(order.l, c->fr->p, sizeof order.l);
    int outside = 0;
    for (int i = 0; i < 12; i++) {
        p = rand_on_curve(c, g);
        c->mul(g, &q, &p, &order);
        enum point_fault want = point_is_infinity(&q) ? POINT_OK : POINT_NOT_IN_SUBGROUP;
        assert_int_equal(c->check(g, &p), want);
        if (want == POINT_OK)
            continue;
        outside++;
        assert_int_equal(c->check(g, &q), POINT_NOT_IN_SUBGROUP); /* of an order that divides the cofactor */
        c->add(g, &r, &q, &c->generator[g]);
        assert_int_equal(c->check(g, &r), POINT_NOT_IN_SUBGROUP);
    }
    assert_int_equal(outside > 0, !(c->id == CURVE_BN254 && g == GROUP_G1));

    unsigned limbs = c->fq->limbs, coords = g == GROUP_G1 ? 2 : 4;
    for (unsigned k = 0; k < coords; k++) {
        p = c->generator[g];
        memcpy(p.w + k * limbs, c->fq->p, limbs * 8); /* the modulus itself */
        assert_int_equal(c->check(g, &p), POINT_NOT_CANONICAL);
        p = c->generator[g];
        p.w[(k + 1) * limbs - 1] = ~(uint64_t)0;
        assert_int_equal(c->check(g, &p), POINT_NOT_CANONICAL);
        p = c->generator[g];
        p.w[k * limbs] ^= 1;
        assert_int_equal(c->check(g, &p), POINT_NOT_ON_CURVE);
        memset(p.w, 0, sizeof p.w);
        p.w[k * limbs] = 1;
        assert_int_equal(c->check(g, &p), POINT_NOT_ON_CURVE);
    }
}

static void check_coordinates(const struct curve *c)
{
    unsigned char plain[48] = {7}, mont[48], back[48], seven[48];
    uint64_t w[6] = {0}, want[6];
    int n = (int)c->fq->limbs;
    c->fq_from_plain(mont, plain);
    memcpy(w, plain, c->fq_bytes);
    big_mulmod(want, w, c->fq->one, c->fq->p, n);
    assert_memory_equal(mont, want, c->fq_bytes);
    c->fq_to_plain(back, mont);
    assert_memory_equal(back, plain, c->fq_bytes);
    memcpy(seven, mont, sizeof seven);
    c->fq_from_plain(mont, mont); /* in place */
    c->fq_to_plain(mont, mont);
    assert_memory_equal(mont, seven, c->fq_bytes);
}

/* The same inputs through both tables give the same bytes. */
static void check_sets_agree(const struct curve *a, const struct curve *b)
{
    for (int g = 0; g < GROUPS; g++) {
        assert_true(point_eq(&a->generator[g], &b->generator[g]));
        for (int i = 0; i < 10; i++) {
            struct point p = rand_on_curve(a, (enum group)g), x, y, lifted = p;
            struct scalar s = rand_scalar(a);
            a->mul((enum group)g, &x, &p, &s);
            b->mul((enum group)g, &y, &p, &s);
            assert_true(point_eq(&x, &y));
            assert_true(b->lift_x((enum group)g, &lifted));
            assert_true(point_eq(&lifted, &p));
            assert_int_equal(a->check((enum group)g, &p), b->check((enum group)g, &p));
        }
    }
}

static void check_all(void **state)
{
    const struct curve *c = *state;
    check_scalars(c);
    check_roots(c);
    check_coordinates(c);
    for (int g = 0; g < GROUPS; g++) {
        check_group(c, (enum group)g);
        check_faults(c, (enum group)g);
    }
    check_sets_agree(curve_get_isa(c->id, ISA_ID_PORTABLE), c);
}

int main(void)
{
    enum isa isa = isa_of_cpu() < ISA_ID_ADX ? ISA_ID_PORTABLE : ISA_ID_ADX;
    void *bn_slow = (void *)(uintptr_t)curve_get_isa(CURVE_BN254, ISA_ID_PORTABLE);
    void *bls_slow = (void *)(uintptr_t)curve_get_isa(CURVE_BLS12_381, ISA_ID_PORTABLE);
    void *bn_fast = (void *)(uintptr_t)curve_get_isa(CURVE_BN254, isa);
    void *bls_fast = (void *)(uintptr_t)curve_get_isa(CURVE_BLS12_381, isa);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_names),
        {"bn254 portable", check_all, NULL, NULL, bn_slow},
        {"bls12381 portable", check_all, NULL, NULL, bls_slow},
        {"bn254 best", check_all, NULL, NULL, bn_fast},
        {"bls12381 best", check_all, NULL, NULL, bls_fast},
    };
    rand_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
