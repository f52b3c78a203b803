/* Partitions of a Filecoin-shaped proof through the engine, one after the other, measured lane by lane.
 *
 *     bench_partition [--shape porep32|snap32|wpost32|winning] [--scale N/D] [--partitions N] [--device D] [--vram
 * BYTES]
 *                     [--resident plan|none|some|all] [--rows] [--pageable] [--no-overlap] [--curve C] [--threads N]
 *                     [--trace FILE] [--json]
 *
 * The circuit, its key and two witnesses are made here (synth.h), all points distinct and by the device. Every proof
 * is verified by pairing as always, and the five sums of both witnesses are compared with what the trapdoor says.
 *
 *   compute lane busy   kernels of one partition alone / time between partitions: an idle resident kernel counts
 * nothing H2D when due        bytes / time in which a copy's source was full and its destination free (one was under
 * way) peak                the best of three copies of up to 2 GiB from pinned memory, nothing else running
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_internal.h"
#include "penstock/error.h"
#include "perf/bench/overlap.h"
#include "perf/bench/synth_key.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "perf/units.h"

struct opts {
    const char *shape, *device, *resident, *curve, *trace;
    uint64_t num, den, vram;
    unsigned partitions, threads;
    bool rows, pageable, serial, json;
};

struct bench {
    struct opts o;
    struct shape shape;
    struct synth s;
    struct synth_key k;
    struct residency_plan plan;
    struct threads *threads;
    struct device *device;
    struct device_info info;
    struct pen_engine *engine;
    struct groth16_key *key;
    struct span_list *kernels; /* by the device's own events */
    bool registered[SYNTH_WITNESSES], adopted;
    double synth_s, peak, alone_s, alone_kernels_s, wall_s;
    double stage_s[8]; /* of the partition alone, as in stages[] */
    struct overlap steady;
    unsigned good;
};

static const char *const stages[8] = {"msm", "spmv", "pointwise", "ntt_coset", "ntt", "zero", "h2d", "sum_selected"};

static double seconds_since(uint64_t begin_ns)
{
    return (double)(clock_now_ns() - begin_ns) * 1e-9;
}

static int usage(void)
{
    fputs(
        "usage: bench_partition [--shape porep32|snap32|wpost32|winning] [--scale N/D] [--partitions N] [--device D]\n"
        "                       [--vram BYTES] [--resident plan|none|some|all] [--rows] [--pageable] [--no-overlap]\n"
        "                       [--curve bls12381|bn128] [--threads N] [--trace FILE] [--json]\n",
        stderr);
    return 2;
}

static bool opts_read(struct opts *o, int argc, char **argv)
{
    static const struct option names[] = {
        {"shape", 1, NULL, 's'},      {"scale", 1, NULL, 'c'},    {"partitions", 1, NULL, 'n'},
        {"device", 1, NULL, 'd'},     {"vram", 1, NULL, 'v'},     {"resident", 1, NULL, 'r'},
        {"rows", 0, NULL, 'R'},       {"pageable", 0, NULL, 'P'}, {"trace", 1, NULL, 't'},
        {"no-overlap", 0, NULL, 'O'}, {"json", 0, NULL, 'j'},     {"curve", 1, NULL, 'C'},
        {"threads", 1, NULL, 'T'},    {NULL, 0, NULL, 0},
    };
    *o = (struct opts){.shape = "porep32",
                       .device = "auto",
                       .resident = "plan",
                       .curve = "bls12381",
                       .num = 1,
                       .den = 1,
                       .partitions = 10};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        unsigned long long num = 0, den = 1;
        switch (c) {
        case 's':
            o->shape = optarg;
            break;
        case 'd':
            o->device = optarg;
            break;
        case 'r':
            o->resident = optarg;
            break;
        case 't':
            o->trace = optarg;
            break;
        case 'C':
            o->curve = optarg;
            break;
        case 'R':
            o->rows = true;
            break;
        case 'P':
            o->pageable = true;
            break;
        case 'O':
            o->serial = true;
            break;
        case 'j':
            o->json = true;
            break;
        case 'n':
            o->partitions = (unsigned)atoi(optarg);
            break;
        case 'T':
            o->threads = (unsigned)atoi(optarg);
            break;
        case 'v':
            if (units_parse_bytes(optarg, &o->vram))
                return false;
            break;
        case 'c':
            if (sscanf(optarg, "%llu/%llu", &num, &den) < 1)
                return false;
            o->num = num;
            o->den = den;
            break;
        default:
            return false;
        }
    }
    return optind == argc && o->partitions >= 2;
}

