/* Device loads of 16 bytes need alignment, key files leave points at any byte. */
#include "cuda/gpu/launch.h"
#include "cuda/gpu/launched.h"

#include <cuda_runtime_api.h>

/* dst word i = bytes 4 (i + words) + shift .. of src. The word behind the last one is there only in part: its `shift`
 * bytes are read one by one. */
static __global__ void realign(uint32_t *dst, const uint32_t *src, unsigned words, unsigned shift, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint32_t *from = src + words + i;
    uint32_t high = 0;
    if (shift && i + 1 < n)
        high = from[1];
    for (unsigned k = 0; k < shift && i + 1 == n; k++)
        high |= (uint32_t)((const uint8_t *)(from + 1))[k] << 8 * k;
    dst[i] = __funnelshift_r(*from, high, 8 * shift);
}

int gpu_realign(gpu_stream s, void *dst, const void *src, unsigned shift, size_t bytes)
{
    size_t n = bytes / 4;
    realign<<<(unsigned)((n + 255) / 256), 256, 0, s>>>((uint32_t *)dst, (const uint32_t *)src, shift / 4, shift % 4,
                                                        n);
    return gpu_launched("realign");
}
