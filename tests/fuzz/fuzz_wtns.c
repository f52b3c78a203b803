/* Claim: a witness that opens lies inside the file, begins with one, and holds only numbers below r. */
#include "tests/fuzz/fuzz.h"

#include "prover/wtns.h"

const char *const fuzz_seed_endings[] = {".wtns", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wtns *w;
    if (wtns_open_memory(&w, "wtns", data, size))
        return 0;
    FUZZ_CLAIM(w->n > 0 && w->values >= data && w->n * 32 <= size - (size_t)(w->values - data));
    for (size_t i = 0; i < w->n; i++) {
        struct scalar s = wtns_value(w, i);
        FUZZ_CLAIM(scalar_is_canonical(w->curve, &s));
        FUZZ_CLAIM(i || (s.l[0] == 1 && !s.l[1] && !s.l[2] && !s.l[3]));
    }
    wtns_close(w);
    return 0;
}
