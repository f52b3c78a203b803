/* The engine's public face: opening, submitting, waiting, events. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine_internal.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "perf/log.h"

static const char *const default_devices[] = {"auto"};

const char *pen_state_name(enum pen_state state)
{
    return (unsigned)state < JOB_STATES ? job_state_names[state] : "?";
}

/* The scheduler's callback; the lock is held. Unmapping waits until it is not. */
static void on_release(void *ctx, struct job *job, bool host, bool slot)
{
    struct pen_engine *e = ctx;
    struct task *t = job->owner, *husk;
    if (slot)
        work_slot_give(e, t, (unsigned)job->device);
    if (!host || (!t->wtns && !t->values_own))
        return;
    husk = calloc(1, sizeof *husk);
    if (!husk) {
        work_input_close(t);
        return;
    }
    pthread_mutex_init(&husk->slot_lock, NULL);
    husk->wtns = t->wtns;
    husk->values_own = t->values_own;
    load_drop(t->load); /* at once: its circuit may be dropped next. The husk does not look at the bytes */
    t->load = NULL;
    t->wtns = NULL;
    t->values_own = NULL;
    t->values = NULL;
    husk->next = e->trash;
    e->trash = husk;
}

/* The queue's callback; the lock is held. */
static void on_change(void *ctx, struct job *job, enum job_state to)
{
    struct pen_engine *e = ctx;
    struct task *t = job->owner;
    if (to == JOB_STATES) {
        load_drop(t->load);
        t->load = NULL;
        t->next = e->trash;
        e->trash = t;
        return;
    }
    if (job_over(to))
        t->circuit->users--;
    e->event[e->events++ % ENGINE_EVENTS] = (struct pen_event){e->events, job->id, (enum pen_state)to, clock_now_ns()};
    clock_broadcast(&e->clients);
    clock_signal(&e->timer);
}

static int trace_open(struct pen_engine *e, const char *path)
{
    if (!path)
        return 0;
    e->trace_path = strdup(path);
    if (!e->trace_path)
        return err_fail(-ENOMEM, "no memory for a path");
    return span_list_open(&e->spans, ENGINE_SPANS);
}

static void trace_close(struct pen_engine *e)
{
    FILE *f = e->spans ? fopen(e->trace_path, "w") : NULL;
    if (e->spans && (!f || span_write_trace(e->spans, f)))
        log_line(LOG_ERROR, "%s: the trace could not be written", e->trace_path);
    if (e->spans && span_dropped(e->spans))
        log_line(LOG_WARN, "%s: the last %zu spans are missing", e->trace_path, span_dropped(e->spans));
    if (f)
        fclose(f);
    span_list_close(e->spans);
    free(e->trace_path);
}

static int devices_adopt(struct pen_engine *e, struct device *const *devices, unsigned n)
{
    for (unsigned d = 0; d < n; d++) {
        e->gpu[e->gpus].device = devices[d];
        snprintf(e->gpu[e->gpus++].name, sizeof e->gpu[0].name, "device %u", d);
    }
    return 0;
}

static int devices_open(struct pen_engine *e, const struct pen_engine_opts *o)
{
    const char *const *names = o->n_devices ? o->devices : default_devices;
    unsigned n = o->n_devices ? o->n_devices : 1;
    if (n > SCHED_DEVICES)
        return err_fail(-EINVAL, "%u devices; at most %d", n, SCHED_DEVICES);
    struct device_opts opts = {.threads = o->threads, .memory_limit = o->device_memory_bytes};
    for (; e->gpus < n; e->gpus++) {
        struct engine_gpu *g = &e->gpu[e->gpus];
        int rc = device_open(&g->device, names[e->gpus], &opts);
        if (rc)
            return rc;
        snprintf(g->name, sizeof g->name, "%s", names[e->gpus]);
    }
    return 0;
}