static uint64_t memory_available(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    char line[128];
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    }
    if (f)
        fclose(f);
    return kib * 1024;
}

/* Where the parts go. Scratch of the kernels (sorted digits) is left free. */
static int plan_make(struct bench *b)
{
    struct synth sizes = {.curve = curve_by_name(b->o.curve), .shape = b->shape};
    sizes.n_vars = b->shape.inputs + b->shape.aux;
    sizes.domain = (size_t)1 << b->shape.log_domain;
    sizes.csr.n_dict = 1024;
    sizes.input_bytes = (sizes.n_vars + (b->o.rows ? 2 * (b->shape.rows + b->shape.inputs) : 0)) * 32;
    struct key_sizes key = synth_sizes(&sizes);
    if (b->o.rows)
        key.nonzeros = 0;
    struct residency_limits limits = {
        .device_bytes = b->info.free_bytes,
        .pinned_bytes = UINT64_MAX,
        .per_pass = 1,
        .scratch_bytes = b->info.flags & DEVICE_HOST_MEMORY ? 0 : residency_scratch(&key, b->info.free_bytes)};
    const char *r = b->o.resident;
    int rc = residency_make(&b->plan, &key, &limits, NULL);
    if (strcmp(r, "plan") == 0)
        return rc;
    bool all = strcmp(r, "all") == 0, some = strcmp(r, "some") == 0;
    if (!all && !some && strcmp(r, "none") != 0)
        return err_fail(-EINVAL, "--resident=%s: plan, none, some or all", r);
    for (int i = 0; i < GROTH16_PARTS; i++) {
        if (!all || b->plan.part[i] != PLACE_DEVICE)
            b->plan.multiples = 1;
        b->plan.part[i] = all || (some && i == PART_H) ? PLACE_DEVICE : PLACE_STREAMED;
    }
    b->plan.matrices_on_device = all || some;
    return 0;
}

static int open_all(struct bench *b)
{
    const struct shape *shape = shape_find(b->o.shape);
    const struct curve *curve = curve_by_name(b->o.curve);
    if (!shape || !curve)
        return err_fail(-EINVAL, "no shape \"%s\", or no curve \"%s\"", b->o.shape, b->o.curve);
    int rc = shape_scale(&b->shape, shape, b->o.num, b->o.den);
    rc = rc ? rc
            : device_open(&b->device, b->o.device,
                          &(struct device_opts){.threads = b->o.threads, .memory_limit = b->o.vram});
    rc = rc ? rc : b->device->ops->info(b->device, &b->info);
    rc = rc ? rc : plan_make(b);
    if (rc)
        return rc;
    uint64_t streamed = 0;
    struct synth sizes = {.curve = curve,
                          .shape = b->shape,
                          .n_vars = b->shape.inputs + b->shape.aux,
                          .domain = (size_t)1 << b->shape.log_domain};
    struct key_sizes key = synth_sizes(&sizes);
    for (int i = 0; i < GROTH16_PARTS; i++)
        streamed += b->plan.part[i] == PLACE_DEVICE
                        ? 0
                        : key.points[i] * curve->point_bytes[i == PART_B2 ? GROUP_G2 : GROUP_G1];
    uint64_t need = synth_host_bytes(&b->shape, curve, b->o.rows, streamed), have = memory_available();
    char n[UNITS_TEXT], h[UNITS_TEXT];
    fprintf(stderr, "%s, %zu rows, domain 2^%u, %zu variables: needs %s of host memory, %s are available\n",
            shape->title, b->shape.rows, b->shape.log_domain, b->shape.inputs + b->shape.aux, units_bytes(n, need),
            units_bytes(h, have));
    if (need > have)
        return err_fail(-ENOMEM, "%s of host memory are needed, %s are available", units_bytes(n, need),
                        units_bytes(h, have));
    return threads_open(&b->threads, b->o.threads);
}

