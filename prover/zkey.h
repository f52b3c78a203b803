/* A snarkjs Groth16 proving key, mapped and checked. Sections stay in the map: nothing is copied but the six points of
 * the verifying key. */
#ifndef PROVER_ZKEY_H
#define PROVER_ZKEY_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/math/curve.h"
#include "prover/file_map.h"

struct zkey_points {
    const uint8_t *data; /* LEM points in the map, any alignment */
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
    const uint8_t *coefs; /* n_coefs terms of ZKEY_COEF_BYTES, any alignment; see csr.h */
    size_t n_coefs;
    size_t trailing_bytes; /* after the last section; worth a warning */
};

enum { ZKEY_COEF_BYTES = 44 };

/* Open and check: container, protocol, both primes, every size against every other, the six points canonical, on the
 * curve, in their subgroup and not infinity. Costs milliseconds, whatever the size. -EBADMSG, or what opening says.
 * Close with zkey_close. */
int zkey_open(struct zkey **zkey_p, const char *path);

/* The same from the caller's memory, which must outlive the key; `name` is for sentences. */
int zkey_open_memory(struct zkey **zkey_p, const char *name, const void *data, size_t bytes);

void zkey_close(struct zkey *zkey); /* NULL is allowed */

#endif
