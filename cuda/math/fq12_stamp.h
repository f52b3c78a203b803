/* The towers Fq6 = Fq2[v]/(v^3 - xi) and Fq12 = Fq6[w]/(w^2 - v), stamped by textual inclusion into a unit that has
 * CURVE##_fq, _fq2, the constants CURVE##_frob[k-1] = xi^(k(q-1)/6), and CURVE##_mul_xi(fq2). Uses CURVE_CAT, C,
 * CURVE_COORD and CURVE_COORD2 of curve_stamp.h. Outputs may alias inputs. */
struct C(fq6) {
    CURVE_COORD2 c[3];
};
struct C(fq12) {
    struct C(fq6) c[2];
};
#define FQ6  struct C(fq6)
#define FQ12 struct C(fq12)

static inline void C(fq6_add)(FQ6 *r, const FQ6 *a, const FQ6 *b)
{
    for (int i = 0; i < 3; i++)
        C(fq2_add)(&r->c[i], &a->c[i], &b->c[i]);
}

static inline void C(fq6_sub)(FQ6 *r, const FQ6 *a, const FQ6 *b)
{
    for (int i = 0; i < 3; i++)
        C(fq2_sub)(&r->c[i], &a->c[i], &b->c[i]);
}

static inline void C(fq6_neg)(FQ6 *r, const FQ6 *a)
{
    for (int i = 0; i < 3; i++)
        C(fq2_neg)(&r->c[i], &a->c[i]);
}

/* r = v a */
static inline void C(fq6_mul_v)(FQ6 *r, const FQ6 *a)
{
    CURVE_COORD2 t;
    C(mul_xi)(&t, &a->c[2]);
    r->c[2] = a->c[1];
    r->c[1] = a->c[0];
    r->c[0] = t;
}

/* Karatsuba: 6 products in Fq2 (A. Devegili et al., "Multiplication and squaring on pairing-friendly fields", 2006). */
static void C(fq6_mul)(FQ6 *r, const FQ6 *a, const FQ6 *b)
{
    CURVE_COORD2 v[3], s, t, x[3];
    for (int i = 0; i < 3; i++)
        C(fq2_mul)(&v[i], &a->c[i], &b->c[i]);
    for (int i = 0; i < 3; i++) { /* x[i] = a_j b_k + a_k b_j, {i, j, k} = {0, 1, 2} */
        int j = (i + 1) % 3, k = (i + 2) % 3;
        C(fq2_add)(&s, &a->c[j], &a->c[k]);
        C(fq2_add)(&t, &b->c[j], &b->c[k]);
        C(fq2_mul)(&x[i], &s, &t);
        C(fq2_sub)(&x[i], &x[i], &v[j]);
        C(fq2_sub)(&x[i], &x[i], &v[k]);
    }
    C(mul_xi)(&t, &x[0]);
    C(fq2_add)(&r->c[0], &v[0], &t);
    C(mul_xi)(&t, &v[2]);
    C(fq2_add)(&r->c[1], &x[2], &t);
    C(fq2_add)(&r->c[2], &x[1], &v[1]);
}

/* r = a (b0 + b1 v): 5 products */
static void C(fq6_mul_01)(FQ6 *r, const FQ6 *a, const CURVE_COORD2 *b0, const CURVE_COORD2 *b1)
{
    CURVE_COORD2 v0, v1, s, t, x;
    C(fq2_mul)(&v0, &a->c[0], b0);
    C(fq2_mul)(&v1, &a->c[1], b1);
    C(fq2_add)(&s, &a->c[0], &a->c[1]);
    C(fq2_add)(&t, b0, b1);
    C(fq2_mul)(&x, &s, &t);
    C(fq2_sub)(&x, &x, &v0);
    C(fq2_sub)(&x, &x, &v1);
    C(fq2_mul)(&s, &a->c[2], b1);
    C(mul_xi)(&s, &s);
    C(fq2_mul)(&t, &a->c[2], b0);
    C(fq2_add)(&r->c[0], &v0, &s);
    r->c[1] = x;
    C(fq2_add)(&r->c[2], &v1, &t);
}

