/* PENSTOCK_TEST_SLOWER=N says that programs run N times slower here (the preset valgrind: 32). Long loops then go round
 * N times less often and large inputs are as much smaller; nothing is left out. Unset: 1. */
#ifndef TESTS_SLOWER_H
#define TESTS_SLOWER_H

#include <stdint.h>
#include <stdlib.h>

static inline unsigned slower(void)
{
    const char *text = getenv("PENSTOCK_TEST_SLOWER");
    long n = text ? strtol(text, NULL, 10) : 1;
    return n < 1 ? 1 : n > 1 << 20 ? 1u << 20 : (unsigned)n;
}

/* How often to go round a loop that goes `usual` times elsewhere: at least once. */
static inline unsigned rounds(unsigned usual)
{
    unsigned n = usual / slower();
    return n ? n : 1;
}

/* The exponent for an input of 2^usual elements, not below `least`. */
static inline unsigned log_size(unsigned usual, unsigned least)
{
    for (unsigned n = slower(); n > 1 && usual > least; n /= 2)
        usual--;
    return usual;
}

#endif
