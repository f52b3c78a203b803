/* Encodings of BLS12-381 points. */
#include <string.h>

#include "cuda/math/encode.h"
#include "cuda/math/limbs.h"
#include "perf/err.h"

enum { LIMBS = 6, COORD = 48 };
enum { FLAG_COMPRESSED = 0x80, FLAG_INFINITY = 0x40, FLAG_LARGER = 0x20, FLAGS = 0xe0 };

/* Fq coordinates of x (and of y): 1 in G1, 2 in G2. */
static int degree(enum group g)
{
    return g == GROUP_G1 ? 1 : 2;
}

size_t encode_bytes(enum group g, enum encode_form form)
{
    return (size_t)degree(g) * COORD * (form == ENCODE_COMPRESSED ? 1 : 2);
}

static void big_endian_put(unsigned char *out, const uint64_t *plain)
{
    for (int i = 0; i < COORD; i++)
        out[COORD - 1 - i] = (unsigned char)(plain[i / 8] >> (i % 8 * 8));
}

static void big_endian_get(uint64_t *plain, const unsigned char *in)
{
    memset(plain, 0, COORD);
    for (int i = 0; i < COORD; i++)
        plain[i / 8] |= (uint64_t)in[COORD - 1 - i] << (i % 8 * 8);
}

/* Is y (Montgomery words behind x) the larger of y and -y? */
static bool is_larger(const struct curve *c, enum group g, const struct point *p)
{
    struct point minus;
    c->neg(g, &minus, p);
    for (int i = 2 * degree(g) - 1; i >= degree(g); i--) {
        uint64_t a[LIMBS], b[LIMBS];
        c->fq_to_plain(a, p->w + i * LIMBS);
        c->fq_to_plain(b, minus.w + i * LIMBS);
        int order = limbs_cmp(a, b, LIMBS);
        if (order != 0)
            return order > 0;
    }
    return false;
}

void point_encode(enum group g, enum encode_form form, void *out, const struct point *p)
{
    const struct curve *c = curve_get(CURVE_BLS12_381);
    unsigned char *bytes = out, flags = form == ENCODE_COMPRESSED ? FLAG_COMPRESSED : 0;
    int n = degree(g);
    memset(bytes, 0, encode_bytes(g, form));
    if (point_is_infinity(p)) {
        bytes[0] = flags | FLAG_INFINITY;
        return;
    }
    for (int i = 0; i < (form == ENCODE_COMPRESSED ? n : 2 * n); i++) {
        uint64_t plain[LIMBS];
        c->fq_to_plain(plain, p->w + i * LIMBS);
        int place = i / n * n + n - 1 - i % n; /* c1 before c0 */
        big_endian_put(bytes + place * COORD, plain);
    }
    if (form == ENCODE_COMPRESSED && is_larger(c, g, p))
        flags |= FLAG_LARGER;
    bytes[0] |= flags;
}

/* The flags of the first byte, or a fault. */
static int flags_check(enum group g, enum encode_form form, const unsigned char *in)
{
    const char *group = g == GROUP_G1 ? "G1" : "G2";
    bool compressed = form == ENCODE_COMPRESSED;
    if (((in[0] & FLAG_COMPRESSED) != 0) != compressed)
        return err_fail(-EINVAL, "%s point: first byte 0x%02x, expected %s form", group, in[0],
                        compressed ? "compressed" : "uncompressed");
    if (!compressed && (in[0] & FLAG_LARGER))
        return err_fail(-EINVAL, "%s point: first byte 0x%02x has the sign flag in uncompressed form", group, in[0]);
    if (!(in[0] & FLAG_INFINITY))
        return 0;
    unsigned any = in[0] & ~(unsigned)(FLAG_COMPRESSED | FLAG_INFINITY);
    for (size_t i = 1; i < encode_bytes(g, form); i++)
        any |= in[i];
    return any ? err_fail(-EINVAL, "%s point: infinity flag, but other bits are set", group) : 0;
}

static int fault_word(enum group g, enum point_fault fault)
{
    const char *group = g == GROUP_G1 ? "G1" : "G2";
    switch (fault) {
    case POINT_OK:
        return 0;
    case POINT_NOT_CANONICAL:
        return err_fail(-EINVAL, "%s point: a coordinate is not below the modulus", group);
    case POINT_NOT_ON_CURVE:
        return err_fail(-EINVAL, "%s point: not on the curve BLS12-381", group);
    case POINT_NOT_IN_SUBGROUP:
        return err_fail(-EINVAL, "%s point: on the curve, but not in the subgroup of order r", group);
    }
    return 0;
}

int point_decode(enum group g, enum encode_form form, struct point *p, const void *in, bool checked)
{
    const struct curve *c = curve_get(CURVE_BLS12_381);
    const unsigned char *bytes = in;
    struct point t = {{0}};
    int n = degree(g), rc = flags_check(g, form, bytes);
    if (rc)
        return rc;
    if (bytes[0] & FLAG_INFINITY) {
        *p = t;
        return 0;
    }
    for (int i = 0; i < (form == ENCODE_COMPRESSED ? n : 2 * n); i++) {
        unsigned char coord[COORD];
        uint64_t plain[LIMBS];
        int place = i / n * n + n - 1 - i % n;
        memcpy(coord, bytes + place * COORD, COORD);
        if (place == 0)
            coord[0] &= (unsigned char)~FLAGS;
        big_endian_get(plain, coord);
        if (limbs_cmp(plain, c->fq->p, LIMBS) >= 0)
            return fault_word(g, POINT_NOT_CANONICAL);
        c->fq_from_plain(t.w + i * LIMBS, plain);
    }
    if (form == ENCODE_COMPRESSED) {
        if (!c->lift_x(g, &t))
            return fault_word(g, POINT_NOT_ON_CURVE);
        if (is_larger(c, g, &t) != ((bytes[0] & FLAG_LARGER) != 0))
            c->neg(g, &t, &t);
    }
    rc = checked ? fault_word(g, c->check(g, &t)) : 0;
    if (rc)
        return rc;
    *p = t;
    return 0;
}
