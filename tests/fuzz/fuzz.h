/* A fuzz target is one function over bytes. Built with libFuzzer it is driven by that, otherwise by replay.c, which
 * runs it over seeds, over what was found before and over random changes of both. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Which files of tests/data are seeds: NULL-terminated endings ("proof.json", ".zkey"). */
extern const char *const fuzz_seed_endings[];

/* A claim about what a parser let through. */
#define FUZZ_CLAIM(x)                                                                                                  \
    do {                                                                                                               \
        if (!(x))                                                                                                      \
            abort();                                                                                                   \
    } while (0)

#endif
