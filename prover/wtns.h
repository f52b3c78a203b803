/* A snarkjs witness, mapped and checked. */
#ifndef PROVER_WTNS_H
#define PROVER_WTNS_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/math/curve.h"
#include "prover/file_map.h"

struct zkey;

struct wtns {
    struct file_map map;
    const struct curve *curve;
    const uint8_t *values; /* n plain little-endian scalars of 32 bytes in the map, any alignment */
    size_t n;
    size_t trailing_bytes; /* after the last section; worth a warning */
};

/* Open and check: container, prime, sizes, element 0 is one, every element < r (the first bad one is named). One pass
 * at the speed of memory. -EBADMSG, or what opening says. Close with wtns_close. */
int wtns_open(struct wtns **wtns_p, const char *path);
int wtns_open_memory(struct wtns **wtns_p, const char *name, const void *data, size_t bytes);
void wtns_close(struct wtns *wtns); /* NULL is allowed */

/* Is it a witness for this key: same curve, same number of wires? -EBADMSG. */
int wtns_match_zkey(const struct wtns *wtns, const struct zkey *zkey);

/* First of n packed scalars that is not < r, or n. */
size_t scalars_find_bad(const struct curve *curve, const void *packed, size_t n);

static inline struct scalar wtns_value(const struct wtns *w, size_t i)
{
    struct scalar s;
    __builtin_memcpy(&s, w->values + 32 * i, sizeof s);
    return s;
}

#endif
