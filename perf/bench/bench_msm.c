/* The stages of an MSM, each by the device's own clock, for the window width that the product would take or for others.
 *
 *     bench_msm [--curves 1|2|3] [--groups 1|2|3] [--from LOG] [--to LOG] [--width C]
 *
 * The launchers are called here in the order of gpu_msm.c on one slice. Window multiples are copies of the same points,
 * which costs what real ones cost; sums are therefore not checked here: bench_gpu and the tests do that. Median of 5.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"
#include "cuda/gpu/gpu.h"
#include "penstock/error.h"
#include "perf/clock.h"

enum { RUNS = 5, STAGES = 6 };
static const char *const stage_name[STAGES] = {"count", "scan", "scatter", "add", "reduce", "fold"};

static struct device *dev;
static struct stream *str;

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "bench_msm: %s: %d %s %s\n", what, rc, cudaGetErrorString(cudaGetLastError()), pen_last_error());
    exit(1);
}

static void *take(size_t bytes)
{
    void *p;
    must((int)cudaMalloc(&p, bytes + 256), "device memory");
    return p;
}

struct run {
    const struct gpu_group_ops *ops;
    struct gpu_windows w;
    struct gpu_digits d;
    struct gpu_accumulate a;
    struct gpu_reduce r;
    uint32_t *count, *offset, *sums, *rank, *entries;
    void *parts, *parts_host;
    struct gpu_reduce_shape shape;
    size_t parts_bytes;
};

static void run_once(struct run *m, cudaEvent_t *e, double *fold_ms)
{
    unsigned char out[512];
    cudaEventRecord(e[0], NULL);
    must((int)cudaMemsetAsync(m->count, 0, m->a.buckets * 4, NULL), "clearing");
    must((int)cudaMemsetAsync(m->a.bucket, 0, m->a.buckets * m->ops->xyzz_bytes, NULL), "clearing");
    must(gpu_digits_count(NULL, &m->d, m->count, m->rank), "count");
    cudaEventRecord(e[1], NULL);
    must(gpu_scan(NULL, m->count, m->offset, m->a.buckets, m->sums), "scan");
    cudaEventRecord(e[2], NULL);
    must(gpu_digits_scatter(NULL, &m->d, m->offset, m->rank, m->entries), "scatter");
    cudaEventRecord(e[3], NULL);
    must(m->ops->accumulate(NULL, &m->a), "add");
    cudaEventRecord(e[4], NULL);
    must(m->ops->reduce(NULL, &m->r, m->parts), "reduce");
    cudaEventRecord(e[5], NULL);
    must((int)cudaMemcpy(m->parts_host, m->parts, m->parts_bytes, cudaMemcpyDeviceToHost), "parts");
    uint64_t begin = clock_now_ns();
    m->ops->fold(out, m->parts_host, m->w.sets, m->w.c, m->shape);
    *fold_ms = (double)(clock_now_ns() - begin) * 1e-6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_timed(struct run *m)
{
    double t[STAGES][RUNS], sum = 0;
    cudaEvent_t e[STAGES];
    for (int i = 0; i < STAGES; i++)
        must((int)cudaEventCreate(&e[i]), "events");
    for (int k = -1; k < RUNS; k++) {
        double fold;
        run_once(m, e, &fold);
        for (int i = 0; i < STAGES - 1 && k >= 0; i++) {
            float ms;
            must((int)cudaEventElapsedTime(&ms, e[i], e[i + 1]), "times");
            t[i][k] = (double)ms;
        }
        if (k >= 0)
            t[STAGES - 1][k] = fold;
    }
    for (int i = 0; i < STAGES; i++) {
        qsort(t[i], RUNS, sizeof *t[i], by_size);
        printf(" %s %.3f", stage_name[i], t[i][RUNS / 2]);
        sum += t[i][RUNS / 2];
        cudaEventDestroy(e[i]);
    }
    printf("  sum %.3f ms\n", sum);
    fflush(stdout);
}

static void random_scalars(void *device, size_t n)
{
    size_t words = n * 4;
    uint64_t *x = malloc(words * 8), z = 7;
    for (size_t i = 0; i < words; i++) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        x[i] = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
        x[i] ^= x[i] >> 32;
        if (i % 4 == 3)
            x[i] &= ((uint64_t)1 << 60) - 1; /* below both r */
    }
    must((int)cudaMemcpy(device, x, words * 8, cudaMemcpyHostToDevice), "scalars");
    free(x);
}

