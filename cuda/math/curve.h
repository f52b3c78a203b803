/* The two curves as tables of functions, so that everything above the arithmetic is written once.
 *
 * Points in files, in leases and in device memory are affine "LEM": little-endian Montgomery coordinates,
 *     G1  x | y                          64 bytes (BN254), 96 bytes (BLS12-381)
 *     G2  x.c0 | x.c1 | y.c0 | y.c1     128 bytes,        192 bytes
 * with Fq2 = Fq[u]/(u^2 + 1); all bytes zero is the point at infinity. They may lie at any byte offset.
 * struct point holds one such point, aligned, of either group and curve. */
#ifndef CUDA_MATH_CURVE_H
#define CUDA_MATH_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/math/fe.h"

enum curve_id { CURVE_BN254, CURVE_BLS12_381, CURVES };
enum group { GROUP_G1, GROUP_G2, GROUPS };

/* One affine point in LEM form; only the first point_bytes[group] bytes count, the rest is zero. */
struct point {
    uint64_t w[24];
};

enum point_fault { POINT_OK, POINT_NOT_CANONICAL, POINT_NOT_ON_CURVE, POINT_NOT_IN_SUBGROUP };

struct curve {
    enum curve_id id;
    const char *name;     /* as snarkjs writes it: "bn128", "bls12381" */
    const char *title;    /* for people: "BN254", "BLS12-381" */
    unsigned fq_bytes;    /* 32, 48 */
    unsigned fr_bits;     /* 254, 255 */
    unsigned two_adicity; /* 28, 32: 2^k divides r - 1 */
    unsigned point_bytes[GROUPS];
    const struct field_info *fq, *fr;
    struct point generator[GROUPS];

    /* Scalar field. fr_inv(0) = 0. from_scalar needs s < r (scalar_is_canonical). */
    void (*fr_add)(struct fr *r, const struct fr *a, const struct fr *b);
    void (*fr_sub)(struct fr *r, const struct fr *a, const struct fr *b);
    void (*fr_mul)(struct fr *r, const struct fr *a, const struct fr *b);
    void (*fr_inv)(struct fr *r, const struct fr *a);
    void (*fr_batch_inv)(struct fr *a, size_t n); /* in place, zeros stay zero */
    void (*fr_pow)(struct fr *r, const struct fr *a, uint64_t e);
    void (*fr_from_scalar)(struct fr *r, const struct scalar *s);
    void (*fr_to_scalar)(struct scalar *s, const struct fr *a);
    void (*fr_from_u64)(struct fr *r, uint64_t x);
    /* Primitive 2^k-th root of unity, snarkjs's choice: w_max = 5^((r-1)/2^two_adicity) squared down. k <= two_adicity.
     */
    void (*fr_root)(struct fr *r, unsigned k);

    /* Plain coordinate (canonical, little-endian, fq_bytes) <-> Montgomery, fq_bytes each. */
    void (*fq_from_plain)(void *mont, const void *plain);
    void (*fq_to_plain)(void *plain, const void *mont);

    /* Groups, on affine points; for single points, not for bulk work. Outputs may alias inputs. */
    void (*add)(enum group g, struct point *r, const struct point *a, const struct point *b);
    void (*neg)(enum group g, struct point *r, const struct point *a);
    void (*mul)(enum group g, struct point *r, const struct point *a, const struct scalar *k);
    /* Is it a point that a proof or key may hold? Infinity is POINT_OK: callers that forbid it test for zero bytes. */
    enum point_fault (*check)(enum group g, const struct point *a);
    /* p->x is given (canonical): y becomes one of the two roots of the curve equation, false if there is none. The
     * point need not be in the subgroup. */
    bool (*lift_x)(enum group g, struct point *p);

    /* product over i of e(g1[i], g2[i]) = 1? Points checked before. Pairs with infinity count as 1. */
    bool (*pairing_is_one)(const struct point *g1, const struct point *g2, size_t n);
    /* e(g1, g2) as 12 plain Fq values of fq_bytes each, in the order that snarkjs writes vk_alphabeta_12 (2 x 3 x 2).
     */
    void (*pairing)(void *plain12, const struct point *g1, const struct point *g2);
};

/* Immutable tables in static memory. */
const struct curve *curve_get(enum curve_id id);
/* By the scalar field's modulus (32 bytes, plain) or NULL. */
const struct curve *curve_by_r(const void *r32);
/* By a name that snarkjs's readers take: bn128 bn254 altbn128 bls12381, any case, dashes and underscores ignored; or
 * NULL. */
const struct curve *curve_by_name(const char *name);

bool scalar_is_canonical(const struct curve *c, const struct scalar *s);
bool point_is_infinity(const struct point *p);
/* Copy between the packed form at any byte offset and struct point (rest zeroed). */
void point_load(const struct curve *c, enum group g, struct point *p, const void *packed);
void point_store(const struct curve *c, enum group g, void *packed, const struct point *p);

#endif
