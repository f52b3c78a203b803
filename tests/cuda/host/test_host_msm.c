/* Claim: msm, sum_selected, mul_base and check_points of the host device are right for every instruction set, thread
 * count, size and degenerate input. The twin works on logarithms. */
#include "host_test.h"
#include "tests/slower.h"

static void sum_expect(const struct known_points *k, const struct scalar *x, const struct point *got)
{
    const struct curve *c = k->curve;
    struct fr sum = {{0}}, t;
    for (size_t i = 0; i < k->n; i++) {
        c->fr_from_scalar(&t, &x[i]);
        c->fr_mul(&t, &t, &k->log[i]);
        c->fr_add(&sum, &sum, &t);
    }
    point_expect(k, &sum, got);
}

static void expect_msm(struct stream *s, const struct known_points *k, const struct bases *b, const struct scalar *x,
                       size_t n, size_t first)
{
    struct point got;
    memset(&got, 0xa5, sizeof got);
    struct msm_set set = {.bases = b, .first = first, .result = &got};
    struct msm_args args = {
        .curve = k->curve, .scalars = device_wrap(x, n * sizeof *x), .n = n, .sets = &set, .n_sets = 1};
    assert_int_equal(s->device->ops->msm(s, &args), 0);
    sum_expect(k, x + first, &got);
}

static struct bases *bases_of(struct device *d, const struct known_points *k, bool resident)
{
    struct bases *b;
    struct bases_args args = {
        .curve = k->curve, .group = k->group, .points = k->packed, .n = k->n, .resident = resident};
    assert_int_equal(d->ops->bases_open(d, &b, &args), 0);
    return b;
}

static void kinds_of_input(struct device *d, const struct curve *c, enum group g, size_t n)
{
    struct stream *s = stream_of(d);
    struct scalar *x = malloc((n + 8) * sizeof *x);
    for (int p = 0; p < POINT_KINDS; p++) {
        struct known_points k = known_points_make(c, g, n, (enum point_kind)p);
        struct bases *b = bases_of(d, &k, p % 2);
        for (int i = 0; i < SCALAR_KINDS; i++) {
            scalars_fill(x, n + 8, c, (enum scalar_kind)i);
            expect_msm(s, &k, b, x, n + 8, rng() % 9);
        }
        d->ops->bases_close(b);
        known_points_free(&k);
    }
    free(x);
    d->ops->stream_close(s);
}

static void sizes(void **state)
{
    (void)state;
    static const size_t small[] = {0, 1, 2, 3, 7, 8, 9, 33};
    for (int i = 0; i < ISA_NAMES; i++) {
        struct device *d = device_of(isas[i], 2);
        for (int v = 0; d && v < CURVES * GROUPS; v++) {
            for (size_t j = 0; j < sizeof small / sizeof *small; j++)
                kinds_of_input(d, curve_get((enum curve_id)(v / 2)), (enum group)(v % 2), small[j]);
        }
        if (d)
            d->ops->close(d);
    }
}

static void threads_and_ranges(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, 2, 5};
    for (int v = 0; v < ISA_NAMES * 3; v++) {
        struct device *d = device_of(isas[v / 3], counts[v % 3]);
        size_t odd = (size_t)(v % 3);
        for (int c = 0; d && c < CURVES; c++) {
            kinds_of_input(d, curve_get((enum curve_id)c), GROUP_G1, ((size_t)1 << log_size(9, 6)) - 1 + odd);
            kinds_of_input(d, curve_get((enum curve_id)c), GROUP_G2, ((size_t)1 << log_size(7, 5)) + 1 - odd);
        }
        if (d)
            d->ops->close(d);
    }
}

/* Several groups of the tree and levels. */
static void large(void **state)
{
    (void)state;
    static const enum scalar_kind kinds[] = {SCALARS_RANDOM, SCALARS_EQUAL, SCALARS_ONE, SCALARS_WITNESS};
    size_t n = ((size_t)1 << log_size(15, 11)) + 1;
    struct scalar *x = malloc(n * sizeof *x);
    for (int v = 0; v < ISA_NAMES * 3; v++) {
        struct device *d = device_of(isas[v / 3], 2);
        if (!d)
            continue;
        struct stream *s = stream_of(d);
        const struct curve *c = curve_get((enum curve_id)(v % 2));
        struct known_points k = known_points_make(c, GROUP_G1, n, (enum point_kind)(v % 3));
        struct bases *b = bases_of(d, &k, false);
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
            scalars_fill(x, n, c, kinds[j]);
            expect_msm(s, &k, b, x, n, 0);
        }
        d->ops->bases_close(b);
        known_points_free(&k);
        d->ops->stream_close(s);
        d->ops->close(d);
    }
    free(x);
}

