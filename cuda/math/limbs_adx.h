/* The same in x86-64 assembly with mulx, adcx and adox: two carry chains run at once, because mulx leaves the flags
 * alone and adcx and adox carry apart. Everything up to the final conditional subtraction stays in registers: when the
 * subtraction was C, gcc made 16-byte vectors of the selection and every product waited for store forwarding
 * (latency 24.9 -> 17.1 ns for 4 limbs; field addition 9.2 -> 1.6 ns, Zen 4 at 3.7 GHz).
 *
 * The modulus is a memory operand, so that it costs no register where its address is a constant. Limbs that are read
 * after an output was written are never overwritten by it: results leave in registers. */
#ifndef CUDA_MATH_LIMBS_ADX_H
#define CUDA_MATH_LIMBS_ADX_H

#include "cuda/math/limbs.h"

#ifdef __OPTIMIZE__
#define P(off)       off "+%[p]"
#define P_OPERAND(n) [p] "m"(*(const uint64_t(*)[n])p)
#else
#define P(off)       off "(%[p])"
#define P_OPERAND(n) [p] "r"(p)
#endif

/* clang-format off: one instruction a line, as assembly is read */

/* t0..t3, hi = a[0] * b */
#define ROW_FIRST4                                                                                                     \
    "movq 0(%[a]), %%rdx\n\t"                                                                                          \
    "mulxq 0(%[b]), %[t0], %[t1]\n\t"                                                                                  \
    "mulxq 8(%[b]), %%rax, %[t2]\n\t"                                                                                  \
    "addq %%rax, %[t1]\n\t"                                                                                            \
    "mulxq 16(%[b]), %%rax, %[t3]\n\t"                                                                                 \
    "adcq %%rax, %[t2]\n\t"                                                                                            \
    "mulxq 24(%[b]), %%rax, %[hi]\n\t"                                                                                 \
    "adcq %%rax, %[t3]\n\t"                                                                                            \
    "adcq $0, %[hi]\n\t"

#define ROW_FIRST6                                                                                                     \
    "movq 0(%[a]), %%rdx\n\t"                                                                                          \
    "mulxq 0(%[b]), %[t0], %[t1]\n\t"                                                                                  \
    "mulxq 8(%[b]), %%rax, %[t2]\n\t"                                                                                  \
    "addq %%rax, %[t1]\n\t"                                                                                            \
    "mulxq 16(%[b]), %%rax, %[t3]\n\t"                                                                                 \
    "adcq %%rax, %[t2]\n\t"                                                                                            \
    "mulxq 24(%[b]), %%rax, %[t4]\n\t"                                                                                 \
    "adcq %%rax, %[t3]\n\t"                                                                                            \
    "mulxq 32(%[b]), %%rax, %[t5]\n\t"                                                                                 \
    "adcq %%rax, %[t4]\n\t"                                                                                            \
    "mulxq 40(%[b]), %%rax, %[hi]\n\t"                                                                                 \
    "adcq %%rax, %[t5]\n\t"                                                                                            \
    "adcq $0, %[hi]\n\t"

/* One product of a row into limbs lo and up. */
#define ROW_MUL(src, lo, up)                                                                                           \
    "mulxq " src ", %%rax, %[hi]\n\t"                                                                                  \
    "adoxq %%rax, %[" #lo "]\n\t"                                                                                      \
    "adcxq %[hi], %[" #up "]\n\t"

/* The last product of a row: top += low half, hi = high half and both carries. */
#define ROW_LAST(src, top)                                                                                             \
    "mulxq " src ", %%rax, %[hi]\n\t"                                                                                  \
    "adoxq %%rax, %[" #top "]\n\t"                                                                                     \
    "movl $0, %%eax\n\t"                                                                                               \
    "adcxq %%rax, %[hi]\n\t"                                                                                           \
    "adoxq %%rax, %[hi]\n\t"

#define ROW_BEGIN(src) "movq " src ", %%rdx\n\txorl %%eax, %%eax\n\t"

