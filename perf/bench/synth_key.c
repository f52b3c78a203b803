#include "perf/bench/synth_key.h"

#include <stdlib.h>
#include <string.h>

#include "perf/clock.h"
#include "perf/err.h"

enum { CHUNK = 1 << 20, PIECE = 1 << 14 };

struct key_sizes synth_sizes(const struct synth *s)
{
    const struct shape *h = &s->shape;
    return (struct key_sizes){
        .curve = s->curve,
        .n_vars = s->n_vars,
        .n_public = h->inputs - 1,
        .domain_size = s->domain,
        .points = {h->inputs + h->dense_a, 1 + h->dense_b, 1 + h->dense_b, h->aux, s->domain},
        .nonzeros = h->terms_a + h->terms_b,
        .n_dict = s->csr.n_dict,
        .full_share = (double)(h->full + h->inputs) / (double)s->n_vars,
        .witness_bytes = s->input_bytes,
    };
}

/* Device buffers for one chunk. */
struct maker {
    struct synth *s;
    struct device *device;
    struct stream *stream;
    struct scalar *scalars;
    struct dbuf d_scalars, d_points;
    const struct fr *from; /* of the chunk */
    size_t n;
};

static void to_plain(void *arg, size_t task, unsigned slot)
{
    struct maker *m = arg;
    size_t from = task * PIECE, to = from + PIECE < m->n ? from + PIECE : m->n;
    (void)slot;
    for (size_t i = from; i < to; i++)
        m->s->curve->fr_to_scalar(&m->scalars[i], &m->from[i]);
}

/* out[i] = x[i] times the generator. */
static int points_make(struct maker *m, enum group g, const struct fr *x, size_t n, uint8_t *out)
{
    const struct device_ops *ops = m->device->ops;
    const struct curve *cv = m->s->curve;
    size_t bytes = cv->point_bytes[g];
    int rc = 0;
    for (size_t at = 0; at < n && !rc; at += CHUNK) {
        m->n = n - at < CHUNK ? n - at : CHUNK;
        m->from = x + at;
        threads_run(m->s->threads, to_plain, m, (m->n + PIECE - 1) / PIECE);
        struct mul_base_args args = {
            .curve = cv, .group = g, .base = cv->generator[g], .scalars = m->d_scalars, .out = m->d_points, .n = m->n};
        rc = ops->copy_h2d(m->stream, m->d_scalars, m->scalars, m->n * sizeof *m->scalars);
        rc = rc ? rc : ops->mul_base(m->stream, &args);
        rc = rc ? rc : ops->copy_d2h(m->stream, out + at * bytes, m->d_points, m->n * bytes);
        rc = rc ? rc : ops->stream_sync(m->stream);
    }
    return rc;
}

static int maker_open(struct maker *m, struct synth *s, struct device *device)
{
    *m = (struct maker){.s = s, .device = device, .scalars = malloc(CHUNK * sizeof *m->scalars)};
    if (!m->scalars)
        return err_fail(-ENOMEM, "no memory for a chunk of scalars");
    int rc = device->ops->stream_open(device, &m->stream, NULL);
    rc = rc ? rc : device->ops->alloc(device, &m->d_scalars, CHUNK * sizeof *m->scalars);
    return rc ? rc : device->ops->alloc(device, &m->d_points, (size_t)CHUNK * s->curve->point_bytes[GROUP_G2]);
}

static void maker_close(struct maker *m)
{
    if (m->stream)
        m->device->ops->stream_close(m->stream);
    if (m->d_scalars.bytes)
        m->device->ops->free(m->device, m->d_scalars);
    if (m->d_points.bytes)
        m->device->ops->free(m->device, m->d_points);
    free(m->scalars);
}

/* Points of one part, then bases of them. Memory of resident ones is used again for the next part. */
static int part_make(struct synth_key *k, struct maker *m, int part, const struct residency_plan *plan, void **stage,
                     size_t *stage_bytes)
{
    struct synth *s = m->s;
    const struct fr *x[GROTH16_PARTS] = {s->a, s->b, s->b, s->l + s->shape.inputs, s->h};
    size_t n[GROTH16_PARTS] = {s->shape.inputs + s->shape.dense_a, s->n_b, s->n_b, s->shape.aux, s->domain};
    enum group g = part == PART_B2 ? GROUP_G2 : GROUP_G1;
    size_t bytes = n[part] * s->curve->point_bytes[g];
    bool resident = plan->part[part] == PLACE_DEVICE;
    uint64_t begin_ns = clock_now_ns();
    if (!*stage || *stage_bytes < bytes || !resident) {
        if (*stage && resident) {
            synth_memory_free(*stage, *stage_bytes);
            *stage = NULL;
        }
        void *p = synth_memory(bytes);
        if (!p)
            return -ENOMEM;
        if (resident) {
            *stage = p;
            *stage_bytes = bytes;
        } else {
            k->host[part] = p;
            k->host_bytes[part] = bytes;
            k->streamed_bytes += bytes;
        }
    }
    uint8_t *to = resident ? *stage : k->host[part];
    int rc = points_make(m, g, x[part], n[part], to);
    k->make_s += (double)(clock_now_ns() - begin_ns) * 1e-9;
    begin_ns = clock_now_ns();
    if (!rc && !resident)
        rc = k->device->ops->host_register(k->device, to, bytes);
    struct bases_args args = {.curve = s->curve,
                              .group = g,
                              .points = to,
                              .n = n[part],
                              .resident = resident,
                              .multiples = part == PART_H ? plan->multiples : 1};
    if (!rc)
        rc = k->device->ops->bases_open(k->device, &k->parts.bases[part], &args);
    k->load_s += (double)(clock_now_ns() - begin_ns) * 1e-9;
    return rc;
}

