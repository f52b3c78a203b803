#include "engine/job_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/clock.h"
#include "perf/err.h"

enum { BUCKETS = 1024 };

struct list {
    struct job *first, *last;
    unsigned n;
};

struct job_set {
    unsigned n, dropped;
    bool stopped;
    struct job *job[];
};

struct job_queue {
    struct job_queue_opts opts;
    struct list waiting[JOB_CLASSES], running, ended;
    struct job *by_id[BUCKETS], *by_key[BUCKETS];
    uint64_t next_id;
    bool draining;
    struct job_queue_view stats;
};

static void list_add(struct list *l, struct job *j)
{
    j->next = NULL;
    j->prev = l->last;
    *(l->last ? &l->last->next : &l->first) = j;
    l->last = j;
    l->n++;
}

/* Before all that were submitted later: a job that comes back keeps its place. */
static void list_add_in_order(struct list *l, struct job *j)
{
    struct job *after = l->last;
    while (after && after->id > j->id)
        after = after->prev;
    j->prev = after;
    j->next = after ? after->next : l->first;
    *(after ? &after->next : &l->first) = j;
    *(j->next ? &j->next->prev : &l->last) = j;
    l->n++;
}

static void list_cut(struct list *l, struct job *j)
{
    *(j->prev ? &j->prev->next : &l->first) = j->next;
    *(j->next ? &j->next->prev : &l->last) = j->prev;
    l->n--;
}

static struct list *list_of(struct job_queue *q, const struct job *j)
{
    return j->state == JOB_QUEUED ? &q->waiting[j->class] : job_over(j->state) ? &q->ended : &q->running;
}

static unsigned key_bucket(const char *key)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 1099511628211u;
    return (unsigned)(h % BUCKETS);
}

int job_queue_open(struct job_queue **q_p, const struct job_queue_opts *opts)
{
    struct job_queue *q = calloc(1, sizeof *q);
    if (!q)
        return err_fail(-ENOMEM, "no memory for a queue");
    q->opts = *opts;
    struct job_queue_opts *o = &q->opts;
    o->max_jobs = o->max_jobs ? o->max_jobs : 1024;
    o->max_bytes = o->max_bytes ? o->max_bytes : UINT64_MAX;
    o->age_ns = o->age_ns ? o->age_ns : 60000000000u;
    o->keep_ns = o->keep_ns ? o->keep_ns : 600000000000u;
    o->keep_jobs = o->keep_jobs ? o->keep_jobs : 4096;
    o->max_passed_by = o->max_passed_by ? o->max_passed_by : 8;
    *q_p = q;
    return 0;
}

static void job_drop(struct job_queue *q, struct job *j)
{
    if (q->opts.changed)
        q->opts.changed(q->opts.ctx, j, JOB_STATES);
    list_cut(list_of(q, j), j);
    struct job **p = &q->by_id[j->id % BUCKETS];
    while (*p != j)
        p = &(*p)->next_id;
    *p = j->next_id;
    if (j->key[0]) {
        for (p = &q->by_key[key_bucket(j->key)]; *p && *p != j;)
            p = &(*p)->next_key;
        if (*p)
            *p = j->next_key;
    }
    if (j->set) {
        j->set->job[j->part] = NULL;
        if (++j->set->dropped == j->set->n)
            free(j->set);
    }
    free(j);
}

void job_queue_close(struct job_queue *q)
{
    if (!q)
        return;
    for (int c = 0; c < JOB_CLASSES; c++) {
        while (q->waiting[c].first)
            job_drop(q, q->waiting[c].first);
    }
    while (q->running.first)
        job_drop(q, q->running.first);
    while (q->ended.first)
        job_drop(q, q->ended.first);
    free(q);
}

static unsigned inside(const struct job_queue *q)
{
    unsigned n = q->running.n;
    for (int c = 0; c < JOB_CLASSES; c++)
        n += q->waiting[c].n;
    return n;
}

