/* Claims: every real proof is valid with its own key and public values and no other; each altered proof, value or key
 * gets its own verdict or refusal, with a reason; the malformed files of the collection behave as its index says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/proof_json.h"
#include "prover/public_json.h"
#include "prover/verify.h"
#include "prover/vk_json.h"
#include "tests/prover/circuits.h"
#include "tests/prover/mutate.h"

static struct circuit circuits[CIRCUITS_MAX];
static size_t n_circuits;

/* Files of one good proof; a test replaces one of them. */
struct files {
    char vk[CIRCUIT_PATH], public[CIRCUIT_PATH], proof[CIRCUIT_PATH];
};

static void good_files(struct files *f, const struct circuit *c)
{
    circuit_path(f->vk, c, "verification_key.json");
    circuit_path(f->public, c, "public.json");
    circuit_path(f->proof, c, "proof.json");
}

static void named_files(struct files *f, const char *curve, const char *name)
{
    struct circuit c = {.curve = NULL};
    snprintf(c.dir, sizeof c.dir, "%s/%s/%s", PENSTOCK_TEST_DATA, curve, name);
    good_files(f, &c);
}

/* The verdict, or a negative errno. */
static int verdict_of(const struct files *f)
{
    enum pen_verdict v = (enum pen_verdict)77;
    int rc = pen_verify_files(&v, f->vk, f->public, f->proof);
    if (rc)
        assert_int_equal(v, 77);
    return rc ? rc : (int)v;
}

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_circuits; i++) {
        struct files f;
        good_files(&f, &circuits[i]);
        assert_int_equal(verdict_of(&f), PEN_VALID);
    }
}

/* Public values of one circuit with the proof of another; keys exchanged. */
static void test_exchanged(void **state)
{
    (void)state;
    for (int id = 0; id < CURVES; id++) {
        const char *curve = curve_get((enum curve_id)id)->name;
        struct files f, other;
        named_files(&f, curve, "mult");
        named_files(&other, curve, "nopub");
        strcpy(f.proof, other.proof);
        assert_int_equal(verdict_of(&f), PEN_FALSE);
        assert_non_null(strstr(pen_last_error(), "nopub/proof.json: the pairing equation does not hold"));
        strcpy(f.public, other.public);
        assert_int_equal(verdict_of(&f), PEN_PUBLIC_COUNT);
        assert_non_null(
            strstr(pen_last_error(), "nopub/public.json: 0 public values, the verification key asks for 1"));
        named_files(&other, curve_get((enum curve_id) !id)->name, "mult");
        named_files(&f, curve, "mult");
        strcpy(f.proof, other.proof);
        assert_int_equal(verdict_of(&f), PEN_NOT_CANONICAL);
        named_files(&f, curve, "mult");
        strcpy(f.vk, f.proof);
        assert_int_equal(verdict_of(&f), -EBADMSG);
    }
}

struct parts {
    struct vk vk;
    struct publics publics;
    struct proof proof;
};

static void parts_open(struct parts *p, const struct files *f)
{
    assert_int_equal(vk_json_read(&p->vk, f->vk), 0);
    assert_int_equal(public_json_read(&p->publics, f->public, p->vk.curve), 0);
    assert_int_equal(proof_json_read(&p->proof, f->proof, p->vk.curve), 0);
}

static void parts_close(struct parts *p)
{
    publics_close(&p->publics);
    vk_close(&p->vk);
}

static enum pen_verdict judge(const struct parts *p)
{
    enum pen_verdict v;
    assert_int_equal(verify_groth16(&v, &p->vk, &p->proof, &p->publics), 0);
    return v;
}

