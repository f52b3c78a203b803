/* From scalars to entries sorted by bucket: count, scan, scatter. Zero digits give no entry, so zeros cost nothing,
 * ones one entry, short scalars few: the witness needs no classes of its own.
 *
 * The counting pass keeps each entry's rank in its bucket, so that only one of the two passes pays for atomics; lanes
 * of a warp that hit the same bucket (skewed witnesses) share one atomic. */
#include "cuda/gpu/digits.cuh"
#include "cuda/gpu/launch.h"
#include "cuda/gpu/launched.h"

#include <cuda_runtime_api.h>

enum { SCATTER_BUCKETS = 1 << 18 };
static const uint32_t ENTRY_NONE = 0xffffffffu;

static __device__ __forceinline__ void scalar_load(uint32_t *s, const void *scalars, uint32_t i, uint32_t n)
{
    uint4 a = make_uint4(0, 0, 0, 0), b = a;
    if (i < n) {
        a = __ldcs((const uint4 *)scalars + 2 * (size_t)i);
        b = __ldcs((const uint4 *)scalars + 2 * (size_t)i + 1);
    }
    s[0] = a.x, s[1] = a.y, s[2] = a.z, s[3] = a.w;
    s[4] = b.x, s[5] = b.y, s[6] = b.z, s[7] = b.w;
}

/* One atomic for all lanes with the same key; the lane's own place among them. */
static __device__ __forceinline__ uint32_t place_take(uint32_t *count, uint32_t key)
{
    uint32_t lane = threadIdx.x & 31, same = __match_any_sync(0xffffffffu, key);
    uint32_t leader = __ffs((int)same) - 1, base = 0;
    if (lane == leader && key != ENTRY_NONE)
        base = atomicAdd(count + key, __popc(same));
    base = __shfl_sync(0xffffffffu, base, (int)leader);
    return base + __popc(same & ((1u << lane) - 1));
}

static __global__ void __launch_bounds__(256) digits_count(struct gpu_digits a, uint32_t *count, uint32_t *rank)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, s[8];
    scalar_load(s, a.scalars, i, a.n);
    Digits d;
    digits_begin(d, s, a.r);
    uint32_t half = 1u << (a.c - 1), set = 0;
    for (uint32_t j = 0; j < a.windows; j++) {
        bool negative;
        uint32_t v = digits_next(d, a.c, negative);
        uint32_t place = place_take(count, v ? set * half + v - 1 : ENTRY_NONE);
        if (v)
            __stcs(rank + (size_t)j * a.n + i, place);
        set = set + 1 == a.sets ? 0 : set + 1;
    }
}

static __global__ void __launch_bounds__(256)
    digits_scatter(struct gpu_digits a, const uint32_t *offset, const uint32_t *rank, uint32_t *entries,
                   uint32_t per_phase)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, s[8];
    /* phase y writes the buckets [from, to) */
    uint32_t from = blockIdx.y * per_phase, to = from + per_phase;
    if (i >= a.n)
        return;
    scalar_load(s, a.scalars, i, a.n);
    Digits d;
    digits_begin(d, s, a.r);
    uint32_t half = 1u << (a.c - 1), set = 0, multiple = 0;
    for (uint32_t j = 0; j < a.windows; j++) {
        bool negative;
        uint32_t v = digits_next(d, a.c, negative), key = set * half + v - 1;
        if (v && key >= from && key < to)
            entries[offset[key] + __ldcs(rank + (size_t)j * a.n + i)] =
                i | multiple << GPU_INDEX_BITS | (uint32_t)negative << 31;
        if (++set == a.sets) {
            set = 0;
            multiple++;
        }
    }
}

int gpu_digits_count(gpu_stream s, const struct gpu_digits *d, uint32_t *count, uint32_t *rank)
{
    digits_count<<<(d->n + 255) / 256, 256, 0, s>>>(*d, count, rank);
    return gpu_launched("digits_count");
}

int gpu_digits_scatter(gpu_stream s, const struct gpu_digits *d, const uint32_t *offset, const uint32_t *rank,
                       uint32_t *entries)
{
    /* Each bucket under construction keeps a 32-byte sector open in the L2 cache, and the fewer are open the faster
     * entries reach theirs: so bucket ranges go one after another, though each reads scalars and ranks again. Ranges of
     * 2^19 / 2^18 / 2^17 buckets, 2^20, 2^22 and 2^24 BN254 scalars on an H200, 2^19 to 2^21 buckets, ms:
     * 0.46 2.5 10.0 / 0.36 1.6 8.0 / 0.36 1.5 9.1. */
    uint32_t buckets = d->sets << (d->c - 1), phases = (buckets + SCATTER_BUCKETS - 1) / SCATTER_BUCKETS;
    dim3 grid((d->n + 255) / 256, phases);
    digits_scatter<<<grid, 256, 0, s>>>(*d, offset, rank, entries, (buckets + phases - 1) / phases);
    return gpu_launched("digits_scatter");
}

