#include "prover/zkey.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "perf/err.h"
#include "prover/binfile.h"
#include "prover/packed.h"
#include "prover/proof.h"

enum { PROTOCOL_GROTH16 = 1, PROTOCOL_PLONK = 2, PROTOCOL_FFLONK = 10 };
enum { SECTION_PROTOCOL = 1, SECTION_HEADER = 2, SECTION_COEFS = 4 };

static int check_protocol(const struct binfile *bin)
{
    const char *path = bin->map->path;
    struct binfile_section s;
    int rc = binfile_section(bin, &s, SECTION_PROTOCOL, "protocol");
    if (rc)
        return rc;
    if (s.bytes != 4)
        return err_fail(-EBADMSG, "%s: section 1 (protocol): %zu bytes, expected 4", path, s.bytes);
    uint32_t protocol = load_u32(s.data);
    if (protocol == PROTOCOL_GROTH16)
        return 0;
    const char *name = protocol == PROTOCOL_PLONK ? " (PLONK)" : protocol == PROTOCOL_FFLONK ? " (FFLONK)" : "";
    return err_fail(-EBADMSG, "%s: section 1 (protocol): %" PRIu32 "%s, expected 1 (Groth16): not a Groth16 key", path,
                    protocol, name);
}

/* A prime and its length, as both halves of the header begin. */
static int read_prime(struct bytes_reader *r, const uint8_t **prime, uint32_t *n8, const char *path, const char *which)
{
    *n8 = bytes_u32(r);
    if (!r->short_read && *n8 != 32 && *n8 != 48)
        return err_fail(-EBADMSG,
                        "%s: section 2 (header): field %s has elements of %" PRIu32
                        " bytes, expected those of BN254 or BLS12-381",
                        path, which, *n8);
    *prime = bytes_take(r, *n8);
    return 0;
}

static const struct curve *curve_by_q(const uint8_t *q, uint32_t n8q)
{
    for (int id = 0; id < CURVES; id++) {
        const struct curve *c = curve_get((enum curve_id)id);
        if (c->fq_bytes == n8q && memcmp(c->fq->p, q, n8q) == 0)
            return c;
    }
    return NULL;
}

static int read_curve(struct zkey *z, struct bytes_reader *r)
{
    const char *path = z->map.path;
    const uint8_t *q = NULL, *prime_r = NULL;
    uint32_t n8q = 0, n8r = 0;
    int rc = read_prime(r, &q, &n8q, path, "q");
    if (rc == 0)
        rc = read_prime(r, &prime_r, &n8r, path, "r");
    if (rc)
        return rc;
    if (r->short_read)
        return err_fail(-EBADMSG, "%s: section 2 (header): too short for its primes", path);
    z->curve = curve_by_q(q, n8q);
    if (!z->curve)
        return err_fail(-EBADMSG, "%s: section 2 (header): prime q is that of no known curve (BN254, BLS12-381)", path);
    if (n8r != 32 || memcmp(z->curve->fr->p, prime_r, 32) != 0)
        return err_fail(-EBADMSG, "%s: section 2 (header): prime r does not match the curve of q (%s)", path,
                        z->curve->title);
    return 0;
}

static int read_counts(struct zkey *z, struct bytes_reader *r)
{
    const char *path = z->map.path;
    z->n_vars = bytes_u32(r);
    z->n_public = bytes_u32(r);
    z->domain_size = bytes_u32(r);
    if (r->short_read)
        return err_fail(-EBADMSG, "%s: section 2 (header): too short for its counts", path);
    if (z->n_public >= z->n_vars)
        return err_fail(-EBADMSG,
                        "%s: section 2 (header): nPublic is %" PRIu32 ", expected less than nVars (%" PRIu32 ")", path,
                        z->n_public, z->n_vars);
    if (z->domain_size == 0 || (z->domain_size & (z->domain_size - 1)))
        return err_fail(-EBADMSG, "%s: section 2 (header): domainSize is %" PRIu32 ", expected a power of two", path,
                        z->domain_size);
    z->log_domain = (unsigned)__builtin_ctz(z->domain_size);
    if (z->log_domain > z->curve->two_adicity)
        return err_fail(-EBADMSG, "%s: section 2 (header): domainSize is 2^%u, %s has domains up to 2^%u", path,
                        z->log_domain, z->curve->title, z->curve->two_adicity);
    return 0;
}

static int read_vk_points(struct zkey *z, struct bytes_reader *r)
{
    const struct {
        struct point *to;
        enum group group;
        const char *name;
    } points[] = {{&z->alpha1, GROUP_G1, "alpha1"}, {&z->beta1, GROUP_G1, "beta1"},   {&z->beta2, GROUP_G2, "beta2"},
                  {&z->gamma2, GROUP_G2, "gamma2"}, {&z->delta1, GROUP_G1, "delta1"}, {&z->delta2, GROUP_G2, "delta2"}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const uint8_t *packed = bytes_take(r, z->curve->point_bytes[points[i].group]);
        if (!packed)
            return err_fail(-EBADMSG, "%s: section 2 (header): too short for its points", z->map.path);
        point_load(z->curve, points[i].group, points[i].to, packed);
        enum point_fault fault = z->curve->check(points[i].group, points[i].to);
        if (fault)
            return err_fail(-EBADMSG, "%s: section 2 (header): %s %s", z->map.path, points[i].name,
                            point_fault_text(fault));
        if (point_is_infinity(points[i].to))
            return err_fail(-EBADMSG, "%s: section 2 (header): %s is the point at infinity", z->map.path,
                            points[i].name);
    }
    return 0;
}

