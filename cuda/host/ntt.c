#include "cuda/host/ntt.h"

#include <string.h>

#include "perf/err.h"

/* A transform of 2^log_n is cut like this (decimate; gather is the mirror image):
 *
 *   outer passes   1..6 stages each over rows that lie far apart; a task is a few columns
 *   leaves         2^leaf neighbours, 512 KiB at most: all their stages in the L2 cache of one core
 *     inner passes   1..6 stages each
 *     fan            the last 3 stages
 *
 * A pass reads and writes its data once, so 2^20 goes through memory twice. */
enum { FAN = 3, LEAF_MAX = 14, LEAF_MIN = 9, PASSES = 8, TASK_ELEMENTS = 4096 };

struct cut {
    unsigned log_n, leaf;
    unsigned n_outer, outer[PASSES];
    unsigned n_inner, inner[PASSES];
};

static unsigned split(unsigned bits, unsigned out[PASSES])
{
    unsigned n = (bits + NTT_PASS_MAX - 1) / NTT_PASS_MAX;
    for (unsigned i = 0; i < n; i++)
        out[i] = bits / n + (i < bits % n);
    return n;
}

static void cut_make(struct cut *c, unsigned log_n, size_t batch, unsigned threads)
{
    unsigned leaf = log_n < LEAF_MAX ? log_n : LEAF_MAX;
    /* enough leaves for all threads, if leaves stay long enough to be worth a task */
    while (threads > 1 && leaf > LEAF_MIN && (batch << (log_n - leaf)) < 4 * (size_t)threads)
        leaf--;
    c->log_n = log_n;
    c->leaf = leaf;
    c->n_outer = split(log_n - leaf, c->outer);
    c->n_inner = split(leaf - FAN, c->inner);
}

struct run {
    const struct fr_kernels *k;
    struct cut cut;
    struct fr *data;
    size_t batch;
    /* first half and second half of the work; NULL = not wanted */
    const struct fr *decimate, *gather;
    const struct ntt_powers *scale; /* between the two */
    /* outer pass at work */
    unsigned pass, before; /* stages before it */
    bool gathering;
    size_t task_cols;
};

static void outer_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    const struct run *r = arg;
    unsigned k = r->cut.outer[r->pass], block_bits = r->cut.log_n - r->before;
    size_t cols = (size_t)1 << (block_bits - k);
    size_t per_block = cols / r->task_cols;
    size_t block = task / per_block, first = task % per_block * r->task_cols; /* blocks count on through the batch */
    struct ntt_pass p = {.data = r->data + (block << block_bits) + first,
                         .row = cols,
                         .lane = 1,
                         .cols = r->task_cols,
                         .k = k,
                         .last = r->gathering && r->pass == 0,
                         .tw = r->gathering ? r->gather : r->decimate,
                         .q = block & (((size_t)1 << r->before) - 1)};
    if (r->gathering)
        r->k->ntt_gather(&p);
    else
        r->k->ntt_decimate(&p);
}

static void outer_run(struct threads *t, struct run *r)
{
    size_t cols = (size_t)1 << (r->cut.log_n - r->before - r->cut.outer[r->pass]);
    r->task_cols = (size_t)TASK_ELEMENTS >> r->cut.outer[r->pass];
    if (r->task_cols > cols)
        r->task_cols = cols;
    threads_run(t, outer_task, r, (r->batch << r->before) * (cols / r->task_cols));
}

static void leaf_inner(const struct run *r, struct fr *leaf, size_t q, bool gather)
{
    unsigned bits = r->cut.leaf, before = 0;
    const struct fr *tw = gather ? r->gather : r->decimate;
    for (unsigned i = 0; i < r->cut.n_inner; i++)
        before += gather ? r->cut.inner[i] : 0;
    for (unsigned step = 0; step < r->cut.n_inner; step++) {
        unsigned i = gather ? r->cut.n_inner - 1 - step : step, k = r->cut.inner[i];
        if (gather)
            before -= k;
        size_t cols = (size_t)1 << (bits - before - k);
        for (size_t b = 0; b < (size_t)1 << before; b++) {
            struct ntt_pass p = {.data = leaf + (b << (bits - before)),
                                 .row = cols,
                                 .lane = 1,
                                 .cols = cols,
                                 .k = k,
                                 .last = gather && i == 0 && r->cut.n_outer == 0,
                                 .tw = tw,
                                 .q = (q << before) + b};
            if (gather)
                r->k->ntt_gather(&p);
            else
                r->k->ntt_decimate(&p);
        }
        if (!gather)
            before += k;
    }
}

