/* Claim: spmv and pointwise of the host device equal one field operation at a time, for every instruction set, thread
 * count, kind of coefficient and row; bad matrices are refused. */
#include "host_test.h"

struct sparse {
    struct matrix_args args;
    uint64_t *row;
    uint32_t *col, *coef;
    struct fr *dict;
    struct fr *value; /* Montgomery form of the dictionary's coefficients */
};

/* 0, 1, -1, +-2^k, around 2^63 and random ones */
static struct fr coefficient(const struct curve *c, size_t i)
{
    struct fr v, zero = {{0}};
    if (i % 4 == 3) {
        struct scalar s = scalar_random(c);
        c->fr_from_scalar(&v, &s);
        return v;
    }
    c->fr_from_u64(&v, i % 11 == 10 ? 0 : (uint64_t)1 << (i < 4 ? 0 : rng() % 64));
    if (i % 4 == 1)
        c->fr_sub(&v, &zero, &v);
    return v;
}

static struct sparse sparse_make(const struct curve *c, size_t rows, size_t cols, size_t n_dict)
{
    struct sparse m;
    size_t most = rows * 8 + 3000, nnz = 0;
    m.row = calloc(rows + 1, sizeof *m.row);
    m.col = calloc(most, sizeof *m.col);
    m.coef = calloc(most, sizeof *m.coef);
    m.dict = calloc(n_dict, sizeof *m.dict);
    m.value = calloc(n_dict, sizeof *m.value);
    struct fr r2;
    memcpy(r2.l, c->fr->r2, sizeof r2.l);
    for (size_t i = 0; i < n_dict; i++) {
        m.value[i] = coefficient(c, i);
        c->fr_mul(&m.dict[i], &m.value[i], &r2); /* v R -> v R^2 */
    }
    for (size_t i = 0; i < rows; i++) {
        size_t len = i == rows / 2 ? 2500 : rng() % 8; /* one long row, some empty */
        for (size_t j = 0; j < len && cols > 0; j++, nnz++) {
            m.col[nnz] = (uint32_t)(rng() % cols);
            m.coef[nnz] = (uint32_t)(rng() % n_dict);
        }
        m.row[i + 1] = nnz;
    }
    m.args = (struct matrix_args){.curve = c,
                                  .rows = rows,
                                  .cols = cols,
                                  .row = m.row,
                                  .col = m.col,
                                  .coef = m.coef,
                                  .dict = m.dict,
                                  .n_dict = n_dict};
    return m;
}

static void sparse_free(struct sparse *m)
{
    free(m->row);
    free(m->col);
    free(m->coef);
    free(m->dict);
    free(m->value);
}

static struct fr row_times(const struct sparse *m, size_t row, const struct scalar *w)
{
    const struct curve *c = m->args.curve;
    struct fr sum = {{0}}, t;
    for (uint64_t e = m->row[row]; e < m->row[row + 1]; e++) {
        c->fr_from_scalar(&t, &w[m->col[e]]);
        c->fr_mul(&t, &t, &m->value[m->coef[e]]);
        c->fr_add(&sum, &sum, &t);
    }
    return sum;
}

static void product(struct device *d, const struct curve *c, size_t rows, enum scalar_kind kind)
{
    size_t cols = 50, out_rows = rows + rng() % 1500;
    struct sparse m = sparse_make(c, rows, cols, 23);
    struct matrix *handle;
    m.args.resident = rng() & 1;
    assert_int_equal(d->ops->matrix_open(d, &handle, &m.args), 0);
    struct scalar w[50];
    struct fr *out = malloc((out_rows + 1) * sizeof *out);
    struct stream *s = stream_of(d);
    for (int again = 0; again < 2; again++) {
        scalars_fill(w, cols, c, kind);
        memset(out, 0xa5, (out_rows + 1) * sizeof *out);
        struct spmv_args a = {.matrix = handle,
                              .w = device_wrap(w, sizeof w),
                              .out = device_wrap(out, out_rows * sizeof *out),
                              .out_rows = out_rows};
        assert_int_equal(d->ops->spmv(s, &a), 0);
        for (size_t i = 0; i < out_rows; i++) {
            struct fr want = {{0}};
            if (i < rows)
                want = row_times(&m, i, w);
            assert_memory_equal(&out[i], &want, sizeof want);
        }
        assert_int_equal(*(unsigned char *)&out[out_rows], 0xa5);
    }
    d->ops->stream_close(s);
    d->ops->matrix_close(handle);
    free(out);
    sparse_free(&m);
}

static void products(void **state)
{
    (void)state;
    static const size_t rows[] = {0, 1, 2, 3, 1023, 1024, 1025, 2500};
    for (int v = 0; v < ISA_NAMES * 3; v++) {
        struct device *d = device_of(isas[v / 3], (unsigned)(1 + v % 3 * 2));
        for (int i = 0; d && i < 2 * 8; i++)
            product(d, curve_get((enum curve_id)(i % 2)), rows[i / 2], (enum scalar_kind)((i + v) % SCALAR_KINDS));
        if (d)
            d->ops->close(d);
    }
}