static int core_open(struct pen_engine *e, const struct pen_engine_opts *o)
{
    struct job_queue_opts queue = {.max_jobs = o->max_jobs,
                                   .max_bytes = o->max_queue_bytes,
                                   .keep_ns = o->keep_ms * 1000000u,
                                   .changed = on_change,
                                   .ctx = e};
    struct sched_device device[SCHED_DEVICES];
    for (unsigned d = 0; d < e->gpus; d++)
        device[d] = (struct sched_device){.uplink = -1};
    struct sched_opts sched = {.device = device,
                               .devices = e->gpus,
                               .host_bytes = o->input_bytes,
                               .reserve_bytes = o->critical_bytes,
                               .copies = ENGINE_COPIES,
                               .hold_host = true,
                               .release = on_release,
                               .ctx = e};
    int rc = job_queue_open(&e->queue, &queue);
    return rc ? rc : sched_open(&e->sched, e->queue, &sched);
}

int pen_engine_open(struct pen_engine **engine_p, const struct pen_engine_opts *opts)
{
    return engine_open_on(engine_p, opts, NULL, 0);
}

int engine_open_on(struct pen_engine **engine_p, const struct pen_engine_opts *opts, struct device *const *devices,
                   unsigned n)
{
    static const struct pen_engine_opts none;
    const struct pen_engine_opts *o = opts ? opts : &none;
    struct pen_engine *e = calloc(1, sizeof *e);
    if (!e)
        return err_fail(-ENOMEM, "no memory for an engine");
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->rescue_lock, NULL);
    e->host_threads = o->threads;
    int rc = clock_cond_open(&e->lanes);
    rc = rc ? rc : clock_cond_open(&e->clients);
    rc = rc ? rc : clock_cond_open(&e->timer);
    rc = rc ? rc : clock_cond_open(&e->down);
    rc = rc ? rc : devices ? devices_adopt(e, devices, n) : devices_open(e, o);
    rc = rc ? rc : trace_open(e, o->trace_path);
    rc = rc ? rc : core_open(e, o);
    rc = rc ? rc : lanes_start(e);
    if (rc)
        pen_engine_close(e);
    else
        *engine_p = e;
    return rc;
}

static uint64_t deadline_in(uint64_t ms)
{
    uint64_t now_ns = clock_now_ns();
    return ms > (CLOCK_NEVER - now_ns) / 1000000 ? CLOCK_NEVER : now_ns + ms * 1000000;
}

int pen_engine_drain(struct pen_engine *e, uint64_t timeout_ms)
{
    uint64_t until_ns = deadline_in(timeout_ms);
    int rc = 0;
    pthread_mutex_lock(&e->lock);
    job_queue_drain(e->queue);
    while (!job_queue_empty(e->queue) && rc != -ETIMEDOUT)
        rc = clock_wait(&e->clients, &e->lock, until_ns);
    rc = job_queue_empty(e->queue) ? 0 : err_fail(-ETIMEDOUT, "jobs still run");
    pthread_mutex_unlock(&e->lock);
    return rc;
}

static void cancel_all(struct pen_engine *e)
{
    pthread_mutex_lock(&e->lock);
    uint64_t now_ns = clock_now_ns();
    job_queue_drain(e->queue);
    for (enum job_class c = 0; c < JOB_CLASSES; c++) {
        for (struct job *j; (j = job_queue_waiting(e->queue, c, NULL)) != NULL;)
            (void)job_queue_cancel(e->queue, j->id, true, now_ns);
    }
    for (struct job *j = NULL; (j = job_queue_running(e->queue, j)) != NULL;)
        (void)job_queue_cancel(e->queue, j->id, true, now_ns); /* ends at its next boundary */
    sched_reap(e->sched, now_ns);
    while (!job_queue_empty(e->queue))
        (void)clock_wait(&e->clients, &e->lock, CLOCK_NEVER);
    pthread_mutex_unlock(&e->lock);
}

