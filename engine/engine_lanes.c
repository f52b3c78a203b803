/* The threads: per device one for each lane, two for copies so that one chunk is always queued behind another, and one
 * timer for deadlines and for results that were kept long enough. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine_internal.h"
#include "perf/clock.h"

void task_free(struct task *t)
{
    work_input_close(t);
    pthread_mutex_destroy(&t->slot_lock);
    free(t->path);
    free(t->proof_json);
    free(t->public_json);
    free(t);
}

/* Unmapping a witness takes long: without the lock. */
static void trash_empty(struct pen_engine *e)
{
    struct task *t = e->trash;
    if (!t)
        return;
    e->trash = NULL;
    pthread_mutex_unlock(&e->lock);
    while (t) {
        struct task *next = t->next;
        task_free(t);
        t = next;
    }
    pthread_mutex_lock(&e->lock);
}

static void *lane_main(void *arg)
{
    struct lane_thread *t = arg;
    struct pen_engine *e = t->engine;
    struct action a;
    pthread_mutex_lock(&e->lock);
    while (!e->stop) {
        if (!sched_next(e->sched, t->device, t->lane, clock_now_ns(), &a)) {
            (void)clock_wait(&e->lanes, &e->lock, CLOCK_NEVER);
            continue;
        }
        lanes_wake(e); /* what was taken here may let another lane or device take its own */
        pthread_mutex_unlock(&e->lock);
        struct span span = {.stage = lane_names[t->lane],
                            .lane = t->name,
                            .job = a.job->id,
                            .begin_ns = clock_now_ns(),
                            .bytes = a.bytes};
        int rc = work_do(e, t, &a);
        span.end_ns = clock_now_ns();
        span_add(e->spans, &span);
        pthread_mutex_lock(&e->lock);
        e->busy_ns[t->lane] += span.end_ns - span.begin_ns;
        struct engine_key *k = &((struct task *)a.job->owner)->circuit->on[t->device];
        k->lane_ns[t->lane] += span.end_ns - span.begin_ns;
        if (t->lane == LANE_COMPUTE && a.step + 1 == GROTH16_STEPS && !rc) {
            k->proofs++;
            e->gpu[t->device].wait_ns = 0;
        }
        sched_done(e->sched, &a, rc, span.end_ns);
        device_fell(e, t->device);
        lanes_wake(e);
        trash_empty(e);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static void *timer_main(void *arg)
{
    struct pen_engine *e = arg;
    pthread_mutex_lock(&e->lock);
    while (!e->stop) {
        job_queue_expire(e->queue, clock_now_ns());
        sched_reap(e->sched, clock_now_ns());
        lanes_wake(e);
        trash_empty(e);
        uint64_t until_ns = job_queue_next_ns(e->queue);
        if (!e->stop && until_ns > clock_now_ns())
            (void)clock_wait(&e->timer, &e->lock, until_ns);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

void lanes_wake(struct pen_engine *e)
{
    clock_broadcast(&e->lanes);
}

static int lane_start(struct pen_engine *e, unsigned device, enum lane lane)
{
    struct lane_thread *t = &e->thread[e->threads];
    *t = (struct lane_thread){.engine = e, .device = device, .lane = lane};
    snprintf(t->name, sizeof t->name, "gpu%u %s", device, lane_names[lane]);
    int rc = clock_thread_open(&t->thread, lane_main, t);
    if (!rc)
        e->threads++;
    return rc;
}

int lanes_start(struct pen_engine *e)
{
    int rc = 0;
    for (unsigned d = 0; d < e->gpus; d++) {
        for (enum lane l = 0; l < LANES && !rc; l++)
            rc = lane_start(e, d, l);
        for (int i = 1; i < ENGINE_COPIES && !rc; i++)
            rc = lane_start(e, d, LANE_COPY);
    }
    if (!rc)
        rc = clock_thread_open(&e->timer_thread, timer_main, e);
    e->timing = rc == 0;
    return rc ? rc : revive_start(e);
}

void lanes_stop(struct pen_engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->stop = true;
    clock_broadcast(&e->lanes);
    clock_broadcast(&e->timer);
    clock_broadcast(&e->down);
    clock_broadcast(&e->clients);
    pthread_mutex_unlock(&e->lock);
    for (unsigned i = 0; i < e->threads; i++) {
        (void)clock_thread_join(e->thread[i].thread);
        if (e->thread[i].stream)
            e->gpu[e->thread[i].device].device->ops->stream_close(e->thread[i].stream);
    }
    if (e->timing)
        (void)clock_thread_join(e->timer_thread);
    if (e->reviving)
        (void)clock_thread_join(e->revive_thread);
}
