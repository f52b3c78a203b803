/* A snarkjs Groth16 proving key, opened and checked. Its large sections stay where its file's bytes come from (memory,
 * or a source) and are taken when needed: nothing is copied but the six points of the verifying key. */
#ifndef PROVER_ZKEY_H
#define PROVER_ZKEY_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/math/curve.h"
#include "prover/file_map.h"

struct zkey_points {
    uint64_t offset; /* of the LEM points in the file */
    size_t n;
    enum group group;
    unsigned section; /* the file's number for it, for sentences */
    const char *name; /* "A", "B1", ... */
};

enum zkey_set { ZKEY_IC, ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_C, ZKEY_H, ZKEY_SETS };

struct zkey {
    struct file_map map;
    const struct curve *curve;
    uint32_t n_vars;      /* wires, the constant one included */
    uint32_t n_public;    /* wires 1..n_public */
    uint32_t domain_size; /* 2^log_domain */
    unsigned log_domain;
    struct point alpha1, beta1, beta2, gamma2, delta1, delta2;
    /* IC n_public+1; A, B1, B2 n_vars; C n_vars-n_public-1, for wires n_public+1..; H domain_size. Not checked as
     * points (that is `key check`): only their number is. */
    struct zkey_points points[ZKEY_SETS];
    uint64_t coefs_offset; /* of the n_coefs terms of ZKEY_COEF_BYTES in the file; see csr.h */
    size_t n_coefs;
    size_t trailing_bytes; /* after the last section; worth a warning */
};

/* Terms are taken in blocks of 1.4 MB, the last one shorter: a reader of one block needs room for the few on their way,
 * not for the section. */
enum { ZKEY_COEF_BYTES = 44, ZKEY_BLOCK_TERMS = 1 << 15 };

/* Open and check: container, protocol, both primes, every size against every other, the six points canonical, on the
 * curve, in their subgroup and not infinity. Costs milliseconds, whatever the size. -EBADMSG, or what opening says.
 * Close with zkey_close. */
int zkey_open(struct zkey **zkey_p, const char *path);

/* The same from the caller's memory, which must outlive the key; `name` is for sentences. */
int zkey_open_memory(struct zkey **zkey_p, const char *name, const void *data, size_t bytes);

/* The same through a source: only headers are read. The source is the key's then, and closed when this fails. */
int zkey_open_source(struct zkey **zkey_p, struct byte_source *source);

void zkey_close(struct zkey *zkey); /* NULL is allowed */

static inline uint64_t zkey_points_bytes(const struct zkey *z, enum zkey_set set)
{
    return (uint64_t)z->points[set].n * z->curve->point_bytes[z->points[set].group];
}

/* The points of a set, in memory until done: LEM, any alignment. What the source says: -EIO, -EBADMSG, -ENOMEM. */
static inline int zkey_points_take(const struct zkey *z, const uint8_t **data, enum zkey_set set)
{
    if (z->points[set].n)
        return file_map_take(&z->map, data, z->points[set].offset, zkey_points_bytes(z, set));
    *data = (const uint8_t *)""; /* a circuit without private wires has no C */
    return 0;
}

static inline void zkey_points_done(const struct zkey *z, enum zkey_set set)
{
    if (z->points[set].n)
        file_map_done(&z->map, z->points[set].offset);
}

/* Block b of the terms, b * ZKEY_BLOCK_TERMS < n_coefs. */
static inline size_t zkey_block_terms(const struct zkey *z, size_t b)
{
    size_t left = z->n_coefs - b * ZKEY_BLOCK_TERMS;
    return left < ZKEY_BLOCK_TERMS ? left : ZKEY_BLOCK_TERMS;
}

static inline uint64_t zkey_block_offset(const struct zkey *z, size_t b)
{
    return z->coefs_offset + (uint64_t)b * ZKEY_BLOCK_TERMS * ZKEY_COEF_BYTES;
}

#endif
