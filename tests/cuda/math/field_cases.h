/* Claims about one field of one instruction set, stamped from CASES_FIELD, CASES_TYPE, CASES_LIMBS,
 * CASES_SPARE: every operation equals the schoolbook twin on all pairs of about a hundred edge elements and on random
 * ones with long runs of equal bits; aliased outputs change nothing; inverses are inverses. */
#define FIELD       CASES_FIELD
#define FIELD_TYPE  CASES_TYPE
#define FIELD_LIMBS CASES_LIMBS
#define FIELD_SPARE CASES_SPARE
#include "cuda/math/field_stamp.h"

#define CAT_(a, b) a##_##b
#define CAT(a, b)  CAT_(a, b)
#define F(name)    CAT(CASES_FIELD, name)
#define N          CASES_LIMBS

static void F(same)(const CASES_TYPE *got, const uint64_t *want, const char *what, const CASES_TYPE *a,
                    const CASES_TYPE *b)
{
    if (memcmp(got->l, want, sizeof got->l) == 0)
        return;
    for (int i = N - 1; i >= 0; i--)
        print_error("limb %d: a %016llx b %016llx got %016llx want %016llx\n", i, (unsigned long long)a->l[i],
                    (unsigned long long)b->l[i], (unsigned long long)got->l[i], (unsigned long long)want[i]);
    fail_msg("%s", what);
}

static int F(edges)(CASES_TYPE *e, int room)
{
    const uint64_t *p = F(const).p;
    static const uint64_t words[] = {0, 1, 2, ~(uint64_t)0, (uint64_t)1 << 63, ((uint64_t)1 << 63) - 1};
    int n = 0;
    for (int i = 0; i < 4; i++) {
        e[n++] = (CASES_TYPE){{(uint64_t)i}};
        CASES_TYPE small = {{(uint64_t)i + 1}};
        big_sub(e[n++].l, p, small.l, N);
    }
    for (int bit = 13; bit < 64 * N && n < room - 50; bit += 13) { /* 2^k, 2^k - 1 */
        CASES_TYPE t = {{0}}, one = {{1}};
        t.l[bit / 64] = (uint64_t)1 << (bit % 64);
        big_mod(e[n++].l, t.l, N, p, N);
        big_sub(t.l, t.l, one.l, N);
        big_mod(e[n++].l, t.l, N, p, N);
    }
    memcpy(e[n++].l, F(const).one, sizeof e->l);
    memcpy(e[n++].l, F(const).r2, sizeof e->l);
    while (n < room) { /* limbs of extreme words, and runs */
        CASES_TYPE t;
        for (int i = 0; i < N; i++)
            t.l[i] = words[rand_u64() % 6];
        if (n % 2)
            rand_runs(t.l, N);
        big_mod(e[n++].l, t.l, N, p, N);
    }
    return n;
}

/* x R mod p by the twin */
static void F(times_r)(uint64_t *r, const CASES_TYPE *x)
{
    big_mulmod(r, x->l, F(const).one, F(const).p, N);
}

