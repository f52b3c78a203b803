#include "engine/prove_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/prove_input.h"
#include "perf/clock.h"
#include "perf/count.h"
#include "perf/err.h"
#include "perf/log.h"
#include "prover/blinding.h"
#include "prover/file_out.h"
#include "prover/proof_json.h"
#include "prover/public_json.h"
#include "prover/r1cs.h"
#include "prover/verify.h"

const char *const prove_stage_names[PROVE_STAGES] = {"open", "load", "compute", "fold", "verify", "write"};

struct job {
    const struct prove_request *req;
    struct prove_report *report;
    struct device *device;
    struct prove_input input;
    struct zkey *zkey; /* of the input */
    struct wtns *wtns;
    struct groth16_key *key;
    struct groth16_sums sums;
    struct scalar r, s;
    struct proof proof;
    struct vk vk;
    uint64_t mark_ns;
};

/* Close the stage that began at the last mark. */
static void stage_end(struct job *j, enum prove_stage stage)
{
    uint64_t now = clock_now_ns();
    j->report->stage_s[stage] += (double)(now - j->mark_ns) * 1e-9;
    span_add(j->req->spans,
             &(struct span){.stage = prove_stage_names[stage], .lane = "job", .begin_ns = j->mark_ns, .end_ns = now});
    j->mark_ns = now;
}

static int job_open(struct job *j)
{
    int rc = prove_input_open(&j->input, j->device, j->req);
    if (rc)
        return rc;
    j->zkey = j->input.zkey;
    j->wtns = j->input.wtns;
    const struct zkey *z = j->zkey;
    if (z->trailing_bytes)
        log_line(LOG_WARN, "%s: %zu bytes after the last section", j->req->key_path, z->trailing_bytes);
    if (j->wtns->trailing_bytes)
        log_line(LOG_WARN, "%s: %zu bytes after the last section", j->req->witness_path, j->wtns->trailing_bytes);
    j->report->curve = z->curve;
    j->report->n_vars = z->n_vars;
    j->report->n_public = z->n_public;
    j->report->domain_size = z->domain_size;
    j->report->n_coefs = z->n_coefs;
    j->report->key_bytes = z->map.bytes;
    j->report->witness_bytes = j->wtns->map.bytes;
    count_add(COUNT_READ_BYTES, z->map.bytes + j->wtns->map.bytes);
    if (!j->req->r1cs_path)
        return 0;
    struct r1cs *r1cs;
    rc = r1cs_open(&r1cs, j->req->r1cs_path);
    if (rc)
        return rc;
    rc = r1cs_check_witness(r1cs, j->wtns, NULL);
    r1cs_close(r1cs);
    return rc;
}

/* Wires 1..n_public, as a verifier gets them. */
static int publics_from_wtns(struct publics *publics, const struct wtns *wtns, size_t n_public)
{
    publics->n = n_public;
    publics->values = malloc((n_public + 1) * sizeof *publics->values);
    if (!publics->values)
        return err_fail(-ENOMEM, "no memory for %zu public values", n_public);
    for (size_t i = 0; i < n_public; i++)
        publics->values[i] = wtns_value(wtns, 1 + i);
    return 0;
}

/* *good: does the proof of these sums verify? */
static int job_judge(struct job *j, bool *good)
{
    groth16_fold(&j->proof, j->zkey, &j->sums, &j->r, &j->s);
    stage_end(j, STAGE_FOLD);
    struct publics publics = {0};
    int rc = publics_from_wtns(&publics, j->wtns, j->zkey->n_public);
    enum pen_verdict verdict = PEN_FALSE;
    if (!rc)
        rc = verify_groth16(&verdict, &j->vk, &j->proof, &publics);
    publics_close(&publics);
    *good = verdict == PEN_VALID;
    stage_end(j, STAGE_VERIFY);
    return rc;
}

static void name_differences(char *text, size_t bytes, const struct groth16_sums *was, const struct groth16_sums *is)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < GROTH16_PARTS && used < bytes; i++) {
        if (memcmp(&was->part[i], &is->part[i], sizeof was->part[i]) != 0)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", groth16_part_names[i]);
    }
}

/* The sums once more, on a host device of our own. */
static int job_recompute(struct job *j, struct groth16_sums *sums)
{
    struct device *host;
    struct groth16_key *key = NULL;
    int rc = device_host_open(&host, NULL);
    if (rc)
        return rc;
    rc = groth16_key_open(&key, host, j->zkey, &(struct groth16_key_opts){.spans = j->req->spans});
    if (!rc)
        rc = groth16_compute(key, sums, j->wtns, j->req->progress, j->req->ctx);
    groth16_key_close(key);
    host->ops->close(host);
    return rc;
}