/* Exclusive scan: sums of blocks of SCAN_BLOCK counts, their scan by one block, then each block again. */
enum { SCAN_THREADS = 512, SCAN_EACH = 8, SCAN_BLOCK = SCAN_THREADS * SCAN_EACH };

static __device__ uint32_t block_scan(uint32_t v, uint32_t *total)
{
    __shared__ uint32_t warps[32];
    uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x = v;
    for (int d = 1; d < 32; d <<= 1) {
        uint32_t y = __shfl_up_sync(0xffffffffu, x, d);
        if (lane >= d)
            x += y;
    }
    if (lane == 31)
        warps[warp] = x;
    __syncthreads();
    if (warp == 0) {
        uint32_t w = lane < blockDim.x / 32 ? warps[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            uint32_t y = __shfl_up_sync(0xffffffffu, w, d);
            if (lane >= d)
                w += y;
        }
        warps[lane] = w;
    }
    __syncthreads();
    *total = warps[blockDim.x / 32 - 1];
    uint32_t before = warp ? warps[warp - 1] : 0;
    __syncthreads();
    return before + x - v;
}

static __global__ void scan_sums(const uint32_t *count, size_t n, uint32_t *sums)
{
    size_t at = (size_t)blockIdx.x * SCAN_BLOCK;
    uint32_t v = 0, total;
    for (int i = 0; i < SCAN_EACH; i++) {
        size_t k = at + i * SCAN_THREADS + threadIdx.x;
        v += k < n ? count[k] : 0;
    }
    block_scan(v, &total);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}

static __global__ void scan_top(uint32_t *sums, uint32_t blocks)
{
    uint32_t carry = 0;
    for (uint32_t at = 0; at < blocks; at += SCAN_THREADS) {
        uint32_t k = at + threadIdx.x, v = k < blocks ? sums[k] : 0, total;
        uint32_t x = block_scan(v, &total);
        if (k < blocks)
            sums[k] = carry + x;
        carry += total;
    }
}

static __global__ void scan_apply(const uint32_t *count, uint32_t *offset, size_t n, const uint32_t *sums)
{
    size_t at = (size_t)blockIdx.x * SCAN_BLOCK;
    uint32_t carry = sums[blockIdx.x];
    for (int i = 0; i < SCAN_EACH; i++) {
        size_t k = at + i * SCAN_THREADS + threadIdx.x;
        uint32_t v = k < n ? count[k] : 0, total;
        uint32_t x = carry + block_scan(v, &total);
        if (k <= n)
            offset[k] = x;
        carry += total;
    }
}

size_t gpu_scan_scratch(size_t n)
{
    return n / SCAN_BLOCK + 1;
}

int gpu_scan(gpu_stream s, const uint32_t *count, uint32_t *offset, size_t n, uint32_t *sums)
{
    uint32_t blocks = (uint32_t)gpu_scan_scratch(n); /* covers offset[n] too */
    scan_sums<<<blocks, SCAN_THREADS, 0, s>>>(count, n, sums);
    int rc = gpu_launched("scan_sums");
    if (rc)
        return rc;
    scan_top<<<1, SCAN_THREADS, 0, s>>>(sums, blocks);
    rc = gpu_launched("scan_top");
    if (rc)
        return rc;
    scan_apply<<<blocks, SCAN_THREADS, 0, s>>>(count, offset, n, sums);
    return gpu_launched("scan_apply");
}

/* Selected bases: bit i of the words is base i; bits at and above n are ignored. */
static __device__ __forceinline__ uint64_t bits_word(const uint64_t *bits, size_t n, size_t w)
{
    uint64_t v = bits[w];
    return n - w * 64 < 64 ? v & (((uint64_t)1 << (n - w * 64)) - 1) : v;
}

static __global__ void bits_count(const uint64_t *bits, size_t n, uint32_t *count)
{
    size_t w = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (w * 64 < n)
        count[w] = __popcll(bits_word(bits, n, w));
}

static __global__ void bits_entries(const uint64_t *bits, size_t n, const uint32_t *offset, uint32_t *entries)
{
    size_t w = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (w * 64 >= n)
        return;
    uint32_t at = offset[w];
    for (uint64_t v = bits_word(bits, n, w); v; v &= v - 1)
        entries[at++] = (uint32_t)(w * 64 + __ffsll((long long)v) - 1);
}

int gpu_bits_count(gpu_stream s, const uint64_t *bits, size_t n, uint32_t *count)
{
    bits_count<<<(unsigned)((n / 64 + 256) / 256), 256, 0, s>>>(bits, n, count);
    return gpu_launched("bits_count");
}

int gpu_bits_entries(gpu_stream s, const uint64_t *bits, size_t n, const uint32_t *offset, uint32_t *entries)
{
    bits_entries<<<(unsigned)((n / 64 + 256) / 256), 256, 0, s>>>(bits, n, offset, entries);
    return gpu_launched("bits_entries");
}
