/* Bulk points to affine form, window multiples of bases, fixed-base multiplication, checks. */
#ifndef CUDA_GPU_MULTIPLY_CUH
#define CUDA_GPU_MULTIPLY_CUH

#include "cuda/gpu/launch.h"
#include "cuda/gpu/launched.h"
#include "cuda/gpu/point.cuh"

#include <cuda_runtime_api.h>
#include <string.h>

/* Points per inversion: an inversion is about 500 products, so 64 points pay 8 each beside the 8 of the trick itself.
 * Fewer where 64 would leave the GPU without threads. */
enum { NORMALIZE_EACH = 64, NORMALIZE_LEAST = 8, NORMALIZE_THREADS = 132 * 512 };

template <class F> static size_t normalize_scratch(size_t n)
{
    return n * (sizeof(Xyzz<F>) + sizeof(F)) + 64;
}

/* out[i] = affine form of in[i]: one shared inversion per thread (Montgomery's trick); thread t takes t, t + T, .. */
template <class F>
static __global__ void __launch_bounds__(128)
    normalize(Affine<F> *out, const Xyzz<F> *in, F *before, size_t n, size_t step)
{
    size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= step)
        return;
    F product, inverse;
    field_one(product);
    size_t i = t;
    for (; i < n; i += step) {
        before[i] = product;
        if (!xyzz_is_infinity(in[i]))
            field_mul(product, product, in[i].zzz);
    }
    field_inv(inverse, product);
    while (i > t) {
        i -= step;
        Affine<F> r;
        if (xyzz_is_infinity(in[i])) {
            field_zero(r.x);
            field_zero(r.y);
        } else {
            F iz;
            field_mul(iz, inverse, before[i]);
            field_mul(inverse, inverse, in[i].zzz);
            xyzz_to_affine(r, in[i], iz);
        }
        out[i] = r;
    }
}

template <class F> static int normalize_launch(gpu_stream s, void *out, void *scratch, size_t n)
{
    Xyzz<F> *in = (Xyzz<F> *)scratch;
    size_t each = n / NORMALIZE_THREADS;
    each = each < NORMALIZE_LEAST ? NORMALIZE_LEAST : each > NORMALIZE_EACH ? NORMALIZE_EACH : each;
    size_t step = (n + each - 1) / each;
    normalize<F><<<(unsigned)((step + 127) / 128), 128, 0, s>>>((Affine<F> *)out, in, (F *)(in + n), n, step);
    return gpu_launched("normalize");
}

template <class F>
static __global__ void __launch_bounds__(128)
    double_points(Xyzz<F> *out, const Affine<F> *in, size_t n, uint32_t doublings)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Xyzz<F> p;
    xyzz_from_affine(p, in[i]);
    for (uint32_t k = 0; k < doublings; k++)
        xyzz_dbl(p, p);
    out[i] = p;
}

template <class F>
static int multiply_launch(gpu_stream s, void *out, const void *in, size_t n, uint32_t doublings, void *scratch)
{
    double_points<F>
        <<<(unsigned)((n + 127) / 128), 128, 0, s>>>((Xyzz<F> *)scratch, (const Affine<F> *)in, n, doublings);
    int rc = gpu_launched("double_points");
    return rc ? rc : normalize_launch<F>(s, out, scratch, n);
}

/* Table of a fixed base: d 2^(bits w) base for d = 1 .. 2^bits - 1 and each window w of 256 bits. First the windows'
 * own bases, one thread each, then a few doublings and additions an entry: a table of 16-bit windows takes 25
 * operations for each of a million entries, not 250. */
template <class F> static __global__ void base_windows(Xyzz<F> *out, Affine<F> base, uint32_t bits)
{
    uint32_t w = threadIdx.x;
    Xyzz<F> p;
    xyzz_from_affine(p, base);
    for (uint32_t i = 0; i < w * bits; i++)
        xyzz_dbl(p, p);
    out[w] = p;
}

template <class F>
static __global__ void __launch_bounds__(128)
    base_multiples(Xyzz<F> *out, const Affine<F> *window, uint32_t bits, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, digits = ((size_t)1 << bits) - 1;
    if (i >= n)
        return;
    uint32_t d = (uint32_t)(i % digits) + 1;
    xyzz_mul(out[i], window[i / digits], &d, 1);
}

