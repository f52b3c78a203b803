#include "prover/coef_dict.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "perf/err.h"

/* 1024 slots are 4 KiB: real circuits have 2 to 438 values, so the table stays in the first-level cache. */
enum { FIRST_SLOTS = 1024, FIRST_VALUES = 512 };

int coef_dict_open(struct coef_dict *dict)
{
    *dict = (struct coef_dict){.n_slots = FIRST_SLOTS, .capacity = FIRST_VALUES};
    if (getrandom(dict->key, sizeof dict->key, 0) != sizeof dict->key)
        return err_fail(-EIO, "getrandom: %s", strerror(errno));
    dict->slots = calloc(dict->n_slots, sizeof *dict->slots);
    dict->values = malloc(dict->capacity * sizeof *dict->values);
    if (dict->slots && dict->values)
        return 0;
    coef_dict_close(dict);
    return err_fail(-ENOMEM, "no memory for the coefficient dictionary");
}

void coef_dict_close(struct coef_dict *dict)
{
    free(dict->slots);
    free(dict->values);
    *dict = (struct coef_dict){0};
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Two folded products of keyed halves (the multiply-and-fold of Wang Yi's wyhash). */
static inline size_t hash(const struct coef_dict *dict, const struct fr *v)
{
    const uint64_t *k = dict->key, *l = v->l;
    return (size_t)(fold(l[0] ^ k[0], l[1] ^ k[1]) ^ fold(l[2] ^ k[2], l[3] ^ k[3]));
}

static inline bool same(const struct fr *a, const struct fr *b)
{
    return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) | (a->l[2] ^ b->l[2]) | (a->l[3] ^ b->l[3])) == 0;
}

static int grow(struct coef_dict *dict)
{
    uint32_t capacity = dict->capacity * 2;
    struct fr *values = capacity > dict->capacity ? realloc(dict->values, capacity * sizeof *values) : NULL;
    if (!values)
        return err_fail(-ENOMEM, "no memory for %" PRIu32 " distinct coefficients", dict->n);
    dict->values = values;
    dict->capacity = capacity;
    size_t n_slots = dict->n_slots * 2;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return err_fail(-ENOMEM, "no memory for %" PRIu32 " distinct coefficients", dict->n);
    free(dict->slots);
    dict->slots = slots;
    dict->n_slots = n_slots;
    for (uint32_t i = 0; i < dict->n; i++) {
        size_t at = hash(dict, &values[i]) & (n_slots - 1);
        while (slots[at])
            at = (at + 1) & (n_slots - 1);
        slots[at] = i + 1;
    }
    return 0;
}

int coef_dict_put(struct coef_dict *dict, uint32_t *index, const struct fr *value)
{
    size_t mask = dict->n_slots - 1;
    size_t at = hash(dict, value) & mask;
    for (uint32_t slot; (slot = dict->slots[at]); at = (at + 1) & mask)
        if (same(&dict->values[slot - 1], value)) {
            *index = slot - 1;
            return 0;
        }
    if (dict->n == dict->capacity) {
        int rc = grow(dict);
        return rc ? rc : coef_dict_put(dict, index, value);
    }
    dict->values[dict->n] = *value;
    dict->slots[at] = ++dict->n;
    *index = dict->n - 1;
    return 1;
}
