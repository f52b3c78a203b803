/* The host device from inside. */
#ifndef CUDA_HOST_HOST_H
#define CUDA_HOST_HOST_H

#include <pthread.h>

#include "cuda/device.h"
#include "cuda/host/kernels.h"
#include "cuda/host/memory.h"
#include "cuda/host/ntt.h"
#include "cuda/host/threads.h"
#include "perf/err.h"

struct host_range;

struct host_device {
    struct device base;
    const struct kernels *kernels;
    struct threads *threads;
    struct ntt_tables *tables;
    size_t memory_limit; /* 0 = none */
    pthread_mutex_t lock;
    size_t taken;              /* bytes in device_alloc'd buffers */
    struct host_range *ranges; /* registered host memory, by address */
};

struct bases {
    struct host_device *device;
    const struct curve *curve;
    enum group group;
    const unsigned char *points; /* n packed points at any offset */
    size_t n;
    void *copy;       /* owned points of a resident handle */
    uint64_t *finite; /* bit i: base i is not infinity */
    size_t n_finite;
};

struct matrix {
    struct host_device *device;
    struct matrix_args args; /* pointers into the caller's memory, or into `copy` */
    uint8_t *code;           /* per dictionary entry: how to multiply */
    void *copy;
};

static inline struct host_device *host_of(const struct stream *s)
{
    return (struct host_device *)s->device;
}

static inline void *dbuf_ptr(struct dbuf b)
{
    return (void *)(uintptr_t)b.addr;
}

static inline const struct group_kernels *host_group(const struct host_device *d, const struct curve *c, enum group g)
{
    return &d->kernels->group[c->id][g];
}

/* Open with the kernels of one instruction set: "portable", "adx", "ifma"; NULL = the best. For tests and benches.
 * -ENODEV if this CPU cannot run them. */
int device_host_open_isa(struct device **out, const struct device_opts *opts, const char *isa);

/* The parts of the table; see device.h. */
int host_bases_open(struct device *d, struct bases **out, const struct bases_args *args);
void host_bases_close(struct bases *b);
int host_matrix_open(struct device *d, struct matrix **out, const struct matrix_args *args);
void host_matrix_close(struct matrix *m);
int host_msm(struct host_device *d, const struct msm_args *args);
int host_sum_selected(struct host_device *d, const struct sum_selected_args *args);
int host_spmv(struct host_device *d, const struct spmv_args *args);
int host_pointwise(struct host_device *d, const struct pointwise_args *args);
int host_mul_base(struct host_device *d, const struct mul_base_args *args);
int host_check_points(struct host_device *d, const struct check_points_args *args);
int host_register(struct device *d, void *base, size_t bytes);
int host_unregister(struct device *d, void *base);
void host_ranges_close(struct host_device *d);

#endif
