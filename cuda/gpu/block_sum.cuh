/* The sum of one point per thread over a block. */
#ifndef CUDA_GPU_BLOCK_SUM_CUH
#define CUDA_GPU_BLOCK_SUM_CUH

#include "cuda/gpu/launch.h"
#include "cuda/gpu/point.cuh"

enum { SUM_THREADS = 128 };

/* acc of thread 0 becomes the sum of all threads' acc. All SUM_THREADS threads call it. */
template <class F> static __device__ void block_sum(Xyzz<F> &acc)
{
    __shared__ Xyzz<F> half[SUM_THREADS / 2];
    for (uint32_t n = SUM_THREADS / 2; n > 0; n /= 2) {
        __syncthreads();
        if (threadIdx.x >= n && threadIdx.x < 2 * n)
            half[threadIdx.x - n] = acc;
        __syncthreads();
        if (threadIdx.x < n)
            xyzz_add(acc, half[threadIdx.x]);
    }
    __syncthreads();
}

#endif
