/* The engine: queue and scheduler under one lock, and the threads that do what the scheduler says. */
#ifndef ENGINE_ENGINE_INTERNAL_H
#define ENGINE_ENGINE_INTERNAL_H

#include <pthread.h>

#include "alloc/budget.h"
#include "alloc/loader.h"
#include "engine/residency.h"
#include "engine/sched.h"
#include "penstock/engine.h"
#include "prover/groth16.h"

enum { ENGINE_COPIES = 2, ENGINE_EVENTS = 4096, ENGINE_CIRCUITS = 64, ENGINE_SPARE = 4, ENGINE_SPANS = 1 << 20 };
enum { LANE_THREADS = LANES + ENGINE_COPIES - 1 };

struct engine_gpu {
    struct device *device;
    char name[32];
    uint64_t retry_ns, wait_ns; /* while it is down: when it is tried again, and how long after the last try */
};

/* A circuit on one device, with buffers of inputs that are not in use. */
struct engine_key {
    struct groth16_key *key; /* NULL: not on this device */
    struct dbuf spare[ENGINE_SPARE];
    unsigned spares;
    bool planned; /* false: a host device, where nothing moves */
    struct residency_plan plan;
    uint64_t lane_ns[LANES], proofs; /* spent, and computed, here */
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

enum source { SOURCE_FILE, SOURCE_MEMORY, SOURCE_PRODUCER, SOURCE_ROWS };

/* What belongs to a job beyond its state. Written by the lane that has the job. */
struct task {
    struct circuit *circuit;
    enum source source;
    char *path;
    const void *data;
    size_t data_bytes;
    pen_producer *producer;
    void *ctx;

    struct wtns *wtns;         /* SOURCE_FILE, SOURCE_MEMORY; SOURCE_ROWS is used where it lies */
    struct load *load;         /* SOURCE_FILE: where the bytes are */
    uint8_t *values_own;       /* SOURCE_PRODUCER */
    const uint8_t *values;     /* circuit->input_bytes: n_vars scalars, and rows for SOURCE_ROWS */
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
    pthread_cond_t lanes, clients, timer, down;
    struct job_queue *queue;
    struct sched *sched;
    struct engine_gpu gpu[SCHED_DEVICES];
    unsigned gpus;
    struct circuit *circuit[ENGINE_CIRCUITS];
    struct lane_thread thread[SCHED_DEVICES * LANE_THREADS];
    unsigned threads;
    pthread_t timer_thread, revive_thread;
    bool timing, reviving, stop;
    uint64_t revived;
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

/* engine_plan.c: the sizes of a key; put it on device d as the plan says, slots included. -ENOMEM with what is missing,
 * or what the device says. */
struct key_sizes circuit_sizes(const struct circuit *c);
int circuit_put(struct pen_engine *e, struct circuit *c, unsigned d);
/* Take the plan's buffers for inputs now, so that none is allocated while proofs run. */
int circuit_slots(struct pen_engine *e, struct circuit *c, unsigned d, uint64_t bytes);

/* engine_adopt.c: a circuit whose keys were made elsewhere (no file), keys[d] for device d or NULL. Taken over when it
 * succeeds: zkey, keys, and the contents of vk. plan: by which the keys were made; NULL: none. */
int engine_circuit_adopt(struct pen_engine *e, const char *name, struct zkey *zkey, struct vk *vk,
                         struct groth16_key *const *keys, const struct residency_plan *plan);
/* An input as the key wants it (groth16_input_bytes) in the caller's memory, which must stay until the job has ended;
 * used as it is. For producers that write rows. */
int engine_submit_rows(struct pen_engine *e, uint64_t *job_p, const char *circuit, const void *input, size_t bytes,
                       const struct pen_job_opts *opts);

/* engine_work.c: do an action, without the lock. */
int work_do(struct pen_engine *e, struct lane_thread *t, const struct action *a);
/* The slot of an ended job goes back to its circuit; the lock is held. */
void work_slot_give(struct pen_engine *e, struct task *task, unsigned device);
void work_input_close(struct task *task);

/* engine.c */
struct task *task_new(enum source source);
int task_submit(struct pen_engine *e, uint64_t *job_p, const char *circuit, struct task *t,
                const struct pen_job_opts *opts);

/* engine_load.c: open the key, start reading it; all devices have it; a witness file. */
int circuit_key_open(struct pen_engine *e, struct circuit *c, const char *path);
void circuit_key_settle(struct circuit *c);
int task_witness_open(struct task *task);
void task_witness_close(struct task *task);

/* engine_revive.c: devices that are down are tried again. device_fell: after sched_done; the lock is held. */
int revive_start(struct pen_engine *e);
void device_fell(struct pen_engine *e, unsigned device);

/* engine_lanes.c */
int lanes_start(struct pen_engine *e);
void lanes_stop(struct pen_engine *e);
void lanes_wake(struct pen_engine *e); /* something changed; the lock is held */
void task_free(struct task *task);

/* engine_circuit.c; the lock is held */
int circuit_reserve(struct pen_engine *e, struct circuit **c_p, const char *name);
struct circuit *circuit_find(struct pen_engine *e, const char *name);
void circuit_close(struct pen_engine *e, struct circuit *c);

#endif
