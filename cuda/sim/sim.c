/* The simulated machine: clock, faults, registration. */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/sim_internal.h"
#include "perf/clock_virtual.h"
#include "perf/err.h"

#define SIM_OP_NAME(id, name) #name,
const char *const sim_op_names[SIM_OP_KINDS] = {SIM_OPS(SIM_OP_NAME)};
#undef SIM_OP_NAME

static uint64_t timer_next(void *ctx)
{
    struct sim *sim = ctx;
    pthread_mutex_lock(&sim->lock);
    uint64_t next_ns = world_next_ns(sim->world);
    pthread_mutex_unlock(&sim->lock);
    return next_ns;
}

static void timer_fire(void *ctx, uint64_t now_ns)
{
    struct sim *sim = ctx;
    pthread_mutex_lock(&sim->lock);
    world_run(sim->world, now_ns);
    pthread_mutex_unlock(&sim->lock);
}

static void defaults(struct sim *sim)
{
    struct sim_opts *o = &sim->opts;
    sim->rates = o->rates ? *o->rates : sim_rates_h200;
    if (!o->memory_bytes)
        o->memory_bytes = (size_t)(139.8 * 0x1p30);
    if (!o->register_ns_per_gib)
        o->register_ns_per_gib = 20000000;
    if (!o->pageable_bytes_per_s)
        o->pageable_bytes_per_s = 7600000000u;
    if (!o->register_max_bytes)
        o->register_max_bytes = (size_t)512 << 30;
}

int sim_open(struct sim **sim_p, const struct sim_opts *opts)
{
    struct sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return err_fail(-ENOMEM, "no memory for a simulated machine");
    sim->opts = *opts;
    defaults(sim);
    int rc = world_open(&sim->world, &opts->world);
    if (rc) {
        free(sim);
        return rc;
    }
    pthread_mutex_init(&sim->lock, NULL);
    pthread_cond_init(&sim->registered, NULL);
    sim->timer = (struct clock_timer){timer_next, timer_fire, sim, NULL};
    if (opts->clock) {
        world_run(sim->world, clock_now_ns());
        clock_timer_add(opts->clock, &sim->timer);
    }
    *sim_p = sim;
    return 0;
}

int sim_close(struct sim *sim)
{
    if (!sim)
        return 0;
    if (sim->open)
        return err_fail(-EBUSY, "%u simulated devices are still open", sim->open);
    if (sim->opts.clock)
        clock_timer_remove(sim->opts.clock, &sim->timer);
    while (sim->ranges) {
        struct sim_range *r = sim->ranges;
        sim->ranges = r->next;
        free(r);
    }
    world_close(sim->world);
    pthread_cond_destroy(&sim->registered);
    pthread_mutex_destroy(&sim->lock);
    free(sim);
    return 0;
}

struct world *sim_world(struct sim *sim)
{
    return sim->world;
}

void sim_fault(struct sim *sim, const struct sim_fault *fault)
{
    pthread_mutex_lock(&sim->lock);
    sim->armed = fault != NULL;
    sim->went_off = false;
    if (fault)
        sim->fault = *fault;
    pthread_mutex_unlock(&sim->lock);
}

bool sim_fault_went_off(const struct sim *sim)
{
    return sim->went_off;
}

uint64_t sim_calls(const struct sim *sim, enum sim_op op)
{
    return sim->calls[op];
}

size_t sim_taken_bytes(const struct sim *sim)
{
    return sim->taken;
}

size_t sim_handles(const struct sim *sim)
{
    return sim->handles;
}

static bool takes_memory(enum sim_op op)
{
    return op == SIM_ALLOC || op == SIM_BASES_OPEN || op == SIM_MATRIX_OPEN;
}

int sim_enter(struct sim_device *d, enum sim_op op, int *late, bool *wrong)
{
    struct sim *sim = d->sim;
    if (sim->opts.clock)
        world_run(sim->world, clock_now_ns()); /* the clock may have moved without anything due here */
    sim->calls[op]++;
    if (d->lost)
        return err_fail(-EIO, "simulated device %u is lost: %s", d->ordinal, sim_op_names[op]);
    struct sim_fault *f = &sim->fault;
    if (!sim->armed || f->op != op || (f->device != SIM_ANY_DEVICE && (unsigned)f->device != d->ordinal) || --f->at)
        return 0;
    sim->armed = false;
    sim->went_off = true;
    d->lost = f->lost;
    if (f->wrong) {
        if (wrong)
            *wrong = true;
        return 0;
    }
    int rc = f->rc ? f->rc : takes_memory(op) ? -ENOMEM : -EIO;
    err_fail(rc, "simulated fault: %s on device %u", sim_op_names[op], d->ordinal);
    if (!f->late || !late)
        return rc;
    *late = rc;
    return 0;
}