#define ROW4(off)                                                                                                      \
    ROW_BEGIN(#off "(%[a])")                                                                                           \
    ROW_MUL("0(%[b])", t0, t1) ROW_MUL("8(%[b])", t1, t2) ROW_MUL("16(%[b])", t2, t3) ROW_LAST("24(%[b])", t3)

#define ROW6(off)                                                                                                      \
    ROW_BEGIN(#off "(%[a])")                                                                                           \
    ROW_MUL("0(%[b])", t0, t1)                                                                                         \
    ROW_MUL("8(%[b])", t1, t2)                                                                                         \
    ROW_MUL("16(%[b])", t2, t3) ROW_MUL("24(%[b])", t3, t4) ROW_MUL("32(%[b])", t4, t5) ROW_LAST("40(%[b])", t5)

/* t = (t + m p) / 2^64 with m = -t0 / p mod 2^64; the limbs move down by one, the top one takes hi. */
#define RED_BEGIN                                                                                                      \
    "movq %[inv], %%rdx\n\t"                                                                                           \
    "imulq %[t0], %%rdx\n\t"                                                                                           \
    "xorl %%eax, %%eax\n\t"                                                                                            \
    "mulxq " P("0") ", %%rax, %[lo]\n\t"                                                                               \
                    "adcxq %[t0], %%rax\n\t"                                                                           \
                    "movq %[lo], %[t0]\n\t"

#define RED_STEP(off, into, next)                                                                                      \
    "adcxq %[" #next "], %[" #into "]\n\t"                                                                             \
    "mulxq " P(#off) ", %%rax, %[" #next "]\n\t"                                                                       \
                     "adoxq %%rax, %[" #into "]\n\t"

#define RED_END(top)                                                                                                   \
    "movl $0, %%eax\n\t"                                                                                               \
    "adcxq %%rax, %[" #top "]\n\t"                                                                                     \
    "adoxq %[hi], %[" #top "]\n\t"

#define RED_END0(top)                                                                                                  \
    "movl $0, %%eax\n\t"                                                                                               \
    "adcxq %%rax, %[" #top "]\n\t"                                                                                     \
    "adoxq %%rax, %[" #top "]\n\t"

#define RED4   RED_BEGIN RED_STEP(8, t0, t1) RED_STEP(16, t1, t2) RED_STEP(24, t2, t3) RED_END(t3)
#define RED4_0 RED_BEGIN RED_STEP(8, t0, t1) RED_STEP(16, t1, t2) RED_STEP(24, t2, t3) RED_END0(t3)
#define RED6_STEPS                                                                                                     \
    RED_BEGIN RED_STEP(8, t0, t1) RED_STEP(16, t1, t2) RED_STEP(24, t2, t3) RED_STEP(32, t3, t4) RED_STEP(40, t4, t5)
#define RED6   RED6_STEPS RED_END(t5)
#define RED6_0 RED6_STEPS RED_END0(t5)

/* t -= p if t >= p */
#define ONCE(op, off, t, x) "movq %[" #t "], " x "\n\t" op " " P(#off) ", " x "\n\t"
#define KEEP(t, x)          "cmovncq " x ", %[" #t "]\n\t"

#define ONCE4                                                                                                          \
    ONCE("subq", 0, t0, "%%rax")                                                                                       \
    ONCE("sbbq", 8, t1, "%%rdx")                                                                                       \
    ONCE("sbbq", 16, t2, "%[a]")                                                                                       \
    ONCE("sbbq", 24, t3, "%[b]") KEEP(t0, "%%rax") KEEP(t1, "%%rdx") KEEP(t2, "%[a]") KEEP(t3, "%[b]")

#define ONCE6                                                                                                          \
    ONCE("subq", 0, t0, "%%rax")                                                                                       \
    ONCE("sbbq", 8, t1, "%%rdx")                                                                                       \
    ONCE("sbbq", 16, t2, "%[a]")                                                                                       \
    ONCE("sbbq", 24, t3, "%[b]")                                                                                       \
    ONCE("sbbq", 32, t4, "%[hi]")                                                                                      \
    ONCE("sbbq", 40, t5, "%[lo]")                                                                                      \
    KEEP(t0, "%%rax") KEEP(t1, "%%rdx") KEEP(t2, "%[a]") KEEP(t3, "%[b]") KEEP(t4, "%[hi]") KEEP(t5, "%[lo]")

/* clang-format on */

/* Pointers are used up as scratch registers, so the memory that they point at cannot be an operand of its own (that
 * would take a further register); the clobber stands for it, and volatile keeps equal pointers from being taken for
 * equal operands. */
#define CLOBBERS "rax", "rdx", "cc", "memory"
#define OUT4     [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3)
#define OUT6     OUT4, [t4] "=&r"(t4), [t5] "=&r"(t5)
#define STORE4                                                                                                         \
    r[0] = t0;                                                                                                         \
    r[1] = t1;                                                                                                         \
    r[2] = t2;                                                                                                         \
    r[3] = t3
#define STORE6                                                                                                         \
    STORE4;                                                                                                            \
    r[4] = t4;                                                                                                         \
    r[5] = t5

LIMBS_INLINE void limbs_mont4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p,
                                  const uint64_t *inv)
{
    uint64_t t0, t1, t2, t3, hi, lo;
    const uint64_t *ra = a, *rb = b;
    __asm__ volatile(ROW_FIRST4 RED4 ROW4(8) RED4 ROW4(16) RED4 ROW4(24) RED4 ONCE4
                     : OUT4, [hi] "=&r"(hi), [lo] "=&r"(lo), [a] "+&r"(ra), [b] "+&r"(rb)
                     : P_OPERAND(4), [inv] "m"(*inv)
                     : CLOBBERS);
    STORE4;
}

LIMBS_INLINE void limbs_mont6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p,
                                  const uint64_t *inv)
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo;
    const uint64_t *ra = a, *rb = b;
    __asm__ volatile(ROW_FIRST6 RED6 ROW6(8) RED6 ROW6(16) RED6 ROW6(24) RED6 ROW6(32) RED6 ROW6(40) RED6 ONCE6
                     : OUT6, [hi] "=&r"(hi), [lo] "=&r"(lo), [a] "+&r"(ra), [b] "+&r"(rb)
                     : P_OPERAND(6), [inv] "m"(*inv)
                     : CLOBBERS);
    STORE6;
}

