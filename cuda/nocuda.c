/* The CUDA device of a build without the toolkit. */
#include "cuda/device.h"
#include "perf/err.h"

int device_cuda_open(struct device **out, unsigned ordinal, const struct device_opts *opts)
{
    (void)out;
    (void)opts;
    return err_fail(-ENODEV, "cuda:%u: this build has no CUDA device (it was built without nvcc)", ordinal);
}

unsigned device_cuda_count(void)
{
    return 0;
}

int device_cuda_built(void)
{
    return 0;
}
