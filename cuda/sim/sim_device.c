/* The table of a simulated device: memory is counted, operations become steps of their stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/sim_internal.h"
#include "perf/err.h"

/* 2^27 x 3 coset transforms: 144 ms; MSM 2^24 of BLS12-381 G1: 48 ms, BN254 G1: 22 ms. */
const struct sim_rates sim_rates_h200 = {
    .launch_ns = 5000,
    .msm_ps = {{1311, 4600}, {2861, 8941}},
    .ntt_ps = 179,
    .spmv_ps = 60,
    .pointwise_ps = 30,
    .zero_ps = 8,
    .sum_ps = 400,
    .mul_base_ps = 20000,
    .check_ps = 2000,
};

static uint64_t kernel_ns(const struct sim_device *d, uint64_t ps, uint64_t n)
{
    return d->sim->rates.launch_ns + (uint64_t)((unsigned __int128)ps * n / 1000);
}

static int device_info_read(struct device *base, struct device_info *out)
{
    struct sim_device *d = sim_of(base);
    pthread_mutex_lock(&d->sim->lock);
    int rc = sim_enter(d, SIM_INFO, NULL, NULL);
    if (!rc) {
        *out = (struct device_info){
            .flags = 0, .threads = 132, .memory_bytes = d->limit, .free_bytes = d->limit - d->taken};
        snprintf(out->name, sizeof out->name, "simulated GPU %u", d->ordinal);
        snprintf(out->id, sizeof out->id, "sim:%u", d->ordinal);
    }
    pthread_mutex_unlock(&d->sim->lock);
    return rc;
}

/* Count `bytes` of device memory. The lock is held. */
static int memory_take(struct sim_device *d, size_t bytes)
{
    if (bytes > d->limit - d->taken)
        return err_fail(-ENOMEM, "simulated device %u: %zu bytes asked, %zu of %zu are free", d->ordinal, bytes,
                        d->limit - d->taken, d->limit);
    d->taken += bytes;
    d->sim->taken += bytes;
    return 0;
}

static void memory_give(struct sim_device *d, size_t bytes)
{
    pthread_mutex_lock(&d->sim->lock);
    d->taken -= bytes;
    d->sim->taken -= bytes;
    pthread_mutex_unlock(&d->sim->lock);
}

static int device_alloc(struct device *base, struct dbuf *out, size_t bytes)
{
    struct sim_device *d = sim_of(base);
    pthread_mutex_lock(&d->sim->lock);
    int rc = sim_enter(d, SIM_ALLOC, NULL, NULL);
    if (!rc)
        rc = memory_take(d, bytes);
    if (!rc && !d->inner) {
        *out = (struct dbuf){d->next_addr, bytes};
        d->next_addr += (bytes + 63) / 64 * 64;
    }
    pthread_mutex_unlock(&d->sim->lock);
    if (rc || !d->inner)
        return rc;
    rc = d->inner->ops->alloc(d->inner, out, bytes);
    if (rc)
        memory_give(d, bytes);
    return rc;
}

static void device_free(struct device *base, struct dbuf buf)
{
    struct sim_device *d = sim_of(base);
    if (!buf.addr)
        return;
    if (d->inner)
        d->inner->ops->free(d->inner, buf);
    memory_give(d, buf.bytes);
}

/* The common way of all operations: may it be called, is it done (inner), how long does it take (step). */
struct op {
    enum sim_op op;
    struct sim_step step;
    bool wrong;
};

static int op_enter(struct stream *base, struct op *o)
{
    struct sim_stream *s = (struct sim_stream *)base;
    struct sim_device *d = sim_of(base->device);
    o->step.stage = sim_op_names[o->op];
    pthread_mutex_lock(&d->sim->lock);
    sim_process_lock(d->sim, false);
    int rc = sim_enter(d, o->op, &o->step.rc, &o->wrong);
    if (!rc && s->rc)
        rc = err_fail(s->rc, "%s", s->why);
    pthread_mutex_unlock(&d->sim->lock);
    return rc;
}

static int op_queue(struct stream *base, const struct op *o)
{
    struct sim *sim = sim_of(base->device)->sim;
    pthread_mutex_lock(&sim->lock);
    int rc = sim_stream_add((struct sim_stream *)base, &o->step);
    pthread_mutex_unlock(&sim->lock);
    return rc;
}

static struct stream *inner_of(struct stream *s)
{
    return ((struct sim_stream *)s)->inner;
}

