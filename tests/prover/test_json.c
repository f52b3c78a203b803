/* Claims: what snarkjs wrote comes back byte for byte after reading and writing it; a proof without `curve` on one line
 * (rapidsnark) reads the same; what is not such a file is refused with its name and place; numbers out of range are
 * told apart from malformed files; 200,000 nested brackets end in a sentence; a program's own allocator for jansson
 * stays in use. */
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
#include "prover/vk_json.h"
#include "prover/wtns.h"
#include "prover/zkey.h"
#include "tests/prover/circuits.h"
#include "tests/prover/mutate.h"

static struct circuit circuits[CIRCUITS_MAX];
static size_t n_circuits;

struct text {
    FILE *stream;
    char *data;
    size_t bytes;
};

static void text_begin(struct text *t)
{
    t->stream = open_memstream(&t->data, &t->bytes);
    assert_non_null(t->stream);
}

static void assert_same_as(struct text *t, const char *path)
{
    fclose(t->stream);
    struct blob file = blob_read(path);
    assert_non_null(file.data);
    if (file.bytes != t->bytes || memcmp(file.data, t->data, t->bytes) != 0)
        fail_msg("%s: %zu bytes, written again %zu bytes: %.200s", path, file.bytes, t->bytes, t->data);
    free(file.data);
    free(t->data);
}

static void test_proof_round(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_circuits; i++) {
        char path[CIRCUIT_PATH];
        struct proof proof;
        assert_int_equal(proof_json_read(&proof, circuit_path(path, &circuits[i], "proof.json"), NULL), 0);
        assert_ptr_equal(proof.curve, circuits[i].curve);
        struct text t;
        text_begin(&t);
        assert_int_equal(proof_json_write(t.stream, &proof), 0);
        assert_same_as(&t, path);
    }
}

/* public.json from the witness, and from itself. */
static void test_public_round(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_circuits; i++) {
        char path[CIRCUIT_PATH];
        struct publics publics;
        struct wtns *w;
        struct zkey *z;
        struct text t;
        assert_int_equal(wtns_open(&w, circuit_path(path, &circuits[i], "wtns")), 0);
        assert_int_equal(zkey_open(&z, circuit_path(path, &circuits[i], "zkey")), 0);
        circuit_path(path, &circuits[i], "public.json");
        text_begin(&t);
        assert_int_equal(public_json_write(t.stream, w->values + 32, z->n_public), 0);
        assert_same_as(&t, path);
        assert_int_equal(public_json_read(&publics, path, w->curve), 0);
        assert_int_equal(publics.n, z->n_public);
        text_begin(&t);
        assert_int_equal(public_json_write(t.stream, publics.values, publics.n), 0);
        assert_same_as(&t, path);
        publics_close(&publics);
        zkey_close(z);
        wtns_close(w);
    }
}

/* verification_key.json from itself, and from the proving key. */
static void test_vk_round(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_circuits; i++) {
        char path[CIRCUIT_PATH];
        struct zkey *z;
        struct vk vk;
        struct text t;
        assert_int_equal(zkey_open(&z, circuit_path(path, &circuits[i], "zkey")), 0);
        circuit_path(path, &circuits[i], "verification_key.json");
        assert_int_equal(vk_from_zkey(&vk, z), 0);
        text_begin(&t);
        assert_int_equal(vk_json_write(t.stream, &vk), 0);
        assert_same_as(&t, path);
        vk_close(&vk);
        assert_int_equal(vk_json_read(&vk, path), 0);
        text_begin(&t);
        assert_int_equal(vk_json_write(t.stream, &vk), 0);
        assert_same_as(&t, path);
        vk_close(&vk);
        zkey_close(z);
    }
}

/* The file with one text in it replaced by another. */
static char *edited(const char *path, const char *from, const char *to, size_t *bytes)
{
    struct blob file = blob_read(path);
    assert_non_null(file.data);
    char *at = strstr((char *)file.data, from);
    if (!at)
        fail_msg("%s holds no %s", path, from);
    char *out = malloc(file.bytes + strlen(to) + 1);
    size_t before = (size_t)(at - (char *)file.data);
    memcpy(out, file.data, before);
    *bytes = before + (size_t)sprintf(out + before, "%s%s", to, at + strlen(from));
    free(file.data);
    return out;
}

