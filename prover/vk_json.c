#include "prover/vk_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/json_doc.h"

static int read_head(struct vk *vk, const struct json_doc *doc)
{
    const char *protocol, *curve;
    int rc = json_doc_text(doc, &protocol, "protocol", true);
    if (rc)
        return rc;
    if (strcmp(protocol, "groth16") != 0)
        return err_fail(-EBADMSG, "%s: protocol: \"%.20s\", expected \"groth16\"", doc->name, protocol);
    if ((rc = json_doc_text(doc, &curve, "curve", true)))
        return rc;
    vk->curve = curve_by_name(curve);
    if (!vk->curve)
        return err_fail(-EBADMSG, "%s: curve: \"%.20s\", expected bn128 or bls12381", doc->name, curve);
    return 0;
}

/* A point of the key, where anything out of order is a bad file. */
static int read_point(const struct vk *vk, struct point *point, const struct json_doc *doc, const json_t *value,
                      const char *place, enum group group)
{
    int rc = json_doc_point(doc, point, value, place, vk->curve, group);
    if (rc)
        return rc == -ERANGE ? -EBADMSG : rc;
    enum point_fault fault = vk->curve->check(group, point);
    if (fault)
        return err_fail(-EBADMSG, "%s: %s: %s (%s)", doc->name, place, point_fault_text(fault), vk->curve->title);
    return 0;
}

static int read_fixed_points(struct vk *vk, const struct json_doc *doc)
{
    const struct {
        const char *key;
        enum group group;
        struct point *to;
    } points[] = {{"vk_alpha_1", GROUP_G1, &vk->alpha1},
                  {"vk_beta_2", GROUP_G2, &vk->beta2},
                  {"vk_gamma_2", GROUP_G2, &vk->gamma2},
                  {"vk_delta_2", GROUP_G2, &vk->delta2}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const char *key = points[i].key;
        int rc = read_point(vk, points[i].to, doc, json_object_get(doc->root, key), key, points[i].group);
        if (rc)
            return rc;
        if (point_is_infinity(points[i].to))
            return err_fail(-EBADMSG, "%s: %s: is the point at infinity", doc->name, key);
    }
    return 0;
}

static int read_ic(struct vk *vk, const struct json_doc *doc)
{
    const json_t *count = json_object_get(doc->root, "nPublic"), *ic = json_object_get(doc->root, "IC");
    if (!json_is_integer(count) || json_integer_value(count) < 0)
        return err_fail(-EBADMSG, "%s: nPublic: expected a number, 0 or more", doc->name);
    if (!json_is_array(ic))
        return err_fail(-EBADMSG, "%s: IC: expected an array of points", doc->name);
    uint64_t n_public = (uint64_t)json_integer_value(count);
    size_t n = json_array_size(ic);
    if (n == 0 || n - 1 != n_public)
        return err_fail(-EBADMSG, "%s: IC: %zu points, expected nPublic + 1 with nPublic = %" PRIu64, doc->name, n,
                        n_public);
    vk->n_public = n - 1;
    vk->ic = malloc(n * sizeof *vk->ic);
    if (!vk->ic)
        return err_fail(-ENOMEM, "%s: no memory for %zu points", doc->name, n);
    for (size_t i = 0; i < n; i++) {
        char place[32];
        snprintf(place, sizeof place, "IC[%zu]", i);
        int rc = read_point(vk, &vk->ic[i], doc, json_array_get(ic, i), place, GROUP_G1);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_vk(struct vk *vk, const struct json_doc *doc)
{
    struct vk v = {0};
    int rc = json_is_object(doc->root)
                 ? read_head(&v, doc)
                 : err_fail(-EBADMSG, "%s: expected a JSON object, a verification key", doc->name);
    if (rc == 0)
        rc = read_fixed_points(&v, doc);
    if (rc == 0)
        rc = read_ic(&v, doc);
    if (rc)
        vk_close(&v);
    else
        *vk = v;
    return rc;
}

int vk_json_read(struct vk *vk, const char *path)
{
    struct json_doc doc;
    int rc = json_doc_read(&doc, path);
    if (rc == 0)
        rc = read_vk(vk, &doc);
    json_doc_close(&doc);
    return rc;
}

int vk_json_parse(struct vk *vk, const char *name, const void *text, size_t bytes)
{
    struct json_doc doc;
    int rc = json_doc_parse(&doc, name, text, bytes);
    if (rc == 0)
        rc = read_vk(vk, &doc);
    json_doc_close(&doc);
    return rc;
}

/* e(alpha, beta) as 2 x 3 x 2 numbers. */
static void write_alphabeta(FILE *out, const struct vk *vk)
{
    size_t limbs = vk->curve->fq_bytes / 8;
    uint64_t plain[12 * 6];
    vk->curve->pairing(plain, &vk->alpha1, &vk->beta2);
    fputs("[", out);
    for (size_t i = 0; i < 2; i++) {
        fputs("\n  [", out);
        for (size_t j = 0; j < 3; j++) {
            fputs("\n   ", out);
            json_numbers_write(out, plain + (i * 3 + j) * 2 * limbs, limbs, 2, 3);
            fputs(j < 2 ? "," : "", out);
        }
        fprintf(out, "\n  ]%s", i < 1 ? "," : "");
    }
    fputs("\n ]", out);
}

int vk_json_write(FILE *out, const struct vk *vk)
{
    fprintf(out, "{\n \"protocol\": \"groth16\",\n \"curve\": \"%s\",\n \"nPublic\": %zu,\n \"vk_alpha_1\": ",
            vk->curve->name, vk->n_public);
    json_point_write(out, vk->curve, GROUP_G1, &vk->alpha1, 1);
    fputs(",\n \"vk_beta_2\": ", out);
    json_point_write(out, vk->curve, GROUP_G2, &vk->beta2, 1);
    fputs(",\n \"vk_gamma_2\": ", out);
    json_point_write(out, vk->curve, GROUP_G2, &vk->gamma2, 1);
    fputs(",\n \"vk_delta_2\": ", out);
    json_point_write(out, vk->curve, GROUP_G2, &vk->delta2, 1);
    fputs(",\n \"vk_alphabeta_12\": ", out);
    write_alphabeta(out, vk);
    fputs(",\n \"IC\": [", out);
    for (size_t i = 0; i <= vk->n_public; i++) {
        fputs("\n  ", out);
        json_point_write(out, vk->curve, GROUP_G1, &vk->ic[i], 2);
        fputs(i < vk->n_public ? "," : "", out);
    }
    fputs("\n ]\n}", out);
    return json_write_end(out, "verification key");
}
