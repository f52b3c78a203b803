/* The CUDA device measured: instruction-bound rates, transforms, MSMs, copies.
 *
 *     bench_gpu [--json] [--device N] [--from LOG] [--to LOG] [--groups 1|2|3] [--curves 1|2|3] [rate] [ntt] [msm]
 * [copy] [stream]
 *
 * Bases are all distinct (known multiples of the generator, made on the GPU), scalars uniform or a witness of 98 %
 * bits; every MSM result is checked against (sum of scalar * multiple) * generator. Times: median of the runs after a
 * warm-up, by the wall clock around call and sync (MSM: the final fold included). */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/device.h"
#include "cuda/gpu/launch.h"
#include "penstock/error.h"
#include "perf/clock.h"

static struct device *dev;
static struct stream *str;
static bool json;

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != 0) {                                                                                             \
            fprintf(stderr, "%s: %s\n", #call, pen_last_error());                                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static double now_ms(void)
{
    return (double)clock_now_ns() * 1e-6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, const char *curve, unsigned log_n, const char *variant, double ms,
                   const char *note)
{
    if (json)
        printf("{\"bench\":\"%s\",\"curve\":\"%s\",\"log_n\":%u,\"variant\":\"%s\",\"ms\":%.4f,\"note\":\"%s\"}\n",
               what, curve, log_n, variant, ms, note);
    else
        printf("%-10s %-10s 2^%-3u %-26s %10.3f ms  %s\n", what, curve, log_n, variant, ms, note);
    fflush(stdout);
}

/* ---- data ---- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Number i of a stream of numbers below r: 252 random bits, so the same for both curves. */
static struct scalar number(uint64_t stream, uint64_t i, bool bits)
{
    struct scalar s;
    for (uint64_t k = 0; k < 4; k++)
        s.l[k] = mix((stream << 56) + (i * 4 + k) * 0x9e3779b97f4a7c15u + 1);
    if (bits && s.l[0] % 100 < 98)
        return (struct scalar){{s.l[1] & 1}};
    s.l[3] &= ((uint64_t)1 << 60) - 1;
    return s;
}

struct part {
    const struct curve *curve;
    struct scalar *out; /* fill, or NULL: sum of products */
    size_t from, to;
    bool bits;
    uint64_t stream;
    struct fr sum;
};

static void *part_run(void *arg)
{
    struct part *p = arg;
    struct fr a, b;
    memset(&p->sum, 0, sizeof p->sum);
    for (size_t i = p->from; i < p->to; i++) {
        struct scalar s = number(p->stream, i, p->bits), k = number(1, i, false);
        if (p->out) {
            p->out[i] = s;
            continue;
        }
        p->curve->fr_from_scalar(&a, &s);
        p->curve->fr_from_scalar(&b, &k);
        p->curve->fr_mul(&a, &a, &b);
        p->curve->fr_add(&p->sum, &p->sum, &a);
    }
    return NULL;
}

static struct fr in_parts(const struct curve *c, struct scalar *out, size_t n, uint64_t stream, bool bits)
{
    enum { PARTS = 16 };
    struct part part[PARTS];
    pthread_t thread[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        part[i] = (struct part){c, out, n * i / PARTS, n * (i + 1) / PARTS, bits, stream, {{0}}};
        if (pthread_create(&thread[i], NULL, part_run, &part[i]))
            exit(1);
    }
    struct fr sum = {{0}};
    for (size_t i = 0; i < PARTS; i++) {
        pthread_join(thread[i], NULL);
        c->fr_add(&sum, &sum, &part[i].sum);
    }
    return sum;
}

static struct dbuf device_buffer(size_t bytes)
{
    struct dbuf b;
    MUST(dev->ops->alloc(dev, &b, bytes));
    return b;
}

/* ---- rates ---- */

static void rate_mul(const char *name, const struct gpu_field_ops *ops, unsigned sms)
{
    unsigned blocks = sms * 8, steps = 2000;
    struct dbuf out = device_buffer((size_t)blocks * 128 * 32);
    double best = 1e9;
    for (int i = 0; i < 4; i++) {
        double t = now_ms();
        ops->mul_rate(NULL, (struct gpu_fr *)(uintptr_t)out.addr, blocks, steps);
        if (cudaDeviceSynchronize())
            exit(1);
        t = now_ms() - t;
        best = t < best ? t : best;
    }
    char note[64];
    snprintf(note, sizeof note, "%.4g products/s", 2.0 * steps * blocks * 128 / best * 1e3);
    report("rate", name, 0, "mul", best, note);
    dev->ops->free(dev, out);
}

static void rate_add(const char *name, const struct curve *c, enum group g, const struct gpu_group_ops *ops,
                     unsigned blocks, unsigned threads)
{
    unsigned steps = 300;
    struct dbuf out = device_buffer((size_t)blocks * threads * ops->xyzz_bytes), points = device_buffer(16 * 192);
    unsigned char host[16 * 192];
    for (int i = 0; i < 16; i++) {
        struct scalar k = {{(uint64_t)(i * i + 2), 5, 9, 1}};
        struct point p;
        c->mul(g, &p, &c->generator[g], &k);
        memcpy(host + (size_t)i * ops->affine_bytes, &p, ops->affine_bytes);
    }
    MUST(dev->ops->copy_h2d(str, points, host, 16 * ops->affine_bytes));
    MUST(dev->ops->stream_sync(str));
    double best = 1e9;
    for (int i = 0; i < 4; i++) {
        double t = now_ms();
        ops->add_rate(NULL, (void *)(uintptr_t)out.addr, (void *)(uintptr_t)points.addr, blocks, steps);
        if (cudaDeviceSynchronize())
            exit(1);
        t = now_ms() - t;
        best = t < best ? t : best;
    }
    char note[64];
    snprintf(note, sizeof note, "%.4g mixed additions/s", 1.0 * steps * blocks * threads / best * 1e3);
    report("rate", name, 0, g == GROUP_G1 ? "G1 add" : "G2 add", best, note);
    dev->ops->free(dev, out);
    dev->ops->free(dev, points);
}

static void bench_rate(unsigned sms)
{
    const struct curve *bn = curve_get(CURVE_BN254), *bls = curve_get(CURVE_BLS12_381);
    rate_mul("BN254 Fr", &gpu_bn254_fr, sms);
    rate_mul("BLS Fr", &gpu_bls12381_fr, sms);
    rate_add("BN254", bn, GROUP_G1, &gpu_bn254_g1, sms * 4, 128);
    rate_add("BLS12-381", bls, GROUP_G1, &gpu_bls12381_g1, sms * 4, 128);
    rate_add("BN254", bn, GROUP_G2, &gpu_bn254_g2, sms * 2, 128);
    rate_add("BLS12-381", bls, GROUP_G2, &gpu_bls12381_g2, sms * 4, 64);
}

/* ---- transforms ---- */

static double ntt_time(int (*run)(void *), void *arg)
{
    double t[5];
    MUST(run(arg));
    MUST(dev->ops->stream_sync(str));
    for (int i = 0; i < 5; i++) {
        t[i] = now_ms();
        for (int k = 0; k < 4; k++)
            MUST(run(arg));
        MUST(dev->ops->stream_sync(str));
        t[i] = (now_ms() - t[i]) / 4;
    }
    qsort(t, 5, sizeof *t, by_size);
    return t[2];
}

static int run_ntt(void *a)
{
    return dev->ops->ntt(str, a);
}
static int run_coset(void *a)
{
    return dev->ops->ntt_coset(str, a);
}

static void bench_ntt(unsigned from, unsigned to)
{
    static const unsigned sizes[] = {20, 22, 24, 26, 27};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned log_n = sizes[i];
        if (log_n < from || log_n > to)
            continue;
        struct dbuf data = device_buffer((size_t)32 << log_n);
        MUST(dev->ops->zero(str, data, data.bytes));
        struct scalar *x = malloc((size_t)32 << 20);
        in_parts(curve_get(CURVE_BN254), x, (size_t)1 << 20, 3, false);
        for (size_t at = 0; at < data.bytes; at += (size_t)32 << 20)
            MUST(dev->ops->copy_h2d(str, dbuf_at(data, at, (size_t)32 << 20), x, (size_t)32 << 20));
        MUST(dev->ops->stream_sync(str));
        free(x);
        for (int c = 0; c < CURVES; c++) {
            struct ntt_args a = {.curve = curve_get((enum curve_id)c), .data = data, .log_n = log_n, .order = NTT_NR};
            a.curve->fr_root(&a.root, log_n);
            a.curve->fr_from_u64(&a.shift, 1);
            report("ntt", a.curve->title, log_n, "forward NR", ntt_time(run_ntt, &a), "");
            a.order = NTT_RN;
            report("ntt", a.curve->title, log_n, "forward RN", ntt_time(run_ntt, &a), "");
            a.inverse = true;
            a.order = NTT_NR;
            report("ntt", a.curve->title, log_n, "inverse NR", ntt_time(run_ntt, &a), "");
            struct ntt_coset_args k = {.curve = a.curve, .data = data, .log_n = log_n, .root = a.root};
            a.curve->fr_from_u64(&k.shift, 7);
            report("ntt", a.curve->title, log_n, "inverse + coset forward", ntt_time(run_coset, &k), "");
        }
        dev->ops->free(dev, data);
    }
}

/* ---- MSM ---- */

static double msm_time(const struct msm_args *a, const struct point *want, const char **verdict)
{
    double t[5];
    int runs = a->n > (size_t)1 << 24 ? 3 : 5;
    for (int i = -1; i < runs; i++) {
        double begin = now_ms();
        memset(a->sets[0].result, 0xa5, sizeof *want);
        MUST(dev->ops->msm(str, a));
        MUST(dev->ops->stream_sync(str));
        if (i >= 0)
            t[i] = now_ms() - begin;
        *verdict = memcmp(a->sets[0].result, want, sizeof *want) ? "WRONG" : "right";
    }
    qsort(t, (size_t)runs, sizeof *t, by_size);
    return t[runs / 2];
}

struct msm_bench {
    const struct curve *curve;
    enum group group;
    unsigned log_n;
    size_t n;
    struct dbuf scalars;
    const void *points;
};

static void msm_want(struct point *want, const struct msm_bench *m, bool bits)
{
    struct fr sum = in_parts(m->curve, NULL, m->n, 2, bits);
    struct scalar s;
    m->curve->fr_to_scalar(&s, &sum);
    m->curve->mul(m->group, want, &m->curve->generator[m->group], &s);
}

static void msm_upload(const struct msm_bench *m, uint64_t stream, bool bits)
{
    struct scalar *x = malloc(m->n * sizeof *x);
    in_parts(m->curve, x, m->n, stream, bits);
    MUST(dev->ops->copy_h2d(str, m->scalars, x, m->n * sizeof *x));
    MUST(dev->ops->stream_sync(str));
    free(x);
}

static void msm_variant(const struct msm_bench *m, const char *name, struct bases_args args, bool bits)
{
    struct bases *b;
    struct point got, want;
    args.curve = m->curve, args.group = m->group, args.points = m->points, args.n = m->n;
    double open = now_ms();
    MUST(dev->ops->bases_open(dev, &b, &args));
    open = now_ms() - open;
    struct msm_set set = {b, 0, &got};
    struct msm_args a = {m->curve, m->scalars, m->n, &set, 1};
    const char *verdict;
    char variant[64], note[96];
    double full = 0;
    for (int w = 0; w <= bits; w++) {
        msm_upload(m, 2, w);
        msm_want(&want, m, w);
        double ms = msm_time(&a, &want, &verdict);
        full = w ? full : ms;
        snprintf(variant, sizeof variant, "G%d %s%s", m->group + 1, name, w ? ", bits" : "");
        if (w)
            snprintf(note, sizeof note, "%s, 1/%.1f of full", verdict, full / ms);
        else
            snprintf(note, sizeof note, "%s, open %.0f ms", verdict, open);
        report("msm", m->curve->title, m->log_n, variant, ms, note);
    }
    dev->ops->bases_close(b);
}

static void bench_msm_one(struct msm_bench *m)
{
    size_t bytes = m->n * m->curve->point_bytes[m->group];
    void *host;
    m->scalars = device_buffer(m->n * 32);
    struct dbuf points = device_buffer(bytes);
    struct mul_base_args a = {.curve = m->curve, .group = m->group, .scalars = m->scalars, .out = points, .n = m->n};
    a.base = m->curve->generator[m->group];
    msm_upload(m, 1, false);
    double made = now_ms();
    MUST(dev->ops->mul_base(str, &a));
    MUST(dev->ops->stream_sync(str));
    report("mul_base", m->curve->title, m->log_n, m->group ? "G2" : "G1", now_ms() - made, "");
    if (posix_memalign(&host, 4096, bytes))
        exit(1);
    memset(host, 0, bytes);
    MUST(dev->ops->host_register(dev, host, bytes));
    MUST(dev->ops->copy_d2h(str, host, points, bytes));
    MUST(dev->ops->stream_sync(str));
    dev->ops->free(dev, points);
    m->points = host;
    msm_variant(m, "multiples", (struct bases_args){.resident = true}, m->log_n >= 22);
    msm_variant(m, "plain", (struct bases_args){.resident = true, .multiples = 1}, false);
    msm_variant(m, "streamed", (struct bases_args){.resident = false}, false);
    MUST(dev->ops->host_unregister(dev, host));
    free(host);
    dev->ops->free(dev, m->scalars);
}

static void bench_msm(unsigned from, unsigned to, unsigned groups, unsigned curves)
{
    for (unsigned log_n = 20; log_n <= 26; log_n += 2)
        for (int v = 0; v < CURVES * GROUPS; v++) {
            if (log_n < from || log_n > to || (log_n > 24 && v % 2) || !(groups >> (v % 2) & 1) ||
                !(curves >> (v / 2) & 1))
                continue;
            struct msm_bench m = {.curve = curve_get((enum curve_id)(v / 2)), .group = (enum group)(v % 2)};
            m.log_n = log_n;
            m.n = (size_t)1 << log_n;
            bench_msm_one(&m);
        }
}

/* ---- streamed bases ---- */

/* The link's peak: plain pinned copies of 64 MiB, the middle of five rounds of 1 GiB. */
static double link_peak(const char *host, struct dbuf to, size_t bytes)
{
    size_t chunk = (size_t)64 << 20, round = bytes < (size_t)1 << 30 ? bytes / chunk * chunk : (size_t)1 << 30;
    double t[5];
    for (int i = -1; i < 5; i++) {
        double begin = now_ms();
        for (size_t at = 0; at < round; at += chunk)
            if (cudaMemcpyAsync((void *)(uintptr_t)to.addr, host + at, chunk, cudaMemcpyHostToDevice, NULL))
                exit(1);
        if (cudaDeviceSynchronize())
            exit(1);
        if (i >= 0)
            t[i] = now_ms() - begin;
    }
    qsort(t, 5, sizeof *t, by_size);
    return (double)round / t[2] * 1e-6;
}

/* `calls` MSMs queued one behind another, then one sync: the middle of three, per call. */
static double msm_row(const struct msm_args *a, int calls, const struct point *want, const char **verdict)
{
    double t[3];
    for (int i = -1; i < 3; i++) {
        double begin = now_ms();
        memset(a->sets[0].result, 0xa5, sizeof *want);
        for (int k = 0; k < calls; k++)
            MUST(dev->ops->msm(str, a));
        MUST(dev->ops->stream_sync(str));
        if (i >= 0)
            t[i] = (now_ms() - begin) / calls;
        *verdict = memcmp(a->sets[0].result, want, sizeof *want) ? "WRONG" : "right";
    }
    qsort(t, 3, sizeof *t, by_size);
    return t[1];
}

/* One kind of scalars: resident without multiples, streamed alone, streamed in a row, at two byte offsets. */
static void stream_kind(const struct msm_bench *m, char *host, size_t bytes, double peak, bool bits)
{
    struct point got, want;
    const char *verdict;
    double resident = 0;
    msm_upload(m, 2, bits);
    msm_want(&want, m, bits);
    for (int v = 0; v < 5; v++) {
        static const char *const names[] = {"resident", "streamed", "streamed, row of 6", "streamed +13",
                                            "streamed +13, row of 6"};
        char variant[64], note[128];
        struct bases_args args = {.curve = m->curve, .group = m->group, .n = m->n, .resident = v == 0, .multiples = 1};
        if (v == 3)
            memmove(host + 13, host, bytes);
        args.points = host + (v >= 3 ? 13 : 0);
        struct bases *b;
        MUST(dev->ops->bases_open(dev, &b, &args));
        struct msm_set set = {b, 0, &got};
        struct msm_args a = {m->curve, m->scalars, m->n, &set, 1};
        double ms = msm_row(&a, v == 2 || v == 4 ? 6 : 1, &want, &verdict);
        resident = v == 0 ? ms : resident;
        snprintf(variant, sizeof variant, "G%d %s%s", m->group + 1, names[v], bits ? ", bits" : "");
        if (v == 0)
            snprintf(note, sizeof note, "%s", verdict);
        else
            snprintf(note, sizeof note, "%s, %.1f GB/s = %.1f %% of the link, %.3f of resident", verdict,
                     (double)bytes / ms * 1e-6, (double)bytes / ms * 1e-4 / peak, ms / resident);
        report("stream", m->curve->title, m->log_n, variant, ms, note);
        dev->ops->bases_close(b);
    }
    memmove(host, host + 13, bytes);
}

/* Sums of selected bases: hardly any arithmetic, so the link is the limit. */
static void stream_selected(const struct msm_bench *m, const char *host, size_t bytes, double peak)
{
    size_t words = m->n / 64;
    uint64_t *bits = malloc(words * 8);
    struct fr sum = {{0}}, x;
    for (size_t i = 0; i < words; i++)
        bits[i] = mix(i + 99);
    for (size_t i = 0; i < m->n; i++)
        if (bits[i / 64] >> i % 64 & 1) {
            struct scalar k = number(1, i, false);
            m->curve->fr_from_scalar(&x, &k);
            m->curve->fr_add(&sum, &sum, &x);
        }
    struct scalar s;
    struct point want, got;
    m->curve->fr_to_scalar(&s, &sum);
    m->curve->mul(m->group, &want, &m->curve->generator[m->group], &s);
    struct dbuf b = device_buffer(words * 8);
    MUST(dev->ops->copy_h2d(str, b, bits, words * 8));
    MUST(dev->ops->stream_sync(str));
    struct bases_args args = {.curve = m->curve, .group = m->group, .points = host, .n = m->n};
    struct bases *h;
    MUST(dev->ops->bases_open(dev, &h, &args));
    for (int calls = 1; calls <= 6; calls += 5) {
        double best = 1e9;
        for (int i = 0; i < 4; i++) {
            double t = now_ms();
            for (int k = 0; k < calls; k++)
                MUST(dev->ops->sum_selected(str, &(struct sum_selected_args){h, b, &got}));
            MUST(dev->ops->stream_sync(str));
            t = (now_ms() - t) / calls;
            best = t < best ? t : best;
        }
        char variant[64], note[96];
        snprintf(variant, sizeof variant, "G%d selected%s", m->group + 1, calls > 1 ? ", row of 6" : "");
        snprintf(note, sizeof note, "%s, %.1f GB/s = %.1f %% of the link",
                 memcmp(&got, &want, sizeof want) ? "WRONG" : "right", (double)bytes / best * 1e-6,
                 (double)bytes / best * 1e-4 / peak);
        report("stream", m->curve->title, m->log_n, variant, best, note);
    }
    dev->ops->bases_close(h);
    dev->ops->free(dev, b);
    free(bits);
}

static void bench_stream(unsigned log_n, unsigned groups, unsigned curves)
{
    for (int v = 0; v < CURVES * GROUPS; v++) {
        struct msm_bench m = {.curve = curve_get((enum curve_id)(v / 2)), .group = (enum group)(v % 2), .log_n = log_n};
        if (!(groups >> (v % 2) & 1) || !(curves >> (v / 2) & 1))
            continue;
        m.n = (size_t)1 << log_n;
        size_t bytes = m.n * m.curve->point_bytes[m.group];
        char *host;
        m.scalars = device_buffer(m.n * 32);
        struct dbuf points = device_buffer(bytes);
        struct mul_base_args a = {.curve = m.curve, .group = m.group, .scalars = m.scalars, .out = points, .n = m.n};
        a.base = m.curve->generator[m.group];
        msm_upload(&m, 1, false);
        MUST(dev->ops->mul_base(str, &a));
        MUST(dev->ops->stream_sync(str));
        if (posix_memalign((void **)&host, 4096, bytes + 4096))
            exit(1);
        memset(host, 0, bytes + 4096);
        MUST(dev->ops->host_register(dev, host, bytes + 4096));
        MUST(dev->ops->copy_d2h(str, host, points, bytes));
        MUST(dev->ops->stream_sync(str));
        double peak = link_peak(host, points, bytes);
        dev->ops->free(dev, points);
        char note[64];
        snprintf(note, sizeof note, "%.2f GB/s", peak);
        report("stream", m.curve->title, log_n, "link peak", (double)bytes / peak * 1e-6, note);
        for (int bits = 0; bits < 2; bits++)
            stream_kind(&m, host, bytes, peak, bits);
        stream_selected(&m, host, bytes, peak);
        MUST(dev->ops->host_unregister(dev, host));
        free(host);
        dev->ops->free(dev, m.scalars);
    }
}

/* ---- copies ---- */

static void bench_copy(void)
{
    size_t bytes = (size_t)2 << 30;
    char *host;
    if (posix_memalign((void **)&host, 4096, bytes + 4096))
        exit(1);
    memset(host, 1, bytes + 4096);
    MUST(dev->ops->host_register(dev, host, bytes + 4096));
    struct dbuf b = device_buffer(bytes);
    static const size_t offset[] = {0, 4, 64, 13};
    for (size_t i = 0; i < 5; i++) {
        double best = 1e9;
        for (int k = 0; k < 3; k++) {
            double t = now_ms();
            if (i < 4)
                MUST(dev->ops->copy_h2d(str, b, host + offset[i], bytes));
            else
                MUST(dev->ops->copy_d2h(str, host, b, bytes));
            MUST(dev->ops->stream_sync(str));
            t = now_ms() - t;
            best = t < best ? t : best;
        }
        char variant[64], note[64];
        snprintf(variant, sizeof variant, i < 4 ? "h2d, host address + %zu" : "d2h", i < 4 ? offset[i] : 0);
        snprintf(note, sizeof note, "%.2f GB/s", (double)bytes / best * 1e-6);
        report("copy", "", 31, variant, best, note);
    }
    dev->ops->free(dev, b);
    MUST(dev->ops->host_unregister(dev, host));
    free(host);
}

/* Up and down at once, on two streams: what does the copy down cost the one up? */
static void bench_duplex(void)
{
    size_t up = (size_t)4 << 30, down = (size_t)1 << 30;
    char *host;
    struct stream *other;
    if (posix_memalign((void **)&host, 4096, up + down))
        exit(1);
    memset(host, 1, up + down);
    MUST(dev->ops->host_register(dev, host, up + down));
    MUST(dev->ops->stream_open(dev, &other, NULL));
    struct dbuf b = device_buffer(up), c = device_buffer(down);
    for (int both = 0; both < 3; both++) { /* the first warms up */
        double t = now_ms();
        MUST(dev->ops->copy_h2d(str, b, host, up));
        if (both == 2)
            MUST(dev->ops->copy_d2h(other, host + up, c, down));
        MUST(dev->ops->stream_sync(str));
        t = now_ms() - t;
        MUST(dev->ops->stream_sync(other));
        char note[64];
        snprintf(note, sizeof note, "%.2f GB/s", (double)up / t * 1e-6);
        if (both)
            report("copy", "", 32, both == 2 ? "h2d, 1 GiB down beside it" : "h2d, alone", t, note);
    }
    dev->ops->free(dev, b);
    dev->ops->free(dev, c);
    dev->ops->stream_close(other);
    MUST(dev->ops->host_unregister(dev, host));
    free(host);
}

int main(int argc, char **argv)
{
    unsigned from = 0, to = 24, ordinal = 0, groups = 3, curves = 3, what = 0;
    for (int i = 1; i < argc; i++) {
        static const char *const names[] = {"rate", "ntt", "msm", "copy", "stream"};
        for (unsigned k = 0; k < 5; k++)
            what |= strcmp(argv[i], names[k]) == 0 ? 1u << k : 0;
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        if (i + 1 < argc && strcmp(argv[i], "--from") == 0)
            from = (unsigned)atoi(argv[i + 1]);
        if (i + 1 < argc && strcmp(argv[i], "--to") == 0)
            to = (unsigned)atoi(argv[i + 1]);
        if (i + 1 < argc && strcmp(argv[i], "--device") == 0)
            ordinal = (unsigned)atoi(argv[i + 1]);
        if (i + 1 < argc && strcmp(argv[i], "--groups") == 0)
            groups = (unsigned)atoi(argv[i + 1]);
        if (i + 1 < argc && strcmp(argv[i], "--curves") == 0)
            curves = (unsigned)atoi(argv[i + 1]);
    }
    if (device_cuda_count() == 0) {
        fprintf(stderr, "bench_gpu: no CUDA device\n");
        return 69;
    }
    MUST(device_cuda_open(&dev, ordinal, NULL));
    MUST(dev->ops->stream_open(dev, &str, NULL));
    struct device_info info;
    MUST(dev->ops->info(dev, &info));
    if (!json)
        printf("%s, %u SMs, %zu MiB free\n", info.name, info.threads, info.free_bytes >> 20);
    what = what ? what : 31;
    if (what & 1)
        bench_rate(info.threads);
    if (what & 2)
        bench_ntt(from, to);
    if (what & 8) {
        bench_copy();
        bench_duplex();
    }
    if (what & 4)
        bench_msm(from, to, groups, curves);
    if (what & 16)
        bench_stream(to, groups, curves);
    dev->ops->stream_close(str);
    dev->ops->close(dev);
    return 0;
}
