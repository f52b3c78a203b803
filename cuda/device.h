/* The seam: one table of operations, implemented by the host device (CPU) and the CUDA device. Everything above it is
 * the same code for both.
 *
 * Memory: struct dbuf is a range of device memory. On a device with DEVICE_HOST_MEMORY it is ordinary memory, and
 * device_wrap gives a dbuf over memory that the caller holds, without a copy.
 *
 * Streams: operations of one stream run in order, those of two streams may overlap. Every operation that takes a stream
 * returns when it is queued (the host device: when it is done); results on the host (struct point *) and errors of the
 * work itself are there after stream_sync. All pointers in an argument struct must stay valid until then; the struct
 * itself need not. After an error a stream refuses work until it is closed; other streams go on.
 *
 * Errors: 0 or negative errno with a sentence: -ENOMEM device memory short, -ENODEV no such device, -EIO device fault,
 * -EINVAL arguments. Threads: one thread per stream at a time; open, close, alloc and free from any thread. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/math/curve.h"

struct device;
struct stream;
struct event;
struct bases;
struct matrix;
struct span_list;

struct dbuf {
    uint64_t addr; /* host: the pointer; CUDA: the device pointer */
    size_t bytes;
};

enum { DEVICE_HOST_MEMORY = 1 }; /* flags: dbuf is ordinary memory */

struct device_opts {
    unsigned threads;    /* host device: 0 = all CPUs this process may use */
    size_t memory_limit; /* device memory this process may take; 0 = what is free */
};

struct stream_opts {
    struct span_list *spans; /* each operation adds one span, by the device's own clock; may be NULL */
    uint64_t job;
    const char *lane; /* static string; NULL = "compute" */
};

/* Natural order, or bit-reversed: NTT_NR takes natural and leaves bit-reversed. */
enum ntt_order { NTT_NN, NTT_NR, NTT_RN };

/* In place on 2^log_n Montgomery scalars, `batch` polynomials of 2^log_n one behind the other.
 * forward: out[i] = sum_j in[j] (shift root^i)^j. inverse: undoes it, 1/2^log_n included.
 * shift: any non-zero scalar, 1 for none. log_n 0..28. */
struct ntt_args {
    const struct curve *curve;
    struct dbuf data;
    unsigned log_n;
    size_t batch; /* 0 counts as 1 */
    bool inverse;
    enum ntt_order order;
    struct fr root; /* primitive 2^log_n-th root */
    struct fr shift;
};

/* evaluations on {root^i} -> evaluations on {shift root^i}, natural order on both sides: inverse and coset forward
 * transform in one, without a reversal pass. In place. */
struct ntt_coset_args {
    const struct curve *curve;
    struct dbuf data;
    unsigned log_n;
    size_t batch; /* 0 counts as 1 */
    struct fr root, shift;
};

/* Bases of MSMs. points: host memory, LEM, any byte offset. Infinity is allowed and skipped.
 * resident: copied into device memory now (with `multiples` window multiples where the device has room and use for
 * them; 0 = it chooses), and `points` may go afterwards. Otherwise they stay where they are, must outlive the handle,
 * and are streamed through chunks at each MSM (the host device reads them in place and never copies). */
struct bases_args {
    const struct curve *curve;
    enum group group;
    const void *points;
    size_t n;
    bool resident;
    unsigned multiples;
};

/* results[k] = sum over i < n_k of scalars[first_k + i] * bases_k[i], n_k = number of points of the bases.
 * scalars: plain (struct scalar), all < r, n of them; one pass over them serves all sets (A, B1, B2 and L of a proof
 * share the witness). Zeros, ones, short and full scalars are told apart by the device. */
struct msm_set {
    const struct bases *bases;
    size_t first;
    struct point *result; /* host memory, written by the time stream_sync returns */
};
struct msm_args {
    const struct curve *curve;
    struct dbuf scalars;
    size_t n;
    const struct msm_set *sets;
    size_t n_sets;
};

/* result = sum of the bases whose bit is set; bit i of the packed little-endian words is base i. */
struct sum_selected_args {
    const struct bases *bases;
    struct dbuf bits; /* 64-bit words */
    struct point *result;
};

/* A sparse matrix in compressed rows with a dictionary of coefficients. All arrays in host memory; resident as for
 * bases. dict holds v * R^2 mod r for the coefficient v ("double Montgomery", as zkey section 4 stores it), so that one
 * Montgomery product with a plain witness element gives a Montgomery result. */
struct matrix_args {
    const struct curve *curve;
    size_t rows, cols;
    const uint64_t *row; /* rows + 1 offsets into col and coef */
    const uint32_t *col;
    const uint32_t *coef; /* index into dict */
    const struct fr *dict;
    size_t n_dict;
    bool resident;
};

/* out[i] = sum_j M[i][j] w[j], i < rows, then zeros up to out_rows. w plain, out Montgomery. */
struct spmv_args {
    const struct matrix *matrix;
    struct dbuf w, out;
    size_t out_rows;
};

