/* Tables of fixed bases on the device: made once per base and width, shared by the streams, kept until the device
 * closes. 16-bit windows: 67 MB (BN254 G1) to 201 MB (BLS12-381 G2). */
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

struct gpu_base_table {
    struct gpu_base_table *next;
    const struct gpu_group_ops *ops;
    struct point base;
    unsigned bits;
    void *memory;
    size_t bytes;
};

static size_t entries_of(unsigned bits)
{
    return 256 / bits * (((size_t)1 << bits) - 1);
}

static struct gpu_base_table *table_find(struct gpu_device *d, const struct gpu_base_table *like)
{
    struct gpu_base_table *t = d->base_tables;
    while (t && (t->ops != like->ops || t->bits != like->bits || memcmp(&t->base, &like->base, sizeof t->base)))
        t = t->next;
    return t;
}

/* Called with the lock held; other streams may use the table as soon as it is listed, so it is finished first. */
static int table_make(struct stream *s, struct gpu_base_table *t)
{
    struct gpu_device *d = gpu_of(s);
    size_t n = entries_of(t->bits), scratch_bytes = t->ops->normalize_scratch(n);
    void *scratch = NULL;
    t->bytes = n * t->ops->affine_bytes;
    int rc = gpu_take(d, &t->memory, t->bytes, "a table of multiples of a base");
    if (!rc)
        rc = gpu_take(d, &scratch, scratch_bytes, "making a table of multiples of a base");
    if (!rc)
        rc = lane_fail(s, t->ops->base_table(compute_of(s), t->memory, &t->base, t->bits, scratch),
                       "mul_base, table of %zu multiples of the base", n);
    if (!rc)
        rc = lane_fail(s, (int)cudaStreamSynchronize(compute_of(s)), "mul_base, table of %zu multiples of the base", n);
    gpu_give(d, scratch, scratch_bytes);
    return rc;
}

int gpu_base_table_get(struct stream *s, const void **out, const struct gpu_group_ops *ops, const struct point *base,
                       unsigned bits)
{
    struct gpu_device *d = gpu_of(s);
    struct gpu_base_table like = {.ops = ops, .base = *base, .bits = bits};
    int rc = 0;
    pthread_mutex_lock(&d->lock);
    struct gpu_base_table *t = table_find(d, &like);
    if (!t) {
        t = malloc(sizeof *t);
        rc = t ? 0 : err_fail(-ENOMEM, "mul_base: out of memory");
        if (t) {
            *t = like;
            rc = table_make(s, t);
        }
        if (rc && t) {
            gpu_give(d, t->memory, t->bytes);
            free(t);
        } else if (t) {
            t->next = d->base_tables;
            d->base_tables = t;
        }
    }
    if (!rc)
        *out = t->memory;
    pthread_mutex_unlock(&d->lock);
    return rc;
}

void gpu_base_tables_close(struct gpu_device *d)
{
    struct gpu_base_table *next;
    for (struct gpu_base_table *t = d->base_tables; t; t = next) {
        next = t->next;
        gpu_give(d, t->memory, t->bytes);
        free(t);
    }
    d->base_tables = NULL;
}
