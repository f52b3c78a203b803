/* One pass of a number-theoretic transform: S = bits consecutive bits of the index, for a tile of rows in shared
 * memory.
 *
 * Index of an element:   | high | row: S bits | low: low_bits |      a tile has all 2^S rows of 4 neighbouring
 * elements: low_bits >= 2: 4 columns  |  low_bits 1: 2 columns x 2 groups  |  low_bits 0: 4 groups of contiguous rows
 *
 * DIF (natural to bit-reversed) transforms the rows, then multiplies row rho (frequency k = rev(rho)) of column `low`
 * by w^(low k), w of order 2^(low_bits + S); passes run from the top bits down. DIT (bit-reversed to natural) does the
 * reverse. Inside a pass: groups of up to three bits, eight elements per thread in registers, shared memory between
 * groups. The 8-point cores need 5 products, the factors between groups 7 of 8 elements. Values stay below 2p.
 * (Bailey, "FFTs in external or hierarchical memory", 1990; Gentleman and Sande, Cooley and Tukey for the cores.) */
#ifndef CUDA_GPU_NTT_CUH
#define CUDA_GPU_NTT_CUH

#include "cuda/gpu/launch.h"
#include "cuda/gpu/shoup.cuh"

#include <cuda_runtime_api.h>

#include "cuda/gpu/launched.h"

enum { NTT_TILE_BITS = 2, NTT_MAX_BITS = 10, NTT_MAX_THREADS = 1 << (NTT_MAX_BITS + NTT_TILE_BITS - 3) };

template <class P> static __device__ __forceinline__ Fe<P> fr_load(const void *at, size_t i)
{
    Fe<P> r;
    uint4 a = ((const uint4 *)at)[2 * i], b = ((const uint4 *)at)[2 * i + 1];
    r.l[0] = a.x, r.l[1] = a.y, r.l[2] = a.z, r.l[3] = a.w;
    r.l[4] = b.x, r.l[5] = b.y, r.l[6] = b.z, r.l[7] = b.w;
    return r;
}

template <class P> static __device__ __forceinline__ Fe<P> fr_table(const struct gpu_fr *at, size_t i)
{
    Fe<P> r;
    uint4 a = __ldg((const uint4 *)at + 2 * i), b = __ldg((const uint4 *)at + 2 * i + 1);
    r.l[0] = a.x, r.l[1] = a.y, r.l[2] = a.z, r.l[3] = a.w;
    r.l[4] = b.x, r.l[5] = b.y, r.l[6] = b.z, r.l[7] = b.w;
    return r;
}

template <class P> static __device__ __forceinline__ void fr_store(void *at, size_t i, const Fe<P> &r)
{
    ((uint4 *)at)[2 * i] = make_uint4(r.l[0], r.l[1], r.l[2], r.l[3]);
    ((uint4 *)at)[2 * i + 1] = make_uint4(r.l[4], r.l[5], r.l[6], r.l[7]);
}

/* Shared memory in two planes of 16 bytes; the exclusive-or keeps strides of 8 and 64 elements free of bank conflicts.
 */
struct Tile {
    uint4 *plane;
    uint32_t elements;
};
static __device__ __forceinline__ uint32_t tile_slot(uint32_t f)
{
    return f ^ ((f >> 3 ^ f >> 6) & 7);
}
template <class P> static __device__ __forceinline__ void tile_put(const Tile &t, uint32_t f, const Fe<P> &v)
{
    uint32_t s = tile_slot(f);
    t.plane[s] = make_uint4(v.l[0], v.l[1], v.l[2], v.l[3]);
    t.plane[t.elements + s] = make_uint4(v.l[4], v.l[5], v.l[6], v.l[7]);
}
template <class P> static __device__ __forceinline__ void tile_get(Fe<P> &v, const Tile &t, uint32_t f)
{
    uint32_t s = tile_slot(f);
    uint4 a = t.plane[s], b = t.plane[t.elements + s];
    v.l[0] = a.x, v.l[1] = a.y, v.l[2] = a.z, v.l[3] = a.w;
    v.l[4] = b.x, v.l[5] = b.y, v.l[6] = b.z, v.l[7] = b.w;
}

static HD uint32_t bits_reverse(uint32_t v, uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return bits ? __brev(v) >> (32 - bits) : 0;
#else
    uint32_t r = 0;
    for (uint32_t i = 0; i < bits; i++)
        r |= (v >> i & 1) << (bits - 1 - i);
    return r;
#endif
}

