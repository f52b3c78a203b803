/* 32-bit words with a carry flag: one PTX instruction each on the GPU, the same arithmetic in C on the CPU, so that the
 * chains built from them can be tested without a GPU.
 *
 * The statements are volatile: that keeps the chains in order among themselves, and nothing else writes the flag. */
#ifndef CUDA_GPU_CARRY_CUH
#define CUDA_GPU_CARRY_CUH

#include <stdint.h>

#define HD __host__ __device__ __forceinline__

#ifndef __CUDA_ARCH__
static thread_local uint32_t carry_flag;

static inline uint32_t carry_sum(uint64_t t, bool keep)
{
    if (keep)
        carry_flag = (uint32_t)(t >> 32);
    return (uint32_t)t;
}
static inline uint32_t borrow_diff(uint64_t t, bool keep)
{
    if (keep)
        carry_flag = (uint32_t)(t >> 32) & 1;
    return (uint32_t)t;
}
#endif

#ifdef __CUDA_ARCH__
#define CARRY_OP2(name, ptx, host)                                                                                     \
    HD uint32_t name(uint32_t a, uint32_t b)                                                                           \
    {                                                                                                                  \
        uint32_t r;                                                                                                    \
        asm volatile(ptx " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                                                   \
        return r;                                                                                                      \
    }
#define CARRY_OP3(name, ptx, host)                                                                                     \
    HD uint32_t name(uint32_t a, uint32_t b, uint32_t c)                                                               \
    {                                                                                                                  \
        uint32_t r;                                                                                                    \
        asm volatile(ptx " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                                       \
        return r;                                                                                                      \
    }
#else
#define CARRY_OP2(name, ptx, host)                                                                                     \
    HD uint32_t name(uint32_t a, uint32_t b)                                                                           \
    {                                                                                                                  \
        return host;                                                                                                   \
    }
#define CARRY_OP3(name, ptx, host)                                                                                     \
    HD uint32_t name(uint32_t a, uint32_t b, uint32_t c)                                                               \
    {                                                                                                                  \
        return host;                                                                                                   \
    }
#endif

/* _cc writes the flag, a leading addc/subc/madc reads it */
CARRY_OP2(add_cc, "add.cc.u32", carry_sum((uint64_t)a + b, true))
CARRY_OP2(addc_cc, "addc.cc.u32", carry_sum((uint64_t)a + b + carry_flag, true))
CARRY_OP2(addc, "addc.u32", carry_sum((uint64_t)a + b + carry_flag, false))
CARRY_OP2(sub_cc, "sub.cc.u32", borrow_diff((uint64_t)a - b, true))
CARRY_OP2(subc_cc, "subc.cc.u32", borrow_diff((uint64_t)a - b - carry_flag, true))
CARRY_OP2(subc, "subc.u32", borrow_diff((uint64_t)a - b - carry_flag, false))
CARRY_OP2(mul_lo, "mul.lo.u32", (uint32_t)((uint64_t)a *b))
CARRY_OP2(mul_hi, "mul.hi.u32", (uint32_t)(((uint64_t)a * b) >> 32))
CARRY_OP3(mad_lo_cc, "mad.lo.cc.u32", carry_sum((uint64_t)(uint32_t)((uint64_t)a *b) + c, true))
CARRY_OP3(madc_lo_cc, "madc.lo.cc.u32", carry_sum((uint64_t)(uint32_t)((uint64_t)a *b) + c + carry_flag, true))
CARRY_OP3(madc_hi_cc, "madc.hi.cc.u32", carry_sum((((uint64_t)a * b) >> 32) + c + carry_flag, true))
CARRY_OP3(madc_hi, "madc.hi.u32", carry_sum((((uint64_t)a * b) >> 32) + c + carry_flag, false))

#undef CARRY_OP2
#undef CARRY_OP3

/* acc[0..n-1] = words 0, 2, 4, .. of a, times b: n / 2 products of two words, which do not overlap */
template <int n> HD void row_mul(uint32_t *acc, const uint32_t *a, uint32_t b)
{
#pragma unroll
    for (int j = 0; j < n; j += 2) {
        acc[j] = mul_lo(a[j], b);
        acc[j + 1] = mul_hi(a[j], b);
    }
}

/* acc += the same, as one chain; the carry out of acc[n-1] stays in the flag. Each lo/hi pair becomes one wide
 * multiply-add with carry. */
template <int n> HD void row_mad(uint32_t *acc, const uint32_t *a, uint32_t b)
{
    acc[0] = mad_lo_cc(a[0], b, acc[0]);
    acc[1] = madc_hi_cc(a[0], b, acc[1]);
#pragma unroll
    for (int j = 2; j < n; j += 2) {
        acc[j] = madc_lo_cc(a[j], b, acc[j]);
        acc[j + 1] = madc_hi_cc(a[j], b, acc[j + 1]);
    }
}

/* acc[j] = a[j] b + acc[j+2] with the flag as carry in: the same moved down by two words, with zeros from above */
template <int n> HD void row_madc_down(uint32_t *acc, const uint32_t *a, uint32_t b)
{
#pragma unroll
    for (int j = 0; j < n - 2; j += 2) {
        acc[j] = madc_lo_cc(a[j], b, acc[j + 2]);
        acc[j + 1] = madc_hi_cc(a[j], b, acc[j + 3]);
    }
    acc[n - 2] = madc_lo_cc(a[n - 2], b, 0);
    acc[n - 1] = madc_hi(a[n - 2], b, 0);
}

#endif
