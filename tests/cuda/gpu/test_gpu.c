/* Claim: every operation of the CUDA device gives what the host device gives, bit for bit, on random, structured and
 * degenerate inputs, on one handle again and again. Skipped (77) without a GPU.
 *     PENSTOCK_GPU_SMALL=1   small sizes only, for compute-sanitizer */
#include <cuda_runtime_api.h>

#include "fault_wrap.h"
#include "gpu_test.h"

static struct pair both;
static bool small_only;

/* ---- transforms ---- */

static void ntt_case(const struct curve *c, struct ntt_args a)
{
    size_t n = (a.batch ? a.batch : 1) << a.log_n;
    struct fr *want = malloc(n * sizeof *want), *got = malloc(n * sizeof *got);
    frs_fill(want, n, c, (int)(rng() % 3));
    a.curve = c;
    a.data = on_gpu(&both, want, n * sizeof *want);
    MUST(both.gpu->ops->ntt(both.g, &a));
    from_gpu(&both, got, a.data, n * sizeof *got);
    gpu_done(&both, a.data);
    a.data = device_wrap(want, n * sizeof *want);
    MUST(both.host->ops->ntt(both.h, &a));
    if (memcmp(got, want, n * sizeof *want))
        fail_msg("ntt %s 2^%u batch %zu order %d inverse %d shift %llx", c->title, a.log_n, a.batch, a.order, a.inverse,
                 (unsigned long long)a.shift.l[0]);
    free(want);
    free(got);
}

static void ntt_orders(const struct curve *c, unsigned log_n, size_t batch)
{
    struct ntt_args a = {.log_n = log_n, .batch = batch};
    c->fr_root(&a.root, log_n);
    for (int v = 0; v < 12; v++) {
        a.inverse = v & 1;
        a.order = (enum ntt_order)(v / 4);
        if (v & 2)
            frs_fill(&a.shift, 1, c, 0);
        else
            c->fr_from_u64(&a.shift, 1);
        ntt_case(c, a);
    }
}

static void ntt(void **state)
{
    (void)state;
    for (int i = 0; i < CURVES; i++) {
        const struct curve *c = curve_get((enum curve_id)i);
        for (unsigned log_n = 0; log_n <= (small_only ? 12u : 16u); log_n++)
            ntt_orders(c, log_n, log_n < 6 ? 1 + rng() % 40 : log_n < 12 ? 1 + rng() % 3 : 0);
        for (unsigned log_n = 17; log_n <= 23 && !small_only; log_n++) {
            struct ntt_args a = {.log_n = log_n, .order = (enum ntt_order)(log_n % 3), .inverse = log_n & 1};
            c->fr_root(&a.root, log_n);
            frs_fill(&a.shift, 1, c, 0);
            ntt_case(c, a);
            c->fr_from_u64(&a.shift, 1);
            a.inverse = !a.inverse;
            ntt_case(c, a);
        }
    }
}

static void coset_case(const struct curve *c, unsigned log_n, size_t batch)
{
    struct ntt_coset_args a = {.curve = c, .log_n = log_n, .batch = batch};
    size_t n = (batch ? batch : 1) << log_n;
    struct fr *want = malloc(n * sizeof *want), *got = malloc(n * sizeof *got);
    frs_fill(want, n, c, (int)(rng() % 3));
    c->fr_root(&a.root, log_n);
    frs_fill(&a.shift, 1, c, 0);
    a.data = on_gpu(&both, want, n * sizeof *want);
    MUST(both.gpu->ops->ntt_coset(both.g, &a));
    from_gpu(&both, got, a.data, n * sizeof *got);
    gpu_done(&both, a.data);
    a.data = device_wrap(want, n * sizeof *want);
    MUST(both.host->ops->ntt_coset(both.h, &a));
    if (memcmp(got, want, n * sizeof *want))
        fail_msg("ntt_coset %s 2^%u batch %zu", c->title, log_n, batch);
    free(want);
    free(got);
}

static void ntt_coset(void **state)
{
    (void)state;
    for (int i = 0; i < CURVES; i++)
        for (unsigned log_n = 0; log_n <= (small_only ? 12u : 22u); log_n++)
            coset_case(curve_get((enum curve_id)i), log_n, log_n < 12 ? 1 + rng() % 3 : 0);
}

/* ---- sums of points ---- */

static struct bases *bases_on(struct device *d, const struct known_points *k, bool resident, unsigned multiples)
{
    struct bases *b;
    struct bases_args a = {.curve = k->curve,
                           .group = k->group,
                           .points = k->packed,
                           .n = k->n,
                           .resident = resident,
                           .multiples = multiples};
    MUST(d->ops->bases_open(d, &b, &a));
    return b;
}

