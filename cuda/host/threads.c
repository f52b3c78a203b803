#include "cuda/host/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "perf/err.h"

/* Lives on the stack of its caller, who takes it off the list and then waits until no worker holds it. */
struct job {
    threads_fn *fn;
    void *arg;
    size_t n;
    _Atomic size_t next;
    _Atomic unsigned slots;
    unsigned holders; /* under the lock */
    struct job *link;
};

struct threads {
    unsigned count, started;
    pthread_mutex_t lock;
    pthread_cond_t work, left; /* a job came; a worker let go of one */
    struct job *jobs;
    bool stop;
    pthread_t id[];
};

static void job_work(struct job *j)
{
    size_t task = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
    if (task >= j->n)
        return;
    unsigned slot = atomic_fetch_add_explicit(&j->slots, 1, memory_order_relaxed);
    for (; task < j->n; task = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed))
        j->fn(j->arg, task, slot);
}

static struct job *job_find(const struct threads *t)
{
    for (struct job *j = t->jobs; j; j = j->link) {
        if (atomic_load_explicit(&j->next, memory_order_relaxed) < j->n)
            return j;
    }
    return NULL;
}

static void *worker(void *arg)
{
    struct threads *t = arg;
    pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        struct job *j = job_find(t);
        if (!j) {
            pthread_cond_wait(&t->work, &t->lock);
            continue;
        }
        j->holders++;
        pthread_mutex_unlock(&t->lock);
        job_work(j);
        pthread_mutex_lock(&t->lock);
        if (--j->holders == 0)
            pthread_cond_broadcast(&t->left);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static unsigned cpus_allowed(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

int threads_open(struct threads **out, unsigned count)
{
    if (count == 0)
        count = cpus_allowed();
    struct threads *t = calloc(1, sizeof *t + count * sizeof t->id[0]);
    if (!t)
        return err_fail(-ENOMEM, "no memory for a pool of %u threads", count);
    t->count = count;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->left, NULL);
    for (unsigned i = 0; i + 1 < count; i++) {
        if (pthread_create(&t->id[i], NULL, worker, t) != 0) {
            threads_close(t);
            return err_fail(-EAGAIN, "cannot start worker thread %u of %u", i + 1, count);
        }
        t->started++;
    }
    *out = t;
    return 0;
}

void threads_close(struct threads *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 0; i < t->started; i++)
        pthread_join(t->id[i], NULL);
    pthread_cond_destroy(&t->left);
    pthread_cond_destroy(&t->work);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

unsigned threads_count(const struct threads *t)
{
    return t->count;
}

void threads_run(struct threads *t, threads_fn *fn, void *arg, size_t n)
{
    if (n == 0)
        return;
    if (n == 1 || t->count == 1) {
        for (size_t i = 0; i < n; i++)
            fn(arg, i, 0);
        return;
    }
    struct job j = {.fn = fn, .arg = arg, .n = n};
    pthread_mutex_lock(&t->lock);
    struct job **end = &t->jobs;
    while (*end)
        end = &(*end)->link;
    *end = &j;
    if (n > 2)
        pthread_cond_broadcast(&t->work);
    else
        pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);

    job_work(&j);

    pthread_mutex_lock(&t->lock);
    for (struct job **p = &t->jobs; *p; p = &(*p)->link) {
        if (*p == &j) {
            *p = j.link;
            break;
        }
    }
    while (j.holders > 0)
        pthread_cond_wait(&t->left, &t->lock);
    pthread_mutex_unlock(&t->lock);
}
