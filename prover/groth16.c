#include "prover/groth16.h"

#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/csr.h"

const char *const groth16_part_names[GROTH16_PARTS] = {"A", "B1", "B2", "L", "H"};

/* Which section holds the bases of a part, and the first wire that they belong to. */
static const enum zkey_set part_set[GROTH16_PARTS] = {ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_C, ZKEY_H};

struct groth16_key {
    struct device *device;
    const struct zkey *zkey;
    struct csr *csr;
    struct matrix *matrix[CSR_MATRICES];
    struct bases *bases[GROTH16_PARTS];
    struct stream *stream;
    /* | w: n_vars scalars |   | a: n | b: n | c: n |   the three run through the transforms as one batch */
    struct dbuf w, abc;
    bool taken[GROTH16_PARTS]; /* from the key's source, and not done with */
    bool one_proof;
    size_t rows; /* that come with the witness; 0: from the matrices */
    struct span_list *spans;
};

static size_t domain_bytes(const struct zkey *z)
{
    return (size_t)z->domain_size * sizeof(struct fr);
}

struct fr groth16_coset_shift(const struct curve *curve, unsigned log_n)
{
    struct fr shift;
    if (log_n < curve->two_adicity)
        curve->fr_root(&shift, log_n + 1);
    else
        curve->fr_from_u64(&shift, 25);
    return shift;
}

/* Take a part's points and make bases of them. Resident ones are copied then, and the source may have them back. */
static int part_open(struct groth16_key *key, enum groth16_part part, bool resident, unsigned multiples)
{
    const struct device_ops *ops = key->device->ops;
    const struct zkey *z = key->zkey;
    const struct zkey_points *p = &z->points[part_set[part]];
    const uint8_t *data;
    int rc = zkey_points_take(z, &data, part_set[part]);
    if (rc)
        return rc;
    struct bases_args args = {
        .curve = z->curve, .group = p->group, .points = data, .n = p->n, .resident = resident, .multiples = multiples};
    rc = ops->bases_open(key->device, &key->bases[part], &args);
    key->taken[part] = rc == 0 && !resident;
    if (!key->taken[part])
        zkey_points_done(z, part_set[part]);
    return rc;
}

static void part_close(struct groth16_key *key, enum groth16_part part)
{
    if (key->bases[part])
        key->device->ops->bases_close(key->bases[part]);
    if (key->taken[part])
        zkey_points_done(key->zkey, part_set[part]);
    key->bases[part] = NULL;
    key->taken[part] = false;
}

/* A, B1, B2 and L share the witness. B1 and B2 need the same digits; one call lets the device see that. */
static struct msm_args witness_args(const struct groth16_key *key, struct msm_set sets[PART_H],
                                    struct groth16_sums *sums, struct dbuf w)
{
    const struct zkey *z = key->zkey;
    for (int i = 0; i < PART_H; i++) {
        sets[i].bases = key->bases[i];
        sets[i].first = i == PART_L ? z->n_public + 1 : 0;
        sets[i].result = &sums->part[i];
    }
    return (struct msm_args){.curve = z->curve, .scalars = w, .n = z->n_vars, .sets = sets, .n_sets = PART_H};
}

static struct msm_args quotient_args(const struct groth16_key *key, struct msm_set *set, struct groth16_sums *sums)
{
    const struct zkey *z = key->zkey;
    *set = (struct msm_set){.bases = key->bases[PART_H], .result = &sums->part[PART_H]};
    return (struct msm_args){.curve = z->curve,
                             .scalars = dbuf_at(key->abc, 0, domain_bytes(z)),
                             .n = z->domain_size,
                             .sets = set,
                             .n_sets = 1};
}

static struct ntt_coset_args coset_args(const struct groth16_key *key)
{
    const struct zkey *z = key->zkey;
    struct ntt_coset_args a = {.curve = z->curve, .data = key->abc, .log_n = z->log_domain, .batch = 3};
    z->curve->fr_root(&a.root, z->log_domain);
    a.shift = groth16_coset_shift(z->curve, z->log_domain);
    return a;
}

/* All that a proof takes besides the key, before the first one: no proof fails half-way for want of memory. A key for
 * one proof has no bases yet, so that their workspace is taken with them. */
