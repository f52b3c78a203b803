/* The matrices A and B of a key in compressed rows, with a dictionary of their coefficients: 8 bytes a term instead of
 * section 4's 44. Values stay in the file's "double Montgomery" form (v * R^2 mod r), which is what spmv wants. */
#ifndef PROVER_CSR_H
#define PROVER_CSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/device.h"
#include "prover/zkey.h"

enum csr_which { CSR_A, CSR_B, CSR_MATRICES };

struct csr_matrix {
    uint64_t *row; /* rows + 1 offsets */
    uint32_t *col, *coef;
    size_t n_terms;
};

struct csr {
    const struct curve *curve;
    size_t rows; /* the last row with a term in either matrix, plus one; <= domain_size */
    size_t cols; /* n_vars */
    struct csr_matrix matrix[CSR_MATRICES];
    struct fr *dict; /* in order of first use in the file; distinct */
    size_t n_dict;
};

/* Build from section 4, terms in any order; the order inside a row is the file's. Every term is checked (matrix, row <
 * domain_size, signal < n_vars, value < r): -EBADMSG naming the term. -ENOMEM, or what the key's source says. The
 * section is taken block by block. Close with csr_close. */
int csr_open(struct csr **csr_p, const struct zkey *zkey);
void csr_close(struct csr *csr); /* NULL is allowed */

/* What device->ops->matrix_open wants; pointers into `csr`, which must outlive it unless resident. */
struct matrix_args csr_matrix_args(const struct csr *csr, enum csr_which which, bool resident);

#endif