struct edit {
    const char *from, *to;
    int rc;
    const char *sentence;
};

static const char proof_path[] = PENSTOCK_TEST_DATA "/bn128/mult/proof.json";
static const char vk_path[] = PENSTOCK_TEST_DATA "/bn128/mult/verification_key.json";
#define PI_A_X "13885725590523491713104554587450237823021701070915790028216230451677968313189"
#define IC_0_X "16584592094299285502923216378513862412347798213319231278811292242927743098589"
#define BN_Q   "21888242871839275222246405745257275088696311157297823662689037894645226208583"

static void test_proof_edits(void **state)
{
    (void)state;
    static const struct edit edits[] = {
        {"\"curve\": \"bn128\"", "\"curve\": \"BN-254\"", 0, NULL},
        {",\n \"curve\": \"bn128\"", "", 0, NULL},
        {"\"protocol\": \"groth16\",", "", 0, NULL},
        {"\"protocol\": \"groth16\"", "\"protocol\": \"plonk\"", -EBADMSG, "proof: protocol: \"plonk\""},
        {"\"protocol\": \"groth16\"", "\"protocol\": 1", -EBADMSG, "proof: protocol: expected a string"},
        {"\"bn128\"", "\"bls12381\"", -ERANGE,
         "proof: curve: a proof for BLS12-381, the verification key is for BN254"},
        {"\"bn128\"", "\"secp256k1\"", -EBADMSG, "proof: curve: \"secp256k1\", expected bn128 or bls12381"},
        {"pi_b", "pi_d", -EBADMSG, "proof: pi_b: missing, expected an array of 3"},
        {PI_A_X, "0x10", -EBADMSG, "proof: pi_a[0]: \"0x10\" is not a decimal number"},
        {PI_A_X, "", -EBADMSG, "proof: pi_a[0]: \"\" is not a decimal number"},
        {PI_A_X, BN_Q, -ERANGE, "proof: pi_a[0]: is not below the prime q"},
        {"\"" PI_A_X "\"", PI_A_X, -EBADMSG, "too big integer"},
        {"\"" PI_A_X "\"", "12", -EBADMSG, "proof: pi_a[0]: is a JSON number, expected a decimal string"},
        {"\"" PI_A_X "\"", "null", -EBADMSG, "proof: pi_a[0]: expected a decimal string"},
        {"\"" PI_A_X "\",", "", -EBADMSG, "proof: pi_a: is something else, expected an array of 3"},
        {"\"1\"", "\"2\"", -ERANGE, "proof: pi_a[2]: expected z = 1"},
        {"\"1\"", "\"0\"", -ERANGE, "proof: pi_a[2]: expected z = 1"},
        {"[\n   \"1\",", "[\n   \"1\", \"1\",", -EBADMSG, "proof: pi_b[2]: expected an array of 2"},
        {"\"0\"", "\"1\"", -ERANGE, "proof: pi_b[2]: expected z = 1"},
        {" \"pi_c\"", " \"pi_a\": [], \"pi_c\"", -EBADMSG, "duplicate object key"},
        {"}", "} }", -EBADMSG, "proof: line 28, column 3: end of file expected"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        size_t bytes;
        char *text = edited(proof_path, edits[i].from, edits[i].to, &bytes);
        struct proof proof;
        int rc = proof_json_parse(&proof, "proof", text, bytes, curve_get(CURVE_BN254));
        if (rc != edits[i].rc || (rc && !strstr(pen_last_error(), edits[i].sentence)))
            fail_msg("%s -> %s: %d \"%s\"", edits[i].from, edits[i].to, rc, pen_last_error());
        free(text);
    }
}

/* As rapidsnark writes it: no curve, no white space. */
static void test_one_line(void **state)
{
    (void)state;
    size_t bytes, n = 0;
    char *text = edited(proof_path, ",\n \"curve\": \"bn128\"", "", &bytes);
    for (size_t i = 0; i < bytes; i++)
        if (text[i] != '\n' && text[i] != ' ')
            text[n++] = text[i];
    struct proof proof, line;
    assert_int_equal(proof_json_read(&proof, proof_path, NULL), 0);
    assert_int_equal(proof_json_parse(&line, "line", text, n, proof.curve), 0);
    assert_memory_equal(&line, &proof, sizeof proof);
    assert_int_equal(proof_json_parse(&line, "line", text, n, NULL), -EBADMSG);
    assert_string_equal(pen_last_error(), "line: curve: missing");
    free(text);
}

static void test_vk_edits(void **state)
{
    (void)state;
    static const struct edit edits[] = {
        {"\"protocol\": \"groth16\"", "\"protocol\": \"plonk\"", -EBADMSG, "vk: protocol: \"plonk\""},
        {"\"protocol\": \"groth16\",", "", -EBADMSG, "vk: protocol: missing"},
        {"\"curve\": \"bn128\",", "", -EBADMSG, "vk: curve: missing"},
        {"\"bn128\"", "\"bls12381\"", -EBADMSG, "vk: vk_alpha_1: is not on the curve"},
        {"\"nPublic\": 1", "\"nPublic\": 2", -EBADMSG, "vk: IC: 2 points, expected nPublic + 1 with nPublic = 2"},
        {"\"nPublic\": 1", "\"nPublic\": -1", -EBADMSG, "vk: nPublic: expected a number"},
        {"\"nPublic\": 1", "\"nPublic\": 1.0", -EBADMSG, "vk: nPublic: expected a number"},
        {"\"nPublic\": 1", "\"nPublic\": \"1\"", -EBADMSG, "vk: nPublic: expected a number"},
        {"\"IC\"", "\"ic\"", -EBADMSG, "vk: IC: expected an array of points"},
        {IC_0_X, BN_Q, -EBADMSG, "vk: IC[0][0]: is not below the prime q"},
        {IC_0_X, "1", -EBADMSG, "vk: IC[0]: is not on the curve"},
        {"vk_gamma_2", "gamma", -EBADMSG, "vk: vk_gamma_2: missing"},
        {"\"vk_alphabeta_12\"", "\"other\"", 0, NULL},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        size_t bytes;
        char *text = edited(vk_path, edits[i].from, edits[i].to, &bytes);
        struct vk vk = {0};
        int rc = vk_json_parse(&vk, "vk", text, bytes);
        if (rc != edits[i].rc || (rc && !strstr(pen_last_error(), edits[i].sentence)))
            fail_msg("%s -> %s: %d \"%s\"", edits[i].from, edits[i].to, rc, pen_last_error());
        vk_close(&vk);
        free(text);
    }
}

static void test_public_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        size_t n;
        const char *sentence;
    } cases[] = {
        {"[]", 0, 0, NULL},
        {" [ \"0\" , \"7\"]\n", 0, 2, NULL},
        {"null", 0, 0, NULL},
        {"", -EBADMSG, 0, "public: is empty"},
        {"{}", -EBADMSG, 0, "public: expected a JSON array"},
        {"[1]", -EBADMSG, 0, "public: value 0: is a JSON number"},
        {"[\"1\",\"-1\"]", -EBADMSG, 0, "public: value 1: \"-1\" is not a decimal number"},
        {"[\"1\\u0000\"]", -EBADMSG, 0, "public: line 1"},
        {"[\"1\"", -EBADMSG, 0, "public: line 1"},
        {"[\"21888242871839275222246405745257275088548364400416034343698204186575808495616\"]", 0, 1, NULL},
        {"[\"21888242871839275222246405745257275088548364400416034343698204186575808495617\"]", -ERANGE, 0,
         "public: value 0: is not below the prime r"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct publics publics = {0};
        int rc = public_json_parse(&publics, "public", cases[i].text, strlen(cases[i].text), curve_get(CURVE_BN254));
        if (rc != cases[i].rc || (rc && !strstr(pen_last_error(), cases[i].sentence)))
            fail_msg("%s: %d \"%s\"", cases[i].text, rc, pen_last_error());
        assert_int_equal(publics.n, cases[i].n);
        assert_int_equal(publics.was_null, rc == 0 && cases[i].text[0] == 'n');
        publics_close(&publics);
    }
}