static void point_of(const struct curve *cv, enum group g, struct point *p, const struct fr *x)
{
    struct scalar plain;
    cv->fr_to_scalar(&plain, x);
    cv->mul(g, p, &cv->generator[g], &plain);
}

/* The verifying key, and a zkey of sizes for the engine. */
static int head_make(struct synth_key *k, struct synth *s, struct maker *m)
{
    static const uint8_t nothing[1];
    const struct curve *cv = s->curve;
    struct zkey *z = calloc(1, sizeof *z);
    uint8_t *ic = malloc(s->shape.inputs * cv->point_bytes[GROUP_G1]);
    k->zkey = z;
    k->vk = (struct vk){.curve = cv, .n_public = s->shape.inputs - 1, .ic = calloc(s->shape.inputs, sizeof *k->vk.ic)};
    if (!z || !ic || !k->vk.ic || file_map_wrap(&z->map, "the synthetic key", nothing, 1)) {
        free(ic);
        return err_fail(-ENOMEM, "no memory for a verifying key");
    }
    z->curve = cv;
    z->n_vars = (uint32_t)s->n_vars;
    z->n_public = (uint32_t)(s->shape.inputs - 1);
    z->domain_size = (uint32_t)s->domain;
    z->log_domain = s->shape.log_domain;
    point_of(cv, GROUP_G1, &z->alpha1, &s->t.alpha);
    point_of(cv, GROUP_G1, &z->beta1, &s->t.beta);
    point_of(cv, GROUP_G2, &z->beta2, &s->t.beta);
    point_of(cv, GROUP_G1, &z->delta1, &s->t.delta);
    point_of(cv, GROUP_G2, &z->delta2, &s->t.delta);
    z->gamma2 = cv->generator[GROUP_G2];
    k->vk.alpha1 = z->alpha1;
    k->vk.beta2 = z->beta2;
    k->vk.gamma2 = z->gamma2;
    k->vk.delta2 = z->delta2;
    int rc = points_make(m, GROUP_G1, s->l, s->shape.inputs, ic);
    for (size_t i = 0; i < s->shape.inputs && !rc; i++)
        point_load(cv, GROUP_G1, &k->vk.ic[i], ic + i * cv->point_bytes[GROUP_G1]);
    free(ic);
    return rc;
}

static void scalars_free(struct fr **x, size_t n)
{
    synth_memory_free(*x, n * sizeof **x);
    *x = NULL;
}

int synth_key_make(struct synth_key *k, struct synth *s, struct device *device, const struct residency_plan *plan,
                   bool rows)
{
    *k = (struct synth_key){.device = device};
    k->parts.rows = rows ? s->rows : 0;
    struct maker m;
    void *stage = NULL;
    size_t stage_bytes = 0;
    int rc = maker_open(&m, s, device);
    rc = rc ? rc : head_make(k, s, &m);
    for (unsigned i = 0; i < CSR_MATRICES && !rc && !rows; i++) {
        struct matrix_args args = csr_matrix_args(&s->csr, (enum csr_which)i, plan->matrices_on_device);
        rc = device->ops->matrix_open(device, &k->parts.matrix[i], &args);
        k->streamed_bytes += plan->matrices_on_device ? 0 : s->csr.matrix[i].n_terms * 8 + (s->rows + 1) * 8;
    }
    /* the largest first, so that its staging memory serves all */
    static const int order[GROTH16_PARTS] = {PART_H, PART_L, PART_A, PART_B2, PART_B1};
    rc = rc ? rc : synth_quotient(s);
    for (int i = 0; i < GROTH16_PARTS && !rc; i++) {
        rc = part_make(k, &m, order[i], plan, &stage, &stage_bytes);
        if (order[i] == PART_H)
            scalars_free(&s->h, s->domain);
        if (order[i] == PART_L)
            scalars_free(&s->l, s->n_vars);
        if (order[i] == PART_A)
            scalars_free(&s->a, s->n_vars);
    }
    scalars_free(&s->b, s->n_b);
    synth_memory_free(stage, stage_bytes);
    maker_close(&m);
    if (rc)
        synth_key_close(k);
    return rc;
}

void synth_key_close(struct synth_key *k)
{
    for (int i = 0; i < GROTH16_PARTS; i++) {
        if (k->parts.bases[i])
            k->device->ops->bases_close(k->parts.bases[i]);
        if (k->host[i])
            (void)k->device->ops->host_unregister(k->device, k->host[i]);
        synth_memory_free(k->host[i], k->host_bytes[i]);
    }
    for (int i = 0; i < CSR_MATRICES; i++) {
        if (k->parts.matrix[i])
            k->device->ops->matrix_close(k->parts.matrix[i]);
    }
    vk_close(&k->vk);
    zkey_close(k->zkey);
    *k = (struct synth_key){0};
}
