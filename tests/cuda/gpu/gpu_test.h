/* What the tests of the CUDA device share: the GPU and the host device side by side, buffers that are poisoned before
 * use. */
#ifndef TESTS_CUDA_GPU_TEST_H
#define TESTS_CUDA_GPU_TEST_H

#include "tests/cuda/host/host_test.h"

#include "penstock/error.h"

struct pair {
    struct device *gpu, *host;
    struct stream *g, *h;
};

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != 0)                                                                                               \
            fail_msg("%s: %s", #call, pen_last_error());                                                               \
    } while (0)

static inline void pair_open(struct pair *p)
{
    MUST(device_cuda_open(&p->gpu, 0, NULL));
    MUST(device_host_open(&p->host, NULL));
    MUST(p->gpu->ops->stream_open(p->gpu, &p->g, NULL));
    MUST(p->host->ops->stream_open(p->host, &p->h, NULL));
}

static inline void pair_close(struct pair *p)
{
    p->gpu->ops->stream_close(p->g);
    p->host->ops->stream_close(p->h);
    p->gpu->ops->close(p->gpu);
    p->host->ops->close(p->host);
}

/* A device buffer with a copy of `data`, or poison. */
static inline struct dbuf on_gpu(struct pair *p, const void *data, size_t bytes)
{
    struct dbuf b;
    MUST(p->gpu->ops->alloc(p->gpu, &b, bytes + 64));
    if (data) {
        MUST(p->gpu->ops->copy_h2d(p->g, b, data, bytes));
    } else {
        unsigned char *poison = malloc(bytes + 64);
        memset(poison, 0xa5, bytes + 64);
        MUST(p->gpu->ops->copy_h2d(p->g, b, poison, bytes + 64));
        MUST(p->gpu->ops->stream_sync(p->g));
        free(poison);
    }
    MUST(p->gpu->ops->stream_sync(p->g));
    return b;
}

static inline void from_gpu(struct pair *p, void *data, struct dbuf b, size_t bytes)
{
    memset(data, 0x5a, bytes);
    MUST(p->gpu->ops->copy_d2h(p->g, data, b, bytes));
    MUST(p->gpu->ops->stream_sync(p->g));
}

static inline void gpu_done(struct pair *p, struct dbuf b)
{
    p->gpu->ops->free(p->gpu, b);
}

/* Montgomery forms: any number below r */
static inline void frs_fill(struct fr *a, size_t n, const struct curve *c, int kind)
{
    for (size_t i = 0; i < n; i++) {
        struct scalar s = kind == 0   ? scalar_random(c)
                          : kind == 1 ? scalar_runs(c)
                          : kind == 2 ? scalar_minus(c, 1 + rng() % 2)
                                      : (struct scalar){{0}};
        memcpy(a[i].l, s.l, sizeof s.l);
    }
}

#endif
