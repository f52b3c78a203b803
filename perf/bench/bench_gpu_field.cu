/* Field multiplication on a CUDA device: what the pipes allow, and what each way of multiplying gets of it.
 *
 *     bench_gpu_field
 *
 * Every thread runs two independent chains of products, on 16 warps a processor (what the MSM and NTT kernels live
 * with) and on 8. Figures: cycles of one scheduler per instruction (pipes; the wide ones come with an addition and a
 * half) or per product of a warp, and products/s of the whole chip. Every way's results are compared with the integer
 * rows'; a wrong one ends the program with 1.
 *
 * H200, cycles per product: BN254 Fq rows 550, FP64 limbs 550, product FP64 and reduction integer 575, one chain each
 * 524, two to one 517; squares 486, 465 in FP64. BLS12-381 Fq rows 1210, FP64 1362, one each 1211. Constants with
 * quotients 458 (BN254 r) and 411 (BLS12-381 r) against 552: these the transforms use.
 * FP64 does not help although its pipe alone would take 290 cycles (145 instructions of 2). The best explanation found:
 * beside them stand 195 integer instructions, and the register file gives one register of each bank (even, odd) a
 * cycle: 1.56 cycles for an FP32 a b + c of three registers, 2.6 for FP64 + logic. 64-bit operands and their sums need
 * about as many reads as the wide multiply-adds that they replace; where both run, their times nearly add up (FP64 +
 * wide). */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/field.cuh"
#include "perf/bench/fp64.cuh"
#include "cuda/gpu/shoup.cuh"

static int sms, khz, wrong;

static void must(cudaError_t rc, const char *what)
{
    if (rc != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(rc));
        exit(1);
    }
}

enum { THREADS = 128, STEPS = 420, PIPE_STEPS = 400, REPEAT = 3 };

/* Best time of a launch in ms */
template <class Launch> static float best_ms(Launch launch)
{
    cudaEvent_t from, to;
    float best = 1e9f, t;
    must(cudaEventCreate(&from), "event");
    must(cudaEventCreate(&to), "event");
    for (int i = 0; i < REPEAT; i++) {
        cudaEventRecord(from);
        launch();
        cudaEventRecord(to);
        must(cudaEventSynchronize(to), "kernel");
        cudaEventElapsedTime(&t, from, to);
        best = t < best ? t : best;
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return best;
}

/* Cycles of a scheduler for each of `count` warp operations, when all schedulers do the same number */
static double scheduler_cycles(float ms, double count)
{
    return ms * khz * sms * 4 / count;
}

/* ---- pipes ---- */

/* Eight independent chains of each instruction, unrolled; no operand is the same twice, so that nothing is hoisted. The
 * wide multiply-add reads registers a, b and the pair c; which bank (even or odd) its factor lies in shows what the
 * register file takes. */
enum pipe {
    WIDE_EVEN,
    WIDE_ODD,
    LOW,
    FMA,
    FMA_ONE,
    DADD,
    LOGIC,
    ADD64,
    FFMA,
    FMA_LOW,
    FMA_LOGIC,
    FMA_WIDE,
    FMA_FMA_WIDE,
    LOGIC_WIDE,
    PIPES
};
static const char *const pipe_name[PIPES] = {"wide multiply-add, even factor",
                                             "wide multiply-add, odd factor",
                                             "low multiply-add",
                                             "FP64 a b + c",
                                             "FP64 a b + 1",
                                             "FP64 add",
                                             "logic of three",
                                             "64-bit add of three",
                                             "FP32 a b + c, no operand shared",
                                             "FP64 + low multiply-add",
                                             "FP64 + logic",
                                             "FP64 + wide",
                                             "2 FP64 + wide",
                                             "logic + wide"};

template <int pipe> static __global__ void __launch_bounds__(THREADS) pipe_run(uint64_t *out, uint32_t seed)
{
    uint32_t t = threadIdx.x + seed, u[8];
    uint64_t w[8];
    float s[8];
    double f[8], g = __hiloint2double(0x3ff00000 | (int)(t & 0xffff), (int)t), h = g * 3;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        u[i] = t * (2 * i + 3);
        w[i] = (uint64_t)u[i] * u[i];
        f[i] = 1.0 + i * 0x1p-20;
        s[i] = (float)u[i];
    }
#pragma unroll 1
    for (int n = 0; n < PIPE_STEPS; n++)
#pragma unroll
        for (int x = 0; x < 16; x++)
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int j = (i + 1) & 7, k = (i + 2) & 7;
                if (pipe == WIDE_EVEN || pipe == FMA_WIDE || pipe == FMA_FMA_WIDE || pipe == LOGIC_WIDE)
                    asm volatile("mad.wide.u32 %0, %1, %2, %0;" : "+l"(w[i]) : "r"((uint32_t)w[j]), "r"(t));
                if (pipe == WIDE_ODD)
                    asm volatile("mad.wide.u32 %0, %1, %2, %0;" : "+l"(w[i]) : "r"((uint32_t)(w[j] >> 32)), "r"(t));
                if (pipe == LOW || pipe == FMA_LOW)
                    asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(u[i]) : "r"(t), "r"(seed));
                if (pipe == FMA)
                    asm volatile("fma.rz.f64 %0, %0, %1, %2;" : "+d"(f[i]) : "d"(g), "d"(h));
                if (pipe >= FMA_LOW && pipe <= FMA_FMA_WIDE || pipe == FMA_ONE)
                    asm volatile("fma.rz.f64 %0, %0, %1, 0d3ff0000000000000;" : "+d"(f[i]) : "d"(g));
                if (pipe == FMA_FMA_WIDE)
                    asm volatile("fma.rz.f64 %0, %0, %1, 0d3ff0000000000000;" : "+d"(f[i]) : "d"(g));
                if (pipe == DADD)
                    asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(f[i]) : "d"(g));
                if (pipe == LOGIC || pipe == FMA_LOGIC || pipe == LOGIC_WIDE)
                    asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(u[i]) : "r"(u[j]), "r"(u[k]));
                if (pipe == ADD64)
                    w[i] += w[j] + w[(i + 3) & 7];
                if (pipe == FFMA)
                    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(s[i]) : "f"(s[j]), "f"(s[k]));
            }
    uint64_t sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum += u[i] + w[i] + (uint64_t)__double_as_longlong(f[i]) + __float_as_uint(s[i]);
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

