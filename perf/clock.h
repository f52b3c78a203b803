/* Monotonic time in nanoseconds, and the waits that belong to it. The source can be replaced once, before threads
 * start, so that a simulation runs on virtual time (clock_virtual.h): then every wait, wake and thread must go through
 * here. Without a source nothing is added to the system's own calls but one load and a branch that is never taken. */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_NEVER UINT64_MAX

/* Where time comes from when it is not the system's. */
struct clock_source {
    uint64_t (*now_ns)(void *ctx);
    int (*wait)(void *ctx, pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ns);
    void (*wake)(void *ctx, pthread_cond_t *cond, bool all);
    int (*thread_open)(void *ctx, pthread_t *thread, void *(*run)(void *), void *arg);
    int (*thread_join)(void *ctx, pthread_t thread);
    void *ctx;
};

extern const struct clock_source *clock_source; /* NULL: the system's. Read only. */

/* NULL: back to the system's. Only while no other thread uses this header. */
void clock_use(const struct clock_source *source);

static inline uint64_t clock_now_ns(void)
{
    if (__builtin_expect(clock_source != NULL, 0))
        return clock_source->now_ns(clock_source->ctx);
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts); /* vDSO: no system call */
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A condition for clock_wait. Ends with pthread_cond_destroy. */
int clock_cond_open(pthread_cond_t *cond);

/* As pthread_cond_timedwait, also with its spurious wake-ups: 0, or -ETIMEDOUT when until_ns has come (CLOCK_NEVER:
 * no limit). */
int clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ns);
void clock_signal(pthread_cond_t *cond);
void clock_broadcast(pthread_cond_t *cond);

void clock_sleep(uint64_t ns);

/* A thread that waits through this header. -EAGAIN when the system has none left. */
int clock_thread_open(pthread_t *thread, void *(*run)(void *), void *arg);
int clock_thread_join(pthread_t thread);

#endif
