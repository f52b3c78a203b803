/* Claims: secrets are read from hexadecimal numbers of any length that fit, and everything else is refused with file
 * and field; random secrets differ from draw to draw; a key that cannot be written (full disk, trapdoor in the domain)
 * ends in a sentence, and a key from given secrets opens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/device.h"
#include "perf/err.h"
#include "prover/r1cs.h"
#include "prover/setup.h"
#include "prover/trapdoor.h"
#include "prover/zkey.h"

static char path[] = "/tmp/penstock_trapdoor_XXXXXX";

static int read_text(const struct curve *c, struct trapdoor *t, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return trapdoor_read(c, t, path);
}

static void assert_plain(const struct curve *c, const struct fr *got, uint64_t low, uint64_t top)
{
    struct scalar s;
    c->fr_to_scalar(&s, got);
    assert_int_equal(s.l[0], low);
    assert_int_equal(s.l[3], top);
    assert_int_equal(s.l[1] | s.l[2], 0);
}

static void test_read(void **state)
{
    (void)state;
    const struct curve *c = curve_get(CURVE_BN254);
    struct trapdoor t;
    assert_int_equal(read_text(c, &t,
                               "{\"tau\": \"0x1\", \"alpha\": \"0xDeadBeef\", \"beta\": "
                               "\"0x1000000000000000000000000000000000000000000000000000000000000002\", "
                               "\"delta\": \"0xffffffffffffffff\", \"gamma\": 1}"),
                     0);
    assert_plain(c, &t.tau, 1, 0);
    assert_plain(c, &t.alpha, 0xdeadbeef, 0);
    assert_plain(c, &t.beta, 2, 0x1000000000000000);
    assert_plain(c, &t.delta, UINT64_MAX, 0);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const values[] = {"\"\"", "\"0x\"", "\"12\"", "\"0X1\"", "\"0x1g\"", "\"0x-1\"", "\"0x 1\"", "1",
                                         "null", "[]", "\"0x0\"",
                                         /* BLS12-381's r, then 65 digits */
                                         "\"0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001\"",
                                         "\"0x00000000000000000000000000000000000000000000000000000000000000001\""};
    const struct curve *c = curve_get(CURVE_BLS12_381);
    struct trapdoor t, before;
    memset(&t, 0x5a, sizeof t);
    before = t;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[300];
        snprintf(text, sizeof text, "{\"tau\":\"0x2\",\"alpha\":\"0x3\",\"beta\":%s,\"delta\":\"0x4\"}", values[i]);
        if (read_text(c, &t, text) != -EBADMSG)
            fail_msg("%s was taken", values[i]);
        assert_non_null(strstr(pen_last_error(), path));
        assert_non_null(strstr(pen_last_error(), "\"beta\""));
    }
    assert_int_equal(read_text(c, &t, "{\"tau\":\"0x2\",\n\"tau\":\"0x2\"}"), -EBADMSG);
    assert_non_null(strstr(pen_last_error(), "line 2"));
    assert_int_equal(read_text(c, &t, "[]"), -EBADMSG);
    assert_non_null(strstr(pen_last_error(), "\"tau\""));
    assert_int_equal(trapdoor_read(c, &t, "/nonexistent/secrets.json"), -EBADMSG);
    assert_non_null(strstr(pen_last_error(), "/nonexistent/secrets.json"));
    assert_memory_equal(&t, &before, sizeof t);
}

static void test_random(void **state)
{
    (void)state;
    const struct curve *c = curve_get(CURVE_BN254);
    struct trapdoor a, b;
    assert_int_equal(trapdoor_random(c, &a), 0);
    assert_int_equal(trapdoor_random(c, &b), 0);
    const struct fr *all[] = {&a.tau, &a.alpha, &a.beta, &a.delta, &b.tau, &b.alpha, &b.beta, &b.delta};
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(all[i], all[j], sizeof *all[i]);
}

static int make_key(FILE *zkey, FILE *vk, const struct trapdoor *t)
{
    struct device *host;
    struct r1cs *r1cs;
    assert_int_equal(device_host_open(&host, &(struct device_opts){.threads = 1}), 0);
    assert_int_equal(r1cs_open(&r1cs, PENSTOCK_TEST_DATA "/bn128/linear/linear.r1cs"), 0);
    int rc = setup_write(zkey, vk, host, r1cs, t, NULL, NULL, NULL);
    r1cs_close(r1cs);
    host->ops->close(host);
    return rc;
}

static void test_keys(void **state)
{
    (void)state;
    struct trapdoor t;
    assert_int_equal(trapdoor_derive(curve_get(CURVE_BN254), &t, 7), 0);
    char *data[2];
    size_t bytes[2];
    FILE *zkey = open_memstream(&data[0], &bytes[0]), *vk = open_memstream(&data[1], &bytes[1]);
    assert_int_equal(make_key(zkey, vk, &t), 0);
    fclose(zkey);
    fclose(vk);
    struct zkey *z;
    assert_int_equal(zkey_open_memory(&z, "made.zkey", data[0], bytes[0]), 0);
    zkey_close(z);
    for (int which = 0; which < 2; which++) { /* one of the outputs on a full disk */
        FILE *full = fopen("/dev/full", "w"), *rest = fopen("/dev/null", "w");
        setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(which ? make_key(rest, full, &t) : make_key(full, rest, &t), which ? -EIO : -ENOSPC);
        assert_non_null(strstr(pen_last_error(), which ? "cannot be written" : "cannot write the key"));
        fclose(full);
        fclose(rest);
    }
    free(data[0]);
    free(data[1]);
    curve_get(CURVE_BN254)->fr_from_u64(&t.tau, 1); /* the domain's first point */
    zkey = fopen("/dev/null", "w");
    assert_int_equal(make_key(zkey, zkey, &t), -EINVAL);
    assert_non_null(strstr(pen_last_error(), "evaluation domain"));
    fclose(zkey);
}

int main(void)
{
    int fd = mkstemp(path);
    if (fd < 0)
        return 77;
    close(fd);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_random), cmocka_unit_test(test_keys)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