static int copy_queue(struct stream *base, struct op *o, const void *host, size_t bytes)
{
    struct sim *sim = sim_of(base->device)->sim;
    bool registered = false;
    pthread_mutex_lock(&sim->lock);
    int rc = sim_registered(sim, host, bytes, &registered);
    if (!registered)
        o->step.max_rate = sim->opts.pageable_bytes_per_s;
    if (!rc)
        rc = sim_stream_add((struct sim_stream *)base, &o->step);
    if (!rc && !registered) /* the driver stages it: the caller waits */
        rc = sim_stream_drain((struct sim_stream *)base);
    pthread_mutex_unlock(&sim->lock);
    return rc;
}

static int op_copy_h2d(struct stream *s, struct dbuf dst, const void *src, size_t bytes)
{
    struct op o = {.op = SIM_COPY_H2D, .step = {.kind = STEP_COPY, .dir = WORLD_H2D, .bytes = bytes}};
    int rc = op_enter(s, &o);
    if (!rc && bytes > dst.bytes)
        rc = err_fail(-EINVAL, "copy of %zu bytes into a buffer of %zu", bytes, dst.bytes);
    if (!rc && inner_of(s))
        rc = inner_of(s)->device->ops->copy_h2d(inner_of(s), dst, src, bytes);
    return rc ? rc : copy_queue(s, &o, src, bytes);
}

static int op_copy_d2h(struct stream *s, void *dst, struct dbuf src, size_t bytes)
{
    struct op o = {.op = SIM_COPY_D2H, .step = {.kind = STEP_COPY, .dir = WORLD_D2H, .bytes = bytes}};
    int rc = op_enter(s, &o);
    if (!rc && bytes > src.bytes)
        rc = err_fail(-EINVAL, "copy of %zu bytes out of a buffer of %zu", bytes, src.bytes);
    if (!rc && inner_of(s))
        rc = inner_of(s)->device->ops->copy_d2h(inner_of(s), dst, src, bytes);
    return rc ? rc : copy_queue(s, &o, dst, bytes);
}

static int op_zero(struct stream *s, struct dbuf dst, size_t bytes)
{
    struct sim_device *d = sim_of(s->device);
    struct op o = {.op = SIM_ZERO,
                   .step = {.kind = STEP_KERNEL, .ns = kernel_ns(d, d->sim->rates.zero_ps, bytes / 32)}};
    int rc = op_enter(s, &o);
    if (!rc && inner_of(s))
        rc = d->inner->ops->zero(inner_of(s), dst, bytes);
    return rc ? rc : op_queue(s, &o);
}

/* Take memory for something resident and let its copy pass; the caller waits for it. */
static int resident_load(struct sim_device *d, enum sim_op op, size_t bytes, bool resident)
{
    struct sim *sim = d->sim;
    struct sim_stream s = {.base.device = &d->base, .last = NULL};
    s.last = &s.first;
    int rc = clock_cond_open(&s.idle);
    if (rc)
        return rc;
    pthread_mutex_lock(&sim->lock);
    rc = sim_enter(d, op, NULL, NULL);
    if (!rc && resident)
        rc = memory_take(d, bytes);
    if (!rc && resident) {
        rc = sim_stream_add(&s, &(struct sim_step){.kind = STEP_COPY, .dir = WORLD_H2D, .bytes = bytes});
        if (!rc)
            rc = sim_stream_drain(&s);
        if (rc) {
            d->taken -= bytes;
            sim->taken -= bytes;
        }
    }
    if (!rc)
        sim->handles++;
    pthread_mutex_unlock(&sim->lock);
    pthread_cond_destroy(&s.idle);
    return rc;
}

static void resident_unload(struct sim_device *d, size_t bytes)
{
    pthread_mutex_lock(&d->sim->lock);
    d->taken -= bytes;
    d->sim->taken -= bytes;
    d->sim->handles--;
    pthread_mutex_unlock(&d->sim->lock);
}

static int op_bases_open(struct device *base, struct bases **out, const struct bases_args *args)
{
    struct sim_device *d = sim_of(base);
    unsigned multiples = args->multiples ? args->multiples : 1;
    struct bases *b = calloc(1, sizeof *b);
    if (!b)
        return err_fail(-ENOMEM, "no memory for simulated bases");
    *b = (struct bases){
        .device = d, .curve = args->curve, .group = args->group, .n = args->n, .resident = args->resident};
    unsigned point_bytes = args->curve->point_bytes[args->group];
    b->bytes = args->n * point_bytes;
    int rc = resident_load(d, SIM_BASES_OPEN, b->bytes * multiples, b->resident);
    if (!rc && d->inner) {
        rc = d->inner->ops->bases_open(d->inner, &b->inner, args);
        if (rc)
            resident_unload(d, b->resident ? b->bytes * multiples : 0);
    }
    if (rc) {
        free(b);
        return rc;
    }
    b->bytes *= b->resident ? multiples : 1;
    *out = b;
    return 0;
}

