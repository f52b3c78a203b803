/* Keys and witness files of an engine, in leases. A circuit's points stay in its own arenas, registered with the
 * devices, for as long as a device uses them there; where all devices hold copies, the memory goes back. Witness files
 * pass through the same arenas. */
#include "engine/engine_internal.h"
#include "engine/key_source.h"
#include "perf/err.h"
#include "prover/file_read.h"

enum { WITNESS_HEADERS = 64 << 10 };

/* One registration serves all GPUs of a process; a host device notes it, and checks the rules. */
static struct device *device_for_leases(const struct pen_engine *e)
{
    for (unsigned d = 0; d < e->gpus; d++) {
        struct device_info info;
        struct device *device = e->gpu[d].device;
        if (device->ops->info(device, &info) == 0 && !(info.flags & DEVICE_HOST_MEMORY))
            return device;
    }
    return e->gpus ? e->gpu[0].device : NULL;
}

/* All that the engine's circuits hold counts against the machine's memory, idle or not. */
static int engine_budget(struct pen_engine *e)
{
    pthread_mutex_lock(&e->lock);
    int rc = e->budget ? 0 : key_source_budget_open(&e->budget);
    pthread_mutex_unlock(&e->lock);
    return rc;
}

int circuit_key_open(struct pen_engine *e, struct circuit *c, const char *path)
{
    struct byte_source *source;
    int rc = engine_budget(e);
    if (!rc)
        rc = key_source_open(
            &source, path,
            &(struct key_source_opts){.device = device_for_leases(e), .keep = true, .budget = e->budget});
    if (!rc)
        rc = zkey_open_source(&c->zkey, source);
    if (!rc)
        rc = key_source_begin(source, c->zkey, (uint64_t)c->zkey->n_vars * sizeof(struct scalar) + WITNESS_HEADERS);
    if (!rc)
        rc = key_source_plan(source, c->zkey);
    if (!rc)
        c->source = source;
    return rc;
}

void circuit_key_settle(struct circuit *c)
{
    key_source_let_go(c->source);
}

int task_witness_open(struct task *t)
{
    uint64_t bytes;
    const uint8_t *data;
    if (!t->circuit->source) /* its key came from no file */
        return wtns_open(&t->wtns, t->path);
    int rc = file_read_bytes(&bytes, t->path);
    if (rc)
        return rc;
    if (bytes) /* -E2BIG: no witness of this circuit; the parser will say what it is */
        rc = load_ask(key_source_loader(t->circuit->source), &t->load, t->path, 0, bytes, NULL);
    if (bytes == 0 || rc == -E2BIG)
        return wtns_open(&t->wtns, t->path);
    if (!rc)
        rc = key_source_error(load_wait(t->load, &data));
    return rc ? rc : wtns_open_memory(&t->wtns, t->path, data, (size_t)bytes);
}

void task_witness_close(struct task *t)
{
    wtns_close(t->wtns);
    load_drop(t->load);
    t->wtns = NULL;
    t->load = NULL;
}
