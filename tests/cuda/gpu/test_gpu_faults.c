/* Claims, on a GPU (else 77):
 *   1. Whatever call of a job fails, for each call in turn (on the second curve: each launch): the job fails with a
 * sentence (launches: with the kernel's name), or is right in spite of it; the next job on the same handle is right; no
 * byte of device memory is lost.
 *   2. A kernel that really writes out of bounds, for each kernel in turn: the job fails with a sentence that names its
 *      stage and sizes, the GPU is refused to others until its handles are closed, and then a new handle is right, or
 *      the driver gives the GPU to new processes only, which is said; the host device and this process go on, and the
 *      next process has the GPU.
 *   3. All kernels of the device were reached.
 * A job: every operation on one curve, with resident and streamed bases and matrices, against the host device. */
#include <cuda_runtime_api.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_wrap.h"
#include "gpu_test.h"
#include "perf/err.h"
#include "perf/span.h"

enum {
    N = 900,
    LOG_N = 11,
    ROWS = 200,
    DICT = 5,
    SETS = 4,
    LOG_SMALL = 5,
    SMALL = 1 << LOG_SMALL,
    BITS_WORDS = N / 64 + 1,
    WIDE = 1 << 16
};

/* Inputs, and what must come out. */
struct work {
    const struct curve *curve;
    struct known_points points[GROUPS];
    struct scalar x[N];
    struct fr poly[1 << LOG_N], small[SMALL], root, small_root, tiny_root, shift;
    uint64_t bits[BITS_WORDS], row[ROWS + 1];
    uint32_t *col, *coef;
    struct fr dict[DICT];
    struct scalar *wide; /* NULL, or WIDE scalars for mul_base */
};

struct outcome {
    struct point msm[SETS], selected[GROUPS];
    struct fr forward[1 << LOG_N], coset[1 << LOG_N], small[SMALL], product[ROWS], joined[ROWS];
    size_t bad;
    enum point_fault fault;
    unsigned char *multiples[GROUPS]; /* N points each, or WIDE */
};

static struct work works[CURVES];
static struct outcome wants[CURVES];

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int try_rc = (call);                                                                                           \
        if (try_rc)                                                                                                    \
            return try_rc;                                                                                             \
    } while (0)

/* What a job holds, so that it can be dropped wherever it stopped. */
struct held {
    struct device *d;
    struct stream *s;
    struct event *e;
    struct span_list *spans;
    struct bases *bases[SETS];
    struct matrix *matrix[2];
    struct dbuf buf[8];
    size_t bufs;
    char *registered;
};

static int held_buffer(struct held *h, struct dbuf *out, const void *data, size_t bytes)
{
    TRY(h->d->ops->alloc(h->d, out, bytes));
    h->buf[h->bufs++] = *out;
    return data ? h->d->ops->copy_h2d(h->s, *out, data, bytes) : 0;
}

static void held_drop(struct held *h)
{
    const struct device_ops *ops = h->d->ops;
    if (h->s)
        ops->stream_close(h->s);
    if (h->e)
        ops->event_close(h->e);
    for (int i = 0; i < SETS; i++)
        if (h->bases[i])
            ops->bases_close(h->bases[i]);
    for (int i = 0; i < 2; i++)
        if (h->matrix[i])
            ops->matrix_close(h->matrix[i]);
    while (h->bufs)
        ops->free(h->d, h->buf[--h->bufs]);
    if (h->registered)
        ops->host_unregister(h->d, h->registered);
    span_list_close(h->spans);
}