static void leaf_fan(const struct run *r, struct fr *leaf, size_t q, bool gather)
{
    struct ntt_pass p = {.data = leaf,
                         .row = 1,
                         .lane = 1 << FAN,
                         .cols = (size_t)1 << (r->cut.leaf - FAN),
                         .k = FAN,
                         .fan = true,
                         .last = !gather,
                         .tw = gather ? r->gather : r->decimate,
                         .q = q << (r->cut.leaf - FAN)};
    if (gather)
        r->k->ntt_gather(&p);
    else
        r->k->ntt_decimate(&p);
}

/* Multiply n neighbours from position `at` of one polynomial. */
static void scale_range(const struct fr_kernels *k, const struct ntt_powers *s, struct fr *data, size_t at, size_t n)
{
    size_t step = (size_t)1 << s->bits;
    if (step > n)
        step = n;
    for (size_t i = 0; i < n; i += step)
        k->ntt_scale(data + i, s->low + ((at + i) & (((size_t)1 << s->bits) - 1)), &s->high[(at + i) >> s->bits], step);
}

static void leaf_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    const struct run *r = arg;
    struct fr *leaf = r->data + (task << r->cut.leaf);
    size_t q = task & (((size_t)1 << (r->cut.log_n - r->cut.leaf)) - 1);
    if (r->decimate) {
        leaf_inner(r, leaf, q, false);
        leaf_fan(r, leaf, q, false);
    }
    if (r->scale)
        scale_range(r->k, r->scale, leaf, q << r->cut.leaf, (size_t)1 << r->cut.leaf);
    if (r->gather) {
        leaf_fan(r, leaf, q, true);
        leaf_inner(r, leaf, q, true);
    }
}

static void run_all(struct threads *t, struct run *r)
{
    r->before = 0;
    for (r->pass = 0; r->pass < r->cut.n_outer; r->pass++) {
        r->gathering = false;
        if (r->decimate)
            outer_run(t, r);
        r->before += r->cut.outer[r->pass];
    }
    threads_run(t, leaf_task, r, r->batch << (r->cut.log_n - r->cut.leaf));
    r->gathering = true;
    for (r->pass = r->cut.n_outer; r->gather && r->pass-- > 0;) {
        r->before -= r->cut.outer[r->pass];
        outer_run(t, r);
    }
}

struct scale_job {
    const struct fr_kernels *k;
    const struct ntt_powers *s;
    struct fr *data;
    unsigned log_n;
    size_t chunk;
};

static void scale_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    const struct scale_job *j = arg;
    size_t at = task * j->chunk;
    scale_range(j->k, j->s, j->data + at, at & (((size_t)1 << j->log_n) - 1), j->chunk);
}

static void scale_all(struct threads *t, const struct fr_kernels *k, const struct ntt_powers *s, struct fr *data,
                      unsigned log_n, size_t batch)
{
    size_t n = (size_t)1 << log_n;
    struct scale_job j = {.k = k, .s = s, .data = data, .log_n = log_n, .chunk = n < TASK_ELEMENTS ? n : TASK_ELEMENTS};
    threads_run(t, scale_task, &j, batch * (n / j.chunk));
}

static size_t bit_reverse(size_t x, unsigned bits)
{
    size_t r = 0;
    for (unsigned i = 0; i < bits; i++)
        r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}

static void swap_fr(struct fr *a, struct fr *b)
{
    struct fr t = *a;
    *a = *b;
    *b = t;
}

/* Indices are cut into high | middle | low, TILE bits at both ends: a task swaps the two tiles of a middle and its
 * reverse, whole cache lines at a time (L. Carter, K. S. Gatlin, "Towards an optimal bit-reversal permutation program",
 * 1998). */
