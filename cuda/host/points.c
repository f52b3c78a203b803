/* Bases, and the operations on points that need no scalars or one base. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/host/host.h"
#include "cuda/host/tree.h"

enum { FINITE_CHUNK = 16384, SELECT_CHUNK = 1 << 17, CHECK_CHUNK = 1024, POINT_BYTES_MAX = 192 };

struct finite_job {
    const struct group_kernels *k;
    struct bases *b;
    _Atomic size_t n_finite;
};

static void finite_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    struct finite_job *j = arg;
    size_t at = task * FINITE_CHUNK, n = j->b->n - at < FINITE_CHUNK ? j->b->n - at : FINITE_CHUNK, sum = 0;
    uint64_t *bits = j->b->finite + at / 64;
    j->k->finite(bits, j->b->points + at * j->k->point_bytes, n);
    for (size_t i = 0; i < (n + 63) / 64; i++)
        sum += (size_t)__builtin_popcountll(bits[i]);
    atomic_fetch_add_explicit(&j->n_finite, sum, memory_order_relaxed);
}

int host_bases_open(struct device *base, struct bases **out, const struct bases_args *args)
{
    struct host_device *d = (struct host_device *)base;
    size_t bytes = args->curve->point_bytes[args->group];
    if (args->n >= (size_t)1 << 31)
        return err_fail(-EINVAL, "bases: %zu points are more than 2^31 - 1", args->n);
    struct bases *b = calloc(1, sizeof *b);
    if (!b)
        return err_fail(-ENOMEM, "no memory for bases");
    *b = (struct bases){.device = d, .curve = args->curve, .group = args->group, .points = args->points, .n = args->n};
    b->finite = calloc(args->n / 64 + 1, sizeof *b->finite);
    if (args->resident && args->n > 0) {
        b->copy = memory_alloc(args->n * bytes);
        b->points = b->copy;
    }
    if (!b->finite || (args->resident && args->n > 0 && !b->copy)) {
        host_bases_close(b);
        return err_fail(-ENOMEM, "no memory for %zu bases of %zu bytes", args->n, bytes);
    }
    if (b->copy)
        memcpy(b->copy, args->points, args->n * bytes);
    struct finite_job j = {.k = host_group(d, args->curve, args->group), .b = b};
    threads_run(d->threads, finite_task, &j, (args->n + FINITE_CHUNK - 1) / FINITE_CHUNK);
    b->n_finite = j.n_finite;
    *out = b;
    return 0;
}

void host_bases_close(struct bases *b)
{
    if (!b)
        return;
    memory_free(b->copy);
    free(b->finite);
    free(b);
}

struct select_job {
    const struct group_kernels *k;
    const struct sum_selected_args *a;
    unsigned char *partial; /* packed, one per chunk */
    _Atomic bool short_of_memory;
};

static void select_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    struct select_job *j = arg;
    const struct bases *b = j->a->bases;
    const uint64_t *bits = dbuf_ptr(j->a->bits);
    size_t first = task * SELECT_CHUNK, end = first + SELECT_CHUNK < b->n ? first + SELECT_CHUNK : b->n;
    struct tree *t = tree_open(j->k);
    uint32_t *entry = memory_alloc(SELECT_CHUNK * sizeof *entry), n = 0;
    unsigned char *out = j->partial + task * j->k->point_bytes;
    uint8_t used = 0;
    if (!t || !entry) {
        j->short_of_memory = true;
        goto free_both;
    }
    for (size_t w = first / 64; w * 64 < end; w++) {
        uint64_t word = bits[w] & b->finite[w];
        for (; word; word &= word - 1)
            entry[n++] = (uint32_t)(w * 64 - first) + (uint32_t)__builtin_ctzll(word);
    }
    struct tree_input in = {.points = b->points + first * j->k->point_bytes, .entry = entry, .end = &n, .buckets = 1};
    tree_add(t, out, &used, &in);
    if (!used)
        memset(out, 0, j->k->point_bytes);
free_both:
    memory_free(entry);
    tree_close(t);
}

int host_sum_selected(struct host_device *d, const struct sum_selected_args *a)
{
    const struct bases *b = a->bases;
    if (b->device != d)
        return err_fail(-EINVAL, "sum_selected: the bases belong to another device");
    if (a->bits.bytes / 8 < (b->n + 63) / 64)
        return err_fail(-EINVAL, "sum_selected: %zu bytes are too few bits for %zu bases", a->bits.bytes, b->n);
    size_t chunks = (b->n + SELECT_CHUNK - 1) / SELECT_CHUNK;
    struct select_job j = {.k = host_group(d, b->curve, b->group), .a = a};
    j.partial = calloc(chunks + 1, j.k->point_bytes);
    if (!j.partial)
        return err_fail(-ENOMEM, "sum_selected: no memory for %zu partial sums", chunks);
    threads_run(d->threads, select_task, &j, chunks);
    int rc = 0;
    struct point result = {{0}};
    if (j.short_of_memory)
        rc = err_fail(-ENOMEM, "sum_selected: no memory for the scratch of a thread");
    else
        j.k->horner(&result, j.partial, chunks, 0);
    if (rc == 0)
        *a->result = result;
    free(j.partial);
    return rc;
}

struct check_job {
    const struct group_kernels *k;
    const struct check_points_args *a;
    _Atomic size_t bad; /* smallest so far */
};

static enum point_fault check_one(const struct check_job *j, size_t i)
{
    const struct check_points_args *a = j->a;
    const unsigned char *at = (const unsigned char *)a->points + i * j->k->point_bytes;
    enum point_fault f = j->k->on_curve(at);
    if (f == POINT_OK && a->subgroup) {
        struct point p = {{0}};
        memcpy(&p, at, j->k->point_bytes);
        f = a->curve->check(a->group, &p);
    }
    return f;
}

static void check_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    struct check_job *j = arg;
    size_t at = task * CHECK_CHUNK, end = at + CHECK_CHUNK < j->a->n ? at + CHECK_CHUNK : j->a->n;
    for (; at < end && at < atomic_load_explicit(&j->bad, memory_order_relaxed); at++) {
        if (check_one(j, at) == POINT_OK)
            continue;
        size_t bad = atomic_load_explicit(&j->bad, memory_order_relaxed);
        while (at < bad &&
               !atomic_compare_exchange_weak_explicit(&j->bad, &bad, at, memory_order_relaxed, memory_order_relaxed)) {
        }
        return;
    }
}

int host_check_points(struct host_device *d, const struct check_points_args *a)
{
    struct check_job j = {.k = host_group(d, a->curve, a->group), .a = a, .bad = a->n};
    threads_run(d->threads, check_task, &j, (a->n + CHECK_CHUNK - 1) / CHECK_CHUNK);
    size_t bad = j.bad;
    *a->bad = bad;
    *a->fault = bad < a->n ? check_one(&j, bad) : POINT_OK;
    return 0;
}