static void refuse(struct device *d, const struct matrix_args *a)
{
    struct matrix *m = NULL;
    assert_int_equal(d->ops->matrix_open(d, &m, a), -EINVAL);
    assert_null(m);
}

static void bad_matrices(void **state)
{
    (void)state;
    struct device *d = device_of("portable", 2);
    struct sparse m = sparse_make(curve_get(CURVE_BN254), 2000, 50, 23);
    m.col[m.row[1500]] = 50;
    refuse(d, &m.args);
    m.col[m.row[1500]] = 49;
    m.coef[m.row[1999] - 1] = 23;
    refuse(d, &m.args);
    m.coef[m.row[1999] - 1] = 22;
    m.row[7] = m.row[2000] + 1;
    refuse(d, &m.args);
    sparse_free(&m);
    d->ops->close(d);
}

static void fr_of(const struct curve *c, struct fr *x, size_t n, enum scalar_kind kind)
{
    struct scalar *s = malloc(n * sizeof *s + 1);
    scalars_fill(s, n, c, kind);
    memcpy(x, s, n * sizeof *s);
    free(s);
}

static struct fr one_op(const struct curve *c, enum pointwise_op op, const struct fr *a, const struct fr *b,
                        const struct fr *z, const struct fr *k)
{
    struct fr r;
    switch (op) {
    case POINTWISE_MUL:
        c->fr_mul(&r, a, b);
        break;
    case POINTWISE_MUL_SUB:
        c->fr_mul(&r, a, b);
        c->fr_sub(&r, &r, z);
        break;
    case POINTWISE_SCALE:
        c->fr_mul(&r, a, k);
        break;
    default:
        c->fr_sub(&r, a, b);
    }
    return r;
}

/* where: 0 a buffer of its own, 1..3 in place of a, b, c */
static void elementwise(struct device *d, const struct curve *c, enum pointwise_op op, bool plain, size_t n, int where)
{
    struct fr *x[4], *want = malloc((n + 1) * sizeof *want), k;
    for (int i = 0; i < 4; i++) {
        x[i] = malloc((n + 1) * sizeof *x[i]);
        fr_of(c, x[i], n, (enum scalar_kind)(rng() % SCALAR_KINDS));
    }
    fr_of(c, &k, 1, SCALARS_RANDOM);
    for (size_t i = 0; i < n; i++) {
        want[i] = one_op(c, op, &x[1][i], &x[2][i], &x[3][i], &k);
        struct scalar s;
        c->fr_to_scalar(&s, &want[i]);
        if (plain)
            memcpy(&want[i], &s, sizeof s);
    }
    struct pointwise_args a = {.curve = c, .op = op, .k = k, .n = n, .plain = plain};
    size_t bytes = n * sizeof **x;
    a.out = device_wrap(x[where], bytes);
    a.a = device_wrap(x[1], bytes);
    if (op != POINTWISE_SCALE)
        a.b = device_wrap(x[2], bytes);
    if (op == POINTWISE_MUL_SUB)
        a.c = device_wrap(x[3], bytes);
    struct stream *s = stream_of(d);
    assert_int_equal(d->ops->pointwise(s, &a), 0);
    if (n > 0)
        assert_memory_equal(x[where], want, bytes);
    d->ops->stream_close(s);
    for (int i = 0; i < 4; i++)
        free(x[i]);
    free(want);
}

static void elementwise_all(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 63, 4095, 4096, 4097, 9001};
    for (int v = 0; v < ISA_NAMES * 2; v++) {
        struct device *d = device_of(isas[v / 2], (unsigned)(1 + v % 2 * 2));
        for (int i = 0; d && i < 4 * 4 * 11; i++)
            elementwise(d, curve_get((enum curve_id)(rng() % 2)), (enum pointwise_op)(i % 4), rng() & 1, sizes[i / 16],
                        i / 4 % 4);
        if (d)
            d->ops->close(d);
    }
}

static void short_buffers(void **state)
{
    (void)state;
    struct device *d = device_of("portable", 1);
    struct fr x[4] = {{{0}}};
    struct pointwise_args a = {.curve = curve_get(CURVE_BN254), .op = POINTWISE_MUL_SUB, .n = 4};
    a.out = a.a = a.b = device_wrap(x, sizeof x);
    a.c = device_wrap(x, sizeof x - 1);
    struct stream *s = stream_of(d);
    assert_int_equal(d->ops->pointwise(s, &a), -EINVAL);
    d->ops->stream_close(s);
    d->ops->close(d);
}

int main(void)
{
    rng_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(bad_matrices),
        cmocka_unit_test(elementwise_all),
        cmocka_unit_test(short_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
