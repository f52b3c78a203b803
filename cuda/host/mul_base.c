/* out[i] = scalars[i] * base for many scalars and one base: a table of the base's multiples for every window, then one
 * affine addition for each window, batched over the outputs. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/host/digits.h"
#include "cuda/host/host.h"
#include "cuda/math/limbs.h"

enum { CHUNK = 1024, WINDOWS_MAX = 130, POINT_BYTES_MAX = 192 };

struct mul_base_job {
    const struct host_device *device;
    const struct group_kernels *k;
    const struct mul_base_args *a;
    unsigned bits, windows;
    size_t multiples;     /* 2^(bits - 1) of each window's base: 1 .. multiples */
    unsigned char *table; /* [window][multiple - 1] */
    uint64_t bias[5];
    _Atomic bool short_of_memory;
};

/* Scratch of one task. */
struct chunk {
    point_ref sum[CHUNK], a[CHUNK], b[CHUNK];
    uint32_t pair_of[CHUNK];
    int16_t digit[WINDOWS_MAX][CHUNK];
    unsigned char points[2][CHUNK * POINT_BYTES_MAX];
};

static unsigned char *table_at(const struct mul_base_job *j, unsigned window, size_t multiple)
{
    return j->table + (window * j->multiples + multiple - 1) * j->k->point_bytes;
}

static point_ref ref_of(const void *p)
{
    return (point_ref)(uintptr_t)p;
}

/* Multiples 2^k + 1 .. 2^(k + 1) of one window from those up to 2^k. */
static void table_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    struct mul_base_job *j = arg;
    unsigned window = (unsigned)task;
    void *scratch = memory_alloc(j->k->scratch_bytes);
    point_ref *a = memory_alloc(2 * j->multiples * sizeof *a), *b = a + j->multiples;
    if (!scratch || !a) {
        j->short_of_memory = true;
        goto free_both;
    }
    for (size_t have = 1; have < j->multiples; have *= 2) {
        for (size_t i = 0; i < have; i++) {
            a[i] = ref_of(table_at(j, window, i + 1));
            b[i] = ref_of(table_at(j, window, have));
        }
        j->k->add_pairs(table_at(j, window, have + 1), a, b, have, scratch);
    }
free_both:
    memory_free(a);
    memory_free(scratch);
}

static void digits_make(const struct mul_base_job *j, struct chunk *c, const struct scalar *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v[6] = {s[i].l[0], s[i].l[1], s[i].l[2], s[i].l[3], 0, 0};
        limbs_add(v, v, j->bias, 5);
        for (unsigned w = 0; w < j->windows; w++) {
            unsigned from = w * j->bits, word = from / 64, shift = from % 64;
            uint64_t x = v[word] >> shift;
            if (shift)
                x |= v[word + 1] << (64 - shift);
            int32_t digit = (int32_t)(x & (((uint64_t)1 << j->bits) - 1)) - (1 << (j->bits - 1));
            c->digit[w][i] = (int16_t)digit;
        }
    }
}

/* Add each element's multiple of one window; new sums go to the other half of the buffer, all of them, so that the
 * halves never mix. */
static void window_add(const struct mul_base_job *j, struct chunk *c, unsigned w, size_t n, void *scratch)
{
    static const unsigned char infinity[POINT_BYTES_MAX];
    unsigned char *to = c->points[w % 2];
    for (size_t i = 0; i < n; i++) {
        int d = c->digit[w][i];
        point_ref t = ref_of(d ? table_at(j, w, (size_t)(d < 0 ? -d : d)) : infinity);
        c->a[i] = c->sum[i];
        c->b[i] = t | (d < 0 ? POINT_REF_NEGATIVE : 0);
    }
    j->k->add_pairs(to, c->a, c->b, n, scratch);
    for (size_t i = 0; i < n; i++)
        c->sum[i] = ref_of(to + i * j->k->point_bytes);
}

static void mul_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    static const unsigned char infinity[POINT_BYTES_MAX];
    struct mul_base_job *j = arg;
    size_t at = task * CHUNK, n = j->a->n - at < CHUNK ? j->a->n - at : CHUNK, bytes = j->k->point_bytes;
    struct chunk *c = memory_alloc(sizeof *c);
    void *scratch = memory_alloc(j->k->scratch_bytes);
    if (!c || !scratch) {
        j->short_of_memory = true;
        goto free_both;
    }
    digits_make(j, c, (const struct scalar *)dbuf_ptr(j->a->scalars) + at, n);
    for (size_t i = 0; i < n; i++)
        c->sum[i] = ref_of(infinity);
    for (unsigned w = 0; w < j->windows; w++)
        window_add(j, c, w, n, scratch);
    unsigned char *out = (unsigned char *)dbuf_ptr(j->a->out) + at * bytes;
    for (size_t i = 0; i < n; i++)
        j->k->resolve(out + i * bytes, c->sum[i]);
free_both:
    memory_free(scratch);
    memory_free(c);
}

/* A table costs windows * 2^(bits - 1) additions and an output costs `windows`. */
static unsigned bits_choose(const struct curve *c, size_t n)
{
    unsigned best = 2;
    double best_cost = 0;
    for (unsigned bits = 2; bits <= 14; bits++) {
        double cost = ((double)n + (double)((size_t)1 << (bits - 1))) * digits_windows(c, bits);
        if (bits == 2 || cost < best_cost) {
            best = bits;
            best_cost = cost;
        }
    }
    return best;
}

static int table_make(struct mul_base_job *j)
{
    j->table = memory_alloc(j->windows * j->multiples * j->k->point_bytes);
    if (!j->table)
        return err_fail(-ENOMEM, "mul_base: no memory for %u tables of %zu points", j->windows, j->multiples);
    memcpy(table_at(j, 0, 1), &j->a->base, j->k->point_bytes);
    unsigned char two[2 * POINT_BYTES_MAX];
    for (unsigned w = 1; w < j->windows; w++) {
        /* 2^bits times the window below: horner over (infinity, base) */
        memset(two, 0, sizeof two);
        memcpy(two + j->k->point_bytes, table_at(j, w - 1, 1), j->k->point_bytes);
        j->k->horner(table_at(j, w, 1), two, 2, j->bits);
    }
    threads_run(j->device->threads, table_task, j, j->windows);
    return 0;
}

int host_mul_base(struct host_device *d, const struct mul_base_args *a)
{
    struct mul_base_job j = {.device = d, .k = host_group(d, a->curve, a->group), .a = a};
    if (a->n > a->scalars.bytes / sizeof(struct scalar) || a->n > a->out.bytes / j.k->point_bytes)
        return err_fail(-EINVAL, "mul_base: %zu bytes of scalars, %zu of output are too few for %zu", a->scalars.bytes,
                        a->out.bytes, a->n);
    j.bits = bits_choose(a->curve, a->n);
    j.windows = (a->curve->fr_bits + 2 + j.bits - 1) / j.bits;
    j.multiples = (size_t)1 << (j.bits - 1);
    for (unsigned w = 0; w < j.windows; w++) {
        unsigned at = w * j.bits + j.bits - 1;
        j.bias[at / 64] |= (uint64_t)1 << at % 64;
    }
    int rc = table_make(&j);
    if (rc == 0 && !j.short_of_memory)
        threads_run(d->threads, mul_task, &j, (a->n + CHUNK - 1) / CHUNK);
    if (rc == 0 && j.short_of_memory)
        rc = err_fail(-ENOMEM, "mul_base: no memory for the scratch of a thread");
    memory_free(j.table);
    return rc;
}
