/* The optimal ate pairing (F. Vercauteren, "Optimal pairings", 2010), stamped after fq12_stamp.h. Before it:
 *
 *   #define PAIRING_D_TWIST 1 or 0        where the twist's points land: (x w^2, y w^3), or (x / w^2, y / w^3)
 *   void CURVE##_miller_end(FQ12 *f, MILLER *m)      what follows the loop
 *   void CURVE##_hard_part(FQ12 *r, const FQ12 *f)   f^(k (q^4 - q^2 + 1)/r), r not dividing k
 *   CURVE##_loop[], CURVE##_loop_top: bits of the loop's number, signed (-1, 0, 1), the top one left out
 *
 * All pairs go through one loop: one squaring of f and one inversion per step, whatever their number; and one final
 * exponentiation. Steps are affine: with the shared inversion a doubling costs 3 products less than projective ones. */
enum { PAIRING_BATCH = 8 };

struct C(miller_pair) {
    CURVE_COORD px, py;
    AFFINE2 q, t; /* t runs, q is added */
};
struct C(miller) {
    struct C(miller_pair) pair[PAIRING_BATCH];
    size_t n;
};
#define MILLER struct C(miller)

/* f *= the line with this slope through pair->t, at P. The line's denominator and, on an M-twist, a factor w^3 lie in a
 * proper subfield: the final exponentiation takes them away. */
static void C(line_mul)(FQ12 *f, const struct C(miller_pair) * pair, const CURVE_COORD2 *slope)
{
    CURVE_COORD2 x, c;
    FQ6 d0, d1, s;
    C(fq2_mul_fq)(&x, slope, &pair->px);
    C(fq2_neg)(&x, &x); /* - slope xP */
    C(fq2_mul)(&c, slope, &pair->t.x);
    C(fq2_sub)(&c, &c, &pair->t.y); /* slope xT - yT */
    C(fq6_add)(&s, &f->c[0], &f->c[1]);
    if (PAIRING_D_TWIST) { /* yP + x w + c w^3 */
        for (int i = 0; i < 3; i++)
            C(fq2_mul_fq)(&d0.c[i], &f->c[0].c[i], &pair->py);
        C(fq6_mul_01)(&d1, &f->c[1], &x, &c);
        C(fq_add)(&x.c0, &x.c0, &pair->py);
        C(fq6_mul_01)(&s, &s, &x, &c);
    } else { /* c + x w^2 + yP w^3 */
        C(fq6_mul_01)(&d0, &f->c[0], &c, &x);
        for (int i = 0; i < 3; i++)
            C(fq2_mul_fq)(&d1.c[i], &f->c[1].c[i], &pair->py);
        C(fq6_mul_v)(&d1, &d1);
        C(fq_add)(&x.c0, &x.c0, &pair->py);
        C(fq6_mul_01)(&s, &s, &c, &x);
    }
    C(fq12_join)(f, &d0, &d1, &s);
}

/* t = t + other (or 2 t), by the slope. */
static void C(miller_move)(AFFINE2 *t, const CURVE_COORD2 *other_x, const CURVE_COORD2 *slope)
{
    CURVE_COORD2 x, y;
    C(fq2_sqr)(&x, slope);
    C(fq2_sub)(&x, &x, &t->x);
    C(fq2_sub)(&x, &x, other_x);
    C(fq2_sub)(&y, &t->x, &x);
    C(fq2_mul)(&y, &y, slope);
    C(fq2_sub)(&y, &y, &t->y);
    t->x = x;
    t->y = y;
}

static void C(miller_double)(FQ12 *f, MILLER *m)
{
    CURVE_COORD2 bottom[PAIRING_BATCH], scratch[PAIRING_BATCH], top, slope;
    for (size_t i = 0; i < m->n; i++)
        C(fq2_dbl)(&bottom[i], &m->pair[i].t.y);
    C(fq2_batch_inv)(bottom, scratch, m->n);
    for (size_t i = 0; i < m->n; i++) {
        AFFINE2 *t = &m->pair[i].t;
        C(fq2_sqr)(&top, &t->x);
        C(fq2_dbl)(&slope, &top);
        C(fq2_add)(&top, &slope, &top);
        C(fq2_mul)(&slope, &top, &bottom[i]);
        C(line_mul)(f, &m->pair[i], &slope);
        C(miller_move)(t, &t->x, &slope);
    }
}

