#include "perf/bench/synth.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perf/err.h"

enum { DICT_POWERS = 32, DICT_FULL = 990, DICT = 2 + DICT_POWERS + DICT_FULL };
enum { LONG_EVERY = 4096, LONG_EXTRA = 120, NEAR = 4096, PIECE = 1 << 16 };

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static struct scalar number(uint64_t stream, uint64_t i)
{
    struct scalar s;
    for (uint64_t k = 0; k < 4; k++)
        s.l[k] = mix((stream << 56) + (i * 4 + k) * 0x9e3779b97f4a7c15u + 1);
    s.l[3] &= ((uint64_t)1 << 60) - 1; /* below both curves' orders */
    return s;
}

void *synth_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        err_fail(-ENOMEM, "no memory for %zu bytes", bytes);
        return NULL;
    }
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

void synth_memory_free(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

uint64_t synth_host_bytes(const struct shape *s, const struct curve *curve, bool rows, uint64_t points)
{
    uint64_t vars = s->inputs + s->aux, domain = (uint64_t)1 << s->log_domain;
    uint64_t largest = domain * curve->point_bytes[GROUP_G1],
             b2 = (s->inputs + s->dense_b) * curve->point_bytes[GROUP_G2];
    uint64_t matrices = (s->terms_a + s->terms_b) * 8 + 2 * (domain + 1) * 8;
    uint64_t inputs = SYNTH_WITNESSES * (vars + (rows ? 2 * (s->rows + s->inputs) : 0)) * 32;
    uint64_t scalars = (domain + 2 * vars + s->inputs + s->dense_b) * 32;
    return matrices + inputs + scalars + points + (points ? 0 : largest > b2 ? largest : b2) + ((uint64_t)1 << 28);
}

/* ---- matrices ---- */

/* Where matrix m's terms of row i begin: closed form, so that rows are filled in any order. */
struct lay {
    size_t rows, inputs, dense, terms; /* of constraint rows */
    bool lengthy;
    unsigned full_permille;
    uint64_t stream;
};

static struct lay lay_of(const struct synth *s, enum csr_which m)
{
    const struct shape *h = &s->shape;
    struct lay l = {.rows = h->rows,
                    .inputs = h->inputs,
                    .dense = m == CSR_A ? h->dense_a : h->dense_b,
                    .terms = m == CSR_A ? h->terms_a - h->inputs : h->terms_b,
                    .full_permille = h->full_coef_permille,
                    .stream = m == CSR_A ? 11 : 12};
    l.lengthy = l.terms > l.rows + l.rows / 2;
    return l;
}

static size_t lay_row(const struct lay *l, size_t i)
{
    size_t lengthy = l->lengthy ? (l->rows + LONG_EVERY - 1) / LONG_EVERY * LONG_EXTRA : 0;
    size_t before = l->lengthy ? (i + LONG_EVERY - 1) / LONG_EVERY * LONG_EXTRA : 0;
    return before + (size_t)((unsigned __int128)i * (l->terms - lengthy) / l->rows);
}

/* Variable of the first term of row i, without the inputs. */
static size_t lay_home(const struct lay *l, size_t i)
{
    return (size_t)((unsigned __int128)i * l->dense / l->rows);
}

static uint32_t lay_col(const struct lay *l, size_t i, size_t term, bool first)
{
    size_t home = lay_home(l, i);
    uint64_t x = mix(l->stream << 56 ^ term * 0x9e3779b97f4a7c15u);
    if (first)
        return (uint32_t)(l->inputs + home);
    if (x % 4 == 0)
        return 0;
    size_t near = home > NEAR ? home - NEAR : 0, span = l->dense - near < 2 * NEAR ? l->dense - near : 2 * NEAR;
    return (uint32_t)(l->inputs + near + (x >> 8) % span);
}

static uint32_t lay_coef(const struct lay *l, size_t term)
{
    uint64_t x = mix(~(l->stream << 56) ^ term * 0x9e3779b97f4a7c15u);
    if (x % 1000 < l->full_permille)
        return (uint32_t)(2 + DICT_POWERS + (x >> 20) % DICT_FULL);
    x >>= 10;
    return x % 8 < 5 ? 0 : x % 8 < 7 ? 1 : (uint32_t)(2 + (x >> 3) % DICT_POWERS);
}

static void dict_fill(const struct curve *cv, struct fr *dict)
{
    struct fr zero = {{0}}, x;
    for (unsigned i = 0; i < DICT; i++) {
        struct scalar v = {{i < 2 ? 1 : (uint64_t)1 << (i - 1)}};
        if (i >= 2 + DICT_POWERS)
            v = number(3, i);
        cv->fr_from_scalar(&x, &v);
        if (i == 1)
            cv->fr_sub(&x, &zero, &x);
        struct scalar again; /* Montgomery limbs taken as a number: the second factor R */
        memcpy(&again, &x, sizeof again);
        cv->fr_from_scalar(&dict[i], &again);
    }
}

static void fill_rows(void *arg, size_t task, unsigned slot)
{
    struct synth *s = arg;
    (void)slot;
    size_t from = task * PIECE, to = from + PIECE < s->rows ? from + PIECE : s->rows;
    for (unsigned m = 0; m < CSR_MATRICES; m++) {
        struct lay l = lay_of(s, (enum csr_which)m);
        struct csr_matrix *x = &s->csr.matrix[m];
        for (size_t i = from; i < to && i < l.rows; i++) {
            size_t begin = lay_row(&l, i), end = lay_row(&l, i + 1);
            x->row[i] = begin;
            for (size_t t = begin; t < end; t++) {
                x->col[t] = lay_col(&l, i, t, t == begin);
                x->coef[t] = lay_coef(&l, t);
            }
        }
        for (size_t i = from > l.rows ? from : l.rows; i < to; i++) { /* input rows: A alone */
            size_t k = i - l.rows;
            x->row[i] = l.terms + (m == CSR_A ? k : 0);
            if (m == CSR_A) {
                x->col[l.terms + k] = (uint32_t)k;
                x->coef[l.terms + k] = 0;
            }
        }
    }
}

static int matrices_make(struct synth *s)
{
    struct csr *c = &s->csr;
    *c = (struct csr){.curve = s->curve, .rows = s->rows, .cols = s->n_vars, .n_dict = DICT};
    c->dict = malloc(DICT * sizeof *c->dict);
    if (!c->dict)
        return err_fail(-ENOMEM, "no memory for coefficients");
    dict_fill(s->curve, c->dict);
    for (unsigned m = 0; m < CSR_MATRICES; m++) {
        struct csr_matrix *x = &c->matrix[m];
        x->n_terms = m == CSR_A ? s->shape.terms_a : s->shape.terms_b;
        x->row = synth_memory((s->rows + 1) * sizeof *x->row);
        x->col = synth_memory(x->n_terms * sizeof *x->col);
        x->coef = synth_memory(x->n_terms * sizeof *x->coef);
        if (!x->row || !x->col || !x->coef)
            return -ENOMEM;
        x->row[s->rows] = x->n_terms;
    }
    threads_run(s->threads, fill_rows, s, (s->rows + PIECE - 1) / PIECE);
    return 0;
}

static void matrices_free(struct synth *s)
{
    for (unsigned m = 0; m < CSR_MATRICES; m++) {
        struct csr_matrix *x = &s->csr.matrix[m];
        synth_memory_free(x->row, (s->rows + 1) * sizeof *x->row);
        synth_memory_free(x->col, x->n_terms * sizeof *x->col);
        synth_memory_free(x->coef, x->n_terms * sizeof *x->coef);
    }
    free(s->csr.dict);
}

/* ---- witnesses ---- */

struct witness_job {
    struct synth *s;
    unsigned k;
};

/* The last variables take the witnesses' corrections: variable n_vars - 1 - k is one in witness k, zero in others. */
static struct scalar witness_value(const struct synth *s, unsigned k, size_t i)
{
    const struct shape *h = &s->shape;
    if (i == 0)
        return (struct scalar){{1}};
    if (i >= s->n_vars - SYNTH_WITNESSES)
        return (struct scalar){{i == s->n_vars - 1 - k}};
    struct scalar v = number(20 + k, i);
    if (i < h->inputs)
        return v;
    size_t x = i - h->inputs;
    bool full = (unsigned __int128)(x + 1) * h->full / h->aux > (unsigned __int128)x * h->full / h->aux;
    return full ? v : (struct scalar){{v.l[0] & 1}};
}

static void fill_witness(void *arg, size_t task, unsigned slot)
{
    struct witness_job *j = arg;
    (void)slot;
    size_t from = task * PIECE, to = from + PIECE < j->s->n_vars ? from + PIECE : j->s->n_vars;
    for (size_t i = from; i < to; i++) {
        struct scalar v = witness_value(j->s, j->k, i);
        memcpy(j->s->wtns[j->k] + SYNTH_HEADER + 32 * i, &v, 32);
    }
}

static void put(uint8_t **at, const void *data, size_t bytes)
{
    memcpy(*at, data, bytes);
    *at += bytes;
}

static void wtns_header(const struct synth *s, uint8_t *at)
{
    uint32_t head[] = {2, 2, 1}, n8 = 32, n = (uint32_t)s->n_vars, two = 2;
    uint64_t header_bytes = 40, values_bytes = (uint64_t)s->n_vars * 32;
    put(&at, "wtns", 4);
    put(&at, head, 12);
    put(&at, &header_bytes, 8);
    put(&at, &n8, 4);
    put(&at, s->curve->fr->p, 32);
    put(&at, &n, 4);
    put(&at, &two, 4);
    put(&at, &values_bytes, 8);
}

static int witnesses_make(struct synth *s, bool rows)
{
    s->wtns_bytes = SYNTH_HEADER + s->n_vars * 32;
    s->input_bytes = s->n_vars * 32 + (rows ? 2 * s->rows * 32 : 0);
    for (unsigned k = 0; k < SYNTH_WITNESSES; k++) {
        s->wtns[k] = synth_memory(SYNTH_HEADER + s->input_bytes);
        if (!s->wtns[k])
            return -ENOMEM;
        wtns_header(s, s->wtns[k]);
        threads_run(s->threads, fill_witness, &(struct witness_job){s, k}, (s->n_vars + PIECE - 1) / PIECE);
    }
    return 0;
}

/* ---- the polynomials at tau ---- */

/* out[i] = scale l_i(x), as prover/qap.c does it, in pieces. */
struct lagrange_job {
    const struct synth *s;
    struct fr *out, x, factor; /* factor: scale (x^n - 1) / n */
};

static void lagrange_piece(void *arg, size_t task, unsigned slot)
{
    const struct lagrange_job *j = arg;
    const struct curve *cv = j->s->curve;
    size_t from = task * PIECE, n = j->s->domain - from < PIECE ? j->s->domain - from : PIECE;
    struct fr w, *out = j->out + from;
    (void)slot;
    cv->fr_pow(&w, &j->s->root, from);
    struct fr start = w;
    for (size_t i = 0; i < n; i++) {
        cv->fr_sub(&out[i], &j->x, &w);
        cv->fr_mul(&w, &w, &j->s->root);
    }
    cv->fr_batch_inv(out, n);
    cv->fr_mul(&w, &start, &j->factor);
    for (size_t i = 0; i < n; i++) {
        cv->fr_mul(&out[i], &out[i], &w);
        cv->fr_mul(&w, &w, &j->s->root);
    }
}

static void vanishing(const struct synth *s, struct fr *out, const struct fr *x)
{
    struct fr one;
    s->curve->fr_from_u64(&one, 1);
    *out = *x;
    for (unsigned i = 0; i < s->shape.log_domain; i++)
        s->curve->fr_mul(out, out, out);
    s->curve->fr_sub(out, out, &one);
}

static void lagrange_make(struct synth *s, struct fr *out, const struct fr *x, const struct fr *scale)
{
    const struct curve *cv = s->curve;
    struct lagrange_job j = {.s = s, .out = out, .x = *x};
    struct fr n;
    cv->fr_from_u64(&n, s->domain);
    cv->fr_inv(&n, &n);
    vanishing(s, &j.factor, x);
    cv->fr_mul(&j.factor, &j.factor, &n);
    if (scale)
        cv->fr_mul(&j.factor, &j.factor, scale);
    threads_run(s->threads, lagrange_piece, &j, (s->domain + PIECE - 1) / PIECE);
}

static void add_term(const struct curve *cv, struct fr *sum, uint32_t coef, const struct fr *plain, const struct fr *x)
{
    struct fr t;
    if (coef == 0) {
        cv->fr_add(sum, sum, x);
    } else if (coef == 1) {
        cv->fr_sub(sum, sum, x);
    } else {
        cv->fr_mul(&t, &plain[coef], x);
        cv->fr_add(sum, sum, &t);
    }
}

struct columns_job {
    struct synth *s;
    enum csr_which m;
    struct fr *out; /* the columns */
    size_t n_out;
    struct fr *plain;    /* coefficients, Montgomery */
    struct fr *one_part; /* column 0 of each piece of rows */
};

/* Sum the rows into columns [from, to): only rows near them have terms there. */
static void columns_piece(void *arg, size_t task, unsigned slot)
{
    const struct columns_job *j = arg;
    const struct synth *s = j->s;
    struct lay l = lay_of(s, j->m);
    size_t from = l.inputs + task * PIECE, to = from + PIECE;
    to = to < j->n_out ? to : j->n_out;
    size_t low = from - l.inputs > 2 * NEAR ? from - l.inputs - 2 * NEAR : 0, high = to - l.inputs + 2 * NEAR;
    size_t first = (size_t)((unsigned __int128)low * l.rows / l.dense);
    size_t last = (size_t)((unsigned __int128)(high + 1) * l.rows / l.dense) + 1;
    last = last < l.rows ? last : l.rows;
    const struct csr_matrix *x = &s->csr.matrix[j->m];
    (void)slot;
    for (size_t i = first; i < last; i++) {
        for (uint64_t t = x->row[i]; t < x->row[i + 1]; t++) {
            if (x->col[t] >= from && x->col[t] < to)
                add_term(s->curve, &j->out[x->col[t]], x->coef[t], j->plain, &s->lagrange[i]);
        }
    }
}

static void column_one(void *arg, size_t task, unsigned slot)
{
    const struct columns_job *j = arg;
    const struct synth *s = j->s;
    const struct csr_matrix *x = &s->csr.matrix[j->m];
    size_t from = task * PIECE, to = from + PIECE < s->shape.rows ? from + PIECE : s->shape.rows;
    (void)slot;
    for (size_t i = from; i < to; i++) {
        for (uint64_t t = x->row[i]; t < x->row[i + 1]; t++) {
            if (x->col[t] == 0)
                add_term(s->curve, &j->one_part[task], x->coef[t], j->plain, &s->lagrange[i]);
        }
    }
}

static int columns_make(struct synth *s, enum csr_which m, struct fr *out, size_t n_out)
{
    size_t pieces = (s->shape.rows + PIECE - 1) / PIECE;
    struct columns_job j = {.s = s, .m = m, .out = out, .n_out = n_out};
    j.plain = malloc(DICT * sizeof *j.plain);
    j.one_part = calloc(pieces, sizeof *j.one_part);
    if (!j.plain || !j.one_part) {
        free(j.plain);
        free(j.one_part);
        return err_fail(-ENOMEM, "no memory for columns");
    }
    for (unsigned i = 0; i < DICT; i++) { /* one factor R less */
        struct scalar mont;
        s->curve->fr_to_scalar(&mont, &s->csr.dict[i]);
        memcpy(&j.plain[i], &mont, sizeof mont);
    }
    size_t touched = s->shape.inputs + (m == CSR_A ? s->shape.dense_a : s->shape.dense_b);
    j.n_out = touched;
    threads_run(s->threads, columns_piece, &j, (touched - s->shape.inputs + PIECE - 1) / PIECE);
    threads_run(s->threads, column_one, &j, pieces);
    for (size_t i = 0; i < pieces; i++)
        s->curve->fr_add(&out[0], &out[0], &j.one_part[i]);
    for (size_t i = 0; i < s->shape.inputs && m == CSR_A; i++)
        s->curve->fr_add(&out[i], &out[i], &s->lagrange[s->shape.rows + i]);
    free(j.plain);
    free(j.one_part);
    return 0;
}

/* ---- what a proof of witness k must sum up to ---- */

struct row_job {
    const struct synth *s;
    unsigned k;
    struct fr *part; /* of sum a_i b_i l_i(tau) */
    struct fr *rows; /* where a and b go, or NULL */
};

static struct fr row_value(const struct synth *s, enum csr_which m, size_t i, unsigned k)
{
    const struct csr_matrix *x = &s->csr.matrix[m];
    struct fr sum = {{0}}, value;
    for (uint64_t t = x->row[i]; t < x->row[i + 1]; t++) {
        struct scalar w;
        memcpy(&w, s->wtns[k] + SYNTH_HEADER + 32 * (size_t)x->col[t], 32);
        if (!(w.l[0] | w.l[1] | w.l[2] | w.l[3]))
            continue;
        struct fr factor;
        memcpy(&factor, &w, sizeof w);
        s->curve->fr_mul(&value, &s->csr.dict[x->coef[t]], &factor); /* v R^2 times w: Montgomery */
        s->curve->fr_add(&sum, &sum, &value);
    }
    return sum;
}

static void rows_piece(void *arg, size_t task, unsigned slot)
{
    const struct row_job *j = arg;
    const struct synth *s = j->s;
    size_t from = task * PIECE, to = from + PIECE < s->rows ? from + PIECE : s->rows;
    (void)slot;
    for (size_t i = from; i < to; i++) {
        struct fr a = row_value(s, CSR_A, i, j->k), b = row_value(s, CSR_B, i, j->k), ab;
        s->curve->fr_mul(&ab, &a, &b);
        s->curve->fr_mul(&ab, &ab, &s->lagrange[i]);
        s->curve->fr_add(&j->part[task], &j->part[task], &ab);
        if (j->rows) { /* any alignment */
            memcpy((uint8_t *)j->rows + 32 * i, &a, 32);
            memcpy((uint8_t *)j->rows + 32 * (s->rows + i), &b, 32);
        }
    }
}

struct dot_job {
    const struct synth *s;
    unsigned k;
    const struct fr *x;
    size_t first, n;
    struct fr *part;
};

static void dot_piece(void *arg, size_t task, unsigned slot)
{
    const struct dot_job *j = arg;
    const struct curve *cv = j->s->curve;
    size_t from = j->first + task * PIECE, to = from + PIECE < j->n ? from + PIECE : j->n;
    (void)slot;
    for (size_t i = from; i < to; i++) {
        struct scalar w;
        struct fr f, t;
        memcpy(&w, j->s->wtns[j->k] + SYNTH_HEADER + 32 * i, 32);
        if (!(w.l[0] | w.l[1] | w.l[2] | w.l[3]))
            continue;
        cv->fr_from_scalar(&f, &w);
        cv->fr_mul(&t, &f, &j->x[i]);
        cv->fr_add(&j->part[task], &j->part[task], &t);
    }
}

/* sum over i in [first, n) of w_i x_i */
static int dot(const struct synth *s, struct fr *out, unsigned k, const struct fr *x, size_t first, size_t n)
{
    size_t pieces = (n - first + PIECE - 1) / PIECE;
    struct dot_job j = {s, k, x, first, n, calloc(pieces + 1, sizeof *j.part)};
    if (!j.part)
        return err_fail(-ENOMEM, "no memory for sums");
    threads_run(s->threads, dot_piece, &j, pieces);
    *out = (struct fr){{0}};
    for (size_t i = 0; i < pieces; i++)
        s->curve->fr_add(out, out, &j.part[i]);
    free(j.part);
    return 0;
}

/* l first holds c_s: random, but for the corrections. */
static void fill_c(void *arg, size_t task, unsigned slot)
{
    struct synth *s = arg;
    size_t from = task * PIECE, end = s->n_vars - SYNTH_WITNESSES, to = from + PIECE < end ? from + PIECE : end;
    (void)slot;
    for (size_t i = from; i < to; i++) {
        struct scalar c = number(7, i);
        s->curve->fr_from_scalar(&s->l[i], &c);
    }
}

/* c_s -> (beta a_s + alpha b_s + c_s), of private variables over delta */
struct l_job {
    struct synth *s;
    struct fr delta_inv;
};

static void l_piece(void *arg, size_t task, unsigned slot)
{
    const struct l_job *j = arg;
    struct synth *s = j->s;
    size_t from = task * PIECE, to = from + PIECE < s->n_vars ? from + PIECE : s->n_vars;
    (void)slot;
    for (size_t i = from; i < to; i++) {
        struct fr t;
        s->curve->fr_mul(&t, &s->t.beta, &s->a[i]);
        s->curve->fr_add(&s->l[i], &s->l[i], &t);
        if (i < s->n_b) {
            s->curve->fr_mul(&t, &s->t.alpha, &s->b[i]);
            s->curve->fr_add(&s->l[i], &s->l[i], &t);
        }
        if (i >= s->shape.inputs)
            s->curve->fr_mul(&s->l[i], &s->l[i], &j->delta_inv);
    }
}

static int sums_of(struct synth *s, unsigned k, struct fr *l_due, bool rows)
{
    const struct curve *cv = s->curve;
    size_t pieces = (s->rows + PIECE - 1) / PIECE;
    struct row_job j = {s, k, calloc(pieces, sizeof *j.part), NULL};
    if (!j.part)
        return err_fail(-ENOMEM, "no memory for sums");
    j.rows = rows ? (struct fr *)(void *)(s->wtns[k] + s->wtns_bytes) : NULL;
    threads_run(s->threads, rows_piece, &j, pieces);
    struct fr c = {{0}}, a, b, h, delta_inv, have;
    for (size_t i = 0; i < pieces; i++)
        cv->fr_add(&c, &c, &j.part[i]);
    free(j.part);
    int rc = dot(s, &a, k, s->a, 0, s->n_vars);
    rc = rc ? rc : dot(s, &b, k, s->b, 0, s->n_b);
    rc = rc ? rc : dot(s, &have, k, s->l, 0, s->n_vars - SYNTH_WITNESSES);
    if (rc)
        return rc;
    cv->fr_sub(l_due, &c, &have);
    cv->fr_mul(&h, &a, &b);
    cv->fr_sub(&h, &h, &c);
    cv->fr_inv(&delta_inv, &s->t.delta);
    cv->fr_mul(&h, &h, &delta_inv);
    cv->fr_to_scalar(&s->sum[k][PART_A], &a);
    cv->fr_to_scalar(&s->sum[k][PART_B1], &b);
    s->sum[k][PART_B2] = s->sum[k][PART_B1];
    cv->fr_to_scalar(&s->sum[k][PART_H], &h);
    return 0;
}

static int scalars_make(struct synth *s, bool rows)
{
    const struct curve *cv = s->curve;
    s->n_b = s->shape.inputs + s->shape.dense_b;
    s->lagrange = synth_memory(s->domain * sizeof *s->lagrange);
    s->a = synth_memory(s->n_vars * sizeof *s->a);
    s->b = synth_memory(s->n_b * sizeof *s->b);
    s->l = synth_memory(s->n_vars * sizeof *s->l);
    if (!s->lagrange || !s->a || !s->b || !s->l)
        return -ENOMEM;
    lagrange_make(s, s->lagrange, &s->t.tau, NULL);
    int rc = columns_make(s, CSR_A, s->a, s->n_vars);
    rc = rc ? rc : columns_make(s, CSR_B, s->b, s->n_b);
    threads_run(s->threads, fill_c, s, (s->n_vars + PIECE - 1) / PIECE);
    for (unsigned k = 0; k < SYNTH_WITNESSES && !rc; k++)
        rc = sums_of(s, k, &s->l[s->n_vars - 1 - k], rows);
    if (rc)
        return rc;
    struct l_job j = {.s = s};
    cv->fr_inv(&j.delta_inv, &s->t.delta);
    threads_run(s->threads, l_piece, &j, (s->n_vars + PIECE - 1) / PIECE);
    for (unsigned k = 0; k < SYNTH_WITNESSES && !rc; k++) {
        struct fr l;
        rc = dot(s, &l, k, s->l, s->shape.inputs, s->n_vars);
        cv->fr_to_scalar(&s->sum[k][PART_L], &l);
    }
    return rc;
}

int synth_quotient(struct synth *s)
{
    const struct curve *cv = s->curve;
    struct fr z_tau, z_coset, scale, delta_inv, x, shift_inv;
    vanishing(s, &z_tau, &s->t.tau);
    vanishing(s, &z_coset, &s->shift);
    cv->fr_inv(&z_coset, &z_coset);
    cv->fr_inv(&delta_inv, &s->t.delta);
    cv->fr_inv(&shift_inv, &s->shift);
    cv->fr_mul(&scale, &z_tau, &z_coset);
    cv->fr_mul(&scale, &scale, &delta_inv);
    cv->fr_mul(&x, &s->t.tau, &shift_inv);
    s->h = s->lagrange;
    s->lagrange = NULL;
    lagrange_make(s, s->h, &x, &scale);
    return 0;
}

int synth_open(struct synth *s, const struct curve *curve, const struct shape *shape, struct threads *threads,
               uint64_t seed, bool rows)
{
    *s = (struct synth){.curve = curve, .shape = *shape, .threads = threads};
    s->n_vars = shape->inputs + shape->aux;
    s->rows = shape->rows + shape->inputs;
    s->domain = (size_t)1 << shape->log_domain;
    curve->fr_root(&s->root, shape->log_domain);
    s->shift = groth16_coset_shift(curve, shape->log_domain);
    int rc = trapdoor_derive(curve, &s->t, seed);
    rc = rc ? rc : matrices_make(s);
    rc = rc ? rc : witnesses_make(s, rows);
    rc = rc ? rc : scalars_make(s, rows);
    if (rc)
        synth_close(s);
    return rc;
}

void synth_close(struct synth *s)
{
    matrices_free(s);
    for (unsigned k = 0; k < SYNTH_WITNESSES; k++)
        synth_memory_free(s->wtns[k], SYNTH_HEADER + s->input_bytes);
    synth_memory_free(s->lagrange, s->domain * sizeof *s->lagrange);
    synth_memory_free(s->h, s->domain * sizeof *s->h);
    synth_memory_free(s->a, s->n_vars * sizeof *s->a);
    synth_memory_free(s->b, s->n_b * sizeof *s->b);
    synth_memory_free(s->l, s->n_vars * sizeof *s->l);
    *s = (struct synth){0};
}
