/* Choosing a curve, and what is the same for all of them. */
#include <string.h>

#include "cuda/math/curve.h"
#include "cuda/math/curve_tables.h"
#include "cuda/math/limbs.h"

const struct curve *curve_get_isa(enum curve_id id, enum isa isa)
{
#if defined(__x86_64__)
    static const struct curve *const adx[CURVES] = {&curve_bn254_adx, &curve_bls12381_adx};
    if (isa >= ISA_ID_ADX)
        return adx[id];
#endif
    static const struct curve *const portable[CURVES] = {&curve_bn254_portable, &curve_bls12381_portable};
    (void)isa;
    return portable[id];
}

const struct curve *curve_get(enum curve_id id)
{
    return curve_get_isa(id, isa_best());
}

const struct curve *curve_by_r(const void *r32)
{
    for (int id = 0; id < CURVES; id++) {
        const struct curve *c = curve_get((enum curve_id)id);
        if (memcmp(c->fr->p, r32, 32) == 0)
            return c;
    }
    return NULL;
}

const struct curve *curve_by_name(const char *name)
{
    static const struct {
        const char *name;
        enum curve_id id;
    } names[] = {
        {"bn128", CURVE_BN254}, {"bn254", CURVE_BN254}, {"altbn128", CURVE_BN254}, {"bls12381", CURVE_BLS12_381}};
    char plain[16];
    size_t n = 0;
    for (; *name; name++) {
        char c = *name;
        if (c == '-' || c == '_')
            continue;
        if (n + 1 == sizeof plain)
            return NULL;
        plain[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    plain[n] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(plain, names[i].name) == 0)
            return curve_get(names[i].id);
    return NULL;
}

bool scalar_is_canonical(const struct curve *c, const struct scalar *s)
{
    return limbs_cmp(s->l, c->fr->p, 4) < 0;
}

bool point_is_infinity(const struct point *p)
{
    uint64_t any = 0;
    for (size_t i = 0; i < sizeof p->w / sizeof *p->w; i++)
        any |= p->w[i];
    return any == 0;
}

void point_load(const struct curve *c, enum group g, struct point *p, const void *packed)
{
    memset(p, 0, sizeof *p);
    memcpy(p->w, packed, c->point_bytes[g]);
}

void point_store(const struct curve *c, enum group g, void *packed, const struct point *p)
{
    memcpy(packed, p->w, c->point_bytes[g]);
}
