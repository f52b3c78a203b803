/* The engine: queue and scheduler under one lock, and the threads that do what the scheduler says. */
#ifndef ENGINE_ENGINE_INTERNAL_H
#define ENGINE_ENGINE_INTERNAL_H

#include <pthread.h>

#include "alloc/budget.h"
#include "alloc/loader.h"
#include "engine/sched.h"
#include "penstock/engine.h"
#include "prover/groth16.h"

enum { ENGINE_COPIES = 2, ENGINE_EVENTS = 4096, ENGINE_CIRCUITS = 64, ENGINE_SPARE = 4, ENGINE_SPANS = 1 << 20 };
enum { LANE_THREADS = LANES + ENGINE_COPIES - 1 };

struct engine_gpu {
    struct device *device;
    char name[32];
};

/* A circuit on one device, with buffers of inputs that are not in use. */
struct engine_key {
    struct groth16_key *key; /* NULL: not on this device */
    struct dbuf spare[ENGINE_SPARE];
    unsigned spares;
};

struct circuit {
    char name[64];
    unsigned index;
    unsigned users; /* tasks that name it */
    struct zkey *zkey;
    struct byte_source *source; /* the zkey's; its loader brings the witnesses as well */
    struct vk vk;
    uint64_t input_bytes;
    struct engine_key on[SCHED_DEVICES];
};

enum source { SOURCE_FILE, SOURCE_MEMORY, SOURCE_PRODUCER };

/* What belongs to a job beyond its state. Written by the lane that has the job. */
struct task {
    struct circuit *circuit;
    enum source source;
    char *path;
    const void *data;
    size_t data_bytes;
    pen_producer *producer;
    void *ctx;

    struct wtns *wtns;         /* SOURCE_FILE, SOURCE_MEMORY */
    struct load *load;         /* SOURCE_FILE: where the bytes are */
    uint8_t *values_own;       /* SOURCE_PRODUCER */
    const uint8_t *values;     /* n_vars scalars */
    pthread_mutex_t slot_lock; /* two chunks of one job may begin at once */
    struct dbuf slot;
    struct groth16_sums sums;
    _Atomic bool rescue; /* two chunks may fail at once */
    bool device_fault;   /* no sums came from the device */
    char *proof_json, *public_json;
    struct task *next; /* in the trash */
};

struct lane_thread {
    struct pen_engine *engine;
    unsigned device;
    enum lane lane;
    char name[24];         /* "gpu0 copy": of its spans */
    struct stream *stream; /* copy lanes */
    pthread_t thread;
};

struct pen_engine {
    pthread_mutex_t lock;
    pthread_cond_t lanes, clients, timer;
    struct job_queue *queue;
    struct sched *sched;
    struct engine_gpu gpu[SCHED_DEVICES];
    unsigned gpus;
    struct circuit *circuit[ENGINE_CIRCUITS];
    struct lane_thread thread[SCHED_DEVICES * LANE_THREADS];
    unsigned threads;
    pthread_t timer_thread;
    bool timing, stop;
    struct pen_event event[ENGINE_EVENTS];
    uint64_t events;
    struct task *trash; /* inputs and tasks to free, without the lock */
    pthread_mutex_t rescue_lock;
    unsigned host_threads;
    uint64_t busy_ns[LANES];
    struct budget *budget;   /* of host memory for keys and witnesses; from the first circuit on */
    struct span_list *spans; /* NULL: no trace */
    char *trace_path;
};

/* pen_engine_open over devices that are open already (simulated ones); the engine closes them, also when it fails. */
int engine_open_on(struct pen_engine **engine_p, const struct pen_engine_opts *opts, struct device *const *devices,
                   unsigned n);

/* engine_work.c: do an action, without the lock. */
int work_do(struct pen_engine *e, struct lane_thread *t, const struct action *a);
/* The slot of an ended job goes back to its circuit; the lock is held. */
void work_slot_give(struct pen_engine *e, struct task *task, unsigned device);
void work_input_close(struct task *task);

/* engine_load.c: open the key, start reading it; all devices have it; a witness file. */
int circuit_key_open(struct pen_engine *e, struct circuit *c, const char *path);
void circuit_key_settle(struct circuit *c);
int task_witness_open(struct task *task);
void task_witness_close(struct task *task);

/* engine_lanes.c */
int lanes_start(struct pen_engine *e);
void lanes_stop(struct pen_engine *e);
void lanes_wake(struct pen_engine *e); /* something changed; the lock is held */
void task_free(struct task *task);

/* engine_circuit.c; the lock is held */
struct circuit *circuit_find(struct pen_engine *e, const char *name);
void circuit_close(struct pen_engine *e, struct circuit *c);

#endif
