#include "prover/key_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#include "perf/err.h"
#include "prover/csr.h"

static int check_section(struct device *device, struct stream *stream, const struct zkey *z, enum zkey_set set)
{
    const struct zkey_points *p = &z->points[set];
    const uint8_t *data;
    size_t bad;
    enum point_fault fault;
    int rc = zkey_points_take(z, &data, set);
    if (rc)
        return rc;
    struct check_points_args args = {.curve = z->curve,
                                     .group = p->group,
                                     .points = data,
                                     .n = p->n,
                                     .subgroup = true,
                                     .bad = &bad,
                                     .fault = &fault};
    rc = device->ops->check_points(stream, &args);
    if (!rc)
        rc = device->ops->stream_sync(stream);
    zkey_points_done(z, set);
    if (!rc && bad < p->n)
        rc = err_fail(-EBADMSG, "%s: section %u (%s): point %zu %s", z->map.path, p->section, p->name, bad,
                      point_fault_text(fault));
    return rc;
}

/* e(x1, generator2) = e(generator1, x2)? */
static bool same_number(const struct curve *cv, const struct point *x1, const struct point *x2)
{
    struct point g1[2] = {*x1, cv->generator[GROUP_G1]}, g2[2] = {cv->generator[GROUP_G2], *x2};
    cv->neg(GROUP_G1, &g1[1], &g1[1]);
    return cv->pairing_is_one(g1, g2, 2);
}

static const enum zkey_set b_sets[2] = {ZKEY_B1, ZKEY_B2};

static int check_b1_b2(struct device *device, struct stream *stream, const struct zkey *z)
{
    const struct device_ops *ops = device->ops;
    size_t n = z->n_vars;
    struct scalar *weights = calloc(n, sizeof *weights);
    if (!weights)
        return err_fail(-ENOMEM, "no memory for %zu weights", n);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        if (getrandom(weights[i].l, 16, 0) != 16)
            rc = err_fail(-EIO, "getrandom gave no bytes");
    }
    struct bases *bases[2] = {NULL, NULL};
    struct point sum[2];
    struct msm_set sets[2];
    struct dbuf d = {0};
    const uint8_t *data[2] = {NULL, NULL};
    for (int i = 0; i < 2 && !rc; i++) {
        const struct zkey_points *p = &z->points[b_sets[i]];
        rc = zkey_points_take(z, &data[i], b_sets[i]);
        if (rc)
            break;
        rc = ops->bases_open(device, &bases[i],
                             &(struct bases_args){.curve = z->curve, .group = p->group, .points = data[i], .n = p->n});
        sets[i] = (struct msm_set){.bases = bases[i], .result = &sum[i]};
    }
    if (!rc)
        rc = ops->alloc(device, &d, n * sizeof *weights);
    if (!rc)
        rc = ops->copy_h2d(stream, d, weights, n * sizeof *weights);
    if (!rc)
        rc = ops->msm(stream, &(struct msm_args){.curve = z->curve, .scalars = d, .n = n, .sets = sets, .n_sets = 2});
    if (!rc)
        rc = ops->stream_sync(stream);
    if (!rc && !same_number(z->curve, &sum[0], &sum[1]))
        rc = err_fail(-EBADMSG, "%s: sections 6 (B1) and 7 (B2) do not hold the same numbers", z->map.path);
    for (int i = 0; i < 2; i++) {
        if (bases[i])
            ops->bases_close(bases[i]);
        if (data[i])
            zkey_points_done(z, b_sets[i]);
    }
    if (d.bytes)
        ops->free(device, d);
    free(weights);
    return rc;
}

int key_check(struct device *device, const struct zkey *z, groth16_progress *progress, void *ctx)
{
    if (!same_number(z->curve, &z->beta1, &z->beta2))
        return err_fail(-EBADMSG, "%s: section 2: beta in G1 and in G2 are different numbers", z->map.path);
    if (!same_number(z->curve, &z->delta1, &z->delta2))
        return err_fail(-EBADMSG, "%s: section 2: delta in G1 and in G2 are different numbers", z->map.path);
    struct csr *csr = NULL;
    int rc = csr_open(&csr, z);
    csr_close(csr);
    struct stream *stream = NULL;
    if (!rc)
        rc = device->ops->stream_open(device, &stream, &(struct stream_opts){0});
    for (enum zkey_set set = 0; set < ZKEY_SETS && !rc; set++) {
        if (progress)
            progress(ctx, z->points[set].name, (double)set / ZKEY_SETS);
        rc = check_section(device, stream, z, set);
    }
    if (!rc && progress)
        progress(ctx, "B1 against B2", 0.95);
    if (!rc)
        rc = check_b1_b2(device, stream, z);
    if (stream)
        device->ops->stream_close(stream);
    return rc;
}