int sim_pass(struct sim *sim, pthread_cond_t *cond)
{
    if (sim->opts.clock) {
        (void)clock_wait(cond, &sim->lock, CLOCK_NEVER);
        return 0;
    }
    uint64_t next_ns = world_next_ns(sim->world);
    if (next_ns == WORLD_NEVER)
        return err_fail(-EDEADLK, "a simulated stream waits for an event that nobody will record");
    world_run(sim->world, next_ns);
    return 0;
}

void sim_process_lock(struct sim *sim, bool take)
{
    while (sim->registering && sim_pass(sim, &sim->registered) == 0)
        ;
    if (take)
        sim->registering = true;
}

static void registration_end(void *ctx)
{
    struct sim *sim = ctx;
    sim->registering = false;
    clock_broadcast(&sim->registered);
}

static struct sim_range *range_touching(struct sim *sim, uintptr_t base, size_t bytes)
{
    for (struct sim_range *r = sim->ranges; r; r = r->next) {
        if (base < r->base + r->bytes && r->base < base + bytes)
            return r;
    }
    return NULL;
}

/* The driver's lock is held for the whole time: other calls of the process stand still. */
static int process_busy(struct sim *sim, size_t bytes)
{
    if (clock_virtual_outside())
        return 0; /* a pool's thread registers: it takes no part in this time */
    uint64_t ns = (uint64_t)((double)sim->opts.register_ns_per_gib * ((double)bytes / 0x1p30));
    sim_process_lock(sim, true);
    int rc = world_after(sim->world, ns, registration_end, sim);
    if (rc)
        registration_end(sim);
    while (!rc && sim->registering)
        rc = sim_pass(sim, &sim->registered);
    return rc;
}

static int range_add(struct sim *sim, uintptr_t base, size_t bytes)
{
    struct sim_range *r = range_touching(sim, base, bytes);
    if (bytes == 0 || bytes > sim->opts.register_max_bytes)
        return err_fail(-ENOMEM, "simulated driver: cannot register %zu bytes in one call, at most %zu", bytes,
                        sim->opts.register_max_bytes);
    if (r && r->base == base && r->bytes == bytes) { /* for another device: the same pages */
        r->users++;
        return 0;
    }
    if (r)
        return err_fail(-EINVAL, "simulated driver: the range of %zu bytes overlaps a registered one of %zu", bytes,
                        r->bytes);
    int rc = process_busy(sim, bytes);
    if (rc)
        return rc;
    r = calloc(1, sizeof *r);
    if (!r)
        return err_fail(-ENOMEM, "no memory for a registration");
    *r = (struct sim_range){sim->ranges, base, bytes, 1};
    sim->ranges = r;
    return 0;
}

int sim_register(struct device *base, void *p, size_t bytes)
{
    struct sim_device *d = sim_of(base);
    pthread_mutex_lock(&d->sim->lock);
    int rc = sim_enter(d, SIM_HOST_REGISTER, NULL, NULL);
    if (!rc)
        rc = range_add(d->sim, (uintptr_t)p, bytes);
    pthread_mutex_unlock(&d->sim->lock);
    return rc;
}

int sim_unregister(struct device *base, void *p)
{
    struct sim_device *d = sim_of(base);
    struct sim *sim = d->sim;
    pthread_mutex_lock(&sim->lock);
    int rc = sim_enter(d, SIM_HOST_UNREGISTER, NULL, NULL);
    struct sim_range **at = &sim->ranges;
    while (*at && (*at)->base != (uintptr_t)p)
        at = &(*at)->next;
    if (!rc && !*at)
        rc = err_fail(-EINVAL, "simulated driver: nothing is registered at %p", p);
    if (!rc && --(*at)->users == 0) {
        struct sim_range *r = *at;
        *at = r->next;
        rc = process_busy(sim, r->bytes);
        free(r);
    }
    pthread_mutex_unlock(&sim->lock);
    return rc;
}

int sim_registered(struct sim *sim, const void *p, size_t bytes, bool *registered)
{
    struct sim_range *r = range_touching(sim, (uintptr_t)p, bytes);
    *registered = r != NULL;
    if (r && ((uintptr_t)p < r->base || (uintptr_t)p + bytes > r->base + r->bytes))
        return err_fail(-EINVAL, "simulated driver: a copy of %zu bytes crosses the seam of a registration", bytes);
    return 0;
}
