/* What a device takes for field products, transforms and multi-scalar multiplications, by curve; the host device also
 * by instruction set and number of threads. Least of a few runs, since other programs only add. Through cuda/device.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/host/host.h"
#include "engine/cli/opt_device.h"
#include "perf/bench/bench.h"
#include "perf/err.h"

static const char doc[] = "Measure the operations of a device: field products, transforms, multi-scalar "
                          "multiplications.\v"
                          "Examples:\n"
                          "  penstock bench msm --device cuda:0 --log 22\n"
                          "  penstock bench ntt --device host --threads 8 --json\n"
                          "  penstock bench field --isa all --threads 1";

enum { OPT_ISA = 256, OPT_ONLY, OPT_LOG, OPT_CURVE, OPT_GROUP };
static const struct argp_option options[] = {
    {"only", OPT_ONLY, "WHAT", 0, "field, ntt or msm; default: all three", 1},
    {"log", OPT_LOG, "N", 0, "2^N elements; default: 16", 1},
    {"curve", OPT_CURVE, "NAME", 0, "bn254 or bls12-381; default: both", 1},
    {"group", OPT_GROUP, "N", 0, "1 or 2, of the multi-scalar multiplications; default: both", 1},
    {"isa", OPT_ISA, "NAME", 0,
     "Instruction set of the host device: portable, adx, ifma, or all that this CPU has; default: its best", 1},
    {0},
};

struct settings {
    struct bench out;
    struct device_choice choice;
    const char *isa, *only;
    int curve, group; /* -1: both */
    unsigned log_n;
};

struct run {
    struct settings *set;
    const struct curve *curve;
    struct device *d;
    struct stream *s;
    struct device_info info;
    const char *isa; /* of the host device */
    struct dbuf scalars;
};

static uint64_t rng_state = 1;

static uint64_t rng(void)
{
    uint64_t z = rng_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void must(const struct run *b, int rc)
{
    bench_must(&b->set->out, rc);
}

/* Cycles of the time-stamp counter in a nanosecond: what published host figures are compared by. */
static double cycles_per_ns(void)
{
    static double rate;
    if (rate == 0) {
        double begin = bench_now_s();
        uint64_t cycles = __builtin_ia32_rdtsc();
        while (bench_now_s() - begin < 0.05)
            ;
        rate = (double)(__builtin_ia32_rdtsc() - cycles) / ((bench_now_s() - begin) * 1e9);
    }
    return rate;
}

static void report(struct run *b, const char *what, double seconds, double operations)
{
    double ns = seconds * 1e9 / operations;
    double cycles = b->info.flags & DEVICE_HOST_MEMORY ? ns * b->info.threads * cycles_per_ns() : 0;
    bench_row(&b->set->out,
              json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:f, s:f, s:f}", "what", what, "curve", b->curve->name,
                        "device", b->info.id, "isa", b->isa ? b->isa : "", "threads", (int)b->info.threads, "log_n",
                        (int)b->set->log_n, "seconds", seconds, "ns_each", ns, "core_cycles_each", cycles),
              cycles > 0 ? "%-10s %-10s %-8s %-8s %3u threads  2^%-2u  %10.3f ms  %9.2f ns each, %.0f cycles of a core"
                         : "%-10s %-10s %-8s %-8s %3u threads  2^%-2u  %10.3f ms  %9.2f ns each",
              what, b->curve->title, b->info.id, b->isa ? b->isa : "", b->info.threads, b->set->log_n, seconds * 1e3,
              ns, cycles);
}

/* canonical, so that they serve as Montgomery forms too */
static void scalars_random(struct run *b)
{
    size_t n = (size_t)1 << b->set->log_n;
    struct scalar *x = malloc(n * sizeof *x);
    if (!x)
        must(b, err_fail(-ENOMEM, "no memory for 2^%u scalars", b->set->log_n));
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++)
            x[i].l[j] = rng();
        x[i].l[3] %= b->curve->fr->p[3];
    }
    must(b, b->d->ops->copy_h2d(b->s, b->scalars, x, n * sizeof *x));
    must(b, b->d->ops->stream_sync(b->s));
    free(x);
}

