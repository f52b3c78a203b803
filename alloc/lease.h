/* A lease: one run of units of one arena, hence one registration and one stretch of addresses, divided into up to four
 * buffers (a, b, c of a synthesis). All or nothing by construction. */
#ifndef ALLOC_LEASE_H
#define ALLOC_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct thread_cell;

enum { LEASE_BUFFERS = 4 };

/* Moved, not copied: exactly one live copy. Read the fields; only pool_take, pool_give and the functions below write.
 */
struct lease {
    unsigned char *base; /* NULL: empty */
    size_t bytes;        /* of the run; the buffers may be shorter */
    int node;            /* of the memory */
    bool verified;       /* the node of its pages was verified */
    unsigned buffers;
    size_t offset[LEASE_BUFFERS]; /* from base */
    size_t size[LEASE_BUFFERS];   /* exactly what was asked */

    struct arena *arena;
    unsigned first, units;
    struct thread_cell *holder;
    _Atomic unsigned copies; /* DMA in flight */
};

static inline unsigned char *lease_buffer(const struct lease *l, unsigned i)
{
    return l->base + l->offset[i];
}

/* Around each copy that reads the lease: begin before it is queued, end after its event. A lease with copies in flight
 * cannot be given back. Any thread. */
static inline void lease_copy_begin(struct lease *l)
{
    atomic_fetch_add_explicit(&l->copies, 1, memory_order_relaxed);
}

static inline void lease_copy_end(struct lease *l)
{
    atomic_fetch_sub_explicit(&l->copies, 1, memory_order_release);
}

/* The taking thread hands the lease to somebody else who will give it back, and may wait for another one. */
void lease_pass(struct lease *l);

/* *to = *from, and *from is empty. No copy in flight, no other thread using it. */
void lease_move(struct lease *to, struct lease *from);

#endif
