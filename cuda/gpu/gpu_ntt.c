/* Transforms as lists of passes of at most ten bits each: one pass up to 2^10, two up to 2^20, three up to 2^28 (and
 * 2^30). */
#include <string.h>

#include "cuda/gpu/gpu.h"
#include "perf/err.h"

enum { PASS_BITS = 10, PASSES = 3, NTT_LOG_MAX = 28, BATCH_MAX = 65535 };

/* Bits of each pass, top of the index first; returns how many. */
static unsigned passes_split(unsigned log_n, unsigned bits[PASSES])
{
    unsigned n = (log_n + PASS_BITS - 1) / PASS_BITS, left = log_n;
    for (unsigned i = 0; i < n; i++) {
        bits[i] = (left + n - i - 1) / (n - i);
        left -= bits[i];
    }
    return n;
}

static int data_check(struct stream *s, struct dbuf data, unsigned log_n, size_t batch)
{
    if (log_n > NTT_LOG_MAX)
        return err_fail(-EINVAL, "ntt: size 2^%u is over 2^%d", log_n, NTT_LOG_MAX);
    if (data.bytes / sizeof(struct fr) >> log_n < batch || data.addr % 16)
        return err_fail(-EINVAL, "ntt: %zu polynomials of 2^%u scalars do not fit the buffer of %zu bytes", batch,
                        log_n, data.bytes);
    return lane_enter(s);
}

/* The passes of one direction; `first` and `last` carry what is applied when loading and storing. */
struct chain {
    struct stream *s;
    const struct gpu_field_ops *ops;
    struct gpu_ntt_pass pass; /* data, log_n, batch, tables */
};

static int chain_dif(const struct chain *c, struct gpu_ntt_powers before, struct gpu_ntt_powers after,
                     const struct gpu_fr *constant, bool but_last)
{
    unsigned bits[PASSES], n = passes_split(c->pass.log_n, bits), low = c->pass.log_n;
    for (unsigned i = 0; i < n - but_last; i++) {
        struct gpu_ntt_pass p = c->pass;
        low -= bits[i];
        p.kind = GPU_NTT_DIF;
        p.bits = bits[i];
        p.low_bits = low;
        p.scale = c->pass.scale && i == 0 && low;
        if (i == 0)
            p.before = before;
        if (i == n - 1) {
            p.after = after;
            p.has_constant = constant != NULL;
            if (constant)
                p.constant = *constant;
        }
        int rc = lane_fail(c->s, c->ops->ntt_pass(compute_of(c->s), &p), "NTT 2^%u, pass %u of %u", p.log_n, i + 1, n);
        if (rc)
            return rc;
    }
    return 0;
}

static int chain_dit(const struct chain *c, struct gpu_ntt_powers before, struct gpu_ntt_powers after,
                     const struct gpu_fr *constant, bool but_first)
{
    unsigned bits[PASSES], n = passes_split(c->pass.log_n, bits), low = 0;
    for (unsigned i = n; i-- > 0; low += bits[i]) {
        struct gpu_ntt_pass p = c->pass;
        if (but_first && i == n - 1)
            continue;
        p.kind = GPU_NTT_DIT;
        p.bits = bits[i];
        p.low_bits = low;
        p.scale = false;
        p.powers_reversed = i == n - 1;
        if (i == n - 1)
            p.before = before;
        if (i == 0) {
            p.after = after;
            p.has_constant = constant != NULL;
            if (constant)
                p.constant = *constant;
            if (after.low)
                p.powers_reversed = false; /* a chain has powers at one end only */
        }
        int rc = lane_fail(c->s, c->ops->ntt_pass(compute_of(c->s), &p), "NTT 2^%u, pass %u of %u", p.log_n, n - i, n);
        if (rc)
            return rc;
    }
    return 0;
}

static bool fr_is_one(const struct curve *c, const struct fr *a)
{
    struct fr one;
    c->fr_from_u64(&one, 1);
    return memcmp(&one, a, sizeof one) == 0;
}