template <class P> static __device__ __forceinline__ void butterfly(Fe<P> &a, Fe<P> &b)
{
    Fe<P> t;
    field_sub(t, a, b);
    field_add(a, a, b);
    b = t;
}

/* x *= factor, factor below p */
template <class P> static __device__ __forceinline__ void scale(Fe<P> &x, const Fe<P> &factor)
{
    Fe<P> t;
    field_mul(t, factor, x);
    x = t;
}

/* x *= factor i of a table */
template <class P> static __device__ __forceinline__ void turn(Fe<P> &x, const struct gpu_factor *table, size_t i)
{
    Shoup<P> s;
    Fe<P> t;
    s.w = fr_table<P>(&table->w, 2 * i);
    s.wq = fr_table<P>(&table->w, 2 * i + 1);
    field_mul_shoup(t, x, s);
    x = t;
}

/* 2^g-point transforms of v[0..7], natural in, bit-reversed out: g = 3 one, 2 two, 1 four */
template <class P>
static __device__ __forceinline__ void core_dif(Fe<P> (&v)[8], uint32_t g, const struct gpu_factor *local,
                                                uint32_t one_eighth)
{
    if (g == 3) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            butterfly(v[k], v[k + 4]);
        turn(v[5], local, one_eighth);
        turn(v[6], local, 2 * one_eighth);
        turn(v[7], local, 3 * one_eighth);
    }
    if (g >= 2) {
#pragma unroll
        for (int h = 0; h < 8; h += 4) {
            butterfly(v[h], v[h + 2]);
            butterfly(v[h + 1], v[h + 3]);
            turn(v[h + 3], local, 2 * one_eighth);
        }
    }
#pragma unroll
    for (int h = 0; h < 8; h += 2)
        butterfly(v[h], v[h + 1]);
}

/* The same, bit-reversed in, natural out */
template <class P>
static __device__ __forceinline__ void core_dit(Fe<P> (&v)[8], uint32_t g, const struct gpu_factor *local,
                                                uint32_t one_eighth)
{
#pragma unroll
    for (int h = 0; h < 8; h += 2)
        butterfly(v[h], v[h + 1]);
    if (g >= 2) {
#pragma unroll
        for (int h = 0; h < 8; h += 4) {
            turn(v[h + 3], local, 2 * one_eighth);
            butterfly(v[h], v[h + 2]);
            butterfly(v[h + 1], v[h + 3]);
        }
    }
    if (g == 3) {
        turn(v[5], local, one_eighth);
        turn(v[6], local, 2 * one_eighth);
        turn(v[7], local, 3 * one_eighth);
#pragma unroll
        for (int k = 0; k < 4; k++)
            butterfly(v[k], v[k + 4]);
    }
}

/* Where the thread's eight elements of a group lie in the tile: butterfly `id` of 2^g elements at `step` apart. */
struct Place {
    uint32_t g, distance_bits; /* the group transforms rows at distance 2^distance_bits .. */
    uint32_t column_bits, id, ids;
};
static __device__ __forceinline__ uint32_t place_at(const Place &p, uint32_t e)
{
    uint32_t fly = p.id + (e >> p.g) * p.ids, k = e & ((1u << p.g) - 1), d = p.distance_bits + p.column_bits;
    return fly >> d << (d + p.g) | k << d | (fly & ((1u << d) - 1));
}

/* Factors between groups: row j0 + k D, k = 0 .. 2^g - 1, times w_(2^g D)^(j0 rev(k)), D > 1 */
template <class P>
static __device__ __forceinline__ void group_factors(Fe<P> (&v)[8], const Place &p, const struct gpu_factor *local,
                                                     uint32_t local_bits)
{
    if (p.distance_bits == 0)
        return;
#pragma unroll
    for (uint32_t e = 1; e < 8; e++) {
        uint32_t k = bits_reverse(e & ((1u << p.g) - 1), p.g);
        uint32_t j0 = place_at(p, e) >> p.column_bits & ((1u << p.distance_bits) - 1);
        if (k)
            turn(v[e], local, j0 * k << (local_bits - p.g - p.distance_bits));
    }
}