static void points_make(const struct curve *c, enum group g, void *points, size_t n, unsigned multiples, void *scalars)
{
    size_t bytes = n * c->point_bytes[g];
    struct mul_base_args a = {.curve = c, .group = g, .base = c->generator[g], .n = n};
    a.scalars = (struct dbuf){(uint64_t)(uintptr_t)scalars, n * 32};
    a.out = (struct dbuf){(uint64_t)(uintptr_t)points, bytes};
    must(dev->ops->mul_base(str, &a), "points");
    must(dev->ops->stream_sync(str), "points");
    for (unsigned m = 1; m < multiples; m++)
        must((int)cudaMemcpy((char *)points + m * bytes, points, bytes, cudaMemcpyDeviceToDevice), "multiples");
}

static void bench(const struct curve *c, enum group g, unsigned log_n, unsigned width)
{
    size_t n = (size_t)1 << log_n, free_bytes, total;
    cudaMemGetInfo(&free_bytes, &total);
    struct run m = {.ops = gpu_group_of(c, g)};
    m.w = gpu_windows_choose(c->fr_bits, n, free_bytes / 2, m.ops->affine_bytes, 0);
    if (width) {
        unsigned windows = (c->fr_bits + width - 1) / width;
        m.w = (struct gpu_windows){.c = width, .windows = windows, .sets = 1, .multiples = windows};
    }
    uint32_t buckets = m.w.sets << (m.w.c - 1);
    size_t entries = n * m.w.windows;
    void *scalars = take(n * 32), *points = take(n * m.w.multiples * m.ops->affine_bytes);
    random_scalars(scalars, n);
    points_make(c, g, points, n, m.w.multiples, scalars);
    m.d = (struct gpu_digits){scalars, (uint32_t)n, m.w.c, m.w.windows, m.w.sets, {0}};
    gpu_order_words(m.d.r, c);
    m.count = take(buckets * 4), m.offset = take((size_t)buckets * 4 + 4), m.sums = take(gpu_scan_scratch(buckets) * 4);
    m.rank = take(entries * 4), m.entries = take(entries * 4);
    m.a = (struct gpu_accumulate){.bases = points,
                                  .stride = n,
                                  .limit = (uint32_t)n,
                                  .entries = m.entries,
                                  .offset = m.offset,
                                  .buckets = buckets,
                                  .bucket = take(buckets * m.ops->xyzz_bytes),
                                  .scratch = take(m.ops->accumulate_scratch())};
    m.r = (struct gpu_reduce){m.a.bucket, m.w.sets, buckets / m.w.sets, NULL};
    m.r.scratch = take(m.ops->reduce_scratch(m.r.sets, m.r.buckets));
    m.shape = m.ops->reduce_shape(m.r.sets, m.r.buckets);
    m.parts_bytes = (size_t)m.w.sets * m.shape.planes * m.ops->xyzz_bytes;
    m.parts = take(m.parts_bytes);
    m.parts_host = malloc(m.parts_bytes);
    printf("%s G%d 2^%u c %u windows %u sets %u:", c->title, g + 1, log_n, m.w.c, m.w.windows, m.w.sets);
    run_timed(&m);
    void *all[] = {scalars,   points,     m.count,     m.offset,    m.sums, m.rank,
                   m.entries, m.a.bucket, m.a.scratch, m.r.scratch, m.parts};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cudaFree(all[i]);
    free(m.parts_host);
}

int main(int argc, char **argv)
{
    unsigned from = 20, to = 24, groups = 3, curves = 3, width = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        unsigned v = (unsigned)atoi(argv[i + 1]);
        if (strcmp(argv[i], "--from") == 0)
            from = v;
        if (strcmp(argv[i], "--to") == 0)
            to = v;
        if (strcmp(argv[i], "--groups") == 0)
            groups = v;
        if (strcmp(argv[i], "--curves") == 0)
            curves = v;
        if (strcmp(argv[i], "--width") == 0)
            width = v;
    }
    if (device_cuda_count() == 0) {
        fprintf(stderr, "bench_msm: no CUDA device\n");
        return 69;
    }
    must(device_cuda_open(&dev, 0, NULL), "the device");
    must(dev->ops->stream_open(dev, &str, NULL), "a stream");
    for (unsigned log_n = from; log_n <= to; log_n += 2)
        for (int v = 0; v < CURVES * GROUPS; v++)
            if (groups >> (v % 2) & 1 && curves >> (v / 2) & 1)
                bench(curve_get((enum curve_id)(v / 2)), (enum group)(v % 2), log_n, width);
    dev->ops->stream_close(str);
    dev->ops->close(dev);
    return 0;
}
