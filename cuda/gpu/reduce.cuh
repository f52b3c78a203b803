/* sum_b (b + 1) S_b over the buckets b of each set, on all SMs.
 *
 * 1. Segments: a thread folds `segment` neighbouring buckets by running sums into run = sum of S and sum = sum of
 *    (i + 1) S_i, i counted from the segment's start. Then the set is  sum_k sum_k + segment * sum_k k run_k.
 * 2. Planes: the weights k are split in bits, plane j = sum of the run_k with bit j of k set, the last plane = sum of
 * all sum_k: plain sums, each over many blocks, then over the blocks' parts. No long dependent chain as running sums of
 *    running sums would have.
 * The host adds the planes up: 2^j by doublings. */
#ifndef CUDA_GPU_REDUCE_CUH
#define CUDA_GPU_REDUCE_CUH

#include "cuda/gpu/block_sum.cuh"
#include "cuda/gpu/launched.h"

#include <cuda_runtime_api.h>

/* Elements per thread of a plane's block */
enum { PLANE_EACH = 4, PLANE_BLOCK = SUM_THREADS * PLANE_EACH };

/* Threads that fill the GPU with additions: two warps of a scheduler do where products are inlined. */
template <class F> struct ReduceThreads {
    static constexpr uint32_t N = 132 * 384;
};
template <class P> struct ReduceThreads<Fe<P>> {
    static constexpr uint32_t N = 132 * 256;
};

template <class F> static struct gpu_reduce_shape reduce_shape(uint32_t sets, uint32_t buckets)
{
    struct gpu_reduce_shape s;
    uint64_t all = (uint64_t)sets * buckets;
    s.segment = (uint32_t)((all + ReduceThreads<F>::N - 1) / ReduceThreads<F>::N);
    if (s.segment <= 2)
        s.segment = 1;
    s.segments = (buckets + s.segment - 1) / s.segment;
    s.planes = 1;
    for (uint32_t k = s.segments - 1; k; k >>= 1)
        s.planes++;
    return s;
}

static uint32_t plane_blocks(uint32_t segments)
{
    return (segments + PLANE_BLOCK - 1) / PLANE_BLOCK;
}

/* Inlined where the field's products are: called, an addition keeps both points in local memory. 2^19 buckets, H200,
 * all of the reduction: 0.60 ms instead of 0.78 (BN254 G1), 1.36 instead of 1.86 (BLS12-381 G1). */
template <class P> static __device__ __forceinline__ void reduce_add(Xyzz<Fe<P>> &acc, const Xyzz<Fe<P>> &p)
{
    xyzz_add_inline(acc, p);
}
template <class F> static __device__ __forceinline__ void reduce_add(Xyzz<F> &acc, const Xyzz<F> &p)
{
    xyzz_add(acc, p);
}

template <class F> static size_t reduce_scratch(uint32_t sets, uint32_t buckets)
{
    struct gpu_reduce_shape s = reduce_shape<F>(sets, buckets);
    size_t points = (size_t)sets * s.planes * plane_blocks(s.segments);
    if (s.segment > 1)
        points += 2 * (size_t)sets * s.segments;
    return points * sizeof(Xyzz<F>);
}

template <class F>
static __global__ void __launch_bounds__(128)
    reduce_segments(const Xyzz<F> *bucket, Xyzz<F> *run, Xyzz<F> *sum, uint32_t sets, uint32_t buckets,
                    uint32_t segment, uint32_t segments)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= sets * segments)
        return;
    uint32_t set = t / segments, k = t % segments, from = k * segment, to = min(from + segment, buckets);
    const Xyzz<F> *b = bucket + (size_t)set * buckets;
    Xyzz<F> r, s;
    xyzz_zero(s);
    xyzz_zero(r);
    for (uint32_t i = to; i-- > from;) {
        reduce_add(r, b[i]);
        reduce_add(s, r);
    }
    run[t] = r;
    sum[t] = s;
}

