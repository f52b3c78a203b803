/* What the host device takes for field products, transforms and multi-scalar multiplications, by curve, instruction set
 * and number of threads. Minimum of a few runs, since other programs only add.
 *
 *   bench_host [--json] [--isa portable|adx|ifma] [--threads N] [--log N] [--only fr|ntt|g1|g2] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/host/host.h"
#include "perf/clock.h"

struct settings {
    bool json;
    const char *isa, *only;
    unsigned threads, log_n;
};

struct bench {
    const struct settings *set;
    const struct curve *curve;
    struct device *d;
    struct stream *s;
    const char *isa;
    struct dbuf scalars;
    bool first; /* nothing printed yet */
};

static uint64_t rng_state = 1;

static uint64_t rng(void)
{
    uint64_t z = rng_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void die_if(int rc)
{
    if (rc) {
        fprintf(stderr, "bench_host: %s\n", pen_last_error());
        exit(1);
    }
}

static void report(struct bench *b, const char *what, double seconds, double operations)
{
    if (b->set->json)
        printf("%s\n{\"what\":\"%s\",\"curve\":\"%s\",\"isa\":\"%s\",\"threads\":%u,\"log_n\":%u,\"seconds\":%.9g,"
               "\"ns_each\":%.4g}",
               b->first ? "[" : ",", what, b->curve->title, b->isa, b->set->threads, b->set->log_n, seconds,
               seconds * 1e9 / operations);
    else
        printf("%-10s %-9s %-8s %2u threads  2^%-2u  %10.3f ms  %9.2f ns each\n", what, b->curve->title, b->isa,
               b->set->threads, b->set->log_n, seconds * 1e3, seconds * 1e9 / operations);
    fflush(stdout);
    b->first = false;
}

/* canonical, so that they serve as Montgomery forms too */
static void scalars_random(struct bench *b)
{
    struct scalar *x = (struct scalar *)(uintptr_t)b->scalars.addr;
    for (size_t i = 0; i < (size_t)1 << b->set->log_n; i++) {
        for (int j = 0; j < 4; j++)
            x[i].l[j] = rng();
        x[i].l[3] %= b->curve->fr->p[3];
    }
}

typedef int run_fn(struct bench *b, void *args);

static double best_of(struct bench *b, int runs, run_fn *fn, void *args)
{
    double best = 1e9;
    for (int i = 0; i < runs; i++) {
        uint64_t begin = clock_now_ns();
        die_if(fn(b, args));
        double seconds = (double)(clock_now_ns() - begin) * 1e-9;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static int run_pointwise(struct bench *b, void *args)
{
    return b->d->ops->pointwise(b->s, args);
}

static int run_ntt(struct bench *b, void *args)
{
    return b->d->ops->ntt(b->s, args);
}

static int run_coset(struct bench *b, void *args)
{
    return b->d->ops->ntt_coset(b->s, args);
}

static int run_msm(struct bench *b, void *args)
{
    return b->d->ops->msm(b->s, args);
}

static void bench_fr(struct bench *b)
{
    size_t n = (size_t)1 << b->set->log_n;
    struct pointwise_args a = {.curve = b->curve, .op = POINTWISE_MUL, .n = n};
    a.out = a.a = a.b = b->scalars;
    report(b, "fr_mul", best_of(b, 5, run_pointwise, &a), (double)n);
}

static void bench_ntt(struct bench *b)
{
    double n = (double)((size_t)1 << b->set->log_n);
    struct ntt_args a = {.curve = b->curve, .data = b->scalars, .log_n = b->set->log_n, .order = NTT_NR};
    b->curve->fr_root(&a.root, a.log_n);
    b->curve->fr_from_u64(&a.shift, 1);
    report(b, "ntt", best_of(b, 5, run_ntt, &a), n);
    struct ntt_coset_args c = {.curve = b->curve, .data = b->scalars, .log_n = a.log_n, .root = a.root};
    b->curve->fr_from_u64(&c.shift, 7);
    report(b, "ntt_coset", best_of(b, 5, run_coset, &c), n);
}

static void bench_msm(struct bench *b, enum group g)
{
    size_t n = (size_t)1 << b->set->log_n, bytes = b->curve->point_bytes[g];
    struct dbuf points;
    die_if(b->d->ops->alloc(b->d, &points, n * bytes));
    scalars_random(b);
    struct mul_base_args m = {
        .curve = b->curve, .group = g, .base = b->curve->generator[g], .scalars = b->scalars, .out = points, .n = n};
    uint64_t begin = clock_now_ns();
    die_if(b->d->ops->mul_base(b->s, &m));
    report(b, g == GROUP_G1 ? "mul_base1" : "mul_base2", (double)(clock_now_ns() - begin) * 1e-9, (double)n);
    struct bases *bases;
    struct bases_args o = {.curve = b->curve, .group = g, .points = (void *)(uintptr_t)points.addr, .n = n};
    die_if(b->d->ops->bases_open(b->d, &bases, &o));
    struct point result;
    struct msm_set set = {.bases = bases, .result = &result};
    struct msm_args a = {.curve = b->curve, .scalars = b->scalars, .n = n, .sets = &set, .n_sets = 1};
    report(b, g == GROUP_G1 ? "msm_g1" : "msm_g2", best_of(b, 3, run_msm, &a), (double)n);
    b->d->ops->bases_close(bases);
    b->d->ops->free(b->d, points);
}

static bool wanted(const struct settings *s, const char *what)
{
    return !s->only || strcmp(s->only, what) == 0;
}

static void bench_one(struct bench *b)
{
    struct device_opts opts = {.threads = b->set->threads};
    die_if(device_host_open_isa(&b->d, &opts, b->isa));
    die_if(b->d->ops->stream_open(b->d, &b->s, NULL));
    die_if(b->d->ops->alloc(b->d, &b->scalars, sizeof(struct scalar) << b->set->log_n));
    scalars_random(b);
    if (wanted(b->set, "fr"))
        bench_fr(b);
    if (wanted(b->set, "ntt"))
        bench_ntt(b);
    if (wanted(b->set, "g1"))
        bench_msm(b, GROUP_G1);
    if (wanted(b->set, "g2"))
        bench_msm(b, GROUP_G2);
    b->d->ops->free(b->d, b->scalars);
    b->d->ops->stream_close(b->s);
    b->d->ops->close(b->d);
}

static void settings_read(struct settings *s, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--json") == 0) {
            s->json = true;
            continue;
        }
        if (strcmp(argv[i], "--isa") == 0)
            s->isa = value;
        else if (strcmp(argv[i], "--only") == 0)
            s->only = value;
        else if (strcmp(argv[i], "--threads") == 0)
            s->threads = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--log") == 0)
            s->log_n = (unsigned)strtoul(value, NULL, 10);
        else {
            fprintf(stderr, "usage: bench_host [--json] [--isa portable|adx|ifma] [--threads N] [--log N] "
                            "[--only fr|ntt|g1|g2]\n");
            exit(2);
        }
        i++;
    }
}

int main(int argc, char **argv)
{
    static const char *const isas[] = {"portable", "adx", "ifma"};
    struct settings set = {.threads = 1, .log_n = 16};
    settings_read(&set, argc, argv);
    struct bench b = {.set = &set, .first = true};
    for (int c = 0; c < CURVES; c++) {
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            b.curve = curve_get((enum curve_id)c);
            b.isa = isas[i];
            if (kernels_by_name(isas[i]) && (!set.isa || strcmp(set.isa, isas[i]) == 0))
                bench_one(&b);
        }
    }
    if (set.json)
        printf("%s\n]\n", b.first ? "[" : "");
    return 0;
}
