/* Replayable random numbers: PENSTOCK_SEED=0x... repeats a run. */
#ifndef TESTS_CUDA_MATH_RAND_H
#define TESTS_CUDA_MATH_RAND_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t rand_state;

__attribute__((unused)) static void rand_begin(void)
{
    const char *seed = getenv("PENSTOCK_SEED");
    rand_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 0x9e3779b97f4a7c15u;
    printf("seed: PENSTOCK_SEED=0x%llx\n", (unsigned long long)rand_state);
}

/* splitmix64 (S. Vigna) */
__attribute__((unused)) static uint64_t rand_u64(void)
{
    uint64_t z = (rand_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Words with long runs of equal bits, where carries go wrong. */
__attribute__((unused)) static void rand_runs(uint64_t *w, int n)
{
    int bit = 0;
    uint64_t value = rand_u64() & 1;
    for (int i = 0; i < n; i++)
        w[i] = 0;
    while (bit < n * 64) {
        int run = 1 + (int)(rand_u64() % 90);
        for (; run > 0 && bit < n * 64; run--, bit++)
            w[bit / 64] |= value << (bit % 64);
        value ^= 1;
    }
}

#endif