enum { TILE = 4 };

struct reverse_job {
    struct fr *data;
    unsigned log_n;
};

static void reverse_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    const struct reverse_job *j = arg;
    unsigned mid_bits = j->log_n - 2 * TILE;
    size_t mid = task & (((size_t)1 << mid_bits) - 1), mirror = bit_reverse(mid, mid_bits);
    if (mid > mirror)
        return;
    struct fr *poly = j->data + (task >> mid_bits << j->log_n);
    size_t row = (size_t)1 << (j->log_n - TILE);
    for (size_t high = 0; high < 1 << TILE; high++) {
        for (size_t low = 0; low < 1 << TILE; low++) {
            size_t a = high * row + (mid << TILE) + low;
            size_t b = bit_reverse(low, TILE) * row + (mirror << TILE) + bit_reverse(high, TILE);
            if (mid < mirror || a < b)
                swap_fr(&poly[a], &poly[b]);
        }
    }
}

static void reverse_small(struct fr *data, unsigned log_n)
{
    for (size_t i = 0; i < (size_t)1 << log_n; i++) {
        size_t m = bit_reverse(i, log_n);
        if (i < m)
            swap_fr(&data[i], &data[m]);
    }
}

static void reverse_all(struct threads *t, struct fr *data, unsigned log_n, size_t batch)
{
    if (log_n < 2 * TILE) {
        for (size_t i = 0; i < batch; i++)
            reverse_small(data + (i << log_n), log_n);
        return;
    }
    struct reverse_job j = {.data = data, .log_n = log_n};
    threads_run(t, reverse_task, &j, batch << (log_n - 2 * TILE));
}

static const struct fr_kernels *kernels_for(const struct ntt_env *env, const struct curve *c, unsigned log_n)
{
    return log_n < NTT_SMALL ? &kernels_portable.fr[c->id] : &env->kernels->fr[c->id];
}

static void small_all(const struct run *r)
{
    size_t n = (size_t)1 << r->cut.log_n;
    for (size_t i = 0; i < r->batch; i++) {
        struct fr *poly = r->data + i * n;
        if (r->decimate)
            r->k->ntt_small(poly, r->cut.log_n, r->decimate, false);
        for (size_t p = 0; r->scale && p < n; p++) {
            r->k->pointwise(POINTWISE_SCALE, false, &poly[p], &poly[p], NULL, NULL, &r->scale->low[p], 1);
            r->k->pointwise(POINTWISE_SCALE, false, &poly[p], &poly[p], NULL, NULL, r->scale->high, 1);
        }
        if (r->gather)
            r->k->ntt_small(poly, r->cut.log_n, r->gather, true);
    }
}

static void transform(const struct ntt_env *env, struct run *r, unsigned log_n)
{
    r->cut.log_n = log_n;
    if (log_n < NTT_SMALL) {
        small_all(r);
        return;
    }
    cut_make(&r->cut, log_n, r->batch, threads_count(env->threads));
    run_all(env->threads, r);
}

static int args_check(const char *what, struct dbuf data, unsigned log_n, size_t *batch, const struct fr *shift)
{
    static const struct fr zero;
    if (log_n > 28)
        return err_fail(-EINVAL, "%s: 2^%u is more than 2^28", what, log_n);
    if (*batch == 0)
        *batch = 1;
    if (data.bytes / sizeof(struct fr) >> log_n < *batch)
        return err_fail(-EINVAL, "%s: %zu bytes do not hold %zu x 2^%u scalars", what, data.bytes, *batch, log_n);
    if (memcmp(shift, &zero, sizeof zero) == 0)
        return err_fail(-EINVAL, "%s: the shift is zero", what);
    return 0;
}

/* 1 / 2^log_n */
static void inverse_of_size(const struct curve *c, struct fr *out, unsigned log_n)
{
    c->fr_from_u64(out, (uint64_t)1 << log_n);
    c->fr_inv(out, out);
}

static void fr_one(const struct curve *c, struct fr *one)
{
    memcpy(one->l, c->fr->one, sizeof one->l);
}

