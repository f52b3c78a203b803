/* Claims: the compressed rows hold exactly the terms of section 4, in file order inside a row, for real keys and for
 * the same terms in any order; the dictionary holds each value once, also when all differ; no order or repetition of
 * terms upsets it. The twin keeps the terms in a list and sorts it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/csr.h"
#include "prover/packed.h"
#include "tests/prover/circuits.h"
#include "tests/prover/random.h"

struct list_term {
    uint32_t matrix, row, signal;
    size_t at;
    struct fr value;
};

static int by_row(const void *pa, const void *pb)
{
    const struct list_term *a = pa, *b = pb;
    if (a->matrix != b->matrix)
        return a->matrix < b->matrix ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

static struct list_term *twin(const struct zkey *z)
{
    struct list_term *list = calloc(z->n_coefs + 1, sizeof *list);
    const uint8_t *terms = NULL;
    assert_int_equal(file_map_take(&z->map, &terms, z->coefs_offset, z->n_coefs * ZKEY_COEF_BYTES), 0);
    for (size_t i = 0; i < z->n_coefs; i++) {
        const uint8_t *p = terms + i * ZKEY_COEF_BYTES;
        list[i] = (struct list_term){load_u32(p), load_u32(p + 4), load_u32(p + 8), i, {{0}}};
        memcpy(&list[i].value, p + 12, 32);
    }
    file_map_done(&z->map, z->coefs_offset);
    qsort(list, z->n_coefs, sizeof *list, by_row);
    return list;
}

static void check_against_twin(const struct zkey *z)
{
    struct csr *csr;
    assert_int_equal(csr_open(&csr, z), 0);
    struct list_term *list = twin(z), *next = list;
    size_t last_row = 0;
    for (uint32_t m = 0; m < CSR_MATRICES; m++) {
        struct matrix_args args = csr_matrix_args(csr, (enum csr_which)m, false);
        assert_int_equal(args.cols, z->n_vars);
        assert_int_equal(args.row[0], 0);
        for (size_t row = 0; row < args.rows; row++) {
            assert_true(args.row[row] <= args.row[row + 1]);
            for (uint64_t i = args.row[row]; i < args.row[row + 1]; i++, next++) {
                assert_int_equal(next->matrix, m);
                assert_int_equal(next->row, row);
                assert_int_equal(next->signal, args.col[i]);
                assert_true(args.coef[i] < args.n_dict);
                assert_memory_equal(&next->value, &args.dict[args.coef[i]], 32);
                last_row = row > last_row ? row : last_row;
            }
        }
    }
    assert_int_equal(next - list, z->n_coefs);
    assert_int_equal(csr->rows, z->n_coefs ? last_row + 1 : 0);
    for (size_t i = 1; i < csr->n_dict && csr->n_dict < 1000; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(&csr->dict[i], &csr->dict[j], 32);
    free(list);
    csr_close(csr);
}

static void test_real(void **state)
{
    (void)state;
    static struct circuit circuits[CIRCUITS_MAX];
    size_t n = circuits_find(circuits);
    for (size_t i = 0; i < n; i++) {
        char path[CIRCUIT_PATH];
        struct zkey *z;
        assert_int_equal(zkey_open(&z, circuit_path(path, &circuits[i], "zkey")), 0);
        check_against_twin(z);
        zkey_close(z);
    }
}

/* A key as far as csr looks at it. */
static struct zkey made_up(uint8_t *coefs, size_t n, uint32_t rows, uint32_t signals, uint64_t values)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t *p = coefs + i * ZKEY_COEF_BYTES;
        uint32_t head[3] = {(uint32_t)random_below(2), (uint32_t)random_below(rows), (uint32_t)random_below(signals)};
        uint64_t value[4] = {random_below(values), 0, values > 1000 ? i : 7, 0x1fffffffffffffff};
        memcpy(p, head, sizeof head);
        memcpy(p + 12, value, sizeof value);
    }
    return (struct zkey){.map = {.path = (char *)(uintptr_t) "made up", .data = coefs},
                         .curve = curve_get(CURVE_BN254),
                         .n_vars = signals,
                         .domain_size = rows,
                         .n_coefs = n};
}

static void test_any_order(void **state)
{
    (void)state;
    static uint8_t coefs[150000 * ZKEY_COEF_BYTES + 3]; /* up to three blocks */
    for (int round = 0; round < 40; round++) {
        size_t n = round < 4 ? (size_t)round : round > 36 ? 65530 + random_below(84000) : random_below(3000);
        uint32_t rows = 1u << random_below(12), signals = 1 + (uint32_t)random_below(5000);
        uint64_t values = round % 3 == 0 ? UINT64_MAX : 1 + random_below(300);
        struct zkey z = made_up(coefs + random_below(4), n, rows, signals, values);
        check_against_twin(&z);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static uint8_t coefs[100 * ZKEY_COEF_BYTES];
    struct zkey z = made_up(coefs, 100, 64, 50, 5);
    struct csr *csr = NULL;
    memset(coefs + 57 * ZKEY_COEF_BYTES + 12, 0xff, 32);
    assert_int_equal(csr_open(&csr, &z), -EBADMSG);
    assert_string_equal(pen_last_error(), "made up: section 4 (coefficients): the value of term 57 is not below the "
                                          "prime r of BN254");
    memcpy(coefs + 57 * ZKEY_COEF_BYTES + 12, z.curve->fr->p, 32);
    assert_int_equal(csr_open(&csr, &z), -EBADMSG);
    coefs[57 * ZKEY_COEF_BYTES + 12]--; /* r - 1 */
    assert_int_equal(csr_open(&csr, &z), 0);
    csr_close(csr);
}

int main(void)
{
    seed_begin("test_csr");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_real), cmocka_unit_test(test_any_order),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
