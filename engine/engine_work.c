/* What the lanes do for a Groth16 job: open the witness, copy it, compute the sums, fold and verify. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_internal.h"
#include "perf/count.h"
#include "perf/err.h"
#include "perf/log.h"
#include "prover/blinding.h"
#include "prover/proof_json.h"
#include "prover/public_json.h"
#include "prover/verify.h"

static size_t values_bytes(const struct task *t)
{
    return (size_t)t->circuit->zkey->n_vars * sizeof(struct scalar);
}

static int read_produced(struct task *t)
{
    const struct zkey *z = t->circuit->zkey;
    static const struct scalar one = {{1}};
    t->values_own = malloc(values_bytes(t));
    if (!t->values_own)
        return err_fail(-ENOMEM, "no memory for a witness of %zu bytes", values_bytes(t));
    int rc = t->producer(t->ctx, t->values_own, z->n_vars);
    if (rc)
        return err_fail(rc < 0 ? rc : -EIO, "the producer of the witness failed (%d)", rc);
    size_t bad = scalars_find_bad(z->curve, t->values_own, z->n_vars);
    if (bad < z->n_vars)
        return err_fail(-EBADMSG, "produced witness: element %zu is not below the field's order", bad);
    if (memcmp(t->values_own, &one, sizeof one) != 0)
        return err_fail(-EBADMSG, "produced witness: element 0 must be one");
    t->values = t->values_own;
    return 0;
}

static int work_read(struct task *t)
{
    work_input_close(t); /* of an earlier try on another device */
    t->rescue = false;
    if (t->source == SOURCE_PRODUCER)
        return read_produced(t);
    if (t->source == SOURCE_ROWS) {
        t->values = t->data;
        return 0;
    }
    int rc =
        t->source == SOURCE_FILE ? task_witness_open(t) : wtns_open_memory(&t->wtns, "witness", t->data, t->data_bytes);
    if (!rc)
        rc = wtns_match_zkey(t->wtns, t->circuit->zkey);
    if (rc)
        return rc;
    t->values = t->wtns->values;
    count_add(COUNT_READ_BYTES, t->wtns->map.bytes);
    return 0;
}

void work_input_close(struct task *t)
{
    task_witness_close(t);
    free(t->values_own);
    t->values_own = NULL;
    t->values = NULL;
}

static int slot_take(struct pen_engine *e, struct task *t, unsigned device)
{
    struct engine_key *k = &t->circuit->on[device];
    struct device *d = e->gpu[device].device;
    int rc = 0;
    pthread_mutex_lock(&t->slot_lock);
    if (!t->slot.bytes) {
        pthread_mutex_lock(&e->lock);
        if (k->spares)
            t->slot = k->spare[--k->spares];
        pthread_mutex_unlock(&e->lock);
        if (!t->slot.bytes)
            rc = d->ops->alloc(d, &t->slot, t->circuit->input_bytes);
    }
    pthread_mutex_unlock(&t->slot_lock);
    return rc;
}

void work_slot_give(struct pen_engine *e, struct task *t, unsigned device)
{
    struct engine_key *k = &t->circuit->on[device];
    struct device *d = e->gpu[device].device;
    if (!t->slot.bytes)
        return;
    if (k->spares < ENGINE_SPARE)
        k->spare[k->spares++] = t->slot;
    else
        d->ops->free(d, t->slot);
    t->slot = (struct dbuf){0};
}

static unsigned devices_of(const struct pen_engine *e, const struct circuit *c)
{
    unsigned n = 0;
    for (unsigned d = 0; d < e->gpus; d++)
        n += c->on[d].key != NULL;
    return n;
}

/* A device failed. Where it is the only one for its circuit the job goes on, and its fold lane computes on the host. */
static int rescue(const struct pen_engine *e, struct task *t, int rc)
{
    if (devices_of(e, t->circuit) > 1 || rc == -EINVAL)
        return rc;
    log_line(LOG_WARN, "%s; the host will compute this proof", pen_last_error());
    t->rescue = true;
    return 0;
}

static int work_copy(struct pen_engine *e, struct lane_thread *lane, struct task *t, const struct action *a)
{
    struct device *d = e->gpu[a->device].device;
    if (t->rescue)
        return 0;
    int rc = slot_take(e, t, a->device);
    if (!rc && !lane->stream)
        rc = d->ops->stream_open(d, &lane->stream, NULL);
    if (!rc)
        rc = d->ops->copy_h2d(lane->stream, dbuf_at(t->slot, a->first, a->bytes), t->values + a->first, a->bytes);
    if (!rc)
        rc = d->ops->stream_sync(lane->stream);
    if (rc && lane->stream) { /* after a failure a stream refuses work */
        d->ops->stream_close(lane->stream);
        lane->stream = NULL;
    }
    if (rc)
        return rescue(e, t, rc);
    count_add(COUNT_H2D_BYTES, a->bytes);
    return 0;
}

