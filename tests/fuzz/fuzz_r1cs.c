/* Claim: walking the rows of a constraint system that opens stays inside its section and ends at its end; wires and
 * coefficients are in range; checking a witness of zeros is defined. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "prover/r1cs.h"
#include "prover/wtns.h"

const char *const fuzz_seed_endings[] = {".r1cs", NULL};

static void check_zero_witness(const struct r1cs *c)
{
    if (c->n_wires > 1 << 16)
        return;
    uint8_t *zeros = calloc(c->n_wires, 32);
    struct wtns w = {.map = {.path = (char *)(uintptr_t) "zeros"}, .curve = c->curve, .values = zeros, .n = c->n_wires};
    uint64_t row = 0;
    FUZZ_CLAIM(r1cs_check_witness(c, &w, &row) == 0 || row < c->n_constraints);
    free(zeros);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct r1cs *c;
    if (r1cs_open_memory(&c, "r1cs", data, size))
        return 0;
    struct r1cs_cursor cursor = r1cs_begin(c);
    struct r1cs_row row;
    uint64_t rows = 0;
    while (r1cs_next(&cursor, &row)) {
        for (int which = 0; which < 3; which++)
            for (uint32_t i = 0; i < row.lc[which].n; i++) {
                struct scalar coef = r1cs_term_coef(&row.lc[which], i);
                FUZZ_CLAIM(r1cs_term_wire(&row.lc[which], i) < c->n_wires);
                FUZZ_CLAIM(scalar_is_canonical(c->curve, &coef));
            }
        rows++;
    }
    FUZZ_CLAIM(rows == c->n_constraints && cursor.at == c->constraints + c->constraints_bytes);
    FUZZ_CLAIM(cursor.at <= data + size);
    check_zero_witness(c);
    r1cs_close(c);
    return 0;
}
