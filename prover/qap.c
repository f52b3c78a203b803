#include "prover/qap.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/workers.h"
#include "perf/err.h"
#include "prover/groth16.h"

unsigned qap_log_domain(const struct r1cs *r1cs)
{
    uint64_t rows = (uint64_t)r1cs->n_constraints + r1cs->n_public + 1;
    unsigned log = 1; /* also for a circuit without rows */
    while (((uint64_t)1 << log) < rows)
        log++;
    return log;
}

/* Everything here is one pass over many numbers, cut into pieces for all CPUs. */
enum { PIECE = 1 << 16 };

struct piece {
    size_t from, to;
};

static struct piece piece_of(size_t i, size_t n)
{
    size_t from = i * PIECE;
    return (struct piece){from, from + PIECE < n ? from + PIECE : n};
}

static int pieces_run(struct workers *w, int (*item)(void *ctx, size_t i, unsigned thread), void *ctx, size_t n)
{
    return workers_run(w, item, ctx, (n + PIECE - 1) / PIECE);
}

struct lagrange {
    const struct curve *cv;
    struct fr *out, x, root, factor;
    size_t n;
};

static int lagrange_piece(void *ctx, size_t i, unsigned thread)
{
    const struct lagrange *l = ctx;
    const struct curve *cv = l->cv;
    struct piece p = piece_of(i, l->n);
    struct fr first, power;
    (void)thread;
    cv->fr_pow(&first, &l->root, p.from);
    power = first;
    for (size_t k = p.from; k < p.to; k++) {
        cv->fr_sub(&l->out[k], &l->x, &power);
        cv->fr_mul(&power, &power, &l->root);
    }
    cv->fr_batch_inv(l->out + p.from, p.to - p.from);
    cv->fr_mul(&power, &first, &l->factor);
    for (size_t k = p.from; k < p.to; k++) {
        cv->fr_mul(&l->out[k], &l->out[k], &power);
        cv->fr_mul(&power, &power, &l->root);
    }
    return 0;
}

/* out[i] = scale l_i(x), l_i the Lagrange basis of {w^i}: l_i(x) = w^i (x^n - 1) / (n (x - w^i)). */
static int lagrange(struct workers *w, struct fr *out, const struct curve *cv, unsigned log_n, const struct fr *x,
                    const struct fr *scale)
{
    struct lagrange l = {.cv = cv, .out = out, .x = *x, .factor = *x, .n = (size_t)1 << log_n};
    struct fr one, t;
    struct scalar plain;
    cv->fr_from_u64(&one, 1);
    cv->fr_root(&l.root, log_n);
    for (unsigned i = 0; i < log_n; i++)
        cv->fr_mul(&l.factor, &l.factor, &l.factor);
    cv->fr_sub(&l.factor, &l.factor, &one);
    cv->fr_to_scalar(&plain, &l.factor);
    if (!(plain.l[0] | plain.l[1] | plain.l[2] | plain.l[3]))
        return err_fail(-EINVAL, "tau lies in the evaluation domain: take another one");
    cv->fr_from_u64(&t, l.n);
    cv->fr_inv(&t, &t);
    cv->fr_mul(&l.factor, &l.factor, &t);
    cv->fr_mul(&l.factor, &l.factor, scale);
    return pieces_run(w, lagrange_piece, &l, l.n);
}

static void add_product(const struct curve *cv, struct fr *sum, const struct fr *a, const struct fr *b)
{
    struct fr t;
    cv->fr_mul(&t, a, b);
    cv->fr_add(sum, sum, &t);
}

struct columns {
    struct qap *q;
    const struct r1cs *r1cs;
    const struct trapdoor *t;
    const struct fr *at; /* the Lagrange basis at tau */
    struct fr delta_inv;
};

/* Sum the rows of matrix m into its columns: a, b, and C into l. The matrices share nothing, so each has a thread. */
static int matrix_sum(void *ctx, size_t m, unsigned thread)
{
    const struct columns *c = ctx;
    const struct curve *cv = c->q->curve;
    struct fr *const column[3] = {c->q->a, c->q->b, c->q->l};
    struct r1cs_cursor cursor = r1cs_begin(c->r1cs);
    struct r1cs_row row;
    (void)thread;
    for (size_t i = 0; r1cs_next(&cursor, &row); i++) {
        for (uint32_t k = 0; k < row.lc[m].n; k++) {
            struct scalar plain = r1cs_term_coef(&row.lc[m], k);
            struct fr *sum = &column[m][r1cs_term_wire(&row.lc[m], k)], coef;
            if (plain.l[0] == 1 && !(plain.l[1] | plain.l[2] | plain.l[3])) {
                cv->fr_add(sum, sum, &c->at[i]);
                continue;
            }
            cv->fr_from_scalar(&coef, &plain);
            add_product(cv, sum, &coef, &c->at[i]);
        }
    }
    return 0;
}

