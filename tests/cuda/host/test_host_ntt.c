/* Claim: ntt and ntt_coset of the host device equal the definition for every size, order, direction, shift, batch,
 * instruction set and thread count. The twin evaluates the sum at single points (all of them for small sizes), and the
 * transform back must give the input. */
#include "host_test.h"
#include "tests/slower.h"

struct poly {
    const struct curve *c;
    unsigned log_n;
    size_t batch;
    struct fr root, shift;
    struct fr *coef;
};

/* sum_j coef[j] (shift root^i)^j, by Horner */
static struct fr poly_at(const struct poly *p, const struct fr *coef, size_t i)
{
    struct fr x, y = {{0}};
    p->c->fr_pow(&x, &p->root, i);
    p->c->fr_mul(&x, &x, &p->shift);
    for (size_t j = (size_t)1 << p->log_n; j-- > 0;) {
        p->c->fr_mul(&y, &y, &x);
        p->c->fr_add(&y, &y, &coef[j]);
    }
    return y;
}

static size_t reversed(size_t x, unsigned bits)
{
    size_t r = 0;
    for (unsigned i = 0; i < bits; i++)
        r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}

static void permute(struct fr *a, const struct poly *p)
{
    size_t n = (size_t)1 << p->log_n;
    for (size_t i = 0; i < n * p->batch; i++) {
        size_t j = i / n * n + reversed(i % n, p->log_n);
        if (i < j) {
            struct fr t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
    }
}

static struct fr fr_random(const struct curve *c)
{
    struct scalar s = rng() % 16 ? scalar_random(c) : scalar_minus(c, 1);
    struct fr r;
    memcpy(r.l, s.l, sizeof r.l); /* a random Montgomery form is the form of a random number */
    return r;
}

static void expect_values(const struct poly *p, const struct fr *value, bool in_reverse)
{
    size_t n = (size_t)1 << p->log_n, tries = n <= 64 ? n : 3;
    for (size_t t = 0; t < tries * p->batch; t++) {
        size_t at = t / tries * n, i = n <= 64 ? t % tries : rng() % n;
        struct fr want = poly_at(p, p->coef + at, i);
        assert_memory_equal(&value[at + (in_reverse ? reversed(i, p->log_n) : i)], &want, sizeof want);
    }
}

static void poly_make(struct poly *p, const struct curve *c, unsigned log_n, size_t batch, bool shifted)
{
    size_t n = ((size_t)1 << log_n) * batch;
    *p = (struct poly){.c = c, .log_n = log_n, .batch = batch};
    c->fr_root(&p->root, log_n);
    c->fr_from_u64(&p->shift, 1);
    if (shifted)
        p->shift = fr_random(c);
    p->coef = malloc(n * sizeof *p->coef);
    assert_non_null(p->coef);
    for (size_t i = 0; i < n; i++)
        p->coef[i] = fr_random(c);
}

static size_t poly_bytes(const struct poly *p)
{
    return (p->batch << p->log_n) * sizeof(struct fr);
}

static void run(struct device *d, const struct ntt_args *a)
{
    struct stream *s = stream_of(d);
    assert_int_equal(d->ops->ntt(s, a), 0);
    d->ops->stream_close(s);
}

static struct ntt_args args_of(const struct poly *p, struct fr *x, enum ntt_order order)
{
    return (struct ntt_args){.curve = p->c,
                             .data = device_wrap(x, poly_bytes(p)),
                             .log_n = p->log_n,
                             .batch = p->batch,
                             .order = order,
                             .root = p->root,
                             .shift = p->shift};
}

/* forward against the definition, then back */
static void there_and_back(struct device *d, const struct poly *p, enum ntt_order order)
{
    static const enum ntt_order back[] = {[NTT_NN] = NTT_NN, [NTT_NR] = NTT_RN, [NTT_RN] = NTT_NR};
    struct fr *x = malloc(poly_bytes(p));
    memcpy(x, p->coef, poly_bytes(p));
    if (order == NTT_RN)
        permute(x, p);
    struct ntt_args a = args_of(p, x, order);
    run(d, &a);
    expect_values(p, x, order == NTT_NR);
    a.inverse = true;
    a.order = back[order];
    run(d, &a);
    if (order == NTT_RN)
        permute(x, p);
    assert_memory_equal(x, p->coef, poly_bytes(p));
    free(x);
}

static void coset(struct device *d, const struct poly *p)
{
    struct fr *x = malloc(poly_bytes(p));
    memcpy(x, p->coef, poly_bytes(p));
    struct ntt_args plain = args_of(p, x, NTT_NN);
    p->c->fr_from_u64(&plain.shift, 1);
    run(d, &plain); /* evaluations on the domain, by what is compared with the definition elsewhere here */
    struct ntt_coset_args a = {
        .curve = p->c, .data = plain.data, .log_n = p->log_n, .batch = p->batch, .root = p->root, .shift = p->shift};
    struct stream *s = stream_of(d);
    assert_int_equal(d->ops->ntt_coset(s, &a), 0);
    d->ops->stream_close(s);
    expect_values(p, x, false);
    free(x);
}

static void all_orders(struct device *d, const struct curve *c, unsigned log_n, size_t batch)
{
    for (int shifted = 0; shifted < 2; shifted++) {
        struct poly p;
        poly_make(&p, c, log_n, batch, shifted);
        there_and_back(d, &p, NTT_NN);
        there_and_back(d, &p, NTT_NR);
        there_and_back(d, &p, NTT_RN);
        coset(d, &p);
        free(p.coef);
    }
}

static void every_size(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, 2, 5};
    for (int v = 0; v < ISA_NAMES * 3; v++) {
        struct device *d = device_of(isas[v / 3], counts[v % 3]);
        for (int c = 0; d && c < CURVES; c++) {
            for (unsigned log_n = 0; log_n <= log_size(12, 7); log_n++)
                all_orders(d, curve_get((enum curve_id)c), log_n, 1 + (log_n + (unsigned)v) % 3);
        }
        if (d)
            d->ops->close(d);
    }
}