static int admit(struct job_queue *q, const struct job_spec *specs, unsigned n)
{
    uint64_t bytes = 0;
    if (q->draining)
        return err_fail(-ESHUTDOWN, "the engine is shutting down and takes no more jobs");
    unsigned room = q->opts.max_jobs;
    for (unsigned i = 0; i < n; i++) {
        if (specs[i].class >= JOB_CLASSES)
            return err_fail(-EINVAL, "job class %d; there are 0 to %d", (int)specs[i].class, JOB_CLASSES - 1);
        if (specs[i].bytes > q->opts.max_bytes)
            return err_fail(-E2BIG, "an input of %llu bytes; the queue may hold %llu in all",
                            (unsigned long long)specs[i].bytes, (unsigned long long)q->opts.max_bytes);
        bytes += specs[i].bytes;
        if (specs[i].class != CLASS_CRITICAL)
            room = q->opts.max_jobs - q->opts.max_jobs / 8;
    }
    if (inside(q) + n > room) {
        q->stats.refused += n;
        return err_fail(-EAGAIN, "the queue is full: %u jobs, %u of this class may be there", inside(q), room);
    }
    if (bytes > q->opts.max_bytes || q->stats.bytes > q->opts.max_bytes - bytes) {
        q->stats.refused += n;
        return err_fail(-EAGAIN, "the queue is full: it holds %llu bytes of inputs, limit %llu",
                        (unsigned long long)q->stats.bytes, (unsigned long long)q->opts.max_bytes);
    }
    return 0;
}

static struct job *job_new(const struct job_spec *spec, uint64_t now_ns)
{
    struct job *j = calloc(1, sizeof *j);
    if (!j) {
        err_fail(-ENOMEM, "no memory for a job");
        return NULL;
    }
    j->class = spec->class;
    j->circuit = spec->circuit;
    j->bytes = spec->bytes;
    j->deadline_ns = spec->deadline_ns ? spec->deadline_ns : CLOCK_NEVER;
    j->fingerprint = spec->fingerprint;
    j->owner = spec->owner;
    j->holders = 1;
    j->submit_ns = now_ns;
    j->device = JOB_NO_DEVICE;
    if (spec->key)
        snprintf(j->key, sizeof j->key, "%s", spec->key);
    return j;
}

static void job_put(struct job_queue *q, struct job *j)
{
    j->id = ++q->next_id;
    j->next_id = q->by_id[j->id % BUCKETS];
    q->by_id[j->id % BUCKETS] = j;
    if (j->key[0]) {
        struct job **head = &q->by_key[key_bucket(j->key)];
        j->next_key = *head; /* in front of an older one that failed */
        *head = j;
    }
    list_add(&q->waiting[j->class], j);
    q->stats.bytes += j->bytes;
    q->stats.submitted++;
    if (q->opts.changed)
        q->opts.changed(q->opts.ctx, j, JOB_QUEUED);
}

static struct job *key_find(struct job_queue *q, const char *key)
{
    struct job *j = q->by_key[key_bucket(key)];
    while (j && strcmp(j->key, key) != 0)
        j = j->next_key;
    return j;
}

int job_queue_submit(struct job_queue *q, struct job **job_p, bool *joined, const struct job_spec *spec,
                     uint64_t now_ns)
{
    bool keyed = spec->key && spec->key[0];
    if (joined)
        *joined = false;
    if (keyed && strlen(spec->key) > JOB_KEY)
        return err_fail(-EINVAL, "an idempotency key of %zu bytes; at most %d", strlen(spec->key), JOB_KEY);
    struct job *old = keyed ? key_find(q, spec->key) : NULL;
    if (old && old->fingerprint != spec->fingerprint)
        return err_fail(-EEXIST, "the key \"%s\" belongs to job %llu, another request", spec->key,
                        (unsigned long long)old->id);
    if (old && !old->stop && old->state != JOB_FAILED && old->state != JOB_CANCELLED) {
        old->holders++;
        q->stats.joined++;
        if (joined)
            *joined = true;
        *job_p = old;
        return 0;
    }
    int rc = admit(q, spec, 1);
    struct job *j = rc ? NULL : job_new(spec, now_ns);
    if (!j)
        return rc ? rc : -ENOMEM;
    job_put(q, j);
    *job_p = j;
    return 0;
}

int job_queue_submit_set(struct job_queue *q, struct job **jobs, const struct job_spec *specs, unsigned n,
                         uint64_t now_ns)
{
    if (n == 0)
        return err_fail(-EINVAL, "a set without jobs");
    int rc = admit(q, specs, n);
    if (rc)
        return rc;
    struct job_set *set = calloc(1, sizeof *set + n * sizeof(struct job *));
    if (!set)
        return err_fail(-ENOMEM, "no memory for a set of %u jobs", n);
    for (set->n = 0; set->n < n; set->n++) {
        struct job *j = job_new(&specs[set->n], now_ns);
        if (!j)
            goto drop_jobs;
        j->key[0] = 0;
        j->set = set;
        j->part = set->n;
        set->job[set->n] = j;
    }
    for (unsigned i = 0; i < n; i++)
        job_put(q, jobs[i] = set->job[i]);
    return 0;
drop_jobs:
    while (set->n)
        free(set->job[--set->n]);
    free(set);
    return -ENOMEM;
}

