#include "prover/setup.h"

#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/qap.h"
#include "prover/vk_json.h"
#include "prover/zkey_write.h"

/* Points at a time: 6 MiB of G2 on BLS12-381 where the device is the host, 50 MiB on a GPU, which needs more to be
 * busy. Two chunks in turn, each with a stream of its own: one is made while the other is written and hashed. */
enum { CHUNK_HOST = 1 << 15, CHUNK_GPU = 1 << 18, CHUNKS = 2, SECTIONS = 10, MONOMIALS = 1 << 20, PAGE = 4096 };

struct chunk {
    struct stream *stream;
    struct scalar *scalars;
    uint8_t *points; /* of the larger group */
    struct dbuf d_scalars, d_points;
    bool registered[2];
    size_t at, n; /* points that are being made */
};

struct setup {
    struct device *device;
    struct chunk chunk[CHUNKS];
    size_t chunk_points;
    const struct curve *curve;
    const struct r1cs *r1cs;
    const struct trapdoor *t;
    struct zkey_writer *out;
    struct qap q;
    struct vk vk;
    struct point beta1, delta1;
    struct scalar coef; /* the last one written, and its form in the file */
    struct fr coef_twice;
    bool coef_known;
    size_t points_done, points_due;
    groth16_progress *progress;
    void *ctx;
};

/* Where the points of one call go: to the writer, or (IC) also into the vk. */
struct sink {
    unsigned to;
    struct point *keep; /* or NULL */
};

/* Queue points [at, at + n) of a call on a chunk. */
static int chunk_begin(struct setup *u, struct chunk *c, enum group g, const struct fr *k, size_t at, size_t n)
{
    const struct device_ops *ops = u->device->ops;
    c->at = at;
    c->n = n;
    for (size_t i = 0; i < n; i++)
        u->curve->fr_to_scalar(&c->scalars[i], &k[at + i]);
    struct mul_base_args args = {.curve = u->curve,
                                 .group = g,
                                 .base = u->curve->generator[g],
                                 .scalars = c->d_scalars,
                                 .out = c->d_points,
                                 .n = n};
    int rc = ops->copy_h2d(c->stream, c->d_scalars, c->scalars, n * sizeof *c->scalars);
    if (!rc)
        rc = ops->mul_base(c->stream, &args);
    if (!rc)
        rc = ops->copy_d2h(c->stream, c->points, c->d_points, n * u->curve->point_bytes[g]);
    return rc;
}

static int chunk_end(struct setup *u, struct chunk *c, enum group g, struct sink sink)
{
    size_t size = u->curve->point_bytes[g];
    int rc = u->device->ops->stream_sync(c->stream);
    if (rc)
        return rc;
    zkey_writer_points(u->out, g, c->points, c->n, sink.to);
    for (size_t i = 0; i < c->n && sink.keep; i++)
        point_load(u->curve, g, &sink.keep[c->at + i], c->points + i * size);
    u->points_done += c->n;
    if (u->progress)
        u->progress(u->ctx, "points", (double)u->points_done / (double)u->points_due);
    return 0;
}

static int points_make(struct setup *u, enum group g, const struct fr *k, size_t n, struct sink sink)
{
    size_t begun = 0, chunks = (n + u->chunk_points - 1) / u->chunk_points;
    int rc = 0;
    for (size_t done = 0; done < chunks && !rc; done++) {
        for (; begun < chunks && begun < done + CHUNKS && !rc; begun++) {
            size_t at = begun * u->chunk_points, m = n - at < u->chunk_points ? n - at : u->chunk_points;
            rc = chunk_begin(u, &u->chunk[begun % CHUNKS], g, k, at, m);
        }
        if (!rc)
            rc = chunk_end(u, &u->chunk[done % CHUNKS], g, sink);
    }
    return rc ? rc : zkey_writer_status(u->out);
}

static void secret_point(const struct setup *u, enum group g, struct point *p, const struct fr *k)
{
    struct scalar s;
    u->curve->fr_to_scalar(&s, k);
    u->curve->mul(g, p, &u->curve->generator[g], &s);
}