/* scratch: of normalize_scratch(all entries); the windows' bases are kept in the table while it is empty. */
template <class F>
static int base_table_launch(gpu_stream s, void *table, const void *base, uint32_t bits, void *scratch)
{
    uint32_t windows = 256 / bits;
    size_t n = windows * (((size_t)1 << bits) - 1);
    Affine<F> point; /* the caller's is 8-byte aligned */
    memcpy(&point, base, sizeof point);
    base_windows<F><<<1, windows, 0, s>>>((Xyzz<F> *)scratch, point, bits);
    int rc = gpu_launched("base_windows");
    if (!rc)
        rc = normalize_launch<F>(s, table, scratch, windows);
    if (rc)
        return rc;
    base_multiples<F>
        <<<(unsigned)((n + 127) / 128), 128, 0, s>>>((Xyzz<F> *)scratch, (const Affine<F> *)table, bits, n);
    rc = gpu_launched("base_multiples");
    return rc ? rc : normalize_launch<F>(s, table, scratch, n);
}

/* BITS-wide digits: 8 for small jobs, 16 (half the additions, a table of 64 to 200 MB) for large ones. */
template <class F, class Digit, int THREADS, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    mul_base(Xyzz<F> *out, const Affine<F> *table, const Digit *scalars, size_t n)
{
    constexpr uint32_t windows = 32 / sizeof(Digit), digits = (Digit) ~(Digit)0;
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    Xyzz<F> acc;
    bool empty = true;
    for (uint32_t w = 0; w < windows; w++) {
        uint32_t d = scalars[i * windows + w];
        if (d == 0)
            continue;
        Affine<F> p = table[(size_t)w * digits + d - 1];
        if (empty) {
            acc.x = p.x;
            acc.y = p.y;
            field_one(acc.zz);
            field_one(acc.zzz);
            empty = affine_is_infinity(p);
        } else if (!xyzz_madd(acc, p)) {
            empty = true;
        }
    }
    if (empty)
        xyzz_zero(acc);
    out[i] = acc;
}

template <class F, int THREADS, int BLOCKS>
static int mul_base_launch(gpu_stream s, void *out, const void *table, uint32_t bits, const void *scalars, size_t n,
                           void *scratch)
{
    unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
    Xyzz<F> *sums = (Xyzz<F> *)scratch;
    if (bits == 16)
        mul_base<F, uint16_t, THREADS, BLOCKS>
            <<<blocks, THREADS, 0, s>>>(sums, (const Affine<F> *)table, (const uint16_t *)scalars, n);
    else
        mul_base<F, uint8_t, THREADS, BLOCKS>
            <<<blocks, THREADS, 0, s>>>(sums, (const Affine<F> *)table, (const uint8_t *)scalars, n);
    int rc = gpu_launched("mul_base");
    return rc ? rc : normalize_launch<typename ColdOf<F>::Type>(s, out, scratch, n);
}

template <class P> static __device__ bool field_below_p(const Fe<P> &a)
{
    sub_cc(a.l[0], P::p(0));
#pragma unroll
    for (int i = 1; i < P::N; i++)
        subc_cc(a.l[i], P::p(i));
    return subc(0, 0) != 0;
}
template <class P> static __device__ bool field_below_p(const Fe2<P> &a)
{
    return field_below_p(a.c0) && field_below_p(a.c1);
}

/* y^2 - x^3 */
template <class F> HD void curve_rest(F &r, const Affine<F> &p)
{
    F t;
    field_sqr(t, p.x);
    field_mul(t, p.x, t);
    field_sqr(r, p.y);
    field_sub(r, r, t);
}

struct Order {
    uint32_t w[8];
};

/* enum point_fault: 1 not canonical, 2 not on the curve, 3 not in the subgroup. b = y^2 - x^3 of the generator. */
template <class F>
static __global__ void __launch_bounds__(128)
    check_points(const Affine<F> *points, size_t n, size_t first, bool subgroup, F b, Order r, unsigned long long *bad)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Affine<F> p = points[i];
    unsigned fault = 0;
    if (!field_below_p(p.x) || !field_below_p(p.y)) {
        fault = 1;
    } else if (!affine_is_infinity(p)) {
        F rest;
        curve_rest(rest, p);
        field_sub(rest, rest, b);
        if (!field_is_zero(rest)) {
            fault = 2;
        } else if (subgroup) {
            Xyzz<F> q;
            xyzz_mul(q, p, r.w, 8);
            fault = xyzz_is_infinity(q) ? 0 : 3;
        }
    }
    if (fault)
        atomicMin(bad, (unsigned long long)(first + i) << 2 | fault);
}

template <class F>
static int check_launch(gpu_stream s, const void *points, size_t n, size_t first, bool subgroup, const void *generator,
                        const uint32_t r[8], uint64_t *bad)
{
    F b;
    Affine<F> point;
    Order order;
    memcpy(&point, generator, sizeof point);
    curve_rest(b, point);
    for (int i = 0; i < 8; i++)
        order.w[i] = r[i];
    check_points<F><<<(unsigned)((n + 127) / 128), 128, 0, s>>>((const Affine<F> *)points, n, first, subgroup, b, order,
                                                                (unsigned long long *)bad);
    return gpu_launched("check_points");
}

#endif
