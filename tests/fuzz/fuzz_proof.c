/* Claim: a proof that reads is written and read again to the same points. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "prover/proof_json.h"

const char *const fuzz_seed_endings[] = {"proof.json", "_torsion.json", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proof proof, again;
    if (proof_json_parse(&proof, "proof", data, size, NULL))
        return 0;
    char *text;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    FUZZ_CLAIM(f && proof_json_write(f, &proof) == 0 && fclose(f) == 0);
    FUZZ_CLAIM(proof_json_parse(&again, "again", text, bytes, proof.curve) == 0);
    FUZZ_CLAIM(memcmp(&proof, &again, sizeof proof) == 0);
    free(text);
    return 0;
}