static int key_reserve(const struct groth16_key *key)
{
    const struct device_ops *ops = key->device->ops;
    struct groth16_sums ignored;
    struct msm_set sets[PART_H], set;
    struct msm_args msm[] = {witness_args(key, sets, &ignored, (struct dbuf){0}), quotient_args(key, &set, &ignored)};
    struct ntt_coset_args coset = coset_args(key);
    struct reserve_args args = {.msm = msm,
                                .n_msm = key->one_proof ? 0 : 2,
                                .ntt_coset = &coset,
                                .matrix = (const struct matrix *const *)key->matrix};
    args.n_matrix = key->rows ? 0 : CSR_MATRICES;
    return ops->reserve ? ops->reserve(key->stream, &args) : 0;
}

size_t groth16_input_bytes(const struct groth16_key *key)
{
    return (size_t)key->zkey->n_vars * sizeof(struct scalar) + 2 * key->rows * sizeof(struct fr);
}

static int buffers_open(struct groth16_key *key, const struct groth16_key_opts *opts)
{
    const struct device_ops *ops = key->device->ops;
    int rc = opts->own_inputs ? 0 : ops->alloc(key->device, &key->w, groth16_input_bytes(key));
    if (!rc)
        rc = ops->alloc(key->device, &key->abc, 3 * domain_bytes(key->zkey));
    if (!rc)
        rc = ops->stream_open(key->device, &key->stream, &(struct stream_opts){.spans = opts->spans});
    return rc;
}

static int key_load(struct groth16_key *key, const struct groth16_key_opts *opts)
{
    const struct device_ops *ops = key->device->ops;
    const struct zkey *z = key->zkey;
    int rc = csr_open(&key->csr, z);
    for (int i = 0; i < CSR_MATRICES && !rc; i++) {
        struct matrix_args args =
            csr_matrix_args(key->csr, (enum csr_which)i, opts->resident && !(opts->streamed & GROTH16_MATRICES));
        rc = ops->matrix_open(key->device, &key->matrix[i], &args);
    }
    if (!rc)
        rc = buffers_open(key, opts);
    for (int i = 0; i < GROTH16_PARTS && !rc && !opts->one_proof; i++)
        rc = part_open(key, (enum groth16_part)i, opts->resident && !(opts->streamed >> i & 1), opts->multiples[i]);
    return rc ? rc : key_reserve(key);
}

int groth16_key_open(struct groth16_key **key_p, struct device *device, const struct zkey *zkey,
                     const struct groth16_key_opts *opts)
{
    struct groth16_key *key = calloc(1, sizeof *key);
    if (!key)
        return err_fail(-ENOMEM, "no memory for a key");
    key->device = device;
    key->zkey = zkey;
    key->one_proof = opts->one_proof;
    key->spans = opts->spans;
    int rc = key_load(key, opts);
    if (rc)
        groth16_key_close(key);
    else
        *key_p = key;
    return rc;
}

int groth16_key_adopt(struct groth16_key **key_p, struct device *device, const struct zkey *zkey,
                      const struct groth16_parts *parts, const struct groth16_key_opts *opts)
{
    if (parts->rows > zkey->domain_size)
        return err_fail(-EINVAL, "%zu rows with each witness, the domain has %u", parts->rows, zkey->domain_size);
    struct groth16_key *key = calloc(1, sizeof *key);
    if (!key)
        return err_fail(-ENOMEM, "no memory for a key");
    key->device = device;
    key->zkey = zkey;
    key->spans = opts->spans;
    key->rows = parts->rows;
    memcpy(key->bases, parts->bases, sizeof key->bases);
    memcpy(key->matrix, parts->matrix, sizeof key->matrix);
    int rc = buffers_open(key, opts);
    if (!rc)
        rc = key_reserve(key);
    if (!rc) {
        *key_p = key;
        return 0;
    }
    memset(key->bases, 0, sizeof key->bases); /* still the caller's */
    memset(key->matrix, 0, sizeof key->matrix);
    groth16_key_close(key);
    return rc;
}

void groth16_key_close(struct groth16_key *key)
{
    if (!key)
        return;
    const struct device_ops *ops = key->device->ops;
    if (key->stream)
        ops->stream_close(key->stream);
    if (key->abc.bytes)
        ops->free(key->device, key->abc);
    if (key->w.bytes)
        ops->free(key->device, key->w);
    for (int i = 0; i < GROTH16_PARTS; i++)
        part_close(key, (enum groth16_part)i);
    for (int i = 0; i < CSR_MATRICES; i++) {
        if (key->matrix[i])
            ops->matrix_close(key->matrix[i]);
    }
    csr_close(key->csr);
    free(key);
}

