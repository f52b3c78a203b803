#include "perf/clock.h"

#include "perf/err.h"

const struct clock_source *clock_source;

void clock_use(const struct clock_source *source)
{
    clock_source = source;
}

int clock_cond_open(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    int rc = pthread_condattr_init(&attr);
    if (!rc) {
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        rc = pthread_cond_init(cond, &attr);
        pthread_condattr_destroy(&attr);
    }
    return rc ? err_fail(-rc, "cannot make a condition variable") : 0;
}

int clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ns)
{
    if (clock_source)
        return clock_source->wait(clock_source->ctx, cond, mutex, until_ns);
    if (until_ns == CLOCK_NEVER)
        return -pthread_cond_wait(cond, mutex);
    struct timespec ts = {.tv_sec = (time_t)(until_ns / 1000000000u), .tv_nsec = (long)(until_ns % 1000000000u)};
    return -pthread_cond_timedwait(cond, mutex, &ts);
}

void clock_signal(pthread_cond_t *cond)
{
    if (clock_source)
        clock_source->wake(clock_source->ctx, cond, false);
    else
        pthread_cond_signal(cond);
}

void clock_broadcast(pthread_cond_t *cond)
{
    if (clock_source)
        clock_source->wake(clock_source->ctx, cond, true);
    else
        pthread_cond_broadcast(cond);
}

void clock_sleep(uint64_t ns)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;
    uint64_t until_ns = clock_now_ns() + ns;
    if (clock_cond_open(&cond))
        return;
    pthread_mutex_lock(&mutex);
    while (clock_now_ns() < until_ns)
        (void)clock_wait(&cond, &mutex, until_ns);
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&cond);
}

int clock_thread_open(pthread_t *thread, void *(*run)(void *), void *arg)
{
    int rc = clock_source ? -clock_source->thread_open(clock_source->ctx, thread, run, arg)
                          : pthread_create(thread, NULL, run, arg);
    return rc ? err_fail(-rc, "cannot start a thread") : 0;
}

int clock_thread_join(pthread_t thread)
{
    return clock_source ? clock_source->thread_join(clock_source->ctx, thread) : -pthread_join(thread, NULL);
}