/* Address of tile element f in the data */
struct Layout {
    uint32_t column_bits, bits, low_bits;
    size_t base;  /* of the tile's first element */
    uint32_t low; /* low part of column 0 */
};
static __device__ __forceinline__ size_t layout_at(const Layout &l, uint32_t f)
{
    uint32_t column = f & ((1u << l.column_bits) - 1), row = f >> l.column_bits & ((1u << l.bits) - 1);
    size_t group = f >> (l.column_bits + l.bits);
    return l.base + (((group << l.bits) + row) << l.low_bits) + column;
}
static __device__ __forceinline__ Layout layout_of(const struct gpu_ntt_pass &p, uint32_t tile, uint32_t tile_bits)
{
    Layout l;
    l.column_bits = min(p.low_bits, (unsigned)NTT_TILE_BITS);
    l.bits = p.bits;
    l.low_bits = p.low_bits;
    uint32_t group_bits = tile_bits - l.column_bits - p.bits, low_tiles = p.low_bits - l.column_bits;
    l.low = (tile & ((1u << low_tiles) - 1)) << l.column_bits;
    l.base = ((size_t)(tile >> low_tiles) << (group_bits + p.bits + p.low_bits)) + l.low;
    return l;
}

/* The factor w^(low k) between passes */
template <class P>
static __device__ __forceinline__ void pass_factor(Fe<P> &x, const struct gpu_ntt_pass &p,
                                                   const struct gpu_ntt_tables &t, const Layout &l, uint32_t f,
                                                   bool scaled)
{
    uint32_t column = f & ((1u << l.column_bits) - 1), row = f >> l.column_bits & ((1u << l.bits) - 1);
    uint32_t span = p.low_bits + p.bits, e = (l.low + column) * bits_reverse(row, p.bits);
    if (!scaled && span <= t.near_bits) {
        turn(x, t.near, (size_t)e << (t.near_bits - span));
        return;
    }
    e <<= p.log_n - span;
    turn(x, t.low, e & ((1u << NTT_LOW_BITS) - 1));
    turn(x, scaled ? t.scaled : t.high, e >> NTT_LOW_BITS);
}

template <class P>
static __device__ __forceinline__ void power_factor(Fe<P> &x, const struct gpu_ntt_powers &w, uint32_t e)
{
    turn(x, w.low, e & ((1u << NTT_LOW_BITS) - 1));
    turn(x, w.high, e >> NTT_LOW_BITS);
}

template <class P, enum gpu_ntt_kind kind>
static __device__ __forceinline__ void element_load(Fe<P> &x, const struct gpu_ntt_pass &p, const struct gpu_fr *data,
                                                    const Layout &l, uint32_t f)
{
    size_t at = layout_at(l, f);
    x = fr_load<P>(data, at);
    if (p.before.low)
        power_factor(x, p.before, p.powers_reversed ? bits_reverse((uint32_t)at, p.log_n) : (uint32_t)at);
    if (kind == GPU_NTT_DIT && p.low_bits)
        pass_factor(x, p, p.tables, l, f, false);
}

template <class P, enum gpu_ntt_kind kind>
static __device__ __forceinline__ void element_store(Fe<P> &x, const struct gpu_ntt_pass &p, struct gpu_fr *data,
                                                     const Layout &l, uint32_t f)
{
    size_t at = layout_at(l, f);
    if (kind == GPU_NTT_DIF && p.low_bits)
        pass_factor(x, p, p.tables, l, f, p.scale);
    if (kind != GPU_NTT_BOTH && p.after.low)
        power_factor(x, p.after, p.powers_reversed ? bits_reverse((uint32_t)at, p.log_n) : (uint32_t)at);
    if (p.has_constant)
        scale(x, fr_load<P>(&p.constant, 0));
    field_canon(x, x);
    fr_store(data, at, x);
}

/* The groups of a pass: top rows first, the last group has distance 1. */
template <class P, enum gpu_ntt_kind kind>
static __device__ __forceinline__ void rows_dif(const struct gpu_ntt_pass &p, struct gpu_fr *data, const Layout &l,
                                                const Tile &tile, uint32_t local_bits)
{
    Fe<P> v[8];
    uint32_t left = p.bits;
    Place place = {0, 0, l.column_bits, threadIdx.x, blockDim.x};
    for (bool first = true; left; first = false) {
        place.g = min(left, 3u);
        left -= place.g;
        place.distance_bits = left;
        if (!first)
            __syncthreads();
#pragma unroll
        for (uint32_t e = 0; e < 8; e++) {
            uint32_t f = place_at(place, e);
            if (first)
                element_load<P, kind>(v[e], p, data, l, f);
            else
                tile_get(v[e], tile, f);
        }
        core_dif(v, place.g, p.tables.local, 1u << (local_bits - 3));
        group_factors(v, place, p.tables.local, local_bits);
#pragma unroll
        for (uint32_t e = 0; e < 8; e++)
            tile_put(tile, place_at(place, e), v[e]);
    }
    __syncthreads();
}