static int work_compute(struct pen_engine *e, struct task *t, const struct action *a)
{
    struct groth16_key *key = t->circuit->on[a->device].key;
    if (t->rescue)
        return 0;
    int rc = groth16_step(key, &t->sums, t->slot, a->step);
    if (!rc)
        return 0;
    char why[1024];
    err_copy(why);
    bool usable = groth16_key_reset(key) == 0;
    err_set(why);
    return rescue(e, t, usable || rc == -EINVAL ? rc : -ENODEV);
}

/* The sums once more on a host device of our own, one job at a time: this is rare and takes all CPUs. */
static int work_recompute(struct pen_engine *e, struct task *t)
{
    struct device *host;
    struct groth16_key *key = NULL;
    struct wtns wtns = {.curve = t->circuit->zkey->curve, .values = t->values, .n = t->circuit->zkey->n_vars};
    int rc = device_host_open(&host, &(struct device_opts){.threads = e->host_threads});
    if (rc)
        return rc;
    pthread_mutex_lock(&e->rescue_lock);
    rc = groth16_key_open(&key, host, t->circuit->zkey, &(struct groth16_key_opts){0});
    if (!rc)
        rc = groth16_compute(key, &t->sums, &wtns, NULL, NULL);
    groth16_key_close(key);
    pthread_mutex_unlock(&e->rescue_lock);
    host->ops->close(host);
    return rc;
}

static int fold_and_judge(struct task *t, struct proof *proof, const struct publics *publics, bool *good)
{
    struct scalar r, s;
    enum pen_verdict verdict = PEN_FALSE;
    int rc = blinding_draw(t->circuit->zkey->curve, &r, &s);
    if (!rc) {
        groth16_fold(proof, t->circuit->zkey, &t->sums, &r, &s);
        rc = verify_groth16(&verdict, &t->circuit->vk, proof, publics);
    }
    explicit_bzero(&r, sizeof r);
    explicit_bzero(&s, sizeof s);
    *good = verdict == PEN_VALID;
    return rc;
}

static int write_texts(struct task *t, const struct proof *proof)
{
    size_t n;
    FILE *f = open_memstream(&t->proof_json, &n);
    int rc = f ? proof_json_write(f, proof) : -ENOMEM;
    if (f && fclose(f) && !rc)
        rc = err_fail(-ENOMEM, "no memory for a proof's text");
    f = rc ? NULL : open_memstream(&t->public_json, &n);
    if (f)
        rc = public_json_write(f, t->values + 32, t->circuit->zkey->n_public);
    if (f && fclose(f) && !rc)
        rc = err_fail(-ENOMEM, "no memory for the public values' text");
    return rc;
}

static int work_fold(struct pen_engine *e, struct task *t)
{
    const struct zkey *z = t->circuit->zkey;
    struct publics publics = {.n = z->n_public, .values = malloc((z->n_public + 1) * sizeof(struct scalar))};
    struct proof proof;
    bool good = false;
    int rc = publics.values ? 0 : err_fail(-ENOMEM, "no memory for %u public values", z->n_public);
    if (!rc)
        memcpy(publics.values, t->values + 32, z->n_public * sizeof(struct scalar));
    if (!rc && !t->rescue)
        rc = fold_and_judge(t, &proof, &publics, &good);
    if (!rc && !good) { /* is the device wrong, or the witness? */
        rc = work_recompute(e, t);
        if (!rc)
            rc = fold_and_judge(t, &proof, &publics, &good);
        if (!rc && good) {
            t->device_fault = true;
            count_add(COUNT_DEVICE_FAULTS, 1);
            log_line(LOG_WARN, "circuit %s: a device gave no or wrong results, the host proved", t->circuit->name);
        }
    }
    publics_close(&publics);
    if (rc)
        return rc;
    if (!good) {
        count_add(COUNT_PROOFS_REFUSED, 1);
        return err_fail(-EBADMSG,
                        "circuit %s: the proof does not verify: the witness does not satisfy the circuit, or "
                        "the key is corrupt",
                        t->circuit->name);
    }
    rc = write_texts(t, &proof);
    if (!rc)
        count_add(COUNT_PROOFS, 1);
    return rc;
}

int work_do(struct pen_engine *e, struct lane_thread *lane, const struct action *a)
{
    struct task *t = a->job->owner;
    switch (a->lane) {
    case LANE_READ:
        return work_read(t);
    case LANE_COPY:
        return work_copy(e, lane, t, a);
    case LANE_COMPUTE:
        return work_compute(e, t, a);
    default:
        return work_fold(e, t);
    }
}
