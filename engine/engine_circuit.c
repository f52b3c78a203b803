/* Circuits: loading and dropping keys, beside running jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_internal.h"
#include "perf/err.h"
#include "perf/log.h"

struct circuit *circuit_find(struct pen_engine *e, const char *name)
{
    for (int i = 0; i < ENGINE_CIRCUITS; i++) {
        if (e->circuit[i] && e->circuit[i]->input_bytes && strcmp(e->circuit[i]->name, name) == 0)
            return e->circuit[i];
    }
    err_fail(-ENOENT, "no circuit \"%s\" is loaded", name);
    return NULL;
}

void circuit_close(struct pen_engine *e, struct circuit *c)
{
    for (unsigned d = 0; d < e->gpus; d++) {
        struct engine_key *k = &c->on[d];
        while (k->spares)
            e->gpu[d].device->ops->free(e->gpu[d].device, k->spare[--k->spares]);
        groth16_key_close(k->key);
    }
    vk_close(&c->vk);
    zkey_close(c->zkey);
    free(c);
}

/* A place and a name, so that the same circuit is not loaded twice while the lock is away. The lock is held. */
int circuit_reserve(struct pen_engine *e, struct circuit **c_p, const char *name)
{
    if (!name[0] || strlen(name) >= sizeof(*c_p)->name)
        return err_fail(-EINVAL, "a circuit's name has 1 to %zu bytes", sizeof(*c_p)->name - 1);
    unsigned at = ENGINE_CIRCUITS;
    for (unsigned i = 0; i < ENGINE_CIRCUITS; i++) {
        if (!e->circuit[i])
            at = at == ENGINE_CIRCUITS ? i : at;
        else if (strcmp(e->circuit[i]->name, name) == 0)
            return err_fail(-EEXIST, "a circuit \"%s\" is loaded already", name);
    }
    if (at == ENGINE_CIRCUITS)
        return err_fail(-ENOSPC, "%d circuits are loaded; drop one first", ENGINE_CIRCUITS);
    struct circuit *c = calloc(1, sizeof *c);
    if (!c)
        return err_fail(-ENOMEM, "no memory for a circuit");
    snprintf(c->name, sizeof c->name, "%s", name);
    c->index = at;
    *c_p = e->circuit[at] = c;
    return 0;
}

/* On every device that can take it; *mask says which. */
static int circuit_open(struct pen_engine *e, struct circuit *c, const char *path, uint32_t *mask)
{
    int rc = circuit_key_open(e, c, path);
    if (!rc)
        rc = vk_from_zkey(&c->vk, c->zkey);
    if (rc)
        return rc;
    int failed = 0;
    *mask = 0;
    for (unsigned d = 0; d < e->gpus; d++) {
        rc = circuit_put(e, c, d);
        if (rc == -EBADMSG)
            return rc;
        if (rc) {
            failed = rc;
            log_line(LOG_WARN, "circuit %s is not on %s: %s", c->name, e->gpu[d].name, pen_last_error());
        } else {
            *mask |= 1u << d;
        }
    }
    circuit_key_settle(c);
    return *mask ? 0 : failed;
}

int pen_circuit_load(struct pen_engine *e, const char *name, const char *key_path)
{
    struct circuit *c = NULL;
    uint32_t mask = 0;
    pthread_mutex_lock(&e->lock);
    int rc = circuit_reserve(e, &c, name);
    pthread_mutex_unlock(&e->lock);
    if (rc || !c)
        return rc;
    rc = circuit_open(e, c, key_path, &mask); /* takes long; jobs of other circuits go on */
    pthread_mutex_lock(&e->lock);
    if (!rc)
        rc = sched_circuit(e->sched, c->index, GROTH16_STEPS, mask);
    if (rc)
        e->circuit[c->index] = NULL;
    else
        c->input_bytes = (uint64_t)c->zkey->n_vars * sizeof(struct scalar);
    pthread_mutex_unlock(&e->lock);
    if (rc)
        circuit_close(e, c);
    return rc;
}

int pen_circuit_drop(struct pen_engine *e, const char *name)
{
    pthread_mutex_lock(&e->lock);
    struct circuit *c = circuit_find(e, name);
    int rc = c ? 0 : -ENOENT;
    if (c && c->users)
        rc = err_fail(-EBUSY, "circuit %s: %u jobs need it", name, c->users);
    if (!rc) {
        (void)sched_circuit(e->sched, c->index, 0, 0);
        e->circuit[c->index] = NULL;
    }
    pthread_mutex_unlock(&e->lock);
    if (!rc)
        circuit_close(e, c);
    return rc;
}

int pen_circuit_read(struct pen_engine *e, struct pen_circuit_info *info, const char *name)
{
    pthread_mutex_lock(&e->lock);
    const struct circuit *c = circuit_find(e, name);
    struct pen_circuit_info got = {0};
    uint64_t copy_ns = 0, compute_ns = 0;
    for (unsigned d = 0; c && d < e->gpus; d++) {
        const struct engine_key *k = &c->on[d];
        if (!k->key)
            continue;
        if (got.devices++ == 0 && k->planned) {
            for (unsigned i = 0; i < GROTH16_PARTS; i++)
                got.streamed_parts += k->plan.part[i] == PLACE_STREAMED;
            got.multiples = k->plan.multiples;
            got.slots = k->plan.slots;
            got.device_bytes = k->plan.device_bytes;
            got.streamed_bytes = k->plan.streamed_bytes;
            got.predicted_s = k->plan.proof_s;
            got.predicted_compute_s = k->plan.compute_s;
            got.predicted_copy_s = k->plan.link_s;
        }
        got.proofs += k->proofs;
        copy_ns += k->lane_ns[LANE_COPY];
        compute_ns += k->lane_ns[LANE_COMPUTE];
    }
    if (c) {
        got.input_bytes = c->input_bytes;
        got.compute_s = got.proofs ? (double)compute_ns * 1e-9 / (double)got.proofs : 0;
        got.copy_s = got.proofs ? (double)copy_ns * 1e-9 / (double)got.proofs : 0;
        *info = got;
    }
    pthread_mutex_unlock(&e->lock);
    return c ? 0 : -ENOENT;
}
