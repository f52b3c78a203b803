/* The proving engine: circuits are loaded once, jobs flow through them on all devices, every proof is verified before
 * it is handed out.
 *
 *     struct pen_engine *engine;
 *     pen_engine_open(&engine, NULL);
 *     pen_circuit_load(engine, "withdraw", "withdraw.zkey");
 *     pen_submit_file(engine, &id, "withdraw", "witness.wtns", NULL);
 *     pen_wait(engine, &result, id, PEN_FOREVER);       result.proof_json, result.public_json
 *     pen_result_close(&result);
 *     pen_engine_close(engine);
 *
 * All functions may be called from any thread; those that fail leave a sentence (pen_last_error). */
#ifndef PENSTOCK_ENGINE_H
#define PENSTOCK_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "penstock/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pen_engine;

#define PEN_FOREVER UINT64_MAX

/* All zero is the default. */
struct pen_engine_opts {
    const char *const *devices; /* "host", "cuda:0", ...; NULL: "auto" */
    unsigned n_devices;
    unsigned threads;             /* of a host device; 0: all CPUs */
    uint64_t device_memory_bytes; /* of each device; 0: what is free */
    uint64_t input_bytes;         /* host memory for witnesses of running jobs; 0: no limit */
    uint64_t critical_bytes;      /* of that, kept for critical jobs */
    unsigned max_jobs;            /* waiting and running; 0: 1024 */
    uint64_t max_queue_bytes;     /* sum of their witnesses; 0: no limit */
    uint64_t keep_ms;             /* results are kept for so long; 0: 10 minutes */
    const char *trace_path;       /* NULL, or: when it closes, the engine writes a Chrome trace of all lanes there */
};

/* -ENODEV: no such device; -EINVAL; -ENOMEM. Takes the time that opening the devices takes. */
PEN_API int pen_engine_open(struct pen_engine **engine_p, const struct pen_engine_opts *opts);

/* Take no more jobs and wait until all are done; -ETIMEDOUT with jobs still running. */
PEN_API int pen_engine_drain(struct pen_engine *engine, uint64_t timeout_ms);

/* Cancels what still runs. No other thread may be inside the engine. NULL is allowed. */
PEN_API void pen_engine_close(struct pen_engine *engine);

/* Put a proving key (.zkey) on all devices that have room, under a name of at most 63 bytes. The file must stay as it
 * is until the circuit is dropped. -EEXIST, -EBADMSG, -ENOMEM, what opening the file says. */
PEN_API int pen_circuit_load(struct pen_engine *engine, const char *name, const char *key_path);
/* -ENOENT; -EBUSY while jobs need it. */
PEN_API int pen_circuit_drop(struct pen_engine *engine, const char *name);

/* Where a circuit's key lives on its first device, and how long a proof should take there against how long it does: the
 * means over all proofs and devices. All zero but devices, input_bytes and the measured ones on a host device. */
struct pen_circuit_info {
    unsigned devices;
    unsigned streamed_parts; /* of five; the others are in device memory */
    unsigned multiples;      /* copies of bases whose scalars are full */
    unsigned slots;          /* buffers for inputs */
    uint64_t device_bytes, streamed_bytes, input_bytes;
    double predicted_s; /* the longer of the next two, in steady state */
    double predicted_compute_s, predicted_copy_s;
    uint64_t proofs;
    double compute_s, copy_s; /* measured */
};
/* -ENOENT. */
PEN_API int pen_circuit_read(struct pen_engine *engine, struct pen_circuit_info *info, const char *name);

enum pen_priority { PEN_NORMAL = 0, PEN_CRITICAL, PEN_HIGH, PEN_LOW };
enum pen_state {
    PEN_QUEUED,
    PEN_READING,
    PEN_COPYING,
    PEN_COMPUTING,
    PEN_FOLDING,
    PEN_DONE,
    PEN_FAILED,
    PEN_CANCELLED
};
PEN_API const char *pen_state_name(enum pen_state state);

struct pen_job_opts {
    enum pen_priority priority;
    uint64_t timeout_ms; /* from now on, waiting included; 0: none */
    const char *key;     /* idempotency key of at most 64 bytes: a request that comes again joins the first one */
};

/* Submit a witness: a .wtns file, the same in memory (which must stay until the job has ended), or a producer that
 * writes n scalars of 32 bytes, plain little-endian, the constant one first, into the engine's memory; it is called on
 * one of the engine's threads and returns 0 or a negative errno. -ENOENT: no such circuit; -EAGAIN: the queue is full,
 * try again later; -EEXIST: the idempotency key belongs to another request; -ESHUTDOWN. opts may be NULL. */
PEN_API int pen_submit_file(struct pen_engine *engine, uint64_t *job_p, const char *circuit, const char *wtns_path,
                            const struct pen_job_opts *opts);
PEN_API int pen_submit_memory(struct pen_engine *engine, uint64_t *job_p, const char *circuit, const void *wtns,
                              size_t bytes, const struct pen_job_opts *opts);
typedef int pen_producer(void *ctx, void *scalars, size_t n);
PEN_API int pen_submit_producer(struct pen_engine *engine, uint64_t *job_p, const char *circuit, pen_producer *producer,
                                void *ctx, const struct pen_job_opts *opts);

struct pen_result {
    enum pen_state state;
    int error;        /* of PEN_FAILED and PEN_CANCELLED: negative errno */
    char why[256];    /* its sentence */
    char *proof_json; /* of PEN_DONE, as snarkjs writes them; else NULL */
    char *public_json;
    double queued_s, run_s;
    int device_fault; /* a device was wrong or failed; the proof was made elsewhere */
};

/* Wait until the job has ended, at most timeout_ms (0: only look). 0 with *result, also for failed jobs; -ETIMEDOUT
 * with result->state alone; -ENOENT: never was, or kept long enough. Close with pen_result_close. */
PEN_API int pen_wait(struct pen_engine *engine, struct pen_result *result, uint64_t job, uint64_t timeout_ms);
PEN_API void pen_result_close(struct pen_result *result);

/* Withdraw one submission; the job stops when all who submitted it have. -ENOENT, -EALREADY. */
PEN_API int pen_cancel(struct pen_engine *engine, uint64_t job);

struct pen_event {
    uint64_t number; /* 1, 2, 3, ... */
    uint64_t job;
    enum pen_state state;
    uint64_t at_ns; /* monotonic clock */
};

/* The event after number `after` (0: the oldest that is kept; 4096 are). Gaps in the numbers are events that were lost
 * to a slow reader. -ETIMEDOUT, -ESHUTDOWN. */
PEN_API int pen_event_next(struct pen_engine *engine, struct pen_event *event, uint64_t after, uint64_t timeout_ms);

struct pen_stats {
    unsigned devices, devices_down, circuits;
    unsigned waiting, running, kept;
    uint64_t submitted, joined, refused, done, failed, cancelled, retries, device_faults;
    uint64_t devices_revived;                 /* times that a device which was down took jobs again */
    uint64_t queue_bytes, input_bytes;        /* now */
    double read_s, copy_s, compute_s, fold_s; /* that the lanes of all devices were at work */
};
PEN_API int pen_engine_stats(struct pen_engine *engine, struct pen_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
