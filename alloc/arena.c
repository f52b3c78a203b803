#include "alloc/arena.h"

#include <stdlib.h>
#include <string.h>

#include "alloc/sysops.h"
#include "perf/clock.h"
#include "perf/err.h"

static struct arena *arena_new(void)
{
    struct arena *a = aligned_alloc(64, sizeof *a);
    if (!a)
        return NULL;
    memset(a, 0, sizeof *a);
    atomic_init(&a->word, 0);
    return a;
}

int arena_open(struct arena **out, const struct arena_opts *o)
{
    if (o->units < 1 || o->units > WORD_UNITS || o->unit_bytes == 0 || o->unit_bytes % 4096)
        return err_fail(-EINVAL, "an arena of %u units of %zu bytes: expected 1 to %d units of whole 4 KiB pages",
                        o->units, o->unit_bytes, WORD_UNITS);
    struct arena *a = arena_new();
    if (!a)
        return err_fail(-ENOMEM, "no memory for an arena's record");
    struct hugepage_opts map = o->map;
    map.bytes = o->units * o->unit_bytes;
    int rc = hugepage_map(&a->map, &map);
    if (rc)
        goto undo_new;
    a->base = a->map.base;
    a->unit_bytes = o->unit_bytes;
    a->units = o->units;
    a->registrar = o->registrar;
    if (a->registrar.host_register) {
        uint64_t t0 = clock_now_ns();
        rc = a->registrar.host_register(a->registrar.ctx, a->base, a->map.bytes);
        a->register_ns = clock_now_ns() - t0;
        if (rc)
            goto undo_map;
    }
    *out = a;
    return 0;
undo_map:;
    char said[1024];
    err_copy(said);
    if (hugepage_unmap(&a->map) == 0)
        err_set(said); /* the first cause; an unmap that fails as well is the worse news and stays */
undo_new:
    free(a);
    return rc;
}

int arena_close(struct arena *a)
{
    if (!a->unit.base) {
        if (a->registrar.host_unregister) {
            int rc = a->registrar.host_unregister(a->registrar.ctx, a->base, a->map.bytes);
            if (rc)
                return rc;
            a->registrar = (struct registrar){0};
        }
        int rc = hugepage_unmap(&a->map);
        if (rc)
            return rc;
    }
    free(a);
    return 0;
}

int arena_divide(struct arena **out, struct lease *unit)
{
    struct arena *a = arena_new();
    if (!a)
        return err_fail(-ENOMEM, "no memory for a small arena's record");
    a->base = unit->base;
    a->unit_bytes = unit->bytes / ARENA_SLOTS;
    a->units = ARENA_SLOTS;
    a->place = unit->arena->place;
    a->map = unit->arena->map; /* tier, node, verified; not the mapping, which is the parent's */
    lease_move(&a->unit, unit);
    *out = a;
    return 0;
}

bool arena_take(struct arena *a, unsigned n, uint64_t avoid, unsigned *first)
{
    /* seq_cst: a waiter that announced itself and then looks must not miss a return whose giver saw no waiter. On x86
     * it is the same load. */
    uint64_t w = atomic_load(&a->word);
    while (word_state(w) == ARENA_ACTIVE) {
        int at = word_find(word_bits(w) | avoid, a->units, n);
        if (at < 0)
            return false;
        if (atomic_compare_exchange_weak_explicit(&a->word, &w, w | word_mask(n) << at, memory_order_acquire,
                                                  memory_order_acquire)) {
            *first = (unsigned)at;
            return true;
        }
    }
    return false;
}

/* Draining and empty -> dead. Exactly one caller succeeds per arena: dead is for ever. */
static bool arena_finish(struct arena *a, uint64_t w)
{
    while (word_state(w) == ARENA_DRAINING && word_bits(w) == 0)
        if (atomic_compare_exchange_weak_explicit(&a->word, &w, word_enter(w, ARENA_DEAD), memory_order_acq_rel,
                                                  memory_order_acquire))
            return true;
    return false;
}

bool arena_give(struct arena *a, unsigned first, unsigned n)
{
    uint64_t mask = word_mask(n) << first;
    uint64_t w = atomic_fetch_and(&a->word, ~mask);
    if ((w & mask) != mask)
        abort(); /* a lease was copied and given twice: its pages may be another proof's by now */
    return arena_finish(a, w & ~mask);
}

bool arena_drain(struct arena *a)
{
    uint64_t w = atomic_load_explicit(&a->word, memory_order_acquire);
    while (word_state(w) == ARENA_ACTIVE) {
        uint64_t next = word_enter(w, ARENA_DRAINING);
        if (atomic_compare_exchange_weak_explicit(&a->word, &w, next, memory_order_acq_rel, memory_order_acquire))
            return arena_finish(a, next);
    }
    return false;
}

bool arena_reactivate(struct arena *a)
{
    uint64_t w = atomic_load_explicit(&a->word, memory_order_acquire);
    while (word_state(w) == ARENA_DRAINING)
        if (atomic_compare_exchange_weak_explicit(&a->word, &w, word_enter(w, ARENA_ACTIVE), memory_order_acq_rel,
                                                  memory_order_acquire))
            return true;
    return word_state(w) == ARENA_ACTIVE;
}