/* Squares: row i is a[i] * (a[i], 2 a[i+1], ..., 2 a[n-1]) placed at limb 2 i, which lies inside the window of the
 * interleaved product. 10 + 20 products instead of 16 + 20. The window's value stays below 3p, which must be below
 * 2^(64 n). e[j] = 2 a[j] without the bit from a[j-1], d[j] with it. */
LIMBS_INLINE void limbs_sqr4_adx(uint64_t *r, const uint64_t *a, const uint64_t *p, const uint64_t *inv)
{
    uint64_t t0, t1, t2, t3, hi, lo, scratch;
    uint64_t e1 = a[1] << 1, e2 = a[2] << 1, e3 = a[3] << 1, d2 = e2 | a[1] >> 63, d3 = e3 | a[2] >> 63;
    const uint64_t *ra = a;
    __asm__ volatile(
        "movq 0(%[a]), %%rdx\n\t"
        "mulxq %%rdx, %[t0], %[t1]\n\t"
        "mulxq %[e1], %%rax, %[t2]\n\t"
        "addq %%rax, %[t1]\n\t"
        "mulxq %[d2], %%rax, %[t3]\n\t"
        "adcq %%rax, %[t2]\n\t"
        "mulxq %[d3], %%rax, %[hi]\n\t"
        "adcq %%rax, %[t3]\n\t"
        "adcq $0, %[hi]\n\t" RED4 ROW_BEGIN("8(%[a])") ROW_MUL("%%rdx", t1, t2) ROW_MUL("%[e2]", t2, t3)
            ROW_LAST("%[d3]", t3) RED4 ROW_BEGIN("16(%[a])") ROW_MUL("%%rdx", t2, t3) ROW_LAST("%[e3]", t3)
                RED4 ROW_BEGIN("24(%[a])") ROW_LAST("%%rdx", t3) RED4 ONCE4
        : OUT4, [hi] "=&r"(hi), [lo] "=&r"(lo), [a] "+&r"(ra), [b] "=&r"(scratch)
        : P_OPERAND(4), [inv] "m"(*inv), [e1] "m"(e1), [e2] "m"(e2), [e3] "m"(e3), [d2] "m"(d2), [d3] "m"(d3)
        : CLOBBERS);
    STORE4;
}

