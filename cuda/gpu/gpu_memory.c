/* Device memory: every byte that a handle holds is counted, and a need is compared with what is free before it is
 * taken, so that the refusal names both figures. */
#include "cuda/gpu/gpu.h"
#include "perf/err.h"

/* Left for the driver and for other processes' small change */
static const size_t RESERVE = (size_t)256 << 20;

/* cudaError_t: the driver's answer is also the first to tell of a fault of earlier work */
static int room_ask(struct gpu_device *d, size_t *out)
{
    size_t room = 0, total;
    int rc = (int)cudaMemGetInfo(&room, &total);
    if (rc)
        return rc;
    room = room > RESERVE ? room - RESERVE : 0;
    if (d->memory_limit) {
        size_t taken = atomic_load(&d->taken), left = d->memory_limit > taken ? d->memory_limit - taken : 0;
        room = left < room ? left : room;
    }
    *out = room;
    return 0;
}

size_t gpu_room(struct gpu_device *d)
{
    size_t room = 0;
    return room_ask(d, &room) ? 0 : room;
}

int gpu_take(struct gpu_device *d, void **out, size_t bytes, const char *what)
{
    size_t room = 0;
    int rc = gpu_fail(d, room_ask(d, &room), "%s, asking for free memory", what);
    if (rc)
        return rc;
    if (bytes > room)
        return err_fail(-ENOMEM, "cuda:%u: %s needs %zu MiB of device memory, %zu MiB are free to this process",
                        d->ordinal, what, (bytes >> 20) + 1, room >> 20);
    void *p = NULL;
    rc = gpu_fail(d, (int)cudaMalloc(&p, bytes ? bytes : 1), "%s, allocating %zu bytes", what, bytes);
    if (rc)
        return rc;
    atomic_fetch_add(&d->taken, bytes);
    *out = p;
    return 0;
}

void gpu_give(struct gpu_device *d, void *p, size_t bytes)
{
    if (!p)
        return;
    cudaSetDevice((int)d->ordinal);
    cudaFree(p);
    cudaGetLastError();
    atomic_fetch_sub(&d->taken, bytes);
}

int gpu_alloc(struct device *dev, struct dbuf *out, size_t bytes)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    void *p;
    int rc = gpu_fail(d, (int)cudaSetDevice((int)d->ordinal), "selecting the GPU");
    if (!rc)
        rc = gpu_take(d, &p, bytes, "a buffer");
    if (!rc)
        *out = (struct dbuf){(uint64_t)(uintptr_t)p, bytes};
    return rc;
}

void gpu_free(struct device *dev, struct dbuf buf)
{
    gpu_give((struct gpu_device *)dev, (void *)(uintptr_t)buf.addr, buf.bytes);
}

int lane_work(struct stream *s, void **out, size_t bytes, const char *what)
{
    struct gpu_lane *l = lane_of(s);
    struct gpu_device *d = gpu_of(s);
    if (bytes > l->work_bytes) {
        size_t room;
        int rc = lane_fail(s, room_ask(d, &room), "%s, asking for free memory", what);
        if (rc)
            return rc;
        /* cudaFree waits for the work that still uses the old one */
        gpu_give(d, l->work, l->work_bytes);
        l->work = NULL;
        l->work_bytes = 0;
        rc = gpu_take(d, &l->work, bytes, what);
        if (rc)
            return rc;
        l->work_bytes = bytes;
    }
    *out = l->work;
    return 0;
}

int lane_pinned(struct stream *s, void **out, size_t bytes)
{
    struct gpu_lane *l = lane_of(s);
    int rc;
    bytes = gpu_round(bytes);
    if (bytes > GPU_PINNED_BYTES)
        return err_fail(-EINVAL, "cuda:%u: a result of %zu bytes is over the limit of %d", gpu_of(s)->ordinal, bytes,
                        GPU_PINNED_BYTES);
    if (!l->pinned) {
        rc = lane_fail(s, (int)cudaHostAlloc((void **)&l->pinned, GPU_PINNED_BYTES, 0), "pinned memory for results");
        if (rc)
            return rc;
    }
    if (l->pinned_used + bytes > GPU_PINNED_BYTES) {
        rc = gpu_stream_sync(s);
        if (rc)
            return rc;
    }
    *out = l->pinned + l->pinned_used;
    l->pinned_used += bytes;
    return 0;
}
