/* An arena: up to 48 units of one node's memory, contiguous, registered with the devices as one range, its state in one
 * word (word.h). Registration is per arena because a copy over the seam of two registered ranges fails
 * (cudaErrorInvalidValue), and capped well below the 512 GiB per call that drivers from r580 on refuse. */
#ifndef ALLOC_ARENA_H
#define ALLOC_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>

#include "alloc/budget.h"
#include "alloc/hugepage.h"
#include "alloc/lease.h"
#include "alloc/word.h"

/* What makes a range readable by the devices' DMA; the cuda layer fills it. Both 0 or a negative errno with a sentence.
 * When host_unregister fails, the memory stays mapped until a later try succeeds. */
struct registrar {
    int (*host_register)(void *ctx, void *base, size_t bytes);
    int (*host_unregister)(void *ctx, void *base, size_t bytes);
    void *ctx;
};

struct arena {
    _Alignas(64) _Atomic uint64_t word;
    /* Constant while published. */
    _Alignas(64) unsigned char *base;
    size_t unit_bytes;
    unsigned units;
    unsigned place; /* index of the pool's node */
    struct hugepage_map map;
    struct registrar registrar; /* zeros: none */
    uint64_t register_ns;
    struct lease unit; /* a small arena: the unit of a big one that it divides; else empty */
    struct budget_share share;
    /* Of whoever made it dead. */
    struct arena *next;
};

struct arena_opts {
    struct hugepage_opts map; /* map.bytes is set by units and unit_bytes */
    unsigned units;           /* 1..48 */
    size_t unit_bytes;        /* multiple of 4 KiB */
    struct registrar registrar;
};

/* Map and register. -ENOMEM, -EINVAL, or what the registrar said. Any thread. */
int arena_open(struct arena **out, const struct arena_opts *opts);

/* Unregister, then unmap, then free. On failure nothing is lost: the arena stays as it was (quarantine), and the call
 * may be repeated. Only when dead and after a grace period. */
int arena_close(struct arena *a);

/* A small arena inside `unit`, which it owns afterwards: slots of unit_bytes / 32. -ENOMEM. */
enum { ARENA_SLOTS = 32 };
int arena_divide(struct arena **out, struct lease *unit);

/* Lease a run of n units that avoids the units in `avoid`. False: none is free, or not active. Inside a read section.
 */
bool arena_take(struct arena *a, unsigned n, uint64_t avoid, unsigned *first);

/* End a lease. True: the arena was draining and this was its last lease; the caller, and nobody else, now reclaims it.
 * Inside a read section. */
bool arena_give(struct arena *a, unsigned first, unsigned n);

/* Active -> draining (-> dead when empty). True: it died in this call and the caller reclaims. Inside a read section.
 */
bool arena_drain(struct arena *a);

/* Draining -> active. False: it is dead by now. Inside a read section, or as its reclaimer. */
bool arena_reactivate(struct arena *a);

#endif