static int small_run(struct stream *s, const struct ntt_args *a, size_t batch, struct fr root,
                     struct gpu_ntt_powers before, struct gpu_ntt_powers after, const struct gpu_fr *constant)
{
    struct gpu_ntt_pass p = {.data = (void *)(uintptr_t)a->data.addr,
                             .log_n = a->log_n,
                             .batch = batch,
                             .before = before,
                             .after = after,
                             .has_constant = constant != NULL};
    p.kind = a->order == NTT_NN ? GPU_NTT_BOTH : a->order == NTT_NR ? GPU_NTT_DIF : GPU_NTT_DIT;
    if (constant)
        p.constant = *constant;
    return lane_fail(s, gpu_field_of(a->curve)->ntt_small(compute_of(s), &p, gpu_fr_of(root)), "NTT 2^%u", a->log_n);
}

static int batch_run(struct stream *s, const struct ntt_args *a, struct gpu_fr *data, size_t batch, struct fr root,
                     struct gpu_ntt_powers before, struct gpu_ntt_powers after, const struct gpu_fr *constant)
{
    struct chain c = {s, gpu_field_of(a->curve), {.data = data, .log_n = a->log_n, .batch = batch}};
    int rc = gpu_tables_get(s, &c.pass.tables, a->curve, root, a->log_n);
    if (rc)
        return rc;
    if (a->order == NTT_RN)
        return chain_dit(&c, before, after, constant, false);
    c.pass.scale = a->inverse && constant == NULL && !after.low;
    c.pass.powers_reversed = after.low != NULL;
    rc = chain_dif(&c, before, after, constant, false);
    if (!rc && a->order == NTT_NN)
        rc = lane_fail(s, c.ops->ntt_reverse(compute_of(s), data, a->log_n, batch), "NTT 2^%u, reversal", a->log_n);
    return rc;
}

/* Where the inverse's 1/n goes: into the coset powers, else into the top pass's factors (DIF of several passes), else a
 * product of its own. */
static int inverse_factors(struct stream *s, const struct ntt_args *a, struct gpu_ntt_powers *after, struct gpu_fr *k,
                           bool *has_k)
{
    struct fr inv_n, shift;
    const struct curve *c = a->curve;
    c->fr_from_u64(&inv_n, (uint64_t)1 << a->log_n);
    c->fr_inv(&inv_n, &inv_n);
    *has_k = false;
    if (!fr_is_one(c, &a->shift)) {
        c->fr_inv(&shift, &a->shift);
        return gpu_powers_get(s, after, c, shift, inv_n, a->log_n);
    }
    *k = gpu_fr_of(inv_n);
    *has_k = a->log_n <= PASS_BITS || a->order == NTT_RN;
    return 0;
}

static int ntt_queue(struct stream *s, const struct ntt_args *a, size_t batch)
{
    struct gpu_ntt_powers before = {0}, after = {0};
    struct gpu_fr k, *constant = NULL;
    struct fr root = a->root, one;
    bool has_k = false;
    int rc = 0;
    a->curve->fr_from_u64(&one, 1);
    if (a->inverse) {
        a->curve->fr_inv(&root, &a->root);
        rc = inverse_factors(s, a, &after, &k, &has_k);
        constant = has_k ? &k : NULL;
    } else if (!fr_is_one(a->curve, &a->shift)) {
        rc = gpu_powers_get(s, &before, a->curve, a->shift, one, a->log_n);
    }
    if (rc)
        return rc;
    if (a->log_n <= 2)
        return small_run(s, a, batch, root, before, after, constant);
    struct gpu_fr *data = (void *)(uintptr_t)a->data.addr;
    for (size_t at = 0; at < batch && !rc; at += BATCH_MAX) {
        size_t some = batch - at < BATCH_MAX ? batch - at : BATCH_MAX;
        rc = batch_run(s, a, data + (at << a->log_n), some, root, before, after, constant);
    }
    return rc;
}

