/* The Groth16 prover as a list of steps over a device (J. Groth 2016; the order and the odd-coset quotient are
 * those of snarkjs keys). Nothing here knows threads, sockets or files.
 *
 *     key -- groth16_compute --> sums -- groth16_fold --> proof -- verify_groth16 --> out
 *
 * The sums do not depend on the blinding, so two devices can be compared part by part. */
#ifndef PROVER_GROTH16_H
#define PROVER_GROTH16_H

#include "cuda/device.h"
#include "perf/span.h"
#include "prover/proof.h"
#include "prover/wtns.h"
#include "prover/zkey.h"

struct groth16_key;

/* The five multi-scalar multiplications of a proof. */
enum groth16_part { PART_A, PART_B1, PART_B2, PART_L, PART_H, GROTH16_PARTS };
struct groth16_sums {
    struct point part[GROTH16_PARTS];
};
extern const char *const groth16_part_names[GROTH16_PARTS];
enum { GROTH16_MATRICES = 1 << GROTH16_PARTS };

struct groth16_key_opts {
    bool resident; /* bases and matrices in device memory; else used where the key's source has them */
    /* With resident: what is streamed all the same, bits 1 << part and GROTH16_MATRICES, and how many window multiples
     * each resident part gets (0: the device chooses). */
    unsigned streamed, multiples[GROTH16_PARTS];
    bool one_proof;  /* sections are taken from the key's source when they are needed, and done with after that */
    bool own_inputs; /* witnesses come by groth16_step in buffers of the caller; groth16_compute must not be used */
    struct span_list *spans; /* may be NULL */
};

/* Called between steps with the share of the work that is done, 0..1. */
typedef void groth16_progress(void *ctx, const char *step, double done);

/* Put a key on a device: matrices, bases, and the buffers of one proof. The zkey must outlive it. Its verifying key is
 * no part of this: see vk_from_zkey. -ENOMEM, -EBADMSG,
 * -EIO. Not thread-safe: one proof at a time per key. */
int groth16_key_open(struct groth16_key **key_p, struct device *device, const struct zkey *zkey,
                     const struct groth16_key_opts *opts);
void groth16_key_close(struct groth16_key *key); /* NULL is allowed */

/* Parts that were made elsewhere: by kernels, for a key that is no file, or some resident and some not. */
struct groth16_parts {
    struct bases *bases[GROTH16_PARTS];
    struct matrix *matrix[2]; /* A and B; NULL with rows */
    /* Not 0: the quotient's a and b come with the witness instead of from the matrices. An input is then
     * | w: n_vars scalars | a: rows, Montgomery | b: rows, Montgomery |, pushed by a synthesis of the caller. */
    size_t rows;
};

/* A key of ready parts; it takes them over when it succeeds. Of `zkey` only the curve and the sizes count. There is no
 * CSR inside. opts->resident and one_proof mean nothing here. */
int groth16_key_adopt(struct groth16_key **key_p, struct device *device, const struct zkey *zkey,
                      const struct groth16_parts *parts, const struct groth16_key_opts *opts);

/* Bytes of one input in device memory. */
size_t groth16_input_bytes(const struct groth16_key *key);

/* All the heavy work of one proof. The witness must match the key (wtns_match_zkey). progress may be NULL. */
int groth16_compute(struct groth16_key *key, struct groth16_sums *sums, const struct wtns *wtns,
                    groth16_progress *progress, void *ctx);

/* The same in steps: sums of the witness, quotient, sum of the quotient. `w` is a buffer of the key's device with the
 * input: the n_vars scalars of the witness, and the rows where the key wants them. Each step is over when it returns;
 * all steps of one witness before the next one's. */
enum { GROTH16_STEPS = 3 };
int groth16_step(struct groth16_key *key, struct groth16_sums *sums, struct dbuf w, unsigned step);

/* After a failed step: a new stream, so that the key can be used again. */
int groth16_key_reset(struct groth16_key *key);

/* Blind the sums into a proof: a few scalar multiplications on the calling thread. r, s < order. */
void groth16_fold(struct proof *proof, const struct zkey *zkey, const struct groth16_sums *sums, const struct scalar *r,
                  const struct scalar *s);

/* The coset on which the quotient lives: W of order 2n where the field has one, else 25 = 5^2, as snarkjs does. */
struct fr groth16_coset_shift(const struct curve *curve, unsigned log_n);

#endif