/* The sets of a proof: one witness, four bases. */
static void proof_sets(struct device *d, const struct curve *c)
{
    enum { N = 700, SETS = 4 };
    struct scalar x[N];
    struct known_points k[SETS];
    struct bases *b[SETS];
    struct msm_set sets[SETS];
    struct point got[SETS];
    struct stream *s = stream_of(d);
    scalars_fill(x, N, c, SCALARS_WITNESS);
    for (int j = 0; j < SETS; j++) {
        size_t first = j == 3 ? 11 : 0;
        k[j] = known_points_make(c, j == 2 ? GROUP_G2 : GROUP_G1, N - first, j == 1 ? POINTS_SPARSE : POINTS_RANDOM);
        b[j] = bases_of(d, &k[j], false);
        sets[j] = (struct msm_set){.bases = b[j], .first = first, .result = &got[j]};
    }
    struct msm_args args = {.curve = c, .scalars = device_wrap(x, sizeof x), .n = N, .sets = sets, .n_sets = SETS};
    assert_int_equal(d->ops->msm(s, &args), 0);
    for (int j = 0; j < SETS; j++) {
        sum_expect(&k[j], x + sets[j].first, &got[j]);
        d->ops->bases_close(b[j]);
        known_points_free(&k[j]);
    }
    d->ops->stream_close(s);
}

static void several_sets(void **state)
{
    (void)state;
    for (int i = 0; i < ISA_NAMES; i++) {
        struct device *d = device_of(isas[i], 3);
        for (int id = 0; d && id < CURVES; id++)
            proof_sets(d, curve_get((enum curve_id)id));
        if (d)
            d->ops->close(d);
    }
}

static void select_some(struct device *d, const struct curve *c, enum group g, size_t n)
{
    struct known_points k = known_points_make(c, g, n, POINTS_SPARSE);
    struct bases *b = bases_of(d, &k, false);
    uint64_t bits[8];
    struct fr sum = {{0}};
    for (size_t j = 0; j < 8; j++)
        bits[j] = rng(); /* also behind the last base */
    for (size_t j = 0; j < n; j++) {
        if (bits[j / 64] >> (j % 64) & 1)
            c->fr_add(&sum, &sum, &k.log[j]);
    }
    struct stream *s = stream_of(d);
    struct point got;
    struct sum_selected_args a = {.bases = b, .bits = device_wrap(bits, sizeof bits), .result = &got};
    assert_int_equal(d->ops->sum_selected(s, &a), 0);
    point_expect(&k, &sum, &got);
    d->ops->stream_close(s);
    d->ops->bases_close(b);
    known_points_free(&k);
}

static void selected(void **state)
{
    (void)state;
    for (int i = 0; i < ISA_NAMES; i++) {
        struct device *d = device_of(isas[i], 2);
        for (int v = 0; d && v < CURVES * GROUPS; v++) {
            for (size_t n = 0; n < (1u << log_size(9, 6)) - 12; n = 2 * n + 1)
                select_some(d, curve_get((enum curve_id)(v / 2)), (enum group)(v % 2), n);
        }
        if (d)
            d->ops->close(d);
    }
}

static void mul_all(struct device *d, const struct curve *c, enum group g, const struct point *base, size_t n,
                    enum scalar_kind kind)
{
    size_t bytes = c->point_bytes[g];
    struct scalar *x = malloc((n + 1) * sizeof *x);
    unsigned char *out = malloc((n + 1) * bytes);
    memset(out, 0xa5, (n + 1) * bytes);
    scalars_fill(x, n, c, kind);
    struct mul_base_args a = {.curve = c,
                              .group = g,
                              .base = *base,
                              .scalars = device_wrap(x, n * sizeof *x),
                              .out = device_wrap(out, n * bytes),
                              .n = n};
    struct stream *s = stream_of(d);
    assert_int_equal(d->ops->mul_base(s, &a), 0);
    for (size_t j = 0; j < n; j += 1 + n / 64) {
        struct point want;
        c->mul(g, &want, base, &x[j]);
        assert_memory_equal(out + j * bytes, &want, bytes);
    }
    assert_int_equal(out[n * bytes], 0xa5);
    d->ops->stream_close(s);
    free(out);
    free(x);
}

