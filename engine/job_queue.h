/* All jobs of an engine, waiting, running and ended. Pure: no thread, no lock, no clock; the caller holds a lock and
 * passes the time. Classes are strict but for one rule: who has waited age_ns counts one class higher, up to high, so
 * that nobody starves and nothing but a critical job goes before a critical job. Within a class first in, first out. */
#ifndef ENGINE_JOB_QUEUE_H
#define ENGINE_JOB_QUEUE_H

#include "engine/job.h"

struct job_queue;

struct job_queue_opts {
    unsigned max_jobs;      /* not yet ended; 0: 1024. The last eighth is for critical jobs alone */
    uint64_t max_bytes;     /* of their inputs; 0: no limit */
    uint64_t age_ns;        /* 0: 60 s */
    uint64_t keep_ns;       /* ended jobs are dropped after it; 0: 10 min */
    unsigned keep_jobs;     /* and the oldest of more than that; 0: 4096 */
    unsigned max_passed_by; /* after so many bypasses a job is waited for; 0: 8 */
    /* Each change of state, also when a job is dropped (to == JOB_STATES, the last call for its owner). */
    void (*changed)(void *ctx, struct job *job, enum job_state to);
    void *ctx;
};

struct job_spec {
    enum job_class class;
    unsigned circuit;
    uint64_t bytes, deadline_ns;
    const char *key; /* NULL or "": none */
    uint64_t fingerprint;
    void *owner;
};

struct job_queue_view {
    unsigned waiting[JOB_CLASSES], running, kept;
    uint64_t bytes; /* of waiting and running */
    uint64_t submitted, joined, refused, ended[JOB_STATES];
    uint64_t oldest_ns; /* submission of the oldest waiting one; CLOCK_NEVER */
};

int job_queue_open(struct job_queue **q_p, const struct job_queue_opts *opts);
void job_queue_close(struct job_queue *q); /* drops every job */

/* Put one job in. A key that a job has which waits, runs or is done: that job, *joined. A failed or cancelled one is
 * tried again. -EAGAIN: full, the sentence says of what; -EEXIST: the key belongs to another request; -ESHUTDOWN:
 * draining; -EINVAL. `joined` may be NULL. */
int job_queue_submit(struct job_queue *q, struct job **job_p, bool *joined, const struct job_spec *spec,
                     uint64_t now_ns);

/* Put n jobs in as one set, all or none; the first that fails or is cancelled stops the others. No keys. */
int job_queue_submit_set(struct job_queue *q, struct job **jobs, const struct job_spec *specs, unsigned n,
                         uint64_t now_ns);

struct job *job_queue_find(const struct job_queue *q, uint64_t id); /* NULL: never was, or dropped */

/* Is this waiting job the one to take? */
typedef bool job_queue_fits(void *ctx, const struct job *job);

/* The first waiting job, in order, that fits; NULL. A job that does not fit is passed by at most max_passed_by times by
 * jobs of its own order; after that nobody behind it is taken, except critical ones. It stays in the queue:
 * job_queue_move takes it out. */
struct job *job_queue_pick(struct job_queue *q, job_queue_fits *fits, void *ctx, uint64_t now_ns);

/* The class it counts as now, its age included. */
enum job_class job_queue_class(const struct job_queue *q, const struct job *job, uint64_t now_ns);

/* Change a job's state. -EINVAL for what the table forbids. */
int job_queue_move(struct job_queue *q, struct job *job, enum job_state to, uint64_t now_ns);

/* Let it end as failed (rc and this thread's sentence). From any state; actions under way must be over. */
void job_queue_fail(struct job_queue *q, struct job *job, int rc, uint64_t now_ns);

/* Withdraw one submission, or with `force` all: when none is left, a waiting job is cancelled now, a running one at its
 * next boundary. -ENOENT, -EALREADY (it has ended). */
int job_queue_cancel(struct job_queue *q, uint64_t id, bool force, uint64_t now_ns);

/* A job that must stop and has nothing under way ends. True when it did. */
bool job_queue_stopped(struct job_queue *q, struct job *job, uint64_t now_ns);

/* End what is past its deadline, drop what was kept long enough. */
void job_queue_expire(struct job_queue *q, uint64_t now_ns);
/* When expire has something to do next; CLOCK_NEVER. */
uint64_t job_queue_next_ns(const struct job_queue *q);

/* Take no more jobs; those inside go on. */
void job_queue_drain(struct job_queue *q);
bool job_queue_empty(const struct job_queue *q); /* nothing waits or runs */

void job_queue_read(const struct job_queue *q, struct job_queue_view *view);

/* Running jobs, in no order; NULL begins and ends. */
struct job *job_queue_running(const struct job_queue *q, const struct job *after);
/* Waiting jobs of a class, oldest first. */
struct job *job_queue_waiting(const struct job_queue *q, enum job_class class, const struct job *after);

#endif