struct job *job_queue_find(const struct job_queue *q, uint64_t id)
{
    struct job *j = q->by_id[id % BUCKETS];
    while (j && j->id != id)
        j = j->next_id;
    return j;
}

enum job_class job_queue_class(const struct job_queue *q, const struct job *j, uint64_t now_ns)
{
    if (j->class <= CLASS_HIGH || now_ns < j->submit_ns)
        return j->class;
    uint64_t up = (now_ns - j->submit_ns) / q->opts.age_ns;
    return up >= (uint64_t)(j->class - CLASS_HIGH) ? CLASS_HIGH : (enum job_class)(j->class - up);
}

/* The first in order of the heads of the four lists. */
static struct job *head_best(const struct job_queue *q, struct job *const head[JOB_CLASSES], uint64_t now_ns)
{
    struct job *best = NULL;
    enum job_class best_class = JOB_CLASSES;
    for (int c = 0; c < JOB_CLASSES; c++) {
        if (!head[c])
            continue;
        enum job_class class = job_queue_class(q, head[c], now_ns);
        if (!best || class < best_class || (class == best_class && head[c]->id < best->id)) {
            best = head[c];
            best_class = class;
        }
    }
    return best;
}

struct job *job_queue_pick(struct job_queue *q, job_queue_fits *fits, void *ctx, uint64_t now_ns)
{
    struct job *head[JOB_CLASSES], *j, *found = NULL;
    for (int c = 0; c < JOB_CLASSES; c++)
        head[c] = q->waiting[c].first;
    bool closed = false; /* somebody has been passed by often enough */
    while (!found && (j = head_best(q, head, now_ns)) != NULL) {
        if ((!closed || j->class == CLASS_CRITICAL) && fits(ctx, j))
            found = j;
        else if (j->passed_by >= q->opts.max_passed_by)
            closed = true;
        head[j->class] = j->next;
    }
    return found;
}

/* Who stands before `taken` in the order has been passed by. */
static void count_bypasses(struct job_queue *q, const struct job *taken, uint64_t now_ns)
{
    enum job_class class = job_queue_class(q, taken, now_ns);
    for (int c = 0; c < JOB_CLASSES; c++) {
        for (struct job *j = q->waiting[c].first; j; j = j->next) {
            enum job_class other = job_queue_class(q, j, now_ns);
            if (other < class || (other == class && j->id < taken->id))
                j->passed_by++;
        }
    }
}

static void set_stop(struct job_queue *q, const struct job *first, uint64_t now_ns);

int job_queue_move(struct job_queue *q, struct job *j, enum job_state to, uint64_t now_ns)
{
    if (to >= JOB_STATES || !job_may(j->state, to))
        return err_fail(-EINVAL, "job %llu cannot go from %s to %s", (unsigned long long)j->id,
                        job_state_names[j->state], to < JOB_STATES ? job_state_names[to] : "?");
    list_cut(list_of(q, j), j);
    if (j->state == JOB_QUEUED && !job_over(to)) {
        count_bypasses(q, j, now_ns);
        if (!j->begin_ns)
            j->begin_ns = now_ns;
    }
    j->state = to;
    if (to == JOB_QUEUED)
        list_add_in_order(list_of(q, j), j);
    else
        list_add(list_of(q, j), j);
    if (job_over(to)) {
        j->end_ns = now_ns;
        q->stats.bytes -= j->bytes;
        q->stats.ended[to]++;
    }
    if (q->opts.changed)
        q->opts.changed(q->opts.ctx, j, to);
    if (to == JOB_FAILED || to == JOB_CANCELLED)
        set_stop(q, j, now_ns);
    return 0;
}

static void job_end(struct job_queue *q, struct job *j, enum job_state as, int rc, const char *why, uint64_t now_ns)
{
    j->rc = rc;
    if (why != j->why)
        snprintf(j->why, sizeof j->why, "%.250s", why);
    (void)job_queue_move(q, j, as, now_ns);
}

void job_queue_fail(struct job_queue *q, struct job *j, int rc, uint64_t now_ns)
{
    char why[1024];
    err_copy(why);
    if (!job_over(j->state))
        job_end(q, j, JOB_FAILED, rc, why, now_ns);
}

