/* Claim: public values that read are below r, and are written and read again to the same values. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "prover/public_json.h"

const char *const fuzz_seed_endings[] = {"public.json", "public_plus_r.json", "public_null.json", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int id = 0; id < CURVES; id++) {
        const struct curve *c = curve_get((enum curve_id)id);
        struct publics publics, again;
        if (public_json_parse(&publics, "public", data, size, c))
            continue;
        for (size_t i = 0; i < publics.n; i++)
            FUZZ_CLAIM(scalar_is_canonical(c, &publics.values[i]));
        char *text;
        size_t bytes;
        FILE *f = open_memstream(&text, &bytes);
        FUZZ_CLAIM(f && public_json_write(f, publics.values, publics.n) == 0 && fclose(f) == 0);
        FUZZ_CLAIM(public_json_parse(&again, "again", text, bytes, c) == 0 && again.n == publics.n);
        FUZZ_CLAIM(memcmp(publics.values, again.values, publics.n * sizeof *publics.values) == 0);
        publics_close(&publics);
        publics_close(&again);
        free(text);
    }
    return 0;
}
