#include "prover/proof_json.h"

#include <string.h>

#include "perf/err.h"
#include "prover/json_doc.h"

static int check_protocol(const struct json_doc *doc)
{
    const char *protocol;
    int rc = json_doc_text(doc, &protocol, "protocol", false);
    if (rc || !protocol || strcmp(protocol, "groth16") == 0)
        return rc;
    return err_fail(-EBADMSG, "%s: protocol: \"%.20s\", expected \"groth16\"", doc->name, protocol);
}

static int find_curve(const struct json_doc *doc, const struct curve **curve)
{
    const char *name;
    int rc = json_doc_text(doc, &name, "curve", *curve == NULL);
    if (rc || !name)
        return rc;
    const struct curve *named = curve_by_name(name);
    if (!named)
        return err_fail(-EBADMSG, "%s: curve: \"%.20s\", expected bn128 or bls12381", doc->name, name);
    if (*curve && *curve != named)
        return err_fail(-ERANGE, "%s: curve: a proof for %s, the verification key is for %s", doc->name, named->title,
                        (*curve)->title);
    *curve = named;
    return 0;
}

static int read_proof(struct proof *proof, const struct json_doc *doc, const struct curve *curve)
{
    struct proof p = {.curve = curve};
    if (!json_is_object(doc->root))
        return err_fail(-EBADMSG, "%s: expected a JSON object with pi_a, pi_b, pi_c", doc->name);
    int rc = check_protocol(doc);
    if (rc || (rc = find_curve(doc, &p.curve)) ||
        (rc = json_doc_point(doc, &p.a, json_object_get(doc->root, "pi_a"), "pi_a", p.curve, GROUP_G1)) ||
        (rc = json_doc_point(doc, &p.b, json_object_get(doc->root, "pi_b"), "pi_b", p.curve, GROUP_G2)) ||
        (rc = json_doc_point(doc, &p.c, json_object_get(doc->root, "pi_c"), "pi_c", p.curve, GROUP_G1)))
        return rc;
    *proof = p;
    return 0;
}

int proof_json_read(struct proof *proof, const char *path, const struct curve *curve)
{
    struct json_doc doc;
    int rc = json_doc_read(&doc, path);
    if (rc == 0)
        rc = read_proof(proof, &doc, curve);
    json_doc_close(&doc);
    return rc;
}

int proof_json_parse(struct proof *proof, const char *name, const void *text, size_t bytes, const struct curve *curve)
{
    struct json_doc doc;
    int rc = json_doc_parse(&doc, name, text, bytes);
    if (rc == 0)
        rc = read_proof(proof, &doc, curve);
    json_doc_close(&doc);
    return rc;
}

int proof_json_write(FILE *out, const struct proof *p)
{
    fputs("{\n \"pi_a\": ", out);
    json_point_write(out, p->curve, GROUP_G1, &p->a, 1);
    fputs(",\n \"pi_b\": ", out);
    json_point_write(out, p->curve, GROUP_G2, &p->b, 1);
    fputs(",\n \"pi_c\": ", out);
    json_point_write(out, p->curve, GROUP_G1, &p->c, 1);
    fprintf(out, ",\n \"protocol\": \"groth16\",\n \"curve\": \"%s\"\n}", p->curve->name);
    return json_write_end(out, "proof");
}