static void msm_run(struct device *d, struct stream *s, const struct curve *c, struct dbuf x, size_t n,
                    struct bases *const *b, const size_t *first, struct point *got, size_t sets)
{
    struct msm_set set[8];
    memset(got, 0xa5, sets * sizeof *got);
    for (size_t i = 0; i < sets; i++)
        set[i] = (struct msm_set){b[i], first[i], &got[i]};
    MUST(d->ops->msm(s, &(struct msm_args){.curve = c, .scalars = x, .n = n, .sets = set, .n_sets = sets}));
    MUST(d->ops->stream_sync(s));
}

/* One set of points as resident (all multiples that fit; none; three) and streamed bases, in one call. */
static void msm_points(const struct known_points *k, unsigned first_kind, unsigned kinds)
{
    size_t n = k->n + 5, first[4];
    struct scalar *x = malloc(n * sizeof *x);
    struct bases *b[4] = {bases_on(both.gpu, k, true, 0), bases_on(both.gpu, k, true, 1),
                          bases_on(both.gpu, k, true, 3), bases_on(both.gpu, k, false, 0)};
    struct bases *h = bases_on(both.host, k, true, 0);
    for (unsigned kind = first_kind; kind < first_kind + kinds; kind++) {
        struct point want, got[4];
        scalars_fill(x, n, k->curve, (enum scalar_kind)(kind % SCALAR_KINDS));
        struct dbuf g = on_gpu(&both, x, n * sizeof *x);
        for (int i = 0; i < 4; i++)
            first[i] = rng() % 6;
        msm_run(both.gpu, both.g, k->curve, g, n, b, first, got, 4);
        gpu_done(&both, g);
        for (int i = 0; i < 4; i++) {
            msm_run(both.host, both.h, k->curve, device_wrap(x, n * sizeof *x), n, &h, &first[i], &want, 1);
            if (memcmp(&want, &got[i], sizeof want))
                fail_msg("msm %s G%d n %zu scalars of kind %u, variant %d", k->curve->title, k->group + 1, k->n,
                         kind % SCALAR_KINDS, i);
        }
    }
    for (int i = 0; i < 4; i++)
        both.gpu->ops->bases_close(b[i]);
    both.host->ops->bases_close(h);
    free(x);
}

static void msm(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 31, 33, 127, 255, 256, 257, 1023, 1025, 4095, 4097, 16385};
    for (int v = 0; v < CURVES * GROUPS; v++) {
        const struct curve *c = curve_get((enum curve_id)(v / 2));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= (small_only ? 257 : 20000); i++)
            for (int p = 0; p < POINT_KINDS; p++) {
                if (small_only && i % 3 != (size_t)p % 3)
                    continue;
                struct known_points k = known_points_make(c, (enum group)(v % 2), sizes[i], (enum point_kind)p);
                msm_points(&k, (unsigned)rng() % SCALAR_KINDS, small_only ? 2 : sizes[i] == 1025 ? SCALAR_KINDS : 3);
                known_points_free(&k);
            }
    }
}

static void sum_selected(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 9001};
    for (int v = 0; v < CURVES * GROUPS; v++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= (small_only ? 1000 : 10000); i++) {
            const struct curve *c = curve_get((enum curve_id)(v / 2));
            struct known_points k = known_points_make(c, (enum group)(v % 2), sizes[i], (enum point_kind)(rng() % 4));
            uint64_t *bits = malloc((sizes[i] / 64 + 1) * 8);
            for (size_t w = 0; w <= sizes[i] / 64; w++)
                bits[w] = i % 3 == 2 ? ~(uint64_t)0 : rng(); /* bits above n must not count */
            struct dbuf g = on_gpu(&both, bits, (sizes[i] / 64 + 1) * 8);
            struct bases *h = bases_on(both.host, &k, true, 0);
            struct point want, got;
            MUST(both.host->ops->sum_selected(
                both.h, &(struct sum_selected_args){h, device_wrap(bits, (sizes[i] / 64 + 1) * 8), &want}));
            for (int resident = 0; resident < 2; resident++) {
                struct bases *b = bases_on(both.gpu, &k, resident, 0);
                memset(&got, 0xa5, sizeof got);
                MUST(both.gpu->ops->sum_selected(both.g, &(struct sum_selected_args){b, g, &got}));
                MUST(both.gpu->ops->stream_sync(both.g));
                assert_memory_equal(&got, &want, sizeof want);
                both.gpu->ops->bases_close(b);
            }
            both.host->ops->bases_close(h);
            gpu_done(&both, g);
            known_points_free(&k);
            free(bits);
        }
}

