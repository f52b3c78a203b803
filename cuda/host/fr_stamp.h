/* Scalar-field loops of one field in scalar code: pointwise operations, sparse rows, small transforms.
 *
 *   #define FR bn254_fr    a field stamped before on struct fr
 *   #include "cuda/host/fr_stamp.h"     (undefines FR) */
#define FR_CAT_(a, b) a##_##b
#define FR_CAT(a, b)  FR_CAT_(a, b)
#define FN(name)      FR_CAT(FR, name)

static void FN(ntt_small)(struct fr *data, unsigned log_n, const struct fr *tw, bool gather)
{
    for (unsigned step = 0; step < log_n; step++) {
        unsigned s = gather ? log_n - 1 - step : step;
        size_t half = (size_t)1 << (log_n - s - 1);
        for (size_t i = 0; i < (size_t)1 << s; i++) {
            struct fr *u = data + 2 * half * i, *v = u + half, t;
            for (size_t j = 0; j < half; j++) {
                if (gather) {
                    FN(sub)(&t, &u[j], &v[j]);
                    FN(add)(&u[j], &u[j], &v[j]);
                    FN(mul)(&v[j], &t, &tw[i]);
                } else {
                    FN(mul)(&t, &v[j], &tw[i]);
                    FN(sub)(&v[j], &u[j], &t);
                    FN(add)(&u[j], &u[j], &t);
                }
            }
        }
    }
}

static inline void FN(pointwise_one)(enum pointwise_op op, struct fr *r, const struct fr *a, const struct fr *b,
                                     const struct fr *c, const struct fr *k, size_t i)
{
    switch (op) {
    case POINTWISE_MUL:
        FN(mul)(r, &a[i], &b[i]);
        break;
    case POINTWISE_MUL_SUB:
        FN(mul)(r, &a[i], &b[i]);
        FN(sub)(r, r, &c[i]);
        break;
    case POINTWISE_SCALE:
        FN(mul)(r, &a[i], k);
        break;
    case POINTWISE_SUB:
        FN(sub)(r, &a[i], &b[i]);
        break;
    }
}

static void FN(pointwise)(enum pointwise_op op, bool plain, struct fr *out, const struct fr *a, const struct fr *b,
                          const struct fr *c, const struct fr *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct fr r;
        FN(pointwise_one)(op, &r, a, b, c, k, i);
        if (plain)
            FN(to_plain)(out[i].l, &r);
        else
            out[i] = r;
    }
}

static uint8_t FN(spmv_code)(const struct fr *dict)
{
    struct fr v, m;
    FN(to_plain)(m.l, dict);
    FN(to_plain)(v.l, &m);
    for (uint8_t sign = 0;; sign = SPMV_NEGATIVE) {
        if (v.l[1] == 0 && v.l[2] == 0 && v.l[3] == 0 && v.l[0] != 0 && (v.l[0] & (v.l[0] - 1)) == 0)
            return (uint8_t)(sign | __builtin_ctzll(v.l[0]));
        if (sign)
            return SPMV_GENERAL;
        FN(neg)(&v, &v);
    }
}

/* acc += w << shift; six limbs take 2^32 terms of 254 + 63 bits */
static inline void FN(wide_add)(uint64_t acc[6], const struct scalar *w, unsigned shift)
{
    uint64_t t[6] = {w->l[0], w->l[1], w->l[2], w->l[3], 0, 0};
    if (shift) {
        t[4] = w->l[3] >> (64 - shift);
        for (int i = 3; i > 0; i--)
            t[i] = w->l[i] << shift | w->l[i - 1] >> (64 - shift);
        t[0] = w->l[0] << shift;
    }
    limbs_add(acc, acc, t, 6);
}

/* r += (+-) acc 2^256 mod p: acc = lo + hi 2^256, so M(lo, R^2) + M(hi, R^3) */
static inline void FN(wide_fold)(struct fr *r, const uint64_t acc[6], const struct fr *r2, const struct fr *r3,
                                 bool negative)
{
    struct fr lo = {{acc[0], acc[1], acc[2], acc[3]}}, hi = {{acc[4], acc[5], 0, 0}};
    FN(mul)(&lo, &lo, r2);
    if (acc[4] | acc[5]) {
        FN(mul)(&hi, &hi, r3);
        FN(add)(&lo, &lo, &hi);
    }
    if (negative)
        FN(sub)(r, r, &lo);
    else
        FN(add)(r, r, &lo);
}

/* +-2^k times a witness element is a shifted addition of plain numbers, and one Montgomery product for each sign and
 * row brings the sum into form. 77 % of SHA-256's coefficients are +-1 and all are +-2^k. */
static void FN(spmv)(struct fr *out, const struct scalar *w, const struct matrix_args *m, const uint8_t *code,
                     size_t first, size_t end)
{
    struct fr r2, r3;
    memcpy(r2.l, FR_CAT(FR, info).r2, sizeof r2.l);
    FN(mul)(&r3, &r2, &r2);
    for (size_t row = first; row < end; row++) {
        uint64_t acc[2][6] = {{0}, {0}};
        bool used[2] = {false, false};
        struct fr sum = {{0}};
        for (uint64_t e = m->row[row]; e < m->row[row + 1]; e++) {
            const struct scalar *x = &w[m->col[e]];
            uint8_t how = code[m->coef[e]];
            if (how & SPMV_GENERAL) {
                struct fr t;
                memcpy(t.l, x->l, sizeof t.l);
                FN(mul)(&t, &t, &m->dict[m->coef[e]]);
                FN(add)(&sum, &sum, &t);
            } else {
                int sign = (how & SPMV_NEGATIVE) != 0;
                FN(wide_add)(acc[sign], x, how & SPMV_SHIFT);
                used[sign] = true;
            }
        }
        for (int sign = 0; sign < 2; sign++) {
            if (used[sign])
                FN(wide_fold)(&sum, acc[sign], &r2, &r3, sign == 1);
        }
        out[row] = sum;
    }
}

#undef FN
#undef FR_CAT
#undef FR_CAT_
#undef FR
