/* Inverses modulo an odd prime of 4 or 6 limbs. */
#ifndef CUDA_MATH_INVERSE_H
#define CUDA_MATH_INVERSE_H

#include <stdint.h>

/* r = a^-1 mod p of plain numbers, a < p; 0 for 0. inv = -p^-1 mod 2^64. Variable time in a. */
void inverse_mod(uint64_t *r, const uint64_t *a, const uint64_t *p, uint64_t inv, int limbs);

#endif
