/* Simulated GPUs behind device.h: every operation takes the time that world.h and the rates below give it, on virtual
 * time, and any call can be made to fail. What runs above cannot tell it from a device, except that seconds cost
 * nothing and every run is the same.
 *
 * With a virtual clock (perf/clock_virtual.h) threads that wait for a device sleep on that clock. Without one there is
 * one thread, and stream_sync itself lets time pass.
 *
 * With an inner device (the host device) results are real: each operation is done there when it is called, only its end
 * is simulated. Without one there are no contents: device memory is counted and not backed, so a 44 GiB key costs
 * nothing; results are zero, and host pointers are looked up but not read. */
#ifndef CUDA_SIM_SIM_H
#define CUDA_SIM_SIM_H

#include "cuda/device.h"
#include "cuda/sim/world.h"

struct sim;
struct clock_virtual;

#define SIM_OPS(X)                                                                                                     \
    X(INFO, info)                                                                                                      \
    X(ALLOC, alloc)                                                                                                    \
    X(STREAM_OPEN, stream_open)                                                                                        \
    X(STREAM_SYNC, stream_sync)                                                                                        \
    X(EVENT_OPEN, event_open)                                                                                          \
    X(EVENT_RECORD, event_record)                                                                                      \
    X(EVENT_WAIT, event_wait)                                                                                          \
    X(COPY_H2D, copy_h2d)                                                                                              \
    X(COPY_D2H, copy_d2h)                                                                                              \
    X(ZERO, zero)                                                                                                      \
    X(HOST_REGISTER, host_register)                                                                                    \
    X(HOST_UNREGISTER, host_unregister)                                                                                \
    X(BASES_OPEN, bases_open)                                                                                          \
    X(MATRIX_OPEN, matrix_open)                                                                                        \
    X(NTT, ntt)                                                                                                        \
    X(NTT_COSET, ntt_coset)                                                                                            \
    X(MSM, msm)                                                                                                        \
    X(SUM_SELECTED, sum_selected)                                                                                      \
    X(SPMV, spmv)                                                                                                      \
    X(POINTWISE, pointwise)                                                                                            \
    X(MUL_BASE, mul_base)                                                                                              \
    X(CHECK_POINTS, check_points)
#define SIM_OP_ENUM(id, name) SIM_##id,
enum sim_op { SIM_OPS(SIM_OP_ENUM) SIM_OP_KINDS };
#undef SIM_OP_ENUM
extern const char *const sim_op_names[SIM_OP_KINDS];

/* How long a kernel takes: launch_ns + picoseconds for each element. The defaults are design.md's targets for one H200.
 */
struct sim_rates {
    uint64_t launch_ns;
    uint64_t msm_ps[CURVES][GROUPS]; /* scalar and set */
    uint64_t ntt_ps;                 /* element and polynomial, one transform */
    uint64_t spmv_ps;                /* non-zero */
    uint64_t pointwise_ps, zero_ps, sum_ps, mul_base_ps, check_ps;
};
extern const struct sim_rates sim_rates_h200;

struct sim_opts {
    struct world_opts world;
    size_t memory_bytes;           /* of each device; 0: 139.8 GiB */
    const struct sim_rates *rates; /* NULL: sim_rates_h200 */
    uint64_t register_ns_per_gib;  /* 0: 20 ms */
    uint64_t pageable_bytes_per_s; /* copies of memory that is not registered, which also block; 0: 7.6e9 */
    size_t register_max_bytes;     /* one call; 0: 512 GiB */
    struct clock_virtual *clock;   /* may be NULL */
    const char *inner;             /* name for device_open, or NULL */
    const struct device_opts *inner_opts;
};

enum { SIM_ANY_DEVICE = -1 };

struct sim_fault {
    enum sim_op op;
    int device;  /* or SIM_ANY_DEVICE */
    uint64_t at; /* the at-th call from now on, 1 = the next */
    int rc;      /* 0: -ENOMEM for what takes memory, else -EIO */
    bool late;   /* the call succeeds, its stream fails at the next sync */
    bool lost;   /* from then on every call to the device fails, until it is opened anew */
    bool wrong;  /* no failure, but a wrong result (MSM and sum_selected, with an inner device) */
};

int sim_open(struct sim **sim_p, const struct sim_opts *opts);
/* -EBUSY, nothing done, while devices are open. */
int sim_close(struct sim *sim);
struct world *sim_world(struct sim *sim);

/* opts->memory_limit holds; the rest is not used. -ENODEV. */
int sim_device_open(struct sim *sim, struct device **out, unsigned ordinal, const struct device_opts *opts);

/* Arm one fault (it goes off once); NULL disarms. */
void sim_fault(struct sim *sim, const struct sim_fault *fault);
bool sim_fault_went_off(const struct sim *sim);
/* Calls of one operation on all devices so far. */
uint64_t sim_calls(const struct sim *sim, enum sim_op op);
/* Device memory that is taken, and handles (streams, events, bases, matrices) that are open. */
size_t sim_taken_bytes(const struct sim *sim);
size_t sim_handles(const struct sim *sim);

/* Call `done` when the stream has come to this point. For drivers without threads. */
int sim_notify(struct stream *s, world_done *done, void *ctx);

#endif