/* The device gave no sums (`why` says so) or wrong ones: the host recomputes. Equal sums and still no valid proof: then
 * the inputs are at fault, and a key alone cannot tell which, since it has no C rows. */
static int job_second_opinion(struct job *j, const char *why)
{
    struct groth16_sums first = j->sums;
    log_line(LOG_WARN, "%s; recomputing on the host", why ? why : "the proof does not verify");
    int rc = job_recompute(j, &j->sums);
    stage_end(j, STAGE_COMPUTE);
    bool good = false;
    if (!rc)
        rc = job_judge(j, &good);
    if (rc)
        return rc;
    if (!good) {
        count_add(COUNT_PROOFS_REFUSED, 1);
        return err_fail(-EBADMSG, "%s with %s: the proof does not verify, so none is written: %s", j->req->witness_path,
                        j->req->key_path,
                        j->req->r1cs_path
                            ? "the witness satisfies the circuit, so the key is corrupt or another circuit's"
                            : "the witness does not satisfy the circuit, or the key is corrupt "
                              "(--r1cs FILE tells which; `penstock key check` tests the key)");
    }
    count_add(COUNT_DEVICE_FAULTS, 1);
    j->report->device_fault = true;
    if (why) {
        snprintf(j->report->fault, sizeof j->report->fault, "%s", why);
    } else {
        char parts[64];
        name_differences(parts, sizeof parts, &first, &j->sums);
        snprintf(j->report->fault, sizeof j->report->fault, "the device computed %s wrongly", parts);
    }
    return 0;
}

static int job_compute(struct job *j)
{
    int rc = vk_from_zkey(&j->vk, j->zkey);
    if (rc)
        return rc;
    rc = groth16_key_open(&j->key, j->device, j->zkey,
                          &(struct groth16_key_opts){.one_proof = true, .spans = j->req->spans});
    stage_end(j, STAGE_LOAD);
    if (rc == -EBADMSG || rc == -ENOMEM)
        return rc;
    if (!rc)
        rc = groth16_compute(j->key, &j->sums, j->wtns, j->req->progress, j->req->ctx);
    stage_end(j, STAGE_COMPUTE);
    if (rc == -EIO) { /* the device failed; the job need not */
        char why[200];
        snprintf(why, sizeof why, "%.180s", pen_last_error());
        return job_second_opinion(j, why);
    }
    bool good = false;
    if (!rc)
        rc = job_judge(j, &good);
    if (!rc && !good)
        rc = job_second_opinion(j, NULL);
    return rc;
}

/* Open both outputs and do `commit`: with false only to learn, before the work begins, that it can be written. */
static int job_write(struct job *j, bool commit)
{
    struct file_out *out;
    FILE *proof, *publics;
    int rc = file_out_open(&out);
    if (rc)
        return rc;
    rc = file_out_add(out, &proof, j->req->proof_path);
    if (!rc)
        rc = file_out_add(out, &publics, j->req->public_path);
    if (!rc && commit) {
        rc = proof_json_write(proof, &j->proof);
        if (!rc)
            rc = public_json_write(publics, j->wtns->values + 32, j->zkey->n_public);
        if (!rc)
            rc = file_out_commit(out), out = NULL;
    }
    file_out_abort(out);
    j->report->output_failed = rc != 0;
    return rc;
}

int prove_job_run(struct prove_report *report, struct device *device, const struct prove_request *request)
{
    *report = (struct prove_report){0};
    struct job j = {.req = request, .report = report, .device = device, .mark_ns = clock_now_ns()};
    int rc = job_open(&j);
    if (!rc)
        rc = job_write(&j, false);
    stage_end(&j, STAGE_OPEN);
    if (!rc)
        rc = blinding_draw(j.zkey->curve, &j.r, &j.s);
    if (!rc)
        rc = job_compute(&j);
    if (!rc)
        rc = job_write(&j, true);
    stage_end(&j, STAGE_WRITE);
    if (!rc)
        count_add(COUNT_PROOFS, 1);
    groth16_key_close(j.key);
    vk_close(&j.vk);
    prove_input_close(&j.input, report);
    explicit_bzero(&j.r, sizeof j.r);
    explicit_bzero(&j.s, sizeof j.s);
    return rc;
}