template <int pipe> static void pipes_from(uint64_t *out)
{
    int blocks = sms * 4;
    float ms = best_ms([&] { pipe_run<pipe><<<blocks, THREADS>>>(out, 7); });
    printf("%-36s %6.2f cycles\n", pipe_name[pipe], scheduler_cycles(ms, 128.0 * PIPE_STEPS * blocks * THREADS / 32));
    if constexpr (pipe + 1 < PIPES)
        pipes_from<pipe + 1>(out);
}

/* ---- products ---- */

template <class P> constexpr bool is_scalar = false;
template <> constexpr bool is_scalar<Bn254Fr> = true;
template <> constexpr bool is_scalar<Bls381Fr> = true;

enum way { ROWS, FP64, SPLIT, PAIR, TWO_ONE, THREE_ONE, WARPS, SHOUP, SQR_ROWS, SQR_FP64, SQR_PAIR, WAYS };
static const char *const way_name[WAYS] = {"integer rows",
                                           "FP64 limbs",
                                           "product FP64, reduction integer",
                                           "one integer, one FP64",
                                           "two integer, one FP64",
                                           "three integer, one FP64",
                                           "warps take turns",
                                           "constant with quotient",
                                           "squares: integer",
                                           "squares: FP64",
                                           "squares: one and one"};
/* products of each chain a step */
static __host__ __device__ constexpr int way_step(int way)
{
    return way == TWO_ONE ? 3 : way == THREE_ONE ? 2 : 1;
}

template <class P, bool fp64> static __device__ __forceinline__ void multiply(Fe<P> &x, const Fe<P> &k)
{
    Fe<P> r;
    if (fp64)
        field_mul_fp64<P>(r.l, k.l, x.l);
    else
        field_mul_rows(r, k, x);
    x = r;
}

template <class P, bool fp64> static __device__ __forceinline__ void square(Fe<P> &x)
{
    Fe<P> r;
    Wide<P> t;
    if (fp64) {
        field_sqr_fp64<P>(r.l, x.l);
    } else {
        wide_sqr(t, x);
        wide_reduce(r, t);
    }
    if (!P::mul_below_2p)
        field_canon(r, r);
    x = r;
}

template <class P> static __device__ __forceinline__ void multiply_split(Fe<P> &x, const Fe<P> &k)
{
    Wide<P> t;
    uint64_t c[2 * Limbs<P>::n];
    fp64_columns_mul<P>(c, k.l, x.l, 0);
    fp64_pack<2 * P::N, 2 * Limbs<P>::n>(t.l, c);
    wide_reduce(x, t);
}

/* Without quotients (the base fields): the rows */
template <class P, class K> static __device__ __forceinline__ void multiply_constant(Fe<P> &x, const K &k)
{
    Fe<P> r;
    if constexpr (is_scalar<P>)
        field_mul_shoup(r, x, k);
    else
        field_mul_rows(r, k.w, x);
    x = r;
}

template <class P, int way>
static __device__ __forceinline__ void step(Fe<P> &x, Fe<P> &y, const Fe<P> &k, const Shoup<P> &pair)
{
    if (way == SHOUP) {
        multiply_constant(x, pair);
        multiply_constant(y, pair);
    } else if (way == TWO_ONE) {
        multiply<P, false>(x, k);
        multiply<P, false>(y, k);
        multiply<P, false>(x, k);
        multiply<P, true>(y, k);
        multiply<P, true>(x, k);
        multiply<P, false>(y, k);
    } else if (way == THREE_ONE) {
        multiply<P, false>(x, k);
        multiply<P, false>(y, k);
        multiply<P, false>(x, k);
        multiply<P, true>(y, k);
    } else if (way == SPLIT) {
        multiply_split(x, k);
        multiply_split(y, k);
    } else if (way >= SQR_ROWS) {
        square<P, way == SQR_FP64>(x);
        square<P, way != SQR_ROWS>(y);
    } else {
        multiply<P, way == FP64>(x, k);
        multiply<P, way != ROWS>(y, k);
    }
}

