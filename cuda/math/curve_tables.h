/* The tables of each curve and instruction set; curve.c chooses, tests compare them. */
#ifndef CUDA_MATH_CURVE_TABLES_H
#define CUDA_MATH_CURVE_TABLES_H

#include "cuda/math/curve.h"
#include "cuda/math/isa.h"

extern const struct curve curve_bn254_portable, curve_bls12381_portable;
#if defined(__x86_64__)
extern const struct curve curve_bn254_adx, curve_bls12381_adx;
#endif

/* The table of that set, or of the next lower one that exists. */
const struct curve *curve_get_isa(enum curve_id id, enum isa isa);

#endif
