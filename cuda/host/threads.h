/* A pool of worker threads with one call: run task 0..n-1 of a job, dealt out one by one. */
#ifndef CUDA_HOST_THREADS_H
#define CUDA_HOST_THREADS_H

#include <stddef.h>

struct threads;

/* One task. slot: number of the thread within this job, below threads_count + 1, so that a job can give each of its
 * threads scratch memory of its own. */
typedef void threads_fn(void *arg, size_t task, unsigned slot);

/* Start `count` - 1 workers (0 = one for each CPU this process may use); the caller of threads_run is the last one.
 * -EAGAIN, -ENOMEM. */
int threads_open(struct threads **out, unsigned count);
void threads_close(struct threads *t);
unsigned threads_count(const struct threads *t);

/* Run fn(arg, 0..n-1, slot) and return when all are done. Any thread, several at once (their jobs share the workers);
 * tasks may call it again. Tasks start in ascending order: put the long ones first. */
void threads_run(struct threads *t, threads_fn *fn, void *arg, size_t n);

#endif
