/* Bucket sums from sorted entries.
 *
 * The list of entries is cut into one equal chunk per resident thread, whatever the buckets' sizes: every thread does
 * the same number of additions, so a skewed witness (one bucket with millions of entries) is no special case.
 *
 *   buckets   |  b0  | b1 |        b2 (huge)             |b3|
 *   chunks    |   t0    |    t1   |   t2    |    t3    |  t4   |
 *   slots       b0: bucket, b1 of t0: tail[t0], b1 of t1: head[t1], b2: tail[t1] head[t2] head[t3] head[t4], b3: bucket
 *
 * A bucket wholly inside a chunk is stored at once; of others each chunk leaves a part: `tail` where the bucket begins,
 * `head` where it goes on. merge adds tail[t] and the heads behind it; runs longer than MERGE_RUN go through units of
 * MERGE_UNIT heads, a block each. Included by the units of the groups.
 *
 * Affine additions that share inversions (5M + 1S, and 3M of them in Fq for G2) were tried, 2026-12-01 on an H200: a
 * thread had 8 to 32 chunks that moved on by one entry a round, denominators inverted over a block, then over the grid.
 * The last version took 13.7 ms where this takes 9.4 (BN254 G1, 2^22 scalars), 25.4 for 22.6 and 75 for 83 (BLS12-381
 * G1, 2^22 and 2^24), 68 for 73 (BLS12-381 G2, 2^22). Seen by ncu in one version or another: 410 bytes of DRAM and
 * 1,600 to 1,900 instructions of a warp an addition (BN254), wide multiply-adds at 50 to 64 % of their pipe (here 83 %
 * and more), 2 to 4 warps a scheduler; an inversion is 33,000 cycles (54,000 for 381 bits). */
#ifndef CUDA_GPU_ACCUMULATE_CUH
#define CUDA_GPU_ACCUMULATE_CUH

#include "cuda/gpu/block_sum.cuh"
#include "cuda/gpu/launched.h"

#include <cuda_runtime_api.h>

enum { MERGE_RUN = 12, MERGE_UNIT = 256, CHUNK_MIN = 4, CHUNK_NONE = -1 };

struct MergeRun {
    uint32_t bucket, thread, heads, unit;
};
struct MergeUnit {
    uint32_t head, heads;
};
struct MergeCount {
    uint32_t runs, units;
};

template <class F> struct AccumulateScratch {
    Xyzz<F> *head, *tail, *unit_sum;
    uint32_t *tail_bucket;
    MergeRun *run;
    MergeUnit *unit;
    MergeCount *count;
};

static uint32_t accumulate_max_runs(uint32_t threads)
{
    return threads / MERGE_RUN + 1;
}
static uint32_t accumulate_max_units(uint32_t threads)
{
    return threads / MERGE_UNIT + accumulate_max_runs(threads) + 1;
}

template <class F> static size_t accumulate_carve(AccumulateScratch<F> *s, void *base, uint32_t threads)
{
    char *p = (char *)base;
    s->head = (Xyzz<F> *)p;
    s->tail = s->head + threads;
    s->unit_sum = s->tail + threads;
    p = (char *)(s->unit_sum + accumulate_max_units(threads));
    s->run = (MergeRun *)p;
    s->unit = (MergeUnit *)(s->run + accumulate_max_runs(threads));
    s->tail_bucket = (uint32_t *)(s->unit + accumulate_max_units(threads));
    s->count = (MergeCount *)(s->tail_bucket + threads);
    return (size_t)((char *)(s->count + 1) - (char *)base);
}

static __device__ __forceinline__ uint32_t chunk_entries(uint32_t total, uint32_t threads)
{
    uint32_t c = (total + threads - 1) / threads;
    return c < CHUNK_MIN ? CHUNK_MIN : c;
}

/* The bucket of entry `pos`: the last one with offset[b] <= pos */
static __device__ __forceinline__ uint32_t bucket_of(const uint32_t *offset, uint32_t buckets, uint32_t pos)
{
    uint32_t lo = 0, hi = buckets;
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (offset[mid] <= pos)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static __device__ __forceinline__ void copy_async16(void *shared, const void *global)
{
    uint32_t s = (uint32_t)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(global) : "memory");
}
static __device__ __forceinline__ void copy_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int left> static __device__ __forceinline__ void copy_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

/* Points on their way: two stages in shared memory, each thread its own lane of 16-byte pieces (no bank conflicts, no
 * barrier): the gather's latency passes behind the addition of the point before. */
template <class F, int THREADS> struct Fetch {
    static constexpr int PIECES = sizeof(Affine<F>) / 16;
    uint4 piece[2][PIECES][THREADS];
};