LIMBS_INLINE void limbs_sqr6_adx(uint64_t *r, const uint64_t *a, const uint64_t *p, const uint64_t *inv)
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo, scratch;
    uint64_t e1 = a[1] << 1, e2 = a[2] << 1, e3 = a[3] << 1, e4 = a[4] << 1, e5 = a[5] << 1;
    uint64_t d2 = e2 | a[1] >> 63, d3 = e3 | a[2] >> 63, d4 = e4 | a[3] >> 63, d5 = e5 | a[4] >> 63;
    const uint64_t *ra = a;
    __asm__ volatile("movq 0(%[a]), %%rdx\n\t"
                     "mulxq %%rdx, %[t0], %[t1]\n\t"
                     "mulxq %[e1], %%rax, %[t2]\n\t"
                     "addq %%rax, %[t1]\n\t"
                     "mulxq %[d2], %%rax, %[t3]\n\t"
                     "adcq %%rax, %[t2]\n\t"
                     "mulxq %[d3], %%rax, %[t4]\n\t"
                     "adcq %%rax, %[t3]\n\t"
                     "mulxq %[d4], %%rax, %[t5]\n\t"
                     "adcq %%rax, %[t4]\n\t"
                     "mulxq %[d5], %%rax, %[hi]\n\t"
                     "adcq %%rax, %[t5]\n\t"
                     "adcq $0, %[hi]\n\t" RED6 ROW_BEGIN("8(%[a])") ROW_MUL("%%rdx", t1, t2) ROW_MUL("%[e2]", t2, t3)
                         ROW_MUL("%[d3]", t3, t4) ROW_MUL("%[d4]", t4, t5) ROW_LAST("%[d5]", t5)
                             RED6 ROW_BEGIN("16(%[a])") ROW_MUL("%%rdx", t2, t3) ROW_MUL("%[e3]", t3, t4)
                                 ROW_MUL("%[d4]", t4, t5) ROW_LAST("%[d5]", t5) RED6 ROW_BEGIN("24(%[a])")
                                     ROW_MUL("%%rdx", t3, t4) ROW_MUL("%[e4]", t4, t5) ROW_LAST("%[d5]", t5)
                                         RED6 ROW_BEGIN("32(%[a])") ROW_MUL("%%rdx", t4, t5) ROW_LAST("%[e5]", t5)
                                             RED6 ROW_BEGIN("40(%[a])") ROW_LAST("%%rdx", t5) RED6 ONCE6
                     : OUT6, [hi] "=&r"(hi), [lo] "=&r"(lo), [a] "+&r"(ra), [b] "=&r"(scratch)
                     : P_OPERAND(6), [inv] "m"(*inv), [e1] "m"(e1), [e2] "m"(e2), [e3] "m"(e3), [e4] "m"(e4),
                       [e5] "m"(e5), [d2] "m"(d2), [d3] "m"(d3), [d4] "m"(d4), [d5] "m"(d5)
                     : CLOBBERS);
    STORE6;
}

/* clang-format off */
#define LOAD_OP(op, off, t, src) op " " #off "(" src "), %[" #t "]\n\t"
#define LOAD4(src) LOAD_OP("movq", 0, t0, src) LOAD_OP("movq", 8, t1, src) LOAD_OP("movq", 16, t2, src) \
                   LOAD_OP("movq", 24, t3, src)
#define LOAD6(src) LOAD4(src) LOAD_OP("movq", 32, t4, src) LOAD_OP("movq", 40, t5, src)
#define CHAIN4(op, opc, o0, o1, o2, o3, src)                                                    \
    LOAD_OP(op, o0, t0, src) LOAD_OP(opc, o1, t1, src) LOAD_OP(opc, o2, t2, src) LOAD_OP(opc, o3, t3, src)
#define ADD4(src) CHAIN4("addq", "adcq", 0, 8, 16, 24, src)
#define SUB4(src) CHAIN4("subq", "sbbq", 0, 8, 16, 24, src)
#define ADD6(src) ADD4(src) LOAD_OP("adcq", 32, t4, src) LOAD_OP("adcq", 40, t5, src)
#define SUB6(src) SUB4(src) LOAD_OP("sbbq", 32, t4, src) LOAD_OP("sbbq", 40, t5, src)
/* t += p if the carry flag is set: the masked modulus is made first, because `and` clears the carry of a chain. */
#define MASKED(off, x) "movq %%rax, " x "\n\tandq " P(#off) ", " x "\n\t"
#define BACK4                                                                                   \
    "sbbq %%rax, %%rax\n\t"                                                                     \
    MASKED(0, "%%rdx") MASKED(8, "%[a]") MASKED(16, "%[b]") "andq " P("24") ", %%rax\n\t"           \
    "addq %%rdx, %[t0]\n\tadcq %[a], %[t1]\n\tadcq %[b], %[t2]\n\tadcq %%rax, %[t3]\n\t"
