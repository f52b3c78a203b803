/* Replayable randomness: the seed is printed by seed_begin and may be given as PENSTOCK_SEED. */
#ifndef TESTS_PROVER_RANDOM_H
#define TESTS_PROVER_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t random_state;

/* splitmix64 (G. Steele, D. Lea, C. Flood, 2014) */
static inline uint64_t random_next(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t random_below(uint64_t n)
{
    return random_next() % n;
}

static inline void seed_begin(const char *program)
{
    const char *given = getenv("PENSTOCK_SEED");
    random_state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    fprintf(stderr, "seed %#llx  (rerun: PENSTOCK_SEED=%#llx %s)\n", (unsigned long long)random_state,
            (unsigned long long)random_state, program);
}

#endif
