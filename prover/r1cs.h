/* A circom constraint system, mapped and checked: rows (A.w)(B.w) = C.w. */
#ifndef PROVER_R1CS_H
#define PROVER_R1CS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/math/curve.h"
#include "prover/file_map.h"

struct wtns;

struct r1cs {
    struct file_map map;
    const struct curve *curve;
    uint32_t n_wires, n_pub_out, n_pub_in, n_prv_in;
    uint32_t n_public; /* n_pub_out + n_pub_in: wires 1..n_public */
    uint64_t n_labels;
    uint32_t n_constraints;
    const uint8_t *constraints; /* section 2 */
    size_t constraints_bytes;
    const uint8_t *labels; /* n_wires times u64, any alignment; NULL without section 3 */
    size_t n_terms[3];     /* of A, B and C over all rows */
    size_t trailing_bytes;
};

/* A linear combination: n terms of R1CS_TERM_BYTES: u32 wire, 32 bytes plain coefficient. */
enum { R1CS_TERM_BYTES = 36 };
struct r1cs_lc {
    const uint8_t *terms; /* any alignment */
    uint32_t n;
};
struct r1cs_row {
    struct r1cs_lc lc[3]; /* A, B, C; not sorted by wire, a wire may occur twice */
};

/* Open and check everything: container, prime, sizes, every wire and coefficient of every row. -EBADMSG, also for
 * custom gates (a PLONK circuit), or what opening says. Close with r1cs_close. */
int r1cs_open(struct r1cs **r1cs_p, const char *path);
int r1cs_open_memory(struct r1cs **r1cs_p, const char *name, const void *data, size_t bytes);
void r1cs_close(struct r1cs *r1cs); /* NULL is allowed */

/* Rows in order:  struct r1cs_cursor c = r1cs_begin(r);  while (r1cs_next(&c, &row)) ...   Cannot fail: all bounds were
 * checked when it was opened. */
struct r1cs_cursor {
    const uint8_t *at;
    uint64_t left;
};
struct r1cs_cursor r1cs_begin(const struct r1cs *r1cs);
bool r1cs_next(struct r1cs_cursor *cursor, struct r1cs_row *row);

static inline uint32_t r1cs_term_wire(const struct r1cs_lc *lc, uint32_t i)
{
    uint32_t wire;
    __builtin_memcpy(&wire, lc->terms + (size_t)R1CS_TERM_BYTES * i, sizeof wire);
    return wire;
}
static inline struct scalar r1cs_term_coef(const struct r1cs_lc *lc, uint32_t i)
{
    struct scalar s;
    __builtin_memcpy(&s, lc->terms + (size_t)R1CS_TERM_BYTES * i + 4, sizeof s);
    return s;
}

/* Does the witness satisfy every row? 0, or -EBADMSG with a sentence that names both files and the first row that
 * fails (also in *bad_row when not NULL), or that the two do not belong together. */
int r1cs_check_witness(const struct r1cs *r1cs, const struct wtns *wtns, uint64_t *bad_row);

#endif