static void fixed_base(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 9, 1025};
    int step = slower() > 1 ? 3 : 1; /* through all curves, groups and counts either way */
    for (int i = 0; i < ISA_NAMES; i++) {
        struct device *d = device_of(isas[i], 2);
        for (int v = 0; d && v < CURVES * GROUPS * SCALAR_KINDS; v += step) {
            const struct curve *c = curve_get((enum curve_id)(v % 2));
            enum group g = (enum group)(v / 2 % 2);
            struct scalar k = scalar_random(c);
            struct point base = {{0}};
            if (v % 7) /* else infinity */
                c->mul(g, &base, &c->generator[g], &k);
            mul_all(d, c, g, &base, counts[(v + v / 4) % 5], (enum scalar_kind)(v / 4));
        }
        if (d)
            d->ops->close(d);
    }
}

static void check(struct device *d, const struct known_points *k, bool subgroup, size_t want, enum point_fault why)
{
    struct stream *s = stream_of(d);
    size_t bad = 77777;
    enum point_fault fault = POINT_NOT_IN_SUBGROUP;
    struct check_points_args a = {.curve = k->curve,
                                  .group = k->group,
                                  .points = k->packed,
                                  .n = k->n,
                                  .subgroup = subgroup,
                                  .bad = &bad,
                                  .fault = &fault};
    assert_int_equal(d->ops->check_points(s, &a), 0);
    assert_int_equal(bad, want);
    assert_int_equal(fault, why);
    d->ops->stream_close(s);
}

static void checked_points(void **state)
{
    (void)state;
    for (int i = 0; i < ISA_NAMES; i++) {
        struct device *d = device_of(isas[i], 3);
        for (int v = 0; d && v < CURVES * GROUPS; v++) {
            const struct curve *c = curve_get((enum curve_id)(v % 2));
            size_t n = 2100, bytes = c->point_bytes[v / 2];
            struct known_points k = known_points_make(c, (enum group)(v / 2), n, POINTS_SPARSE);
            check(d, &k, false, n, POINT_OK);
            struct known_points few = k;
            few.n = 20;
            check(d, &few, true, 20, POINT_OK);
            memset(k.packed + 2000 * bytes, 0xff, bytes); /* not below p */
            check(d, &k, false, 2000, POINT_NOT_CANONICAL);
            memset(k.packed + 1111 * bytes, 0, bytes); /* (1, 0) */
            k.packed[1111 * bytes] = 1;
            check(d, &k, false, 1111, POINT_NOT_ON_CURVE);
            known_points_free(&k);
        }
        if (d)
            d->ops->close(d);
    }
}

static void refusals(void **state)
{
    (void)state;
    struct device *d = device_of("portable", 1);
    const struct curve *c = curve_get(CURVE_BN254);
    struct known_points k = known_points_make(c, GROUP_G1, 4, POINTS_RANDOM);
    struct bases *b = bases_of(d, &k, false);
    struct scalar x[4] = {{{1}}};
    struct point got;
    struct msm_set set = {.bases = b, .first = 1, .result = &got};
    struct msm_args a = {.curve = c, .scalars = device_wrap(x, sizeof x), .n = 4, .sets = &set, .n_sets = 1};
    struct stream *s = stream_of(d);
    assert_int_equal(d->ops->msm(s, &a), -EINVAL); /* 4 bases from scalar 1 on */
    assert_true(strlen(pen_last_error()) > 0);
    set.first = 0;
    assert_int_equal(d->ops->msm(s, &a), -EINVAL); /* the stream stays failed */
    d->ops->stream_close(s);
    s = stream_of(d);
    assert_int_equal(d->ops->msm(s, &a), 0);
    a.n = 5; /* more than the buffer holds */
    assert_int_equal(d->ops->msm(s, &a), -EINVAL);
    d->ops->stream_close(s);
    d->ops->bases_close(b);
    known_points_free(&k);
    d->ops->close(d);
}

int main(void)
{
    rng_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),          cmocka_unit_test(threads_and_ranges), cmocka_unit_test(large),
        cmocka_unit_test(several_sets),   cmocka_unit_test(selected),           cmocka_unit_test(fixed_base),
        cmocka_unit_test(checked_points), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
