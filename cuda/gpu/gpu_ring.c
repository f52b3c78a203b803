/* Streamed bases: slots in device memory, filled by the lane's copy stream in turn. Kept apart from the workspace,
 * so that the next operation's first slice is copied while this one still reduces its buckets. */
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

int ring_reserve(struct stream *s, size_t slot_bytes)
{
    struct gpu_ring *g = &lane_of(s)->ring;
    slot_bytes = gpu_round(slot_bytes);
    if (slot_bytes <= g->slot_bytes)
        return 0;
    ring_close(s); /* cudaFree waits for what still reads or fills it */
    void *p;
    int rc = gpu_take(gpu_of(s), &p, GPU_RING_SLOTS * slot_bytes, "streamed bases");
    if (rc)
        return rc;
    g->memory = p;
    g->slot_bytes = slot_bytes;
    return 0;
}

void ring_close(struct stream *s)
{
    struct gpu_ring *g = &lane_of(s)->ring;
    gpu_give(gpu_of(s), g->memory, GPU_RING_SLOTS * g->slot_bytes);
    g->memory = NULL;
    g->slot_bytes = 0;
    memset(g->used, 0, sizeof g->used);
}

char *ring_slot(struct stream *s, unsigned slot)
{
    struct gpu_ring *g = &lane_of(s)->ring;
    return g->memory + slot * g->slot_bytes;
}

int ring_begin(struct stream *s, unsigned *slot)
{
    struct gpu_lane *l = lane_of(s);
    struct gpu_ring *g = &l->ring;
    unsigned k = g->next;
    g->next = (k + 1) % GPU_RING_SLOTS;
    g->busy = true;
    *slot = k;
    return lane_fail(s, g->used[k] ? (int)cudaStreamWaitEvent(l->copy, g->consumed[k], 0) : 0,
                     "streamed bases, waiting for a slot");
}

int ring_put(struct stream *s, unsigned slot, size_t at, const void *src, size_t bytes)
{
    return lane_fail(s, lane_upload(s, lane_of(s)->copy, ring_slot(s, slot) + at, src, bytes),
                     "streamed bases, copying %zu bytes", bytes);
}

int ring_arrive(struct stream *s, unsigned slot)
{
    struct gpu_lane *l = lane_of(s);
    int rc = (int)cudaEventRecord(l->ring.copied[slot], l->copy);
    if (!rc)
        rc = (int)cudaStreamWaitEvent(l->compute, l->ring.copied[slot], 0);
    return lane_fail(s, rc, "streamed bases, waiting for a copy");
}

int ring_end(struct stream *s, unsigned slot)
{
    struct gpu_lane *l = lane_of(s);
    l->ring.used[slot] = true;
    return lane_fail(s, (int)cudaEventRecord(l->ring.consumed[slot], l->compute), "streamed bases, giving back a slot");
}

/* Every slice but the first costs an addition for each bucket, 2 to 3 % of an MSM of 2^24; a large first slice leaves
 * the kernels waiting. So: two halves where copies run ahead, else a small one before them. */
size_t gpu_slice(size_t n, size_t at, size_t most, bool warm)
{
    size_t first = warm ? 0 : n / 8 / 64 * 64, slice = at < first ? first - at : (n - first + 1) / 2;
    slice = (slice + 63) / 64 * 64;
    slice = slice < most ? slice : most;
    slice = slice ? slice : 64;
    return slice < n - at ? slice : n - at;
}
