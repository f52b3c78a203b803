/* CUDA errors as negative errno with one sentence. */
#include <stdio.h>
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

enum { GPUS = 64 };
static atomic_bool sticky[GPUS];

bool gpu_is_sticky(unsigned ordinal)
{
    return ordinal < GPUS && atomic_load(&sticky[ordinal]);
}

void gpu_clear_sticky(unsigned ordinal)
{
    if (ordinal < GPUS)
        atomic_store(&sticky[ordinal], false);
}

/* Errors after which every call of this process on the GPU fails until the device is reset. */
static bool error_sticks(int rc)
{
    switch (rc) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

static int fail_va(const struct gpu_device *d, int rc, const char *fmt, va_list ap)
{
    char what[512];
    vsnprintf(what, sizeof what, fmt, ap);
    if (error_sticks(rc) && d->ordinal < GPUS)
        atomic_store(&sticky[d->ordinal], true);
    cudaGetLastError(); /* a launch error must not be found again by the next launch */
    return err_fail(rc == cudaErrorMemoryAllocation ? -ENOMEM : -EIO, "cuda:%u: %s: %s (CUDA error %d)", d->ordinal,
                    what, cudaGetErrorString((cudaError_t)rc), rc);
}

int gpu_fail(const struct gpu_device *d, int rc, const char *fmt, ...)
{
    if (rc == 0)
        return 0;
    va_list ap;
    va_start(ap, fmt);
    rc = fail_va(d, rc, fmt, ap);
    va_end(ap);
    return rc;
}

int lane_fail(struct stream *s, int rc, const char *fmt, ...)
{
    if (rc == 0)
        return 0;
    struct gpu_lane *l = lane_of(s);
    va_list ap;
    va_start(ap, fmt);
    rc = fail_va(gpu_of(s), rc, fmt, ap);
    va_end(ap);
    if (!l->failed) {
        l->failed = rc;
        err_copy(l->why);
    }
    return rc;
}

int lane_enter(struct stream *s)
{
    struct gpu_lane *l = lane_of(s);
    if (l->failed)
        return err_fail(l->failed, "this stream failed before: %s", l->why);
    return lane_fail(s, (int)cudaSetDevice((int)gpu_of(s)->ordinal), "selecting the GPU");
}
