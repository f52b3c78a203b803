#include "alloc/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/sysops.h"
#include "perf/err.h"

struct worker {
    struct workers *group;
    pthread_t id;
    unsigned index;
};

struct workers {
    pthread_mutex_t turn; /* one run at a time */
    pthread_mutex_t lock;
    pthread_cond_t start, end;
    unsigned round; /* of runs; a thread works once per round */
    unsigned busy;
    bool quit;

    int (*item)(void *ctx, size_t i, unsigned thread);
    void *ctx;
    size_t n;
    _Atomic size_t next;
    _Atomic int rc;
    char said[1024];

    unsigned count, pinned;
    struct worker worker[];
};

static _Thread_local const struct workers *inside;

static void items_run(struct workers *w, unsigned index)
{
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
        if (i >= w->n || atomic_load_explicit(&w->rc, memory_order_relaxed))
            return;
        int rc = w->item(w->ctx, i, index), none = 0;
        if (rc && atomic_compare_exchange_strong(&w->rc, &none, rc))
            err_copy(w->said); /* read after the end of the round, which locks */
    }
}

static void *worker_run(void *arg)
{
    struct worker *me = arg;
    struct workers *w = me->group;
    inside = w;
    unsigned seen = 0;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->round == seen && !w->quit)
            pthread_cond_wait(&w->start, &w->lock);
        if (w->round == seen)
            break;
        seen = w->round;
        pthread_mutex_unlock(&w->lock);
        items_run(w, me->index);
        pthread_mutex_lock(&w->lock);
        if (--w->busy == 0)
            pthread_cond_broadcast(&w->end);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* The i-th CPU of the set, round and round. */
static cpu_set_t cpu_of(const cpu_set_t *cpus, unsigned i)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    unsigned left = i % (unsigned)CPU_COUNT(cpus);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, cpus) && left-- == 0) {
            CPU_SET(cpu, &one);
            break;
        }
    return one;
}

static void worker_place(struct workers *w, struct worker *me, const struct workers_opts *o)
{
    char name[16];
    snprintf(name, sizeof name, "%.11s-%u", o->name ? o->name : "worker", me->index % 1000);
    pthread_setname_np(me->id, name);
    if (!o->cpus)
        return;
    cpu_set_t set = o->one_cpu_each ? cpu_of(o->cpus, me->index) : *o->cpus;
    if (sys->thread_pin(me->id, sizeof set, &set) == 0)
        w->pinned++;
}

int workers_open(struct workers **out, const struct workers_opts *o)
{
    if (o->cpus && CPU_COUNT(o->cpus) == 0)
        return err_fail(-EINVAL, "a worker group on an empty set of CPUs");
    unsigned n = o->threads ? o->threads : o->cpus ? (unsigned)CPU_COUNT(o->cpus) : 1;
    struct workers *w = sys->calloc(1, sizeof *w + n * sizeof w->worker[0]);
    if (!w)
        return err_fail(-ENOMEM, "no memory for %u workers", n);
    pthread_mutex_init(&w->turn, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->start, NULL);
    pthread_cond_init(&w->end, NULL);
    int rc = 0;
    while (w->count < n) {
        struct worker *me = &w->worker[w->count];
        me->group = w;
        me->index = w->count;
        rc = sys->thread_create(&me->id, NULL, worker_run, me);
        if (rc)
            break;
        w->count++;
        worker_place(w, me, o);
    }
    if (w->count == 0) {
        free(w);
        return err_fail(-rc, "no thread for a worker group: %s", strerror(rc));
    }
    *out = w;
    return 0;
}

void workers_close(struct workers *w)
{
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    pthread_cond_broadcast(&w->start);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->count; i++)
        pthread_join(w->worker[i].id, NULL);
    pthread_cond_destroy(&w->end);
    pthread_cond_destroy(&w->start);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->turn);
    free(w);
}

unsigned workers_count(const struct workers *w)
{
    return w->count;
}

unsigned workers_pinned(const struct workers *w)
{
    return w->pinned;
}

int workers_run(struct workers *w, int (*item)(void *ctx, size_t i, unsigned thread), void *ctx, size_t n)
{
    if (inside == w)
        return err_fail(-EDEADLK, "a worker cannot wait for its own group");
    pthread_mutex_lock(&w->turn);
    pthread_mutex_lock(&w->lock);
    w->item = item;
    w->ctx = ctx;
    w->n = n;
    atomic_store(&w->next, 0);
    atomic_store(&w->rc, 0);
    w->busy = w->count;
    w->round++;
    pthread_cond_broadcast(&w->start);
    while (w->busy)
        pthread_cond_wait(&w->end, &w->lock);
    pthread_mutex_unlock(&w->lock);
    int rc = atomic_load(&w->rc);
    if (rc)
        err_set(w->said);
    pthread_mutex_unlock(&w->turn);
    return rc;
}