#define BACK6                                                                                   \
    "sbbq %%rax, %%rax\n\t"                                                                     \
    MASKED(0, "%%rdx") MASKED(8, "%[a]") MASKED(16, "%[b]") MASKED(24, "%[hi]") MASKED(32, "%[lo]") \
    "andq " P("40") ", %%rax\n\t"                                                                   \
    "addq %%rdx, %[t0]\n\tadcq %[a], %[t1]\n\tadcq %[b], %[t2]\n\tadcq %[hi], %[t3]\n\t"        \
    "adcq %[lo], %[t4]\n\tadcq %%rax, %[t5]\n\t"
/* clang-format on */

/* (a + b) mod p */
LIMBS_INLINE void limbs_add4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    uint64_t t0, t1, t2, t3;
    const uint64_t *ra = a, *rb = b;
    __asm__ volatile(LOAD4("%[a]") ADD4("%[b]") ONCE4 : OUT4, [a] "+&r"(ra), [b] "+&r"(rb) : P_OPERAND(4) : CLOBBERS);
    STORE4;
}

LIMBS_INLINE void limbs_add6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo;
    const uint64_t *ra = a, *rb = b;
    __asm__ volatile(LOAD6("%[a]") ADD6("%[b]") ONCE6
                     : OUT6, [hi] "=&r"(hi), [lo] "=&r"(lo), [a] "+&r"(ra), [b] "+&r"(rb)
                     : P_OPERAND(6)
                     : CLOBBERS);
    STORE6;
}

/* (a - b) mod p */
LIMBS_INLINE void limbs_sub4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    uint64_t t0, t1, t2, t3;
    const uint64_t *ra = a, *rb = b;
    __asm__ volatile(LOAD4("%[a]") SUB4("%[b]") BACK4 : OUT4, [a] "+&r"(ra), [b] "+&r"(rb) : P_OPERAND(4) : CLOBBERS);
    STORE4;
}

LIMBS_INLINE void limbs_sub6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo;
    const uint64_t *ra = a, *rb = b;
    __asm__ volatile(LOAD6("%[a]") SUB6("%[b]") BACK6
                     : OUT6, [hi] "=&r"(hi), [lo] "=&r"(lo), [a] "+&r"(ra), [b] "+&r"(rb)
                     : P_OPERAND(6)
                     : CLOBBERS);
    STORE6;
}

/* r = t / R mod p, reduced, t of 2n limbs below p R: the low half is divided exactly, the high half added. */
LIMBS_INLINE void limbs_redc4_adx(uint64_t *r, const uint64_t *t, const uint64_t *p, const uint64_t *inv)
{
    uint64_t t0, t1, t2, t3, lo, scratch;
    const uint64_t *ra = t;
    __asm__ volatile(LOAD4("%[a]") RED4_0 RED4_0 RED4_0 RED4_0 CHAIN4("addq", "adcq", 32, 40, 48, 56, "%[a]") ONCE4
                     : OUT4, [lo] "=&r"(lo), [a] "+&r"(ra), [b] "=&r"(scratch)
                     : P_OPERAND(4), [inv] "m"(*inv)
                     : CLOBBERS);
    STORE4;
}

LIMBS_INLINE void limbs_redc6_adx(uint64_t *r, const uint64_t *t, const uint64_t *p, const uint64_t *inv)
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo, scratch;
    const uint64_t *ra = t;
    __asm__ volatile(LOAD6("%[a]")
                         RED6_0 RED6_0 RED6_0 RED6_0 RED6_0 RED6_0 CHAIN4("addq", "adcq", 48, 56, 64, 72, "%[a]")
                             LOAD_OP("adcq", 80, t4, "%[a]") LOAD_OP("adcq", 88, t5, "%[a]") ONCE6
                     : OUT6, [hi] "=&r"(hi), [lo] "=&r"(lo), [a] "+&r"(ra), [b] "=&r"(scratch)
                     : P_OPERAND(6), [inv] "m"(*inv)
                     : CLOBBERS);
    STORE6;
}