enum pointwise_op {
    POINTWISE_MUL,     /* out = a b */
    POINTWISE_MUL_SUB, /* out = a b - c */
    POINTWISE_SCALE,   /* out = k a */
    POINTWISE_SUB,     /* out = a - b */
};
/* out may be any of the inputs. plain: the result leaves Montgomery form (the scalars of an MSM). */
struct pointwise_args {
    const struct curve *curve;
    enum pointwise_op op;
    struct dbuf out, a, b, c;
    struct fr k;
    size_t n;
    bool plain;
};

/* out[i] = scalars[i] * base, LEM packed in device memory; scalars plain. Fixed base, for setup. */
struct mul_base_args {
    const struct curve *curve;
    enum group group;
    struct point base;
    struct dbuf scalars, out;
    size_t n;
};

/* Find the first faulty one of n LEM points in host memory. */
struct check_points_args {
    const struct curve *curve;
    enum group group;
    const void *points;
    size_t n;
    bool subgroup;           /* also test the subgroup; else canonical and on the curve */
    size_t *bad;             /* out: index, n = none */
    enum point_fault *fault; /* out */
};

/* What calls on a stream will need, taken before the first of them: workspace and tables. Addresses are not read, so
 * buffers need not exist yet. After it such calls do not allocate. */
struct reserve_args {
    const struct msm_args *msm;
    size_t n_msm;
    const struct ntt_coset_args *ntt_coset; /* NULL: none */
    const struct matrix *const *matrix;     /* of products */
    size_t n_matrix;
};

struct device_info {
    char name[96]; /* "host (2 threads, adx)", "NVIDIA H200" */
    char id[32];   /* "host", "cuda:0" */
    unsigned flags;
    unsigned threads;                /* host: worker threads; CUDA: SMs */
    size_t memory_bytes, free_bytes; /* free: what this handle could still take, memory_limit included */
};

struct device_ops {
    void (*close)(struct device *d);
    int (*info)(struct device *d, struct device_info *out);

    int (*alloc)(struct device *d, struct dbuf *out, size_t bytes); /* 64-byte aligned, contents undefined */
    void (*free)(struct device *d, struct dbuf buf);

    int (*stream_open)(struct device *d, struct stream **out, const struct stream_opts *opts);
    void (*stream_close)(struct stream *s); /* waits */
    int (*stream_sync)(struct stream *s);
    int (*event_open)(struct device *d, struct event **out);
    void (*event_close)(struct event *e);
    int (*event_record)(struct stream *s, struct event *e);
    int (*event_wait)(struct stream *s, struct event *e); /* the stream waits, not the caller */

    int (*copy_h2d)(struct stream *s, struct dbuf dst, const void *src, size_t bytes);
    int (*copy_d2h)(struct stream *s, void *dst, struct dbuf src, size_t bytes);
    int (*zero)(struct stream *s, struct dbuf dst, size_t bytes);

    /* Host memory that the device reads by DMA; `bytes` one whole range, no overlap with another. */
    int (*host_register)(struct device *d, void *base, size_t bytes);
    int (*host_unregister)(struct device *d, void *base);

    int (*bases_open)(struct device *d, struct bases **out, const struct bases_args *args);
    void (*bases_close)(struct bases *b);
    int (*matrix_open)(struct device *d, struct matrix **out, const struct matrix_args *args);
    void (*matrix_close)(struct matrix *m);

    int (*ntt)(struct stream *s, const struct ntt_args *args);
    int (*ntt_coset)(struct stream *s, const struct ntt_coset_args *args);
    int (*msm)(struct stream *s, const struct msm_args *args);
    int (*sum_selected)(struct stream *s, const struct sum_selected_args *args);
    int (*spmv)(struct stream *s, const struct spmv_args *args);
    int (*pointwise)(struct stream *s, const struct pointwise_args *args);
    int (*mul_base)(struct stream *s, const struct mul_base_args *args);
    int (*check_points)(struct stream *s, const struct check_points_args *args);
    /* -ENOMEM with need and room, nothing having run. NULL: this device has nothing to take. */
    int (*reserve)(struct stream *s, const struct reserve_args *args);
};

/* Implementations begin their own struct with these. A stream finds its device, and with it the table. */
struct device {
    const struct device_ops *ops;
};
struct stream {
    struct device *device;
};

/* Open by name: "host", "cuda:N", or "auto" (the first CUDA device, else host). Never falls back silently: "cuda:N"
 * without that device is -ENODEV. Close with d->ops->close(d). opts may be NULL. */
int device_open(struct device **out, const char *name, const struct device_opts *opts);
int device_host_open(struct device **out, const struct device_opts *opts);
/* -ENODEV in a build without the CUDA toolkit, without the driver, or without that GPU; the sentence says which. */
int device_cuda_open(struct device **out, unsigned ordinal, const struct device_opts *opts);
/* GPUs that this build could open; 0 without toolkit or driver. */
unsigned device_cuda_count(void);
/* CUDA version that the program was built with, 1000 * major + 10 * minor; 0: without the toolkit. Touches no driver. */
int device_cuda_built(void);

static inline struct dbuf dbuf_at(struct dbuf b, size_t offset, size_t bytes)
{
    return (struct dbuf){b.addr + offset, bytes};
}

/* A dbuf over the caller's memory; only for devices with DEVICE_HOST_MEMORY. */
static inline struct dbuf device_wrap(const void *p, size_t bytes)
{
    return (struct dbuf){(uint64_t)(uintptr_t)p, bytes};
}

#endif
