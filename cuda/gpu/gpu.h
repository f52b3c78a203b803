/* The CUDA device's own types, shared by its host files. Kernels are behind launch.h. */
#ifndef CUDA_GPU_GPU_H
#define CUDA_GPU_GPU_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>

#include "cuda/device.h"
#include "cuda/gpu/launch.h"
#include "cuda/gpu/launched.h"

enum { GPU_RANGES = 256, GPU_ALIGN = 256 };
#define GPU_COPY_CHUNK ((size_t)64 << 20) /* at 16 MiB H2D fell by 1 %, at 1 MiB by 13 % */
#define GPU_COPY_PIECE ((size_t)4 << 20)  /* to the host, while copies to the device are on their way */

/* Host memory registered for DMA, sorted by address: a copy must lie inside one range. */
struct gpu_range {
    char *base;
    size_t bytes;
};

struct gpu_tables;
struct gpu_base_table;

/* Chunks on their way up, oldest first: events passed .. queued - 1 */
enum { GPU_LINK_EVENTS = 64 };
struct gpu_link {
    cudaEvent_t event[GPU_LINK_EVENTS];
    uint64_t queued, passed;
};

struct gpu_device {
    struct device base;
    unsigned ordinal;
    int sms;
    size_t memory_limit;
    atomic_size_t taken;  /* bytes that this handle holds */
    pthread_mutex_t lock; /* ranges, link, tables */
    struct gpu_link link;
    struct gpu_range range[GPU_RANGES];
    size_t ranges;
    struct gpu_tables *tables;
    struct gpu_base_table *base_tables;
};

/* What is left to do on the host once the stream has run this far: fold an MSM's parts, fetch a verdict. */
struct gpu_finish {
    struct gpu_finish *next;
    void (*run)(struct gpu_finish *f);
};

/* Two in flight keep the link busy while kernels take equally long for each slice; the third slot gives way while one
 * reduces its buckets. */
enum { GPU_RING_SLOTS = 3 };

struct gpu_lane {
    struct stream base;
    cudaStream_t compute, copy; /* copy: streamed bases, beside the kernels */
    int failed;                 /* negative errno of the first failure */
    char why[1024];
    void *work; /* device workspace, grown when a larger operation comes */
    size_t work_bytes;
    bool reserved; /* the workspace was planned: operations fit themselves into it */
    char *pinned;  /* results on their way to the host */
    size_t pinned_used;
    struct gpu_finish *finish, **finish_end;
    struct stream_opts opts;
    struct gpu_mark *mark, **mark_end; /* spans whose events have not been read yet */
    struct gpu_mark *open;             /* of the operation that is being queued */
    char doing[640];                   /* what was queued since the last sync, in words */
    size_t doing_bytes, doing_more;
    cudaEvent_t epoch;
    uint64_t epoch_ns;
    struct gpu_ring {
        char *memory; /* GPU_RING_SLOTS of streamed bases */
        size_t slot_bytes;
        unsigned next;             /* slot of the next slice */
        bool used[GPU_RING_SLOTS]; /* its `consumed` was recorded */
        bool busy;                 /* slices were queued since the last sync: copies run ahead */
        cudaEvent_t copied[GPU_RING_SLOTS], consumed[GPU_RING_SLOTS];
    } ring;
};
enum { GPU_PINNED_BYTES = 4 << 20 };

static inline struct gpu_device *gpu_of(struct stream *s)
{
    return (struct gpu_device *)s->device;
}
static inline struct gpu_lane *lane_of(struct stream *s)
{
    return (struct gpu_lane *)s;
}
static inline cudaStream_t compute_of(struct stream *s)
{
    return lane_of(s)->compute;
}

/* gpu_device.c, gpu_ops.c */
extern const struct device_ops gpu_ops;
void gpu_close(struct device *d);
int gpu_info(struct device *d, struct device_info *out);

/* gpu_error.c: rc is a cudaError_t; 0 stays 0, else -ENOMEM or -EIO with "cuda:N: what: reason". After a sticky error
 * no handle can be opened on the GPU until the open ones are closed; the last one resets it. Where the driver
 * then gives the GPU to new processes only, opening it is -EIO and says so. */
