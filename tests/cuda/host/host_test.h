/* What the tests of the host device share: replayable random numbers, devices of every instruction set, scalars and
 * points of every nasty kind. Seed: PENSTOCK_SEED or a fixed one. */
#ifndef TESTS_CUDA_HOST_TEST_H
#define TESTS_CUDA_HOST_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/host/host.h"

static uint64_t rng_state;

static inline uint64_t rng(void)
{
    uint64_t z = rng_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline void rng_start(void)
{
    const char *env = getenv("PENSTOCK_SEED");
    rng_state = env ? strtoull(env, NULL, 0) : 0x5eed;
    print_message("rerun: PENSTOCK_SEED=0x%llx\n", (unsigned long long)rng_state);
}

static const char *const isas[] = {"portable", "adx", "ifma"};
enum { ISA_NAMES = sizeof isas / sizeof *isas };

/* NULL when this CPU lacks the instructions. */
static inline struct device *device_of(const char *isa, unsigned threads)
{
    struct device *d;
    if (!kernels_by_name(isa))
        return NULL;
    assert_int_equal(device_host_open_isa(&d, &(struct device_opts){.threads = threads}, isa), 0);
    return d;
}

static inline struct stream *stream_of(struct device *d)
{
    struct stream *s;
    assert_int_equal(d->ops->stream_open(d, &s, NULL), 0);
    return s;
}

static inline bool scalar_below(const struct scalar *s, const uint64_t *r)
{
    for (int i = 3; i >= 0; i--) {
        if (s->l[i] != r[i])
            return s->l[i] < r[i];
    }
    return false;
}

static inline struct scalar scalar_random(const struct curve *c)
{
    struct scalar s;
    do {
        for (int i = 0; i < 4; i++)
            s.l[i] = rng();
        s.l[3] &= ((uint64_t)1 << (c->fr_bits - 192)) - 1;
    } while (!scalar_below(&s, c->fr->p));
    return s;
}

/* long runs of 0 and 1 bits */
static inline struct scalar scalar_runs(const struct curve *c)
{
    struct scalar s = {{0}};
    unsigned bit = 0;
    while (bit < 253) {
        unsigned len = 1 + (unsigned)(rng() % 70);
        uint64_t one = rng() & 1;
        for (; len > 0 && bit < 253; len--, bit++)
            s.l[bit / 64] |= one << (bit % 64);
    }
    return scalar_below(&s, c->fr->p) ? s : (struct scalar){{0}};
}

static inline struct scalar scalar_minus(const struct curve *c, uint64_t k)
{
    struct scalar s;
    memcpy(s.l, c->fr->p, sizeof s.l);
    uint64_t low = s.l[0];
    s.l[0] -= k;
    s.l[1] -= s.l[0] > low; /* no further: the second word is large on both curves */
    return s;
}

enum scalar_kind {
    SCALARS_RANDOM,
    SCALARS_RUNS,
    SCALARS_ZERO,
    SCALARS_ONE,
    SCALARS_LAST, /* r - 1 */
    SCALARS_EQUAL,
    SCALARS_BITS,
    SCALARS_SHORT,
    SCALARS_EDGE, /* around 2^62, 2^64, r/2 */
    SCALARS_WITNESS,
    SCALAR_KINDS
};

static inline struct scalar scalar_edge(const struct curve *c)
{
    struct scalar s = {{0}};
    switch (rng() % 4) {
    case 0:
        s.l[0] = ((uint64_t)1 << 62) - 2 + rng() % 4;
        break;
    case 1:
        s.l[0] = ~(uint64_t)0 - rng() % 2;
        s.l[1] = rng() % 2;
        break;
    case 2: /* r/2 and its neighbours */
        for (int i = 0; i < 4; i++)
            s.l[i] = c->fr->p[i] >> 1 | (i < 3 ? c->fr->p[i + 1] << 63 : 0);
        s.l[0] += rng() % 3;
        break;
    default:
        s = scalar_minus(c, 1 + (rng() >> (rng() % 64)) / 2);
    }
    return s;
}

static inline struct scalar scalar_witness(const struct curve *c)
{
    switch (rng() % 8) {
    case 0:
    case 1:
        return (struct scalar){{0}};
    case 2:
    case 3:
        return (struct scalar){{1}};
    case 4:
        return (struct scalar){{rng() >> (rng() % 64)}};
    case 5:
        return scalar_minus(c, 1 + rng() % 3);
    default:
        return scalar_random(c);
    }
}

static inline void scalars_fill(struct scalar *s, size_t n, const struct curve *c, enum scalar_kind kind)
{
    struct scalar same = scalar_random(c);
    for (size_t i = 0; i < n; i++) {
        switch (kind) {
        case SCALARS_RUNS:
            s[i] = scalar_runs(c);
            break;
        case SCALARS_ZERO:
            s[i] = (struct scalar){{0}};
            break;
        case SCALARS_ONE:
            s[i] = (struct scalar){{1}};
            break;
        case SCALARS_LAST:
            s[i] = scalar_minus(c, 1);
            break;
        case SCALARS_EQUAL:
            s[i] = same;
            break;
        case SCALARS_BITS:
            s[i] = (struct scalar){{rng() & 1}};
            break;
        case SCALARS_SHORT:
            s[i] = (struct scalar){{rng() >> (rng() % 64)}};
            break;
        case SCALARS_EDGE:
            s[i] = scalar_edge(c);
            break;
        case SCALARS_WITNESS:
            s[i] = scalar_witness(c);
            break;
        default:
            s[i] = scalar_random(c);
        }
    }
}

/* Points whose logarithms are known: point i = log[i] * generator, so that the slow twin of any sum is one product. */
struct known_points {
    const struct curve *curve;
    enum group group;
    size_t n;
    struct fr *log;
    unsigned char *packed; /* at an odd offset */
    unsigned char *memory;
};

enum point_kind { POINTS_RANDOM, POINTS_EQUAL, POINTS_OPPOSITE, POINTS_SPARSE, POINTS_NONE, POINT_KINDS };

/* Sums of two of these are many different points for few multiplications. */
enum { KNOWN_TABLE = 64 };
struct known_table {
    bool made;
    struct point point[KNOWN_TABLE];
    struct fr log[KNOWN_TABLE];
};

static inline const struct known_table *known_table_get(const struct curve *c, enum group g)
{
    static struct known_table tables[CURVES][GROUPS];
    struct known_table *t = &tables[c->id][g];
    for (int i = 0; i < KNOWN_TABLE && !t->made; i++) {
        struct scalar s = scalar_random(c);
        c->fr_from_scalar(&t->log[i], &s);
        c->mul(g, &t->point[i], &c->generator[g], &s);
    }
    t->made = true;
    return t;
}

static inline struct known_points known_points_make(const struct curve *c, enum group g, size_t n, enum point_kind kind)
{
    struct known_points k = {.curve = c, .group = g, .n = n};
    const struct known_table *t = known_table_get(c, g);
    size_t bytes = c->point_bytes[g];
    k.log = calloc(n + 1, sizeof *k.log);
    k.memory = calloc(n * bytes + 64, 1);
    assert_non_null(k.log);
    assert_non_null(k.memory);
    k.packed = k.memory + 13; /* as in a file: any offset */
    struct point p = {{0}};
    struct fr log = {{0}}, zero = {{0}};
    for (size_t i = 0; i < n; i++) {
        if (kind == POINTS_RANDOM || kind == POINTS_SPARSE || i == 0) {
            size_t a = rng() % KNOWN_TABLE, b = rng() % KNOWN_TABLE;
            c->add(g, &p, &t->point[a], &t->point[b]);
            c->fr_add(&log, &t->log[a], &t->log[b]);
        }
        if (kind == POINTS_NONE || (kind == POINTS_SPARSE && rng() % 3 != 0))
            continue;
        if (kind == POINTS_OPPOSITE) {
            c->neg(g, &p, &p);
            c->fr_sub(&log, &zero, &log);
        }
        k.log[i] = log;
        memcpy(k.packed + i * bytes, &p, bytes);
    }
    return k;
}

static inline void known_points_free(struct known_points *k)
{
    free(k->log);
    free(k->memory);
}

static inline void point_expect(const struct known_points *k, const struct fr *log, const struct point *got)
{
    struct scalar s;
    struct point want;
    k->curve->fr_to_scalar(&s, log);
    k->curve->mul(k->group, &want, &k->curve->generator[k->group], &s);
    assert_memory_equal(got, &want, sizeof want);
}

#endif
