/* Claim, without a GPU: the kernels' carry chains (run with an emulated carry flag) equal multiplication by 64-bit
 * words on all fields, also at the edges of what lazy operands may be; so do products with a constant and its quotient,
 * which stay below 2p; and signed digits add up to the scalar or to r
 * minus it. Replay: PENSTOCK_SEED=... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/digits.cuh"
#include "cuda/gpu/fp2.cuh"
#include "cuda/gpu/shoup.cuh"

static uint64_t rng_state;

static uint32_t rng()
{
    uint64_t z = rng_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

static int failed;

template <class P> static void expect_equal(const char *what, const Fe<P> &a, const Fe<P> &b)
{
    if (memcmp(a.l, b.l, sizeof a.l) == 0)
        return;
    printf("%s of the %d-word field ending in %08x is wrong\n", what, P::N, P::p(0));
    failed = 1;
}

/* Below 2p (lazy) or p: random, all ones, zero, and the largest */
template <class P> static void fill(Fe<P> &a, bool lazy)
{
    uint32_t mode = rng() % 4, top = lazy ? field_2p<P>(P::N - 1) : P::p(P::N - 1);
    for (int i = 0; i < P::N; i++)
        a.l[i] = mode == 0 ? 0xffffffffu : mode == 1 ? 0 : rng();
    a.l[P::N - 1] = rng() % top;
    for (int i = 0; i < P::N && mode == 3; i++)
        a.l[i] = lazy ? field_2p<P>(i) - (i == 0) : P::p(i) - (i == 0);
}

template <class P> static void products()
{
    for (int i = 0; i < 20000; i++) {
        Fe<P> a, b, x, want;
        Wide<P> t;
        fill<P>(a, P::mul_below_2p);
        fill<P>(b, true);
        field_mul_words(want, a, b);
        field_mul_rows(x, a, b);
        expect_equal("row product", x, want);
        wide_mul(t, a, b);
        wide_reduce(x, t);
        expect_equal("wide product", x, want);
        wide_sqr(t, a);
        wide_reduce(x, t);
        field_mul_words(want, a, a);
        expect_equal("square", x, want);
        field_add(x, a, b);
        field_sub(x, x, b);
        field_canon(x, x);
        field_canon(want, a);
        expect_equal("sum less summand", x, want);
    }
}

template <class P> static void differences()
{
    for (int i = 0; i < 20000; i++) {
        Fe<P> a, b, c, d, x, y, z;
        Wide<P> s, t;
        fill<P>(a, true), fill<P>(b, true), fill<P>(c, true), fill<P>(d, true);
        wide_mul(s, a, b);
        wide_mul(t, c, d);
        wide_sub(s, s, t);
        wide_reduce(x, s);
        field_mul_words(y, a, b);
        field_mul_words(z, c, d);
        field_sub(y, y, z);
        field_canon(x, x);
        field_canon(y, y);
        expect_equal("difference of products", x, y);
    }
}

/* m as a residue gives the constant; x up to 2p, on BN254 up to 4p */
template <class P> static void constants()
{
    for (int i = 0; i < 20000; i++) {
        Fe<P> m, x, y, got, want, less;
        Shoup<P> s;
        fill<P>(m, false);
        fill<P>(x, true);
        field_mul_words(want, m, x);
        if constexpr (P::mul_below_2p) { /* x + y, not reduced */
            fill<P>(y, true);
            if (i & 1)
                field_sum_4p(x, x, y);
            field_mul_words(want, m, x);
        }
        shoup_of(s, m);
        field_mul_shoup(got, x, s);
        field_below_2p<P>(less, got.l, 0);
        expect_equal("product with a constant, below 2p", got, less);
        field_canon(got, got);
        field_canon(want, want);
        expect_equal("product with a constant", got, want);
    }
}

/* sum of digit_j 2^(c j), kept modulo 2^320 in words */
template <class P> static void digits(uint32_t c)
{
    uint32_t r[8], bits = P::p(7) >> 30 ? 255 : 254, windows = (bits + c - 1) / c;
    for (int i = 0; i < 8; i++)
        r[i] = P::p(i);
    for (int k = 0; k < 300; k++) {
        Fe<P> s, x, power, two, minus;
        Digits d;
        fill<P>(s, false);
        digits_begin(d, s.l, r);
        field_zero(x);
        field_zero(two);
        two.l[0] = 1u << c;
        field_one(power); /* 2^(c j) R, so that the Montgomery product with a plain digit is plain */
        for (int i = 0; i < P::N; i++)
            minus.l[i] = P::r2(i);
        field_mul_words(two, minus, two);
        field_canon(two, two);
        for (uint32_t j = 0; j < windows; j++) {
            bool negative;
            Fe<P> v;
            field_zero(v);
            v.l[0] = digits_next(d, c, negative);
            if (v.l[0] > 1u << (c - 1))
                failed = 1;
            field_mul_words(v, power, v);
            if (negative)
                field_sub(x, x, v);
            else
                field_add(x, x, v);
            field_mul_words(power, power, two);
            field_canon(power, power);
        }
        field_canon(x, x);
        field_canon(s, s);
        expect_equal("sum of digits", x, s);
        if (d.carry)
            failed = 1;
    }
}

int main()
{
    const char *env = getenv("PENSTOCK_SEED");
    rng_state = env ? strtoull(env, NULL, 0) : 0x5eed;
    printf("rerun: PENSTOCK_SEED=0x%llx\n", (unsigned long long)rng_state);
    products<Bn254Fq>();
    products<Bn254Fr>();
    products<Bls381Fq>();
    products<Bls381Fr>();
    constants<Bn254Fr>();
    constants<Bls381Fr>();
    differences<Bn254Fq>();
    differences<Bls381Fq>();
    for (uint32_t c = 4; c <= 23; c++) {
        digits<Bn254Fr>(c);
        digits<Bls381Fr>(c);
    }
    return failed;
}
