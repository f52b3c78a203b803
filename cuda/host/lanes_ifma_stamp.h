/* Eight scalars side by side for ntt_stamp.h, over a field stamped by ifma_stamp.h with IFMA_FIELD still defined.
 *
 * Values between passes are below 2p (2p < 2^256 on both curves). Twiddles carry the factor 2^260 of the vector
 * product, so products leave the factor 2^256 of the data as it is. Within a pass values grow by sums only: 2^260 is 84
 * p (BN254), 35 p (BLS12-381), and no value passes 32 p. */
#define LANES    8
#define LV(name) IV(name)
#define VEC      IVEC

IFMA_INLINE void LV(load)(VEC *r, const struct fr *p, size_t stride)
{
    const void *row[8];
    for (size_t i = 0; i < 8; i++)
        row[i] = p + i * stride;
    __m512i w[4];
    ifma_load4(w, row);
    ifma_split(r->l, w, 4);
}

IFMA_INLINE void LV(bcast)(VEC *r, const struct fr *p)
{
    __m512i w[4];
    for (int i = 0; i < 4; i++)
        w[i] = _mm512_set1_epi64((long long)p->l[i]);
    ifma_split(r->l, w, 4);
}

IFMA_INLINE void LV(store_tight)(struct fr *p, size_t stride, const VEC *a)
{
    void *row[8];
    for (size_t i = 0; i < 8; i++)
        row[i] = p + i * stride;
    __m512i w[4];
    ifma_join(w, a->l, 4);
    ifma_store4(row, w);
}

IFMA_INLINE void LV(store)(struct fr *p, size_t stride, const VEC *a)
{
    VEC t;
    LV(weak)(&t, a);
    LV(store_tight)(p, stride, &t);
}

IFMA_INLINE void LV(store_last)(struct fr *p, size_t stride, const VEC *a)
{
    VEC t;
    LV(weak)(&t, a);
    LV(canonical)(&t, &t);
    LV(store_tight)(p, stride, &t);
}

/* r = a b, a loose */
IFMA_INLINE void LV(times)(VEC *r, const VEC *a, const VEC *b)
{
    VEC t;
    LV(tight)(&t, a);
    LV(mul)(r, &t, b);
}

/* u, v = u + v w, u - v w: both grow by at most 2p */
IFMA_INLINE void LV(decimate)(VEC *u, VEC *v, const VEC *w)
{
    VEC t;
    LV(tight)(&t, v);
    LV(mul)(&t, &t, w);
    LV(sub)(v, u, &t);
    LV(add_const)(v, v, IC.p2);
    LV(add)(u, u, &t);
}

/* Only as the first two of a pass, on values below 2p and 4p. */
IFMA_INLINE void LV(decimate_by_one)(VEC *u, VEC *v)
{
    VEC t = *v;
    LV(sub)(v, u, &t);
    LV(add_const)(v, v, IC.p8);
    LV(add)(u, u, &t);
}

/* u, v = u + v, (u - v) w. Inputs below 8p: sums are brought back to 2p every second stage (2p, 4p, 8p -> 2p). */
IFMA_INLINE void LV(gather)(VEC *u, VEC *v, const VEC *w, bool reduce)
{
    VEC t;
    LV(sub)(&t, u, v);
    LV(add_const)(&t, &t, IC.p8);
    LV(tight)(&t, &t);
    LV(add)(u, u, v);
    LV(mul)(v, &t, w);
    if (reduce)
        LV(weak)(u, u);
}

IFMA_INLINE void LV(gather_by_one)(VEC *u, VEC *v, bool reduce)
{
    VEC t;
    LV(sub)(&t, u, v);
    LV(add_const)(&t, &t, IC.p8);
    LV(add)(u, u, v);
    LV(weak)(v, &t);
    if (reduce)
        LV(weak)(u, u);
}
