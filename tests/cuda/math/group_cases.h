/* Claims about one stamped group (CASES_GROUP, CASES_FIELD, CASES_COORD): all functions equal the textbook
 * chord-and-tangent addition on every pair out of -8 G .. 8 G, infinity included, in any XYZZ scaling and with aliased
 * outputs; scalar multiplication is additive and r G is infinity. */
#define GROUP       CASES_GROUP
#define GROUP_FIELD CASES_FIELD
#define GROUP_COORD CASES_COORD
#include "cuda/math/group_stamp.h"

#define CAT_(a, b) a##_##b
#define CAT(a, b)  CAT_(a, b)
#define G(name)    CAT(CASES_GROUP, name)
#define F(name)    CAT(CASES_FIELD, name)
#define AFFINE     struct CAT(CASES_GROUP, affine)
#define XYZZ       struct CAT(CASES_GROUP, xyzz)
#define SPAN       8

/* The twin: slope, one inversion, affine. */
static void G(twin_add)(AFFINE *r, const AFFINE *a, const AFFINE *b)
{
    CASES_COORD m, t, x, y;
    if (G(affine_is_infinity)(a) || G(affine_is_infinity)(b)) {
        *r = G(affine_is_infinity)(a) ? *b : *a;
        return;
    }
    F(sub)(&t, &b->x, &a->x);
    F(sub)(&m, &b->y, &a->y);
    if (F(is_zero)(&t)) {
        F(dbl)(&t, &a->y);
        if (!F(is_zero)(&m) || F(is_zero)(&t)) {
            memset(r, 0, sizeof *r);
            return;
        }
        F(mul)(&x, &a->x, &a->x);
        F(add)(&m, &x, &x);
        F(add)(&m, &m, &x);
    }
    F(inv)(&t, &t);
    F(mul)(&m, &m, &t);
    F(mul)(&x, &m, &m);
    F(sub)(&x, &x, &a->x);
    F(sub)(&x, &x, &b->x);
    F(sub)(&y, &a->x, &x);
    F(mul)(&y, &y, &m);
    F(sub)(&r->y, &y, &a->y);
    r->x = x;
}

/* a in another scaling: zz = z^2, zzz = z^3 */
static void G(scaled)(XYZZ *r, const AFFINE *a)
{
    CASES_COORD z;
    uint64_t *w = (uint64_t *)&z;
    for (size_t i = 0; i < sizeof z / sizeof *w; i++)
        w[i] = rand_u64() >> 8 & ((i + 1) % 2 ? ~(uint64_t)0 : 0x0fffffffffffffff);
    for (size_t i = 3; i < sizeof z / sizeof *w; i += sizeof z % sizeof(struct fe6) ? 4 : 6)
        w[i] >>= 8; /* below the modulus */
    if (sizeof z % sizeof(struct fe6) == 0)
        for (size_t i = 5; i < sizeof z / sizeof *w; i += 6)
            w[i] >>= 8;
    G(set)(r, a);
    if (G(is_infinity)(r))
        return;
    F(sqr)(&r->zz, &z);
    F(mul)(&r->zzz, &r->zz, &z);
    F(mul)(&r->x, &r->x, &r->zz);
    F(mul)(&r->y, &r->y, &r->zzz);
}

static void G(expect)(const XYZZ *got, const AFFINE *want, const char *what, int i, int j)
{
    AFFINE t;
    XYZZ w;
    G(to_affine)(&t, got);
    if (!G(affine_eq)(&t, want))
        fail_msg("%s: %d G and %d G", what, i, j);
    G(scaled)(&w, want);
    if (!G(eq)(got, &w))
        fail_msg("eq after %s: %d G and %d G", what, i, j);
}

static void G(check_pair)(const AFFINE *a, const AFFINE *b, const AFFINE *other, int i, int j)
{
    AFFINE sum, diff, minus;
    XYZZ x, y, r;
    G(twin_add)(&sum, a, b);
    G(affine_neg)(&minus, b);
    G(twin_add)(&diff, a, &minus);
    G(scaled)(&x, a);
    G(scaled)(&y, b);
    G(add)(&r, &x, &y);
    G(expect)(&r, &sum, "add", i, j);
    G(madd)(&r, &x, b);
    G(expect)(&r, &sum, "madd", i, j);
    G(msub)(&r, &x, b);
    G(expect)(&r, &diff, "msub", i, j);
    r = x;
    G(add)(&r, &r, &y);
    G(expect)(&r, &sum, "add r = a", i, j);
    r = y;
    G(add)(&r, &x, &r);
    G(expect)(&r, &sum, "add r = b", i, j);
    r = x;
    G(madd)(&r, &r, b);
    G(expect)(&r, &sum, "madd r = a", i, j);
    if (i == j) {
        G(dbl)(&r, &x);
        G(expect)(&r, &sum, "dbl", i, j);
        G(dbl_affine)(&r, a);
        G(expect)(&r, &sum, "dbl_affine", i, j);
        G(neg)(&r, &x);
        G(expect)(&r, &minus, "neg", i, j);
    } else {
        G(scaled)(&r, other);
        assert_false(G(eq)(&x, &r));
    }
}

static void G(cases)(const AFFINE *g, const uint64_t r_plain[4])
{
    AFFINE t[2 * SPAN + 1], many[2 * SPAN + 1]; /* t[SPAN + k] = k G */
    memset(&t[SPAN], 0, sizeof *t);
    for (int k = 1; k <= SPAN; k++) {
        G(twin_add)(&t[SPAN + k], &t[SPAN + k - 1], g);
        G(affine_neg)(&t[SPAN - k], &t[SPAN + k]);
    }
    XYZZ x[2 * SPAN + 1], y, z;
    for (int i = -SPAN; i <= SPAN; i++)
        for (int j = -SPAN; j <= SPAN; j++)
            G(check_pair)(&t[SPAN + i], &t[SPAN + j], &t[SPAN + j], i, j);
    for (int i = 0; i <= 2 * SPAN; i++)
        G(scaled)(&x[i], &t[i]);
    CASES_COORD scratch[2 * (2 * SPAN + 1)];
    G(to_affine_batch)(many, x, scratch, 2 * SPAN + 1);
    assert_memory_equal(many, t, sizeof many);

    for (uint64_t k = 0; k <= SPAN; k++) {
        G(mul)(&y, g, &k, 1);
        G(expect)(&y, &t[SPAN + k], "mul", (int)k, 0);
    }
    G(mul)(&y, g, r_plain, 4);
    assert_true(G(is_infinity)(&y));
    for (int i = 0; i < 20; i++) {
        uint64_t a[4], b[4], sum[4];
        unsigned carry = 0;
        rand_runs(a, 4);
        rand_runs(b, 4);
        a[3] >>= 1, b[3] >>= 1;
        for (int k = 0; k < 4; k++) {
            unsigned __int128 s = (unsigned __int128)a[k] + b[k] + carry;
            sum[k] = (uint64_t)s;
            carry = (unsigned)(s >> 64);
        }
        G(mul)(&y, g, a, 4);
        G(mul)(&z, g, b, 4);
        G(add)(&y, &y, &z);
        G(mul)(&z, g, sum, 4);
        assert_true(G(eq)(&y, &z));
    }
}

#undef CAT_
#undef CAT
#undef G
#undef F
#undef AFFINE
#undef XYZZ
#undef SPAN
#undef CASES_GROUP
#undef CASES_FIELD
#undef CASES_COORD
