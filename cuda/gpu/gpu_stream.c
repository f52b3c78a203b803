/* Streams, events, spans. */
#include <stdlib.h>

#include "cuda/gpu/gpu.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "perf/span.h"

struct event {
    struct gpu_device *device;
    cudaEvent_t e;
};

/* One operation between two events of the device */
struct gpu_mark {
    struct gpu_mark *next;
    const char *stage;
    size_t bytes;
    cudaEvent_t begin, end;
    bool ended, copy; /* copy: on the lane "h2d", beside the stream's own */
};

static void mark_free(struct gpu_mark *m)
{
    if (m->begin)
        cudaEventDestroy(m->begin);
    if (m->end)
        cudaEventDestroy(m->end);
    free(m);
}

static int lane_start(struct gpu_lane *l)
{
    int rc = (int)cudaStreamCreateWithFlags(&l->compute, cudaStreamNonBlocking);
    if (!rc)
        rc = (int)cudaStreamCreateWithFlags(&l->copy, cudaStreamNonBlocking);
    for (int i = 0; i < GPU_RING_SLOTS && !rc; i++) {
        rc = (int)cudaEventCreateWithFlags(&l->ring.copied[i], cudaEventDisableTiming);
        if (!rc)
            rc = (int)cudaEventCreateWithFlags(&l->ring.consumed[i], cudaEventDisableTiming);
    }
    if (!rc)
        rc = (int)cudaEventCreate(&l->epoch);
    if (!rc)
        rc = (int)cudaEventRecord(l->epoch, l->compute);
    if (!rc)
        rc = (int)cudaEventSynchronize(l->epoch);
    l->epoch_ns = clock_now_ns();
    return rc;
}

static void lane_stop(struct gpu_lane *l)
{
    for (int i = 0; i < GPU_RING_SLOTS; i++) {
        if (l->ring.copied[i])
            cudaEventDestroy(l->ring.copied[i]);
        if (l->ring.consumed[i])
            cudaEventDestroy(l->ring.consumed[i]);
    }
    if (l->epoch)
        cudaEventDestroy(l->epoch);
    if (l->copy)
        cudaStreamDestroy(l->copy);
    if (l->compute)
        cudaStreamDestroy(l->compute);
    if (l->pinned)
        cudaFreeHost(l->pinned);
    gpu_give((struct gpu_device *)l->base.device, l->work, l->work_bytes);
    ring_close(&l->base);
    cudaGetLastError();
}

int gpu_stream_open(struct device *dev, struct stream **out, const struct stream_opts *opts)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    struct gpu_lane *l = calloc(1, sizeof *l);
    if (!l)
        return err_fail(-ENOMEM, "a stream: out of memory");
    l->base.device = dev;
    if (opts)
        l->opts = *opts;
    if (!l->opts.lane)
        l->opts.lane = "compute";
    l->finish_end = &l->finish;
    l->mark_end = &l->mark;
    int rc = (int)cudaSetDevice((int)d->ordinal);
    if (!rc)
        rc = lane_start(l);
    if (rc) {
        lane_stop(l);
        free(l);
        return gpu_fail(d, rc, "opening a stream");
    }
    *out = &l->base;
    return 0;
}

static void marks_read(struct gpu_lane *l, bool good)
{
    struct gpu_mark *next;
    for (struct gpu_mark *m = l->mark; m; m = next) {
        float from = 0, to = 0;
        next = m->next;
        if (good && m->ended && !cudaEventElapsedTime(&from, l->epoch, m->begin) &&
            !cudaEventElapsedTime(&to, l->epoch, m->end)) {
            struct span sp = {
                .stage = m->stage, .lane = m->copy ? "h2d" : l->opts.lane, .job = l->opts.job, .bytes = m->bytes};
            sp.begin_ns = l->epoch_ns + (uint64_t)((double)from * 1e6);
            sp.end_ns = l->epoch_ns + (uint64_t)((double)to * 1e6);
            span_add(l->opts.spans, &sp);
        }
        mark_free(m);
    }
    l->mark = NULL;
    l->open = NULL;
    l->mark_end = &l->mark;
}