/* The points of parts first..last are there from begin to end. After a failure they stay until the key is closed: its
 * stream may still read them. */
static int parts_begin(struct groth16_key *key, enum groth16_part first, enum groth16_part last)
{
    int rc = 0;
    for (enum groth16_part i = first; i <= last && !rc; i++)
        rc = key->bases[i] ? 0 : part_open(key, i, false, 0);
    return rc;
}

static void parts_end(struct groth16_key *key, enum groth16_part first, enum groth16_part last)
{
    for (enum groth16_part i = first; i <= last && key->one_proof; i++)
        part_close(key, i);
}

static int compute_witness_sums(struct groth16_key *key, struct groth16_sums *sums, struct dbuf w)
{
    const struct device_ops *ops = key->device->ops;
    struct msm_set sets[PART_H];
    int rc = parts_begin(key, PART_A, PART_L);
    if (rc)
        return rc;
    struct msm_args args = witness_args(key, sets, sums, w);
    rc = ops->msm(key->stream, &args);
    if (!rc)
        rc = ops->stream_sync(key->stream); /* `sets` ends here */
    if (!rc)
        parts_end(key, PART_A, PART_L);
    return rc;
}

/* a and b on the domain: products with the matrices, or what came with the witness, copied and padded. */
static int quotient_rows(struct groth16_key *key, struct dbuf w, struct dbuf a, struct dbuf b)
{
    const struct device_ops *ops = key->device->ops;
    const struct zkey *z = key->zkey;
    size_t w_bytes = (size_t)z->n_vars * sizeof(struct scalar), bytes = key->rows * sizeof(struct fr);
    struct dbuf to[CSR_MATRICES] = {a, b};
    int rc = 0;
    for (unsigned i = 0; i < CSR_MATRICES && !rc; i++) {
        if (!key->rows) {
            rc = ops->spmv(key->stream, &(struct spmv_args){key->matrix[i], w, to[i], z->domain_size});
            continue;
        }
        struct pointwise_args copy = {.curve = z->curve,
                                      .op = POINTWISE_SCALE,
                                      .out = to[i],
                                      .a = dbuf_at(w, w_bytes + i * bytes, bytes),
                                      .n = key->rows};
        z->curve->fr_from_u64(&copy.k, 1);
        rc = ops->pointwise(key->stream, &copy);
        if (!rc && bytes < to[i].bytes)
            rc = ops->zero(key->stream, dbuf_at(to[i], bytes, to[i].bytes - bytes), to[i].bytes - bytes);
    }
    return rc;
}

/* a, b on the domain, c = a b; all three carried to the coset; a b - c there, plain, into a. */
static int compute_quotient(struct groth16_key *key, struct dbuf w)
{
    const struct device_ops *ops = key->device->ops;
    const struct zkey *z = key->zkey;
    size_t bytes = domain_bytes(z);
    struct dbuf a = dbuf_at(key->abc, 0, bytes), b = dbuf_at(key->abc, bytes, bytes),
                c = dbuf_at(key->abc, 2 * bytes, bytes);
    struct pointwise_args mul = {.curve = z->curve, .op = POINTWISE_MUL, .out = c, .a = a, .b = b, .n = z->domain_size};
    struct ntt_coset_args coset = coset_args(key);
    struct pointwise_args join = {.curve = z->curve,
                                  .op = POINTWISE_MUL_SUB,
                                  .out = a,
                                  .a = a,
                                  .b = b,
                                  .c = c,
                                  .n = z->domain_size,
                                  .plain = true};
    int rc = quotient_rows(key, w, a, b);
    if (!rc)
        rc = ops->pointwise(key->stream, &mul);
    if (!rc)
        rc = ops->ntt_coset(key->stream, &coset);
    if (!rc)
        rc = ops->pointwise(key->stream, &join);
    return rc;
}

