/* A synthetic circuit of a given shape with a key whose trapdoor is known, so that every sum of a proof is known too.
 *
 * Matrices: row i has one term on variable (i dense / rows), which touches every dense variable, and the rest of its
 * terms on ONE or within 4096 variables of that one, as hash circuits have it; one row in 4096 is 120 terms longer.
 * Variables are ordered so that those with a term in B come first, then those with a term in A: the bases of A, B1 and
 * B2 then are a prefix of the variables.
 *
 * A proof needs A(tau) B(tau) - C(tau) divisible by the vanishing polynomial. The device never sees C: it takes c = a b
 * row by row. So C need not be a sparse matrix: c_s(tau) is random for every variable but one for each witness, and
 * that one is chosen so that sum c_s w_s is what the rows a b interpolate to. Then any witness is a good one, and
 * proofs verify by pairing. */
#ifndef PERF_BENCH_SYNTH_H
#define PERF_BENCH_SYNTH_H

#include "cuda/host/threads.h"
#include "perf/bench/shape.h"
#include "prover/csr.h"
#include "prover/groth16.h"
#include "prover/trapdoor.h"

enum { SYNTH_WITNESSES = 2, SYNTH_HEADER = 76 };

struct synth {
    const struct curve *curve;
    struct shape shape;
    struct threads *threads;
    struct trapdoor t;
    struct csr csr;
    size_t n_vars, rows; /* rows with those of the inputs */
    size_t domain;
    struct fr root, shift;

    /* a .wtns file in memory: its scalars begin SYNTH_HEADER bytes after; with rows, a and b follow them */
    uint8_t *wtns[SYNTH_WITNESSES];
    size_t wtns_bytes, input_bytes;

    /* scalars of the key, Montgomery; each until it has become points */
    struct fr *lagrange; /* domain */
    struct fr *a, *b, *l;
    size_t n_b; /* b's variables: inputs and dense ones */
    struct fr *h;
    struct scalar sum[SYNTH_WITNESSES][GROTH16_PARTS]; /* what each sum of a proof must be, times the generator */
};

/* Host bytes at the worst moment; `points`: of the points that stay on the host. */
uint64_t synth_host_bytes(const struct shape *s, const struct curve *curve, bool rows, uint64_t points);

/* Matrices, witnesses and the key's scalars. rows: the witnesses carry a and b. -ENOMEM, -EINVAL. */
int synth_open(struct synth *s, const struct curve *curve, const struct shape *shape, struct threads *threads,
               uint64_t seed, bool rows);
void synth_close(struct synth *s);

/* The quotient's scalars take the place of the Lagrange basis. */
int synth_quotient(struct synth *s);

/* Large memory, zeroed, in the largest pages that are there without asking for any. NULL with a sentence. */
void *synth_memory(size_t bytes);
void synth_memory_free(void *p, size_t bytes);

static inline const struct scalar *synth_witness(const struct synth *s, unsigned k)
{
    return (const struct scalar *)(const void *)(s->wtns[k] + SYNTH_HEADER);
}

#endif