static void mul_base(void **state)
{
    (void)state;
    for (int v = 0; v < CURVES * GROUPS; v++)
        for (int kind = 0; kind < SCALAR_KINDS; kind++) {
            const struct curve *c = curve_get((enum curve_id)(v / 2));
            enum group g = (enum group)(v % 2);
            size_t n = small_only ? 40 : 300 + rng() % 300, bytes = n * c->point_bytes[g];
            struct scalar *x = malloc(n * sizeof *x);
            unsigned char *want = malloc(bytes), *got = malloc(bytes);
            scalars_fill(x, n, c, (enum scalar_kind)kind);
            struct mul_base_args a = {.curve = c, .group = g, .base = c->generator[g], .n = n};
            a.scalars = device_wrap(x, n * sizeof *x);
            a.out = device_wrap(want, bytes);
            MUST(both.host->ops->mul_base(both.h, &a));
            a.scalars = on_gpu(&both, x, n * sizeof *x);
            a.out = on_gpu(&both, NULL, bytes);
            MUST(both.gpu->ops->mul_base(both.g, &a));
            from_gpu(&both, got, a.out, bytes);
            if (memcmp(got, want, bytes))
                fail_msg("mul_base %s G%d n %zu kind %d", c->title, g + 1, n, kind);
            gpu_done(&both, a.scalars);
            gpu_done(&both, a.out);
            free(x);
            free(want);
            free(got);
        }
}

/* A point off the curve, a number not below p, a point outside the subgroup where the host device knows one. */
static void plant(struct known_points *k, size_t at, unsigned fault)
{
    unsigned char *p = k->packed + at * k->curve->point_bytes[k->group];
    if (fault == 0)
        p[0] ^= 1;
    else
        memset(p + k->curve->fq_bytes - 8, 0xff, 8);
}

static void check_points(void **state)
{
    (void)state;
    for (int v = 0; v < CURVES * GROUPS * 4; v++) {
        const struct curve *c = curve_get((enum curve_id)(v / 2 % 2));
        struct known_points k = known_points_make(c, (enum group)(v % 2), small_only ? 70 : 700, POINTS_SPARSE);
        if (v / 4 < 3)
            plant(&k, rng() % k.n, (unsigned)v / 4 % 2);
        if (v / 4 == 2)
            plant(&k, rng() % k.n, 0);
        size_t bad[2] = {77, 77};
        enum point_fault fault[2] = {POINT_OK, POINT_OK};
        struct check_points_args a = {
            .curve = c, .group = k.group, .points = k.packed, .n = k.n, .subgroup = v % 3 != 0};
        a.bad = &bad[0];
        a.fault = &fault[0];
        MUST(both.host->ops->check_points(both.h, &a));
        a.bad = &bad[1];
        a.fault = &fault[1];
        MUST(both.gpu->ops->check_points(both.g, &a));
        MUST(both.gpu->ops->stream_sync(both.g));
        assert_int_equal(bad[0], bad[1]);
        assert_int_equal(fault[0], fault[1]);
        known_points_free(&k);
    }
}

/* ---- linear work ---- */

static void pointwise(void **state)
{
    (void)state;
    for (int v = 0; v < CURVES * 8; v++) {
        const struct curve *c = curve_get((enum curve_id)(v & 1));
        size_t n = 1 + rng() % 3000, bytes = n * sizeof(struct fr);
        struct fr *in[3], *want = malloc(bytes), *got = malloc(bytes);
        struct pointwise_args a = {.curve = c, .op = (enum pointwise_op)(v / 2 % 4), .n = n, .plain = v / 8};
        struct dbuf g[3];
        for (int i = 0; i < 3; i++) {
            in[i] = malloc(bytes);
            frs_fill(in[i], n, c, (int)(rng() % 4));
            g[i] = on_gpu(&both, in[i], bytes);
        }
        frs_fill(&a.k, 1, c, 0);
        a.a = device_wrap(in[0], bytes), a.b = device_wrap(in[1], bytes), a.c = device_wrap(in[2], bytes);
        a.out = device_wrap(want, bytes);
        MUST(both.host->ops->pointwise(both.h, &a));
        a.a = g[0], a.b = g[1], a.c = g[2];
        a.out = g[rng() % 3]; /* in place */
        MUST(both.gpu->ops->pointwise(both.g, &a));
        from_gpu(&both, got, a.out, bytes);
        assert_memory_equal(got, want, bytes);
        for (int i = 0; i < 3; i++) {
            gpu_done(&both, g[i]);
            free(in[i]);
        }
        free(want);
        free(got);
    }
}

