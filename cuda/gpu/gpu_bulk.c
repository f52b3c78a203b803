/* Pointwise work, fixed-base multiplication, checks of points. */
#include <stdlib.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

static const struct gpu_fr *fr_at(struct dbuf b)
{
    return (const struct gpu_fr *)(uintptr_t)b.addr;
}

int gpu_pointwise(struct stream *s, const struct pointwise_args *a)
{
    bool b = a->op != POINTWISE_SCALE, c = a->op == POINTWISE_MUL_SUB;
    if (a->out.bytes / 32 < a->n || a->a.bytes / 32 < a->n || (b && a->b.bytes / 32 < a->n) ||
        (c && a->c.bytes / 32 < a->n))
        return err_fail(-EINVAL, "pointwise: a buffer holds less than %zu scalars", a->n);
    static const enum gpu_pointwise op[] = {[POINTWISE_MUL] = GPU_MUL,
                                            [POINTWISE_MUL_SUB] = GPU_MUL_SUB,
                                            [POINTWISE_SCALE] = GPU_SCALE,
                                            [POINTWISE_SUB] = GPU_SUB};
    int rc = lane_enter(s);
    if (rc || a->n == 0)
        return rc;
    lane_begin(s, "pointwise");
    rc = gpu_field_of(a->curve)->pointwise(compute_of(s), op[a->op], (struct gpu_fr *)(uintptr_t)a->out.addr,
                                           fr_at(a->a), fr_at(a->b), fr_at(a->c), gpu_fr_of(a->k), a->n, a->plain);
    rc = lane_fail(s, rc, "pointwise work on %zu scalars", a->n);
    lane_end(s, 0);
    return rc;
}

enum { BULK_STEP = 1 << 20, BASE_WIDE = 1 << 16 }; /* from here on the wide table pays */

int gpu_mul_base(struct stream *s, const struct mul_base_args *a)
{
    const struct gpu_group_ops *ops = gpu_group_of(a->curve, a->group);
    if (a->scalars.bytes / 32 < a->n || a->out.bytes / ops->affine_bytes < a->n)
        return err_fail(-EINVAL, "mul_base: buffers of %zu and %zu bytes do not hold %zu scalars and points",
                        a->scalars.bytes, a->out.bytes, a->n);
    int rc = lane_enter(s);
    if (rc || a->n == 0)
        return rc;
    size_t step = a->n < BULK_STEP ? a->n : BULK_STEP;
    /* the wide table and what it takes to make it: 0.7 GB at most */
    unsigned bits = a->n < BASE_WIDE || gpu_room(gpu_of(s)) >> 30 == 0 ? 8 : 16;
    const void *table;
    void *scratch;
    rc = gpu_base_table_get(s, &table, ops, &a->base, bits);
    if (!rc)
        rc = lane_work(s, &scratch, ops->normalize_scratch(step), "mul_base");
    if (rc)
        return rc;
    lane_begin(s, "mul_base");
    for (size_t i = 0; i < a->n && !rc; i += step) {
        size_t some = a->n - i < step ? a->n - i : step;
        rc = ops->mul_base(compute_of(s), (char *)(uintptr_t)a->out.addr + i * ops->affine_bytes, table, bits,
                           (const char *)(uintptr_t)a->scalars.addr + i * 32, some, scratch);
        rc = lane_fail(s, rc, "mul_base, points %zu to %zu of %zu", i, i + some, a->n);
    }
    lane_end(s, a->n * ops->affine_bytes);
    return rc;
}

struct check_finish {
    struct gpu_finish f;
    const uint64_t *bad; /* pinned */
    size_t n, *index;
    enum point_fault *fault;
};

static void check_run(struct gpu_finish *f)
{
    struct check_finish *c = (struct check_finish *)f;
    bool none = *c->bad == UINT64_MAX;
    *c->index = none ? c->n : *c->bad >> 2;
    *c->fault = none ? POINT_OK : (enum point_fault)(*c->bad & 3);
}

static int check_chunks(struct stream *s, const struct check_points_args *a, char *work, uint64_t *bad)
{
    const struct gpu_group_ops *ops = gpu_group_of(a->curve, a->group);
    size_t head = (uintptr_t)a->points % 64, bytes = ops->affine_bytes;
    char *stage = gpu_carve(&work, BULK_STEP * bytes + 128), *points = work;
    uint32_t r[8];
    gpu_order_words(r, a->curve);
    for (size_t i = 0; i < a->n; i += BULK_STEP) {
        size_t some = a->n - i < BULK_STEP ? a->n - i : BULK_STEP;
        int rc = gpu_upload(gpu_of(s), compute_of(s), stage, (const char *)a->points + i * bytes - head,
                            head + some * bytes);
        if (!rc)
            rc = gpu_realign(compute_of(s), points, stage + head / 16 * 16, (unsigned)(head % 16), some * bytes);
        if (!rc)
            rc = ops->check(compute_of(s), points, some, i, a->subgroup, &a->curve->generator[a->group], r, bad);
        if (rc)
            return lane_fail(s, rc, "checking points %zu to %zu of %zu", i, i + some, a->n);
    }
    return 0;
}

int gpu_check_points(struct stream *s, const struct check_points_args *a)
{
    const struct gpu_group_ops *ops = gpu_group_of(a->curve, a->group);
    int rc = lane_enter(s);
    if (rc)
        return rc;
    void *work, *pinned;
    size_t bytes = 2 * gpu_round(BULK_STEP * ops->affine_bytes + 128) + GPU_ALIGN;
    rc = lane_work(s, &work, bytes, "checking points");
    if (!rc)
        rc = lane_pinned(s, &pinned, sizeof(uint64_t));
    if (rc)
        return rc;
    struct check_finish *f = calloc(1, sizeof *f);
    if (!f)
        return err_fail(-ENOMEM, "checking points: out of memory");
    *f = (struct check_finish){.f.run = check_run, .bad = pinned, .n = a->n, .index = a->bad, .fault = a->fault};
    char *at = work;
    uint64_t *bad = gpu_carve(&at, sizeof *bad);
    lane_begin(s, "check_points");
    rc = lane_fail(s, (int)cudaMemsetAsync(bad, 0xff, sizeof *bad, compute_of(s)), "checking points");
    if (!rc)
        rc = check_chunks(s, a, at, bad);
    if (!rc)
        rc = lane_fail(s, (int)cudaMemcpyAsync(pinned, bad, sizeof *bad, cudaMemcpyDeviceToHost, compute_of(s)),
                       "checking points");
    lane_end(s, a->n * ops->affine_bytes);
    if (rc)
        free(f);
    else
        lane_finish(s, &f->f);
    return rc;
}
