/* Sparse matrices: compressed rows on the device. A matrix that is not resident is copied for each product. */
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

struct matrix {
    struct gpu_device *device;
    struct matrix_args args;
    uint8_t *kind; /* of each coefficient: 0 general, 1 for +1, 2 for -1 */
    uint32_t *long_rows;
    size_t n_long, bytes;
    void *memory; /* resident */
};

/* Device copy, in this order, each part rounded to 256 bytes */
static size_t matrix_bytes(const struct matrix *m)
{
    const struct matrix_args *a = &m->args;
    size_t entries = a->rows ? a->row[a->rows] : 0;
    return gpu_round((a->rows + 1) * sizeof *a->row) + 2 * gpu_round(entries * sizeof *a->col) +
           gpu_round(a->n_dict * sizeof *a->dict) + gpu_round(a->n_dict) + gpu_round(m->n_long * sizeof *m->long_rows);
}

static int matrix_upload(struct gpu_device *d, cudaStream_t on, const struct matrix *m, char *at, struct gpu_spmv *out)
{
    const struct matrix_args *a = &m->args;
    size_t entries = a->rows ? a->row[a->rows] : 0;
    struct part {
        const void *host;
        size_t bytes;
        const void *device;
    } part[6] = {{a->row, (a->rows + 1) * sizeof *a->row, NULL},
                 {a->col, entries * sizeof *a->col, NULL},
                 {a->coef, entries * sizeof *a->coef, NULL},
                 {a->dict, a->n_dict * sizeof *a->dict, NULL},
                 {m->kind, a->n_dict, NULL},
                 {m->long_rows, m->n_long * sizeof *m->long_rows, NULL}};
    for (int i = 0; i < 6; i++) {
        void *to = gpu_carve(&at, part[i].bytes);
        int rc = on ? gpu_upload(d, on, to, part[i].host, part[i].bytes) : 0;
        if (rc)
            return rc;
        part[i].device = to;
    }
    *out = (struct gpu_spmv){.row = part[0].device,
                             .col = part[1].device,
                             .coef = part[2].device,
                             .dict = part[3].device,
                             .dict_kind = part[4].device,
                             .long_rows = part[5].device,
                             .n_long = m->n_long,
                             .rows = a->rows};
    return 0;
}

/* +1 and -1 in the dictionary's form, R^2 and -R^2 */
static int dict_kinds(struct matrix *m)
{
    const struct matrix_args *a = &m->args;
    struct fr zero, plus, minus;
    memcpy(plus.l, a->curve->fr->r2, sizeof plus.l);
    memset(&zero, 0, sizeof zero);
    a->curve->fr_sub(&minus, &zero, &plus);
    m->kind = calloc(a->n_dict + 1, 1);
    if (!m->kind)
        return err_fail(-ENOMEM, "matrix: out of memory");
    for (size_t i = 0; i < a->n_dict; i++)
        m->kind[i] = memcmp(&a->dict[i], &plus, sizeof plus) == 0     ? 1
                     : memcmp(&a->dict[i], &minus, sizeof minus) == 0 ? 2
                                                                      : 0;
    return 0;
}

static int rows_check(struct matrix *m)
{
    const struct matrix_args *a = &m->args;
    if (a->rows >> 32 || a->cols >> 32 || (a->rows && a->row[0]))
        return err_fail(-EINVAL, "matrix: %zu rows and %zu columns, first offset %zu: need less than 2^32 and 0",
                        a->rows, a->cols, a->rows ? (size_t)a->row[0] : 0);
    for (size_t i = 0; i < a->rows; i++) {
        if (a->row[i + 1] < a->row[i])
            return err_fail(-EINVAL, "matrix: row %zu ends before it begins", i);
        m->n_long += a->row[i + 1] - a->row[i] > GPU_SPMV_LONG;
    }
    for (uint64_t e = 0; e < (a->rows ? a->row[a->rows] : 0); e++)
        if (a->col[e] >= a->cols || a->coef[e] >= a->n_dict)
            return err_fail(-EINVAL, "matrix: entry %zu is column %u of %zu, coefficient %u of %zu", (size_t)e,
                            a->col[e], a->cols, a->coef[e], a->n_dict);
    return 0;
}