/* Four factors: as residues, then as plain numbers with their quotients */
template <class P> static __global__ void operands_make(Shoup<P> *s)
{
    unsigned t = threadIdx.x;
    Fe<P> k;
    field_one(k);
    k.l[1] ^= 77 + t * 0x1234567;
    s[t].w = s[t].wq = s[4 + t].w = s[4 + t].wq = k;
    if constexpr (is_scalar<P>)
        shoup_of(s[4 + t], k);
}

template <class P, int way>
static __global__ void __launch_bounds__(THREADS, 4) chain(Fe<P> *out, const Shoup<P> *operands)
{
    unsigned t = blockIdx.x * THREADS + threadIdx.x;
    Fe<P> x, y, k = operands[t & 3].w;
    Shoup<P> pair = operands[4 + (t & 3)];
    field_one(x);
    x.l[0] ^= t;
    y = x;
    y.l[1] ^= 5;
    if (way != WARPS || threadIdx.x >> 5 & 1) {
#pragma unroll 1
        for (int i = 0; i < STEPS / way_step(way); i++)
            step<P, way == WARPS ? FP64 : way>(x, y, k, pair);
    } else {
#pragma unroll 1
        for (int i = 0; i < STEPS; i++)
            step<P, ROWS>(x, y, k, pair);
    }
    field_canon(x, x);
    field_canon(y, y);
    out[2 * t] = x;
    out[2 * t + 1] = y;
}

static double first[2];

template <class P, int way>
static void ways_from(const char *name, Fe<P> *out, const Shoup<P> *operands, Fe<P> *got, Fe<P> *want)
{
    size_t n = (size_t)sms * 4 * THREADS * 2;
    for (int per = 4; per >= 2; per -= 2) {
        int blocks = sms * per;
        float ms = best_ms([&] { chain<P, way><<<blocks, THREADS>>>(out, operands); });
        double products = 2.0 * STEPS * blocks * THREADS, cycles = scheduler_cycles(ms, products / 32);
        if (per == 4) {
            bool base = way == ROWS || way == SQR_ROWS;
            must(cudaMemcpy(base ? want : got, out, n * sizeof *out, cudaMemcpyDeviceToHost), "copy");
            bool right = base || memcmp(got, want, n * sizeof *out) == 0;
            wrong |= !right;
            printf("%-10s %-32s %s", name, way_name[way], right ? "right" : "WRONG");
        }
        if (way == ROWS || way == SQR_ROWS)
            first[per / 2 - 1] = cycles;
        printf("  %2d warps: %6.0f cycles %6.2fe9/s x%.2f", per * 4, cycles, products / ms * 1e-6,
               first[per / 2 - 1] / cycles);
    }
    cudaFuncAttributes a;
    must(cudaFuncGetAttributes(&a, (const void *)chain<P, way>), "attributes");
    printf("  %d registers%s\n", a.numRegs, a.localSizeBytes ? ", spills" : "");
    if constexpr (way + 1 < WAYS)
        ways_from<P, way + 1>(name, out, operands, got, want);
}

template <class P> static void ways(const char *name)
{
    size_t bytes = (size_t)sms * 4 * THREADS * 2 * sizeof(Fe<P>);
    Fe<P> *out, *got = (Fe<P> *)malloc(bytes), *want = (Fe<P> *)malloc(bytes);
    Shoup<P> *operands;
    must(cudaMalloc(&out, bytes), "memory");
    must(cudaMalloc(&operands, 8 * sizeof *operands), "memory");
    operands_make<P><<<1, 4>>>(operands);
    ways_from<P, 0>(name, out, operands, got, want);
    cudaFree(out);
    cudaFree(operands);
    free(got);
    free(want);
}

int main()
{
    int device = 0;
    cudaDeviceProp info;
    if (cudaGetDeviceProperties(&info, device)) {
        fprintf(stderr, "bench_gpu_field: no CUDA device\n");
        return 69;
    }
    sms = info.multiProcessorCount;
    must(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device), "clock");
    printf("%s, %d processors, %.3f GHz\n", info.name, sms, khz * 1e-6);
    uint64_t *out;
    must(cudaMalloc(&out, (size_t)sms * 4 * THREADS * sizeof *out), "memory");
    pipes_from<0>(out);
    cudaFree(out);
    ways<Bn254Fq>("BN254 Fq");
    ways<Bn254Fr>("BN254 Fr");
    ways<Bls381Fq>("BLS Fq");
    ways<Bls381Fr>("BLS Fr");
    return wrong;
}