static void test_infinity(void **state)
{
    (void)state;
    static const char text[] = "{\"curve\":\"bn128\",\"pi_a\":[\"0\",\"1\",\"0\"],\"pi_c\":[\"0\",\"1\",\"0\"],"
                               "\"pi_b\":[[\"0\",\"0\"],[\"1\",\"0\"],[\"0\",\"0\"]]}";
    static const char zeros[] = "{\"curve\":\"bn128\",\"pi_a\":[\"0\",\"0\",\"1\"]}";
    struct proof proof;
    assert_int_equal(proof_json_parse(&proof, "proof", text, strlen(text), NULL), 0);
    assert_true(point_is_infinity(&proof.a) && point_is_infinity(&proof.b) && point_is_infinity(&proof.c));
    struct text t;
    text_begin(&t);
    assert_int_equal(proof_json_write(t.stream, &proof), 0);
    fclose(t.stream);
    assert_non_null(strstr(t.data, "\"pi_a\": [\n  \"0\",\n  \"1\",\n  \"0\"\n ]"));
    assert_non_null(strstr(t.data, "[\n   \"1\",\n   \"0\"\n  ],\n  [\n   \"0\",\n   \"0\"\n  ]\n ]"));
    free(t.data);
    assert_int_equal(proof_json_parse(&proof, "proof", zeros, strlen(zeros), NULL), -ERANGE);
    assert_string_equal(pen_last_error(), "proof: pi_a: (0, 0) is not on the curve");
}