static int compute_quotient_sum(struct groth16_key *key, struct groth16_sums *sums)
{
    const struct device_ops *ops = key->device->ops;
    int rc = parts_begin(key, PART_H, PART_H);
    if (rc)
        return rc;
    struct msm_set set;
    struct msm_args args = quotient_args(key, &set, sums);
    rc = ops->msm(key->stream, &args);
    if (!rc)
        rc = ops->stream_sync(key->stream);
    if (!rc)
        parts_end(key, PART_H, PART_H);
    return rc;
}

int groth16_compute(struct groth16_key *key, struct groth16_sums *sums, const struct wtns *wtns,
                    groth16_progress *progress, void *ctx)
{
    memset(sums, 0, sizeof *sums);
    size_t bytes = (size_t)key->zkey->n_vars * sizeof(struct scalar);
    int rc = key->device->ops->copy_h2d(key->stream, key->w, wtns->values, bytes);
    if (!rc && progress)
        progress(ctx, "witness sums", 0.02);
    /* the witness sums first: the transforms' buffers are not touched before the key's pages were given back */
    if (!rc)
        rc = compute_witness_sums(key, sums, key->w);
    if (!rc && progress)
        progress(ctx, "quotient", 0.65);
    if (!rc)
        rc = compute_quotient(key, key->w);
    if (!rc && progress)
        progress(ctx, "quotient sum", 0.7);
    if (!rc)
        rc = compute_quotient_sum(key, sums);
    if (!rc && progress)
        progress(ctx, "verify", 0.98);
    return rc;
}

int groth16_step(struct groth16_key *key, struct groth16_sums *sums, struct dbuf w, unsigned step)
{
    switch (step) {
    case 0:
        memset(sums, 0, sizeof *sums);
        return compute_witness_sums(key, sums, w);
    case 1: {
        int rc = compute_quotient(key, w);
        return rc ? rc : key->device->ops->stream_sync(key->stream);
    }
    default:
        return compute_quotient_sum(key, sums);
    }
}

int groth16_key_reset(struct groth16_key *key)
{
    const struct device_ops *ops = key->device->ops;
    struct stream *fresh;
    int rc = ops->stream_open(key->device, &fresh, &(struct stream_opts){.spans = key->spans});
    if (rc)
        return rc;
    ops->stream_close(key->stream);
    key->stream = fresh;
    return key_reserve(key);
}

/* pi_a = alpha + A + r delta
 * pi_b = beta + B + s delta                                  (in G2, and in G1 for the last line)
 * pi_c = L + H + s pi_a + r pi_b1 - r s delta */
void groth16_fold(struct proof *proof, const struct zkey *zkey, const struct groth16_sums *sums, const struct scalar *r,
                  const struct scalar *s)
{
    const struct curve *cv = zkey->curve;
    struct point t, b1;
    proof->curve = cv;

    cv->mul(GROUP_G1, &t, &zkey->delta1, r);
    cv->add(GROUP_G1, &t, &t, &zkey->alpha1);
    cv->add(GROUP_G1, &proof->a, &t, &sums->part[PART_A]);

    cv->mul(GROUP_G2, &t, &zkey->delta2, s);
    cv->add(GROUP_G2, &t, &t, &zkey->beta2);
    cv->add(GROUP_G2, &proof->b, &t, &sums->part[PART_B2]);

    cv->mul(GROUP_G1, &t, &zkey->delta1, s);
    cv->add(GROUP_G1, &t, &t, &zkey->beta1);
    cv->add(GROUP_G1, &b1, &t, &sums->part[PART_B1]);

    struct fr fr_r, fr_s, fr_rs;
    struct scalar rs;
    cv->fr_from_scalar(&fr_r, r);
    cv->fr_from_scalar(&fr_s, s);
    cv->fr_mul(&fr_rs, &fr_r, &fr_s);
    cv->fr_to_scalar(&rs, &fr_rs);
    cv->add(GROUP_G1, &proof->c, &sums->part[PART_L], &sums->part[PART_H]);
    cv->mul(GROUP_G1, &t, &proof->a, s);
    cv->add(GROUP_G1, &proof->c, &proof->c, &t);
    cv->mul(GROUP_G1, &t, &b1, r);
    cv->add(GROUP_G1, &proof->c, &proof->c, &t);
    cv->mul(GROUP_G1, &t, &zkey->delta1, &rs);
    cv->neg(GROUP_G1, &t, &t);
    cv->add(GROUP_G1, &proof->c, &proof->c, &t);
}