static int read_header(struct zkey *z, const struct binfile *bin)
{
    struct binfile_section s;
    int rc = binfile_section(bin, &s, SECTION_HEADER, "header");
    if (rc)
        return rc;
    struct bytes_reader r = {s.data, s.at_hand, false};
    if ((rc = read_curve(z, &r)) || (rc = read_counts(z, &r)) || (rc = read_vk_points(z, &r)))
        return rc;
    if (r.left || s.at_hand < s.bytes)
        return err_fail(-EBADMSG, "%s: section 2 (header): %zu bytes, expected %zu", z->map.path, s.bytes,
                        s.at_hand - r.left);
    return 0;
}

static int read_point_sections(struct zkey *z, const struct binfile *bin)
{
    uint32_t n_private = z->n_vars - z->n_public - 1;
    const struct {
        uint32_t section;
        enum group group;
        const char *name, *count_text;
        uint64_t n;
    } sets[ZKEY_SETS] = {
        [ZKEY_IC] = {3, GROUP_G1, "IC", "nPublic + 1", (uint64_t)z->n_public + 1},
        [ZKEY_A] = {5, GROUP_G1, "A", "nVars", z->n_vars},
        [ZKEY_B1] = {6, GROUP_G1, "B1", "nVars", z->n_vars},
        [ZKEY_B2] = {7, GROUP_G2, "B2", "nVars", z->n_vars},
        [ZKEY_C] = {8, GROUP_G1, "C", "nVars - nPublic - 1", n_private},
        [ZKEY_H] = {9, GROUP_G1, "H", "domainSize", z->domain_size},
    };
    for (int i = 0; i < ZKEY_SETS; i++) {
        struct binfile_section s;
        int rc = binfile_section(bin, &s, sets[i].section, sets[i].name);
        if (rc)
            return rc;
        unsigned point_bytes = z->curve->point_bytes[sets[i].group];
        if (s.bytes != sets[i].n * point_bytes)
            return err_fail(
                -EBADMSG, "%s: section %" PRIu32 " (%s): %zu bytes, expected %s = %" PRIu64 " points of %u bytes",
                z->map.path, sets[i].section, sets[i].name, s.bytes, sets[i].count_text, sets[i].n, point_bytes);
        z->points[i] = (struct zkey_points){s.offset, (size_t)sets[i].n, sets[i].group, sets[i].section, sets[i].name};
    }
    return 0;
}

static int read_coefs(struct zkey *z, const struct binfile *bin)
{
    struct binfile_section s;
    int rc = binfile_section(bin, &s, SECTION_COEFS, "coefficients");
    if (rc)
        return rc;
    if (s.bytes < 4 || (s.bytes - 4) % ZKEY_COEF_BYTES)
        return err_fail(-EBADMSG, "%s: section 4 (coefficients): %zu bytes, expected 4 + 44 n", z->map.path, s.bytes);
    uint32_t count = load_u32(s.data);
    z->n_coefs = (s.bytes - 4) / ZKEY_COEF_BYTES;
    z->coefs_offset = s.offset + 4;
    if (count != z->n_coefs)
        return err_fail(-EBADMSG, "%s: section 4 (coefficients): says %" PRIu32 " terms, its size holds %zu",
                        z->map.path, count, z->n_coefs);
    return 0;
}

static int read_zkey(void *object, const struct binfile *bin)
{
    struct zkey *z = object;
    int rc = check_protocol(bin);
    if (rc || (rc = read_header(z, bin)) || (rc = read_point_sections(z, bin)) || (rc = read_coefs(z, bin)))
        return rc;
    z->trailing_bytes = bin->trailing_bytes;
    return 0;
}

static_assert(offsetof(struct zkey, map) == 0, "binfile_open writes the map there");
static const struct binfile_kind kind = {.magic = "zkey",
                                         .title = "a proving key (.zkey)",
                                         .min_version = 1,
                                         .max_version = 1,
                                         .object_bytes = sizeof(struct zkey),
                                         .by_range = true,
                                         .read = read_zkey};

int zkey_open(struct zkey **zkey_p, const char *path)
{
    void *z = NULL;
    int rc = binfile_open(&z, &kind, path);
    if (rc == 0)
        *zkey_p = z;
    return rc;
}

int zkey_open_memory(struct zkey **zkey_p, const char *name, const void *data, size_t bytes)
{
    void *z = NULL;
    int rc = binfile_open_memory(&z, &kind, name, data, bytes);
    if (rc == 0)
        *zkey_p = z;
    return rc;
}

int zkey_open_source(struct zkey **zkey_p, struct byte_source *source)
{
    void *z = NULL;
    int rc = binfile_open_source(&z, &kind, source);
    if (rc == 0)
        *zkey_p = z;
    return rc;
}

void zkey_close(struct zkey *z)
{
    binfile_close(z);
}
