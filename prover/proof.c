#include "prover/proof.h"

#include <stdlib.h>

#include "perf/err.h"
#include "prover/zkey.h"

const char *point_fault_text(enum point_fault fault)
{
    static const char *const text[] = {
        [POINT_OK] = "is good",
        [POINT_NOT_CANONICAL] = "has a coordinate that is not below the prime q",
        [POINT_NOT_ON_CURVE] = "is not on the curve",
        [POINT_NOT_IN_SUBGROUP] = "is not in the subgroup of prime order",
    };
    return text[fault];
}

int vk_from_zkey(struct vk *vk, const struct zkey *z)
{
    const struct zkey_points *ic = &z->points[ZKEY_IC];
    struct vk v = {.curve = z->curve,
                   .alpha1 = z->alpha1,
                   .beta2 = z->beta2,
                   .gamma2 = z->gamma2,
                   .delta2 = z->delta2,
                   .n_public = z->n_public,
                   .ic = malloc(ic->n * sizeof *v.ic)};
    if (!v.ic)
        return err_fail(-ENOMEM, "%s: no memory for %zu points of its verifying key", z->map.path, ic->n);
    unsigned point_bytes = z->curve->point_bytes[GROUP_G1];
    const uint8_t *data;
    int rc = zkey_points_take(z, &data, ZKEY_IC);
    for (size_t i = 0; i < ic->n && !rc; i++) {
        point_load(z->curve, GROUP_G1, &v.ic[i], data + i * point_bytes);
        enum point_fault fault = z->curve->check(GROUP_G1, &v.ic[i]);
        if (fault)
            rc = err_fail(-EBADMSG, "%s: section %u (%s): point %zu %s", z->map.path, ic->section, ic->name, i,
                          point_fault_text(fault));
        if (fault || i + 1 == ic->n)
            zkey_points_done(z, ZKEY_IC);
    }
    if (rc)
        vk_close(&v);
    else
        *vk = v;
    return rc;
}

void vk_close(struct vk *vk)
{
    free(vk->ic);
    *vk = (struct vk){0};
}

void publics_close(struct publics *publics)
{
    free(publics->values);
    *publics = (struct publics){0};
}
