/* CUDA errors as negative errno with one sentence, and the end of a GPU's context after an error that sticks. */
#include <stdio.h>
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

/* One GPU as this process sees it. A sticky error spoils the context for all handles, and only a reset can bring the
 * GPU back; that must not happen under a handle that is still open, so the last one to close does it. Some drivers give
 * the GPU back to new processes only: after an illegal address, an H200's refused this one for 5 s and more (error 46).
 */
enum { GPUS = 64 };
static struct gpu_context {
    unsigned handles;
    bool sticky, was_reset;
} context[GPUS];
static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;

/* The kernel whose launch failed, for the sentence; launchers run on the thread that words it. */
static _Thread_local const char *failed_kernel;

int gpu_context_enter(unsigned ordinal)
{
    if (ordinal >= GPUS)
        return err_fail(-ENODEV, "cuda:%u: GPUs up to cuda:%d are supported", ordinal, GPUS - 1);
    int rc = 0;
    pthread_mutex_lock(&context_lock);
    struct gpu_context *c = &context[ordinal];
    if (c->sticky)
        rc = err_fail(-EIO, "cuda:%u: the GPU failed, and %u handles on it are still open: close them first", ordinal,
                      c->handles);
    else
        c->handles++;
    pthread_mutex_unlock(&context_lock);
    return rc;
}

void gpu_context_leave(unsigned ordinal)
{
    pthread_mutex_lock(&context_lock);
    struct gpu_context *c = &context[ordinal];
    if (--c->handles == 0 && c->sticky) {
        cudaSetDevice((int)ordinal);
        cudaDeviceReset();
        cudaGetLastError();
        c->sticky = false;
        c->was_reset = true;
    }
    pthread_mutex_unlock(&context_lock);
}

int gpu_context_select(const struct gpu_device *d)
{
    cudaError_t rc = cudaSetDevice((int)d->ordinal);
    pthread_mutex_lock(&context_lock);
    bool was_reset = context[d->ordinal].was_reset;
    pthread_mutex_unlock(&context_lock);
    if (rc != cudaErrorDevicesUnavailable || !was_reset)
        return gpu_fail(d, (int)rc, "opening the GPU");
    cudaGetLastError();
    return err_fail(-EIO,
                    "cuda:%u: after its fault the driver gives this GPU to new processes only (CUDA error %d): other "
                    "devices go on; start the process anew to use it",
                    d->ordinal, (int)rc);
}

static void context_spoil(unsigned ordinal)
{
    pthread_mutex_lock(&context_lock);
    context[ordinal].sticky = true;
    pthread_mutex_unlock(&context_lock);
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
    case cudaErrorContained:
        return true;
    default:
        return false;
    }
}

int gpu_launched(const char *kernel)
{
    cudaError_t rc = cudaGetLastError();
    if (rc)
        failed_kernel = kernel;
    return (int)rc;
}

static int fail_va(const struct gpu_device *d, int rc, const char *fmt, va_list ap)
{
    char what[800];
    int used = vsnprintf(what, sizeof what, fmt, ap);
    if (failed_kernel && used >= 0 && (size_t)used < sizeof what)
        snprintf(what + used, sizeof what - (size_t)used, ", kernel %s", failed_kernel);
    failed_kernel = NULL;
    if (error_sticks(rc))
        context_spoil(d->ordinal);
    cudaGetLastError(); /* a launch error must not be found again by the next launch */
    return err_fail(rc == cudaErrorMemoryAllocation ? -ENOMEM : -EIO, "cuda:%u: %s: %s (CUDA error %d)", d->ordinal,
                    what, cudaGetErrorString((cudaError_t)rc), rc);
}

/* Add to this thread's sentence. */
static void sentence_add(const char *between, const char *tail)
{
    char sentence[1024];
    err_copy(sentence);
    size_t used = strlen(sentence);
    snprintf(sentence + used, sizeof sentence - used, "%s%s", between, tail);
    err_set(sentence);
}

int gpu_fail(const struct gpu_device *d, int rc, const char *fmt, ...)
{
    if (rc == 0)
        return 0;
    va_list ap;
    va_start(ap, fmt);
    int err = fail_va(d, rc, fmt, ap);
    va_end(ap);
    if (error_sticks(rc))
        sentence_add("; ", "earlier work on this GPU caused it");
    return err;
}

int lane_fail(struct stream *s, int rc, const char *fmt, ...)
{
    if (rc == 0)
        return 0;
    struct gpu_lane *l = lane_of(s);
    va_list ap;
    va_start(ap, fmt);
    int err = fail_va(gpu_of(s), rc, fmt, ap);
    va_end(ap);
    if (error_sticks(rc) && l->doing_bytes) /* whoever meets it need not have caused it */
        sentence_add("; queued until then: ", l->doing);
    if (!l->failed) {
        l->failed = err;
        err_copy(l->why);
    }
    return err;
}

int lane_enter(struct stream *s)
{
    struct gpu_lane *l = lane_of(s);
    if (l->failed)
        return err_fail(l->failed, "this stream failed before: %s", l->why);
    return lane_fail(s, (int)cudaSetDevice((int)gpu_of(s)->ordinal), "selecting the GPU");
}

/* What was queued since the stream was last known good: an error of the work itself comes later than its launch, and
 * then this is all that the sentence can name. */
void lane_note(struct stream *s, const char *fmt, ...)
{
    struct gpu_lane *l = lane_of(s);
    if (l->doing_bytes > sizeof l->doing - 160) { /* a long queue: its oldest part is told, the rest counted */
        l->doing_more++;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    char *at = l->doing + l->doing_bytes;
    size_t left = sizeof l->doing - l->doing_bytes;
    int used = snprintf(at, left, "%s", l->doing_bytes ? ", " : "");
    used += vsnprintf(at + used, left - (size_t)used, fmt, ap);
    va_end(ap);
    l->doing_bytes += (size_t)used < left ? (size_t)used : left - 1;
}

void lane_notes_clear(struct gpu_lane *l)
{
    l->doing[0] = 0;
    l->doing_bytes = 0;
    l->doing_more = 0;
}