/* Add (negative: subtract) q of every pair. */
static void C(miller_add)(FQ12 *f, MILLER *m, bool negative)
{
    CURVE_COORD2 bottom[PAIRING_BATCH], scratch[PAIRING_BATCH], slope, y;
    for (size_t i = 0; i < m->n; i++)
        C(fq2_sub)(&bottom[i], &m->pair[i].q.x, &m->pair[i].t.x);
    C(fq2_batch_inv)(bottom, scratch, m->n);
    for (size_t i = 0; i < m->n; i++) {
        struct C(miller_pair) *p = &m->pair[i];
        y = p->q.y;
        if (negative)
            C(fq2_neg)(&y, &y);
        C(fq2_sub)(&slope, &y, &p->t.y);
        C(fq2_mul)(&slope, &slope, &bottom[i]);
        C(line_mul)(f, p, &slope);
        C(miller_move)(&p->t, &p->q.x, &slope);
    }
}

static void C(miller_end)(FQ12 *f, MILLER *m);
static void C(hard_part)(FQ12 *r, const FQ12 *f);

static void C(miller_run)(FQ12 *f, MILLER *m)
{
    C(fq12_one)(f);
    for (size_t i = 0; i < m->n; i++)
        m->pair[i].t = m->pair[i].q;
    for (int i = C(loop_top) - 1; i >= 0; i--) {
        C(fq12_sqr)(f, f);
        C(miller_double)(f, m);
        if (C(loop)[i])
            C(miller_add)(f, m, C(loop)[i] < 0);
    }
    C(miller_end)(f, m);
}

/* f = product of the Miller values; pairs with infinity are left out. */
static void C(miller_product)(FQ12 *f, const struct point *g1, const struct point *g2, size_t n)
{
    MILLER m = {.n = 0};
    FQ12 part;
    C(fq12_one)(f);
    for (size_t i = 0; i < n; i++) {
        AFFINE1 p;
        if (!point_is_infinity(&g1[i]) && !point_is_infinity(&g2[i])) {
            struct C(miller_pair) *to = &m.pair[m.n++];
            C(get1)(&p, &g1[i]);
            C(get2)(&to->q, &g2[i]);
            to->px = p.x;
            to->py = p.y;
        }
        if (m.n && (m.n == PAIRING_BATCH || i + 1 == n)) {
            C(miller_run)(&part, &m);
            C(fq12_mul)(f, f, &part);
            m.n = 0;
        }
    }
}

/* f^(k (q^12 - 1)/r) */
static void C(final_exp)(FQ12 *r, const FQ12 *f)
{
    FQ12 s, t;
    C(fq12_conj)(&s, f);
    C(fq12_inv)(&t, f);
    C(fq12_mul)(&s, &s, &t); /* f^(q^6 - 1) */
    C(fq12_frob)(&t, &s, 2);
    C(fq12_mul)(&s, &s, &t); /* ^(q^2 + 1) */
    C(hard_part)(r, &s);
}

static bool C(do_pairing_is_one)(const struct point *g1, const struct point *g2, size_t n)
{
    FQ12 f, one;
    C(miller_product)(&f, g1, g2, n);
    C(final_exp)(&f, &f);
    C(fq12_one)(&one);
    return C(fq12_eq)(&f, &one);
}

static void C(do_pairing)(void *plain12, const struct point *g1, const struct point *g2)
{
    FQ12 f;
    C(miller_product)(&f, g1, g2, 1);
    C(final_exp)(&f, &f);
    for (size_t i = 0; i < 12; i++)
        C(do_fq_to_plain)((uint8_t *)plain12 + i * sizeof(CURVE_COORD), (const CURVE_COORD *)&f + i);
}

#define PAIRING_FUNCTIONS .pairing_is_one = C(do_pairing_is_one), .pairing = C(do_pairing)
