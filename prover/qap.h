/* A circuit's polynomials at a trapdoor: every point of a key is one of these numbers times a generator. */
#ifndef PROVER_QAP_H
#define PROVER_QAP_H

#include "prover/r1cs.h"
#include "prover/trapdoor.h"

struct qap {
    const struct curve *curve;
    unsigned log_domain;
    size_t n_vars, n_public, domain_size;
    struct fr *a, *b; /* A_s(tau), B_s(tau), n_vars each */
    struct fr *l;     /* beta A_s + alpha B_s + C_s at tau; for s > n_public divided by delta. n_vars */
    struct fr *h;     /* the quotient's Lagrange basis on the coset, divided by delta. domain_size */
};

/* Rows n_constraints .. n_constraints + n_public hold one A term each, wire s in row n_constraints + s, as snarkjs lays
 * them; the domain is the smallest power of two above. tau must lie outside the domain and its coset. -EINVAL,
 * -ENOMEM. Close with qap_close. */
int qap_open(struct qap *q, const struct r1cs *r1cs, const struct trapdoor *t);
void qap_close(struct qap *q);

/* log2 of the domain of a circuit. */
unsigned qap_log_domain(const struct r1cs *r1cs);

#endif