/* Powers of the shift on the side of the coefficients, as the transform meets them. */
static int shift_powers(struct ntt_powers *out, const struct curve *c, const struct fr_kernels *k,
                        const struct ntt_args *a)
{
    struct fr base = a->shift, scale;
    fr_one(c, &scale);
    if (a->inverse) {
        c->fr_inv(&base, &base);
        inverse_of_size(c, &scale, a->log_n);
    }
    bool reversed = a->inverse ? a->order == NTT_NR : a->order == NTT_RN;
    return ntt_powers_open(out, c, k, a->log_n, &base, &scale, reversed);
}

static void scale_any(const struct ntt_env *env, const struct fr_kernels *k, const struct ntt_powers *s,
                      struct fr *data, unsigned log_n, size_t batch)
{
    if (log_n >= NTT_SMALL) {
        scale_all(env->threads, k, s, data, log_n, batch);
        return;
    }
    struct run r = {.k = k, .cut = {.log_n = log_n}, .data = data, .batch = batch, .scale = s};
    small_all(&r);
}

int ntt_run(const struct ntt_env *env, const struct ntt_args *a)
{
    size_t batch = a->batch;
    int rc = args_check("ntt", a->data, a->log_n, &batch, &a->shift);
    if (rc)
        return rc;
    const struct curve *c = a->curve;
    const struct fr_kernels *k = kernels_for(env, c, a->log_n);
    struct fr one, root = a->root;
    fr_one(c, &one);
    if (a->inverse)
        c->fr_inv(&root, &root);
    bool scaled = a->inverse || memcmp(&one, &a->shift, sizeof one) != 0;
    struct ntt_powers powers;
    struct ntt_table *table;
    if (scaled && (rc = shift_powers(&powers, c, k, a)) != 0)
        return rc;
    rc = ntt_table_take(env, &table, c, k, a->log_n, &root);
    if (rc)
        goto close_powers;

    struct fr *data = (struct fr *)(uintptr_t)a->data.addr;
    struct run r = {.k = k, .data = data, .batch = batch};
    if (a->order == NTT_RN)
        r.gather = ntt_table_at(table);
    else
        r.decimate = ntt_table_at(table);
    if (scaled && !a->inverse)
        scale_any(env, k, &powers, data, a->log_n, batch);
    transform(env, &r, a->log_n);
    if (a->order == NTT_NN)
        reverse_all(env->threads, data, a->log_n, batch);
    if (scaled && a->inverse)
        scale_any(env, k, &powers, data, a->log_n, batch);
    ntt_table_give(env->tables, table);
close_powers:
    if (scaled)
        ntt_powers_close(&powers);
    return rc;
}

int ntt_coset_run(const struct ntt_env *env, const struct ntt_coset_args *a)
{
    size_t batch = a->batch;
    int rc = args_check("ntt_coset", a->data, a->log_n, &batch, &a->shift);
    if (rc)
        return rc;
    const struct curve *c = a->curve;
    const struct fr_kernels *k = kernels_for(env, c, a->log_n);
    struct fr back, scale;
    c->fr_inv(&back, &a->root);
    inverse_of_size(c, &scale, a->log_n);
    struct ntt_powers powers;
    struct ntt_table *down, *up;
    rc = ntt_powers_open(&powers, c, k, a->log_n, &a->shift, &scale, true);
    if (rc)
        return rc;
    rc = ntt_table_take(env, &down, c, k, a->log_n, &back);
    if (rc)
        goto close_powers;
    rc = ntt_table_take(env, &up, c, k, a->log_n, &a->root);
    if (rc)
        goto give_down;
    struct run r = {.k = k,
                    .data = (struct fr *)(uintptr_t)a->data.addr,
                    .batch = batch,
                    .decimate = ntt_table_at(down),
                    .gather = ntt_table_at(up),
                    .scale = &powers};
    transform(env, &r, a->log_n);
    ntt_table_give(env->tables, up);
give_down:
    ntt_table_give(env->tables, down);
close_powers:
    ntt_powers_close(&powers);
    return rc;
}
