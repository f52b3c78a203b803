/* Carries and products of limb arrays: what the fields are stamped from. Counts are compile-time constants at every
 * call, so the loops unroll. */
#ifndef CUDA_MATH_LIMBS_H
#define CUDA_MATH_LIMBS_H

#include <stdint.h>

typedef unsigned __int128 limbs_u128;

#define LIMBS_INLINE static inline __attribute__((always_inline))

/* r = a + b, returns the carry */
LIMBS_INLINE uint64_t limbs_add(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    unsigned long long carry = 0;
    for (int i = 0; i < n; i++) {
        limbs_u128 t = (limbs_u128)a[i] + b[i] + carry;
        r[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    return carry;
}

/* r = a - b, returns the borrow (0 or 1) */
LIMBS_INLINE uint64_t limbs_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t borrow = 0;
    for (int i = 0; i < n; i++) {
        limbs_u128 t = (limbs_u128)a[i] - b[i] - borrow;
        r[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    return borrow;
}

/* r = a + (b & mask) */
LIMBS_INLINE void limbs_add_masked(uint64_t *r, const uint64_t *a, const uint64_t *b, uint64_t mask, int n)
{
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        limbs_u128 t = (limbs_u128)a[i] + (b[i] & mask) + carry;
        r[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

/* r = take_a ? a : b, branch-free */
LIMBS_INLINE void limbs_select(uint64_t *r, const uint64_t *a, const uint64_t *b, uint64_t take_a, int n)
{
    uint64_t mask = 0 - take_a;
    for (int i = 0; i < n; i++)
        r[i] = (a[i] & mask) | (b[i] & ~mask);
}

/* Montgomery product, interleaved, result < 2p. Needs p < 2^(64n-1). */
LIMBS_INLINE void limbs_mont(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p, uint64_t inv, int n)
{
    uint64_t t[7] = {0};
    for (int i = 0; i < n; i++) {
        limbs_u128 s = (limbs_u128)a[i] * b[0] + t[0];
        uint64_t carry_ab = (uint64_t)(s >> 64);
        uint64_t m = (uint64_t)s * inv;
        limbs_u128 u = (limbs_u128)m * p[0] + (uint64_t)s;
        uint64_t carry_mp = (uint64_t)(u >> 64);
        for (int j = 1; j < n; j++) {
            s = (limbs_u128)a[i] * b[j] + t[j] + carry_ab;
            carry_ab = (uint64_t)(s >> 64);
            u = (limbs_u128)m * p[j] + (uint64_t)s + carry_mp;
            carry_mp = (uint64_t)(u >> 64);
            t[j - 1] = (uint64_t)u;
        }
        t[n - 1] = carry_ab + carry_mp;
    }
    for (int i = 0; i < n; i++)
        r[i] = t[i];
}

#ifdef ISA_ADX
/* The same with two carry chains (mulx leaves the flags alone, adcx and adox carry apart). Row i adds a[i] * b on one
 * pass and m * p on the next, shifting by renaming. %[p] points at the modulus. */
#define LIMBS_ROW_FIRST4                                                                                               \
    "movq 0(%[a]), %%rdx\n\t"                                                                                          \
    "xorl %%eax, %%eax\n\t"                                                                                            \
    "mulxq 0(%[b]), %[t0], %[t1]\n\t"                                                                                  \
    "mulxq 8(%[b]), %%rax, %[t2]\n\t"                                                                                  \
    "adcxq %%rax, %[t1]\n\t"                                                                                           \
    "mulxq 16(%[b]), %%rax, %[t3]\n\t"                                                                                 \
    "adcxq %%rax, %[t2]\n\t"                                                                                           \
    "mulxq 24(%[b]), %%rax, %[hi]\n\t"                                                                                 \
    "adcxq %%rax, %[t3]\n\t"                                                                                           \
    "movl $0, %%eax\n\t"                                                                                               \
    "adcxq %%rax, %[hi]\n\t"

#define LIMBS_ROW_ADD(off, lo, up)                                                                                     \
    "mulxq " #off "(%[b]), %%rax, %[hi]\n\t"                                                                           \
    "adoxq %%rax, %[" #lo "]\n\t"                                                                                      \
    "adcxq %[hi], %[" #up "]\n\t"

#define LIMBS_ROW4(off)                                                                                                \
    "movq " #off "(%[a]), %%rdx\n\t"                                                                                   \
    "xorl %%eax, %%eax\n\t" LIMBS_ROW_ADD(0, t0, t1) LIMBS_ROW_ADD(8, t1, t2)                                          \
        LIMBS_ROW_ADD(16, t2, t3) "mulxq 24(%[b]), %%rax, %[hi]\n\t"                                                   \
                                  "adoxq %%rax, %[t3]\n\t"                                                             \
                                  "movl $0, %%eax\n\t"                                                                 \
                                  "adcxq %%rax, %[hi]\n\t"                                                             \
                                  "adoxq %%rax, %[hi]\n\t"

/* t = (t + m p) / 2^64, the top limb gets hi */
#define LIMBS_RED_STEP(off, into, next)                                                                                \
    "adcxq %[" #next "], %[" #into "]\n\t"                                                                             \
    "mulxq " #off "(%[p]), %%rax, %[" #next "]\n\t"                                                                    \
    "adoxq %%rax, %[" #into "]\n\t"

#define LIMBS_RED_BEGIN                                                                                                \
    "movq %[inv], %%rdx\n\t"                                                                                           \
    "imulq %[t0], %%rdx\n\t"                                                                                           \
    "xorl %%eax, %%eax\n\t"                                                                                            \
    "mulxq 0(%[p]), %%rax, %[lo]\n\t"                                                                                  \
    "adcxq %[t0], %%rax\n\t"                                                                                           \
    "movq %[lo], %[t0]\n\t"

#define LIMBS_RED_END(top)                                                                                             \
    "movl $0, %%eax\n\t"                                                                                               \
    "adcxq %%rax, %[" #top "]\n\t"                                                                                     \
    "adoxq %[hi], %[" #top "]\n\t"

#define LIMBS_RED4                                                                                                     \
    LIMBS_RED_BEGIN LIMBS_RED_STEP(8, t0, t1) LIMBS_RED_STEP(16, t1, t2) LIMBS_RED_STEP(24, t2, t3) LIMBS_RED_END(t3)

LIMBS_INLINE void limbs_mont4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p, uint64_t inv)
{
    uint64_t t0, t1, t2, t3, hi, lo;
    __asm__(LIMBS_ROW_FIRST4 LIMBS_RED4 LIMBS_ROW4(8) LIMBS_RED4 LIMBS_ROW4(16) LIMBS_RED4 LIMBS_ROW4(24) LIMBS_RED4
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [hi] "=&r"(hi), [lo] "=&r"(lo)
            : [a] "r"(a), [b] "r"(b), [p] "r"(p), [inv] "m"(inv), "m"(*(const uint64_t(*)[4])a),
              "m"(*(const uint64_t(*)[4])b), "m"(*(const uint64_t(*)[4])p)
            : "rax", "rdx", "cc");
    r[0] = t0;
    r[1] = t1;
    r[2] = t2;
    r[3] = t3;
}

#define LIMBS_ROW_FIRST6                                                                                               \
    "movq 0(%[a]), %%rdx\n\t"                                                                                          \
    "xorl %%eax, %%eax\n\t"                                                                                            \
    "mulxq 0(%[b]), %[t0], %[t1]\n\t"                                                                                  \
    "mulxq 8(%[b]), %%rax, %[t2]\n\t"                                                                                  \
    "adcxq %%rax, %[t1]\n\t"                                                                                           \
    "mulxq 16(%[b]), %%rax, %[t3]\n\t"                                                                                 \
    "adcxq %%rax, %[t2]\n\t"                                                                                           \
    "mulxq 24(%[b]), %%rax, %[t4]\n\t"                                                                                 \
    "adcxq %%rax, %[t3]\n\t"                                                                                           \
    "mulxq 32(%[b]), %%rax, %[t5]\n\t"                                                                                 \
    "adcxq %%rax, %[t4]\n\t"                                                                                           \
    "mulxq 40(%[b]), %%rax, %[hi]\n\t"                                                                                 \
    "adcxq %%rax, %[t5]\n\t"                                                                                           \
    "movl $0, %%eax\n\t"                                                                                               \
    "adcxq %%rax, %[hi]\n\t"

#define LIMBS_ROW6(off)                                                                                                \
    "movq " #off "(%[a]), %%rdx\n\t"                                                                                   \
    "xorl %%eax, %%eax\n\t" LIMBS_ROW_ADD(0, t0, t1) LIMBS_ROW_ADD(8, t1, t2) LIMBS_ROW_ADD(16, t2, t3)                \
        LIMBS_ROW_ADD(24, t3, t4) LIMBS_ROW_ADD(32, t4, t5) "mulxq 40(%[b]), %%rax, %[hi]\n\t"                         \
                                                            "adoxq %%rax, %[t5]\n\t"                                   \
                                                            "movl $0, %%eax\n\t"                                       \
                                                            "adcxq %%rax, %[hi]\n\t"                                   \
                                                            "adoxq %%rax, %[hi]\n\t"

#define LIMBS_RED6                                                                                                     \
    LIMBS_RED_BEGIN LIMBS_RED_STEP(8, t0, t1) LIMBS_RED_STEP(16, t1, t2) LIMBS_RED_STEP(24, t2, t3)                    \
        LIMBS_RED_STEP(32, t3, t4) LIMBS_RED_STEP(40, t4, t5) LIMBS_RED_END(t5)

LIMBS_INLINE void limbs_mont6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p, uint64_t inv)
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo;
    __asm__(LIMBS_ROW_FIRST6 LIMBS_RED6 LIMBS_ROW6(8) LIMBS_RED6 LIMBS_ROW6(16) LIMBS_RED6 LIMBS_ROW6(24)
                LIMBS_RED6 LIMBS_ROW6(32) LIMBS_RED6 LIMBS_ROW6(40) LIMBS_RED6
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
              [hi] "=&r"(hi), [lo] "=&r"(lo)
            : [a] "r"(a), [b] "r"(b), [p] "r"(p), [inv] "m"(inv), "m"(*(const uint64_t(*)[6])a),
              "m"(*(const uint64_t(*)[6])b), "m"(*(const uint64_t(*)[6])p)
            : "rax", "rdx", "cc");
    r[0] = t0;
    r[1] = t1;
    r[2] = t2;
    r[3] = t3;
    r[4] = t4;
    r[5] = t5;
}
#endif /* ISA_ADX */

#endif
