#include "prover/csr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/coef_dict.h"
#include "prover/packed.h"

/* A term in the file: | u32 matrix | u32 row | u32 signal | value, 32 bytes | */
struct term {
    uint32_t matrix, row, signal;
};

static inline struct term term_load(const uint8_t *p)
{
    return (struct term){load_u32(p), load_u32(p + 4), load_u32(p + 8)};
}

static int bad_term(const struct zkey *z, size_t i)
{
    struct term t = term_load(z->coefs + i * ZKEY_COEF_BYTES);
    const char *path = z->map.path;
    if (t.matrix >= CSR_MATRICES)
        return err_fail(-EBADMSG,
                        "%s: section 4 (coefficients): term %zu is for matrix %" PRIu32 ", expected 0 (A) or 1 (B)",
                        path, i, t.matrix);
    if (t.row >= z->domain_size)
        return err_fail(-EBADMSG,
                        "%s: section 4 (coefficients): term %zu is in row %" PRIu32
                        ", expected less than domainSize = %" PRIu32,
                        path, i, t.row, z->domain_size);
    return err_fail(-EBADMSG,
                    "%s: section 4 (coefficients): term %zu is for signal %" PRIu32
                    ", expected less than nVars = %" PRIu32,
                    path, i, t.signal, z->n_vars);
}

/* First pass: check every index, count the terms of each row into row[r + 1]. */
static int count_terms(struct csr *csr, const struct zkey *z)
{
    uint64_t *row[CSR_MATRICES] = {csr->matrix[CSR_A].row, csr->matrix[CSR_B].row};
    uint32_t last_row = 0;
    for (size_t i = 0; i < z->n_coefs; i++) {
        struct term t = term_load(z->coefs + i * ZKEY_COEF_BYTES);
        if (t.matrix >= CSR_MATRICES || t.row >= z->domain_size || t.signal >= z->n_vars)
            return bad_term(z, i);
        row[t.matrix][(size_t)t.row + 1]++;
        last_row = t.row > last_row ? t.row : last_row;
    }
    csr->rows = z->n_coefs ? (size_t)last_row + 1 : 0;
    return 0;
}

/* Counts become offsets: afterwards row[r + 1] is where row r begins, and the second pass moves it to where r ends. */
static int open_terms(struct csr_matrix *m, size_t rows)
{
    uint64_t sum = 0;
    for (size_t r = 0; r < rows; r++) {
        uint64_t n = m->row[r + 1];
        m->row[r + 1] = sum;
        sum += n;
    }
    m->n_terms = sum;
    m->col = malloc((sum ? sum : 1) * sizeof *m->col);
    m->coef = malloc((sum ? sum : 1) * sizeof *m->coef);
    return m->col && m->coef ? 0 : err_fail(-ENOMEM, "no memory for a matrix of %" PRIu64 " terms", sum);
}

static int changed(const struct zkey *z)
{
    return err_fail(-EBADMSG, "%s: section 4 (coefficients): changed while it was read", z->map.path);
}

/* Second pass: place the terms. A value is compared with r only when it is new to the dictionary. */
static int fill_terms(struct csr *csr, struct coef_dict *dict, const struct zkey *z)
{
    enum { DROP_TERMS = 1 << 18 }; /* 11 MiB of the file between two drops */
    size_t dropped = 0;
    for (size_t i = 0; i < z->n_coefs; i++) {
        const uint8_t *p = z->coefs + i * ZKEY_COEF_BYTES;
        struct term t = term_load(p);
        struct fr value;
        memcpy(&value, p + 12, sizeof value);
        uint32_t index;
        int rc = coef_dict_put(dict, &index, &value);
        if (rc < 0)
            return rc;
        if (rc == 1 && !packed_is_below(&value, z->curve->fr->p))
            return err_fail(-EBADMSG,
                            "%s: section 4 (coefficients): the value of term %zu is not below the prime r of %s",
                            z->map.path, i, z->curve->title);
        /* again, though the first pass did: another process may write to the file while it is mapped */
        if (t.matrix >= CSR_MATRICES || t.row >= csr->rows || t.signal >= csr->cols)
            return changed(z);
        struct csr_matrix *m = &csr->matrix[t.matrix];
        uint64_t to = m->row[(size_t)t.row + 1]++;
        if (to >= m->n_terms)
            return changed(z);
        m->col[to] = t.signal;
        m->coef[to] = index;
        if (i - dropped == DROP_TERMS) {
            file_map_drop(&z->map, z->coefs + dropped * ZKEY_COEF_BYTES, DROP_TERMS * ZKEY_COEF_BYTES);
            dropped = i;
        }
    }
    file_map_drop(&z->map, z->coefs + dropped * ZKEY_COEF_BYTES, (z->n_coefs - dropped) * ZKEY_COEF_BYTES);
    return 0;
}

static int build(struct csr *csr, struct coef_dict *dict, const struct zkey *z)
{
    for (int m = 0; m < CSR_MATRICES; m++) {
        csr->matrix[m].row = calloc((size_t)z->domain_size + 1, sizeof *csr->matrix[m].row);
        if (!csr->matrix[m].row)
            return err_fail(-ENOMEM, "%s: no memory for the rows of its matrices", z->map.path);
    }
    file_map_sequential(&z->map, z->coefs, z->n_coefs * ZKEY_COEF_BYTES);
    int rc = count_terms(csr, z);
    for (int m = 0; rc == 0 && m < CSR_MATRICES; m++)
        rc = open_terms(&csr->matrix[m], csr->rows);
    return rc ? rc : fill_terms(csr, dict, z);
}

int csr_open(struct csr **csr_p, const struct zkey *z)
{
    struct csr *csr = calloc(1, sizeof *csr);
    if (!csr)
        return err_fail(-ENOMEM, "%s: no memory for its matrices", z->map.path);
    csr->curve = z->curve;
    csr->cols = z->n_vars;
    struct coef_dict dict;
    int rc = coef_dict_open(&dict);
    if (rc == 0)
        rc = build(csr, &dict, z);
    if (rc) {
        coef_dict_close(&dict);
        csr_close(csr);
        return rc;
    }
    csr->dict = dict.values; /* handed over */
    csr->n_dict = dict.n;
    dict.values = NULL;
    coef_dict_close(&dict);
    *csr_p = csr;
    return 0;
}

void csr_close(struct csr *csr)
{
    if (!csr)
        return;
    for (int m = 0; m < CSR_MATRICES; m++) {
        free(csr->matrix[m].row);
        free(csr->matrix[m].col);
        free(csr->matrix[m].coef);
    }
    free(csr->dict);
    free(csr);
}

struct matrix_args csr_matrix_args(const struct csr *csr, enum csr_which which, bool resident)
{
    const struct csr_matrix *m = &csr->matrix[which];
    return (struct matrix_args){.curve = csr->curve,
                                .rows = csr->rows,
                                .cols = csr->cols,
                                .row = m->row,
                                .col = m->col,
                                .coef = m->coef,
                                .dict = csr->dict,
                                .n_dict = csr->n_dict,
                                .resident = resident};
}