/* Bytes a second from pinned memory, or from what the inputs lie in when they are not pinned. */
static int peak_measure(struct bench *b)
{
    const struct device_ops *ops = b->device->ops;
    size_t bytes = b->s.input_bytes < (size_t)2 << 30 ? b->s.input_bytes : (size_t)2 << 30;
    struct stream *stream;
    struct dbuf to;
    int rc = ops->alloc(b->device, &to, bytes);
    if (rc)
        return rc;
    rc = ops->stream_open(b->device, &stream, NULL);
    for (int i = 0; i < 4 && !rc; i++) {
        uint64_t begin_ns = clock_now_ns();
        rc = ops->copy_h2d(stream, to, b->s.wtns[0], bytes);
        rc = rc ? rc : ops->stream_sync(stream);
        double rate = (double)bytes / seconds_since(begin_ns);
        b->peak = i && rate > b->peak ? rate : b->peak;
    }
    if (!rc)
        ops->stream_close(stream);
    ops->free(b->device, to);
    return rc;
}

static int prepare(struct bench *b)
{
    uint64_t begin_ns = clock_now_ns();
    int rc = synth_open(&b->s, curve_by_name(b->o.curve), &b->shape, b->threads, 1, b->o.rows);
    b->synth_s = seconds_since(begin_ns);
    if (rc)
        return rc;
    fprintf(stderr, "circuit, witnesses, key scalars: %.1f s\n", b->synth_s);
    rc = synth_key_make(&b->k, &b->s, b->device, &b->plan, b->o.rows);
    if (rc)
        return rc;
    fprintf(stderr, "points: %.1f s, on the device: %.1f s\n", b->k.make_s, b->k.load_s);
    for (unsigned i = 0; i < SYNTH_WITNESSES && !rc && !b->o.pageable; i++) {
        rc = b->device->ops->host_register(b->device, b->s.wtns[i], SYNTH_HEADER + b->s.input_bytes);
        b->registered[i] = rc == 0;
    }
    rc = rc ? rc : peak_measure(b);
    rc = rc ? rc : span_list_open(&b->kernels, 1 << 18);
    struct groth16_key_opts opts = {.own_inputs = true, .spans = b->kernels};
    rc = rc ? rc : groth16_key_adopt(&b->key, b->device, b->k.zkey, &b->k.parts, &opts);
    if (rc)
        return rc;
    memset(&b->k.parts, 0, sizeof b->k.parts); /* the key's now */
    struct pen_engine_opts engine = {
        .threads = b->o.threads, .trace_path = b->o.trace ? b->o.trace : "/dev/null", .max_jobs = b->o.partitions + 8};
    return engine_open_on(&b->engine, &engine, &b->device, 1);
}

/* After the engine's adoption of the key nothing but it closes key and zkey. */
static int adopt(struct bench *b)
{
    int rc = engine_circuit_adopt(b->engine, "synthetic", b->k.zkey, &b->k.vk, &b->key, &b->plan);
    if (!rc)
        b->k.zkey = NULL;
    b->adopted = rc == 0;
    return rc;
}

static int submit(struct bench *b, uint64_t *job, unsigned i)
{
    unsigned k = i % SYNTH_WITNESSES;
    if (b->o.rows)
        return engine_submit_rows(b->engine, job, "synthetic", synth_witness(&b->s, k), b->s.input_bytes, NULL);
    return pen_submit_memory(b->engine, job, "synthetic", b->s.wtns[k], b->s.wtns_bytes, NULL);
}

static int finish(struct bench *b, uint64_t job)
{
    struct pen_result r;
    int rc = pen_wait(b->engine, &r, job, PEN_FOREVER);
    if (rc)
        return rc;
    if (r.state != PEN_DONE)
        rc = err_fail(r.error ? r.error : -EIO, "a partition failed: %s", r.why);
    else if (r.device_fault)
        rc = err_fail(-EIO, "the device was wrong");
    b->good += rc == 0;
    pen_result_close(&r);
    return rc;
}

/* One to warm up, one alone: its kernels' times are the measure of a busy lane. */
static int run_alone(struct bench *b)
{
    uint64_t job;
    int rc = submit(b, &job, 0);
    rc = rc ? rc : finish(b, job);
    size_t from = b->kernels ? span_count(b->kernels) : 0;
    uint64_t begin_ns = clock_now_ns();
    rc = rc ? rc : submit(b, &job, 1);
    rc = rc ? rc : finish(b, job);
    b->alone_s = seconds_since(begin_ns);
    for (size_t i = from; i < span_count(b->kernels); i++) {
        const struct span *s = span_at(b->kernels, i);
        double took = (double)(s->end_ns - s->begin_ns) * 1e-9;
        b->alone_kernels_s += took;
        for (int t = 0; t < 8; t++)
            b->stage_s[t] += strcmp(s->stage, stages[t]) == 0 ? took : 0;
    }
    return rc;
}