template <class F, int THREADS>
static __device__ __forceinline__ void fetch_begin(Fetch<F, THREADS> &f, const struct gpu_accumulate &a, uint32_t entry,
                                                   uint32_t stage)
{
    uint32_t index = entry & ((1u << GPU_INDEX_BITS) - 1), multiple = entry >> GPU_INDEX_BITS & 31;
    if (index >= a.first && index < a.limit) {
        const Affine<F> *p = (const Affine<F> *)a.bases + (multiple * a.stride + (index - a.first));
#pragma unroll
        for (int i = 0; i < Fetch<F, THREADS>::PIECES; i++)
            copy_async16(&f.piece[stage][i][threadIdx.x], (const uint4 *)p + i);
    } else {
#pragma unroll
        for (int i = 0; i < Fetch<F, THREADS>::PIECES; i++)
            f.piece[stage][i][threadIdx.x] = make_uint4(0, 0, 0, 0);
    }
    copy_async_commit();
}

template <class F, int THREADS>
static __device__ __forceinline__ void fetch_end(Affine<F> &p, const Fetch<F, THREADS> &f, uint32_t stage)
{
    copy_async_wait<1>();
    uint32_t *w = (uint32_t *)&p;
#pragma unroll
    for (int i = 0; i < Fetch<F, THREADS>::PIECES; i++) {
        uint4 v = f.piece[stage][i][threadIdx.x];
        w[4 * i] = v.x, w[4 * i + 1] = v.y, w[4 * i + 2] = v.z, w[4 * i + 3] = v.w;
    }
}

/* The thread's place in the list of buckets */
struct Cursor {
    uint32_t bucket, end; /* end: first entry of a later bucket */
    bool started;         /* the bucket began in an earlier chunk */
};

template <class F>
static __device__ __forceinline__ void bucket_enter(const struct gpu_accumulate &a, Cursor &c, Xyzz<F> &acc,
                                                    bool &empty)
{
    empty = true;
    if (a.add && !c.started) {
        acc = ((const Xyzz<F> *)a.bucket)[c.bucket];
        empty = xyzz_is_infinity(acc);
    }
}

template <class F>
static __device__ __forceinline__ void bucket_leave(const struct gpu_accumulate &a, const AccumulateScratch<F> &s,
                                                    const Cursor &c, Xyzz<F> &acc, bool empty, uint32_t t, bool whole)
{
    if (empty)
        xyzz_zero(acc);
    Xyzz<F> *to = c.started ? s.head + t : whole ? (Xyzz<F> *)a.bucket + c.bucket : s.tail + t;
    *to = acc;
    if (!c.started && !whole)
        s.tail_bucket[t] = c.bucket;
}

template <class F, int THREADS, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    accumulate(struct gpu_accumulate a, AccumulateScratch<F> s, uint32_t threads)
{
    __shared__ Fetch<F, THREADS> fetch;
    uint32_t t = blockIdx.x * THREADS + threadIdx.x, total = a.offset[a.buckets];
    uint32_t chunk = chunk_entries(total, threads), pos = t * chunk, end = min(pos + chunk, total);
    s.tail_bucket[t] = (uint32_t)CHUNK_NONE;
    if (pos >= total)
        return;
    Cursor c;
    c.bucket = bucket_of(a.offset, a.buckets, pos);
    c.end = a.offset[c.bucket + 1];
    c.started = a.offset[c.bucket] < pos;
    Xyzz<F> acc;
    bool empty;
    bucket_enter(a, c, acc, empty);

    uint32_t last = end - 1, entry = a.entries[pos], next = a.entries[min(pos + 1, last)];
    fetch_begin<F, THREADS>(fetch, a, entry, 0);
    fetch_begin<F, THREADS>(fetch, a, next, 1);
    for (uint32_t stage = 0; pos < end; pos++, stage ^= 1) {
        uint32_t after = a.entries[min(pos + 2, last)];
        if (pos == c.end) {
            bucket_leave(a, s, c, acc, empty, t, true);
            do {
                c.bucket++;
                c.end = a.offset[c.bucket + 1];
            } while (c.end == pos);
            c.started = false;
            bucket_enter(a, c, acc, empty);
        }
        Affine<F> p;
        fetch_end<F, THREADS>(p, fetch, stage);
        fetch_begin<F, THREADS>(fetch, a, after, stage);
        bool skip = affine_is_infinity(p);
        affine_neg_if(p, entry >> 31);
        entry = next;
        next = after;
        if (skip)
            continue;
        if (empty) {
            acc.x = p.x;
            acc.y = p.y;
            field_one(acc.zz);
            field_one(acc.zzz);
            empty = false;
        } else if (!xyzz_madd(acc, p)) {
            empty = true;
        }
    }
    copy_async_wait<0>();
    bucket_leave(a, s, c, acc, empty, t, c.end == end);
}

