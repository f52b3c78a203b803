/* The slow twin: schoolbook numbers of up to 12 words, one bit at a time where it divides. */
#ifndef TESTS_CUDA_MATH_BIG_H
#define TESTS_CUDA_MATH_BIG_H

#include <stdint.h>
#include <string.h>

#define BIG_UNUSED __attribute__((unused))

BIG_UNUSED static int big_cmp(const uint64_t *a, const uint64_t *b, int n)
{
    for (int i = n - 1; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

BIG_UNUSED static void big_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t borrow = 0;
    for (int i = 0; i < n; i++) {
        uint64_t t = a[i] - b[i], u = t - borrow;
        borrow = (a[i] < b[i]) | (t < borrow);
        r[i] = u;
    }
}

/* r = a mod p: long division by shifting in one bit after the other. p has a spare top bit. */
BIG_UNUSED static void big_mod(uint64_t *r, const uint64_t *a, int words, const uint64_t *p, int n)
{
    uint64_t t[6] = {0};
    for (int bit = words * 64 - 1; bit >= 0; bit--) {
        for (int i = n - 1; i > 0; i--)
            t[i] = t[i] << 1 | t[i - 1] >> 63;
        t[0] = t[0] << 1 | (a[bit / 64] >> (bit % 64) & 1);
        if (big_cmp(t, p, n) >= 0)
            big_sub(t, t, p, n);
    }
    memcpy(r, t, (size_t)n * sizeof *r);
}

/* r of 2n words = a b, in 32-bit digits */
BIG_UNUSED static void big_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    uint32_t x[12], y[12], z[24] = {0};
    for (int i = 0; i < 2 * n; i++) {
        x[i] = (uint32_t)(a[i / 2] >> (i % 2 * 32));
        y[i] = (uint32_t)(b[i / 2] >> (i % 2 * 32));
    }
    for (int i = 0; i < 2 * n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 2 * n; j++) {
            carry += (uint64_t)x[i] * y[j] + z[i + j];
            z[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        z[i + 2 * n] = (uint32_t)carry;
    }
    for (int i = 0; i < 2 * n; i++)
        r[i] = (uint64_t)z[2 * i + 1] << 32 | z[2 * i];
}

BIG_UNUSED static void big_mulmod(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p, int n)
{
    uint64_t w[12];
    big_mul(w, a, b, n);
    big_mod(r, w, 2 * n, p, n);
}

#endif
