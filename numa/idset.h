/* A set of small numbers: CPUs or NUMA nodes, by the kernel's own numbering. A value type: copy it, compare it with
 * idset_equal, no memory to free. The empty set is all zero. */
#ifndef NUMA_IDSET_H
#define NUMA_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 2048: the largest x86 machines sold (16 sockets, 60 cores, SMT) have 1920 CPUs. A larger number in a list is refused,
 * never dropped. */
enum { IDSET_MAX = 2048, IDSET_WORDS = IDSET_MAX / 64, IDSET_TEXT = 512 };

struct idset {
    uint64_t word[IDSET_WORDS];
};

static inline bool idset_has(const struct idset *set, unsigned id)
{
    return id < IDSET_MAX && (set->word[id / 64] >> (id % 64) & 1);
}

static inline void idset_add(struct idset *set, unsigned id)
{
    if (id < IDSET_MAX)
        set->word[id / 64] |= 1ull << (id % 64);
}

static inline void idset_remove(struct idset *set, unsigned id)
{
    if (id < IDSET_MAX)
        set->word[id / 64] &= ~(1ull << (id % 64));
}

/* 0, 1, ..., n - 1. */
struct idset idset_first(unsigned n);

unsigned idset_count(const struct idset *set);
bool idset_empty(const struct idset *set);
bool idset_equal(const struct idset *a, const struct idset *b);
bool idset_subset(const struct idset *part, const struct idset *whole);
struct idset idset_and(const struct idset *a, const struct idset *b);
struct idset idset_or(const struct idset *a, const struct idset *b);
struct idset idset_minus(const struct idset *a, const struct idset *b);

/* Smallest member >= from, or -1. for (int i = idset_next(&s, 0); i >= 0; i = idset_next(&s, (unsigned)i + 1)) */
int idset_next(const struct idset *set, unsigned from);

/* Read the kernel's list form, "0-3,8,10-11"; "" is the empty set. -EINVAL, -ERANGE (a number >= IDSET_MAX) with a
 * sentence; *set only on success. */
int idset_parse(struct idset *set, const char *list);

/* Write the list form into `text`; a list that does not fit ends in "...". Returns `text`. */
const char *idset_text(char text[IDSET_TEXT], const struct idset *set);

#endif