/* clang-format off */
/* Rows of the full product: limb `off` is finished and stored, its register becomes the next top. */
#define WROW_MUL(off, lo, up, tmp)                  \
    "mulxq " #off "(%[b]), %%rax, %[" #tmp "]\n\t"  \
    "adoxq %%rax, %[" #lo "]\n\t"                   \
    "adcxq %[" #tmp "], %[" #up "]\n\t"
#define WROW_LAST(off, top, tmp)                    \
    "mulxq " #off "(%[b]), %%rax, %[" #tmp "]\n\t"  \
    "adoxq %%rax, %[" #top "]\n\t"                  \
    "movl $0, %%eax\n\t"                            \
    "adcxq %%rax, %[" #tmp "]\n\t"                  \
    "adoxq %%rax, %[" #tmp "]\n\t"
#define WSTORE(off, t) "movq %[" #t "], " #off "(%[r])\n\t"
#define WROW4(off, x0, x1, x2, x3, tmp)                                                         \
    ROW_BEGIN(#off "(%[a])") WROW_MUL(0, x0, x1, tmp) WROW_MUL(8, x1, x2, tmp)                  \
    WROW_MUL(16, x2, x3, tmp) WROW_LAST(24, x3, tmp) WSTORE(off, x0)
#define WROW6(off, x0, x1, x2, x3, x4, x5, tmp)                                                 \
    ROW_BEGIN(#off "(%[a])") WROW_MUL(0, x0, x1, tmp) WROW_MUL(8, x1, x2, tmp)                  \
    WROW_MUL(16, x2, x3, tmp) WROW_MUL(24, x3, x4, tmp) WROW_MUL(32, x4, x5, tmp)               \
    WROW_LAST(40, x5, tmp) WSTORE(off, x0)
/* clang-format on */

/* r[0..2n) = a * b; r apart from a and b */
LIMBS_INLINE void limbs_mul_wide4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    uint64_t t0, t1, t2, t3, hi;
    __asm__ volatile(ROW_FIRST4 WSTORE(0, t0) WROW4(8, t1, t2, t3, hi, t0) WROW4(16, t2, t3, hi, t0, t1)
                         WROW4(24, t3, hi, t0, t1, t2) WSTORE(32, hi) WSTORE(40, t0) WSTORE(48, t1) WSTORE(56, t2)
                     : OUT4, [hi] "=&r"(hi)
                     : [a] "r"(a), [b] "r"(b), [r] "r"(r)
                     : CLOBBERS);
}

LIMBS_INLINE void limbs_mul_wide6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    uint64_t t0, t1, t2, t3, t4, t5, hi;
    __asm__ volatile(ROW_FIRST6 WSTORE(0, t0) WROW6(8, t1, t2, t3, t4, t5, hi, t0) WROW6(16, t2, t3, t4, t5, hi, t0, t1)
                         WROW6(24, t3, t4, t5, hi, t0, t1, t2) WROW6(32, t4, t5, hi, t0, t1, t2, t3)
                             WROW6(40, t5, hi, t0, t1, t2, t3, t4) WSTORE(48, hi) WSTORE(56, t0) WSTORE(64, t1)
                                 WSTORE(72, t2) WSTORE(80, t3) WSTORE(88, t4)
                     : OUT6, [hi] "=&r"(hi)
                     : [a] "r"(a), [b] "r"(b), [r] "r"(r)
                     : CLOBBERS);
}

/* clang-format off */
#define WOP(op, off) "movq " #off "(%[a]), %%rax\n\t" op " " #off "(%[b]), %%rax\n\tmovq %%rax, " #off "(%[r])\n\t"
#define WBACK(op, off, x) op " " x ", " #off "(%[r])\n\t"
/* clang-format on */

/* r = a + b without reduction, for sums that fit */
LIMBS_INLINE void limbs_sum4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    __asm__ volatile(WOP("addq", 0) WOP("adcq", 8) WOP("adcq", 16) WOP("adcq", 24)
                     :
                     : [a] "r"(a), [b] "r"(b), [r] "r"(r)
                     : "rax", "cc", "memory");
}

LIMBS_INLINE void limbs_sum6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    __asm__ volatile(WOP("addq", 0) WOP("adcq", 8) WOP("adcq", 16) WOP("adcq", 24) WOP("adcq", 32) WOP("adcq", 40)
                     :
                     : [a] "r"(a), [b] "r"(b), [r] "r"(r)
                     : "rax", "cc", "memory");
}

