/* Streams and events of a simulated device: each stream does its steps one by one. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda/sim/sim_internal.h"
#include "perf/err.h"
#include "perf/span.h"

static void stream_go(struct sim_stream *s);

static struct sim *stream_sim(struct sim_stream *s)
{
    return sim_of(s->base.device)->sim;
}

static void event_drop(struct event *e)
{
    if (--e->users == 0)
        free(e);
}

static void stream_fail(struct sim_stream *s, int rc)
{
    if (s->rc)
        return;
    s->rc = rc;
    snprintf(s->why, sizeof s->why, "%.150s", pen_last_error());
}

/* The mark has been passed: streams that wait for it look again. */
static void event_reach(struct event *e, uint64_t ticket, int rc)
{
    e->reached = ticket;
    e->rc = rc;
    struct sim_stream *waiting = e->waiting;
    e->waiting = NULL;
    while (waiting) {
        struct sim_stream *next = waiting->next_waiting;
        waiting->busy = false;
        stream_go(waiting);
        waiting = next;
    }
}

static void step_end(struct sim_stream *s)
{
    struct sim_step *step = s->first;
    s->first = step->next;
    if (!s->first)
        s->last = &s->first;
    s->busy = false;
    if (step->rc && !s->rc) {
        err_fail(step->rc, "simulated fault in a stream of device %u: %s", sim_of(s->base.device)->ordinal,
                 step->stage ? step->stage : "?");
        stream_fail(s, step->rc);
    }
    if (step->stage && s->opts.spans)
        span_add(s->opts.spans, &(struct span){.stage = step->stage,
                                               .lane = s->opts.lane ? s->opts.lane : "compute",
                                               .job = s->opts.job,
                                               .begin_ns = step->begin_ns,
                                               .end_ns = world_now_ns(stream_sim(s)->world),
                                               .bytes = step->bytes});
    if (step->kind == STEP_RECORD)
        event_reach(step->event, step->ticket, s->rc);
    if (step->event)
        event_drop(step->event);
    free(step);
}

static void part_done(void *ctx)
{
    struct sim_step *step = ctx;
    struct sim_stream *s = step->stream;
    if (--step->parts)
        return;
    step_end(s);
    stream_go(s);
}

/* Bases of a streamed step go in chunks, two under way, so that other streams' copies get their turns between them. */
enum { STREAMED_CHUNK = 64 << 20, STREAMED_AHEAD = 2 };

static void chunk_done(void *ctx);

static int chunk_begin(struct sim_step *step)
{
    struct sim_device *d = sim_of(step->stream->base.device);
    uint64_t bytes = step->left < STREAMED_CHUNK ? step->left : STREAMED_CHUNK;
    if (!bytes)
        return 0;
    int rc = world_copy(d->sim->world, d->ordinal, WORLD_H2D, bytes, step->max_rate, chunk_done, step);
    if (!rc) {
        step->left -= bytes;
        step->parts++;
    }
    return rc;
}

static void chunk_done(void *ctx)
{
    struct sim_step *step = ctx;
    int rc = chunk_begin(step);
    if (rc)
        stream_fail(step->stream, rc);
    part_done(step);
}

/* Hand the step to the world; true when it is over already. */
static bool step_begin(struct sim_stream *s, struct sim_step *step)
{
    struct sim_device *d = sim_of(s->base.device);
    struct world *w = d->sim->world;
    step->begin_ns = world_now_ns(w);
    if (s->rc && step->kind != STEP_RECORD && step->kind != STEP_CALL)
        return true; /* after a failure nothing more is done */
    int rc = 0;
    switch (step->kind) {
    case STEP_RECORD:
        return true;
    case STEP_CALL:
        step->call(step->ctx);
        return true;
    case STEP_WAIT:
        if (step->event->reached >= step->ticket) {
            if (step->event->rc) {
                err_fail(step->event->rc, "simulated device %u: the stream waited for failed work", d->ordinal);
                stream_fail(s, step->event->rc);
            }
            return true;
        }
        s->next_waiting = step->event->waiting;
        step->event->waiting = s;
        return false;
    case STEP_COPY:
        step->parts = 1;
        rc = world_copy(w, d->ordinal, step->dir, step->bytes, step->max_rate, part_done, step);
        break;
    case STEP_KERNEL:
        step->parts = 1;
        rc = world_compute(w, d->ordinal, step->ns, part_done, step);
        break;
    case STEP_STREAMED: /* bases cross the link while they are used */
        step->left = step->bytes;
        step->parts = 1;
        rc = world_compute(w, d->ordinal, step->ns, part_done, step);
        if (rc)
            break;
        for (int i = 0; i < STREAMED_AHEAD && !rc; i++)
            rc = chunk_begin(step);
        if (rc)
            stream_fail(s, rc); /* what is under way ends the step */
        return false;
    }
    if (rc)
        stream_fail(s, rc);
    return rc != 0;
}

static void stream_go(struct sim_stream *s)
{
    while (s->first && !s->busy) {
        s->busy = true;
        if (!step_begin(s, s->first))
            return;
        step_end(s);
    }
    if (!s->first)
        clock_broadcast(&s->idle);
}

