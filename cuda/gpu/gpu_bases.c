/* Bases of MSMs: resident with their window multiples, or left on the host for streaming. */
#include <stdlib.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

const struct gpu_group_ops *gpu_group_of(const struct curve *c, enum group g)
{
    if (c->id == CURVE_BN254)
        return g == GROUP_G1 ? &gpu_bn254_g1 : &gpu_bn254_g2;
    return g == GROUP_G1 ? &gpu_bls12381_g1 : &gpu_bls12381_g2;
}

const struct gpu_field_ops *gpu_field_of(const struct curve *c)
{
    return c->id == CURVE_BN254 ? &gpu_bn254_fr : &gpu_bls12381_fr;
}

void gpu_order_words(uint32_t r[8], const struct curve *c)
{
    for (int i = 0; i < 8; i++)
        r[i] = (uint32_t)(c->fr->p[i / 2] >> (i % 2 * 32));
}

/* Points from any byte offset of the host to 16-byte aligned ones on the device: the copy starts at the 64-byte line
 * before, a kernel moves the bytes down. */
static int points_upload(struct stream *s, void *dst, const char *src, size_t bytes)
{
    size_t head = (size_t)((uintptr_t)src % 64);
    lane_note(s, "copy of %zu bytes of bases", bytes);
    if (head == 0)
        return lane_fail(s, gpu_upload(gpu_of(s), compute_of(s), dst, src, bytes), "copying %zu bytes of bases", bytes);
    size_t step = GPU_COPY_CHUNK;
    void *stage;
    int rc = lane_work(s, &stage, step + 128, "staging of bases");
    for (size_t at = 0; at < bytes && !rc; at += step) {
        size_t some = bytes - at < step ? bytes - at : step;
        /* step is a multiple of 64: head is the same in every chunk */
        rc = lane_fail(s, gpu_upload(gpu_of(s), compute_of(s), stage, src + at - head, head + some),
                       "copying %zu bytes of bases", some);
        if (!rc)
            rc = lane_fail(s,
                           gpu_realign(compute_of(s), (char *)dst + at, (char *)stage + head / 16 * 16,
                                       (unsigned)(head % 16), some),
                           "aligning %zu bytes of bases", some);
    }
    return rc;
}

/* Multiple m = 2^(c sets) times multiple m - 1, in slices whose scratch stays small. */
static int multiples_make(struct stream *s, struct bases *b)
{
    size_t step = b->n < 1 << 21 ? b->n : 1 << 21, bytes = b->ops->affine_bytes;
    void *scratch;
    if (b->multiples > 1)
        lane_note(s, "%u window multiples of %zu bases", b->multiples, b->n);
    int rc = b->multiples > 1 ? lane_work(s, &scratch, b->ops->normalize_scratch(step), "window multiples") : 0;
    for (unsigned m = 1; m < b->multiples && !rc; m++)
        for (size_t at = 0; at < b->n && !rc; at += step) {
            size_t some = b->n - at < step ? b->n - at : step;
            char *to = (char *)b->points + (m * b->n + at) * bytes;
            rc = lane_fail(s, b->ops->multiply(compute_of(s), to, to - b->n * bytes, some, b->c * b->sets, scratch),
                           "window multiple %u of %zu bases", m, b->n);
        }
    return rc;
}

static int bases_fill(struct gpu_device *d, struct bases *b, const void *points)
{
    struct stream *s;
    int rc = gpu_stream_open(&d->base, &s, NULL);
    if (rc)
        return rc;
    rc = points_upload(s, b->points, points, b->n * b->ops->affine_bytes);
    if (!rc)
        rc = multiples_make(s, b);
    int end = gpu_stream_sync(s);
    gpu_stream_close(s);
    return rc ? rc : end;
}

int gpu_bases_open(struct device *dev, struct bases **out, const struct bases_args *args)
{
    struct gpu_device *d = (struct gpu_device *)dev;
    int rc = gpu_fail(d, (int)cudaSetDevice((int)d->ordinal), "selecting the GPU");
    if (rc)
        return rc;
    if (args->n >> 32)
        return err_fail(-EINVAL, "cuda:%u: %zu bases are over the limit of 2^32", d->ordinal, args->n);
    struct bases *b = calloc(1, sizeof *b);
    if (!b)
        return err_fail(-ENOMEM, "bases: out of memory");
    b->device = d;
    b->curve = args->curve;
    b->group = args->group;
    b->ops = gpu_group_of(args->curve, args->group);
    b->n = args->n;
    /* half of what is free: the other half is for other tables and the workspace */
    size_t room = args->resident ? gpu_room(d) / (args->multiples ? 1 : 2) : 0;
    struct gpu_windows w =
        gpu_windows_choose(b->curve->fr_bits, b->n, room, b->ops->affine_bytes, args->resident ? args->multiples : 1);
    b->c = w.c;
    b->windows = w.windows;
    b->sets = w.sets;
    b->multiples = w.multiples;
    if (args->resident && b->n) {
        b->bytes = b->multiples * b->n * b->ops->affine_bytes;
        rc = gpu_take(d, &b->points, b->bytes, "bases");
        if (!rc)
            rc = bases_fill(d, b, args->points);
    } else {
        b->host = args->points;
    }
    if (rc) {
        gpu_bases_close(b);
        return rc;
    }
    *out = b;
    return 0;
}

void gpu_bases_close(struct bases *b)
{
    if (!b)
        return;
    gpu_give(b->device, b->points, b->bytes);
    free(b);
}