/* The reverse: distance 1 first. */
template <class P, enum gpu_ntt_kind kind>
static __device__ __forceinline__ void rows_dit(const struct gpu_ntt_pass &p, const struct gpu_ntt_tables &tables,
                                                struct gpu_fr *data, const Layout &l, const Tile &tile,
                                                uint32_t local_bits)
{
    Fe<P> v[8];
    Place place = {p.bits % 3 ? p.bits % 3 : 3, 0, l.column_bits, threadIdx.x, blockDim.x};
    constexpr bool load = kind == GPU_NTT_DIT; /* else the tile is there */
    for (uint32_t done = 0; done < p.bits; done += place.g, place.g = 3) {
        place.distance_bits = done;
        if (!load || done)
            __syncthreads();
#pragma unroll
        for (uint32_t e = 0; e < 8; e++) {
            uint32_t f = place_at(place, e);
            if (load && !done)
                element_load<P, kind>(v[e], p, data, l, f);
            else
                tile_get(v[e], tile, f);
        }
        group_factors(v, place, tables.local, local_bits);
        core_dit(v, place.g, tables.local, 1u << (local_bits - 3));
#pragma unroll
        for (uint32_t e = 0; e < 8; e++)
            tile_put(tile, place_at(place, e), v[e]);
    }
    __syncthreads();
}

template <class P, enum gpu_ntt_kind kind>
static __global__ void __launch_bounds__(NTT_MAX_THREADS) ntt_pass(struct gpu_ntt_pass p, uint32_t tile_bits)
{
    extern __shared__ uint4 shared[];
    Tile tile = {shared, 1u << tile_bits};
    Layout l = layout_of(p, blockIdx.x, tile_bits);
    struct gpu_fr *data = p.data + ((size_t)blockIdx.y << p.log_n);
    uint32_t local_bits = min(p.log_n, (unsigned)NTT_LOCAL_BITS);
    if (kind != GPU_NTT_DIT)
        rows_dif<P, kind>(p, data, l, tile, local_bits);
    if (kind == GPU_NTT_BOTH) {
#pragma unroll 1
        for (uint32_t e = 0; e < 8; e++) {
            uint32_t f = e * blockDim.x + threadIdx.x;
            Fe<P> x;
            tile_get(x, tile, f);
            power_factor(x, p.after, bits_reverse((uint32_t)layout_at(l, f), p.log_n));
            tile_put(tile, f, x);
        }
        rows_dit<P, kind>(p, p.second, data, l, tile, local_bits);
    }
    if (kind == GPU_NTT_DIT)
        rows_dit<P, kind>(p, p.tables, data, l, tile, local_bits);
#pragma unroll 1
    for (uint32_t e = 0; e < 8; e++) {
        uint32_t f = e * blockDim.x + threadIdx.x;
        Fe<P> x;
        tile_get(x, tile, f);
        element_store<P, kind>(x, p, data, l, f);
    }
}

template <class P> static int ntt_pass_launch(gpu_stream s, const struct gpu_ntt_pass *p)
{
    uint32_t tile_bits = p->bits + NTT_TILE_BITS < p->log_n ? p->bits + NTT_TILE_BITS : p->log_n;
    size_t shared = (size_t)32 << tile_bits;
    void (*kernel)(struct gpu_ntt_pass, uint32_t) = p->kind == GPU_NTT_DIF   ? ntt_pass<P, GPU_NTT_DIF>
                                                    : p->kind == GPU_NTT_DIT ? ntt_pass<P, GPU_NTT_DIT>
                                                                             : ntt_pass<P, GPU_NTT_BOTH>;
    cudaError_t rc = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          32 << (NTT_MAX_BITS + NTT_TILE_BITS));
    if (rc)
        return (int)rc;
    dim3 grid(1u << (p->log_n - tile_bits), (unsigned)p->batch);
    kernel<<<grid, 1u << (tile_bits - 3), shared, s>>>(*p, tile_bits);
    return gpu_launched("ntt_pass");
}