static void spmv_case(const struct curve *c, size_t rows, size_t cols, size_t longest)
{
    struct matrix_args m = {.curve = c, .rows = rows, .cols = cols, .n_dict = 9};
    uint64_t *row = malloc((rows + 1) * sizeof *row);
    struct fr dict[9], zero = {{0}};
    row[0] = 0;
    for (size_t i = 0; i < rows; i++)
        row[i + 1] = row[i] + (rng() % 50 == 0 ? rng() % longest : rng() % 5);
    uint32_t *col = malloc((row[rows] + 1) * 4), *coef = malloc((row[rows] + 1) * 4);
    for (uint64_t e = 0; e < row[rows]; e++) {
        col[e] = (uint32_t)(rng() % cols);
        coef[e] = (uint32_t)(rng() % 9);
    }
    frs_fill(dict, 9, c, 0);
    memcpy(dict[0].l, c->fr->r2, sizeof zero.l);
    c->fr_sub(&dict[1], &zero, &dict[0]);
    m.row = row, m.col = col, m.coef = coef, m.dict = dict;
    size_t out_rows = rows + rng() % 20, bytes = (out_rows + 1) * sizeof(struct fr);
    struct scalar *w = malloc(cols * sizeof *w);
    struct fr *want = malloc(bytes), *got = malloc(bytes);
    scalars_fill(w, cols, c, SCALARS_WITNESS);
    struct matrix *h;
    struct spmv_args a = {.out_rows = out_rows};
    MUST(both.host->ops->matrix_open(both.host, &h, &m));
    a.matrix = h, a.w = device_wrap(w, cols * sizeof *w), a.out = device_wrap(want, bytes);
    MUST(both.host->ops->spmv(both.h, &a));
    for (int resident = 0; resident < 2; resident++) {
        struct matrix *g;
        m.resident = resident;
        MUST(both.gpu->ops->matrix_open(both.gpu, &g, &m));
        a.matrix = g, a.w = on_gpu(&both, w, cols * sizeof *w), a.out = on_gpu(&both, NULL, bytes);
        MUST(both.gpu->ops->spmv(both.g, &a));
        from_gpu(&both, got, a.out, bytes);
        assert_memory_equal(got, want, out_rows * sizeof *got);
        gpu_done(&both, a.w);
        gpu_done(&both, a.out);
        both.gpu->ops->matrix_close(g);
    }
    both.host->ops->matrix_close(h);
    free(row), free(col), free(coef), free(w), free(want), free(got);
}

static void spmv(void **state)
{
    (void)state;
    for (int i = 0; i < CURVES; i++) {
        const struct curve *c = curve_get((enum curve_id)i);
        spmv_case(c, 1, 1, 3);
        spmv_case(c, 100, 70, 200);
        spmv_case(c, small_only ? 300 : 20000, 3000, small_only ? 500 : 5000);
    }
}

/* ---- copies, errors ---- */

static void copies(void **state)
{
    (void)state;
    size_t page = 4096, bytes = (small_only ? 1 : 200) * page * 64;
    unsigned char *from = aligned_alloc(page, bytes), *to = malloc(bytes);
    assert_non_null(from);
    for (size_t i = 0; i < bytes; i += 8)
        memcpy(from + i, &(uint64_t){rng()}, 8);
    /* two ranges side by side: a copy across the seam must be cut there */
    size_t seam = bytes / 3 / page * page;
    MUST(both.gpu->ops->host_register(both.gpu, from, seam));
    MUST(both.gpu->ops->host_register(both.gpu, from + seam, bytes - seam));
    struct dbuf b = on_gpu(&both, NULL, bytes);
    for (size_t off = 0; off < 20; off += 7) {
        MUST(both.gpu->ops->copy_h2d(both.g, b, from + off, bytes - off));
        from_gpu(&both, to, b, bytes - off);
        assert_memory_equal(to, from + off, bytes - off);
    }
    MUST(both.gpu->ops->zero(both.g, b, bytes / 2));
    from_gpu(&both, to, b, bytes);
    for (size_t i = 0; i < bytes / 2; i++)
        assert_int_equal(to[i], 0);
    gpu_done(&both, b);
    MUST(both.gpu->ops->host_unregister(both.gpu, from + seam));
    MUST(both.gpu->ops->host_unregister(both.gpu, from));
    assert_int_equal(both.gpu->ops->host_unregister(both.gpu, from), -EINVAL);
    free(from);
    free(to);
}

