/* Bulk points to affine form, window multiples of bases, fixed-base multiplication, checks. */
#ifndef CUDA_GPU_MULTIPLY_CUH
#define CUDA_GPU_MULTIPLY_CUH

#include "cuda/gpu/launch.h"
#include "cuda/gpu/point.cuh"

#include <cuda_runtime_api.h>
#include <string.h>

/* Points per inversion: an inversion is about 500 products, so 64 points pay 8 each beside the 8 of the trick itself.
 */
enum { NORMALIZE_EACH = 64 };

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
    size_t step = (n + NORMALIZE_EACH - 1) / NORMALIZE_EACH;
    normalize<F><<<(unsigned)((step + 127) / 128), 128, 0, s>>>((Affine<F> *)out, in, (F *)(in + n), n, step);
    return (int)cudaGetLastError();
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
    cudaError_t rc = cudaGetLastError();
    return rc ? (int)rc : normalize_launch<F>(s, out, scratch, n);
}

/* Table of a fixed base: d 256^w base for d 1..255, w < 32 */
template <class F> static __global__ void base_multiples(Xyzz<F> *out, Affine<F> base)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= GPU_BASE_WINDOWS * GPU_BASE_DIGITS)
        return;
    uint32_t w = i / GPU_BASE_DIGITS, k[8];
    for (uint32_t j = 0; j < 8; j++)
        k[j] = j == w / 4 ? (i % GPU_BASE_DIGITS + 1) << w % 4 * 8 : 0;
    xyzz_mul(out[i], base, k, 8);
}

template <class F> static int base_table_launch(gpu_stream s, void *table, const void *base, void *scratch)
{
    size_t n = GPU_BASE_WINDOWS * GPU_BASE_DIGITS;
    Affine<F> point; /* the caller's is 8-byte aligned */
    memcpy(&point, base, sizeof point);
    base_multiples<F><<<(unsigned)((n + 63) / 64), 64, 0, s>>>((Xyzz<F> *)scratch, point);
    cudaError_t rc = cudaGetLastError();
    return rc ? (int)rc : normalize_launch<F>(s, table, scratch, n);
}

template <class F>
static __global__ void __launch_bounds__(128)
    mul_base(Xyzz<F> *out, const Affine<F> *table, const uint8_t *scalars, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Xyzz<F> acc;
    xyzz_zero(acc);
    for (uint32_t w = 0; w < GPU_BASE_WINDOWS; w++) {
        uint32_t d = scalars[i * 32 + w];
        if (d)
            xyzz_add_affine(acc, table[w * GPU_BASE_DIGITS + d - 1]);
    }
    out[i] = acc;
}

template <class F>
static int mul_base_launch(gpu_stream s, void *out, const void *table, const void *scalars, size_t n, void *scratch)
{
    mul_base<F><<<(unsigned)((n + 127) / 128), 128, 0, s>>>((Xyzz<F> *)scratch, (const Affine<F> *)table,
                                                            (const uint8_t *)scalars, n);
    cudaError_t rc = cudaGetLastError();
    return rc ? (int)rc : normalize_launch<F>(s, out, scratch, n);
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
    return (int)cudaGetLastError();
}

#endif
