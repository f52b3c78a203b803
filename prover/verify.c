#include "prover/verify.h"

#include <string.h>

#include "perf/err.h"
#include "prover/public_fold.h"

/* A named point of the proof: in the group and not infinity, which would let part of the equation be skipped. */
static enum pen_verdict judge_point(const struct curve *c, enum group group, const struct point *p, const char *name)
{
    static const enum pen_verdict verdicts[] = {[POINT_OK] = PEN_VALID,
                                                [POINT_NOT_CANONICAL] = PEN_NOT_CANONICAL,
                                                [POINT_NOT_ON_CURVE] = PEN_NOT_ON_CURVE,
                                                [POINT_NOT_IN_SUBGROUP] = PEN_NOT_IN_SUBGROUP};
    if (point_is_infinity(p)) {
        err_fail(0, "%s: is the point at infinity", name);
        return PEN_INFINITY;
    }
    enum point_fault fault = c->check(group, p);
    if (fault)
        err_fail(0, "%s: %s (%s)", name, point_fault_text(fault), c->title);
    return verdicts[fault];
}

static enum pen_verdict judge_points(const struct vk *vk, const struct proof *p)
{
    if (p->curve != vk->curve) {
        err_fail(0, "a proof for %s, the verification key is for %s", p->curve->title, vk->curve->title);
        return PEN_NOT_CANONICAL;
    }
    enum pen_verdict v = judge_point(p->curve, GROUP_G1, &p->a, "pi_a");
    if (v == PEN_VALID)
        v = judge_point(p->curve, GROUP_G2, &p->b, "pi_b");
    if (v == PEN_VALID)
        v = judge_point(p->curve, GROUP_G1, &p->c, "pi_c");
    return v;
}

static enum pen_verdict judge_publics(const struct vk *vk, const struct publics *publics)
{
    if (publics->n != vk->n_public) {
        err_fail(0, "%zu public values, the verification key asks for %zu", publics->n, vk->n_public);
        return PEN_PUBLIC_COUNT;
    }
    for (size_t i = 0; i < publics->n; i++)
        if (!scalar_is_canonical(vk->curve, &publics->values[i])) {
            err_fail(0, "public value %zu: is not below the prime r", i);
            return PEN_PUBLIC_TOO_LARGE;
        }
    return PEN_VALID;
}

static int equation_holds(bool *holds, const struct vk *vk, const struct proof *p, const struct publics *publics)
{
    struct point g1[4] = {p->a, vk->alpha1, {{0}}, p->c};
    struct point g2[4] = {p->b, vk->beta2, vk->gamma2, vk->delta2};
    int rc = public_fold(&g1[2], vk, publics);
    if (rc)
        return rc;
    vk->curve->neg(GROUP_G1, &g1[0], &g1[0]);
    *holds = vk->curve->pairing_is_one(g1, g2, 4);
    return 0;
}

int verify_groth16(enum pen_verdict *verdict, const struct vk *vk, const struct proof *p, const struct publics *publics)
{
    if (publics->was_null && vk->n_public)
        return err_fail(-EBADMSG, "null, expected an array of %zu public values", vk->n_public);
    enum pen_verdict v = judge_publics(vk, publics);
    if (v == PEN_VALID)
        v = judge_points(vk, p);
    bool holds = true;
    int rc = v == PEN_VALID ? equation_holds(&holds, vk, p, publics) : 0;
    if (rc)
        return rc;
    if (!holds) {
        err_fail(0, "the pairing equation does not hold: not a proof for these public values and this key");
        v = PEN_FALSE;
    }
    *verdict = v;
    return 0;
}