/* G1 and G2, resident with and without multiples, streamed from an odd offset. */
static int job_sums(struct held *h, const struct work *w, struct outcome *out)
{
    const struct device_ops *ops = h->d->ops;
    struct msm_set set[SETS];
    struct dbuf x, bits;
    for (int i = 0; i < SETS; i++) {
        const struct known_points *k = &w->points[i == 3 ? GROUP_G2 : GROUP_G1];
        struct bases_args a = {.curve = w->curve, .group = k->group, .points = k->packed, .n = k->n};
        a.resident = i != 1;
        a.multiples = i == 0 ? 4 : i == 2 ? 1 : 0;
        TRY(ops->bases_open(h->d, &h->bases[i], &a));
        set[i] = (struct msm_set){h->bases[i], 0, &out->msm[i]};
    }
    TRY(held_buffer(h, &x, w->x, sizeof w->x));
    TRY(held_buffer(h, &bits, w->bits, sizeof w->bits));
    TRY(ops->msm(h->s, &(struct msm_args){w->curve, x, N, set, SETS}));
    for (int g = 0; g < GROUPS; g++)
        TRY(ops->sum_selected(h->s, &(struct sum_selected_args){h->bases[g ? 3 : 0], bits, &out->selected[g]}));
    TRY(ops->event_open(h->d, &h->e));
    TRY(ops->event_record(h->s, h->e));
    TRY(ops->event_wait(h->s, h->e));
    return ops->stream_sync(h->s);
}

static int job_transforms(struct held *h, const struct work *w, struct outcome *out)
{
    const struct device_ops *ops = h->d->ops;
    struct dbuf p, small;
    TRY(held_buffer(h, &p, w->poly, sizeof w->poly));
    TRY(held_buffer(h, &small, w->small, sizeof w->small));
    struct ntt_args a = {.curve = w->curve, .data = p, .log_n = LOG_N, .order = NTT_NN, .root = w->root};
    a.shift = w->shift;
    TRY(ops->ntt(h->s, &a));
    TRY(ops->copy_d2h(h->s, out->forward, p, sizeof out->forward));
    TRY(ops->ntt_coset(h->s, &(struct ntt_coset_args){w->curve, p, LOG_N, 1, w->root, w->shift}));
    a.inverse = true;
    a.order = NTT_RN;
    TRY(ops->ntt(h->s, &a));
    TRY(ops->copy_d2h(h->s, out->coset, p, sizeof out->coset));
    a = (struct ntt_args){.curve = w->curve, .data = small, .log_n = LOG_SMALL, .order = NTT_NN};
    a.root = w->small_root;
    a.shift = w->shift;
    TRY(ops->ntt(h->s, &a));
    a.log_n = 2;
    a.root = w->tiny_root;
    TRY(ops->ntt(h->s, &a));
    TRY(ops->copy_d2h(h->s, out->small, small, sizeof out->small));
    return ops->stream_sync(h->s);
}

static int job_linear(struct held *h, const struct work *w, struct outcome *out)
{
    const struct device_ops *ops = h->d->ops;
    struct matrix_args m = {.curve = w->curve, .rows = ROWS, .cols = N, .row = w->row, .col = w->col, .coef = w->coef};
    m.dict = w->dict;
    m.n_dict = DICT;
    struct dbuf a, b;
    TRY(held_buffer(h, &a, NULL, sizeof out->product));
    TRY(held_buffer(h, &b, NULL, sizeof out->product));
    TRY(ops->zero(h->s, b, sizeof out->product));
    for (int resident = 0; resident < 2; resident++) {
        m.resident = resident;
        TRY(ops->matrix_open(h->d, &h->matrix[resident], &m));
        TRY(ops->spmv(h->s, &(struct spmv_args){h->matrix[resident], h->buf[0], resident ? b : a, ROWS}));
    }
    TRY(ops->copy_d2h(h->s, out->product, a, sizeof out->product));
    struct pointwise_args p = {.curve = w->curve, .op = POINTWISE_MUL_SUB, .out = a, .a = a, .b = b, .c = b};
    p.n = ROWS;
    p.plain = true;
    TRY(ops->pointwise(h->s, &p));
    TRY(ops->copy_d2h(h->s, out->joined, a, sizeof out->joined));
    return ops->stream_sync(h->s);
}

