/* The claims of the stamps for all fields and groups, compiled once for each instruction set (STAMP_CASES names the
 * function, ISA_ADX picks the set). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/cuda/math/big.h"
#include "tests/cuda/math/rand.h"
#include "tests/cuda/math/stamp_cases.h"
#include "tests/slower.h"

#define CASES_FIELD bn254_fq
#define CASES_TYPE  struct fe4
#define CASES_LIMBS 4
#define CASES_SPARE 2
#include "tests/cuda/math/field_cases.h"

#define CASES_FIELD bn254_fr
#define CASES_TYPE  struct fr
#define CASES_LIMBS 4
#define CASES_SPARE 2
#include "tests/cuda/math/field_cases.h"

#define CASES_FIELD bls12381_fq
#define CASES_TYPE  struct fe6
#define CASES_LIMBS 6
#define CASES_SPARE 2
#include "tests/cuda/math/field_cases.h"

#define CASES_FIELD bls12381_fr
#define CASES_TYPE  struct fr
#define CASES_LIMBS 4
#define CASES_SPARE 1
#include "tests/cuda/math/field_cases.h"

#define CASES_FQ2  bn254_fq2
#define CASES_TYPE struct fe4x2
#define CASES_FQ   bn254_fq
#define CASES_BASE struct fe4
#include "tests/cuda/math/fq2_cases.h"

#define CASES_FQ2  bls12381_fq2
#define CASES_TYPE struct fe6x2
#define CASES_FQ   bls12381_fq
#define CASES_BASE struct fe6
#include "tests/cuda/math/fq2_cases.h"

#define CASES_GROUP bn254_g1
#define CASES_FIELD bn254_fq
#define CASES_COORD struct fe4
#include "tests/cuda/math/group_cases.h"

#define CASES_GROUP bn254_g2
#define CASES_FIELD bn254_fq2
#define CASES_COORD struct fe4x2
#include "tests/cuda/math/group_cases.h"

#define CASES_GROUP bls12381_g1
#define CASES_FIELD bls12381_fq
#define CASES_COORD struct fe6
#include "tests/cuda/math/group_cases.h"

#define CASES_GROUP bls12381_g2
#define CASES_FIELD bls12381_fq2
#define CASES_COORD struct fe6x2
#include "tests/cuda/math/group_cases.h"

/* Hexadecimal digits of fixed width, most significant first -> Montgomery coordinate. */
static void read_hex(uint64_t *w, const char *hex, int limbs)
{
    for (int i = 0; i < limbs; i++) {
        w[limbs - 1 - i] = 0;
        for (int k = 0; k < 16; k++) {
            char c = *hex++;
            w[limbs - 1 - i] = w[limbs - 1 - i] << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
    }
}

static struct fe4 fe4_hex(const char *hex)
{
    struct fe4 r;
    uint64_t w[4];
    read_hex(w, hex, 4);
    bn254_fq_from_plain(&r, w);
    return r;
}

static struct fe6 fe6_hex(const char *hex)
{
    struct fe6 r;
    uint64_t w[6];
    read_hex(w, hex, 6);
    bls12381_fq_from_plain(&r, w);
    return r;
}

static void bn254_groups(void)
{
    struct bn254_g1_affine g1 = {fe4_hex("0000000000000000000000000000000000000000000000000000000000000001"),
                                 fe4_hex("0000000000000000000000000000000000000000000000000000000000000002")};
    struct bn254_g2_affine g2 = {{fe4_hex("1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed"),
                                  fe4_hex("198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2")},
                                 {fe4_hex("12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa"),
                                  fe4_hex("090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b")}};
    bn254_g1_cases(&g1, bn254_fr_const.p);
    bn254_g2_cases(&g2, bn254_fr_const.p);
}

static void bls12381_groups(void)
{
    struct bls12381_g1_affine g1 = {
        fe6_hex("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"),
        fe6_hex("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1")};
    struct bls12381_g2_affine g2 = {
        {fe6_hex("024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"),
         fe6_hex("13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e")},
        {fe6_hex("0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801"),
         fe6_hex("0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be")}};
    bls12381_g1_cases(&g1, bls12381_fr_const.p);
    bls12381_g2_cases(&g2, bls12381_fr_const.p);
}

void STAMP_CASES(uint64_t seed)
{
    rand_state = seed;
    bn254_fq_cases();
    bn254_fr_cases();
    bls12381_fq_cases();
    bls12381_fr_cases();
    bn254_fq2_cases();
    bls12381_fq2_cases();
    bn254_groups();
    bls12381_groups();
}