static void finishers_run(struct gpu_lane *l, bool good)
{
    struct gpu_finish *next;
    for (struct gpu_finish *f = l->finish; f; f = next) {
        next = f->next;
        if (good)
            f->run(f);
        free(f);
    }
    l->finish = NULL;
    l->finish_end = &l->finish;
    l->pinned_used = 0;
}

int gpu_stream_sync(struct stream *s)
{
    struct gpu_lane *l = lane_of(s);
    cudaSetDevice((int)gpu_of(s)->ordinal);
    int rc = (int)cudaStreamSynchronize(l->compute), copied = (int)cudaStreamSynchronize(l->copy);
    rc = rc ? rc : copied; /* after a failure too: a copy still reads the caller's memory */
    if (rc && !l->failed && l->doing_more)
        lane_fail(s, rc, "work of the stream, %zu operations", l->doing_more + 1);
    else if (rc && !l->failed)
        lane_fail(s, rc, "work of the stream");
    lane_notes_clear(l);
    l->ring.busy = false;
    marks_read(l, !l->failed);
    finishers_run(l, !l->failed);
    return l->failed ? err_fail(l->failed, "%s", l->why) : 0;
}

void gpu_stream_close(struct stream *s)
{
    if (!s)
        return;
    struct gpu_lane *l = lane_of(s);
    gpu_stream_sync(s);
    lane_stop(l);
    free(l);
}

void lane_finish(struct stream *s, struct gpu_finish *f)
{
    struct gpu_lane *l = lane_of(s);
    f->next = NULL;
    *l->finish_end = f;
    l->finish_end = &f->next;
}

static struct gpu_mark *mark_make(const char *stage, size_t bytes, cudaStream_t on)
{
    struct gpu_mark *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->stage = stage;
    m->bytes = bytes;
    if (cudaEventCreate(&m->begin) || cudaEventCreate(&m->end) || cudaEventRecord(m->begin, on)) {
        cudaGetLastError(); /* a span less, no failure of the job */
        mark_free(m);
        return NULL;
    }
    return m;
}

static void mark_add(struct gpu_lane *l, struct gpu_mark *m)
{
    *l->mark_end = m;
    l->mark_end = &m->next;
}

void lane_begin(struct stream *s, const char *stage)
{
    struct gpu_lane *l = lane_of(s);
    l->open = l->opts.spans ? mark_make(stage, 0, l->compute) : NULL;
    if (l->open)
        mark_add(l, l->open);
}

void lane_end(struct stream *s, size_t bytes)
{
    struct gpu_lane *l = lane_of(s);
    struct gpu_mark *m = l->open;
    l->open = NULL;
    if (!m)
        return;
    m->bytes = bytes;
    m->ended = cudaEventRecord(m->end, l->compute) == 0;
}

struct gpu_mark *lane_mark_begin(struct stream *s, const char *stage, size_t bytes, cudaStream_t on)
{
    struct gpu_lane *l = lane_of(s);
    struct gpu_mark *m = l->opts.spans ? mark_make(stage, bytes, on) : NULL;
    if (m) {
        m->copy = true;
        mark_add(l, m);
    }
    return m;
}

void lane_mark_end(struct gpu_mark *m, cudaStream_t on)
{
    if (m)
        m->ended = cudaEventRecord(m->end, on) == 0;
}

int gpu_event_open(struct device *dev, struct event **out)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    struct event *e = calloc(1, sizeof *e);
    if (!e)
        return err_fail(-ENOMEM, "an event: out of memory");
    e->device = d;
    int rc = (int)cudaSetDevice((int)d->ordinal);
    if (!rc)
        rc = (int)cudaEventCreateWithFlags(&e->e, cudaEventDisableTiming);
    if (rc) {
        free(e);
        return gpu_fail(d, rc, "opening an event");
    }
    *out = e;
    return 0;
}

void gpu_event_close(struct event *e)
{
    if (!e)
        return;
    cudaEventDestroy(e->e);
    free(e);
}

int gpu_event_record(struct stream *s, struct event *e)
{
    int rc = lane_enter(s);
    return rc ? rc : lane_fail(s, (int)cudaEventRecord(e->e, compute_of(s)), "recording an event");
}

int gpu_event_wait(struct stream *s, struct event *e)
{
    int rc = lane_enter(s);
    return rc ? rc : lane_fail(s, (int)cudaStreamWaitEvent(compute_of(s), e->e, 0), "waiting for an event");
}
