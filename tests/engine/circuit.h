/* Random circuits with satisfying witnesses, as .r1cs and .wtns bytes in memory. */
#ifndef TESTS_ENGINE_CIRCUIT_H
#define TESTS_ENGINE_CIRCUIT_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/math/curve.h"

enum circuit_shape {
    SHAPE_MIXED,    /* products of random combinations, some linear rows, some rows with A or B empty */
    SHAPE_LINEAR,   /* every row is 0 * 0 = C */
    SHAPE_NO_A,     /* A empty in every row */
    SHAPE_NO_B,     /* B empty in every row */
    SHAPE_ONE_WIRE, /* 1 * 1 = 1, no other wire */
    SHAPE_BITS,     /* mostly w (w - 1) = 0 */
};

struct circuit {
    uint8_t *r1cs, *wtns;
    size_t r1cs_bytes, wtns_bytes;
    uint32_t n_wires;
};

/* The same seed gives the same circuit. Aborts when memory runs out. */
void circuit_make(struct circuit *c, const struct curve *curve, enum circuit_shape shape, uint32_t n_rows,
                  uint32_t n_public, uint64_t seed);
void circuit_free(struct circuit *c);

#endif