/* Points replaced by other members of the group, negated, doubled, exchanged: all false. */
static void alter_points(struct parts *p)
{
    const struct curve *c = p->vk.curve;
    struct proof good = p->proof;
    struct point *points[3] = {&p->proof.a, &p->proof.b, &p->proof.c};
    for (int i = 0; i < 3; i++) {
        enum group g = i == 1 ? GROUP_G2 : GROUP_G1;
        c->neg(g, points[i], points[i]);
        assert_int_equal(judge(p), PEN_FALSE);
        p->proof = good;
        c->add(g, points[i], points[i], &c->generator[g]);
        assert_int_equal(judge(p), PEN_FALSE);
        *points[i] = c->generator[g];
        assert_int_equal(judge(p), PEN_FALSE);
        memset(points[i], 0, sizeof *points[i]);
        assert_int_equal(judge(p), PEN_INFINITY);
        p->proof = good;
        points[i]->w[1] ^= 4;
        assert_int_equal(judge(p), PEN_NOT_ON_CURVE);
        memcpy(points[i]->w, c->fq->p, c->fq_bytes);
        assert_int_equal(judge(p), PEN_NOT_CANONICAL);
        p->proof = good;
    }
    p->proof.a = good.c;
    p->proof.c = good.a;
    assert_int_equal(judge(p), PEN_FALSE);
    p->proof = good;
    /* -a, -b verify together, as they must: Groth16 proofs are malleable */
    c->neg(GROUP_G1, &p->proof.a, &p->proof.a);
    c->neg(GROUP_G2, &p->proof.b, &p->proof.b);
    assert_int_equal(judge(p), PEN_VALID);
    p->proof = good;
}

static void alter_publics(struct parts *p)
{
    for (size_t i = 0; i < p->publics.n; i++) {
        struct scalar good = p->publics.values[i];
        p->publics.values[i].l[0] ^= 1;
        assert_int_equal(judge(p), PEN_FALSE);
        memcpy(&p->publics.values[i], p->vk.curve->fr->p, 32);
        assert_int_equal(judge(p), PEN_PUBLIC_TOO_LARGE);
        p->publics.values[i] = good;
    }
    p->publics.n++;
    assert_int_equal(judge(p), PEN_PUBLIC_COUNT);
    p->publics.n--;
}

static void test_altered(void **state)
{
    (void)state;
    static const char *const names[] = {"mult", "linear", "nopub", "poseidon1"};
    for (int id = 0; id < CURVES; id++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            struct files f;
            struct parts p;
            named_files(&f, curve_get((enum curve_id)id)->name, names[i]);
            parts_open(&p, &f);
            assert_int_equal(judge(&p), PEN_VALID);
            alter_points(&p);
            alter_publics(&p);
            assert_int_equal(judge(&p), PEN_VALID);
            parts_close(&p);
        }
}

static void test_null_publics(void **state)
{
    (void)state;
    struct files f;
    struct blob vk, proof;
    enum pen_verdict v;
    for (int due = 0; due < 2; due++) {
        named_files(&f, "bn128", due ? "mult" : "nopub");
        vk = blob_read(f.vk);
        proof = blob_read(f.proof);
        int rc = pen_verify(&v, (char *)vk.data, vk.bytes, "null", 4, (char *)proof.data, proof.bytes);
        assert_int_equal(rc, due ? -EBADMSG : 0);
        if (due)
            assert_string_equal(pen_last_error(), "public values: null, expected an array of 1 public values");
        else
            assert_int_equal(v, PEN_VALID);
        assert_int_equal(pen_verify(&v, (char *)vk.data, vk.bytes, NULL, 0, (char *)proof.data, proof.bytes), -EBADMSG);
        free(vk.data);
        free(proof.data);
    }
}