static int job_points(struct held *h, const struct work *w, struct outcome *out)
{
    const struct device_ops *ops = h->d->ops;
    const struct scalar *from = w->wide ? w->wide : w->x;
    size_t n = w->wide ? WIDE : N;
    struct dbuf x = h->buf[0];
    if (w->wide)
        TRY(held_buffer(h, &x, from, n * sizeof *from));
    for (int g = 0; g < GROUPS; g++) {
        struct dbuf points;
        size_t bytes = n * w->curve->point_bytes[g];
        struct mul_base_args a = {.curve = w->curve, .group = (enum group)g, .scalars = x, .n = n};
        TRY(ops->alloc(h->d, &points, bytes));
        h->buf[h->bufs++] = points;
        a.out = points;
        a.base = w->curve->generator[g];
        TRY(ops->mul_base(h->s, &a));
        TRY(ops->copy_d2h(h->s, out->multiples[g], points, bytes));
        TRY(ops->stream_sync(h->s));
        ops->free(h->d, h->buf[--h->bufs]);
    }
    if (w->wide) {
        struct bases_args b = {
            .curve = w->curve, .points = out->multiples[0], .n = n, .resident = true, .multiples = 1};
        TRY(ops->bases_open(h->d, &h->bases[0], &b));
        struct msm_set set = {h->bases[0], 0, &out->msm[0]};
        TRY(ops->msm(h->s, &(struct msm_args){w->curve, x, n, &set, 1}));
        TRY(ops->stream_sync(h->s));
    }
    struct check_points_args c = {.curve = w->curve, .group = GROUP_G2, .points = w->points[1].packed, .n = N};
    c.bad = &out->bad;
    c.fault = &out->fault;
    TRY(ops->check_points(h->s, &c));
    return ops->stream_sync(h->s);
}

static int job_parts(struct held *h, const struct work *w, struct outcome *out)
{
    TRY(span_list_open(&h->spans, 256));
    TRY(h->d->ops->stream_open(h->d, &h->s, &(struct stream_opts){.spans = h->spans}));
    if (!(w->wide)) {
        char *memory = (char *)(((uintptr_t)w->points[0].memory + 4095) / 4096 * 4096);
        if (h->d != NULL)
            TRY(h->d->ops->host_register(h->d, memory, 4096));
        h->registered = memory;
        TRY(job_sums(h, w, out));
        TRY(job_transforms(h, w, out));
        TRY(job_linear(h, w, out));
    }
    return job_points(h, w, out);
}

static int job_run(struct device *d, const struct work *w, struct outcome *out)
{
    struct held h = {.d = d};
    char why[1024];
    for (int g = 0; g < GROUPS; g++)
        memset(out->multiples[g], 0xa5, (w->wide ? WIDE : N) * w->curve->point_bytes[g]);
    unsigned char *kept[GROUPS] = {out->multiples[0], out->multiples[1]};
    memset(out, 0xa5, sizeof *out);
    memcpy(out->multiples, kept, sizeof kept);
    int rc = job_parts(&h, w, out);
    err_copy(why);
    held_drop(&h);
    err_set(why);
    return rc;
}

static struct outcome *outcome_new(void)
{
    struct outcome *o = calloc(1, sizeof *o);
    assert_non_null(o);
    for (int g = 0; g < GROUPS; g++)
        assert_non_null(o->multiples[g] = malloc(WIDE * 192));
    return o;
}

static void outcome_equal(const struct outcome *got, const struct outcome *want, const struct work *w)
{
    assert_memory_equal(got, want, offsetof(struct outcome, multiples));
    for (int g = 0; g < GROUPS; g++)
        assert_memory_equal(got->multiples[g], want->multiples[g], (w->wide ? WIDE : N) * w->curve->point_bytes[g]);
}

static void work_make(struct work *w, struct outcome *want, const struct curve *c, struct device *host)
{
    w->curve = c;
    for (int g = 0; g < GROUPS; g++)
        w->points[g] = known_points_make(c, (enum group)g, N, POINTS_RANDOM);
    scalars_fill(w->x, N, c, SCALARS_WITNESS);
    frs_fill(w->poly, 1 << LOG_N, c, 0);
    frs_fill(w->small, SMALL, c, 0);
    frs_fill(&w->shift, 1, c, 0);
    frs_fill(w->dict, DICT, c, 0);
    memcpy(w->dict[0].l, c->fr->r2, sizeof w->dict[0].l);
    c->fr_root(&w->root, LOG_N);
    c->fr_root(&w->small_root, LOG_SMALL);
    c->fr_root(&w->tiny_root, 2);
    for (size_t i = 0; i < BITS_WORDS; i++)
        w->bits[i] = rng();
    for (size_t i = 0; i < ROWS; i++)
        w->row[i + 1] = w->row[i] + (i % 40 == 7 ? 300 : rng() % 5);
    w->col = malloc(w->row[ROWS] * sizeof *w->col);
    w->coef = malloc(w->row[ROWS] * sizeof *w->coef);
    for (uint64_t e = 0; e < w->row[ROWS]; e++) {
        w->col[e] = (uint32_t)(rng() % N);
        w->coef[e] = (uint32_t)(rng() % DICT);
    }
    for (int g = 0; g < GROUPS; g++)
        want->multiples[g] = malloc(WIDE * 192);
    MUST(job_run(host, w, want));
}