static int run_steady(struct bench *b)
{
    uint64_t *job = calloc(b->o.partitions, sizeof *job);
    if (!job)
        return err_fail(-ENOMEM, "no memory for %u jobs", b->o.partitions);
    size_t from = span_count(b->engine->spans);
    uint64_t begin_ns = clock_now_ns();
    int rc = 0;
    for (unsigned i = 0; i < b->o.partitions && !rc; i++) {
        rc = submit(b, &job[i], i);
        if (!rc && b->o.serial)
            rc = finish(b, job[i]);
    }
    for (unsigned i = 0; i < b->o.partitions && !rc && !b->o.serial; i++)
        rc = finish(b, job[i]);
    b->wall_s = seconds_since(begin_ns);
    free(job);
    if (!rc && !overlap_of(&b->steady, b->engine->spans, from))
        rc = err_fail(-EIO, "fewer than two partitions left a span");
    return rc;
}

/* All five sums of each witness against the trapdoor's. */
static int sums_check(struct bench *b)
{
    const struct device_ops *ops = b->device->ops;
    const struct curve *cv = b->s.curve;
    struct stream *stream = NULL;
    /* the engine is idle: one of its buffers, since the device may have no room for another */
    const struct engine_key *k0 = &b->engine->circuit[0]->on[0];
    bool borrowed = k0->spares > 0;
    struct dbuf w = borrowed ? k0->spare[0] : (struct dbuf){0};
    int rc = borrowed ? 0 : ops->alloc(b->device, &w, b->s.input_bytes);
    if (rc)
        return rc;
    rc = ops->stream_open(b->device, &stream, NULL);
    for (unsigned k = 0; k < SYNTH_WITNESSES && !rc; k++) {
        struct groth16_sums sums;
        rc = ops->copy_h2d(stream, w, synth_witness(&b->s, k), b->s.input_bytes);
        rc = rc ? rc : ops->stream_sync(stream);
        for (unsigned step = 0; step < GROTH16_STEPS && !rc; step++)
            rc = groth16_step(b->key, &sums, w, step);
        for (int i = 0; i < GROTH16_PARTS && !rc; i++) {
            enum group g = i == PART_B2 ? GROUP_G2 : GROUP_G1;
            struct point due;
            cv->mul(g, &due, &cv->generator[g], &b->s.sum[k][i]);
            if (memcmp(&due, &sums.part[i], sizeof due) != 0)
                rc = err_fail(-EBADMSG, "witness %u: the sum %s is not what the trapdoor says", k,
                              groth16_part_names[i]);
        }
    }
    if (stream)
        ops->stream_close(stream);
    if (!borrowed)
        ops->free(b->device, w);
    return rc;
}

static void report_json(const struct bench *b, double partition_s, double busy, double rate)
{
    const struct overlap *o = &b->steady;
    printf("{\"bench\": \"partition\", \"shape\": \"%s\", \"scale\": \"%llu/%llu\", \"device\": \"%s\", \"rows\": %zu, "
           "\"log_domain\": %u, \"variables\": %zu, \"partitions\": %u, \"resident\": \"%s\", \"multiples\": %u, "
           "\"rows_pushed\": %s, \"pageable\": %s, \"overlap\": %s, \"partition_s\": %.6f, \"predicted_s\": %.6f, "
           "\"alone_s\": %.6f, \"kernels_s\": %.6f, \"compute_busy\": %.5f, \"compute_occupied\": %.5f, "
           "\"gap_max_s\": %.6f, \"gap_mean_s\": %.6f, \"h2d_when_due\": %.0f, \"h2d_peak\": %.0f, "
           "\"bytes_per_partition\": %llu, \"streamed_bytes\": %llu, \"stages_s\": {",
           b->o.shape, (unsigned long long)b->o.num, (unsigned long long)b->o.den, b->info.name, b->shape.rows,
           b->shape.log_domain, b->s.n_vars, b->o.partitions, b->o.resident, b->plan.multiples,
           b->o.rows ? "true" : "false", b->o.pageable ? "true" : "false", b->o.serial ? "false" : "true", partition_s,
           b->plan.proof_s, b->alone_s, b->alone_kernels_s, busy, o->compute_s / o->wall_s, o->gap_max_s,
           o->gap_sum_s / o->jobs, rate, b->peak, (unsigned long long)(b->s.input_bytes + b->k.streamed_bytes),
           (unsigned long long)b->k.streamed_bytes);
    for (int t = 0; t < 8; t++)
        printf("%s\"%s\": %.6f", t ? ", " : "", stages[t], b->stage_s[t]);
    printf("}, \"lanes_s\": {\"read\": %.6f, \"copy\": %.6f, \"compute\": %.6f, \"fold\": %.6f}, \"good\": %u}\n",
           o->read_s, o->copy_s, o->compute_s, o->fold_s, b->good);
}

