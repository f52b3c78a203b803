/* The distinct coefficients of a key, numbered in order of first use. */
#ifndef PROVER_COEF_DICT_H
#define PROVER_COEF_DICT_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/math/fe.h"

struct coef_dict {
    struct fr *values;
    uint32_t n;
    uint32_t capacity;
    uint32_t *slots; /* index + 1, 0 = free; n_slots a power of two, at most half full */
    size_t n_slots;
    uint64_t key[4]; /* of the hash, random: a hostile key file cannot aim for collisions */
};

/* -ENOMEM. Close with coef_dict_close. */
int coef_dict_open(struct coef_dict *dict);
void coef_dict_close(struct coef_dict *dict); /* also a zeroed one */

/* Find the value, or add it. 1: added, 0: was there, -ENOMEM. The index goes to *index. */
int coef_dict_put(struct coef_dict *dict, uint32_t *index, const struct fr *value);

#endif