static void header_point(struct setup *u, enum group g, const struct point *p, const struct point *hashed)
{
    uint8_t packed[192];
    point_store(u->curve, g, packed, p);
    zkey_writer_points(u->out, g, packed, 1, ZKEY_TO_FILE);
    point_store(u->curve, g, packed, hashed);
    zkey_writer_points(u->out, g, packed, 1, ZKEY_TO_HASH);
}

/* Sections 1 and 2. The circuit hash is that of the key before any contribution, where delta is the generator. */
static void write_header(struct setup *u)
{
    const struct curve *cv = u->curve;
    const struct point *g1 = &cv->generator[GROUP_G1], *g2 = &cv->generator[GROUP_G2];
    zkey_writer_begin(u->out, 1, 4);
    zkey_writer_u32(u->out, 1);
    zkey_writer_begin(u->out, 2,
                      8 + cv->fq_bytes + 32 + 12 + 3 * cv->point_bytes[GROUP_G1] + 3 * cv->point_bytes[GROUP_G2]);
    zkey_writer_u32(u->out, cv->fq_bytes);
    zkey_writer_put(u->out, cv->fq->p, cv->fq_bytes);
    zkey_writer_u32(u->out, 32);
    zkey_writer_put(u->out, cv->fr->p, 32);
    zkey_writer_u32(u->out, (uint32_t)u->q.n_vars);
    zkey_writer_u32(u->out, (uint32_t)u->q.n_public);
    zkey_writer_u32(u->out, (uint32_t)u->q.domain_size);
    secret_point(u, GROUP_G1, &u->vk.alpha1, &u->t->alpha);
    secret_point(u, GROUP_G1, &u->beta1, &u->t->beta);
    secret_point(u, GROUP_G2, &u->vk.beta2, &u->t->beta);
    u->vk.gamma2 = *g2;
    secret_point(u, GROUP_G1, &u->delta1, &u->t->delta);
    secret_point(u, GROUP_G2, &u->vk.delta2, &u->t->delta);
    header_point(u, GROUP_G1, &u->vk.alpha1, &u->vk.alpha1);
    header_point(u, GROUP_G1, &u->beta1, &u->beta1);
    header_point(u, GROUP_G2, &u->vk.beta2, &u->vk.beta2);
    header_point(u, GROUP_G2, g2, g2);
    header_point(u, GROUP_G1, &u->delta1, g1);
    header_point(u, GROUP_G2, &u->vk.delta2, g2);
}

static size_t n_coefs(const struct setup *u)
{
    return u->r1cs->n_terms[0] + u->r1cs->n_terms[1] + u->q.n_public + 1;
}

static void write_coef(struct setup *u, uint32_t matrix, uint32_t row, uint32_t wire, const struct fr *twice)
{
    uint8_t entry[44];
    memcpy(entry, &matrix, 4);
    memcpy(entry + 4, &row, 4);
    memcpy(entry + 8, &wire, 4);
    memcpy(entry + 12, twice, 32);
    zkey_writer_put(u->out, entry, sizeof entry);
}

/* v -> v R^2. Most coefficients are the one before. */
static const struct fr *coef_twice(struct setup *u, const struct scalar *plain)
{
    struct fr r2, coef;
    memcpy(r2.l, u->curve->fr->r2, sizeof r2.l);
    if (memcmp(plain, &u->coef, sizeof *plain) != 0 || !u->coef_known) {
        u->curve->fr_from_scalar(&coef, plain);
        u->curve->fr_mul(&u->coef_twice, &coef, &r2);
        u->coef = *plain;
        u->coef_known = true;
    }
    return &u->coef_twice;
}