int gpu_ntt(struct stream *s, const struct ntt_args *args)
{
    size_t batch = args->batch ? args->batch : 1;
    int rc = data_check(s, args->data, args->log_n, batch);
    if (rc || args->log_n == 0)
        return rc;
    lane_begin(s, "ntt");
    rc = ntt_queue(s, args, batch);
    lane_end(s, 0);
    return rc;
}

/* Inverse DIF but its last pass, one pass for both, forward DIT but its first pass. */
static int coset_queue(struct stream *s, const struct ntt_coset_args *a, struct gpu_fr *data, size_t batch,
                       struct gpu_ntt_powers powers)
{
    struct chain c = {s, gpu_field_of(a->curve), {.data = data, .log_n = a->log_n, .batch = batch}};
    struct gpu_ntt_tables back, forth;
    struct gpu_ntt_powers none = {0};
    struct fr root;
    unsigned bits[PASSES], n = passes_split(a->log_n, bits);
    a->curve->fr_inv(&root, &a->root);
    int rc = gpu_tables_get(s, &back, a->curve, root, a->log_n);
    if (!rc)
        rc = gpu_tables_get(s, &forth, a->curve, a->root, a->log_n);
    if (rc)
        return rc;
    c.pass.tables = back;
    rc = chain_dif(&c, none, none, NULL, true);
    if (rc)
        return rc;
    struct gpu_ntt_pass p = c.pass;
    p.kind = GPU_NTT_BOTH;
    p.second = forth;
    p.bits = bits[n - 1];
    p.after = powers;
    rc = lane_fail(s, c.ops->ntt_pass(compute_of(s), &p), "coset NTT 2^%u, middle pass", a->log_n);
    if (rc)
        return rc;
    c.pass.tables = forth;
    return chain_dit(&c, none, none, NULL, true);
}

static int coset_small(struct stream *s, const struct ntt_coset_args *a, size_t batch)
{
    struct ntt_args n = {.curve = a->curve, .data = a->data, .log_n = a->log_n, .batch = batch, .inverse = true};
    n.root = a->root;
    a->curve->fr_from_u64(&n.shift, 1);
    int rc = ntt_queue(s, &n, batch);
    n.inverse = false;
    n.shift = a->shift;
    return rc ? rc : ntt_queue(s, &n, batch);
}

static int coset_powers(struct stream *s, const struct ntt_coset_args *a, struct gpu_ntt_powers *powers)
{
    struct fr inv_n;
    a->curve->fr_from_u64(&inv_n, (uint64_t)1 << a->log_n);
    a->curve->fr_inv(&inv_n, &inv_n);
    return gpu_powers_get(s, powers, a->curve, a->shift, inv_n, a->log_n);
}

int gpu_ntt_coset_tables(struct stream *s, const struct ntt_coset_args *a)
{
    struct gpu_ntt_powers powers;
    struct gpu_ntt_tables tables;
    struct fr root;
    if (a->log_n <= 2 || a->log_n > NTT_LOG_MAX) /* by the definition, or refused */
        return 0;
    a->curve->fr_inv(&root, &a->root);
    int rc = gpu_tables_get(s, &tables, a->curve, root, a->log_n);
    if (!rc)
        rc = gpu_tables_get(s, &tables, a->curve, a->root, a->log_n);
    return rc ? rc : coset_powers(s, a, &powers);
}

int gpu_ntt_coset(struct stream *s, const struct ntt_coset_args *args)
{
    size_t batch = args->batch ? args->batch : 1;
    int rc = data_check(s, args->data, args->log_n, batch);
    if (rc || args->log_n == 0)
        return rc;
    lane_begin(s, "ntt");
    if (args->log_n <= 2) {
        rc = coset_small(s, args, batch);
    } else {
        struct gpu_ntt_powers powers;
        rc = coset_powers(s, args, &powers);
        struct gpu_fr *data = (void *)(uintptr_t)args->data.addr;
        for (size_t at = 0; at < batch && !rc; at += BATCH_MAX) {
            size_t some = batch - at < BATCH_MAX ? batch - at : BATCH_MAX;
            rc = coset_queue(s, args, data + (at << args->log_n), some, powers);
        }
    }
    lane_end(s, 0);
    return rc;
}
