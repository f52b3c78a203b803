/* Four scalars side by side, in plain scalar code: what ntt_stamp.h needs where there are no vector multipliers. Four,
 * because 4 x 32 bytes are two whole cache lines of every row that a pass walks through.
 *
 *   #define LANES_FIELD bn254_fr     a field stamped before on struct fr
 *   #include "cuda/host/lanes_scalar_stamp.h"
 *   #include "cuda/host/ntt_stamp.h"     (undefines what this one defines, but not LANES_FIELD) */
#ifndef LANES_CAT
#define LANES_CAT_(a, b) a##_##b
#define LANES_CAT(a, b)  LANES_CAT_(a, b)
#endif
#define LANES 4
#undef LF
#define LF(name) LANES_CAT(LANES_FIELD, name)
#define LV(name) LANES_CAT(LANES_FIELD, LANES_CAT(lanes, name))
#define VEC      struct LV(vec)

VEC
{
    struct fr x[LANES];
};

static inline void LV(load)(VEC *r, const struct fr *p, size_t stride)
{
    for (size_t i = 0; i < LANES; i++)
        r->x[i] = p[i * stride];
}

static inline void LV(bcast)(VEC *r, const struct fr *p)
{
    for (size_t i = 0; i < LANES; i++)
        r->x[i] = *p;
}

static inline void LV(store)(struct fr *p, size_t stride, const VEC *a)
{
    for (size_t i = 0; i < LANES; i++)
        p[i * stride] = a->x[i];
}

static inline void LV(store_last)(struct fr *p, size_t stride, const VEC *a)
{
    LV(store)(p, stride, a);
}

static inline void LV(times)(VEC *r, const VEC *a, const VEC *b)
{
    for (size_t i = 0; i < LANES; i++)
        LF(mul)(&r->x[i], &a->x[i], &b->x[i]);
}

/* u, v = u + v w, u - v w */
static inline void LV(decimate)(VEC *u, VEC *v, const VEC *w)
{
    for (size_t i = 0; i < LANES; i++) {
        struct fr t;
        LF(mul)(&t, &v->x[i], &w->x[i]);
        LF(sub)(&v->x[i], &u->x[i], &t);
        LF(add)(&u->x[i], &u->x[i], &t);
    }
}

static inline void LV(decimate_by_one)(VEC *u, VEC *v)
{
    for (size_t i = 0; i < LANES; i++) {
        struct fr t = v->x[i];
        LF(sub)(&v->x[i], &u->x[i], &t);
        LF(add)(&u->x[i], &u->x[i], &t);
    }
}

/* u, v = u + v, (u - v) w */
static inline void LV(gather)(VEC *u, VEC *v, const VEC *w, bool reduce)
{
    (void)reduce; /* always reduced here */
    for (size_t i = 0; i < LANES; i++) {
        struct fr t;
        LF(sub)(&t, &u->x[i], &v->x[i]);
        LF(add)(&u->x[i], &u->x[i], &v->x[i]);
        LF(mul)(&v->x[i], &t, &w->x[i]);
    }
}

static inline void LV(gather_by_one)(VEC *u, VEC *v, bool reduce)
{
    (void)reduce;
    LV(decimate_by_one)(u, v);
}
