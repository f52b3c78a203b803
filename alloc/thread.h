/* What this layer keeps per thread, and RCU read sections. Callers' threads are not ours: a thread's first take
 * registers it with liburcu (memb flavour: read sections without a fence), its exit unregisters it. */
#ifndef ALLOC_THREAD_H
#define ALLOC_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <urcu/urcu-memb.h>

/* Lives for ever (a lease may outlive the thread that took it) and is used again by a later thread when held is 0. */
struct thread_cell {
    _Alignas(64) _Atomic unsigned held; /* leases taken by this thread and neither given back nor passed on */
    _Atomic bool used;
    unsigned stripe; /* which copy of the statistics this thread adds to */
    struct thread_cell *next;
};

/* The calling thread's cell. NULL (with a sentence) when the first call of a thread finds no memory. */
struct thread_cell *thread_enter(void);

/* Cells in use by living threads; for tests. */
unsigned thread_count(void);

/* liburcu 0.13 is not instrumented for TSan: without these two marks the free after a grace period is reported, with
 * them it is not, and a planted race still is. */
#if defined(__SANITIZE_THREAD__)
#define RCU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RCU_TSAN 1
#endif
#endif
#ifdef RCU_TSAN
extern char rcu_tsan_mark;
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#endif

/* No blocking and no system call between the two. */
static inline void rcu_enter(void)
{
    urcu_memb_read_lock();
}

static inline void rcu_leave(void)
{
#ifdef RCU_TSAN
    __tsan_release(&rcu_tsan_mark);
#endif
    urcu_memb_read_unlock();
}

/* Wait until every read section that is open now is closed. Registered threads only, outside a read section. */
static inline void rcu_wait(void)
{
    urcu_memb_synchronize_rcu();
#ifdef RCU_TSAN
    __tsan_acquire(&rcu_tsan_mark);
#endif
}

#endif