static void large_sizes(void **state)
{
    (void)state;
    for (int i = 0; i < ISA_NAMES; i++) {
        struct device *d = device_of(isas[i], 2);
        if (!d)
            continue;
        for (unsigned log_n = 13; log_n <= log_size(16, 13); log_n++)
            all_orders(d, curve_get((enum curve_id)((log_n + (unsigned)i) % 2)), log_n, 1);
        d->ops->close(d);
    }
}

/* Constant and extreme inputs: all values r - 1, and a single one. */
static void extremes(void **state)
{
    (void)state;
    for (int v = 0; v < ISA_NAMES * CURVES; v++) {
        struct device *d = device_of(isas[v / CURVES], 2);
        for (unsigned log_n = 5; d && log_n <= log_size(15, 10); log_n += 5) {
            struct poly p;
            poly_make(&p, curve_get((enum curve_id)(v % CURVES)), log_n, 1, false);
            struct scalar last = scalar_minus(p.c, 1);
            for (size_t j = 0; j < (size_t)1 << log_n; j++)
                memcpy(&p.coef[j], &last, sizeof last);
            there_and_back(d, &p, NTT_NR);
            coset(d, &p);
            memset(p.coef + 1, 0, (((size_t)1 << log_n) - 1) * sizeof *p.coef);
            there_and_back(d, &p, NTT_NN);
            free(p.coef);
        }
        if (d)
            d->ops->close(d);
    }
}

/* Sizes of one tower and of another root share tables without mixing them. */
static void table_reuse(void **state)
{
    (void)state;
    struct device *d = device_of("portable", 1);
    for (int round = 0; round < 12; round++) {
        struct poly p;
        poly_make(&p, curve_get((enum curve_id)(rng() % 2)), 5 + (unsigned)(rng() % 6), 1, false);
        if (round % 2) /* the inverse root is a primitive root too */
            p.c->fr_inv(&p.root, &p.root);
        there_and_back(d, &p, NTT_NN);
        free(p.coef);
    }
    d->ops->close(d);
}

static void refuse(struct device *d, const struct ntt_args *a)
{
    struct stream *s = stream_of(d);
    assert_int_equal(d->ops->ntt(s, a), -EINVAL);
    d->ops->stream_close(s);
}

static void refusals(void **state)
{
    (void)state;
    struct device *d = device_of("portable", 1);
    struct fr x[4] = {{{0}}};
    struct ntt_args good = {.curve = curve_get(CURVE_BN254), .data = device_wrap(x, sizeof x), .log_n = 2}, bad;
    good.curve->fr_from_u64(&good.shift, 1);
    good.curve->fr_root(&good.root, 2);
    run(d, &good);
    bad = good;
    bad.log_n = 3; /* too short */
    refuse(d, &bad);
    bad = good;
    bad.batch = 2;
    refuse(d, &bad);
    bad = good;
    bad.log_n = 29;
    refuse(d, &bad);
    bad = good;
    bad.shift = (struct fr){{0}};
    refuse(d, &bad);
    d->ops->close(d);
}

int main(void)
{
    rng_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),  cmocka_unit_test(large_sizes), cmocka_unit_test(extremes),
        cmocka_unit_test(table_reuse), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
