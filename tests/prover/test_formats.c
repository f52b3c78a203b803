/* Claims: every real key, witness and constraint system opens and its parts belong together; every mutant of them gets
 * exactly the fate that its table line says, with a sentence that names the file and the place; the mutants are byte
 * for byte the malformed files of the collection that they were modelled on (when PENSTOCK_CORPUS is set). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/err.h"
#include "prover/csr.h"
#include "prover/proof.h"
#include "prover/r1cs.h"
#include "prover/wtns.h"
#include "prover/zkey.h"
#include "tests/prover/circuits.h"
#include "tests/prover/mutate.h"

static struct circuit circuits[CIRCUITS_MAX];
static size_t n_circuits;

static void check_zkey(const struct zkey *z, const struct r1cs *c)
{
    assert_int_equal(z->n_vars, c->n_wires);
    assert_int_equal(z->n_public, c->n_public);
    assert_true(z->domain_size > c->n_constraints + c->n_public);
    assert_int_equal(z->domain_size, 1u << z->log_domain);
    assert_int_equal(z->points[ZKEY_C].n, z->n_vars - z->n_public - 1);
    assert_int_equal(z->points[ZKEY_B2].group, GROUP_G2);
    assert_int_equal(z->trailing_bytes, 0);
    struct point first;
    for (int i = 0; i < ZKEY_SETS; i++) {
        if (z->points[i].n == 0)
            continue;
        const uint8_t *data = NULL;
        assert_int_equal(zkey_points_take(z, &data, (enum zkey_set)i), 0);
        point_load(z->curve, z->points[i].group, &first, data);
        zkey_points_done(z, (enum zkey_set)i);
        assert_int_equal(z->curve->check(z->points[i].group, &first), POINT_OK);
    }
}

/* Section 4 against the constraint system it was made of: as many A and B terms, and n_public + 1 more. */
static void check_csr(const struct zkey *z, const struct r1cs *c)
{
    struct csr *csr;
    assert_int_equal(csr_open(&csr, z), 0);
    assert_int_equal(csr->rows, c->n_constraints + c->n_public + 1);
    assert_true(csr->matrix[CSR_A].n_terms >= z->n_public + 1);
    assert_true(csr->matrix[CSR_A].n_terms <= c->n_terms[0] + z->n_public + 1);
    assert_true(csr->matrix[CSR_B].n_terms <= c->n_terms[1]);
    assert_int_equal(csr->matrix[CSR_A].n_terms + csr->matrix[CSR_B].n_terms, z->n_coefs);
    csr_close(csr);
}

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_circuits; i++) {
        char path[CIRCUIT_PATH];
        struct zkey *z;
        struct wtns *w;
        struct r1cs *c;
        struct vk vk;
        assert_int_equal(zkey_open(&z, circuit_path(path, &circuits[i], "zkey")), 0);
        assert_int_equal(wtns_open(&w, circuit_path(path, &circuits[i], "wtns")), 0);
        assert_int_equal(r1cs_open(&c, circuit_path(path, &circuits[i], "r1cs")), 0);
        assert_ptr_equal(z->curve, circuits[i].curve);
        check_zkey(z, c);
        check_csr(z, c);
        assert_int_equal(wtns_match_zkey(w, z), 0);
        assert_int_equal(r1cs_check_witness(c, w, NULL), 0);
        assert_int_equal(vk_from_zkey(&vk, z), 0);
        assert_int_equal(vk.n_public, z->n_public);
        vk_close(&vk);
        r1cs_close(c);
        wtns_close(w);
        zkey_close(z);
    }
}

static int open_zkey(const char *name, const struct blob *b)
{
    struct zkey *z = NULL;
    int rc = zkey_open_memory(&z, name, b->data, b->bytes);
    if (rc)
        return rc;
    struct csr *csr = NULL;
    rc = csr_open(&csr, z);
    csr_close(csr);
    zkey_close(z);
    return rc;
}

/* 1: opens, but not beside the key and the circuit it came from. */
static int open_wtns(const char *name, const struct blob *b, const struct blob good[MUTANT_KINDS])
{
    struct wtns *w = NULL;
    int rc = wtns_open_memory(&w, name, b->data, b->bytes);
    if (rc)
        return rc;
    struct zkey *z;
    struct r1cs *c;
    assert_int_equal(zkey_open_memory(&z, "partner.zkey", good[MUTANT_ZKEY].data, good[MUTANT_ZKEY].bytes), 0);
    assert_int_equal(r1cs_open_memory(&c, "partner.r1cs", good[MUTANT_R1CS].data, good[MUTANT_R1CS].bytes), 0);
    rc = wtns_match_zkey(w, z);
    uint64_t row = 0;
    if (rc == 0)
        rc = r1cs_check_witness(c, w, &row);
    assert_true(row < c->n_constraints);
    r1cs_close(c);
    zkey_close(z);
    wtns_close(w);
    return rc ? 1 : 0;
}

static int open_r1cs(const char *name, const struct blob *b)
{
    struct r1cs *c = NULL;
    int rc = r1cs_open_memory(&c, name, b->data, b->bytes);
    if (rc == 0)
        r1cs_close(c);
    return rc;
}