/* Section 4: row by row A then B, then one A term per public wire. */
static int write_coefs(struct setup *u)
{
    if (n_coefs(u) > UINT32_MAX)
        return err_fail(-EINVAL, "%zu coefficients: a .zkey counts them with 32 bits", n_coefs(u));
    zkey_writer_begin(u->out, 4, 4 + 44 * (uint64_t)n_coefs(u));
    zkey_writer_u32(u->out, (uint32_t)n_coefs(u));
    struct r1cs_cursor cursor = r1cs_begin(u->r1cs);
    struct r1cs_row row;
    for (uint32_t i = 0; r1cs_next(&cursor, &row); i++) {
        for (uint32_t m = 0; m < 2; m++) {
            for (uint32_t k = 0; k < row.lc[m].n; k++) {
                struct scalar plain = r1cs_term_coef(&row.lc[m], k);
                write_coef(u, m, i, r1cs_term_wire(&row.lc[m], k), coef_twice(u, &plain));
            }
        }
    }
    for (uint32_t s = 0; s <= u->q.n_public; s++)
        write_coef(u, 0, u->r1cs->n_constraints + s, s, coef_twice(u, &(struct scalar){{1}}));
    return zkey_writer_status(u->out);
}

/* snarkjs hashes H in the monomial basis, tau^(n+i) - tau^i. It takes n - 1 of them, but whole chunks of 2^14, so one
 * more where n - 1 is above that. */
static int hash_monomials(struct setup *u)
{
    const struct curve *cv = u->curve;
    size_t n = u->q.domain_size, count = n - 1 > (1 << 14) ? n : n - 1;
    zkey_writer_hash_u32(u->out, (uint32_t)(n - 1));
    struct fr *k = malloc(MONOMIALS * sizeof *k), z = u->t->tau, one, power;
    if (!k)
        return err_fail(-ENOMEM, "no memory for the circuit hash");
    cv->fr_from_u64(&one, 1);
    for (unsigned i = 0; i < u->q.log_domain; i++)
        cv->fr_mul(&z, &z, &z);
    cv->fr_sub(&z, &z, &one);
    power = z;
    int rc = 0;
    for (size_t at = 0; at < count && !rc; at += MONOMIALS) {
        size_t m = count - at < MONOMIALS ? count - at : MONOMIALS;
        for (size_t i = 0; i < m; i++) {
            k[i] = power;
            cv->fr_mul(&power, &power, &u->t->tau);
        }
        rc = points_make(u, GROUP_G1, k, m, (struct sink){.to = ZKEY_TO_HASH});
    }
    free(k);
    return rc;
}

static int write_section(struct setup *u, uint32_t id, enum group g, const struct fr *k, size_t n, struct sink sink)
{
    zkey_writer_begin(u->out, id, (uint64_t)n * u->curve->point_bytes[g]);
    if (sink.to & ZKEY_TO_HASH)
        zkey_writer_hash_u32(u->out, (uint32_t)n);
    return points_make(u, g, k, n, sink);
}

static int write_all(struct setup *u)
{
    const struct qap *q = &u->q;
    const struct sink both = {.to = ZKEY_TO_FILE | ZKEY_TO_HASH};
    size_t first = q->n_public + 1;
    unsigned char digest[64];
    write_header(u);
    int rc = write_coefs(u);
    if (!rc)
        rc = write_section(u, 3, GROUP_G1, q->l, first, (struct sink){both.to, u->vk.ic});
    if (!rc)
        rc = write_section(u, 9, GROUP_G1, q->h, q->domain_size, (struct sink){.to = ZKEY_TO_FILE});
    if (!rc)
        rc = hash_monomials(u);
    if (!rc)
        rc = write_section(u, 8, GROUP_G1, q->l + first, q->n_vars - first, both);
    if (!rc)
        rc = write_section(u, 5, GROUP_G1, q->a, q->n_vars, both);
    if (!rc)
        rc = write_section(u, 6, GROUP_G1, q->b, q->n_vars, both);
    if (!rc)
        rc = write_section(u, 7, GROUP_G2, q->b, q->n_vars, both);
    if (!rc)
        rc = zkey_writer_hash(u->out, digest);
    if (rc)
        return rc;
    zkey_writer_begin(u->out, 10, sizeof digest + 4);
    zkey_writer_put(u->out, digest, sizeof digest);
    zkey_writer_u32(u->out, 0);
    return zkey_writer_status(u->out);
}