static void report_text(const struct bench *b, double partition_s, double busy, double rate)
{
    const struct overlap *o = &b->steady;
    char t[UNITS_TEXT], u[UNITS_TEXT];
    printf("%-28s %s (%u of %u proofs verified)\n", "device", b->info.name, b->good, b->o.partitions + 2);
    printf("%-28s %s (plan: %s)\n", "partition", units_seconds(t, partition_s), units_seconds(u, b->plan.proof_s));
    printf("%-28s %s, kernels %s\n", "one alone", units_seconds(t, b->alone_s), units_seconds(u, b->alone_kernels_s));
    for (int i = 0; i < 8; i++) {
        if (b->stage_s[i] > 0)
            printf("  %-26s %s\n", stages[i], units_seconds(t, b->stage_s[i]));
    }
    printf("%-28s %.2f %% (occupied %.2f %%)\n", "compute lane busy", 100 * busy, 100 * o->compute_s / o->wall_s);
    printf("%-28s %s at most, %s on average\n", "gap between partitions", units_seconds(t, o->gap_max_s),
           units_seconds(u, o->gap_sum_s / o->jobs));
    printf("%-28s %.2f GB/s, %.1f %% of the measured %.2f GB/s\n", "H2D of inputs when due", rate * 1e-9,
           100 * rate / b->peak, b->peak * 1e-9);
    printf("%-28s %s over the link", "bytes per partition", units_bytes(t, b->s.input_bytes + b->k.streamed_bytes));
    printf(" (%s of them streamed key: %.2f GB/s on average)\n", units_bytes(t, b->k.streamed_bytes),
           (double)(b->s.input_bytes + b->k.streamed_bytes) / partition_s * 1e-9);
    printf("%-28s read %.3f s, copy %.3f s, compute %.3f s, fold %.3f s of %.3f s\n", "lanes, all partitions",
           o->read_s, o->copy_s, o->compute_s, o->fold_s, b->wall_s);
}

static void close_all(struct bench *b)
{
    for (unsigned i = 0; i < SYNTH_WITNESSES && b->device; i++) {
        if (b->registered[i])
            (void)b->device->ops->host_unregister(b->device, b->s.wtns[i]);
    }
    if (!b->adopted)
        groth16_key_close(b->key);
    if (b->engine) { /* it closes the device; streamed points must outlive its keys */
        pen_engine_close(b->engine);
        for (int i = 0; i < GROTH16_PARTS; i++)
            synth_memory_free(b->k.host[i], b->k.host_bytes[i]);
        vk_close(&b->k.vk);
        zkey_close(b->k.zkey);
    } else if (b->device) {
        if (b->k.device)
            synth_key_close(&b->k);
        b->device->ops->close(b->device);
    }
    if (b->s.threads)
        synth_close(&b->s);
    threads_close(b->threads);
    span_list_close(b->kernels);
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    if (!opts_read(&b.o, argc, argv))
        return usage();
    int rc = open_all(&b);
    rc = rc ? rc : prepare(&b);
    rc = rc ? rc : adopt(&b);
    rc = rc ? rc : run_alone(&b);
    rc = rc ? rc : run_steady(&b);
    if (!rc) {
        double partition_s = b.steady.wall_s / b.steady.jobs, rate = (double)b.steady.copy_bytes / b.steady.copy_s;
        (b.o.json ? report_json : report_text)(&b, partition_s, b.alone_kernels_s / partition_s, rate);
        fflush(stdout);
        rc = sums_check(&b);
    }
    fprintf(stderr, "bench_partition: %s\n", rc ? pen_last_error() : "all sums are what the trapdoor says");
    close_all(&b);
    return rc == 0 ? 0 : rc == -EINVAL ? 2 : 1;
}
