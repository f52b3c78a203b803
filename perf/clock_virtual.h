/* Virtual time for threads. One thread runs at a time; it hands over only where it waits (clock.h). When all wait, time
 * jumps to the earliest deadline or timer. So a run takes no real time, is the same each time, and a deadlock is found
 * where it happens: all wait and nothing is due. A seed shuffles who runs next: another seed, another interleaving. */
#ifndef PERF_CLOCK_VIRTUAL_H
#define PERF_CLOCK_VIRTUAL_H

#include "perf/clock.h"

struct clock_virtual;

/* Something that happens by itself, a device for instance. next_ns: when (CLOCK_NEVER: nothing planned); fire: do what
 * is due at `now`, on whichever thread found it due; it may wake, it must not wait. */
struct clock_timer {
    uint64_t (*next_ns)(void *ctx);
    void (*fire)(void *ctx, uint64_t now_ns);
    void *ctx;
    struct clock_timer *next; /* ours */
};

/* Take over perf/clock.h for the calling thread and the threads it starts through it. seed 0: first come, first served.
 * -ENOMEM. */
int clock_virtual_open(struct clock_virtual **clock_p, uint64_t seed);

/* All other threads must have been joined. */
void clock_virtual_close(struct clock_virtual *clock);

/* Called instead of abort() when every thread waits and nothing is due. It must not return. Tests only. */
void clock_virtual_on_stuck(struct clock_virtual *clock, void (*stuck)(void *ctx), void *ctx);

void clock_timer_add(struct clock_virtual *clock, struct clock_timer *timer);
void clock_timer_remove(struct clock_virtual *clock, struct clock_timer *timer);

/* Is virtual time on, and the calling thread none of those that make it pass? Such a thread (one of alloc's, which waits
 * for real drives) sees the time, and must not wait in it: who waits for that thread keeps time standing still. */
bool clock_virtual_outside(void);

/* How often one thread handed over to another. */
uint64_t clock_virtual_switches(const struct clock_virtual *clock);

#endif
