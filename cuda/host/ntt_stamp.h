/* The butterfly passes of one field, on the VEC and LV(..) of a lanes_*_stamp.h included right before.
 *
 * Both directions use the table in bit-reversed order with one twiddle for a whole block (as in P. Longa, M. Naehrig,
 * "Speeding up the number theoretic transform", 2016, and Harvey 2014), so the twiddles of all but the last three
 * stages are few and stay in registers or L1, and no reversal pass is needed between the two directions. */

static inline void LV(twiddle)(VEC *w, const struct ntt_pass *p, size_t q, unsigned stage, size_t i)
{
    const struct fr *at = p->tw + (q << stage) + i;
    if (p->fan)
        LV(load)(w, at, (size_t)1 << stage);
    else
        LV(bcast)(w, at);
}

static inline void LV(decimate_stages)(VEC *x, const struct ntt_pass *p, size_t q)
{
    for (unsigned s = 0; s < p->k; s++) {
        size_t half = (size_t)1 << (p->k - s - 1);
        for (size_t i = 0; i < (size_t)1 << s; i++) {
            VEC *u = x + 2 * half * i, *v = u + half, w;
            if (s < 2 && i == 0 && q == 0 && !p->fan) {
                for (size_t j = 0; j < half; j++)
                    LV(decimate_by_one)(u + j, v + j);
                continue;
            }
            LV(twiddle)(&w, p, q, s, i);
            for (size_t j = 0; j < half; j++)
                LV(decimate)(u + j, v + j, &w);
        }
    }
}

static inline void LV(gather_stages)(VEC *x, const struct ntt_pass *p, size_t q)
{
    for (unsigned s = p->k; s-- > 0;) {
        size_t half = (size_t)1 << (p->k - s - 1);
        bool reduce = s % 2 == 1; /* what is left after stage 0 is reduced by the store */
        for (size_t i = 0; i < (size_t)1 << s; i++) {
            VEC *u = x + 2 * half * i, *v = u + half, w;
            if (s < 2 && i == 0 && q == 0 && !p->fan) {
                for (size_t j = 0; j < half; j++)
                    LV(gather_by_one)(u + j, v + j, reduce);
                continue;
            }
            LV(twiddle)(&w, p, q, s, i);
            for (size_t j = 0; j < half; j++)
                LV(gather)(u + j, v + j, &w, reduce);
        }
    }
}

static inline void LV(pass)(const struct ntt_pass *p, bool gather)
{
    VEC x[1 << NTT_PASS_MAX];
    size_t rows = (size_t)1 << p->k;
    for (size_t c = 0; c < p->cols; c += LANES) {
        struct fr *at = p->data + c * p->lane;
        for (size_t r = 0; r < rows; r++)
            LV(load)(&x[r], at + r * p->row, p->lane);
        size_t q = p->fan ? p->q + c : p->q;
        if (gather)
            LV(gather_stages)(x, p, q);
        else
            LV(decimate_stages)(x, p, q);
        for (size_t r = 0; r < rows; r++) {
            if (p->last)
                LV(store_last)(at + r * p->row, p->lane, &x[r]);
            else
                LV(store)(at + r * p->row, p->lane, &x[r]);
        }
    }
}

static void LV(ntt_decimate)(const struct ntt_pass *p)
{
    LV(pass)(p, false);
}

static void LV(ntt_gather)(const struct ntt_pass *p)
{
    LV(pass)(p, true);
}

static void LV(ntt_scale)(struct fr *data, const struct fr *by, const struct fr *k, size_t n)
{
    VEC kv;
    LV(bcast)(&kv, k);
    for (size_t c = 0; c < n; c += LANES) {
        VEC x, y;
        LV(load)(&y, by + c, 1);
        LV(load)(&x, data + c, 1);
        LV(times)(&x, &x, &y);
        LV(times)(&x, &x, &kv);
        LV(store_last)(data + c, 1, &x);
    }
}

#undef VEC
#undef LV
#undef LANES
