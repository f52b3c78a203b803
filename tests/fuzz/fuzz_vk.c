/* Claim: a verification key that reads holds only good points, as many as it says, and is written and read again to the
 * same key. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "prover/vk_json.h"

const char *const fuzz_seed_endings[] = {"verification_key.json", NULL};

static void check_again(const struct vk *vk)
{
    char *text;
    size_t bytes;
    struct vk again;
    FILE *f = open_memstream(&text, &bytes);
    FUZZ_CLAIM(f && vk_json_write(f, vk) == 0 && fclose(f) == 0);
    FUZZ_CLAIM(vk_json_parse(&again, "again", text, bytes) == 0);
    FUZZ_CLAIM(again.curve == vk->curve && again.n_public == vk->n_public);
    FUZZ_CLAIM(memcmp(again.ic, vk->ic, (vk->n_public + 1) * sizeof *vk->ic) == 0);
    FUZZ_CLAIM(memcmp(&again.alpha1, &vk->alpha1, 4 * sizeof vk->alpha1) == 0);
    vk_close(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vk vk;
    if (vk_json_parse(&vk, "vk", data, size))
        return 0;
    FUZZ_CLAIM(vk.curve->check(GROUP_G1, &vk.alpha1) == POINT_OK && vk.curve->check(GROUP_G2, &vk.delta2) == POINT_OK);
    for (size_t i = 0; i <= vk.n_public; i++)
        FUZZ_CLAIM(vk.curve->check(GROUP_G1, &vk.ic[i]) == POINT_OK);
    check_again(&vk);
    vk_close(&vk);
    return 0;
}
