/* Where a circuit's key lives for one device, and what that costs: a pure function of sizes, free memory and measured
 * rates, with the reasons in words (residency_write).
 *
 *   part        disk --> kept or pinned host pages --> device memory
 *   matrices                                          always on the device when they fit: read twice by each proof
 *   A B1 B2 L   streamed over the link, or resident, or resident with `multiples` shifted copies of each base
 *   H           the same
 *
 * What does not fit is streamed: the bases of a set cross the link once for each pass, and a pass serves up to
 * `per_pass` proofs, so more proofs in a pass cost less link and more device memory. The plan is the one with the
 * lowest residency_score, then the least memory. */
#ifndef ENGINE_RESIDENCY_H
#define ENGINE_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cuda/math/curve.h"
#include "prover/groth16.h"

enum { RESIDENCY_WHY = 160, RESIDENCY_MULTIPLES = 12, RESIDENCY_PASS = 16 };

enum place { PLACE_DEVICE, PLACE_STREAMED };
/* Where the host's copy of what is streamed is. */
enum host_place { HOST_NONE, HOST_PINNED, HOST_KEPT, HOST_DISK };

/* From the key's header and matrices. */
struct key_sizes {
    const struct curve *curve;
    uint64_t n_vars, n_public, domain_size;
    uint64_t points[GROTH16_PARTS]; /* that are not infinity */
    uint64_t nonzeros, n_dict;      /* of both matrices */
    double full_share;              /* of the witness: scalars other than 0 and 1; 0: all */
    uint64_t witness_bytes;         /* that cross the link for each proof; 0: n_vars scalars */
};

struct residency_limits {
    uint64_t device_bytes;  /* free */
    uint64_t scratch_bytes; /* of these, for what kernels need while they run */
    uint64_t pinned_bytes;  /* of the pool, for this key; 0: none */
    bool keep;              /* kept pages: they outlive the process */
    unsigned per_pass;      /* proofs that may share a pass; 0: RESIDENCY_PASS */
};

/* Of this machine; zeros are what was measured on an H200 (residency.c). */
struct residency_rates {
    double link_bytes_per_s;     /* 55.4e9 */
    double pageable_bytes_per_s; /* 7.6e9 */
    double disk_bytes_per_s;     /* 6e9 */
    double msm_ns[GROUPS];       /* for each point and scalar, no multiples */
    double multiples_gain;       /* share of the MSM that `multiples` copies save at most: 0.13 */
    double bit_ns[GROUPS];       /* for each point whose scalar is 0 or 1 */
    double ntt_ns, spmv_ns;      /* element, non-zero */
};

struct residency_plan {
    bool matrices_on_device;
    enum place part[GROTH16_PARTS];
    unsigned multiples; /* of resident G1 parts whose scalars are mostly full; 1: none */
    unsigned slots;     /* witnesses on the device for each one that is computed: 1: no copy beside compute */
    unsigned per_pass;  /* proofs that share a pass over streamed parts; 1 when nothing is streamed */
    enum host_place host;
    uint64_t device_bytes;             /* of key, buffers and slots */
    uint64_t streamed_bytes;           /* for each pass */
    uint64_t link_bytes;               /* for each proof: witness and its share of the pass */
    double load_s;                     /* until the first proof may start */
    double compute_s, link_s, proof_s; /* for each proof in steady state: kernels, copies, the slower of both */
    char why[GROTH16_PARTS + 3][RESIDENCY_WHY]; /* parts, then matrices, multiples, passes */
};

/* Scratch that lets the MSMs of this key run in as few slices as they can: sorted digits, 8 bytes for each scalar and
 * window, and bucket sums of the four sets that share the witness (PoRep 32 GiB on an H200: 31 GB, measured by what was
 * left); at most a quarter of the device, where they then take more slices. */
uint64_t residency_scratch(const struct key_sizes *key, uint64_t device_bytes);

/* -ENOMEM: not even one proof with everything streamed fits; the sentence says what is missing. rates may be NULL. */
int residency_make(struct residency_plan *plan, const struct key_sizes *key, const struct residency_limits *limits,
                   const struct residency_rates *rates);

/* Window multiples that the bases of this part get under the plan: 1 for none. */
unsigned residency_multiples(const struct residency_plan *plan, const struct key_sizes *key, int part);

/* Seconds of a proof, and 5 % of its seconds on the link, which other jobs and GPUs share. */
double residency_score(const struct residency_plan *plan);

/* For people: each decision beside its reason, then the predicted times. -EIO. */
int residency_write(const struct residency_plan *plan, FILE *out);

#endif