static size_t free_memory(void)
{
    size_t room, total;
    assert_int_equal(cudaMemGetInfo(&room, &total), 0);
    return room;
}

/* Job with the k-th call refused, then one without on the same handle. False: there is no k-th call. */
static bool refused_job(const struct work *w, const struct outcome *want, struct outcome *got, size_t k, bool launches,
                        size_t *absorbed)
{
    struct device *d;
    char why[1024];
    MUST(device_cuda_open(&d, 0, NULL));
    fault_refuse(k, launches);
    int rc = job_run(d, w, got);
    bool hit = fault_hit();
    fault_none();
    err_copy(why);
    if (rc == 0) {
        outcome_equal(got, want, w);
        *absorbed += hit;
    } else {
        if (!hit)
            fail_msg("a job without a fault fails: %s", why);
        if (!strstr(why, "cuda:0") || strlen(why) < 20)
            fail_msg("refused %s, call %zu: the sentence says too little: %s", fault_place(), k, why);
        if (fault_was_launch() && !strstr(why, fault_place()))
            fail_msg("refused launch of %s, call %zu: not named in: %s", fault_place(), k, why);
    }
    if (hit) {
        rc = job_run(d, w, got);
        if (rc)
            fail_msg("refused %s, call %zu: the next job fails: %s", fault_place(), k, pen_last_error());
        outcome_equal(got, want, w);
    }
    d->ops->close(d);
    return hit;
}

/* PENSTOCK_FAULT_STRIDE=8: every eighth call, for a short look. */
static size_t stride(void)
{
    const char *env = getenv("PENSTOCK_FAULT_STRIDE");
    return env && atoi(env) > 0 ? (size_t)atoi(env) : 1;
}

static void refused_calls(const struct work *w, const struct outcome *want, bool launches)
{
    struct outcome *got = outcome_new();
    struct device *d;
    size_t k = 1, absorbed = 0;
    MUST(device_cuda_open(&d, 0, NULL)); /* loads the kernels: their memory is not the jobs' */
    MUST(job_run(d, w, got));
    outcome_equal(got, want, w);
    d->ops->close(d);
    size_t room = free_memory();
    for (; refused_job(w, want, got, k, launches, &absorbed); k += stride())
        if (free_memory() != room)
            fail_msg("refused %s, call %zu: %zu bytes of device memory are lost", fault_place(), k,
                     room - free_memory());
    print_message("%s%s: %zu %s refused, %zu of them did no harm\n", w->curve->title, w->wide ? ", wide" : "",
                  (k - 1) / stride(), launches ? "launches" : "calls", absorbed);
    assert_true(k > (w->wide ? 10u : 50u));
    for (int g = 0; g < GROUPS; g++)
        free(got->multiples[g]);
    free(got);
}

static void refusals(void **state)
{
    (void)state;
    refused_calls(&works[0], &wants[0], false);
    refused_calls(&works[1], &wants[1], true); /* the calls are the same code, the kernels are not */
}

/* Many points: fixed bases with 16-bit windows, and an MSM with buckets enough for the reduction's segments. One curve
 * is enough, the code is the same. */
static void refusals_wide(void **state)
{
    (void)state;
    static struct work w;
    static struct outcome want;
    struct device *host;
    w.curve = works[0].curve;
    w.wide = malloc(WIDE * sizeof *w.wide);
    w.points[1] = works[0].points[1];
    scalars_fill(w.wide, WIDE, w.curve, SCALARS_WITNESS);
    for (int g = 0; g < GROUPS; g++)
        want.multiples[g] = malloc(WIDE * 192);
    MUST(device_host_open(&host, NULL));
    MUST(job_run(host, &w, &want));
    host->ops->close(host);
    refused_calls(&w, &want, false);
}