typedef int run_fn(struct run *b, void *args);

/* After one run that is not counted. */
static double best_of(struct run *b, int runs, run_fn *fn, void *args)
{
    double best = 1e9;
    for (int i = -1; i < runs; i++) {
        double begin = bench_now_s();
        must(b, fn(b, args));
        must(b, b->d->ops->stream_sync(b->s));
        double seconds = bench_now_s() - begin;
        best = i >= 0 && seconds < best ? seconds : best;
    }
    return best;
}

static int run_pointwise(struct run *b, void *args)
{
    return b->d->ops->pointwise(b->s, args);
}

static int run_ntt(struct run *b, void *args)
{
    return b->d->ops->ntt(b->s, args);
}

static int run_coset(struct run *b, void *args)
{
    return b->d->ops->ntt_coset(b->s, args);
}

static int run_msm(struct run *b, void *args)
{
    return b->d->ops->msm(b->s, args);
}

static int run_selected(struct run *b, void *args)
{
    return b->d->ops->sum_selected(b->s, args);
}

static void bench_field(struct run *b)
{
    size_t n = (size_t)1 << b->set->log_n;
    struct pointwise_args a = {.curve = b->curve, .op = POINTWISE_MUL, .n = n};
    a.out = a.a = a.b = b->scalars;
    report(b, "fr_mul", best_of(b, 5, run_pointwise, &a), (double)n);
}

static void bench_ntt(struct run *b)
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

/* Additions: the sum of all points. It takes the place of the scalars. */
static void bench_add(struct run *b, const struct bases *bases, enum group g)
{
    size_t bytes = ((((size_t)1 << b->set->log_n) + 63) / 64) * 8;
    struct point result;
    void *ones = malloc(bytes);
    if (!ones)
        must(b, err_fail(-ENOMEM, "no memory for 2^%u bits", b->set->log_n));
    memset(ones, 0xff, bytes);
    struct dbuf bits = dbuf_at(b->scalars, 0, bytes);
    must(b, b->d->ops->copy_h2d(b->s, bits, ones, bytes));
    struct sum_selected_args a = {bases, bits, &result};
    report(b, g == GROUP_G1 ? "add_g1" : "add_g2", best_of(b, 3, run_selected, &a),
           (double)((size_t)1 << b->set->log_n));
    free(ones);
}

static void bench_msm(struct run *b, enum group g)
{
    size_t n = (size_t)1 << b->set->log_n, bytes = b->curve->point_bytes[g];
    struct dbuf points;
    void *host = malloc(n * bytes);
    if (!host)
        must(b, err_fail(-ENOMEM, "no memory for 2^%u points", b->set->log_n));
    must(b, b->d->ops->alloc(b->d, &points, n * bytes));
    scalars_random(b);
    struct mul_base_args m = {
        .curve = b->curve, .group = g, .base = b->curve->generator[g], .scalars = b->scalars, .out = points, .n = n};
    double begin = bench_now_s();
    must(b, b->d->ops->mul_base(b->s, &m));
    must(b, b->d->ops->stream_sync(b->s));
    report(b, g == GROUP_G1 ? "mul_base1" : "mul_base2", bench_now_s() - begin, (double)n);
    must(b, b->d->ops->copy_d2h(b->s, host, points, n * bytes));
    must(b, b->d->ops->stream_sync(b->s));
    b->d->ops->free(b->d, points);
    struct bases *bases;
    struct bases_args o = {
        .curve = b->curve, .group = g, .points = host, .n = n, .resident = !(b->info.flags & DEVICE_HOST_MEMORY)};
    must(b, b->d->ops->bases_open(b->d, &bases, &o));
    struct point result;
    struct msm_set set = {.bases = bases, .result = &result};
    struct msm_args a = {.curve = b->curve, .scalars = b->scalars, .n = n, .sets = &set, .n_sets = 1};
    report(b, g == GROUP_G1 ? "msm_g1" : "msm_g2", best_of(b, 3, run_msm, &a), (double)n);
    bench_add(b, bases, g);
    b->d->ops->bases_close(bases);
    free(host);
}

