/* The arena's whole state in one 64-bit word, so that one compare-and-swap decides everything and an equal word means
 * an equal state (no ABA):
 *
 *      63        50 49   48 47                              0
 *     |   epoch    | state |  one bit per unit, 1 = leased   |
 *
 * The epoch counts changes of state; it is there for people and tests. */
#ifndef ALLOC_WORD_H
#define ALLOC_WORD_H

#include <stdint.h>

enum { WORD_UNITS = 48 };
enum arena_state { ARENA_ACTIVE, ARENA_DRAINING, ARENA_DEAD };

static inline uint64_t word_mask(unsigned n)
{
    return (1ull << n) - 1; /* n <= 48 */
}

static inline uint64_t word_bits(uint64_t w)
{
    return w & word_mask(WORD_UNITS);
}

static inline enum arena_state word_state(uint64_t w)
{
    return (enum arena_state)(w >> 48 & 3);
}

static inline unsigned word_epoch(uint64_t w)
{
    return (unsigned)(w >> 50);
}

/* The same bits in another state, one epoch on. */
static inline uint64_t word_enter(uint64_t w, enum arena_state state)
{
    return word_bits(w) | (uint64_t)state << 48 | (uint64_t)(word_epoch(w) + 1u) << 50;
}

static inline unsigned word_count(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

/* First unit of a free run of n among `units`, -1 without one: the low end of the shortest run that is long enough,
 * which is the choice that leaves the longest free run. n >= 1. */
static inline int word_find(uint64_t bits, unsigned units, unsigned n)
{
    uint64_t left = ~bits & word_mask(units);
    unsigned best_length = WORD_UNITS + 1;
    int best = -1;
    while (left) {
        unsigned first = (unsigned)__builtin_ctzll(left);
        unsigned length = (unsigned)__builtin_ctzll(~(left >> first));
        if (length >= n && length < best_length) {
            best = (int)first;
            best_length = length;
            if (length == n)
                break;
        }
        left &= ~(word_mask(length) << first);
    }
    return best;
}

/* First unit of the window of n with the fewest leased units: where a waiting request will be served soonest.
 * *taken = how many are leased there. -1 when n > units. */
static inline int word_candidate(uint64_t bits, unsigned units, unsigned n, unsigned *taken)
{
    unsigned fewest = WORD_UNITS + 1;
    int best = -1;
    for (unsigned first = 0; first + n <= units; first++) {
        unsigned in = word_count(bits & word_mask(n) << first);
        if (in < fewest) {
            fewest = in;
            best = (int)first;
        }
    }
    *taken = fewest;
    return best;
}

#endif
