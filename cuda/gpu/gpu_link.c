/* The link's two directions: an H200 copies 55 GB/s one way, but 50.6 each way at once. What goes up (bases, witnesses)
 * is what the kernels wait for, what comes down is small or can wait: so a large copy to the host goes in pieces, each
 * behind one of the chunks that are on their way up. Then 64 MiB go up for 4 MiB down; with nothing going up, down is
 * free. */
#include "cuda/gpu/gpu.h"

int link_up(struct gpu_device *d, cudaStream_t on)
{
    struct gpu_link *k = &d->link;
    int rc = 0;
    pthread_mutex_lock(&d->lock);
    cudaEvent_t *e = &k->event[k->queued % GPU_LINK_EVENTS];
    if (!*e)
        rc = (int)cudaEventCreateWithFlags(e, cudaEventDisableTiming);
    if (!rc)
        rc = (int)cudaEventRecord(*e, on);
    if (!rc) {
        k->queued++;
        if (k->queued - k->passed > GPU_LINK_EVENTS)
            k->passed = k->queued - GPU_LINK_EVENTS;
    }
    pthread_mutex_unlock(&d->lock);
    return rc;
}

int link_down(struct gpu_device *d, cudaStream_t on)
{
    struct gpu_link *k = &d->link;
    int rc = 0;
    pthread_mutex_lock(&d->lock);
    while (k->passed < k->queued && cudaEventQuery(k->event[k->passed % GPU_LINK_EVENTS]) == cudaSuccess)
        k->passed++;
    cudaGetLastError(); /* "not ready" */
    if (k->passed < k->queued)
        rc = (int)cudaStreamWaitEvent(on, k->event[k->passed++ % GPU_LINK_EVENTS], 0);
    pthread_mutex_unlock(&d->lock);
    return rc;
}

void link_close(struct gpu_device *d)
{
    for (int i = 0; i < GPU_LINK_EVENTS; i++)
        if (d->link.event[i])
            cudaEventDestroy(d->link.event[i]);
    cudaGetLastError();
}
