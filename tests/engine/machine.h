/* A whole machine without a thread: the scheduler drives simulated GPUs through device.h. Keys are resident or streamed
 * for each device, inputs lie in registered memory of the device's node and are paid for from that node's budget, slots
 * are device memory that is really taken. Sizes are the real ones: nothing has contents, so nothing costs time.
 *
 *     machine_random(m, seed)  or by hand     machine_open     machine_run     machine_close: everything is back
 */
#ifndef TESTS_ENGINE_MACHINE_H
#define TESTS_ENGINE_MACHINE_H

#include "alloc/budget.h"
#include "cuda/sim/sim.h"
#include "engine/sched.h"

enum { M_GPUS = 8, M_NODES = 4, M_KINDS = 4, M_JOBS = 160, M_PARTS = 3, M_COPIES = 2, M_STEPS = 3 };
#define MS  UINT64_C(1000000)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* One circuit: its key has two sets of bases (one of them G2) that share the witness, and one for the quotient. */
struct m_kind {
    size_t n_vars, domain;
    uint64_t read_ns, fold_ns;
    uint32_t on, streamed; /* devices, as bits; loading may take some away from `on` */
};

struct m_item {
    struct job *job;
    uint64_t at_ns, begin_ns, end_ns; /* begin: its first step */
    enum job_class class;
    unsigned kind;
    enum job_state ended;
};

struct m_key {
    struct bases *bases[M_PARTS];
    struct matrix *matrix;
};

struct m_gpu {
    struct device *device;
    struct stream *copy[M_COPIES], *compute;
    bool copying[M_COPIES];
    struct m_key key[M_KINDS];
    struct dbuf abc;
    uint64_t busy_from, busy_to, busy_ns, idle_ns; /* idle: with a job whose input is there */
};

struct machine {
    unsigned gpus, nodes;
    int uplink[M_GPUS];
    unsigned node[M_GPUS];
    struct m_kind kind[M_KINDS];
    unsigned kinds;
    struct m_item item[M_JOBS]; /* in order of at_ns */
    unsigned jobs;
    size_t device_bytes;
    uint64_t slot_bytes, host_bytes, reserve_bytes, age_ns;
    struct sim_fault fault; /* armed when at > 0 */
    uint64_t cancel_at;     /* this event cancels job cancel_id */
    unsigned cancel_id;

    struct sim *sim;
    struct job_queue *queue;
    struct sched *sched;
    struct m_gpu gpu[M_GPUS];
    struct budget *budget[M_NODES];
    unsigned char *host[M_NODES];
    struct running *finished, **finished_end;
    unsigned under_way, over, wrong_node;
    uint64_t events, last_ns;
    uint64_t due_ns[2 * M_GPUS], moved[2 * M_GPUS]; /* of each uplink, or M_GPUS + device; while a copy is due */
    uint64_t moved_before[2 * M_GPUS];
    bool faulted;
};

/* Topology, circuits and sizes; then add jobs. */
void machine_random(struct machine *m, uint64_t *seed);
/* Load all keys. False: some fault leaves no device for some kind; close it. */
bool machine_open(struct machine *m);
/* Submit the items at their times and run until nothing is left to do. */
void machine_run(struct machine *m);
/* Close, and assert that leases, budgets, device memory and handles are all back. */
void machine_close(struct machine *m);

uint64_t machine_rnd(uint64_t *s);
/* Nanoseconds of the longest step of a kind when its link is alone. */
uint64_t machine_step_ns(const struct machine *m, unsigned kind);

#endif
