/* Counters: each thread adds to its own cache lines, a reader sums. */
#ifndef PERF_COUNT_H
#define PERF_COUNT_H

#include <stdint.h>

/* name, metric name, help */
#define COUNTERS(X)                                                                                                    \
    X(COUNT_PROOFS, "penstock_proofs_total", "Proofs made and verified")                                               \
    X(COUNT_PROOFS_REFUSED, "penstock_proofs_refused_total", "Proofs that failed their own verification")              \
    X(COUNT_DEVICE_FAULTS, "penstock_device_faults_total", "Wrong or failed device results, recomputed on the host")   \
    X(COUNT_H2D_BYTES, "penstock_copy_h2d_bytes_total", "Bytes copied from host to device memory")                     \
    X(COUNT_D2H_BYTES, "penstock_copy_d2h_bytes_total", "Bytes copied from device to host memory")                     \
    X(COUNT_READ_BYTES, "penstock_read_bytes_total", "Bytes read from key and witness files")

#define COUNTER_ENUM(id, name, help) id,
enum counter { COUNTERS(COUNTER_ENUM) COUNT_KINDS };
#undef COUNTER_ENUM

/* Add to this thread's copy. No lock, no allocation after a thread's first call. Any thread. */
void count_add(enum counter which, uint64_t n);

/* Sum over all threads, also those that ended. Any thread. */
uint64_t count_read(enum counter which);

const char *count_name(enum counter which);
const char *count_help(enum counter which);

#endif