int gpu_context_select(const struct gpu_device *d);
int gpu_fail(const struct gpu_device *d, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same, and the stream refuses work from now on. */
int lane_fail(struct stream *s, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* 0 if the stream takes work and this thread now talks to its GPU */
int lane_enter(struct stream *s);
void lane_note(struct stream *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void lane_notes_clear(struct gpu_lane *l);
/* A handle more on the GPU, and one less. -EIO while a failed context waits for its handles to close. */
int gpu_context_enter(unsigned ordinal);
void gpu_context_leave(unsigned ordinal);

/* gpu_reserve.c */
int gpu_reserve(struct stream *s, const struct reserve_args *args);

/* gpu_link.c: a chunk up was queued; a piece down is about to be queued. cudaError_t */
int link_up(struct gpu_device *d, cudaStream_t on);
int link_down(struct gpu_device *d, cudaStream_t on);
void link_close(struct gpu_device *d);

/* gpu_ring.c: streamed bases on their way. The copy stream fills one slot while the kernels read the other; it runs
 * ahead of them, also into the next operation. Put what a slice needs, queue the kernels that read it, then say so:
 *     ring_begin -> ring_put .. -> (kernels that need none of it) -> ring_arrive -> kernels -> ring_end */
int ring_reserve(struct stream *s, size_t slot_bytes);
int ring_begin(struct stream *s, unsigned *slot);
/* Copy into the slot; at and bytes within slot_bytes. */
int ring_put(struct stream *s, unsigned slot, size_t at, const void *src, size_t bytes);
char *ring_slot(struct stream *s, unsigned slot);
int ring_arrive(struct stream *s, unsigned slot);
int ring_end(struct stream *s, unsigned slot);
void ring_close(struct stream *s);
/* Scalars of the slice that begins at `at` of n, when slices hold at most `most`. warm: copies run ahead. */
size_t gpu_slice(size_t n, size_t at, size_t most, bool warm);

/* gpu_memory.c */
int gpu_take(struct gpu_device *d, void **out, size_t bytes, const char *what);
void gpu_give(struct gpu_device *d, void *p, size_t bytes);
size_t gpu_room(struct gpu_device *d); /* bytes that gpu_take could give now */
int gpu_alloc(struct device *d, struct dbuf *out, size_t bytes);
void gpu_free(struct device *d, struct dbuf buf);
/* The stream's workspace, at least `bytes`. */
int lane_work(struct stream *s, void **out, size_t bytes, const char *what);
/* Pinned memory for a result, valid until the next stream_sync; may wait for the stream. */
int lane_pinned(struct stream *s, void **out, size_t bytes);

static inline size_t gpu_round(size_t bytes)
{
    return (bytes + GPU_ALIGN - 1) / GPU_ALIGN * GPU_ALIGN;
}

/* Carving a workspace: *at moves on by the rounded size. */
static inline void *gpu_carve(char **at, size_t bytes)
{
    void *p = *at;
    *at += gpu_round(bytes);
    return p;
}

/* gpu_stream.c */
int gpu_stream_open(struct device *d, struct stream **out, const struct stream_opts *opts);
void gpu_stream_close(struct stream *s);
int gpu_stream_sync(struct stream *s);
int gpu_event_open(struct device *d, struct event **out);
void gpu_event_close(struct event *e);
int gpu_event_record(struct stream *s, struct event *e);
int gpu_event_wait(struct stream *s, struct event *e);
void lane_finish(struct stream *s, struct gpu_finish *f); /* run at the next sync */
/* Around an operation: a span by the device's clock, if the stream has a list. stage: static string. */
void lane_begin(struct stream *s, const char *stage);
void lane_end(struct stream *s, size_t bytes);
/* The same around a piece of work on any stream of the lane, beside its operations. NULL is no span. */
struct gpu_mark *lane_mark_begin(struct stream *s, const char *stage, size_t bytes, cudaStream_t on);
void lane_mark_end(struct gpu_mark *m, cudaStream_t on);

/* gpu_copy.c */
int gpu_copy_h2d(struct stream *s, struct dbuf dst, const void *src, size_t bytes);
int gpu_copy_d2h(struct stream *s, void *dst, struct dbuf src, size_t bytes);
int gpu_zero(struct stream *s, struct dbuf dst, size_t bytes);
int gpu_host_register(struct device *d, void *base, size_t bytes);
int gpu_host_unregister(struct device *d, void *base);
/* Host to device on any CUDA stream, in chunks cut at registration seams; returns a cudaError_t. */
int gpu_upload(struct gpu_device *d, cudaStream_t to, void *dst, const void *src, size_t bytes);
/* The same, a span for each chunk on the lane "h2d", and counted. */
int lane_upload(struct stream *s, cudaStream_t to, void *dst, const void *src, size_t bytes);

/* gpu_bases.c */
struct bases {
    struct gpu_device *device;
    const struct curve *curve;
    const struct gpu_group_ops *ops;
    enum group group;
    size_t n;
    const char *host; /* streamed: where the points are */
    void *points;     /* resident: multiples * n affine points */
    size_t bytes;
    unsigned c, windows, sets, multiples; /* resident: fixed when opened */
};
int gpu_bases_open(struct device *d, struct bases **out, const struct bases_args *args);
void gpu_bases_close(struct bases *b);
const struct gpu_group_ops *gpu_group_of(const struct curve *c, enum group g);
const struct gpu_field_ops *gpu_field_of(const struct curve *c);
void gpu_order_words(uint32_t r[8], const struct curve *c);

/* Width, windows, sets for n points when `multiples` window multiples of each exist (1 = none). */
struct gpu_windows {
    unsigned c, windows, sets, multiples;
};
struct gpu_windows gpu_windows_choose(unsigned fr_bits, size_t n, size_t table_bytes, size_t affine_bytes,
                                      unsigned multiples);

/* gpu_msm.c */
int gpu_msm(struct stream *s, const struct msm_args *args);
int gpu_sum_selected(struct stream *s, const struct sum_selected_args *args);
int gpu_msm_reserve(struct stream *s, const struct msm_args *args); /* the workspace of such a call */

/* gpu_ntt.c, gpu_tables.c */
int gpu_ntt(struct stream *s, const struct ntt_args *args);
int gpu_ntt_coset(struct stream *s, const struct ntt_coset_args *args);
int gpu_ntt_coset_tables(struct stream *s, const struct ntt_coset_args *args); /* all that such a call looks up */
int gpu_tables_get(struct stream *s, struct gpu_ntt_tables *out, const struct curve *c, struct fr root, unsigned log_n);
int gpu_powers_get(struct stream *s, struct gpu_ntt_powers *out, const struct curve *c, struct fr base,
                   struct fr factor, unsigned log_n);
void gpu_tables_close(struct gpu_device *d);

/* gpu_matrix.c */
int gpu_matrix_open(struct device *d, struct matrix **out, const struct matrix_args *args);
void gpu_matrix_close(struct matrix *m);
int gpu_spmv(struct stream *s, const struct spmv_args *args);
size_t gpu_spmv_work(const struct matrix *m); /* bytes of workspace */

/* gpu_base_table.c: multiples of a fixed base for windows of `bits` (8 or 16); device memory, ready to be read */
int gpu_base_table_get(struct stream *s, const void **out, const struct gpu_group_ops *ops, const struct point *base,
                       unsigned bits);
void gpu_base_tables_close(struct gpu_device *d);

/* gpu_bulk.c */
int gpu_pointwise(struct stream *s, const struct pointwise_args *args);
int gpu_mul_base(struct stream *s, const struct mul_base_args *args);
int gpu_check_points(struct stream *s, const struct check_points_args *args);

static inline struct gpu_fr gpu_fr_of(struct fr a)
{
    struct gpu_fr r = {{a.l[0], a.l[1], a.l[2], a.l[3]}};
    return r;
}

#endif
