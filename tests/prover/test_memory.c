/* Claim: whichever allocation fails, every function says -ENOMEM with a sentence, sets no output and leaks nothing (the
 * asan preset sees that). The k-th call fails, for every k until nothing is left to fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "penstock/verify.h"
#include "perf/err.h"
#include "prover/csr.h"
#include "prover/file_out.h"
#include "prover/proof_json.h"
#include "prover/public_json.h"
#include "prover/r1cs.h"
#include "prover/vk_json.h"
#include "prover/wtns.h"
#include "prover/zkey.h"

/* Linked with --wrap: calls from penstock's own objects come here. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

static long countdown; /* 0: nothing fails; at 1 the next call does */
static bool failed;

static bool fails(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}
char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}
char *__wrap_strndup(const char *s, size_t n)
{
    return fails() ? NULL : __real_strndup(s, n);
}

#define DIR_BN PENSTOCK_TEST_DATA "/bn128/linear/"

static int read_key(void)
{
    struct zkey *z = NULL;
    struct csr *csr = NULL;
    struct vk vk = {0};
    int rc = zkey_open(&z, DIR_BN "linear.zkey");
    if (rc == 0)
        rc = csr_open(&csr, z);
    if (rc == 0)
        rc = vk_from_zkey(&vk, z);
    vk_close(&vk);
    csr_close(csr);
    zkey_close(z);
    return rc;
}

/* More distinct coefficients than the dictionary begins with, in falling rows: both ways of building grow it. */
static int build_large(void)
{
    enum { N = 3000 };
    static uint8_t coefs[N * ZKEY_COEF_BYTES];
    struct zkey z = {.map = {.path = (char *)(uintptr_t) "made up", .data = coefs, .bytes = sizeof coefs},
                     .curve = curve_get(CURVE_BN254),
                     .n_vars = 1,
                     .domain_size = 4096,
                     .n_coefs = N};
    for (uint32_t i = 0; i < N; i++) {
        uint32_t row = i < N / 2 ? i : N - i;
        memcpy(coefs + i * ZKEY_COEF_BYTES + 4, &row, 4);
        memcpy(coefs + i * ZKEY_COEF_BYTES + 12, &i, 4);
    }
    struct csr *csr = NULL;
    int rc = csr_open(&csr, &z);
    csr_close(csr);
    return rc;
}

static int read_witness(void)
{
    struct wtns *w = NULL;
    struct r1cs *c = NULL;
    int rc = wtns_open(&w, DIR_BN "linear.wtns");
    if (rc == 0)
        rc = r1cs_open(&c, DIR_BN "linear.r1cs");
    if (rc == 0)
        rc = r1cs_check_witness(c, w, NULL);
    r1cs_close(c);
    wtns_close(w);
    return rc;
}

static int verify(void)
{
    enum pen_verdict v;
    return pen_verify_files(&v, DIR_BN "verification_key.json", DIR_BN "public.json", DIR_BN "proof.json");
}

static int write_public(void)
{
    static const struct scalar values[3] = {{{1}}, {{2}}, {{3}}};
    struct file_out *out = NULL;
    FILE *f;
    char path[64];
    snprintf(path, sizeof path, "/tmp/penstock_memory_%d.json", (int)getpid());
    int rc = file_out_open(&out);
    if (rc)
        return rc;
    if ((rc = file_out_add(out, &f, path)) || (rc = public_json_write(f, values, 3))) {
        file_out_abort(out);
        return rc;
    }
    rc = file_out_commit(out);
    unlink(path);
    return rc;
}

static void fail_each(int (*scenario)(void), long at_least)
{
    countdown = 0;
    assert_int_equal(scenario(), 0);
    long k = 0;
    do {
        err_set("");
        failed = false;
        countdown = ++k;
        int rc = scenario();
        countdown = 0;
        if (rc != 0 && rc != -ENOMEM)
            print_error("allocation %ld failed: rc %d, \"%s\"\n", k, rc, pen_last_error());
        /* what only trims memory, or has another way, may go on without it */
        assert_true(rc == -ENOMEM || rc == 0);
        assert_true(rc == 0 || strlen(pen_last_error()) > 10);
    } while (failed);
    assert_true(k > at_least);
}

static void test_each(void **state)
{
    (void)state;
    fail_each(read_key, 10);
    fail_each(build_large, 10);
    fail_each(read_witness, 4);
    fail_each(verify, 50);
    fail_each(write_public, 4);
}

int main(void)
{
    json_set_alloc_funcs(__wrap_malloc, free);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
