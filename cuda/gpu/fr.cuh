/* One scalar field: transforms, pointwise work, sparse products, compiled by the unit that includes this.
 *     #define FR_NAME gpu_bn254_fr,  FR_PARAMS Bn254Fr */
#include "cuda/gpu/launched.h"
#include "cuda/gpu/ntt.cuh"

template <class P>
static __global__ void powers(struct gpu_factor *out, size_t n, unsigned shift, struct gpu_fr base,
                              struct gpu_fr factor)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Fe<P> b = fr_load<P>(&base, 0), r;
    field_pow_u64(r, b, (uint64_t)i << shift);
    scale(r, fr_load<P>(&factor, 0));
    field_canon(r, r);
    Shoup<P> pair;
    shoup_of(pair, r);
    fr_store(out, 2 * i, pair.w);
    fr_store(out, 2 * i + 1, pair.wq);
}

template <class P>
static int powers_launch(gpu_stream s, struct gpu_factor *out, size_t n, unsigned shift, struct gpu_fr base,
                         struct gpu_fr factor)
{
    powers<P><<<(unsigned)((n + 127) / 128), 128, 0, s>>>(out, n, shift, base, factor);
    return gpu_launched("powers");
}

template <class P>
static __global__ void __launch_bounds__(256)
    pointwise(enum gpu_pointwise op, struct gpu_fr *out, const struct gpu_fr *a, const struct gpu_fr *b,
              const struct gpu_fr *c, struct gpu_fr k, size_t n, bool plain)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Fe<P> r = fr_load<P>(a, i);
    if (op == GPU_SCALE)
        scale(r, fr_load<P>(&k, 0));
    else if (op == GPU_SUB)
        field_sub(r, r, fr_load<P>(b, i));
    else
        scale(r, fr_load<P>(b, i));
    if (op == GPU_MUL_SUB)
        field_sub(r, r, fr_load<P>(c, i));
    if (plain) {
        Fe<P> one;
        field_zero(one);
        one.l[0] = 1;
        scale(r, one);
    }
    field_canon(r, r);
    fr_store(out, i, r);
}

template <class P>
static int pointwise_launch(gpu_stream s, enum gpu_pointwise op, struct gpu_fr *out, const struct gpu_fr *a,
                            const struct gpu_fr *b, const struct gpu_fr *c, struct gpu_fr k, size_t n, bool plain)
{
    pointwise<P><<<(unsigned)((n + 255) / 256), 256, 0, s>>>(op, out, a, b, c, k, n, plain);
    return gpu_launched("pointwise");
}

/* Entries [from, to) in steps: products of general coefficients in `sum`, plain witness elements of +-1 in `units`,
 * which become Montgomery by one product a row. */
template <class P>
static __device__ __forceinline__ void row_sum(Fe<P> &sum, Fe<P> &units, const struct gpu_spmv &m, uint64_t from,
                                               uint64_t to, uint32_t step)
{
    field_zero(sum);
    field_zero(units);
    for (uint64_t e = from; e < to; e += step) {
        uint32_t coef = m.coef[e], kind = m.dict_kind[coef];
        Fe<P> w = fr_load<P>(m.w, m.col[e]);
        if (kind == 1) {
            field_add(units, units, w);
        } else if (kind == 2) {
            field_sub(units, units, w);
        } else {
            scale(w, fr_table<P>(m.dict, coef));
            field_add(sum, sum, w);
        }
    }
}

template <class P>
static __device__ __forceinline__ void row_finish(struct gpu_fr *out, size_t i, Fe<P> &sum, Fe<P> &units)
{
    Fe<P> r2;
#pragma unroll
    for (int j = 0; j < P::N; j++)
        r2.l[j] = P::r2(j);
    scale(units, r2);
    field_add(sum, sum, units);
    field_canon(sum, sum);
    fr_store(out, i, sum);
}

template <class P> static __global__ void __launch_bounds__(128) spmv_rows(struct gpu_spmv m)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m.out_rows)
        return;
    uint64_t from = i < m.rows ? m.row[i] : 0, to = i < m.rows ? m.row[i + 1] : 0;
    if (to - from > GPU_SPMV_LONG)
        return;
    Fe<P> sum, units;
    row_sum(sum, units, m, from, to, 1);
    row_finish(m.out, i, sum, units);
}

template <class P> static __global__ void __launch_bounds__(128) spmv_long(struct gpu_spmv m)
{
    __shared__ Fe<P> all[2][128];
    uint32_t i = m.long_rows[blockIdx.x];
    Fe<P> sum, units;
    row_sum(sum, units, m, m.row[i] + threadIdx.x, m.row[i + 1], 128);
    all[0][threadIdx.x] = sum;
    all[1][threadIdx.x] = units;
    for (uint32_t n = 64; n > 0; n /= 2) {
        __syncthreads();
        if (threadIdx.x < n) {
            field_add(sum, sum, all[0][threadIdx.x + n]);
            field_add(units, units, all[1][threadIdx.x + n]);
            all[0][threadIdx.x] = sum;
            all[1][threadIdx.x] = units;
        }
    }
    if (threadIdx.x == 0)
        row_finish(m.out, i, sum, units);
}

template <class P> static int spmv_launch(gpu_stream s, const struct gpu_spmv *m)
{
    spmv_rows<P><<<(unsigned)((m->out_rows + 127) / 128), 128, 0, s>>>(*m);
    int rc = gpu_launched("spmv_rows");
    if (rc || !m->n_long)
        return rc;
    spmv_long<P><<<(unsigned)m->n_long, 128, 0, s>>>(*m);
    return gpu_launched("spmv_long");
}

/* Rate of products alone: two independent chains a thread */
template <class P> static __global__ void __launch_bounds__(128) mul_rate(struct gpu_fr *out, unsigned steps)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    Fe<P> x, y, k;
    field_one(x);
    x.l[0] ^= t;
    field_one(k);
    k.l[1] ^= 77 + (t & 3);
    y = x;
    y.l[1] ^= 5;
    for (unsigned i = 0; i < steps; i++) {
        scale(x, k);
        scale(y, k);
    }
    field_add(x, x, y);
    field_canon(x, x);
    fr_store(out, t, x);
}

template <class P> static int mul_rate_launch(gpu_stream s, struct gpu_fr *out, unsigned blocks, unsigned steps)
{
    mul_rate<P><<<blocks, 128, 0, s>>>(out, steps);
    return gpu_launched("mul_rate");
}

extern "C" const struct gpu_field_ops FR_NAME = {
    ntt_pass_launch<FR_PARAMS>,  ntt_small_launch<FR_PARAMS>, ntt_reverse_launch<FR_PARAMS>, powers_launch<FR_PARAMS>,
    pointwise_launch<FR_PARAMS>, spmv_launch<FR_PARAMS>,      mul_rate_launch<FR_PARAMS>,
};
