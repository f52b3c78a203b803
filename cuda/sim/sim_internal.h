#ifndef CUDA_SIM_SIM_INTERNAL_H
#define CUDA_SIM_SIM_INTERNAL_H

#include <pthread.h>

#include "cuda/sim/sim.h"
#include "perf/clock_virtual.h"

struct sim_range {
    struct sim_range *next;
    uintptr_t base;
    size_t bytes;
    unsigned users; /* devices share a registration */
};

struct sim {
    struct sim_opts opts;
    struct sim_rates rates;
    pthread_mutex_t lock;
    struct world *world;
    struct clock_timer timer;
    struct sim_range *ranges;
    bool registering; /* the process lock of the driver */
    pthread_cond_t registered;
    struct sim_fault fault;
    bool armed, went_off;
    uint64_t calls[SIM_OP_KINDS];
    size_t taken, handles;
    unsigned open;
};

struct sim_device {
    struct device base;
    struct sim *sim;
    struct device *inner;
    unsigned ordinal;
    size_t limit, taken;
    uint64_t next_addr;
    bool lost;
};

enum sim_step_kind { STEP_COPY, STEP_KERNEL, STEP_STREAMED, STEP_RECORD, STEP_WAIT, STEP_CALL };

struct sim_stream;

/* One thing that a stream does in its turn. */
struct sim_step {
    struct sim_step *next;
    struct sim_stream *stream;
    enum sim_step_kind kind;
    enum world_engine dir;
    uint64_t bytes, ns, max_rate;
    uint64_t left; /* of a streamed step: not yet queued */
    struct event *event;
    uint64_t ticket; /* of the event */
    world_done *call;
    void *ctx;
    unsigned parts; /* still under way */
    int rc;         /* fails when it ends */
    const char *stage;
    uint64_t begin_ns;
};

struct sim_stream {
    struct stream base;
    struct stream *inner;
    struct stream_opts opts;
    struct sim_step *first, **last;
    bool busy; /* the first step is under way */
    int rc;
    char why[160];
    pthread_cond_t idle;
    struct sim_stream *next_waiting; /* on an event */
};

struct event {
    struct sim_device *device;
    struct event *inner; /* never used: order is the call's order */
    uint64_t issued, reached;
    int rc; /* of the stream that reached it */
    struct sim_stream *waiting;
    unsigned users;
};

struct bases {
    struct sim_device *device;
    struct bases *inner;
    const struct curve *curve;
    enum group group;
    size_t n, bytes;
    bool resident;
};

struct matrix {
    struct sim_device *device;
    struct matrix *inner;
    size_t nonzeros, bytes;
    bool resident;
};

static inline struct sim_device *sim_of(struct device *d)
{
    return (struct sim_device *)d;
}

/* Count the call and tell whether it fails now: 0, or a code with its sentence. late: *late gets the code in place.
 * wrong: *wrong is set. Either may be NULL. The lock is held. */
int sim_enter(struct sim_device *d, enum sim_op op, int *late, bool *wrong);

/* Let time pass on the caller's side: wait for `cond` or run the world. The lock is held. -EDEADLK when nothing is due
 * any more. */
int sim_pass(struct sim *sim, pthread_cond_t *cond);

/* Wait until no registration is under way. The lock is held. */
void sim_process_lock(struct sim *sim, bool take);

/* Is [p, p + bytes) inside one registered range? -EINVAL when it crosses the end of one. The lock is held. */
int sim_registered(struct sim *sim, const void *p, size_t bytes, bool *registered);

int sim_register(struct device *d, void *base, size_t bytes);
int sim_unregister(struct device *d, void *base);

/* sim_stream.c */
int sim_stream_open(struct device *d, struct stream **out, const struct stream_opts *opts);
void sim_stream_close(struct stream *s);
int sim_stream_sync(struct stream *s);
int sim_event_open(struct device *d, struct event **out);
void sim_event_close(struct event *e);
int sim_event_record(struct stream *s, struct event *e);
int sim_event_wait(struct stream *s, struct event *e);
/* Put a copy of *step behind the others. The lock is held. -ENOMEM, or the stream's failure. */
int sim_stream_add(struct sim_stream *s, const struct sim_step *step);
/* Wait until the stream is empty. The lock is held. */
int sim_stream_drain(struct sim_stream *s);

#endif
