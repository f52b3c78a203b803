/* Little-endian numbers at any byte offset, as files hold them. */
#ifndef PROVER_PACKED_H
#define PROVER_PACKED_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_u32(const void *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline uint64_t load_u64(const void *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* Is the 256-bit number < r? Compared from the top limb down, which decides nearly always. */
static inline bool packed_is_below(const void *packed, const uint64_t r[4])
{
    for (int limb = 3; limb >= 0; limb--) {
        uint64_t x = load_u64((const uint8_t *)packed + 8 * limb);
        if (x != r[limb])
            return x < r[limb];
    }
    return false;
}

#endif