static void refusals(void **state)
{
    (void)state;
    struct dbuf b;
    struct device *d;
    assert_int_equal(both.gpu->ops->alloc(both.gpu, &b, (size_t)1 << 50), -ENOMEM);
    assert_non_null(strstr(pen_last_error(), "MiB"));
    assert_int_equal(device_cuda_open(&d, 1000, NULL), -ENODEV);
    struct device_info info;
    MUST(both.gpu->ops->info(both.gpu, &info));
    assert_true(info.free_bytes <= info.memory_bytes && info.memory_bytes > 0);
    assert_string_equal(info.id, "cuda:0");
}

/* A device that may take 64 MiB: it refuses more with both figures, and streams what does not fit. */
static void memory_limit(void **state)
{
    (void)state;
    enum { LIMIT = 64 << 20, POINTS = 60000 };
    struct device *d;
    struct stream *s;
    struct device_info info;
    struct dbuf x;
    struct point got, want;
    size_t before, after, total, zero = 0;
    struct known_points k = known_points_make(curve_get(CURVE_BLS12_381), GROUP_G1, small_only ? 600 : POINTS, 0);
    struct scalar *scalars = malloc(k.n * sizeof *scalars);
    scalars_fill(scalars, k.n, k.curve, SCALARS_RANDOM);
    assert_int_equal(cudaMemGetInfo(&before, &total), 0);
    MUST(device_cuda_open(&d, 0, &(struct device_opts){.memory_limit = LIMIT}));
    MUST(d->ops->info(d, &info));
    assert_true(info.free_bytes <= LIMIT);
    assert_int_equal(d->ops->alloc(d, &x, LIMIT + 1), -ENOMEM);
    assert_non_null(strstr(pen_last_error(), "MiB"));
    MUST(d->ops->stream_open(d, &s, NULL));
    MUST(d->ops->alloc(d, &x, k.n * sizeof *scalars));
    MUST(d->ops->copy_h2d(s, x, scalars, k.n * sizeof *scalars));
    struct bases *b = bases_on(d, &k, false, 0), *h = bases_on(both.host, &k, true, 0);
    struct msm_set set = {b, 0, &got};
    struct msm_args a = {k.curve, x, k.n, &set, 1};
    MUST(d->ops->reserve(s, &(struct reserve_args){.msm = &a, .n_msm = 1}));
    assert_int_equal(cudaMemGetInfo(&after, &total), 0);
    for (int i = 0; i < 3; i++) { /* none of them takes more */
        size_t now;
        msm_run(d, s, k.curve, x, k.n, &b, &zero, &got, 1);
        assert_int_equal(cudaMemGetInfo(&now, &total), 0);
        assert_int_equal(now, after);
    }
    assert_true(before - after < LIMIT + (16 << 20)); /* the driver rounds each allocation up to 2 MiB */
    msm_run(both.host, both.h, k.curve, device_wrap(scalars, k.n * sizeof *scalars), k.n, &h, &zero, &want, 1);
    assert_memory_equal(&got, &want, sizeof want);
    d->ops->bases_close(b);
    both.host->ops->bases_close(h);
    d->ops->free(d, x);
    d->ops->stream_close(s);
    d->ops->close(d);
    known_points_free(&k);
    free(scalars);
}

/* The same handle, inputs changing: nothing of an earlier call may show. */
static void again(void **state)
{
    (void)state;
    for (int i = 0; i < (small_only ? 3 : 100); i++) {
        const struct curve *c = curve_get((enum curve_id)(i & 1));
        struct known_points k =
            known_points_make(c, (enum group)(i / 2 & 1), rng() % 300, (enum point_kind)(rng() % 4));
        msm_points(&k, (unsigned)rng() % SCALAR_KINDS, 1);
        known_points_free(&k);
        ntt_orders(c, (unsigned)(rng() % 12), 1);
        coset_case(c, (unsigned)(rng() % 13), 1);
        spmv_case(c, 1 + rng() % 200, 1 + rng() % 200, 90);
    }
}

int main(void)
{
    if (device_cuda_count() == 0)
        return 77;
    small_only = getenv("PENSTOCK_GPU_SMALL") != NULL;
    fault_fill_allocations(!small_only); /* poison would hide from initcheck what nobody wrote */
    rng_start();
    pair_open(&both);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),       cmocka_unit_test(refusals),     cmocka_unit_test(pointwise),
        cmocka_unit_test(spmv),         cmocka_unit_test(ntt),          cmocka_unit_test(ntt_coset),
        cmocka_unit_test(mul_base),     cmocka_unit_test(msm),          cmocka_unit_test(sum_selected),
        cmocka_unit_test(check_points), cmocka_unit_test(memory_limit), cmocka_unit_test(again),
    };
    int bad = cmocka_run_group_tests(tests, NULL, NULL);
    pair_close(&both);
    return bad;
}
