/* Claims about one stamped Fq2 (CASES_FQ2, CASES_TYPE, CASES_FQ, CASES_BASE): products equal the four-product
 * definition on all pairs built from edge coordinates, squares and inverses agree with products, outputs may alias. */
#define FQ2      CASES_FQ2
#define FQ2_TYPE CASES_TYPE
#define FQ       CASES_FQ
#define FQ_TYPE  CASES_BASE
#include "cuda/math/fq2_stamp.h"

#define CAT_(a, b) a##_##b
#define CAT(a, b)  CAT_(a, b)
#define F2(name)   CAT(CASES_FQ2, name)
#define F(name)    CAT(CASES_FQ, name)

static void F2(check_pair)(const CASES_TYPE *a, const CASES_TYPE *b)
{
    CASES_TYPE want, r, s;
    CASES_BASE t;
    F(mul)(&want.c0, &a->c0, &b->c0);
    F(mul)(&t, &a->c1, &b->c1);
    F(sub)(&want.c0, &want.c0, &t);
    F(mul)(&want.c1, &a->c0, &b->c1);
    F(mul)(&t, &a->c1, &b->c0);
    F(add)(&want.c1, &want.c1, &t);
    F2(mul)(&r, a, b);
    assert_memory_equal(&r, &want, sizeof r);
    r = *a;
    F2(mul)(&r, &r, b);
    assert_memory_equal(&r, &want, sizeof r);
    r = *b;
    F2(mul)(&r, a, &r);
    assert_memory_equal(&r, &want, sizeof r);
    F2(add)(&r, a, b);
    F2(sub)(&s, &r, b);
    assert_true(F2(eq)(&s, a));
    F2(neg)(&s, b);
    F2(sub)(&s, a, &s);
    assert_true(F2(eq)(&s, &r));
}

static void F2(check_one)(const CASES_TYPE *a)
{
    CASES_TYPE r, s, one;
    F2(one)(&one);
    F2(mul)(&r, a, a);
    F2(sqr)(&s, a);
    assert_memory_equal(&r, &s, sizeof r);
    s = *a;
    F2(sqr)(&s, &s);
    assert_memory_equal(&r, &s, sizeof r);
    F2(inv)(&r, a);
    F2(mul)(&s, &r, a);
    assert_true(F2(is_zero)(a) ? F2(is_zero)(&r) : F2(eq)(&s, &one));
    F2(conj)(&r, a);
    F2(mul)(&r, &r, a);
    F2(norm)(&s.c0, a);
    F(zero)(&s.c1);
    assert_true(F2(eq)(&r, &s));
    F2(dbl)(&r, a);
    CASES_BASE two;
    F(one)(&two);
    F(dbl)(&two, &two);
    F2(mul_fq)(&s, a, &two);
    assert_true(F2(eq)(&r, &s));
    uint64_t five = 5;
    F2(pow)(&r, a, &five, 1);
    F2(sqr)(&s, a);
    F2(sqr)(&s, &s);
    F2(mul)(&s, &s, a);
    assert_true(F2(eq)(&r, &s));
}

static void F2(cases)(void)
{
    CASES_BASE e[60];
    CASES_TYPE all[100], inv[100], scratch[100], r;
    int n = F(edges)(e, 60);
    for (int i = 0; i < 100; i++) {
        all[i].c0 = e[i < 64 ? i % 8 : (int)(rand_u64() % (uint64_t)n)];
        all[i].c1 = e[i < 64 ? i / 8 : (int)(rand_u64() % (uint64_t)n)];
    }
    for (int i = 0; i < 100; i++) {
        F2(check_one)(&all[i]);
        for (int j = 0; j < 100; j++)
            F2(check_pair)(&all[i], &all[j]);
    }
    memcpy(inv, all, sizeof inv);
    F2(batch_inv)(inv, scratch, 100);
    for (int i = 0; i < 100; i++) {
        F2(inv)(&r, &all[i]);
        assert_true(F2(eq)(&inv[i], &r));
    }
}

#undef CAT_
#undef CAT
#undef F2
#undef F
#undef CASES_FQ2
#undef CASES_TYPE
#undef CASES_FQ
#undef CASES_BASE