/* r = a - b over 2n limbs, a >= b */
LIMBS_INLINE void limbs_sub_wide4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    __asm__ volatile(WOP("subq", 0) WOP("sbbq", 8) WOP("sbbq", 16) WOP("sbbq", 24) WOP("sbbq", 32) WOP("sbbq", 40)
                         WOP("sbbq", 48) WOP("sbbq", 56)
                     :
                     : [a] "r"(a), [b] "r"(b), [r] "r"(r)
                     : "rax", "cc", "memory");
}

LIMBS_INLINE void limbs_sub_wide6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    __asm__ volatile(WOP("subq", 0) WOP("sbbq", 8) WOP("sbbq", 16) WOP("sbbq", 24) WOP("sbbq", 32) WOP("sbbq", 40)
                         WOP("sbbq", 48) WOP("sbbq", 56) WOP("sbbq", 64) WOP("sbbq", 72) WOP("sbbq", 80) WOP("sbbq", 88)
                     :
                     : [a] "r"(a), [b] "r"(b), [r] "r"(r)
                     : "rax", "cc", "memory");
}

/* r = a - b over 2n limbs, p R added if that is negative */
LIMBS_INLINE void limbs_sub_mod_wide4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    uint64_t t0, t1, t2;
    __asm__ volatile(WOP("subq", 0) WOP("sbbq", 8) WOP("sbbq", 16) WOP("sbbq", 24) WOP("sbbq", 32) WOP("sbbq", 40)
                         WOP("sbbq", 48) WOP("sbbq", 56) "sbbq %%rax, %%rax\n\t" MASKED(0, "%[t0]") MASKED(8, "%[t1]")
                             MASKED(16, "%[t2]") "andq " P("24") ", %%rax\n\t" WBACK("addq", 32, "%[t0]")
                                 WBACK("adcq", 40, "%[t1]") WBACK("adcq", 48, "%[t2]") WBACK("adcq", 56, "%%rax")
                     : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2)
                     : [a] "r"(a), [b] "r"(b), [r] "r"(r), P_OPERAND(4)
                     : "rax", "cc", "memory");
}

LIMBS_INLINE void limbs_sub_mod_wide6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *p)
{
    uint64_t t0, t1, t2, t3, t4;
    __asm__ volatile(
        WOP("subq", 0) WOP("sbbq", 8) WOP("sbbq", 16) WOP("sbbq", 24) WOP("sbbq", 32) WOP("sbbq", 40) WOP("sbbq", 48)
            WOP("sbbq", 56) WOP("sbbq", 64) WOP("sbbq", 72) WOP("sbbq", 80)
                WOP("sbbq", 88) "sbbq %%rax, %%rax\n\t" MASKED(0, "%[t0]") MASKED(8, "%[t1]") MASKED(16, "%[t2]")
                    MASKED(24, "%[t3]") MASKED(32, "%[t4]") "andq " P("40") ", %%rax\n\t" WBACK("addq", 48, "%[t0]")
                        WBACK("adcq", 56, "%[t1]") WBACK("adcq", 64, "%[t2]") WBACK("adcq", 72, "%[t3]")
                            WBACK("adcq", 80, "%[t4]") WBACK("adcq", 88, "%%rax")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4)
        : [a] "r"(a), [b] "r"(b), [r] "r"(r), P_OPERAND(6)
        : "rax", "cc", "memory");
}

#undef P
#undef P_OPERAND
#undef ROW_FIRST4
#undef ROW_FIRST6
#undef ROW_MUL
#undef ROW_LAST
#undef ROW_BEGIN
#undef ROW4
#undef ROW6
#undef RED_BEGIN
#undef RED_STEP
#undef RED_END
#undef RED_END0
#undef RED4
#undef RED4_0
#undef RED6_STEPS
#undef RED6
#undef RED6_0
#undef ONCE
#undef KEEP
#undef ONCE4
#undef ONCE6
#undef CLOBBERS
#undef OUT4
#undef OUT6
#undef STORE4
#undef STORE6
#undef LOAD_OP
#undef LOAD4
#undef LOAD6
#undef CHAIN4
#undef ADD4
#undef SUB4
#undef ADD6
#undef SUB6
#undef MASKED
#undef BACK4
#undef BACK6
#undef WROW_MUL
#undef WROW_LAST
#undef WSTORE
#undef WROW4
#undef WROW6
#undef WOP
#undef WBACK

#endif