void pen_engine_close(struct pen_engine *e)
{
    if (!e)
        return;
    if (e->timing)
        cancel_all(e);
    lanes_stop(e);
    trace_close(e);
    job_queue_close(e->queue);
    sched_close(e->sched);
    while (e->trash) {
        struct task *t = e->trash;
        e->trash = t->next;
        task_free(t);
    }
    for (int i = 0; i < ENGINE_CIRCUITS; i++) { /* after the tasks, whose witnesses lie in the circuits' leases */
        if (e->circuit[i])
            circuit_close(e, e->circuit[i]);
    }
    if (e->budget)
        budget_close(e->budget);
    for (unsigned d = 0; d < e->gpus; d++)
        e->gpu[d].device->ops->close(e->gpu[d].device);
    pthread_cond_destroy(&e->lanes);
    pthread_cond_destroy(&e->clients);
    pthread_cond_destroy(&e->timer);
    pthread_cond_destroy(&e->down);
    pthread_mutex_destroy(&e->rescue_lock);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

int task_submit(struct pen_engine *e, uint64_t *job_p, const char *circuit, struct task *t,
                const struct pen_job_opts *opts)
{
    static const enum job_class classes[] = {CLASS_NORMAL, CLASS_CRITICAL, CLASS_HIGH, CLASS_LOW};
    struct job_spec spec = {.class = CLASS_NORMAL, .owner = t};
    if (opts) {
        spec.class = (unsigned)opts->priority < 4 ? classes[opts->priority] : JOB_CLASSES;
        spec.deadline_ns = opts->timeout_ms ? deadline_in(opts->timeout_ms) : CLOCK_NEVER;
        spec.key = opts->key;
    }
    if (spec.key && spec.key[0]) {
        spec.fingerprint = hash(14695981039346656037u, circuit, strlen(circuit));
        spec.fingerprint = t->source == SOURCE_FILE ? hash(spec.fingerprint, t->path, strlen(t->path))
                                                    : hash(spec.fingerprint, t->data, t->data_bytes);
    }
    struct job *job;
    bool joined = false;
    pthread_mutex_lock(&e->lock);
    t->circuit = circuit_find(e, circuit);
    int rc = t->circuit ? 0 : -ENOENT;
    if (!rc) {
        spec.circuit = t->circuit->index;
        spec.bytes = t->circuit->input_bytes;
        t->circuit->users++; /* the queue's callback may end it at once */
        rc = job_queue_submit(e->queue, &job, &joined, &spec, clock_now_ns());
        if (rc || joined)
            t->circuit->users--;
    }
    if (!rc) {
        *job_p = job->id;
        lanes_wake(e);
        clock_signal(&e->timer);
    }
    pthread_mutex_unlock(&e->lock);
    if (rc || joined)
        task_free(t);
    return rc;
}

struct task *task_new(enum source source)
{
    struct task *t = calloc(1, sizeof *t);
    if (!t) {
        err_fail(-ENOMEM, "no memory for a job");
        return NULL;
    }
    pthread_mutex_init(&t->slot_lock, NULL);
    t->source = source;
    return t;
}

int pen_submit_file(struct pen_engine *e, uint64_t *job_p, const char *circuit, const char *wtns_path,
                    const struct pen_job_opts *opts)
{
    struct task *t = task_new(SOURCE_FILE);
    if (t && !(t->path = strdup(wtns_path))) {
        task_free(t);
        return err_fail(-ENOMEM, "no memory for a path");
    }
    return t ? task_submit(e, job_p, circuit, t, opts) : -ENOMEM;
}

int pen_submit_memory(struct pen_engine *e, uint64_t *job_p, const char *circuit, const void *wtns, size_t bytes,
                      const struct pen_job_opts *opts)
{
    struct task *t = task_new(SOURCE_MEMORY);
    if (!t)
        return -ENOMEM;
    t->data = wtns;
    t->data_bytes = bytes;
    return task_submit(e, job_p, circuit, t, opts);
}

int pen_submit_producer(struct pen_engine *e, uint64_t *job_p, const char *circuit, pen_producer *producer, void *ctx,
                        const struct pen_job_opts *opts)
{
    struct task *t = task_new(SOURCE_PRODUCER);
    if (!t)
        return -ENOMEM;
    t->producer = producer;
    t->ctx = ctx;
    return task_submit(e, job_p, circuit, t, opts);
}

static int result_fill(struct pen_result *r, const struct job *j)
{
    const struct task *t = j->owner;
    struct pen_result got = {.state = (enum pen_state)j->state,
                             .error = j->state == JOB_DONE ? 0 : j->rc,
                             .queued_s = (double)((j->begin_ns ? j->begin_ns : j->end_ns) - j->submit_ns) * 1e-9,
                             .run_s = j->begin_ns ? (double)(j->end_ns - j->begin_ns) * 1e-9 : 0,
                             .device_fault = t->device_fault};
    if (j->state == JOB_DONE) {
        got.proof_json = strdup(t->proof_json);
        got.public_json = strdup(t->public_json);
        if (!got.proof_json || !got.public_json) {
            pen_result_close(&got);
            return err_fail(-ENOMEM, "no memory for a result");
        }
    } else {
        memcpy(got.why, j->why, sizeof got.why);
    }
    *r = got;
    return 0;
}

int pen_wait(struct pen_engine *e, struct pen_result *result, uint64_t id, uint64_t timeout_ms)
{
    uint64_t until_ns = deadline_in(timeout_ms);
    int rc = 0;
    pthread_mutex_lock(&e->lock);
    struct job *j;
    while ((j = job_queue_find(e->queue, id)) != NULL && !job_over(j->state) && timeout_ms && rc != -ETIMEDOUT)
        rc = clock_wait(&e->clients, &e->lock, until_ns);
    if (!j) {
        rc = err_fail(-ENOENT, "no job %llu", (unsigned long long)id);
    } else if (!job_over(j->state)) {
        result->state = (enum pen_state)j->state;
        rc = err_fail(-ETIMEDOUT, "job %llu is %s", (unsigned long long)id, job_state_names[j->state]);
    } else {
        rc = result_fill(result, j);
    }
    pthread_mutex_unlock(&e->lock);
    return rc;
}

void pen_result_close(struct pen_result *r)
{
    free(r->proof_json);
    free(r->public_json);
    r->proof_json = r->public_json = NULL;
}

int pen_cancel(struct pen_engine *e, uint64_t job)
{
    pthread_mutex_lock(&e->lock);
    int rc = job_queue_cancel(e->queue, job, false, clock_now_ns());
    sched_reap(e->sched, clock_now_ns());
    lanes_wake(e);
    pthread_mutex_unlock(&e->lock);
    return rc;
}

int pen_event_next(struct pen_engine *e, struct pen_event *event, uint64_t after, uint64_t timeout_ms)
{
    uint64_t until_ns = deadline_in(timeout_ms);
    int rc = 0;
    pthread_mutex_lock(&e->lock);
    while (e->events <= after && !e->stop && rc != -ETIMEDOUT)
        rc = clock_wait(&e->clients, &e->lock, until_ns);
    if (e->events > after) {
        uint64_t oldest = e->events > ENGINE_EVENTS ? e->events - ENGINE_EVENTS : 0;
        *event = e->event[(after > oldest ? after : oldest) % ENGINE_EVENTS];
        rc = 0;
    } else {
        rc = err_fail(e->stop ? -ESHUTDOWN : -ETIMEDOUT, "no event after %llu", (unsigned long long)after);
    }
    pthread_mutex_unlock(&e->lock);
    return rc;
}

int pen_engine_stats(struct pen_engine *e, struct pen_stats *stats)
{
    struct job_queue_view q;
    struct sched_view s;
    pthread_mutex_lock(&e->lock);
    job_queue_read(e->queue, &q);
    sched_read(e->sched, &s);
    *stats = (struct pen_stats){.devices = e->gpus,
                                .running = q.running,
                                .kept = q.kept,
                                .submitted = q.submitted,
                                .joined = q.joined,
                                .refused = q.refused,
                                .done = q.ended[JOB_DONE],
                                .failed = q.ended[JOB_FAILED],
                                .cancelled = q.ended[JOB_CANCELLED],
                                .retries = s.retries,
                                .devices_revived = e->revived,
                                .queue_bytes = q.bytes,
                                .input_bytes = s.host_used,
                                .read_s = (double)e->busy_ns[LANE_READ] * 1e-9,
                                .copy_s = (double)e->busy_ns[LANE_COPY] * 1e-9,
                                .compute_s = (double)e->busy_ns[LANE_COMPUTE] * 1e-9,
                                .fold_s = (double)e->busy_ns[LANE_FOLD] * 1e-9};
    for (int c = 0; c < JOB_CLASSES; c++)
        stats->waiting += q.waiting[c];
    for (unsigned d = 0; d < e->gpus; d++) {
        stats->devices_down += sched_device_down(e->sched, d);
        stats->device_faults += s.faults[d];
    }
    for (int i = 0; i < ENGINE_CIRCUITS; i++)
        stats->circuits += e->circuit[i] && e->circuit[i]->input_bytes;
    pthread_mutex_unlock(&e->lock);
    return 0;
}
