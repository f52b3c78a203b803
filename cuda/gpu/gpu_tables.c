/* Twiddle and coset tables on the device: made once per curve, root and size, shared by the streams, kept until the
 * device closes. The largest set is 16 MiB + 3 MiB. */
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

struct gpu_tables {
    struct gpu_tables *next;
    const struct curve *curve;
    struct fr base, factor;
    unsigned log_n;
    bool powers; /* coset powers: base^e * factor, else twiddles of a root */
    void *memory;
    size_t bytes;
    struct gpu_ntt_tables twiddles;
    struct gpu_ntt_powers coset;
};

static struct gpu_tables *tables_find(struct gpu_device *d, const struct gpu_tables *like)
{
    struct gpu_tables *t = d->tables;
    while (t && (t->curve != like->curve || t->log_n != like->log_n || t->powers != like->powers ||
                 memcmp(&t->base, &like->base, sizeof t->base) || memcmp(&t->factor, &like->factor, sizeof t->factor)))
        t = t->next;
    return t;
}

static size_t low_count(unsigned log_n)
{
    return (size_t)1 << (log_n < NTT_LOW_BITS ? log_n : NTT_LOW_BITS);
}

static size_t high_count(unsigned log_n)
{
    return log_n < NTT_LOW_BITS ? 1 : (size_t)1 << (log_n - NTT_LOW_BITS);
}

static struct gpu_fr fr_one(const struct curve *c)
{
    struct fr one;
    c->fr_from_u64(&one, 1);
    return gpu_fr_of(one);
}

static int twiddles_make(struct stream *s, struct gpu_tables *t)
{
    const struct gpu_field_ops *ops = gpu_field_of(t->curve);
    cudaStream_t on = compute_of(s);
    unsigned local_bits = t->log_n < NTT_LOCAL_BITS ? t->log_n : NTT_LOCAL_BITS;
    unsigned near_bits = t->log_n < NTT_NEAR_BITS ? t->log_n : NTT_NEAR_BITS;
    size_t local = (size_t)1 << local_bits, near = (size_t)1 << near_bits;
    size_t low = low_count(t->log_n), high = high_count(t->log_n);
    struct gpu_fr root = gpu_fr_of(t->base), one = fr_one(t->curve);
    t->bytes = (local + near + low + 2 * high) * sizeof(struct gpu_factor);
    int rc = gpu_take(gpu_of(s), &t->memory, t->bytes, "NTT tables");
    if (rc)
        return rc;
    struct gpu_factor *p = t->memory;
    t->twiddles = (struct gpu_ntt_tables){.local = p,
                                          .near = p + local,
                                          .low = p + local + near,
                                          .high = p + local + near + low,
                                          .scaled = p + local + near + low + high,
                                          .near_bits = near_bits};
    int e = ops->powers(on, p, local, t->log_n - local_bits, root, one);
    if (!e)
        e = ops->powers(on, p + local, near, t->log_n - near_bits, root, one);
    if (!e)
        e = ops->powers(on, p + local + near, low, 0, root, one);
    if (!e)
        e = ops->powers(on, p + local + near + low, high, NTT_LOW_BITS, root, one);
    if (!e)
        e = ops->powers(on, p + local + near + low + high, high, NTT_LOW_BITS, root, gpu_fr_of(t->factor));
    return lane_fail(s, e, "NTT tables of size 2^%u", t->log_n);
}

static int powers_make(struct stream *s, struct gpu_tables *t)
{
    const struct gpu_field_ops *ops = gpu_field_of(t->curve);
    size_t low = low_count(t->log_n), high = high_count(t->log_n);
    t->bytes = (low + high) * sizeof(struct gpu_factor);
    int rc = gpu_take(gpu_of(s), &t->memory, t->bytes, "coset tables");
    if (rc)
        return rc;
    struct gpu_factor *p = t->memory;
    struct gpu_fr base = gpu_fr_of(t->base);
    t->coset = (struct gpu_ntt_powers){p, p + low};
    int e = ops->powers(compute_of(s), p, low, 0, base, fr_one(t->curve));
    if (!e)
        e = ops->powers(compute_of(s), p + low, high, NTT_LOW_BITS, base, gpu_fr_of(t->factor));
    return lane_fail(s, e, "coset tables of size 2^%u", t->log_n);
}

/* Called with the lock held: other streams may use the tables as soon as they are listed, so they are finished first.
 */
static int tables_add(struct stream *s, const struct gpu_tables *like, struct gpu_tables **out)
{
    struct gpu_device *d = gpu_of(s);
    struct gpu_tables *t = malloc(sizeof *t);
    if (!t)
        return err_fail(-ENOMEM, "NTT tables: out of memory");
    *t = *like;
    int rc = t->powers ? powers_make(s, t) : twiddles_make(s, t);
    if (!rc)
        rc = lane_fail(s, (int)cudaStreamSynchronize(compute_of(s)), "NTT tables of size 2^%u", t->log_n);
    if (rc) {
        gpu_give(d, t->memory, t->bytes);
        free(t);
        return rc;
    }
    t->next = d->tables;
    d->tables = t;
    *out = t;
    return 0;
}

static int tables_for(struct stream *s, const struct gpu_tables *like, struct gpu_tables **out)
{
    struct gpu_device *d = gpu_of(s);
    pthread_mutex_lock(&d->lock);
    *out = tables_find(d, like);
    int rc = *out ? 0 : tables_add(s, like, out);
    pthread_mutex_unlock(&d->lock);
    return rc;
}

int gpu_tables_get(struct stream *s, struct gpu_ntt_tables *out, const struct curve *c, struct fr root, unsigned log_n)
{
    struct gpu_tables like = {.curve = c, .base = root, .log_n = log_n}, *t;
    c->fr_from_u64(&like.factor, (uint64_t)1 << log_n);
    c->fr_inv(&like.factor, &like.factor);
    int rc = tables_for(s, &like, &t);
    if (!rc)
        *out = t->twiddles;
    return rc;
}

int gpu_powers_get(struct stream *s, struct gpu_ntt_powers *out, const struct curve *c, struct fr base,
                   struct fr factor, unsigned log_n)
{
    struct gpu_tables like = {.curve = c, .base = base, .factor = factor, .log_n = log_n, .powers = true}, *t;
    int rc = tables_for(s, &like, &t);
    if (!rc)
        *out = t->coset;
    return rc;
}

void gpu_tables_close(struct gpu_device *d)
{
    struct gpu_tables *next;
    for (struct gpu_tables *t = d->tables; t; t = next) {
        next = t->next;
        gpu_give(d, t->memory, t->bytes);
        free(t);
    }
    d->tables = NULL;
}
