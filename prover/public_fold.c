#include "prover/public_fold.h"

#include <stdlib.h>

#include "cuda/device.h"
#include "perf/err.h"

/* From here on one multi-scalar multiplication is quicker than single products: 2.0 against 1.0 ms at 32 values of
 * BN254, 128 against 12 ms at 2048; even at about 18. */
enum { MANY = 24 };

static void fold_few(struct point *sum, const struct vk *vk, const struct publics *publics)
{
    const struct curve *c = vk->curve;
    for (size_t i = 0; i < publics->n; i++) {
        struct point term;
        c->mul(GROUP_G1, &term, &vk->ic[i + 1], &publics->values[i]);
        c->add(GROUP_G1, sum, sum, &term);
    }
}

static int run_msm(struct device *host, struct point *result, const struct vk *vk, const void *packed,
                   const struct publics *publics)
{
    size_t n = publics->n;
    struct bases *bases = NULL;
    struct stream *stream = NULL;
    int rc = host->ops->bases_open(
        host, &bases, &(struct bases_args){.curve = vk->curve, .group = GROUP_G1, .points = packed, .n = n});
    if (rc == 0)
        rc = host->ops->stream_open(host, &stream, &(struct stream_opts){0});
    struct msm_set set = {.bases = bases, .result = result};
    if (rc == 0)
        rc = host->ops->msm(stream, &(struct msm_args){.curve = vk->curve,
                                                       .scalars = device_wrap(publics->values, n * 32),
                                                       .n = n,
                                                       .sets = &set,
                                                       .n_sets = 1});
    if (rc == 0)
        rc = host->ops->stream_sync(stream);
    if (stream)
        host->ops->stream_close(stream);
    if (bases)
        host->ops->bases_close(bases);
    return rc;
}

/* On a host device of one thread, whatever device proves: a verifier must not depend on what it judges. */
static int fold_many(struct point *sum, const struct vk *vk, const struct publics *publics)
{
    const struct curve *c = vk->curve;
    unsigned point_bytes = c->point_bytes[GROUP_G1];
    uint8_t *packed = malloc(publics->n * point_bytes);
    if (!packed)
        return err_fail(-ENOMEM, "no memory for %zu points", publics->n);
    for (size_t i = 0; i < publics->n; i++)
        point_store(c, GROUP_G1, packed + i * point_bytes, &vk->ic[i + 1]);
    struct device *host;
    struct point result;
    int rc = device_host_open(&host, &(struct device_opts){.threads = 1});
    if (rc == 0) {
        rc = run_msm(host, &result, vk, packed, publics);
        host->ops->close(host);
    }
    free(packed);
    if (rc == 0)
        c->add(GROUP_G1, sum, sum, &result);
    return rc;
}

int public_fold(struct point *sum, const struct vk *vk, const struct publics *publics)
{
    struct point folded = vk->ic[0];
    int rc = 0;
    if (publics->n < MANY)
        fold_few(&folded, vk, publics);
    else
        rc = fold_many(&folded, vk, publics);
    if (rc == 0)
        *sum = folded;
    return rc;
}
