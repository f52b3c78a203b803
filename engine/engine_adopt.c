/* Circuits and inputs that come from no file: benchmarks make keys with kernels, and a synthesis pushes rows. */
#include "engine/engine_internal.h"
#include "perf/err.h"

int engine_circuit_adopt(struct pen_engine *e, const char *name, struct zkey *zkey, struct vk *vk,
                         struct groth16_key *const *keys, const struct residency_plan *plan)
{
    struct circuit *c = NULL;
    uint32_t mask = 0;
    uint64_t bytes = 0;
    for (unsigned d = 0; d < e->gpus; d++) {
        if (!keys[d])
            continue;
        mask |= 1u << d;
        if (bytes && groth16_input_bytes(keys[d]) != bytes)
            return err_fail(-EINVAL, "circuit %s: its keys want inputs of different sizes", name);
        bytes = groth16_input_bytes(keys[d]);
    }
    if (!mask)
        return err_fail(-EINVAL, "circuit %s: no key for any of %u devices", name, e->gpus);
    pthread_mutex_lock(&e->lock);
    int rc = circuit_reserve(e, &c, name);
    if (!rc)
        rc = sched_circuit(e->sched, c->index, GROTH16_STEPS, mask);
    if (!rc) {
        for (unsigned d = 0; d < e->gpus; d++) {
            c->on[d].key = keys[d];
            c->on[d].planned = keys[d] && plan;
            if (keys[d] && plan)
                c->on[d].plan = *plan;
        }
        c->zkey = zkey;
        c->vk = *vk;
        *vk = (struct vk){0};
        c->input_bytes = bytes;
    }
    pthread_mutex_unlock(&e->lock);
    for (unsigned d = 0; d < e->gpus && !rc && plan; d++)
        rc = keys[d] ? circuit_slots(e, c, d, bytes) : 0;
    return rc;
}

int engine_submit_rows(struct pen_engine *e, uint64_t *job_p, const char *circuit, const void *input, size_t bytes,
                       const struct pen_job_opts *opts)
{
    pthread_mutex_lock(&e->lock);
    const struct circuit *c = circuit_find(e, circuit);
    uint64_t want = c ? c->input_bytes : 0;
    pthread_mutex_unlock(&e->lock);
    if (!c)
        return -ENOENT;
    if (bytes != want)
        return err_fail(-EINVAL, "circuit %s: an input of %zu bytes, its key wants %llu", circuit, bytes,
                        (unsigned long long)want);
    struct task *t = task_new(SOURCE_ROWS);
    if (!t)
        return -ENOMEM;
    t->data = input;
    t->data_bytes = bytes;
    return task_submit(e, job_p, circuit, t, opts);
}