int sim_stream_add(struct sim_stream *s, const struct sim_step *step)
{
    if (s->rc)
        return err_fail(s->rc, "%s", s->why);
    struct sim_step *copy = malloc(sizeof *copy);
    if (!copy)
        return err_fail(-ENOMEM, "no memory for a simulated operation");
    *copy = *step;
    copy->next = NULL;
    copy->stream = s;
    *s->last = copy;
    s->last = &copy->next;
    stream_go(s);
    return 0;
}

int sim_stream_drain(struct sim_stream *s)
{
    int rc = 0;
    while (s->first && !rc)
        rc = sim_pass(stream_sim(s), &s->idle);
    return rc;
}

int sim_stream_open(struct device *base, struct stream **out, const struct stream_opts *opts)
{
    struct sim_device *d = sim_of(base);
    pthread_mutex_lock(&d->sim->lock);
    int rc = sim_enter(d, SIM_STREAM_OPEN, NULL, NULL);
    pthread_mutex_unlock(&d->sim->lock);
    if (rc)
        return rc;
    struct sim_stream *s = calloc(1, sizeof *s);
    if (!s)
        return err_fail(-ENOMEM, "no memory for a simulated stream");
    s->base.device = base;
    s->last = &s->first;
    if (opts)
        s->opts = *opts;
    struct stream_opts quiet = {.job = s->opts.job};
    if (d->inner)
        rc = d->inner->ops->stream_open(d->inner, &s->inner, &quiet);
    if (!rc)
        rc = clock_cond_open(&s->idle);
    if (rc) {
        if (s->inner)
            d->inner->ops->stream_close(s->inner);
        free(s);
        return rc;
    }
    pthread_mutex_lock(&d->sim->lock);
    d->sim->handles++;
    pthread_mutex_unlock(&d->sim->lock);
    *out = &s->base;
    return 0;
}

void sim_stream_close(struct stream *base)
{
    struct sim_stream *s = (struct sim_stream *)base;
    struct sim_device *d = sim_of(base->device);
    pthread_mutex_lock(&d->sim->lock);
    (void)sim_stream_drain(s);
    d->sim->handles--;
    pthread_mutex_unlock(&d->sim->lock);
    if (s->inner)
        d->inner->ops->stream_close(s->inner);
    pthread_cond_destroy(&s->idle);
    free(s);
}

int sim_stream_sync(struct stream *base)
{
    struct sim_stream *s = (struct sim_stream *)base;
    struct sim_device *d = sim_of(base->device);
    pthread_mutex_lock(&d->sim->lock);
    int failed = sim_enter(d, SIM_STREAM_SYNC, NULL, NULL);
    if (failed)
        stream_fail(s, failed);
    int rc = sim_stream_drain(s);
    if (!rc && s->rc)
        rc = err_fail(s->rc, "%s", s->why);
    pthread_mutex_unlock(&d->sim->lock);
    return rc;
}

int sim_event_open(struct device *base, struct event **out)
{
    struct sim_device *d = sim_of(base);
    struct event *e = calloc(1, sizeof *e);
    if (!e)
        return err_fail(-ENOMEM, "no memory for a simulated event");
    e->device = d;
    e->users = 1;
    pthread_mutex_lock(&d->sim->lock);
    int rc = sim_enter(d, SIM_EVENT_OPEN, NULL, NULL);
    if (!rc)
        d->sim->handles++;
    pthread_mutex_unlock(&d->sim->lock);
    if (rc)
        free(e);
    else
        *out = e;
    return rc;
}

void sim_event_close(struct event *e)
{
    struct sim *sim = e->device->sim;
    pthread_mutex_lock(&sim->lock);
    sim->handles--;
    event_drop(e);
    pthread_mutex_unlock(&sim->lock);
}

static int event_step(struct stream *base, struct event *e, enum sim_op op, enum sim_step_kind kind)
{
    struct sim_stream *s = (struct sim_stream *)base;
    struct sim *sim = stream_sim(s);
    struct sim_step step = {.kind = kind, .event = e};
    pthread_mutex_lock(&sim->lock);
    int rc = sim_enter(sim_of(base->device), op, &step.rc, NULL);
    if (!rc) {
        step.ticket = kind == STEP_RECORD ? e->issued + 1 : e->issued;
        e->users++; /* before the step may already end */
        rc = sim_stream_add(s, &step);
        if (rc)
            e->users--;
        else if (kind == STEP_RECORD && e->issued < step.ticket)
            e->issued = step.ticket;
    }
    pthread_mutex_unlock(&sim->lock);
    return rc;
}

int sim_event_record(struct stream *s, struct event *e)
{
    return event_step(s, e, SIM_EVENT_RECORD, STEP_RECORD);
}

int sim_event_wait(struct stream *s, struct event *e)
{
    return event_step(s, e, SIM_EVENT_WAIT, STEP_WAIT);
}

int sim_notify(struct stream *base, world_done *done, void *ctx)
{
    struct sim_stream *s = (struct sim_stream *)base;
    struct sim *sim = stream_sim(s);
    pthread_mutex_lock(&sim->lock);
    int rc = s->rc;
    s->rc = 0; /* also a failed stream tells when it is empty */
    struct sim_step step = {.kind = STEP_CALL, .call = done, .ctx = ctx};
    int added = sim_stream_add(s, &step);
    s->rc = rc;
    pthread_mutex_unlock(&sim->lock);
    return added;
}