static void op_bases_close(struct bases *b)
{
    if (b->inner)
        b->device->inner->ops->bases_close(b->inner);
    resident_unload(b->device, b->resident ? b->bytes : 0);
    free(b);
}

static int op_matrix_open(struct device *base, struct matrix **out, const struct matrix_args *args)
{
    struct sim_device *d = sim_of(base);
    struct matrix *m = calloc(1, sizeof *m);
    if (!m)
        return err_fail(-ENOMEM, "no memory for a simulated matrix");
    m->device = d;
    m->resident = args->resident;
    m->nonzeros = args->row ? args->row[args->rows] : 3 * args->rows;
    m->bytes = (args->rows + 1) * 8 + m->nonzeros * 8 + args->n_dict * 32;
    int rc = resident_load(d, SIM_MATRIX_OPEN, m->bytes, m->resident);
    if (!rc && d->inner) {
        rc = d->inner->ops->matrix_open(d->inner, &m->inner, args);
        if (rc)
            resident_unload(d, m->resident ? m->bytes : 0);
    }
    if (rc) {
        free(m);
        return rc;
    }
    *out = m;
    return 0;
}

static void op_matrix_close(struct matrix *m)
{
    if (m->inner)
        m->device->inner->ops->matrix_close(m->inner);
    resident_unload(m->device, m->resident ? m->bytes : 0);
    free(m);
}

/* A result that is a point, but not the right one. */
static void point_spoil(const struct curve *curve, enum group group, struct point *p)
{
    static const struct point zero;
    if (memcmp(p, &zero, sizeof zero) == 0)
        *p = curve->generator[group];
    else
        curve->neg(group, p, p);
}

static int inner_msm(struct stream *s, const struct msm_args *args)
{
    struct msm_set *sets = calloc(args->n_sets + 1, sizeof *sets);
    if (!sets)
        return err_fail(-ENOMEM, "no memory for %zu sets", args->n_sets);
    for (size_t i = 0; i < args->n_sets; i++)
        sets[i] = (struct msm_set){args->sets[i].bases->inner, args->sets[i].first, args->sets[i].result};
    struct msm_args inner = *args;
    inner.sets = sets;
    const struct device_ops *ops = inner_of(s)->device->ops;
    int rc = ops->msm(inner_of(s), &inner);
    if (!rc)
        rc = ops->stream_sync(inner_of(s));
    free(sets);
    return rc;
}

static int op_msm(struct stream *s, const struct msm_args *args)
{
    struct sim_device *d = sim_of(s->device);
    struct op o = {.op = SIM_MSM, .step = {.kind = STEP_KERNEL}};
    for (size_t i = 0; i < args->n_sets; i++) {
        const struct bases *b = args->sets[i].bases;
        o.step.ns += kernel_ns(d, d->sim->rates.msm_ps[b->curve->id][b->group], b->n);
        o.step.bytes += b->resident ? 0 : b->bytes;
    }
    if (o.step.bytes)
        o.step.kind = STEP_STREAMED;
    int rc = op_enter(s, &o);
    for (size_t i = 0; i < args->n_sets && !rc; i++)
        memset(args->sets[i].result, 0, sizeof *args->sets[i].result);
    if (!rc && inner_of(s))
        rc = inner_msm(s, args);
    if (!rc && o.wrong && args->n_sets)
        point_spoil(args->curve, args->sets[0].bases->group, args->sets[0].result);
    return rc ? rc : op_queue(s, &o);
}

static int op_sum_selected(struct stream *s, const struct sum_selected_args *args)
{
    struct sim_device *d = sim_of(s->device);
    const struct bases *b = args->bases;
    struct op o = {.op = SIM_SUM_SELECTED,
                   .step = {.kind = b->resident ? STEP_KERNEL : STEP_STREAMED,
                            .ns = kernel_ns(d, d->sim->rates.sum_ps, b->n),
                            .bytes = b->resident ? 0 : b->bytes}};
    int rc = op_enter(s, &o);
    if (!rc)
        memset(args->result, 0, sizeof *args->result);
    if (!rc && inner_of(s)) {
        struct sum_selected_args inner = *args;
        inner.bases = b->inner;
        rc = d->inner->ops->sum_selected(inner_of(s), &inner);
        if (!rc && o.wrong)
            point_spoil(b->curve, b->group, args->result);
    }
    return rc ? rc : op_queue(s, &o);
}

