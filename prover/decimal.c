#include "prover/decimal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Nineteen digits at a time: 10^19 is the largest power of ten in a limb. */
enum { CHUNK = 19 };
static const uint64_t ten_to_19 = 10000000000000000000u;

static bool all_digits(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return len > 0;
}

/* limbs = limbs * factor + add; returns what runs over. */
static uint64_t mul_add(uint64_t *limbs, size_t n, uint64_t factor, uint64_t add)
{
    uint64_t carry = add;
    for (size_t i = 0; i < n; i++) {
        unsigned __int128 t = (unsigned __int128)limbs[i] * factor + carry;
        limbs[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    return carry;
}

int decimal_parse(uint64_t *limbs, size_t n_limbs, const char *text, size_t len)
{
    if (!all_digits(text, len) || (len > 1 && text[0] == '0'))
        return -EBADMSG;
    if (len >= DECIMAL_TEXT) /* 10^119 is above 2^384 */
        return -ERANGE;
    uint64_t value[DECIMAL_LIMBS_MAX] = {0};
    for (size_t at = 0; at < len;) {
        size_t digits = (len - at) % CHUNK ? (len - at) % CHUNK : CHUNK;
        uint64_t chunk = 0, power = 1;
        for (size_t i = 0; i < digits; i++, power *= 10)
            chunk = chunk * 10 + (uint64_t)(text[at + i] - '0');
        if (mul_add(value, n_limbs, power, chunk))
            return -ERANGE;
        at += digits;
    }
    memcpy(limbs, value, n_limbs * sizeof *limbs);
    return 0;
}

/* limbs = limbs / 10^19, returns the rest. */
static uint64_t divide_chunk(uint64_t *limbs, size_t n)
{
    unsigned __int128 rest = 0;
    for (size_t i = n; i-- > 0;) {
        rest = rest << 64 | limbs[i];
        limbs[i] = (uint64_t)(rest / ten_to_19);
        rest %= ten_to_19;
    }
    return (uint64_t)rest;
}

size_t decimal_format(char text[DECIMAL_TEXT], const uint64_t *limbs, size_t n_limbs)
{
    uint64_t value[DECIMAL_LIMBS_MAX] = {0};
    memcpy(value, limbs, n_limbs * sizeof *limbs);
    char digits[(DECIMAL_LIMBS_MAX + 1) * CHUNK]; /* filled from the end */
    char *p = digits + sizeof digits;
    for (size_t chunk = 0; chunk <= n_limbs; chunk++) { /* 19 digits are 63.1 bits: one chunk more than limbs */
        uint64_t rest = divide_chunk(value, n_limbs);
        for (int i = 0; i < CHUNK; i++, rest /= 10)
            *--p = (char)('0' + rest % 10);
    }
    while (p < digits + sizeof digits - 1 && *p == '0')
        p++;
    size_t len = (size_t)(digits + sizeof digits - p);
    memcpy(text, p, len);
    text[len] = 0;
    return len;
}