static void check_fate(const struct mutant *m, const struct blob good[MUTANT_KINDS], const char *curve)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", m->name, mutant_ending[m->kind]);
    struct blob made = mutant_make(m, good);
    /* exactly as long as the file, so that the sanitizer sees any byte read past it */
    struct blob b = {malloc(made.bytes ? made.bytes : 1), made.bytes};
    memcpy(b.data, made.data, made.bytes);
    err_set("");
    int rc = m->kind == MUTANT_ZKEY   ? open_zkey(name, &b)
             : m->kind == MUTANT_WTNS ? open_wtns(name, &b, good)
                                      : open_r1cs(name, &b);
    free(b.data);
    free(made.data);
    const char *said = pen_last_error();
    /* the other curve's prime may be smaller than the values themselves */
    if (m->op == OP_SWAP_R && rc == -EBADMSG && strstr(said, "is not below the prime r"))
        return;
    int want = m->fate == MUTANT_REFUSED ? -EBADMSG : m->fate == MUTANT_MATCH ? 1 : 0;
    if (rc != want || (m->sentence && (!strstr(said, m->sentence) || !strstr(said, name))))
        fail_msg("%s (%s): %d \"%s\", expected %d \"%s\"", name, curve, rc, said, want, m->sentence ? m->sentence : "");
}

static void test_mutants(void **state)
{
    (void)state;
    for (int id = 0; id < CURVES; id++) {
        char dir[512];
        const char *curve = curve_get((enum curve_id)id)->name;
        struct blob good[MUTANT_KINDS];
        snprintf(dir, sizeof dir, "%s/%s/poseidon1", PENSTOCK_TEST_DATA, curve);
        blobs_load(good, dir, "poseidon1");
        for (size_t i = 0; i < n_mutants; i++)
            check_fate(&mutants[i], good, curve);
        blobs_free(good);
    }
}

/* Every length from nothing to all: refused, never a crash. */
static void test_truncated(void **state)
{
    (void)state;
    struct blob good[MUTANT_KINDS];
    blobs_load(good, PENSTOCK_TEST_DATA "/bn128/linear", "linear");
    for (int kind = 0; kind < MUTANT_KINDS; kind++)
        for (size_t n = 0; n < good[kind].bytes; n++) {
            struct blob b = {malloc(n + 1), n};
            memcpy(b.data, good[kind].data, n);
            int rc = kind == MUTANT_ZKEY   ? open_zkey("cut", &b)
                     : kind == MUTANT_WTNS ? open_wtns("cut", &b, good)
                                           : open_r1cs("cut", &b);
            assert_int_equal(rc, -EBADMSG);
            free(b.data);
        }
    blobs_free(good);
}

static void test_same_as_collected(void **state)
{
    (void)state;
    const char *corpus = getenv("PENSTOCK_CORPUS");
    if (!corpus || !*corpus)
        skip();
    struct blob good[MUTANT_KINDS];
    blobs_load(good, PENSTOCK_TEST_DATA "/bn128/poseidon1", "poseidon1");
    int compared = 0;
    for (size_t i = 0; i < n_mutants; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/bad/%s.%s", corpus, mutants[i].name, mutant_ending[mutants[i].kind]);
        struct blob collected = blob_read(path);
        if (!collected.data)
            continue;
        struct blob made = mutant_make(&mutants[i], good);
        if (made.bytes != collected.bytes || memcmp(made.data, collected.data, made.bytes) != 0)
            fail_msg("%s differs", path);
        compared++;
        free(made.data);
        free(collected.data);
    }
    assert_int_equal(compared, 44); /* all but the real PLONK key and the witness of the other curve */
    blobs_free(good);
}

static void test_other_circuit(void **state)
{
    (void)state;
    struct zkey *z;
    struct wtns *w;
    assert_int_equal(zkey_open(&z, PENSTOCK_TEST_DATA "/bn128/poseidon1/poseidon1.zkey"), 0);
    assert_int_equal(wtns_open(&w, PENSTOCK_TEST_DATA "/bls12381/poseidon1/poseidon1.wtns"), 0);
    assert_int_equal(wtns_match_zkey(w, z), -EBADMSG);
    assert_non_null(strstr(pen_last_error(), "witness over the field of BLS12-381, the key "));
    wtns_close(w);
    assert_int_equal(wtns_open(&w, PENSTOCK_TEST_DATA "/bn128/nopub/nopub.wtns"), 0);
    assert_int_equal(wtns_match_zkey(w, z), -EBADMSG);
    assert_non_null(strstr(pen_last_error(), "nopub.wtns: 33 elements, the key "));
    assert_non_null(strstr(pen_last_error(), "has 520 wires"));
    wtns_close(w);
    zkey_close(z);
}

static void test_files(void **state)
{
    (void)state;
    struct zkey *z = NULL;
    struct wtns *w = NULL;
    assert_int_equal(zkey_open(&z, "/nonexistent/a.zkey"), -ENOENT);
    assert_non_null(strstr(pen_last_error(), "/nonexistent/a.zkey: cannot be opened"));
    assert_int_equal(wtns_open(&w, "/"), -EBADMSG);
    assert_string_equal(pen_last_error(), "/: is a folder, expected a file");
    assert_int_equal(wtns_open(&w, "/dev/null"), -EBADMSG);
    assert_non_null(strstr(pen_last_error(), "/dev/null: is not a regular file"));
    assert_int_equal(zkey_open(&z, PENSTOCK_TEST_DATA "/bad/zkey_plonk_real.zkey"), -EBADMSG);
    assert_non_null(strstr(pen_last_error(), "zkey_plonk_real.zkey: section 1 (protocol): 2 (PLONK)"));
    assert_null(z);
    assert_null(w);
}

int main(void)
{
    n_circuits = circuits_find(circuits);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good),          cmocka_unit_test(test_mutants),
                                       cmocka_unit_test(test_truncated),     cmocka_unit_test(test_same_as_collected),
                                       cmocka_unit_test(test_other_circuit), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