static void F(check_pair)(const CASES_TYPE *a, const CASES_TYPE *b)
{
    const uint64_t *p = F(const).p;
    CASES_TYPE r, s;
    uint64_t want[N], back[N], w[2 * N], sum[N + 1] = {0};
    big_mulmod(want, a->l, b->l, p, N);
    F(mul)(&r, a, b);
    assert_true(big_cmp(r.l, p, N) < 0);
    F(times_r)(back, &r);
    F(same)((const CASES_TYPE *)(const void *)back, want, "mul", a, b);
    s = *a;
    F(mul)(&s, &s, b);
    F(same)(&s, r.l, "mul r = a", a, b);
    s = *b;
    F(mul)(&s, a, &s);
    F(same)(&s, r.l, "mul r = b", a, b);
    F(mul_wide)(w, a, b);
    uint64_t w_want[2 * N];
    big_mul(w_want, a->l, b->l, N);
    assert_memory_equal(w, w_want, sizeof w);
    F(redc)(&s, w);
    F(same)(&s, r.l, "redc", a, b);

    unsigned carry = 0;
    for (int i = 0; i < N; i++) {
        unsigned __int128 t = (unsigned __int128)a->l[i] + b->l[i] + carry;
        sum[i] = (uint64_t)t;
        carry = (unsigned)(t >> 64);
    }
    big_mod(want, sum, N, p, N);
    F(add)(&r, a, b);
    F(same)(&r, want, "add", a, b);
    F(sub)(&s, &r, b);
    F(same)(&s, a->l, "sub", &r, b);
    F(sub)(&s, a, b);
    F(add)(&s, &s, b);
    F(same)(&s, a->l, "sub then add", a, b);
    F(sum)(&s, a, b);
    F(same)(&s, sum, "sum", a, b);
#if CASES_SPARE == 2
    F(mul)(&r, a, &s); /* a sum may be one operand of a product, either one */
    F(mul)(&s, &s, a);
    F(times_r)(back, &r);
    big_mulmod(want, a->l, sum, p, N);
    F(same)((const CASES_TYPE *)(const void *)back, want, "mul by sum", a, b);
    F(same)(&s, r.l, "mul of sum", a, b);
#endif
}

static void F(check_one)(const CASES_TYPE *a)
{
    const uint64_t *p = F(const).p;
    CASES_TYPE r, s, one;
    uint64_t want[N], plain[N];
    F(one)(&one);
    F(mul)(&r, a, a);
    F(sqr)(&s, a);
    F(same)(&s, r.l, "sqr", a, a);
    F(neg)(&s, a);
    assert_true(big_cmp(s.l, p, N) < 0);
    F(add)(&s, &s, a);
    assert_true(F(is_zero)(&s));
    F(dbl)(&s, a);
    F(add)(&r, a, a);
    F(same)(&s, r.l, "dbl", a, a);
    F(from_plain)(&r, a->l);
    F(times_r)(want, a);
    F(same)(&r, want, "from_plain", a, a);
    F(to_plain)(plain, &r);
    F(same)(a, plain, "to_plain", a, a);
    F(inv)(&r, a);
    assert_true(big_cmp(r.l, p, N) < 0);
    F(mul)(&s, &r, a);
    if (F(is_zero)(a))
        assert_true(F(is_zero)(&r));
    else
        F(same)(&s, one.l, "inv", a, &r);
    CASES_TYPE fermat;
    memcpy(want, p, sizeof want);
    want[0] -= 2;
    F(pow)(&fermat, a, want, N);
    F(same)(&r, fermat.l, "inv by Fermat", a, a);
}

static void F(check_batch)(const CASES_TYPE *e, int n)
{
    CASES_TYPE a[128], scratch[128], one, t;
    F(one)(&one);
    memcpy(a, e, (size_t)n * sizeof *a);
    F(batch_inv)(a, scratch, (size_t)n);
    for (int i = 0; i < n; i++) {
        F(inv)(&t, &e[i]);
        F(same)(&a[i], t.l, "batch_inv", &e[i], &e[i]);
    }
    F(batch_inv)(a, scratch, 0);
}

static void F(cases)(void)
{
    CASES_TYPE e[100], a, b;
    int n = F(edges)(e, 100), step = slower() > 1 ? 5 : 1;
    for (int i = 0; i < n; i++) {
        F(check_one)(&e[i]);
        for (int j = i % step; j < n; j += step)
            F(check_pair)(&e[i], &e[j]);
    }
    F(check_batch)(e, n);
    for (unsigned i = 0; i < rounds(4000); i++) {
        rand_runs(a.l, N);
        rand_runs(b.l, N);
        big_mod(a.l, a.l, N, F(const).p, N);
        big_mod(b.l, b.l, N, F(const).p, N);
        F(check_pair)(&a, &b);
        F(check_one)(&a);
    }
}

#undef CAT_
#undef CAT
#undef F
#undef N
#undef CASES_FIELD
#undef CASES_TYPE
#undef CASES_LIMBS
#undef CASES_SPARE
