/* From three JSON texts, in files or in memory, to a verdict. */
#include "penstock/verify.h"

#include "perf/err.h"
#include "prover/json_doc.h"
#include "prover/proof_json.h"
#include "prover/public_json.h"
#include "prover/verify.h"
#include "prover/vk_json.h"

struct input {
    const char *name, *text; /* text NULL: `name` is a path */
    size_t bytes;
};

static int read_vk(struct vk *vk, const struct input *in)
{
    return in->text ? vk_json_parse(vk, in->name, in->text, in->bytes) : vk_json_read(vk, in->name);
}

static int read_publics(struct publics *publics, const struct input *in, const struct curve *c)
{
    return in->text ? public_json_parse(publics, in->name, in->text, in->bytes, c)
                    : public_json_read(publics, in->name, c);
}

static int read_proof(struct proof *proof, const struct input *in, const struct curve *c)
{
    return in->text ? proof_json_parse(proof, in->name, in->text, in->bytes, c) : proof_json_read(proof, in->name, c);
}

/* Both files are read before either is judged: a file that is none counts more than a number out of range. */
static int verify_with(enum pen_verdict *verdict, const struct vk *vk, const struct input *public_in,
                       const struct input *proof_in)
{
    struct publics publics = {0};
    struct proof proof;
    enum pen_verdict v = PEN_VALID;
    char why_public[1024] = "";
    int rc = read_publics(&publics, public_in, vk->curve);
    if (rc == -ERANGE) {
        err_copy(why_public);
        v = PEN_PUBLIC_TOO_LARGE;
    } else if (rc) {
        return rc;
    }
    rc = read_proof(&proof, proof_in, vk->curve);
    if (rc == -ERANGE) {
        v = v ? v : PEN_NOT_CANONICAL;
        rc = 0;
    } else if (rc == 0 && v == PEN_VALID) {
        rc = verify_groth16(&v, vk, &proof, &publics);
        bool publics_at_fault = rc || v == PEN_PUBLIC_COUNT || v == PEN_PUBLIC_TOO_LARGE;
        if (rc || v)
            err_in(rc, "%s", publics_at_fault ? public_in->name : proof_in->name);
    }
    if (rc == 0 && why_public[0])
        err_set(why_public);
    publics_close(&publics);
    if (rc == 0)
        *verdict = v;
    return rc;
}

static int verify_inputs(enum pen_verdict *verdict, const struct input *vk_in, const struct input *public_in,
                         const struct input *proof_in)
{
    struct vk vk;
    int rc = read_vk(&vk, vk_in);
    if (rc)
        return rc;
    rc = verify_with(verdict, &vk, public_in, proof_in);
    vk_close(&vk);
    return rc;
}

int pen_verify_files(enum pen_verdict *verdict, const char *vk_path, const char *public_path, const char *proof_path)
{
    return verify_inputs(verdict, &(struct input){.name = vk_path}, &(struct input){.name = public_path},
                         &(struct input){.name = proof_path});
}

int pen_verify(enum pen_verdict *verdict, const char *vk_json, size_t vk_bytes, const char *public_json,
               size_t public_bytes, const char *proof_json, size_t proof_bytes)
{
    return verify_inputs(verdict, &(struct input){"verification key", vk_json ? vk_json : "", vk_bytes},
                         &(struct input){"public values", public_json ? public_json : "", public_bytes},
                         &(struct input){"proof", proof_json ? proof_json : "", proof_bytes});
}