static int sums_piece(void *ctx, size_t i, unsigned thread)
{
    const struct columns *c = ctx;
    const struct qap *q = c->q;
    const struct curve *cv = q->curve;
    struct piece p = piece_of(i, q->n_vars);
    (void)thread;
    for (size_t s = p.from; s < p.to; s++) {
        add_product(cv, &q->l[s], &c->t->beta, &q->a[s]);
        add_product(cv, &q->l[s], &c->t->alpha, &q->b[s]);
        if (s > q->n_public)
            cv->fr_mul(&q->l[s], &q->l[s], &c->delta_inv);
    }
    return 0;
}

static int fill(struct workers *w, struct qap *q, const struct r1cs *r1cs, const struct trapdoor *t)
{
    const struct curve *cv = q->curve;
    struct columns c = {q, r1cs, t, q->h, {{0}}}; /* h is scratch here */
    struct fr one, shift, shift_inv, x, scale;
    cv->fr_from_u64(&one, 1);
    cv->fr_inv(&c.delta_inv, &t->delta);

    int rc = lagrange(w, q->h, cv, q->log_domain, &t->tau, &one);
    if (!rc)
        rc = workers_run(w, matrix_sum, &c, 3);
    if (rc)
        return rc;
    for (size_t s = 0; s <= q->n_public; s++)
        cv->fr_add(&q->a[s], &q->a[s], &q->h[r1cs->n_constraints + s]);
    rc = pieces_run(w, sums_piece, &c, q->n_vars);
    if (rc)
        return rc;

    /* The quotient's numerator vanishes on the domain and is known on the coset shift w^i, so
     * H_i = Z(tau) / Z(shift w^i) l_i(tau / shift) / delta, and Z(shift w^i) = shift^n - 1 for every i. */
    shift = groth16_coset_shift(cv, q->log_domain);
    struct fr z_tau = t->tau, z_coset = shift;
    for (unsigned i = 0; i < q->log_domain; i++) {
        cv->fr_mul(&z_tau, &z_tau, &z_tau);
        cv->fr_mul(&z_coset, &z_coset, &z_coset);
    }
    cv->fr_sub(&z_tau, &z_tau, &one);
    cv->fr_sub(&z_coset, &z_coset, &one);
    cv->fr_inv(&z_coset, &z_coset);
    cv->fr_mul(&scale, &z_tau, &z_coset);
    cv->fr_mul(&scale, &scale, &c.delta_inv);
    cv->fr_inv(&shift_inv, &shift);
    cv->fr_mul(&x, &t->tau, &shift_inv);
    return lagrange(w, q->h, cv, q->log_domain, &x, &scale);
}

static int fill_on_threads(struct qap *q, const struct r1cs *r1cs, const struct trapdoor *t)
{
    struct workers *w;
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus))
        return err_fail(-errno, "asking for this process's CPUs: %s", strerror(errno));
    int rc = workers_open(&w, &(struct workers_opts){.threads = (unsigned)CPU_COUNT(&cpus), .name = "setup"});
    if (rc)
        return rc;
    rc = fill(w, q, r1cs, t);
    workers_close(w);
    return rc;
}

int qap_open(struct qap *q, const struct r1cs *r1cs, const struct trapdoor *t)
{
    *q = (struct qap){
        .curve = r1cs->curve, .log_domain = qap_log_domain(r1cs), .n_vars = r1cs->n_wires, .n_public = r1cs->n_public};
    if (q->log_domain > r1cs->curve->two_adicity || q->log_domain > 31)
        return err_fail(-EINVAL, "%u constraints need a domain of 2^%u, %s has roots up to 2^%u", r1cs->n_constraints,
                        q->log_domain, r1cs->curve->title, r1cs->curve->two_adicity);
    q->domain_size = (size_t)1 << q->log_domain;
    q->a = calloc(q->n_vars, sizeof *q->a);
    q->b = calloc(q->n_vars, sizeof *q->b);
    q->l = calloc(q->n_vars, sizeof *q->l);
    q->h = malloc(q->domain_size * sizeof *q->h);
    int rc = q->a && q->b && q->l && q->h ? fill_on_threads(q, r1cs, t)
                                          : err_fail(-ENOMEM, "no memory for the polynomials of %zu wires", q->n_vars);
    if (rc)
        qap_close(q);
    return rc;
}

void qap_close(struct qap *q)
{
    free(q->a);
    free(q->b);
    free(q->l);
    free(q->h);
    *q = (struct qap){0};
}