/* Registered memory comes off a GPU six times as fast; where it cannot be had the copies are slower, no more. */
static int chunk_open(struct setup *u, struct chunk *c)
{
    const struct device_ops *ops = u->device->ops;
    size_t scalars = u->chunk_points * sizeof *c->scalars, points = u->chunk_points * u->curve->point_bytes[GROUP_G2];
    int rc = ops->stream_open(u->device, &c->stream, &(struct stream_opts){0});
    if (!rc)
        rc = ops->alloc(u->device, &c->d_scalars, scalars);
    if (!rc)
        rc = ops->alloc(u->device, &c->d_points, points);
    if (rc)
        return rc;
    c->scalars = aligned_alloc(PAGE, (scalars + PAGE - 1) / PAGE * PAGE);
    c->points = aligned_alloc(PAGE, (points + PAGE - 1) / PAGE * PAGE);
    if (!c->scalars || !c->points)
        return err_fail(-ENOMEM, "no memory for a chunk of points");
    c->registered[0] = ops->host_register(u->device, c->scalars, scalars) == 0;
    c->registered[1] = ops->host_register(u->device, c->points, points) == 0;
    return 0;
}

static void chunk_close(struct setup *u, struct chunk *c)
{
    const struct device_ops *ops = u->device->ops;
    if (c->stream)
        ops->stream_close(c->stream);
    if (c->registered[0])
        ops->host_unregister(u->device, c->scalars);
    if (c->registered[1])
        ops->host_unregister(u->device, c->points);
    if (c->d_points.bytes)
        ops->free(u->device, c->d_points);
    if (c->d_scalars.bytes)
        ops->free(u->device, c->d_scalars);
    free(c->points);
    free(c->scalars);
}

static int setup_begin(struct setup *u, FILE *zkey)
{
    struct device_info info;
    int rc = u->device->ops->info(u->device, &info);
    if (!rc)
        rc = qap_open(&u->q, u->r1cs, u->t);
    if (!rc)
        rc = zkey_writer_open(&u->out, zkey, u->curve, SECTIONS);
    if (rc)
        return rc;
    size_t most = u->q.n_vars > u->q.domain_size ? u->q.n_vars : u->q.domain_size;
    u->chunk_points = info.flags & DEVICE_HOST_MEMORY ? CHUNK_HOST : CHUNK_GPU;
    if (u->chunk_points > most)
        u->chunk_points = most;
    for (int i = 0; i < CHUNKS && !rc; i++)
        rc = chunk_open(u, &u->chunk[i]);
    if (rc)
        return rc;
    u->points_due = 3 * u->q.n_vars + u->q.n_vars + 2 * u->q.domain_size;
    u->vk.curve = u->curve;
    u->vk.n_public = u->q.n_public;
    u->vk.ic = calloc(u->q.n_public + 1, sizeof *u->vk.ic);
    return u->vk.ic ? 0 : err_fail(-ENOMEM, "no memory for the verifying key");
}

static void setup_end(struct setup *u)
{
    for (int i = 0; i < CHUNKS; i++)
        chunk_close(u, &u->chunk[i]);
    vk_close(&u->vk);
    zkey_writer_close(u->out);
    qap_close(&u->q);
}

int setup_write(FILE *zkey, FILE *vk, struct device *device, const struct r1cs *r1cs, const struct trapdoor *trapdoor,
                struct setup_stats *stats, groth16_progress *progress, void *ctx)
{
    struct setup u = {
        .device = device, .curve = r1cs->curve, .r1cs = r1cs, .t = trapdoor, .progress = progress, .ctx = ctx};
    int rc = setup_begin(&u, zkey);
    if (!rc)
        rc = write_all(&u);
    if (!rc)
        rc = vk_json_write(vk, &u.vk);
    if (!rc && stats)
        *stats = (struct setup_stats){.n_vars = u.q.n_vars,
                                      .n_public = u.q.n_public,
                                      .n_constraints = r1cs->n_constraints,
                                      .domain_size = u.q.domain_size,
                                      .n_coefs = n_coefs(&u),
                                      .zkey_bytes = zkey_writer_bytes(u.out)};
    setup_end(&u);
    return rc;
}
