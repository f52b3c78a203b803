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

/* The section in blocks:  struct block b = {0};  while ((rc = block_next(z, &b)) > 0) ...b.terms...   1: there is one,
 * 0: it was the last, or an error. The block before ends with the call; block_end ends one that is left early. */
struct block {
    const uint8_t *terms; /* NULL: none is taken */
    size_t first, n;
};

static void block_end(const struct zkey *z, struct block *b)
{
    if (b->terms)
        file_map_done(&z->map, zkey_block_offset(z, b->first / ZKEY_BLOCK_TERMS));
    b->terms = NULL;
}

static int block_next(const struct zkey *z, struct block *b)
{
    block_end(z, b);
    size_t first = b->first + b->n;
    if (first >= z->n_coefs)
        return 0;
    b->first = first;
    b->n = zkey_block_terms(z, first / ZKEY_BLOCK_TERMS);
    int rc = file_map_take(&z->map, &b->terms, zkey_block_offset(z, first / ZKEY_BLOCK_TERMS),
                           (uint64_t)b->n * ZKEY_COEF_BYTES);
    return rc ? rc : 1;
}

static int bad_term(const struct zkey *z, size_t i, struct term t)
{
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

/* Number of the term's coefficient. A value is compared with r only when it is new to the dictionary. */
static inline int number_value(struct coef_dict *dict, uint32_t *index, const struct zkey *z, const uint8_t *term,
                               size_t i)
{
    struct fr value;
    memcpy(&value, term + 12, sizeof value);
    int rc = coef_dict_put(dict, index, &value);
    if (rc == 1 && !packed_is_below(&value, z->curve->fr->p))
        return err_fail(-EBADMSG, "%s: section 4 (coefficients): the value of term %zu is not below the prime r of %s",
                        z->map.path, i, z->curve->title);
    return rc < 0 ? rc : 0;
}

static inline bool in_range(const struct zkey *z, struct term t)
{
    return t.matrix < CSR_MATRICES && t.row < z->domain_size && t.signal < z->n_vars;
}

/* Where the next term of each matrix goes. */
struct append {
    uint64_t *row[CSR_MATRICES];
    uint32_t *col[CSR_MATRICES], *coef[CSR_MATRICES];
    size_t n[CSR_MATRICES];
    uint32_t last[CSR_MATRICES];
};

static int append_block(struct append *to, struct coef_dict *dict, const struct zkey *z, const struct block *b)
{
    struct append a = *to; /* in registers */
    const uint8_t *p = b->terms;
    for (size_t i = b->first; i < b->first + b->n; i++, p += ZKEY_COEF_BYTES) {
        struct term t = term_load(p);
        if (!in_range(z, t))
            return bad_term(z, i, t);
        uint32_t m = t.matrix, index;
        if (t.row < a.last[m])
            return -EAGAIN;
        a.last[m] = t.row;
        int rc = number_value(dict, &index, z, p, i);
        if (rc)
            return rc;
        a.row[m][(size_t)t.row + 1]++;
        a.col[m][a.n[m]] = t.signal;
        a.coef[m][a.n[m]++] = index;
    }
    *to = a;
    return 0;
}

/* One pass, for terms that come row by row in each matrix, as all known tools write them: they are appended, and
 * row[r + 1] counts those of row r. Two passes are bound by memory and take half as long again (14 to 18 against 11.5
 * ns a term). -EAGAIN, without a sentence: they do not come in this order. */
static int append_terms(struct csr *csr, struct coef_dict *dict, const struct zkey *z)
{
    struct append a = {0};
    for (int m = 0; m < CSR_MATRICES; m++) {
        a.row[m] = csr->matrix[m].row;
        a.col[m] = csr->matrix[m].col;
        a.coef[m] = csr->matrix[m].coef;
    }
    struct block b = {0};
    int rc;
    while ((rc = block_next(z, &b)) > 0) {
        rc = append_block(&a, dict, z, &b);
        if (rc) {
            block_end(z, &b);
            return rc;
        }
    }
    csr->matrix[CSR_A].n_terms = a.n[CSR_A];
    csr->matrix[CSR_B].n_terms = a.n[CSR_B];
    csr->rows = z->n_coefs ? (size_t)(a.last[CSR_A] > a.last[CSR_B] ? a.last[CSR_A] : a.last[CSR_B]) + 1 : 0;
    return rc;
}

/* Room for n terms; when it is more than needed, the rest is never touched, and given back by trim. */
static int reserve(struct csr_matrix *m, size_t n)
{
    free(m->col);
    free(m->coef);
    m->col = malloc((n ? n : 1) * sizeof *m->col);
    m->coef = malloc((n ? n : 1) * sizeof *m->coef);
    return m->col && m->coef ? 0 : err_fail(-ENOMEM, "no memory for a matrix of %zu terms", n);
}

static void trim(struct csr_matrix *m, size_t rows)
{
    size_t n = m->n_terms ? m->n_terms : 1;
    uint32_t *col = realloc(m->col, n * sizeof *col), *coef = realloc(m->coef, n * sizeof *coef);
    uint64_t *row = realloc(m->row, (rows + 1) * sizeof *row);
    m->col = col ? col : m->col;
    m->coef = coef ? coef : m->coef;
    m->row = row ? row : m->row;
}

static int build_in_order(struct csr *csr, struct coef_dict *dict, const struct zkey *z)
{
    int rc = 0;
    for (int m = 0; rc == 0 && m < CSR_MATRICES; m++)
        rc = reserve(&csr->matrix[m], z->n_coefs);
    if (rc)
        return -EAGAIN; /* two passes reserve no more than they need */
    rc = append_terms(csr, dict, z);
    for (int m = 0; rc == 0 && m < CSR_MATRICES; m++)
        for (size_t r = 0; r < csr->rows; r++)
            csr->matrix[m].row[r + 1] += csr->matrix[m].row[r];
    return rc;
}

/* Any order, first pass: count the terms of row r in row[r + 2], so that after summing up, row[r + 1] is where row r
 * begins. Needs one more element than there are rows. */
static int count_terms(struct csr *csr, const struct zkey *z)
{
    uint64_t *row[CSR_MATRICES] = {csr->matrix[CSR_A].row, csr->matrix[CSR_B].row};
    uint32_t last_row = 0;
    struct block b = {0};
    int rc;
    while ((rc = block_next(z, &b)) > 0)
        for (size_t i = 0; i < b.n; i++) {
            struct term t = term_load(b.terms + i * ZKEY_COEF_BYTES);
            if (!in_range(z, t)) {
                block_end(z, &b);
                return bad_term(z, b.first + i, t);
            }
            row[t.matrix][(size_t)t.row + 2]++;
            last_row = t.row > last_row ? t.row : last_row;
        }
    csr->rows = z->n_coefs ? (size_t)last_row + 1 : 0;
    return rc;
}

static int changed(const struct zkey *z)
{
    return err_fail(-EBADMSG, "%s: section 4 (coefficients): changed while it was read", z->map.path);
}

static int place_block(struct csr *csr, struct coef_dict *dict, const struct zkey *z, const struct block *b)
{
    const uint8_t *p = b->terms;
    for (size_t i = b->first; i < b->first + b->n; i++, p += ZKEY_COEF_BYTES) {
        struct term t = term_load(p);
        /* again, though the first pass did: the file may have been read twice, and written to in between */
        if (!in_range(z, t) || t.row >= csr->rows)
            return changed(z);
        uint32_t index;
        int rc = number_value(dict, &index, z, p, i);
        if (rc)
            return rc;
        struct csr_matrix *m = &csr->matrix[t.matrix];
        uint64_t to = m->row[(size_t)t.row + 1]++;
        if (to >= m->n_terms)
            return changed(z);
        m->col[to] = t.signal;
        m->coef[to] = index;
    }
    return 0;
}

/* Second pass: place the terms; row[r + 1] moves from where row r begins to where it ends. */
static int place_terms(struct csr *csr, struct coef_dict *dict, const struct zkey *z)
{
    struct block b = {0};
    int rc;
    while ((rc = block_next(z, &b)) > 0) {
        rc = place_block(csr, dict, z, &b);
        if (rc)
            break;
    }
    block_end(z, &b);
    return rc;
}

static int build_any_order(struct csr *csr, struct coef_dict *dict, const struct zkey *z)
{
    for (int m = 0; m < CSR_MATRICES; m++)
        memset(csr->matrix[m].row, 0, ((size_t)z->domain_size + 2) * sizeof *csr->matrix[m].row);
    int rc = count_terms(csr, z);
    for (int m = 0; rc == 0 && m < CSR_MATRICES; m++) {
        uint64_t *row = csr->matrix[m].row;
        for (size_t r = 0; r < csr->rows; r++)
            row[r + 2] += row[r + 1];
        csr->matrix[m].n_terms = row[csr->rows + 1];
        rc = reserve(&csr->matrix[m], csr->matrix[m].n_terms);
    }
    return rc ? rc : place_terms(csr, dict, z);
}

static int build(struct csr *csr, struct coef_dict *dict, const struct zkey *z)
{
    for (int m = 0; m < CSR_MATRICES; m++) {
        csr->matrix[m].row = calloc((size_t)z->domain_size + 2, sizeof *csr->matrix[m].row);
        if (!csr->matrix[m].row)
            return err_fail(-ENOMEM, "%s: no memory for the rows of its matrices", z->map.path);
    }
    int rc = build_in_order(csr, dict, z);
    if (rc == -EAGAIN)
        rc = build_any_order(csr, dict, z);
    if (rc)
        return rc;
    for (int m = 0; m < CSR_MATRICES; m++)
        trim(&csr->matrix[m], csr->rows);
    return 0;
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