/* log_n <= 2: one thread per polynomial, by the definition. DIF/DIT differ by where reversed order stands. */
template <class P> static __global__ void ntt_small(struct gpu_ntt_pass p, struct gpu_fr root)
{
    uint32_t n = 1u << p.log_n;
    size_t b = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= p.batch)
        return;
    struct gpu_fr *data = p.data + b * n;
    Fe<P> in[4], w = fr_load<P>(&root, 0), x = w;
    for (uint32_t i = 0; i < n; i++) {
        in[i] = fr_load<P>(data, p.kind == GPU_NTT_DIT ? bits_reverse(i, p.log_n) : i);
        if (p.before.low)
            power_factor(in[i], p.before, i);
    }
    field_one(x);
    for (uint32_t k = 0; k < n; k++) {
        Fe<P> sum = in[n - 1];
        for (uint32_t i = n - 1; i-- > 0;) { /* Horner in x = w^k */
            scale(sum, x);
            field_add(sum, sum, in[i]);
        }
        if (p.after.low)
            power_factor(sum, p.after, k);
        if (p.has_constant)
            scale(sum, fr_load<P>(&p.constant, 0));
        field_canon(sum, sum);
        fr_store(data, p.kind == GPU_NTT_DIF ? bits_reverse(k, p.log_n) : k, sum);
        scale(x, w);
        field_canon(x, x);
    }
}

template <class P> static int ntt_small_launch(gpu_stream s, const struct gpu_ntt_pass *p, struct gpu_fr root)
{
    ntt_small<P><<<(unsigned)((p->batch + 63) / 64), 64, 0, s>>>(*p, root);
    return gpu_launched("ntt_small");
}

/* Bit reversal in place, for callers that want natural order on both sides. Tiles of 16 x 16 elements in the top and
 * bottom index bits swap with their mirror, so that both reads and writes are whole rows. */
enum { REVERSE_BITS = 4 };
template <class P> static __global__ void ntt_reverse(struct gpu_fr *all, unsigned log_n)
{
    struct gpu_fr *data = all + ((size_t)blockIdx.y << log_n);
    __shared__ uint4 tile[2][2][1 << REVERSE_BITS][(1 << REVERSE_BITS) + 1];
    uint32_t middle_bits = log_n - 2 * REVERSE_BITS, m = blockIdx.x, r = bits_reverse(m, middle_bits);
    if (r < m)
        return;
    uint32_t top = threadIdx.y, low = threadIdx.x;
    size_t a = ((size_t)top << (log_n - REVERSE_BITS)) | (size_t)m << REVERSE_BITS | low;
    size_t b = ((size_t)top << (log_n - REVERSE_BITS)) | (size_t)r << REVERSE_BITS | low;
    for (int h = 0; h < 2; h++) {
        tile[0][h][bits_reverse(low, REVERSE_BITS)][bits_reverse(top, REVERSE_BITS)] = ((uint4 *)data)[2 * a + h];
        tile[1][h][bits_reverse(low, REVERSE_BITS)][bits_reverse(top, REVERSE_BITS)] = ((uint4 *)data)[2 * b + h];
    }
    __syncthreads();
    for (int h = 0; h < 2; h++) {
        ((uint4 *)data)[2 * b + h] = tile[0][h][top][low];
        ((uint4 *)data)[2 * a + h] = tile[1][h][top][low];
    }
}

template <class P> static __global__ void ntt_reverse_small(struct gpu_fr *all, unsigned log_n)
{
    struct gpu_fr *data = all + ((size_t)blockIdx.y << log_n);
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, r = bits_reverse(i, log_n);
    if (i >= 1u << log_n || r <= i)
        return;
    Fe<P> x = fr_load<P>(data, i), y = fr_load<P>(data, r);
    fr_store(data, i, y);
    fr_store(data, r, x);
}

template <class P> static int ntt_reverse_launch(gpu_stream s, struct gpu_fr *data, unsigned log_n, size_t batch)
{
    if (log_n < 2 * REVERSE_BITS) {
        ntt_reverse_small<P><<<dim3(1, (unsigned)batch), 256, 0, s>>>(data, log_n);
        return gpu_launched("ntt_reverse_small");
    }
    dim3 grid(1u << (log_n - 2 * REVERSE_BITS), (unsigned)batch), block(1 << REVERSE_BITS, 1 << REVERSE_BITS);
    ntt_reverse<P><<<grid, block, 0, s>>>(data, log_n);
    return gpu_launched("ntt_reverse");
}

#endif
