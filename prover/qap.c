#include "prover/qap.h"

#include <stdlib.h>

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

/* out[i] = scale l_i(x), l_i the Lagrange basis of {w^i}: l_i(x) = w^i (x^n - 1) / (n (x - w^i)). */
static int lagrange(struct fr *out, const struct curve *cv, unsigned log_n, const struct fr *x, const struct fr *scale)
{
    size_t n = (size_t)1 << log_n;
    struct fr w, power, one, num, t;
    cv->fr_from_u64(&one, 1);
    cv->fr_root(&w, log_n);
    num = *x;
    for (unsigned i = 0; i < log_n; i++)
        cv->fr_mul(&num, &num, &num);
    cv->fr_sub(&num, &num, &one);
    struct scalar plain;
    cv->fr_to_scalar(&plain, &num);
    if (!(plain.l[0] | plain.l[1] | plain.l[2] | plain.l[3]))
        return err_fail(-EINVAL, "tau lies in the evaluation domain: take another one");
    cv->fr_from_u64(&t, n);
    cv->fr_inv(&t, &t);
    cv->fr_mul(&num, &num, &t);
    cv->fr_mul(&num, &num, scale);
    power = one;
    for (size_t i = 0; i < n; i++) {
        cv->fr_sub(&out[i], x, &power);
        cv->fr_mul(&power, &power, &w);
    }
    cv->fr_batch_inv(out, n);
    power = num;
    for (size_t i = 0; i < n; i++) {
        cv->fr_mul(&out[i], &out[i], &power);
        cv->fr_mul(&power, &power, &w);
    }
    return 0;
}

static void add_product(const struct curve *cv, struct fr *sum, const struct fr *a, const struct fr *b)
{
    struct fr t;
    cv->fr_mul(&t, a, b);
    cv->fr_add(sum, sum, &t);
}

/* Sum the rows into the columns: a, b, and C into l. `at` holds the Lagrange basis at tau. */
static void sum_rows(struct qap *q, const struct r1cs *r1cs, const struct fr *at)
{
    const struct curve *cv = q->curve;
    struct fr *const column[3] = {q->a, q->b, q->l};
    struct r1cs_cursor cursor = r1cs_begin(r1cs);
    struct r1cs_row row;
    for (size_t i = 0; r1cs_next(&cursor, &row); i++) {
        for (int m = 0; m < 3; m++) {
            for (uint32_t k = 0; k < row.lc[m].n; k++) {
                struct scalar plain = r1cs_term_coef(&row.lc[m], k);
                struct fr coef;
                cv->fr_from_scalar(&coef, &plain);
                add_product(cv, &column[m][r1cs_term_wire(&row.lc[m], k)], &coef, &at[i]);
            }
        }
    }
    for (size_t s = 0; s <= q->n_public; s++)
        cv->fr_add(&q->a[s], &q->a[s], &at[r1cs->n_constraints + s]);
}

static int fill(struct qap *q, const struct r1cs *r1cs, const struct trapdoor *t)
{
    const struct curve *cv = q->curve;
    struct fr one, delta_inv, shift, shift_inv, x, scale;
    cv->fr_from_u64(&one, 1);
    cv->fr_inv(&delta_inv, &t->delta);

    int rc = lagrange(q->h, cv, q->log_domain, &t->tau, &one); /* h is scratch here */
    if (rc)
        return rc;
    sum_rows(q, r1cs, q->h);
    for (size_t s = 0; s < q->n_vars; s++) {
        add_product(cv, &q->l[s], &t->beta, &q->a[s]);
        add_product(cv, &q->l[s], &t->alpha, &q->b[s]);
        if (s > q->n_public)
            cv->fr_mul(&q->l[s], &q->l[s], &delta_inv);
    }

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
    cv->fr_mul(&scale, &scale, &delta_inv);
    cv->fr_inv(&shift_inv, &shift);
    cv->fr_mul(&x, &t->tau, &shift_inv);
    return lagrange(q->h, cv, q->log_domain, &x, &scale);
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
    int rc = q->a && q->b && q->l && q->h ? fill(q, r1cs, t)
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
