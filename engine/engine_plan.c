/* Residency in practice: what the plan says about a key is what its device gets. */
#include "engine/engine_internal.h"
#include "perf/err.h"
#include "perf/log.h"
#include "perf/units.h"

struct key_sizes circuit_sizes(const struct circuit *c)
{
    static const enum zkey_set set[GROTH16_PARTS] = {ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_C, ZKEY_H};
    const struct zkey *z = c->zkey;
    struct key_sizes s = {.curve = z->curve,
                          .n_vars = z->n_vars,
                          .n_public = z->n_public,
                          .domain_size = z->domain_size,
                          .nonzeros = z->n_coefs};
    for (int i = 0; i < GROTH16_PARTS; i++)
        s.points[i] = z->points[set[i]].n;
    return s;
}

int circuit_slots(struct pen_engine *e, struct circuit *c, unsigned d, uint64_t bytes)
{
    struct engine_key *k = &c->on[d];
    struct device *device = e->gpu[d].device;
    unsigned want = k->plan.slots < ENGINE_SPARE ? k->plan.slots : ENGINE_SPARE;
    int rc = 0;
    while (k->spares < want && !rc) {
        struct dbuf b;
        rc = device->ops->alloc(device, &b, bytes);
        if (!rc)
            k->spare[k->spares++] = b;
    }
    if (k->spares == 0)
        return rc;
    if (k->spares < want)
        log_line(LOG_WARN, "circuit %s: %u of %u buffers for inputs on %s: %s", c->name, k->spares, want,
                 e->gpu[d].name, pen_last_error());
    pthread_mutex_lock(&e->lock);
    sched_slots(e->sched, c->index, d, k->spares);
    pthread_mutex_unlock(&e->lock);
    return 0;
}

static int key_open(struct pen_engine *e, struct circuit *c, unsigned d, const struct key_sizes *sizes)
{
    struct engine_key *k = &c->on[d];
    struct groth16_key_opts opts = {.own_inputs = true, .resident = k->planned};
    if (k->planned && !k->plan.matrices_on_device)
        opts.streamed |= GROTH16_MATRICES;
    for (int i = 0; i < GROTH16_PARTS && k->planned; i++) {
        opts.streamed |= (unsigned)(k->plan.part[i] == PLACE_STREAMED) << i;
        opts.multiples[i] = residency_multiples(&k->plan, sizes, i);
    }
    return groth16_key_open(&k->key, e->gpu[d].device, c->zkey, &opts);
}

/* The least a key can do with, for when the device has less than it said. */
static void plan_least(struct residency_plan *p)
{
    p->matrices_on_device = false;
    p->multiples = p->slots = 1;
    for (int i = 0; i < GROTH16_PARTS; i++)
        p->part[i] = PLACE_STREAMED;
}

int circuit_put(struct pen_engine *e, struct circuit *c, unsigned d)
{
    struct engine_key *k = &c->on[d];
    struct device *device = e->gpu[d].device;
    struct key_sizes sizes = circuit_sizes(c);
    struct device_info info;
    int rc = device->ops->info(device, &info);
    if (rc)
        return rc;
    if (info.flags & DEVICE_HOST_MEMORY)
        return key_open(e, c, d, &sizes);
    struct residency_limits limits = {.device_bytes = info.free_bytes,
                                      .scratch_bytes = residency_scratch(&sizes, info.free_bytes),
                                      .pinned_bytes = UINT64_MAX,
                                      .per_pass = 1};
    rc = residency_make(&k->plan, &sizes, &limits, NULL);
    if (rc)
        return rc;
    k->planned = true;
    rc = key_open(e, c, d, &sizes);
    if (rc == -ENOMEM) {
        log_line(LOG_WARN, "circuit %s: %s, against the plan; its points are streamed", c->name, pen_last_error());
        plan_least(&k->plan);
        rc = key_open(e, c, d, &sizes);
    }
    if (!rc)
        rc = circuit_slots(e, c, d, sizes.n_vars * sizeof(struct scalar));
    if (rc) {
        groth16_key_close(k->key);
        k->key = NULL;
        return rc;
    }
    char device_text[UNITS_TEXT], time[UNITS_TEXT];
    log_line(LOG_INFO, "circuit %s on %s: %s, %u copies, %u slots; %s for each proof foreseen", c->name, e->gpu[d].name,
             units_bytes(device_text, k->plan.device_bytes), k->plan.multiples, k->spares,
             units_seconds(time, k->plan.proof_s));
    return 0;
}
