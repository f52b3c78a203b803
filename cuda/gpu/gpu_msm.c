/* Multi-scalar multiplication on the stream.
 *
 *   scalars --count, scan, scatter--> entries by bucket --accumulate--> bucket sums --reduce--> parts --host--> point
 *
 * Sets whose bases have the same windows share the entries. Work goes by slices of scalars: all at once where memory
 * allows, smaller ones where bases are streamed, so that the copy of the next slice's bases runs beside this slice's
 * additions. Bucket sums live through all slices. */
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

enum { SETS_MAX = 16, SLICE_MIN = 1 << 12 };
static const size_t SLICE_MAX = (size_t)1 << GPU_INDEX_BITS;

struct set_run {
    const struct bases *bases;
    size_t first; /* index of the scalar of base 0 */
    struct point *result;
    void *bucket;
    size_t stage, points; /* streamed: where a slot of the ring holds them, as copied and as aligned */
    bool added;
};

struct msm_run {
    struct stream *s;
    const struct curve *curve;
    const char *scalars, *bits; /* one of them, device memory */
    size_t n, step;
    struct gpu_windows w;
    bool streamed;
    unsigned sets;
    struct set_run set[SETS_MAX];
    uint32_t buckets; /* of all bucket sets */
    uint32_t *count, *offset, *sums, *rank, *entries, *ends;
    void *accumulate, *reduce, *parts;
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Words that gpu_scan sees: buckets, or the words of a slice's bits */
static size_t scan_words(const struct msm_run *r)
{
    return r->bits ? r->step / 64 + 1 : r->buckets;
}

static size_t stage_bytes(const struct msm_run *r, const struct bases *b)
{
    return r->step * b->ops->affine_bytes + 256;
}

/* Lay the workspace out from `at`; with NULL this is its size. */
static size_t run_carve(struct msm_run *r, char *at)
{
    char *from = at;
    size_t words = scan_words(r), accumulate = 0, reduce = 0, parts = 0, copies = r->bits ? 1 : r->w.windows;
    r->count = gpu_carve(&at, words * 4);
    r->offset = gpu_carve(&at, (words + 1) * 4);
    r->sums = gpu_carve(&at, gpu_scan_scratch(words) * 4);
    r->ends = gpu_carve(&at, 8);
    r->rank = gpu_carve(&at, r->bits ? 0 : copies * r->step * 4);
    r->entries = gpu_carve(&at, copies * r->step * 4);
    for (unsigned i = 0; i < r->sets; i++) {
        struct set_run *t = &r->set[i];
        const struct gpu_group_ops *ops = t->bases->ops;
        t->bucket = gpu_carve(&at, r->buckets * ops->xyzz_bytes);
        accumulate = max_size(accumulate, ops->accumulate_scratch());
        if (r->bits)
            continue;
        reduce = max_size(reduce, ops->reduce_scratch(r->w.sets, r->buckets / r->w.sets));
        parts =
            max_size(parts, r->w.sets * ops->reduce_shape(r->w.sets, r->buckets / r->w.sets).planes * ops->xyzz_bytes);
    }
    r->accumulate = gpu_carve(&at, accumulate);
    r->reduce = gpu_carve(&at, reduce);
    r->parts = gpu_carve(&at, parts);
    return (size_t)(at - from);
}

/* Lay a slot of the ring out, for slices of r->step; its size. */
static size_t run_slot(struct msm_run *r)
{
    size_t at = 0;
    for (unsigned i = 0; i < r->sets; i++) {
        struct set_run *t = &r->set[i];
        size_t bytes = gpu_round(stage_bytes(r, t->bases));
        if (t->bases->points || t->bases->n == 0)
            continue;
        t->stage = at;
        t->points = at + bytes;
        at += (uintptr_t)t->bases->host % 16 ? 2 * bytes : bytes;
    }
    return at;
}

/* Reserved memory is not traded between workspace and ring; else what they hold already counts. */
static bool run_fits(const struct msm_run *r, size_t need, size_t slot)
{
    const struct gpu_lane *l = lane_of(r->s);
    size_t held = l->work_bytes + GPU_RING_SLOTS * l->ring.slot_bytes;
    if (need <= l->work_bytes && slot <= l->ring.slot_bytes)
        return true;
    if (l->reserved)
        return false;
    return max_size(need, l->work_bytes) + GPU_RING_SLOTS * max_size(slot, l->ring.slot_bytes) <=
           held + gpu_room(gpu_of(r->s));
}

/* The largest slice that fits what is free, then the workspace for it. */
static int run_plan(struct msm_run *r)
{
    r->step = (r->n + 63) / 64 * 64;
    if (r->streamed) /* no slice is larger than half */
        r->step = (r->step / 2 + 63) / 64 * 64;
    if (r->step > SLICE_MAX)
        r->step = SLICE_MAX;
    size_t need = run_carve(r, NULL), slot = run_slot(r);
    while (!run_fits(r, need, slot) && r->step > SLICE_MIN) {
        r->step = r->step / 128 * 64;
        need = run_carve(r, NULL);
        slot = run_slot(r);
    }
    void *work;
    int rc = lane_work(r->s, &work, need, r->bits ? "sum_selected" : "MSM");
    if (!rc && r->streamed)
        rc = ring_reserve(r->s, slot);
    if (!rc)
        run_carve(r, work);
    return rc;
}

/* Entries of scalars [at, at + some), sorted by bucket. */
static int slice_sort(struct msm_run *r, size_t at, size_t some)
{
    cudaStream_t on = compute_of(r->s);
    int rc;
    if (r->bits) {
        const uint64_t *bits = (const uint64_t *)(const void *)(r->bits + at / 8);
        size_t words = (some + 63) / 64;
        rc = gpu_bits_count(on, bits, some, r->count);
        if (!rc)
            rc = gpu_scan(on, r->count, r->offset, words, r->sums);
        if (!rc)
            rc = gpu_bits_entries(on, bits, some, r->offset, r->entries);
        if (!rc)
            rc = (int)cudaMemsetAsync(r->ends, 0, 8, on);
        if (!rc)
            rc = (int)cudaMemcpyAsync(r->ends + 1, r->offset + words, 4, cudaMemcpyDeviceToDevice, on);
        return lane_fail(r->s, rc, "sum_selected, entries of bits %zu to %zu", at, at + some);
    }
    struct gpu_digits d = {r->scalars + at * 32, (uint32_t)some, r->w.c, r->w.windows, r->w.sets, {0}};
    gpu_order_words(d.r, r->curve);
    rc = (int)cudaMemsetAsync(r->count, 0, r->buckets * 4, on);
    if (!rc)
        rc = gpu_digits_count(on, &d, r->count, r->rank);
    if (!rc)
        rc = gpu_scan(on, r->count, r->offset, r->buckets, r->sums);
    if (!rc)
        rc = gpu_digits_scatter(on, &d, r->offset, r->rank, r->entries);
    return lane_fail(r->s, rc, "MSM, digits of scalars %zu to %zu (width %u)", at, at + some, r->w.c);
}

/* Part of the slice that has bases: [first, limit) of it, and the base of its first. */
struct cover {
    size_t first, limit, base;
};
static struct cover slice_cover(const struct set_run *t, size_t at, size_t some)
{
    struct cover c = {0, some, 0};
    size_t end = t->first + t->bases->n;
    if (t->first > at)
        c.first = t->first - at < some ? t->first - at : some;
    if (end < at + some)
        c.limit = end > at ? end - at : 0;
    if (c.first < c.limit)
        c.base = at + c.first - t->first;
    return c;
}

/* Copy the slice's streamed bases beside the kernels, from the 64-byte line before them. */
static int slice_upload(struct msm_run *r, size_t at, size_t some, unsigned slot)
{
    int rc = 0;
    for (unsigned i = 0; i < r->sets && !rc; i++) {
        struct set_run *t = &r->set[i];
        struct cover c = slice_cover(t, at, some);
        if (t->bases->points || c.first >= c.limit)
            continue;
        size_t bytes = t->bases->ops->affine_bytes;
        const char *from = t->bases->host + c.base * bytes;
        size_t head = (uintptr_t)from % 64;
        rc = ring_put(r->s, slot, t->stage, from - head, head + (c.limit - c.first) * bytes);
    }
    return rc;
}

static int set_accumulate(struct msm_run *r, struct set_run *t, size_t at, size_t some, unsigned slot)
{
    struct cover c = slice_cover(t, at, some);
    if (c.first >= c.limit)
        return 0;
    const struct bases *b = t->bases;
    size_t bytes = b->ops->affine_bytes;
    int rc = 0;
    const char *points = (const char *)b->points + c.base * bytes;
    if (!b->points) {
        points = ring_slot(r->s, slot) + t->stage;
        size_t head = (uintptr_t)(b->host + c.base * bytes) % 64;
        points += head / 16 * 16;
        if (head % 16) {
            char *to = ring_slot(r->s, slot) + t->points;
            rc = gpu_realign(compute_of(r->s), to, points, (unsigned)(head % 16), (c.limit - c.first) * bytes);
            points = to;
        }
    }
    struct gpu_accumulate a = {.bases = points,
                               .stride = b->n,
                               .first = (uint32_t)c.first,
                               .limit = (uint32_t)c.limit,
                               .entries = r->entries,
                               .offset = r->bits ? r->ends : r->offset,
                               .buckets = r->buckets,
                               .add = t->added,
                               .bucket = t->bucket,
                               .scratch = r->accumulate};
    if (!rc)
        rc = b->ops->accumulate(compute_of(r->s), &a);
    t->added = true;
    return lane_fail(r->s, rc, "MSM, accumulation of scalars %zu to %zu into %u buckets", at, at + some, r->buckets);
}

static int run_slices(struct msm_run *r)
{
    struct gpu_lane *l = lane_of(r->s);
    int rc = 0;
    for (unsigned i = 0; i < r->sets && !rc; i++)
        rc = (int)cudaMemsetAsync(r->set[i].bucket, 0, r->buckets * r->set[i].bases->ops->xyzz_bytes, l->compute);
    rc = lane_fail(r->s, rc, "MSM, clearing %u buckets", r->buckets);
    bool warm = l->ring.busy;
    for (size_t at = 0, some; at < r->n && !rc; at += some) {
        unsigned slot = 0;
        some = r->streamed ? gpu_slice(r->n, at, r->step, warm) : r->n - at < r->step ? r->n - at : r->step;
        if (r->streamed)
            rc = ring_begin(r->s, &slot);
        if (!rc && r->streamed)
            rc = slice_upload(r, at, some, slot);
        if (!rc)
            rc = slice_sort(r, at, some);
        if (!rc && r->streamed)
            rc = ring_arrive(r->s, slot);
        for (unsigned i = 0; i < r->sets && !rc; i++)
            rc = set_accumulate(r, &r->set[i], at, some, slot);
        if (!rc && r->streamed)
            rc = ring_end(r->s, slot);
    }
    return rc;
}

struct msm_finish {
    struct gpu_finish f;
    const struct gpu_group_ops *ops;
    const void *parts; /* pinned */
    unsigned sets, c;
    struct gpu_reduce_shape shape;
    struct point *result;
};

static void msm_fold(struct gpu_finish *f)
{
    struct msm_finish *m = (struct msm_finish *)f;
    _Alignas(64) unsigned char out[sizeof(struct point)] = {0};
    m->ops->fold(out, m->parts, m->sets, m->c, m->shape);
    memcpy(m->result, out, sizeof out);
}

/* Bucket sums to parts, parts to the host, the rest at the next sync. */
static int set_finish(struct msm_run *r, struct set_run *t)
{
    const struct gpu_group_ops *ops = t->bases->ops;
    struct msm_finish *m = calloc(1, sizeof *m);
    if (!m)
        return err_fail(-ENOMEM, "MSM: out of memory");
    *m = (struct msm_finish){.f.run = msm_fold, .ops = ops, .sets = 1, .shape = {1, 1, 1}, .result = t->result};
    const void *parts = t->bucket;
    int rc = 0;
    if (!r->bits) {
        struct gpu_reduce d = {t->bucket, r->w.sets, r->buckets / r->w.sets, r->reduce};
        m->sets = r->w.sets;
        m->c = r->w.c;
        m->shape = ops->reduce_shape(d.sets, d.buckets);
        rc = lane_fail(r->s, ops->reduce(compute_of(r->s), &d, r->parts), "MSM, reduction of %u buckets", r->buckets);
        parts = r->parts;
    }
    size_t bytes = (size_t)m->sets * m->shape.planes * ops->xyzz_bytes;
    void *pinned = NULL;
    if (!rc)
        rc = lane_pinned(r->s, &pinned, bytes);
    if (!rc)
        rc = lane_fail(r->s, (int)cudaMemcpyAsync(pinned, parts, bytes, cudaMemcpyDeviceToHost, compute_of(r->s)),
                       "MSM, fetching %zu bytes of sums", bytes);
    if (rc) {
        free(m);
        return rc;
    }
    m->parts = pinned;
    lane_finish(r->s, &m->f);
    return 0;
}

static int run_all(struct msm_run *r)
{
    int rc = run_plan(r);
    if (!rc)
        rc = run_slices(r);
    for (unsigned i = 0; i < r->sets && !rc; i++)
        rc = set_finish(r, &r->set[i]);
    return rc;
}

static void run_add(struct msm_run *r, const struct bases *b, size_t first, struct point *result)
{
    r->streamed |= b->points == NULL && b->n > 0;
    r->set[r->sets++] = (struct set_run){.bases = b, .first = first, .result = result};
}

static bool same_windows(const struct bases *a, const struct bases *b)
{
    return a->c == b->c && a->windows == b->windows && a->sets == b->sets;
}

static int sets_check(struct stream *s, const struct msm_args *a)
{
    if (a->scalars.bytes / 32 < a->n || a->scalars.addr % 16)
        return err_fail(-EINVAL, "msm: a buffer of %zu bytes does not hold %zu scalars", a->scalars.bytes, a->n);
    if (a->n_sets > SETS_MAX)
        return err_fail(-EINVAL, "msm: %zu sets in one call, at most %d", a->n_sets, SETS_MAX);
    for (size_t i = 0; i < a->n_sets; i++) {
        const struct bases *b = a->sets[i].bases;
        if (a->sets[i].first > a->n || b->n > a->n - a->sets[i].first)
            return err_fail(-EINVAL, "msm: set %zu needs scalars %zu to %zu of %zu", i, a->sets[i].first,
                            a->sets[i].first + b->n, a->n);
        if (b->curve != a->curve)
            return err_fail(-EINVAL, "msm: set %zu is on %s, the scalars on %s", i, b->curve->title, a->curve->title);
    }
    return lane_enter(s);
}

/* `run` for each group of sets whose bases have the same windows */
static int groups_each(struct stream *s, const struct msm_args *args, int (*run)(struct msm_run *))
{
    bool done[SETS_MAX] = {false};
    int rc = 0;
    for (size_t i = 0; i < args->n_sets && !rc; i++) {
        const struct bases *b = args->sets[i].bases;
        if (b->n == 0 || done[i])
            continue;
        struct msm_run r = {.s = s,
                            .curve = args->curve,
                            .scalars = (const char *)(uintptr_t)args->scalars.addr,
                            .n = args->n,
                            .w = {b->c, b->windows, b->sets, b->multiples},
                            .buckets = b->sets << (b->c - 1)};
        for (size_t k = i; k < args->n_sets; k++)
            if (args->sets[k].bases->n && same_windows(args->sets[k].bases, b)) {
                run_add(&r, args->sets[k].bases, args->sets[k].first, args->sets[k].result);
                done[k] = true;
            }
        rc = run(&r);
    }
    return rc;
}

int gpu_msm(struct stream *s, const struct msm_args *args)
{
    int rc = sets_check(s, args);
    if (rc)
        return rc;
    for (size_t i = 0; i < args->n_sets; i++)
        if (args->sets[i].bases->n == 0)
            memset(args->sets[i].result, 0, sizeof *args->sets[i].result);
    lane_begin(s, "msm");
    rc = groups_each(s, args, run_all);
    lane_end(s, 0);
    return rc;
}

int gpu_msm_reserve(struct stream *s, const struct msm_args *args)
{
    return groups_each(s, args, run_plan);
}

int gpu_sum_selected(struct stream *s, const struct sum_selected_args *args)
{
    const struct bases *b = args->bases;
    if (args->bits.bytes / 8 < (b->n + 63) / 64)
        return err_fail(-EINVAL, "sum_selected: a buffer of %zu bytes does not hold %zu bits", args->bits.bytes, b->n);
    int rc = lane_enter(s);
    if (rc)
        return rc;
    memset(args->result, 0, sizeof *args->result);
    if (b->n == 0)
        return 0;
    struct msm_run r = {
        .s = s, .curve = b->curve, .bits = (const char *)(uintptr_t)args->bits.addr, .n = b->n, .buckets = 1};
    run_add(&r, b, 0, args->result);
    lane_begin(s, "sum_selected");
    rc = run_all(&r);
    lane_end(s, 0);
    return rc;
}
