/* cpuid leaves: Intel SDM vol. 2A, CPUID; vol. 1, 13.3 for XCR0. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "cuda/math/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum { XCR0_AVX512 = 0xe6 }; /* SSE, AVX, opmask, upper ZMM0-15, ZMM16-31 */

static uint64_t xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

enum isa isa_of_cpu(void)
{
    unsigned a, b, c, d, one_c;
    if (!__get_cpuid(1, &a, &b, &one_c, &d) || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return ISA_ID_PORTABLE;
    unsigned adx = bit_BMI2 | bit_ADX;
    unsigned ifma = bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512IFMA;
    if ((b & adx) != adx)
        return ISA_ID_PORTABLE;
    if ((b & ifma) != ifma || !(one_c & bit_OSXSAVE) || (xcr0() & XCR0_AVX512) != XCR0_AVX512)
        return ISA_ID_ADX;
    return ISA_ID_IFMA;
}
#else
enum isa isa_of_cpu(void)
{
    return ISA_ID_PORTABLE;
}
#endif

static const char *const names[] = {"portable", "adx", "ifma"};

const char *isa_name(enum isa isa)
{
    return names[isa];
}

enum isa isa_best(void)
{
    static _Atomic int known; /* level + 1; a race stores the same value twice */
    int level = atomic_load_explicit(&known, memory_order_relaxed) - 1;
    if (level >= 0)
        return (enum isa)level;
    level = (int)isa_of_cpu();
    const char *want = getenv("PENSTOCK_ISA");
    for (int i = 0; want && i < level; i++)
        if (strcasecmp(want, names[i]) == 0)
            level = i;
    atomic_store_explicit(&known, level + 1, memory_order_relaxed);
    return (enum isa)level;
}