static void all_reached(void **state)
{
    (void)state;
    size_t missing = 0;
    for (size_t i = 0; i < fault_kernels(); i++)
        if (!fault_kernel_launched(i) && !strstr(fault_kernel_name(i), "_rate")) /* those are benchmarks */ {
            print_error("kernel %s was never launched\n", fault_kernel_name(i));
            missing++;
        }
    assert_true(fault_kernels() > 20);
    assert_int_equal(missing, 0);
}

/* What a process of its own does (--poison KERNEL): a fault that sticks, at the first launch of that kernel. */
static const char *poison;
static bool poison_hit;

static void after_fault(struct outcome *got, const struct work *w, const struct outcome *want)
{
    struct device *d;
    int rc = device_cuda_open(&d, 0, NULL);
    if (rc) {
        assert_int_equal(rc, -EIO);
        assert_non_null(strstr(pen_last_error(), "to new processes only"));
        print_message("  %s\n", pen_last_error());
        MUST(device_host_open(&d, NULL));
    }
    MUST(job_run(d, w, got));
    outcome_equal(got, want, w);
    d->ops->close(d);
}

static void poisoned(void **state)
{
    const struct work *w = *state;
    struct outcome *got = outcome_new();
    struct device *d, *other;
    char why[1024];
    MUST(device_cuda_open(&d, 0, NULL));
    fault_poison(poison);
    int rc = job_run(d, w, got);
    err_copy(why);
    poison_hit = fault_hit();
    fault_none();
    if (poison_hit) {
        bool stage = strstr(why, "queued until then: ") || strstr(why, "earlier work on this GPU");
        if (rc != -EIO || !strstr(why, "cuda:0") || !stage)
            fail_msg("out of bounds at %s: %d, %s", poison, rc, why);
        print_message("  %s: %s\n", poison, why);
        assert_int_equal(device_cuda_open(&other, 0, NULL), -EIO);
        assert_non_null(strstr(pen_last_error(), "still open"));
    }
    d->ops->close(d);
    if (poison_hit)
        after_fault(got, w, &wants[w - works]);
}

enum { POISON_MISSED = 3 };

static int poisoned_run(const char *kernel, enum curve_id curve)
{
    poison = kernel;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(poisoned, &works[curve])};
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    return rc ? 1 : poison_hit ? 0 : POISON_MISSED;
}

static int poisoned_process(const char *kernel, const char *curve)
{
    char self[] = "/proc/self/exe", how[] = "--poison", *argv[] = {self, how, strdup(kernel), strdup(curve), NULL};
    pid_t pid;
    int status;
    assert_int_equal(posix_spawn(&pid, self, NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    free(argv[2]);
    free(argv[3]);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void sticky_faults(void **state)
{
    (void)state;
    size_t n = fault_kernels(), done = 0;
    for (size_t i = 0; i < n; i++) { /* the curves in turn: a template has one launch site */
        int rc = poisoned_process(fault_kernel_name(i), i % CURVES ? "1" : "0");
        if (rc != 0 && rc != POISON_MISSED)
            fail_msg("out of bounds at %s: see above", fault_kernel_name(i));
        done += rc == 0;
    }
    print_message("%zu kernels wrote out of bounds in turn\n", done);
    assert_true(done > 15);
}

int main(int argc, char **argv)
{
    struct device *host;
    if (device_cuda_count() == 0)
        return 77;
    rng_start();
    MUST(device_host_open(&host, NULL));
    for (int i = 0; i < CURVES; i++)
        work_make(&works[i], &wants[i], curve_get((enum curve_id)i), host);
    host->ops->close(host);
    if (argc == 4 && strcmp(argv[1], "--poison") == 0)
        return poisoned_run(argv[2], argv[3][0] == '1' ? (enum curve_id)1 : (enum curve_id)0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(refusals), cmocka_unit_test(refusals_wide),
                                       cmocka_unit_test(all_reached), cmocka_unit_test(sticky_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