/* grid: blocks of a plane, planes, sets */
template <class F>
static __global__ void __launch_bounds__(SUM_THREADS)
    reduce_planes(const Xyzz<F> *run, const Xyzz<F> *sum, Xyzz<F> *part, uint32_t segments)
{
    uint32_t plane = blockIdx.y, set = blockIdx.z;
    bool all = plane + 1 == gridDim.y;
    const Xyzz<F> *from = (all ? sum : run) + (size_t)set * segments;
    Xyzz<F> acc;
    xyzz_zero(acc);
    for (uint32_t e = 0; e < PLANE_EACH; e++) {
        uint32_t i = (blockIdx.x * PLANE_EACH + e) * SUM_THREADS + threadIdx.x;
        /* the i-th number with bit `plane` set */
        uint32_t k = all ? i : (i >> plane) << (plane + 1) | 1u << plane | (i & ((1u << plane) - 1));
        if (k < segments)
            xyzz_add(acc, from[k]);
    }
    block_sum(acc);
    if (threadIdx.x == 0)
        part[((size_t)set * gridDim.y + plane) * gridDim.x + blockIdx.x] = acc;
}

/* grid: planes of all sets */
template <class F>
static __global__ void __launch_bounds__(SUM_THREADS) reduce_parts(const Xyzz<F> *part, Xyzz<F> *out, uint32_t blocks)
{
    Xyzz<F> acc;
    xyzz_zero(acc);
    for (uint32_t i = threadIdx.x; i < blocks; i += SUM_THREADS)
        xyzz_add(acc, part[(size_t)blockIdx.x * blocks + i]);
    block_sum(acc);
    if (threadIdx.x == 0)
        out[blockIdx.x] = acc;
}

template <class F> static int reduce_launch(gpu_stream stream, const struct gpu_reduce *r, void *parts)
{
    struct gpu_reduce_shape s = reduce_shape<F>(r->sets, r->buckets);
    uint32_t blocks = plane_blocks(s.segments);
    Xyzz<F> *part = (Xyzz<F> *)r->scratch, *run = part + (size_t)r->sets * s.planes * blocks;
    Xyzz<F> *sum = run + (size_t)r->sets * s.segments;
    const Xyzz<F> *bucket = (const Xyzz<F> *)r->bucket;
    if (s.segment > 1)
        reduce_segments<F><<<(r->sets * s.segments + 127) / 128, 128, 0, stream>>>(bucket, run, sum, r->sets,
                                                                                   r->buckets, s.segment, s.segments);
    int rc = gpu_launched("reduce_segments");
    if (rc)
        return rc;
    dim3 grid(blocks, s.planes, r->sets);
    reduce_planes<F><<<grid, SUM_THREADS, 0, stream>>>(s.segment > 1 ? run : bucket, s.segment > 1 ? sum : bucket, part,
                                                       s.segments);
    rc = gpu_launched("reduce_planes");
    if (rc)
        return rc;
    reduce_parts<F><<<r->sets * s.planes, SUM_THREADS, 0, stream>>>(part, (Xyzz<F> *)parts, blocks);
    return gpu_launched("reduce_parts");
}

/* Host: planes to the sum of a set, sets to the MSM. */
template <class F>
static void reduce_fold(void *out, const void *parts, uint32_t sets, uint32_t c, struct gpu_reduce_shape s)
{
    Xyzz<F> total;
    xyzz_zero(total);
    for (uint32_t set = sets; set-- > 0;) {
        const Xyzz<F> *p = (const Xyzz<F> *)parts + (size_t)set * s.planes;
        Xyzz<F> weighted, scaled;
        for (uint32_t i = 0; i < c; i++)
            xyzz_dbl(total, total);
        xyzz_zero(weighted);
        for (uint32_t j = s.planes - 1; j-- > 0;) {
            xyzz_dbl(weighted, weighted);
            xyzz_add(weighted, p[j]);
        }
        xyzz_zero(scaled);
        for (int bit = 31; bit >= 0; bit--) {
            xyzz_dbl(scaled, scaled);
            if (s.segment >> bit & 1)
                xyzz_add(scaled, weighted);
        }
        xyzz_add(total, scaled);
        xyzz_add(total, p[s.planes - 1]);
    }
    xyzz_normalize(*(Affine<F> *)out, total);
}

#endif