static void C(fq6_inv)(FQ6 *r, const FQ6 *a)
{
    CURVE_COORD2 t[3], s, n;
    for (int i = 0; i < 3; i++) { /* a_0^2 - xi a_1 a_2, xi a_2^2 - a_0 a_1, a_1^2 - a_0 a_2 */
        static const int square[3] = {0, 2, 1}, left[3] = {1, 0, 0}, right[3] = {2, 1, 2};
        C(fq2_sqr)(&t[i], &a->c[square[i]]);
        C(fq2_mul)(&s, &a->c[left[i]], &a->c[right[i]]);
        if (i == 0)
            C(mul_xi)(&s, &s);
        if (i == 1)
            C(mul_xi)(&t[i], &t[i]);
        C(fq2_sub)(&t[i], &t[i], &s);
    }
    C(fq2_mul)(&n, &a->c[1], &t[2]);
    C(fq2_mul)(&s, &a->c[2], &t[1]);
    C(fq2_add)(&n, &n, &s);
    C(mul_xi)(&n, &n);
    C(fq2_mul)(&s, &a->c[0], &t[0]);
    C(fq2_add)(&n, &n, &s);
    C(fq2_inv)(&n, &n);
    for (int i = 0; i < 3; i++)
        C(fq2_mul)(&r->c[i], &t[i], &n);
}

static inline void C(fq12_one)(FQ12 *r)
{
    memset(r, 0, sizeof *r);
    C(fq2_one)(&r->c[0].c[0]);
}

static bool C(fq12_eq)(const FQ12 *a, const FQ12 *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* coordinates are always reduced */
}

/* The q^6-th power; the inverse of a unitary element. */
static inline void C(fq12_conj)(FQ12 *r, const FQ12 *a)
{
    r->c[0] = a->c[0];
    C(fq6_neg)(&r->c[1], &a->c[1]);
}

/* What the dense and the sparse product share: from d0 = a0 b0, d1 = a1 b1 and s = (a0 + a1)(b0 + b1). */
static void C(fq12_join)(FQ12 *r, const FQ6 *d0, const FQ6 *d1, const FQ6 *s)
{
    FQ6 t;
    C(fq6_sub)(&t, s, d0);
    C(fq6_sub)(&r->c[1], &t, d1);
    C(fq6_mul_v)(&t, d1);
    C(fq6_add)(&r->c[0], d0, &t);
}

static void C(fq12_mul)(FQ12 *r, const FQ12 *a, const FQ12 *b)
{
    FQ6 d0, d1, s, t;
    C(fq6_mul)(&d0, &a->c[0], &b->c[0]);
    C(fq6_mul)(&d1, &a->c[1], &b->c[1]);
    C(fq6_add)(&s, &a->c[0], &a->c[1]);
    C(fq6_add)(&t, &b->c[0], &b->c[1]);
    C(fq6_mul)(&s, &s, &t);
    C(fq12_join)(r, &d0, &d1, &s);
}

/* Complex squaring: 2 products in Fq6. */
static void C(fq12_sqr)(FQ12 *r, const FQ12 *a)
{
    FQ6 p, s, t;
    C(fq6_mul)(&p, &a->c[0], &a->c[1]);
    C(fq6_add)(&s, &a->c[0], &a->c[1]);
    C(fq6_mul_v)(&t, &a->c[1]);
    C(fq6_add)(&t, &t, &a->c[0]);
    C(fq6_mul)(&s, &s, &t); /* a0^2 + v a1^2 + p + v p */
    C(fq6_sub)(&s, &s, &p);
    C(fq6_mul_v)(&t, &p);
    C(fq6_sub)(&r->c[0], &s, &t);
    C(fq6_add)(&r->c[1], &p, &p);
}