static void test_deep(void **state)
{
    (void)state;
    enum { DEEP = 200000 };
    char *text = malloc(DEEP);
    memset(text, '[', DEEP);
    struct vk vk;
    assert_int_equal(vk_json_parse(&vk, "deep", text, DEEP), -EBADMSG);
    assert_non_null(strstr(pen_last_error(), "deep: line 1, column 2049: maximum parsing depth reached"));
    free(text);
}

static void test_write_fails(void **state)
{
    (void)state;
    struct proof proof;
    assert_int_equal(proof_json_read(&proof, proof_path, NULL), 0);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(proof_json_write(full, &proof), -EIO);
    assert_non_null(strstr(pen_last_error(), "the proof cannot be written"));
    fclose(full);
}

/* A program's own allocator for jansson, one that free(3) cannot stand in for: the pointer lies inside the block. */
static long own_blocks, own_calls;

static void *own_malloc(size_t bytes)
{
    char *p = malloc(bytes + 16);
    own_blocks++;
    own_calls++;
    return p ? p + 16 : NULL;
}

static void own_free(void *p)
{
    if (!p)
        return;
    own_blocks--;
    free((char *)p - 16);
}

/* Set in main, before the first document, as jansson asks. */
static void test_own_allocator(void **state)
{
    (void)state;
    long calls = own_calls, blocks = own_blocks;
    struct proof proof;
    assert_int_equal(proof_json_read(&proof, proof_path, NULL), 0);
    assert_true(own_calls > calls);
    assert_int_equal(own_blocks, blocks);
    json_t *theirs = json_string("made outside");
    assert_true(own_blocks > blocks);
    json_decref(theirs);
    assert_int_equal(own_blocks, blocks);
}

int main(void)
{
    json_set_alloc_funcs(own_malloc, own_free);
    n_circuits = circuits_find(circuits);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proof_round), cmocka_unit_test(test_public_round),  cmocka_unit_test(test_vk_round),
        cmocka_unit_test(test_proof_edits), cmocka_unit_test(test_vk_edits),      cmocka_unit_test(test_public_texts),
        cmocka_unit_test(test_infinity),    cmocka_unit_test(test_one_line),      cmocka_unit_test(test_deep),
        cmocka_unit_test(test_write_fails), cmocka_unit_test(test_own_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