/* The collected bad files in tests/data/bad: verdict or -EBADMSG, and what is said. */
static const struct {
    const char *name;
    int result;
    const char *sentence;
} bad_files[] = {
    {"vk_hex", -EBADMSG, "is not a decimal number"},
    {"vk_nondecimal", -EBADMSG, "\"12ab\" is not a decimal number"},
    {"vk_negative", -EBADMSG, "\"-1\" is not a decimal number"},
    {"vk_number", -EBADMSG, "too big integer"},
    {"vk_notoncurve", -EBADMSG, "IC[1]: is not on the curve"},
    {"vk_wrong_npublic", -EBADMSG, "with nPublic = 7"},
    {"vk_curve_bls", -EBADMSG, "is not on the curve (BLS12-381)"},
    {"vk_plonk", -EBADMSG, "protocol: \"plonk\""},
    {"proof_a_infinity", PEN_INFINITY, "pi_a: is the point at infinity"},
    {"proof_a_notoncurve", PEN_NOT_ON_CURVE, "pi_a: is not on the curve"},
    {"proof_b_swapped", PEN_NOT_ON_CURVE, "pi_b: is not on the curve"},
    {"proof_z2", PEN_NOT_CANONICAL, "pi_a[2]: expected z = 1"},
    {"public_plus_r", PEN_PUBLIC_TOO_LARGE, "value 0: is not below the prime r"},
    {"public_negative", -EBADMSG, "is not a decimal number"},
    {"public_long", PEN_PUBLIC_COUNT, "3 public values, the verification key asks for 2"},
    {"public_null", -EBADMSG, "null, expected an array of 2 public values"},
    {"bls_proof_a_torsion", PEN_NOT_IN_SUBGROUP, "pi_a: is not in the subgroup"},
    {"bls_proof_c_torsion", PEN_NOT_IN_SUBGROUP, "pi_c: is not in the subgroup"},
};

/* The good files with the bad one in its place. */
static void with_bad(struct files *f, const char *dir, const char *name)
{
    bool bls = strncmp(name, "bls_", 4) == 0;
    named_files(f, bls ? "bls12381" : "bn128", "poseidon1");
    char *to = strncmp(name, "vk_", 3) == 0 ? f->vk : strncmp(name, "public_", 7) == 0 ? f->public : f->proof;
    snprintf(to, CIRCUIT_PATH, "%.400s/%.100s", dir, name);
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        struct files f;
        char name[64];
        snprintf(name, sizeof name, "%s.json", bad_files[i].name);
        with_bad(&f, PENSTOCK_TEST_DATA "/bad", name);
        int result = verdict_of(&f);
        if (result != bad_files[i].result || !strstr(pen_last_error(), bad_files[i].sentence) ||
            !strstr(pen_last_error(), name))
            fail_msg("%s: %d \"%s\", expected %d \"%s\"", name, result, pen_last_error(), bad_files[i].result,
                     bad_files[i].sentence);
    }
}

/* Does the index allow the exit code that this result has? */
static bool allowed(const json_t *entry, int result)
{
    int code = result < 0 ? 65 : result ? 1 : 0;
    const json_t *exits = json_object_get(entry, "exit");
    for (size_t i = 0; i < json_array_size(exits); i++)
        if (json_integer_value(json_array_get(exits, i)) == code)
            return true;
    return false;
}

static void test_index(void **state)
{
    (void)state;
    const char *corpus = getenv("PENSTOCK_CORPUS");
    if (!corpus || !*corpus)
        skip();
    char path[500];
    snprintf(path, sizeof path, "%s/bad/index.json", corpus);
    json_t *index = json_load_file(path, 0, NULL);
    assert_non_null(index);
    snprintf(path, sizeof path, "%s/bad", corpus);
    int seen = 0;
    for (size_t i = 0; i < json_array_size(index); i++) {
        const json_t *entry = json_array_get(index, i);
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (!strstr(name, ".json"))
            continue;
        struct files f;
        with_bad(&f, path, name);
        int result = verdict_of(&f);
        if (!allowed(entry, result))
            fail_msg("%s: %d \"%s\"", name, result, pen_last_error());
        seen++;
    }
    assert_true(seen >= 20);
    json_decref(index);
}

int main(void)
{
    n_circuits = circuits_find(circuits);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good),    cmocka_unit_test(test_exchanged),
                                       cmocka_unit_test(test_altered), cmocka_unit_test(test_null_publics),
                                       cmocka_unit_test(test_bad),     cmocka_unit_test(test_index)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
