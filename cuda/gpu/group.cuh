/* One curve and group: everything of the MSM and bulk point work, compiled by the unit that includes this.
 *     #define GROUP_NAME gpu_bn254_g1,  GROUP_FIELD Fe<Bn254Fq>,  GROUP_THREADS, GROUP_BLOCKS of the accumulation */
#include "cuda/gpu/accumulate.cuh"
#include "cuda/gpu/multiply.cuh"
#include "cuda/gpu/reduce.cuh"

/* Rate of mixed additions alone, without gathers: the ceiling that the accumulation is measured against. */
template <class F, int THREADS, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    add_rate(Xyzz<F> *out, const Affine<F> *points, unsigned steps)
{
    unsigned t = blockIdx.x * THREADS + threadIdx.x;
    Xyzz<F> acc;
    Affine<F> p = points[1 + (t & 7)];
    xyzz_from_affine(acc, points[0]);
    for (unsigned i = 0; i < steps; i++)
        if (!xyzz_madd(acc, p))
            break;
    out[t] = acc;
}

static int add_rate_launch(gpu_stream s, void *out, const void *points, unsigned blocks, unsigned steps)
{
    add_rate<GROUP_FIELD, GROUP_THREADS, GROUP_BLOCKS>
        <<<blocks, GROUP_THREADS, 0, s>>>((Xyzz<GROUP_FIELD> *)out, (const Affine<GROUP_FIELD> *)points, steps);
    return gpu_launched("add_rate");
}

using Cold = ColdOf<GROUP_FIELD>::Type;

extern "C" const struct gpu_group_ops GROUP_NAME = {
    sizeof(Affine<GROUP_FIELD>),
    sizeof(Xyzz<GROUP_FIELD>),
    accumulate_scratch<GROUP_FIELD, GROUP_THREADS, GROUP_BLOCKS>,
    accumulate_launch<GROUP_FIELD, GROUP_THREADS, GROUP_BLOCKS>,
    reduce_shape<Cold>,
    reduce_scratch<Cold>,
    reduce_launch<Cold>,
    reduce_fold<Cold>,
    normalize_scratch<Cold>,
    multiply_launch<Cold>,
    base_table_launch<Cold>,
    mul_base_launch<GROUP_FIELD, GROUP_THREADS, GROUP_BLOCKS>,
    check_launch<Cold>,
    add_rate_launch,
};