static bool wanted(const struct settings *s, const char *what)
{
    return !s->only || strcmp(s->only, what) == 0;
}

/* One device, open, one curve. */
static void bench_curve(struct run *b)
{
    must(b, b->d->ops->info(b->d, &b->info));
    must(b, b->d->ops->stream_open(b->d, &b->s, NULL));
    must(b, b->d->ops->alloc(b->d, &b->scalars, sizeof(struct scalar) << b->set->log_n));
    scalars_random(b);
    if (wanted(b->set, "field"))
        bench_field(b);
    if (wanted(b->set, "ntt"))
        bench_ntt(b);
    for (int g = 0; wanted(b->set, "msm") && g < GROUPS; g++)
        if (b->set->group < 0 || b->set->group == g)
            bench_msm(b, (enum group)g);
    b->d->ops->free(b->d, b->scalars);
    b->d->ops->stream_close(b->s);
    b->d->ops->close(b->d);
}

/* On the host device with each instruction set that was asked for and that the CPU has. */
static void bench_isas(struct run *b)
{
    static const char *const isas[] = {"portable", "adx", "ifma"};
    bool any = false;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!kernels_by_name(isas[i]) || (strcmp(b->set->isa, "all") != 0 && strcmp(b->set->isa, isas[i]) != 0))
            continue;
        b->isa = isas[i];
        must(b, device_host_open_isa(&b->d, &b->set->choice.opts, b->isa));
        bench_curve(b);
        any = true;
    }
    if (!any)
        must(b, err_fail(-ENODEV, "this CPU has no %s", b->set->isa));
}

static int one_of(struct argp_state *state, const char *option, const char *arg, const char *const names[], int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(arg, names[i]) == 0)
            return i;
    argp_error(state, "%s takes %s, %s%s%s, not \"%s\"", option, names[0], names[1], n > 2 ? ", " : "",
               n > 2 ? names[2] : "", arg);
    return -1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const whats[] = {"field", "ntt", "msm"}, *const groups[] = {"1", "2"},
                             *const curves[] = {"bn254", "bls12-381"},
                             *const isas[] = {"portable", "adx", "ifma", "all"};
    struct settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &s->choice;
        state->child_inputs[1] = &s->out;
        return 0;
    case OPT_ONLY:
        s->only = whats[one_of(state, "--only", arg, whats, 3)];
        s->out.name = s->only;
        return 0;
    case OPT_LOG:
        s->log_n = (unsigned)bench_number(state, "--log", arg, 1, 28);
        return 0;
    case OPT_CURVE:
        s->curve = one_of(state, "--curve", arg, curves, 2);
        return 0;
    case OPT_GROUP:
        s->group = one_of(state, "--group", arg, groups, 2);
        return 0;
    case OPT_ISA:
        s->isa = isas[one_of(state, "--isa", arg, isas, 4)];
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "too many arguments: \"%s\"", arg);
        return 0;
    case ARGP_KEY_END:
        if (s->isa && s->choice.name && strcmp(s->choice.name, "host") != 0)
            argp_error(state, "--isa is of the host device");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&device_argp, 0, NULL, 0}, {&bench_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "", doc, children, NULL, NULL};

int main(int argc, char **argv)
{
    struct settings set = {.out = {.name = "ops"}, .log_n = 16, .curve = -1, .group = -1};
    bench_options(&parser, argc, argv, &set);
    struct run b = {.set = &set};
    for (int c = 0; c < CURVES; c++) {
        if (set.curve >= 0 && set.curve != c)
            continue;
        b.curve = curve_get((enum curve_id)c);
        if (set.isa) {
            bench_isas(&b);
            continue;
        }
        must(&b, device_choice_open(&b.d, &set.choice, DEVICE_ROWS_MANY));
        bench_curve(&b);
    }
    return bench_end(&set.out);
}
