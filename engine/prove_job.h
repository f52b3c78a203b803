/* One proof from files to files: open, compute, fold, verify, write. Nothing is written unless the proof verifies. */
#ifndef ENGINE_PROVE_JOB_H
#define ENGINE_PROVE_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "alloc/loader.h"
#include "cuda/device.h"
#include "perf/span.h"
#include "prover/groth16.h"

struct prove_request {
    const char *key_path, *witness_path;
    const char *proof_path, *public_path; /* "-" is standard output */
    const char *r1cs_path;                /* NULL, or the circuit: the witness is then checked against it first */
    enum page_tier pages;                 /* best pages for key and witness; 0: 1 GiB */
    bool pages_strict;                    /* no smaller ones: -ENOMEM instead */
    enum fill_method read_first;          /* 0: io_uring */
    struct span_list *spans;              /* may be NULL */
    groth16_progress *progress;           /* may be NULL */
    void *ctx;
};

enum prove_stage { STAGE_OPEN, STAGE_LOAD, STAGE_COMPUTE, STAGE_FOLD, STAGE_VERIFY, STAGE_WRITE, PROVE_STAGES };
extern const char *const prove_stage_names[PROVE_STAGES];

struct prove_report {
    const struct curve *curve;
    size_t n_vars, n_public, domain_size, n_coefs;
    uint64_t key_bytes, witness_bytes;
    double stage_s[PROVE_STAGES]; /* they add up to the wall time */
    bool loaded; /* key and witness came through leases, as `loading` says; else read at once (a pipe) */
    struct loader_view loading;
    bool device_fault;  /* the device was wrong or failed; the host made the proof that was written */
    char fault[256];    /* what was wrong with it */
    bool output_failed; /* the failure is one of writing, not of the inputs */
};

/* -EBADMSG: a file is malformed, or the witness does not satisfy the circuit, or key and witness do not belong
 * together; -EIO, -ENOMEM, -ENOSPC, ...: see the sentence. */
int prove_job_run(struct prove_report *report, struct device *device, const struct prove_request *request);

#endif
