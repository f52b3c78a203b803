/* The host device: opening, memory, streams and events. Work is done by the calling thread and the pool when an
 * operation is called, so a stream is always finished, and an event is a mark that was passed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/host/host.h"
#include "perf/clock.h"
#include "perf/span.h"

struct host_stream {
    struct stream base;
    struct stream_opts opts;
    int failed; /* after an error the stream refuses work */
};

struct event {
    struct host_device *device;
};

static void host_close(struct device *base)
{
    struct host_device *d = (struct host_device *)base;
    host_ranges_close(d);
    ntt_tables_close(d->tables);
    threads_close(d->threads);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static size_t memory_free_now(void)
{
    long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}

static int host_info(struct device *base, struct device_info *out)
{
    struct host_device *d = (struct host_device *)base;
    unsigned n = threads_count(d->threads);
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    *out = (struct device_info){.flags = DEVICE_HOST_MEMORY, .id = "host", .threads = n};
    snprintf(out->name, sizeof out->name, "host (%u thread%s, %s)", n, n == 1 ? "" : "s", d->kernels->name);
    out->memory_bytes = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
    out->free_bytes = memory_free_now();
    if (d->memory_limit) {
        pthread_mutex_lock(&d->lock);
        size_t left = d->memory_limit > d->taken ? d->memory_limit - d->taken : 0;
        pthread_mutex_unlock(&d->lock);
        if (out->free_bytes > left)
            out->free_bytes = left;
        if (out->memory_bytes > d->memory_limit)
            out->memory_bytes = d->memory_limit;
    }
    return 0;
}

static int host_alloc(struct device *base, struct dbuf *out, size_t bytes)
{
    struct host_device *d = (struct host_device *)base;
    pthread_mutex_lock(&d->lock);
    bool fits = !d->memory_limit || (bytes <= d->memory_limit && d->taken <= d->memory_limit - bytes);
    if (fits)
        d->taken += bytes;
    pthread_mutex_unlock(&d->lock);
    if (!fits)
        return err_fail(-ENOMEM, "host device: %zu bytes asked, the limit is %zu", bytes, d->memory_limit);
    void *p = memory_alloc(bytes);
    if (!p) {
        pthread_mutex_lock(&d->lock);
        d->taken -= bytes;
        pthread_mutex_unlock(&d->lock);
        return err_fail(-ENOMEM, "host device: no memory for a buffer of %zu bytes", bytes);
    }
    *out = (struct dbuf){(uint64_t)(uintptr_t)p, bytes};
    return 0;
}

static void host_free(struct device *base, struct dbuf buf)
{
    struct host_device *d = (struct host_device *)base;
    if (!buf.addr)
        return;
    memory_free(dbuf_ptr(buf));
    pthread_mutex_lock(&d->lock);
    d->taken -= buf.bytes;
    pthread_mutex_unlock(&d->lock);
}

static int host_stream_open(struct device *d, struct stream **out, const struct stream_opts *opts)
{
    struct host_stream *s = calloc(1, sizeof *s);
    if (!s)
        return err_fail(-ENOMEM, "no memory for a stream");
    s->base.device = d;
    if (opts)
        s->opts = *opts;
    if (!s->opts.lane)
        s->opts.lane = "compute";
    *out = &s->base;
    return 0;
}

static void host_stream_close(struct stream *s)
{
    free(s);
}

static int refused(int code)
{
    return err_fail(code, "host device: an earlier operation of this stream failed; close it");
}

static int host_stream_sync(struct stream *base)
{
    const struct host_stream *s = (const struct host_stream *)base;
    return s->failed ? refused(s->failed) : 0;
}

static int host_event_open(struct device *d, struct event **out)
{
    struct event *e = calloc(1, sizeof *e);
    if (!e)
        return err_fail(-ENOMEM, "no memory for an event");
    e->device = (struct host_device *)d;
    *out = e;
    return 0;
}

static void host_event_close(struct event *e)
{
    free(e);
}

static int event_check(const struct stream *s, const struct event *e)
{
    return host_of(s) == e->device ? 0 : err_fail(-EINVAL, "host device: the event belongs to another device");
}

static int host_event_record(struct stream *s, struct event *e)
{
    int rc = host_stream_sync(s);
    return rc ? rc : event_check(s, e);
}

/* What an event marks was done when it was recorded; one never recorded marks nothing. */
static int host_event_wait(struct stream *s, struct event *e)
{
    int rc = host_stream_sync(s);
    return rc ? rc : event_check(s, e);
}

/* Each operation of a stream is framed by these two. */
static int op_begin(const struct stream *base, uint64_t *begin_ns)
{
    const struct host_stream *s = (const struct host_stream *)base;
    if (s->failed)
        return refused(s->failed);
    *begin_ns = clock_now_ns();
    return 0;
}

static int op_end(struct stream *base, const char *stage, uint64_t begin_ns, size_t bytes, int rc)
{
    struct host_stream *s = (struct host_stream *)base;
    if (rc) {
        s->failed = rc;
        return rc;
    }
    struct span span = {.stage = stage,
                        .lane = s->opts.lane,
                        .job = s->opts.job,
                        .begin_ns = begin_ns,
                        .end_ns = clock_now_ns(),
                        .bytes = bytes};
    span_add(s->opts.spans, &span);
    return 0;
}

static int host_copy_h2d(struct stream *s, struct dbuf dst, const void *src, size_t bytes)
{
    uint64_t begin = 0;
    int rc = op_begin(s, &begin);
    if (rc)
        return rc;
    if (bytes > dst.bytes)
        rc = err_fail(-EINVAL, "copy of %zu bytes into a buffer of %zu", bytes, dst.bytes);
    else if (bytes)
        memmove(dbuf_ptr(dst), src, bytes);
    return op_end(s, "h2d", begin, bytes, rc);
}

static int host_copy_d2h(struct stream *s, void *dst, struct dbuf src, size_t bytes)
{
    uint64_t begin = 0;
    int rc = op_begin(s, &begin);
    if (rc)
        return rc;
    if (bytes > src.bytes)
        rc = err_fail(-EINVAL, "copy of %zu bytes out of a buffer of %zu", bytes, src.bytes);
    else if (bytes)
        memmove(dst, dbuf_ptr(src), bytes);
    return op_end(s, "d2h", begin, bytes, rc);
}

static int host_zero(struct stream *s, struct dbuf dst, size_t bytes)
{
    uint64_t begin = 0;
    int rc = op_begin(s, &begin);
    if (rc)
        return rc;
    if (bytes > dst.bytes)
        rc = err_fail(-EINVAL, "zeroing %zu bytes of a buffer of %zu", bytes, dst.bytes);
    else if (bytes)
        memset(dbuf_ptr(dst), 0, bytes);
    return op_end(s, "zero", begin, bytes, rc);
}

static int op_ntt(struct stream *s, const struct ntt_args *args)
{
    struct host_device *d = host_of(s);
    struct ntt_env env = {.kernels = d->kernels, .threads = d->threads, .tables = d->tables};
    uint64_t begin = 0;
    int rc = op_begin(s, &begin);
    return rc ? rc : op_end(s, "ntt", begin, 0, ntt_run(&env, args));
}

static int op_ntt_coset(struct stream *s, const struct ntt_coset_args *args)
{
    struct host_device *d = host_of(s);
    struct ntt_env env = {.kernels = d->kernels, .threads = d->threads, .tables = d->tables};
    uint64_t begin = 0;
    int rc = op_begin(s, &begin);
    return rc ? rc : op_end(s, "ntt", begin, 0, ntt_coset_run(&env, args));
}

#define OP(name)                                                                                                       \
    static int op_##name(struct stream *s, const struct name##_args *args)                                             \
    {                                                                                                                  \
        uint64_t begin = 0;                                                                                            \
        int rc = op_begin(s, &begin);                                                                                  \
        return rc ? rc : op_end(s, #name, begin, 0, host_##name(host_of(s), args));                                    \
    }
OP(msm)
OP(sum_selected)
OP(spmv)
OP(pointwise)
OP(mul_base)
OP(check_points)
#undef OP

static const struct device_ops ops = {
    .close = host_close,
    .info = host_info,
    .alloc = host_alloc,
    .free = host_free,
    .stream_open = host_stream_open,
    .stream_close = host_stream_close,
    .stream_sync = host_stream_sync,
    .event_open = host_event_open,
    .event_close = host_event_close,
    .event_record = host_event_record,
    .event_wait = host_event_wait,
    .copy_h2d = host_copy_h2d,
    .copy_d2h = host_copy_d2h,
    .zero = host_zero,
    .host_register = host_register,
    .host_unregister = host_unregister,
    .bases_open = host_bases_open,
    .bases_close = host_bases_close,
    .matrix_open = host_matrix_open,
    .matrix_close = host_matrix_close,
    .ntt = op_ntt,
    .ntt_coset = op_ntt_coset,
    .msm = op_msm,
    .sum_selected = op_sum_selected,
    .spmv = op_spmv,
    .pointwise = op_pointwise,
    .mul_base = op_mul_base,
    .check_points = op_check_points,
};

int device_host_open_isa(struct device **out, const struct device_opts *opts, const char *isa)
{
    const struct kernels *k = isa ? kernels_by_name(isa) : kernels_best();
    if (!k)
        return err_fail(-ENODEV, "host device: this CPU or build has no kernels \"%s\"", isa ? isa : "best");
    struct host_device *d = calloc(1, sizeof *d);
    if (!d)
        return err_fail(-ENOMEM, "no memory for the host device");
    d->base.ops = &ops;
    d->kernels = k;
    d->memory_limit = opts ? opts->memory_limit : 0;
    int rc = threads_open(&d->threads, opts ? opts->threads : 0);
    if (rc)
        goto free_device;
    rc = ntt_tables_open(&d->tables);
    if (rc)
        goto close_threads;
    pthread_mutex_init(&d->lock, NULL);
    *out = &d->base;
    return 0;
close_threads:
    threads_close(d->threads);
free_device:
    free(d);
    return rc;
}

int device_host_open(struct device **out, const struct device_opts *opts)
{
    return device_host_open_isa(out, opts, NULL);
}