static void C(fq12_inv)(FQ12 *r, const FQ12 *a)
{
    FQ6 s, t;
    C(fq6_mul)(&s, &a->c[0], &a->c[0]);
    C(fq6_mul)(&t, &a->c[1], &a->c[1]);
    C(fq6_mul_v)(&t, &t);
    C(fq6_sub)(&s, &s, &t);
    C(fq6_inv)(&s, &s);
    C(fq6_mul)(&r->c[0], &a->c[0], &s);
    C(fq6_mul)(&t, &a->c[1], &s);
    C(fq6_neg)(&r->c[1], &t);
}

/* The q-th power: the coefficient of w^k is conjugated and multiplied by frob[k-1]. */
static void C(fq12_frob)(FQ12 *r, const FQ12 *a, int times)
{
    *r = *a;
    for (; times > 0; times--) {
        for (int k = 0; k < 6; k++) { /* w^k = c[k % 2].c[k / 2] */
            CURVE_COORD2 *x = &r->c[k % 2].c[k / 2];
            C(fq2_conj)(x, x);
            if (k > 0)
                C(fq2_mul)(x, x, &C(frob)[k - 1]);
        }
    }
}

/* (x + y s)^2 in Fq4 = Fq2[s]/(s^2 - xi) */
static inline void C(fq4_sqr)(CURVE_COORD2 *r0, CURVE_COORD2 *r1, const CURVE_COORD2 *x, const CURVE_COORD2 *y)
{
    CURVE_COORD2 s, t, xx, yy;
    C(fq2_sqr)(&xx, x);
    C(fq2_sqr)(&yy, y);
    C(fq2_add)(&s, x, y);
    C(fq2_sqr)(&s, &s);
    C(fq2_sub)(&s, &s, &xx);
    C(fq2_sub)(r1, &s, &yy);
    C(mul_xi)(&t, &yy);
    C(fq2_add)(r0, &xx, &t);
}

/* r = 3 t +- 2 z */
static inline void C(fq2_three_two)(CURVE_COORD2 *r, const CURVE_COORD2 *t, const CURVE_COORD2 *z, bool plus)
{
    CURVE_COORD2 d;
    if (plus)
        C(fq2_add)(&d, t, z);
    else
        C(fq2_sub)(&d, t, z);
    C(fq2_dbl)(&d, &d);
    C(fq2_add)(r, &d, t);
}

/* Squaring of elements whose order divides q^4 - q^2 + 1 (R. Granger, M. Scott, "Faster squaring in the cyclotomic
 * subgroup of sixth degree extensions", 2009): 9 squarings in Fq2 instead of 12 products. */
static void C(fq12_cyclotomic_sqr)(FQ12 *r, const FQ12 *a)
{
    CURVE_COORD2 t0, t1, t2, t3, t4, t5;
    C(fq4_sqr)(&t0, &t1, &a->c[0].c[0], &a->c[1].c[1]);
    C(fq4_sqr)(&t2, &t3, &a->c[1].c[0], &a->c[0].c[2]);
    C(fq4_sqr)(&t4, &t5, &a->c[0].c[1], &a->c[1].c[2]);
    C(mul_xi)(&t5, &t5);
    C(fq2_three_two)(&r->c[0].c[0], &t0, &a->c[0].c[0], false);
    C(fq2_three_two)(&r->c[0].c[1], &t2, &a->c[0].c[1], false);
    C(fq2_three_two)(&r->c[0].c[2], &t4, &a->c[0].c[2], false);
    C(fq2_three_two)(&r->c[1].c[0], &t5, &a->c[1].c[0], true);
    C(fq2_three_two)(&r->c[1].c[1], &t1, &a->c[1].c[1], true);
    C(fq2_three_two)(&r->c[1].c[2], &t3, &a->c[1].c[2], true);
}

/* a^e for unitary a */
static void C(fq12_cyclotomic_pow)(FQ12 *r, const FQ12 *a, uint64_t e)
{
    FQ12 base = *a, acc = *a;
    for (int i = 62 - __builtin_clzll(e); i >= 0; i--) {
        C(fq12_cyclotomic_sqr)(&acc, &acc);
        if (e >> i & 1)
            C(fq12_mul)(&acc, &acc, &base);
    }
    *r = acc;
}
