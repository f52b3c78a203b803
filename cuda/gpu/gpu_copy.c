/* Copies and registration. H2D runs in chunks of 64 MiB, cut where one registered range ends and the next begins: a
 * copy over such a seam fails. Memory that is not registered is copied too, at the driver's pageable rate. */
#include "cuda/gpu/gpu.h"
#include "perf/count.h"
#include "perf/err.h"

/* Bytes from p to the next border of a registered range */
static size_t seam_distance(struct gpu_device *d, const char *p, size_t bytes)
{
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->ranges; i++) {
        const char *from = d->range[i].base, *to = from + d->range[i].bytes;
        if (p < from && (size_t)(from - p) < bytes)
            bytes = (size_t)(from - p);
        if (p >= from && p < to && (size_t)(to - p) < bytes)
            bytes = (size_t)(to - p);
    }
    pthread_mutex_unlock(&d->lock);
    return bytes;
}

/* spans: NULL, or the stream whose spans the chunks become */
static int copy_up(struct gpu_device *d, cudaStream_t to, char *dst, const char *src, size_t bytes,
                   struct stream *spans)
{
    while (bytes) {
        size_t chunk = seam_distance(d, src, bytes < GPU_COPY_CHUNK ? bytes : GPU_COPY_CHUNK);
        struct gpu_mark *m = spans ? lane_mark_begin(spans, "h2d", chunk, to) : NULL;
        int rc = (int)cudaMemcpyAsync(dst, src, chunk, cudaMemcpyHostToDevice, to);
        lane_mark_end(m, to);
        if (!rc && chunk > GPU_COPY_PIECE)
            rc = link_up(d, to);
        if (rc)
            return rc;
        dst += chunk;
        src += chunk;
        bytes -= chunk;
    }
    return 0;
}

static int copy_down(struct gpu_device *d, cudaStream_t on, char *dst, const char *src, size_t bytes)
{
    while (bytes) {
        size_t piece = seam_distance(d, dst, bytes < GPU_COPY_PIECE ? bytes : GPU_COPY_PIECE);
        int rc = piece == GPU_COPY_PIECE ? link_down(d, on) : 0;
        if (!rc)
            rc = (int)cudaMemcpyAsync(dst, src, piece, cudaMemcpyDeviceToHost, on);
        if (rc)
            return rc;
        dst += piece;
        src += piece;
        bytes -= piece;
    }
    return 0;
}

int gpu_upload(struct gpu_device *d, cudaStream_t to, void *dst, const void *src, size_t bytes)
{
    return copy_up(d, to, dst, src, bytes, NULL);
}

int lane_upload(struct stream *s, cudaStream_t to, void *dst, const void *src, size_t bytes)
{
    count_add(COUNT_H2D_BYTES, bytes);
    return copy_up(gpu_of(s), to, dst, src, bytes, s);
}

static int size_check(struct stream *s, struct dbuf b, size_t bytes)
{
    if (bytes > b.bytes)
        return err_fail(-EINVAL, "cuda:%u: a copy of %zu bytes does not fit a buffer of %zu", gpu_of(s)->ordinal, bytes,
                        b.bytes);
    return lane_enter(s);
}

int gpu_copy_h2d(struct stream *s, struct dbuf dst, const void *src, size_t bytes)
{
    int rc = size_check(s, dst, bytes);
    if (rc)
        return rc;
    lane_begin(s, "h2d");
    rc = lane_fail(s, gpu_upload(gpu_of(s), compute_of(s), (void *)(uintptr_t)dst.addr, src, bytes),
                   "copying %zu bytes to the device", bytes);
    lane_end(s, bytes);
    return rc;
}

int gpu_copy_d2h(struct stream *s, void *dst, struct dbuf src, size_t bytes)
{
    int rc = size_check(s, src, bytes);
    if (rc)
        return rc;
    lane_begin(s, "d2h");
    rc = lane_fail(s, copy_down(gpu_of(s), compute_of(s), dst, (const char *)(uintptr_t)src.addr, bytes),
                   "copying %zu bytes to the host", bytes);
    lane_end(s, bytes);
    return rc;
}

int gpu_zero(struct stream *s, struct dbuf dst, size_t bytes)
{
    int rc = size_check(s, dst, bytes);
    if (rc || !bytes)
        return rc;
    return lane_fail(s, (int)cudaMemsetAsync((void *)(uintptr_t)dst.addr, 0, bytes, compute_of(s)), "zeroing %zu bytes",
                     bytes);
}

int gpu_host_register(struct device *dev, void *base, size_t bytes)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    int rc = gpu_fail(d, (int)cudaSetDevice((int)d->ordinal), "selecting the GPU");
    if (rc)
        return rc;
    pthread_mutex_lock(&d->lock);
    if (d->ranges == GPU_RANGES)
        rc = err_fail(-ENOSPC, "cuda:%u: %d ranges of host memory are registered already", d->ordinal, GPU_RANGES);
    else
        rc = gpu_fail(d, (int)cudaHostRegister(base, bytes, cudaHostRegisterPortable),
                      "registering %zu MiB of host memory", bytes >> 20);
    if (!rc)
        d->range[d->ranges++] = (struct gpu_range){base, bytes};
    pthread_mutex_unlock(&d->lock);
    return rc;
}

int gpu_host_unregister(struct device *dev, void *base)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    int rc = gpu_fail(d, (int)cudaSetDevice((int)d->ordinal), "selecting the GPU");
    if (rc)
        return rc;
    pthread_mutex_lock(&d->lock);
    size_t i = 0;
    while (i < d->ranges && d->range[i].base != base)
        i++;
    if (i == d->ranges)
        rc = err_fail(-EINVAL, "cuda:%u: no host memory is registered at %p", d->ordinal, base);
    else
        rc = gpu_fail(d, (int)cudaHostUnregister(base), "unregistering host memory");
    if (!rc)
        d->range[i] = d->range[--d->ranges];
    pthread_mutex_unlock(&d->lock);
    return rc;
}