static int long_rows_list(struct matrix *m)
{
    const struct matrix_args *a = &m->args;
    m->long_rows = malloc((m->n_long + 1) * sizeof *m->long_rows);
    if (!m->long_rows)
        return err_fail(-ENOMEM, "matrix: out of memory");
    size_t k = 0;
    for (size_t i = 0; i < a->rows; i++)
        if (a->row[i + 1] - a->row[i] > GPU_SPMV_LONG)
            m->long_rows[k++] = (uint32_t)i;
    return 0;
}

static int matrix_fill(struct matrix *m)
{
    struct gpu_device *d = m->device;
    struct gpu_spmv ignored;
    struct stream *s;
    int rc = gpu_take(d, &m->memory, m->bytes, "a matrix");
    if (rc)
        return rc;
    rc = gpu_stream_open(&d->base, &s, NULL);
    if (rc)
        return rc;
    lane_note(s, "copy of a matrix of %zu rows", m->args.rows);
    rc = lane_fail(s, matrix_upload(d, compute_of(s), m, m->memory, &ignored), "copying a matrix of %zu bytes",
                   m->bytes);
    int end = gpu_stream_sync(s);
    gpu_stream_close(s);
    return rc ? rc : end;
}

int gpu_matrix_open(struct device *dev, struct matrix **out, const struct matrix_args *args)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    int rc = gpu_fail(d, (int)cudaSetDevice((int)d->ordinal), "selecting the GPU");
    if (rc)
        return rc;
    struct matrix *m = calloc(1, sizeof *m);
    if (!m)
        return err_fail(-ENOMEM, "matrix: out of memory");
    m->device = d;
    m->args = *args;
    rc = rows_check(m);
    if (!rc)
        rc = dict_kinds(m);
    if (!rc)
        rc = long_rows_list(m);
    m->bytes = rc ? 0 : matrix_bytes(m);
    if (!rc && args->resident)
        rc = matrix_fill(m);
    if (rc) {
        gpu_matrix_close(m);
        return rc;
    }
    *out = m;
    return 0;
}

void gpu_matrix_close(struct matrix *m)
{
    if (!m)
        return;
    gpu_give(m->device, m->memory, m->bytes);
    free(m->kind);
    free(m->long_rows);
    free(m);
}

size_t gpu_spmv_work(const struct matrix *m)
{
    return m->memory ? 0 : m->bytes;
}

int gpu_spmv(struct stream *s, const struct spmv_args *args)
{
    const struct matrix *m = args->matrix;
    if (args->w.bytes / 32 < m->args.cols || args->out.bytes / 32 < args->out_rows || args->out_rows < m->args.rows)
        return err_fail(-EINVAL,
                        "spmv: %zu x %zu matrix, but witness of %zu and result of %zu scalars (%zu rows asked)",
                        m->args.rows, m->args.cols, args->w.bytes / 32, args->out.bytes / 32, args->out_rows);
    int rc = lane_enter(s);
    if (rc || args->out_rows == 0)
        return rc;
    void *memory = m->memory;
    if (!memory)
        rc = lane_work(s, &memory, m->bytes, "a streamed matrix");
    if (rc)
        return rc;
    struct gpu_spmv k;
    lane_begin(s, "spmv");
    rc = lane_fail(s, matrix_upload(gpu_of(s), m->memory ? NULL : compute_of(s), m, memory, &k),
                   "copying a matrix of %zu bytes", m->bytes);
    if (!rc) {
        k.w = (const void *)(uintptr_t)args->w.addr;
        k.out = (void *)(uintptr_t)args->out.addr;
        k.out_rows = args->out_rows;
        rc = lane_fail(s, gpu_field_of(m->args.curve)->spmv(compute_of(s), &k), "spmv of %zu rows", m->args.rows);
    }
    lane_end(s, 0);
    return rc;
}
