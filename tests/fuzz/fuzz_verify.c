/* Input: | proof.json | NUL | public.json |, judged with the real key of the circuit mult of both curves.
 * Claim: nothing is valid but the values and the proof that came with the key, up to the malleability that Groth16 has
 * (no fuzzer finds another: it would have to solve discrete logarithms). */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "penstock/verify.h"
#include "prover/proof_json.h"
#include "prover/public_json.h"

const char *const fuzz_seed_endings[] = {"proof.json", "_torsion.json", NULL};

struct known {
    char *vk;
    size_t vk_bytes;
    struct proof proof;
    struct publics publics;
};

static char *read_file(const char *curve, const char *name, size_t *bytes)
{
    char path[600];
    const char *root = getenv("FUZZ_DATA");
    snprintf(path, sizeof path, "%s/%s/mult/%s", root ? root : PENSTOCK_TEST_DATA, curve, name);
    FILE *f = fopen(path, "rb");
    FUZZ_CLAIM(f);
    char *text = malloc(1 << 16);
    *bytes = fread(text, 1, 1 << 16, f);
    fclose(f);
    return text;
}

static const struct known *known(int id)
{
    static struct known all[CURVES];
    struct known *k = &all[id];
    if (k->vk)
        return k;
    const struct curve *c = curve_get((enum curve_id)id);
    size_t bytes;
    char *proof = read_file(c->name, "proof.json", &bytes);
    FUZZ_CLAIM(proof_json_parse(&k->proof, "proof", proof, bytes, c) == 0);
    char *public = read_file(c->name, "public.json", &bytes);
    FUZZ_CLAIM(public_json_parse(&k->publics, "public", public, bytes, c) == 0);
    free(proof);
    free(public);
    k->vk = read_file(c->name, "verification_key.json", &k->vk_bytes);
    return k;
}

/* What is valid must be (a, b, c) or (-a, -b, c) of the known proof: x coordinates alike, c alike. */
static void check_valid(const struct known *k, const char *proof_text, size_t proof_bytes, const char *public_text,
                        size_t public_bytes)
{
    struct proof p;
    struct publics publics;
    const struct curve *c = k->proof.curve;
    FUZZ_CLAIM(proof_json_parse(&p, "proof", proof_text, proof_bytes, c) == 0);
    FUZZ_CLAIM(public_json_parse(&publics, "public", public_text, public_bytes, c) == 0);
    FUZZ_CLAIM(publics.n == k->publics.n && memcmp(publics.values, k->publics.values, 32 * publics.n) == 0);
    FUZZ_CLAIM(memcmp(&p.a, &k->proof.a, c->fq_bytes) == 0 && memcmp(&p.b, &k->proof.b, 2 * c->fq_bytes) == 0);
    FUZZ_CLAIM(memcmp(&p.c, &k->proof.c, sizeof p.c) == 0);
    publics_close(&publics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *proof = (const char *)data, *end = memchr(data, 0, size);
    size_t proof_bytes = end ? (size_t)(end - proof) : size;
    const char *public = end ? end + 1 : "[\"33\"]"; /* a seed is a proof alone: 33 is what mult proves */
    size_t public_bytes = end ? size - proof_bytes - 1 : 6;
    for (int id = 0; id < CURVES; id++) {
        const struct known *k = known(id);
        enum pen_verdict verdict = (enum pen_verdict) - 1;
        int rc = pen_verify(&verdict, k->vk, k->vk_bytes, public, public_bytes, proof, proof_bytes);
        FUZZ_CLAIM((rc == 0) == (verdict != (enum pen_verdict) - 1));
        FUZZ_CLAIM(rc == 0 || rc == -EBADMSG);
        if (rc == 0 && verdict == PEN_VALID)
            check_valid(k, proof, proof_bytes, public, public_bytes);
        FUZZ_CLAIM((rc == 0 && verdict == PEN_VALID) || pen_last_error()[0]);
    }
    return 0;
}
