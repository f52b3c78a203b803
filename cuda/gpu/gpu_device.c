/* The CUDA device: opening, closing, what it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

void gpu_close(struct device *dev)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    if (!d)
        return;
    cudaSetDevice((int)d->ordinal);
    link_close(d);
    gpu_tables_close(d);
    gpu_base_tables_close(d);
    gpu_context_leave(d->ordinal);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

int gpu_info(struct device *dev, struct device_info *out)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    struct cudaDeviceProp prop;
    struct device_info info = {.threads = (unsigned)d->sms};
    int rc = gpu_fail(d, (int)cudaSetDevice((int)d->ordinal), "selecting the GPU");
    if (!rc)
        rc = gpu_fail(d, (int)cudaGetDeviceProperties(&prop, (int)d->ordinal), "asking for its properties");
    if (!rc)
        rc = gpu_fail(d, (int)cudaMemGetInfo(&info.free_bytes, &info.memory_bytes), "asking for its memory");
    if (rc)
        return rc;
    info.free_bytes = gpu_room(d);
    snprintf(info.name, sizeof info.name, "%.90s", prop.name);
    snprintf(info.id, sizeof info.id, "cuda:%u", d->ordinal);
    *out = info;
    return 0;
}

unsigned device_cuda_count(void)
{
    int n = 0;
    if (cudaGetDeviceCount(&n)) {
        cudaGetLastError();
        return 0;
    }
    return (unsigned)n;
}

int device_cuda_built(void)
{
    return CUDART_VERSION;
}

static int gpu_start(struct gpu_device *d)
{
    int major = 0, rc = gpu_context_select(d);
    if (!rc)
        rc = gpu_fail(d, (int)cudaDeviceGetAttribute(&d->sms, cudaDevAttrMultiProcessorCount, (int)d->ordinal),
                      "counting its processors");
    if (!rc)
        rc = gpu_fail(d, (int)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, (int)d->ordinal),
                      "asking for its kind");
    if (!rc && major < 8)
        rc = err_fail(-ENODEV, "cuda:%u: compute capability %d, need 8 or later", d->ordinal, major);
    return rc;
}

/* Why there is no GPU, for people: the runtime calls a missing driver an old one. */
static int no_driver(unsigned ordinal, cudaError_t rc)
{
    int driver = 0, runtime = 0;
    cudaGetLastError();
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        return err_fail(-ENODEV, "cuda:%u: this machine has no NVIDIA driver (libcuda.so.1 was not found)", ordinal);
    if (rc == cudaErrorInsufficientDriver && cudaRuntimeGetVersion(&runtime) == cudaSuccess)
        return err_fail(-ENODEV, "cuda:%u: the NVIDIA driver is for CUDA %d.%d, this build needs %d.%d", ordinal,
                        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return err_fail(-ENODEV, "cuda:%u: no usable NVIDIA driver: %s", ordinal, cudaGetErrorString(rc));
}

int device_cuda_open(struct device **out, unsigned ordinal, const struct device_opts *opts)
{
    int n = 0;
    cudaError_t rc = cudaGetDeviceCount(&n);
    if (rc)
        return no_driver(ordinal, rc);
    if (ordinal >= (unsigned)n)
        return err_fail(-ENODEV, "cuda:%u: this machine has %d CUDA devices", ordinal, n);
    struct gpu_device *d = calloc(1, sizeof *d);
    if (!d)
        return err_fail(-ENOMEM, "cuda:%u: out of memory", ordinal);
    int err = gpu_context_enter(ordinal);
    if (err) {
        free(d);
        return err;
    }
    d->base.ops = &gpu_ops;
    d->ordinal = ordinal;
    d->memory_limit = opts ? opts->memory_limit : 0;
    pthread_mutex_init(&d->lock, NULL);
    err = gpu_start(d);
    if (err) {
        gpu_close(&d->base);
        return err;
    }
    *out = &d->base;
    return 0;
}