/* Now if it waits, at the next boundary if it runs. The first reason stays. */
static void job_stop(struct job_queue *q, struct job *j, enum job_state as, int rc, const char *why, uint64_t now_ns)
{
    if (job_over(j->state) || j->stop)
        return;
    j->stop = true;
    j->stop_as = as;
    j->rc = rc;
    snprintf(j->why, sizeof j->why, "%.250s", why);
    if (j->state == JOB_QUEUED) /* the scheduler ends the others, when it has taken its things back */
        (void)job_queue_stopped(q, j, now_ns);
}

bool job_queue_stopped(struct job_queue *q, struct job *j, uint64_t now_ns)
{
    if (!j->stop || job_over(j->state) || j->in_flight || j->has_host || j->has_slot)
        return false;
    job_end(q, j, j->stop_as, j->rc, j->why, now_ns);
    return true;
}

/* The others of a set stop with the first that failed; they count as cancelled, not as failures of their own. */
static void set_stop(struct job_queue *q, const struct job *first, uint64_t now_ns)
{
    struct job_set *set = first->set;
    if (!set || set->stopped)
        return;
    set->stopped = true;
    char why[64];
    snprintf(why, sizeof why, "part %u of its set %s", first->part, job_state_names[first->state]);
    for (unsigned i = 0; i < set->n; i++) {
        if (set->job[i])
            job_stop(q, set->job[i], JOB_CANCELLED, -ECANCELED, why, now_ns);
    }
}

int job_queue_cancel(struct job_queue *q, uint64_t id, bool force, uint64_t now_ns)
{
    struct job *j = job_queue_find(q, id);
    if (!j)
        return err_fail(-ENOENT, "no job %llu", (unsigned long long)id);
    if (job_over(j->state))
        return err_fail(-EALREADY, "job %llu is %s already", (unsigned long long)id, job_state_names[j->state]);
    if (!force && j->holders > 1) {
        j->holders--;
        return 0;
    }
    j->holders = 0;
    job_stop(q, j, JOB_CANCELLED, -ECANCELED, "cancelled", now_ns);
    return 0;
}

static void deadlines_expire(struct job_queue *q, struct list *l, uint64_t now_ns)
{
    for (struct job *j = l->first, *next; j; j = next) {
        next = j->next;
        if (j->deadline_ns <= now_ns && !j->stop) {
            job_stop(q, j, JOB_FAILED, -ETIMEDOUT, "its deadline has passed", now_ns);
            next = l->first; /* a set may have taken others with it */
        }
    }
}

void job_queue_expire(struct job_queue *q, uint64_t now_ns)
{
    for (int c = 0; c < JOB_CLASSES; c++)
        deadlines_expire(q, &q->waiting[c], now_ns);
    deadlines_expire(q, &q->running, now_ns);
    while (q->ended.first && (q->ended.n > q->opts.keep_jobs || now_ns - q->ended.first->end_ns >= q->opts.keep_ns))
        job_drop(q, q->ended.first);
}

static uint64_t list_next_ns(const struct list *l)
{
    uint64_t next_ns = CLOCK_NEVER;
    for (const struct job *j = l->first; j; j = j->next) {
        if (!j->stop && j->deadline_ns < next_ns)
            next_ns = j->deadline_ns;
    }
    return next_ns;
}

uint64_t job_queue_next_ns(const struct job_queue *q)
{
    uint64_t next_ns = list_next_ns(&q->running);
    for (int c = 0; c < JOB_CLASSES; c++) {
        uint64_t ns = list_next_ns(&q->waiting[c]);
        next_ns = ns < next_ns ? ns : next_ns;
    }
    if (q->ended.first && q->ended.first->end_ns + q->opts.keep_ns < next_ns)
        next_ns = q->ended.first->end_ns + q->opts.keep_ns;
    return next_ns;
}

void job_queue_drain(struct job_queue *q)
{
    q->draining = true;
}

bool job_queue_empty(const struct job_queue *q)
{
    return inside(q) == 0;
}

struct job *job_queue_running(const struct job_queue *q, const struct job *after)
{
    return after ? after->next : q->running.first;
}

struct job *job_queue_waiting(const struct job_queue *q, enum job_class class, const struct job *after)
{
    return after ? after->next : q->waiting[class].first;
}

void job_queue_read(const struct job_queue *q, struct job_queue_view *view)
{
    *view = q->stats;
    view->running = q->running.n;
    view->kept = q->ended.n;
    view->oldest_ns = CLOCK_NEVER;
    for (int c = 0; c < JOB_CLASSES; c++) {
        view->waiting[c] = q->waiting[c].n;
        if (q->waiting[c].first && q->waiting[c].first->submit_ns < view->oldest_ns)
            view->oldest_ns = q->waiting[c].first->submit_ns;
    }
}
