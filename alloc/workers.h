/* A group of threads on one node's CPUs, for synthesis that writes into that node's leases. Which CPUs, the numa layer
 * decides. */
#ifndef ALLOC_WORKERS_H
#define ALLOC_WORKERS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct workers;

struct workers_opts {
    unsigned threads;      /* 0: one per CPU of `cpus`, or 1 */
    const cpu_set_t *cpus; /* NULL: not pinned */
    bool one_cpu_each;     /* thread i on the i-th CPU of the set (round and round); else all on all */
    const char *name;      /* of the threads, up to 11 bytes shown; NULL: "worker" */
};

/* -ENOMEM, -EAGAIN (no thread at all; fewer than asked are accepted), -EINVAL (an empty CPU set). */
int workers_open(struct workers **out, const struct workers_opts *opts);
/* Ends the threads. No run may be going on. */
void workers_close(struct workers *w);

unsigned workers_count(const struct workers *w);
/* Threads that are where they should be; less than workers_count where the kernel refuses pinning. */
unsigned workers_pinned(const struct workers *w);

/* Call item(ctx, i, thread) for i = 0 .. n-1 on the group's threads, thread = 0 .. workers_count-1; returns when all
 * have returned. The first error stops the handing out of items, and is returned with its sentence. Any thread; runs of
 * several callers go one after another, in no promised order. Not from inside an item: -EDEADLK. */
int workers_run(struct workers *w, int (*item)(void *ctx, size_t i, unsigned thread), void *ctx, size_t n);

#endif
