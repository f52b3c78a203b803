/* Claims: the generators' encodings are the published ones; both forms round-trip for both roots and for infinity;
 * every wrong flag, every number not below q, every point off the curve or outside the subgroup is refused with a
 * sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "cuda/math/encode.h"
#include "perf/err.h"
#include "tests/cuda/math/rand.h"

static const char g1_hex[] =
    "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
static const char g2_hex[] =
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8";

static const enum encode_form forms[] = {ENCODE_COMPRESSED, ENCODE_UNCOMPRESSED};

static void read_hex(unsigned char *out, const char *hex)
{
    for (; *hex; hex += 2) {
        unsigned byte;
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        *out++ = (unsigned char)byte;
    }
}

static void refused(enum group g, enum encode_form form, const unsigned char *bytes, bool checked, const char *word)
{
    struct point p, before;
    memset(&p, 0x5a, sizeof p);
    before = p;
    assert_int_equal(point_decode(g, form, &p, bytes, checked), -EINVAL);
    assert_memory_equal(&p, &before, sizeof p);
    if (!strstr(pen_last_error(), word))
        fail_msg("\"%s\" does not say \"%s\"", pen_last_error(), word);
}

static void test_known(void **state)
{
    (void)state;
    const struct curve *c = curve_get(CURVE_BLS12_381);
    unsigned char want[96], got[96];
    struct point p;
    for (int g = 0; g < GROUPS; g++) {
        read_hex(want, g == GROUP_G1 ? g1_hex : g2_hex);
        size_t n = encode_bytes((enum group)g, ENCODE_COMPRESSED);
        point_encode((enum group)g, ENCODE_COMPRESSED, got, &c->generator[g]);
        assert_memory_equal(got, want, n);
        assert_int_equal(point_decode((enum group)g, ENCODE_COMPRESSED, &p, want, true), 0);
        assert_memory_equal(&p, &c->generator[g], sizeof p);
        want[0] ^= 0x20; /* the other root */
        assert_int_equal(point_decode((enum group)g, ENCODE_COMPRESSED, &p, want, true), 0);
        c->neg((enum group)g, &p, &p);
        assert_memory_equal(&p, &c->generator[g], sizeof p);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    const struct curve *c = curve_get(CURVE_BLS12_381);
    struct point p, q;
    unsigned char bytes[192], again[192];
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; i < 30; i++) {
            struct scalar k = {{i ? rand_u64() : 0, rand_u64() * (i > 1), 0, 0}};
            if (i == 0)
                memset(&k, 0, sizeof k); /* infinity */
            c->mul((enum group)g, &p, &c->generator[g], &k);
            for (int f = 0; f < 2; f++) {
                point_encode((enum group)g, forms[f], bytes, &p);
                assert_int_equal(point_decode((enum group)g, forms[f], &q, bytes, i % 2), 0);
                assert_memory_equal(&p, &q, sizeof p);
                point_encode((enum group)g, forms[f], again, &q);
                assert_memory_equal(bytes, again, encode_bytes((enum group)g, forms[f]));
            }
        }
}

static void test_refused(void **state)
{
    (void)state;
    const struct curve *c = curve_get(CURVE_BLS12_381);
    unsigned char good[192], bytes[192];
    const struct point zero = {{0}};
    for (int gi = 0; gi < GROUPS; gi++)
        for (int f = 0; f < 2; f++) {
            enum group g = (enum group)gi;
            size_t n = encode_bytes(g, forms[f]);
            point_encode(g, forms[f], good, &c->generator[g]);
            memcpy(bytes, good, n);
            bytes[0] ^= 0x80;
            refused(g, forms[f], bytes, false, "form");
            bytes[0] = good[0] | 0x40;
            refused(g, forms[f], bytes, false, "infinity");
            if (forms[f] == ENCODE_UNCOMPRESSED) {
                bytes[0] = good[0] | 0x20;
                refused(g, forms[f], bytes, false, "sign");
            }
            point_encode(g, forms[f], bytes, &zero);
            assert_int_equal(bytes[0], forms[f] == ENCODE_COMPRESSED ? 0xc0 : 0x40);
            bytes[0] |= 0x20;
            refused(g, forms[f], bytes, false, forms[f] == ENCODE_COMPRESSED ? "infinity" : "sign");
            point_encode(g, forms[f], bytes, &zero);
            bytes[n - 1] = 1;
            refused(g, forms[f], bytes, false, "infinity");
            for (size_t at = 0; at < n; at += 48) { /* each coordinate = q, and all ones */
                memcpy(bytes, good, n);
                for (size_t i = 0; i < 48; i++)
                    bytes[at + i] = (unsigned char)(c->fq->p[5 - i / 8] >> (56 - i % 8 * 8));
                bytes[at] |= at == 0 ? good[0] & 0xe0 : 0;
                refused(g, forms[f], bytes, false, "modulus");
                memset(bytes + at, 0xff, 48);
                bytes[at] = at == 0 ? (good[0] & 0xe0) | 0x1f : 0xff;
                refused(g, forms[f], bytes, false, "modulus");
            }
        }
}

/* Small x: about half have no root, the others are all outside the subgroup. */
static void test_off(void **state)
{
    (void)state;
    for (int gi = 0; gi < GROUPS; gi++) {
        enum group g = (enum group)gi;
        int roots = 0, none = 0;
        for (unsigned char x = 1; x < 40; x++) {
            unsigned char bytes[192] = {0x80};
            struct point p;
            bytes[encode_bytes(g, ENCODE_COMPRESSED) - 1] = x;
            if (point_decode(g, ENCODE_COMPRESSED, &p, bytes, false)) {
                assert_non_null(strstr(pen_last_error(), "curve"));
                none++;
                continue;
            }
            roots++;
            refused(g, ENCODE_COMPRESSED, bytes, true, "subgroup");
            point_encode(g, ENCODE_UNCOMPRESSED, bytes, &p);
            refused(g, ENCODE_UNCOMPRESSED, bytes, true, "subgroup");
            bytes[encode_bytes(g, ENCODE_UNCOMPRESSED) - 1] ^= 1;
            refused(g, ENCODE_UNCOMPRESSED, bytes, true, "not on the curve");
            assert_int_equal(point_decode(g, ENCODE_UNCOMPRESSED, &p, bytes, false), 0);
        }
        assert_true(roots > 5 && none > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_off)};
    rand_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
