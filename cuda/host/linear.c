/* Matrices, sparse products and pointwise operations: cut into rows and chunks for the pool. */
#include <stdlib.h>
#include <string.h>

#include "cuda/host/host.h"

enum { ROWS = 1024, CHUNK = 4096 };

struct matrix_check {
    const struct matrix_args *m;
    const struct fr_kernels *k;
    uint8_t *code;
    _Atomic(size_t) bad; /* first bad row + 1, or 0 */
};

static bool row_good(const struct matrix_args *m, size_t row)
{
    if (m->row[row + 1] < m->row[row] || m->row[row + 1] > m->row[m->rows])
        return false;
    for (uint64_t e = m->row[row]; e < m->row[row + 1]; e++) {
        if (m->col[e] >= m->cols || m->coef[e] >= m->n_dict)
            return false;
    }
    return true;
}

static void check_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    struct matrix_check *c = arg;
    size_t end = (task + 1) * ROWS < c->m->rows ? (task + 1) * ROWS : c->m->rows;
    for (size_t row = task * ROWS; row < end; row++) {
        if (!row_good(c->m, row)) {
            c->bad = row + 1;
            return;
        }
    }
}

static void code_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    struct matrix_check *c = arg;
    size_t end = (task + 1) * ROWS < c->m->n_dict ? (task + 1) * ROWS : c->m->n_dict;
    for (size_t i = task * ROWS; i < end; i++)
        c->code[i] = c->k->spmv_code(&c->m->dict[i]);
}

/* Own copies, one allocation: row | dict | col | coef, widest first. */
static int matrix_copy(struct matrix *m)
{
    struct matrix_args *a = &m->args;
    size_t nnz = a->row[a->rows];
    size_t row_bytes = (a->rows + 1) * sizeof *a->row, dict_bytes = a->n_dict * sizeof *a->dict;
    size_t index_bytes = nnz * sizeof *a->col;
    unsigned char *p = memory_alloc(row_bytes + dict_bytes + 2 * index_bytes);
    if (!p)
        return err_fail(-ENOMEM, "no memory for a matrix of %zu rows and %zu entries", a->rows, nnz);
    m->copy = p;
    a->row = memcpy(p, a->row, row_bytes);
    if (nnz == 0)
        return 0;
    a->dict = memcpy(p + row_bytes, a->dict, dict_bytes);
    a->col = memcpy(p + row_bytes + dict_bytes, a->col, index_bytes);
    a->coef = memcpy(p + row_bytes + dict_bytes + index_bytes, a->coef, index_bytes);
    return 0;
}

int host_matrix_open(struct device *base, struct matrix **out, const struct matrix_args *args)
{
    struct host_device *d = (struct host_device *)base;
    struct matrix *m = calloc(1, sizeof *m);
    uint8_t *code = malloc(args->n_dict ? args->n_dict : 1);
    int rc = 0;
    if (!m || !code) {
        rc = err_fail(-ENOMEM, "no memory for a matrix with %zu coefficients", args->n_dict);
        goto free_both;
    }
    struct matrix_check c = {.m = args, .k = &d->kernels->fr[args->curve->id], .code = code};
    threads_run(d->threads, check_task, &c, (args->rows + ROWS - 1) / ROWS);
    if (c.bad) {
        rc = err_fail(-EINVAL, "matrix: row %zu has offsets, a column or a coefficient out of range", c.bad - 1);
        goto free_both;
    }
    threads_run(d->threads, code_task, &c, (args->n_dict + ROWS - 1) / ROWS);
    m->device = d;
    m->args = *args;
    m->code = code;
    if (args->resident && (rc = matrix_copy(m)) != 0)
        goto free_both;
    *out = m;
    return 0;
free_both:
    free(code);
    free(m);
    return rc;
}

void host_matrix_close(struct matrix *m)
{
    if (!m)
        return;
    memory_free(m->copy);
    free(m->code);
    free(m);
}

struct spmv_job {
    const struct fr_kernels *k;
    const struct matrix *m;
    struct fr *out;
    const struct scalar *w;
    size_t rows, out_rows;
};

static void spmv_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    const struct spmv_job *j = arg;
    size_t first = task * ROWS, end = first + ROWS < j->out_rows ? first + ROWS : j->out_rows;
    size_t real = end < j->rows ? end : j->rows;
    if (first < real)
        j->k->spmv(j->out, j->w, &j->m->args, j->m->code, first, real);
    if (real < first)
        real = first;
    memset(j->out + real, 0, (end - real) * sizeof *j->out);
}

int host_spmv(struct host_device *d, const struct spmv_args *a)
{
    const struct matrix *m = a->matrix;
    if (a->out_rows < m->args.rows)
        return err_fail(-EINVAL, "spmv: %zu rows of output for a matrix of %zu", a->out_rows, m->args.rows);
    if (a->w.bytes / sizeof(struct scalar) < m->args.cols || a->out.bytes / sizeof(struct fr) < a->out_rows)
        return err_fail(-EINVAL, "spmv: %zu bytes of witness or %zu of output are too few for %zu columns, %zu rows",
                        a->w.bytes, a->out.bytes, m->args.cols, a->out_rows);
    struct spmv_job j = {.k = &d->kernels->fr[m->args.curve->id],
                         .m = m,
                         .out = dbuf_ptr(a->out),
                         .w = dbuf_ptr(a->w),
                         .rows = m->args.rows,
                         .out_rows = a->out_rows};
    threads_run(d->threads, spmv_task, &j, (a->out_rows + ROWS - 1) / ROWS);
    return 0;
}

struct pointwise_job {
    const struct fr_kernels *k;
    const struct pointwise_args *a;
};

static void pointwise_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    const struct pointwise_job *j = arg;
    const struct pointwise_args *a = j->a;
    size_t at = task * CHUNK, n = a->n - at < CHUNK ? a->n - at : CHUNK;
    const struct fr *b = dbuf_ptr(a->b), *c = dbuf_ptr(a->c);
    j->k->pointwise(a->op, a->plain, (struct fr *)dbuf_ptr(a->out) + at, (const struct fr *)dbuf_ptr(a->a) + at,
                    b ? b + at : NULL, c ? c + at : NULL, &a->k, n);
}

int host_pointwise(struct host_device *d, const struct pointwise_args *a)
{
    size_t need = a->n * sizeof(struct fr);
    bool use_b = a->op != POINTWISE_SCALE, use_c = a->op == POINTWISE_MUL_SUB;
    if (a->n > SIZE_MAX / sizeof(struct fr) || a->out.bytes < need || a->a.bytes < need ||
        (use_b && a->b.bytes < need) || (use_c && a->c.bytes < need))
        return err_fail(-EINVAL, "pointwise: a buffer is shorter than %zu scalars", a->n);
    struct pointwise_job j = {.k = &d->kernels->fr[a->curve->id], .a = a};
    threads_run(d->threads, pointwise_task, &j, (a->n + CHUNK - 1) / CHUNK);
    return 0;
}