static int op_spmv(struct stream *s, const struct spmv_args *args)
{
    struct sim_device *d = sim_of(s->device);
    struct op o = {.op = SIM_SPMV,
                   .step = {.kind = args->matrix->resident ? STEP_KERNEL : STEP_STREAMED,
                            .ns = kernel_ns(d, d->sim->rates.spmv_ps, args->matrix->nonzeros),
                            .bytes = args->matrix->resident ? 0 : args->matrix->bytes}};
    int rc = op_enter(s, &o);
    if (!rc && inner_of(s)) {
        struct spmv_args inner = *args;
        inner.matrix = args->matrix->inner;
        rc = d->inner->ops->spmv(inner_of(s), &inner);
    }
    return rc ? rc : op_queue(s, &o);
}

static uint64_t batch_n(unsigned log_n, size_t batch)
{
    return ((uint64_t)1 << log_n) * (batch ? batch : 1);
}

/* Operations whose arguments hold nothing of ours. */
#define PLAIN_OP(name, ID, ps, count)                                                                                  \
    static int op_##name(struct stream *s, const struct name##_args *args)                                             \
    {                                                                                                                  \
        struct sim_device *d = sim_of(s->device);                                                                      \
        struct op o = {.op = SIM_##ID, .step = {.kind = STEP_KERNEL, .ns = kernel_ns(d, (ps), (count))}};              \
        int rc = op_enter(s, &o);                                                                                      \
        if (!rc && inner_of(s))                                                                                        \
            rc = d->inner->ops->name(inner_of(s), args);                                                               \
        return rc ? rc : op_queue(s, &o);                                                                              \
    }
PLAIN_OP(ntt, NTT, d->sim->rates.ntt_ps, batch_n(args->log_n, args->batch))
PLAIN_OP(ntt_coset, NTT_COSET, 2 * d->sim->rates.ntt_ps, batch_n(args->log_n, args->batch))
PLAIN_OP(pointwise, POINTWISE, d->sim->rates.pointwise_ps, args->n)
PLAIN_OP(mul_base, MUL_BASE, d->sim->rates.mul_base_ps, args->n)
PLAIN_OP(check_points, CHECK_POINTS, d->sim->rates.check_ps, args->n)
#undef PLAIN_OP

static void device_close(struct device *base)
{
    struct sim_device *d = sim_of(base);
    if (d->inner)
        d->inner->ops->close(d->inner);
    pthread_mutex_lock(&d->sim->lock);
    d->sim->open--;
    pthread_mutex_unlock(&d->sim->lock);
    free(d);
}

static const struct device_ops ops = {
    .close = device_close,
    .info = device_info_read,
    .alloc = device_alloc,
    .free = device_free,
    .stream_open = sim_stream_open,
    .stream_close = sim_stream_close,
    .stream_sync = sim_stream_sync,
    .event_open = sim_event_open,
    .event_close = sim_event_close,
    .event_record = sim_event_record,
    .event_wait = sim_event_wait,
    .copy_h2d = op_copy_h2d,
    .copy_d2h = op_copy_d2h,
    .zero = op_zero,
    .host_register = sim_register,
    .host_unregister = sim_unregister,
    .bases_open = op_bases_open,
    .bases_close = op_bases_close,
    .matrix_open = op_matrix_open,
    .matrix_close = op_matrix_close,
    .ntt = op_ntt,
    .ntt_coset = op_ntt_coset,
    .msm = op_msm,
    .sum_selected = op_sum_selected,
    .spmv = op_spmv,
    .pointwise = op_pointwise,
    .mul_base = op_mul_base,
    .check_points = op_check_points,
};

int sim_device_open(struct sim *sim, struct device **out, unsigned ordinal, const struct device_opts *opts)
{
    if (ordinal >= sim->opts.world.devices)
        return err_fail(-ENODEV, "no simulated device %u: there are %u", ordinal, sim->opts.world.devices);
    struct sim_device *d = calloc(1, sizeof *d);
    if (!d)
        return err_fail(-ENOMEM, "no memory for a simulated device");
    d->base.ops = &ops;
    d->sim = sim;
    d->ordinal = ordinal;
    d->limit = sim->opts.memory_bytes;
    if (opts && opts->memory_limit && opts->memory_limit < d->limit)
        d->limit = opts->memory_limit;
    d->next_addr = (uint64_t)(ordinal + 1) << 44;
    int rc = sim->opts.inner ? device_open(&d->inner, sim->opts.inner, sim->opts.inner_opts) : 0;
    if (rc) {
        free(d);
        return rc;
    }
    pthread_mutex_lock(&sim->lock);
    sim->open++;
    pthread_mutex_unlock(&sim->lock);
    *out = &d->base;
    return 0;
}