template <class F>
static __global__ void __launch_bounds__(128)
    merge_runs(struct gpu_accumulate a, AccumulateScratch<F> s, uint32_t threads)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads || s.tail_bucket[t] == (uint32_t)CHUNK_NONE)
        return;
    uint32_t chunk = chunk_entries(a.offset[a.buckets], threads), b = s.tail_bucket[t];
    uint32_t heads = (a.offset[b + 1] - 1) / chunk - t;
    if (heads <= MERGE_RUN) {
        Xyzz<F> acc = s.tail[t];
        for (uint32_t k = 1; k <= heads; k++)
            xyzz_add(acc, s.head[t + k]);
        ((Xyzz<F> *)a.bucket)[b] = acc;
        return;
    }
    uint32_t units = (heads + MERGE_UNIT - 1) / MERGE_UNIT, unit = atomicAdd(&s.count->units, units);
    s.run[atomicAdd(&s.count->runs, 1)] = MergeRun{b, t, heads, unit};
    for (uint32_t k = 0; k < units; k++)
        s.unit[unit + k] = MergeUnit{t + 1 + k * MERGE_UNIT, min(heads - k * MERGE_UNIT, (uint32_t)MERGE_UNIT)};
}

template <class F> static __global__ void __launch_bounds__(SUM_THREADS) merge_units(AccumulateScratch<F> s)
{
    for (uint32_t u = blockIdx.x; u < s.count->units; u += gridDim.x) {
        Xyzz<F> acc;
        xyzz_zero(acc);
        for (uint32_t k = threadIdx.x; k < s.unit[u].heads; k += SUM_THREADS)
            xyzz_add(acc, s.head[s.unit[u].head + k]);
        block_sum(acc);
        if (threadIdx.x == 0)
            s.unit_sum[u] = acc;
    }
}

template <class F>
static __global__ void __launch_bounds__(SUM_THREADS) merge_long(struct gpu_accumulate a, AccumulateScratch<F> s)
{
    for (uint32_t r = blockIdx.x; r < s.count->runs; r += gridDim.x) {
        MergeRun run = s.run[r];
        Xyzz<F> acc;
        xyzz_zero(acc);
        for (uint32_t k = threadIdx.x; k < (run.heads + MERGE_UNIT - 1) / MERGE_UNIT; k += SUM_THREADS)
            xyzz_add(acc, s.unit_sum[run.unit + k]);
        if (threadIdx.x == 0)
            xyzz_add(acc, s.tail[run.thread]);
        block_sum(acc);
        if (threadIdx.x == 0)
            ((Xyzz<F> *)a.bucket)[run.bucket] = acc;
    }
}

/* One wave of blocks: as many as fit on the device at once. */
template <class F, int THREADS, int BLOCKS> static uint32_t accumulate_blocks()
{
    static int blocks;
    if (!blocks) {
        int device = 0, sms = 0, each = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, accumulate<F, THREADS, BLOCKS>, THREADS, 0);
        blocks = sms * (each > 0 ? each : 1);
    }
    return (uint32_t)blocks;
}

template <class F, int THREADS, int BLOCKS> static size_t accumulate_scratch()
{
    AccumulateScratch<F> s;
    return accumulate_carve(&s, nullptr, accumulate_blocks<F, THREADS, BLOCKS>() * THREADS);
}

template <class F, int THREADS, int BLOCKS>
static int accumulate_launch(gpu_stream stream, const struct gpu_accumulate *a)
{
    uint32_t blocks = accumulate_blocks<F, THREADS, BLOCKS>(), threads = blocks * THREADS;
    AccumulateScratch<F> s;
    accumulate_carve(&s, a->scratch, threads);
    cudaError_t rc = cudaMemsetAsync(s.count, 0, sizeof *s.count, stream);
    if (rc)
        return (int)rc;
    accumulate<F, THREADS, BLOCKS><<<blocks, THREADS, 0, stream>>>(*a, s, threads);
    int err = gpu_launched("accumulate");
    if (err)
        return err;
    using Cold = typename ColdOf<F>::Type;
    AccumulateScratch<Cold> c;
    accumulate_carve(&c, a->scratch, threads);
    merge_runs<Cold><<<(threads + 127) / 128, 128, 0, stream>>>(*a, c, threads);
    err = gpu_launched("merge_runs");
    if (err)
        return err;
    merge_units<Cold><<<256, SUM_THREADS, 0, stream>>>(c);
    err = gpu_launched("merge_units");
    if (err)
        return err;
    merge_long<Cold><<<64, SUM_THREADS, 0, stream>>>(*a, c);
    return gpu_launched("merge_long");
}

#endif
