/* Claims: word_find takes the choice that leaves the longest free run, for every state of up to 12 units and random
 * states of 48; word_candidate finds the window with the fewest leased units; a change of state keeps the bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>

#include "alloc/word.h"

/* The obvious twins: unit by unit. */
static unsigned longest_free(uint64_t bits, unsigned units)
{
    unsigned best = 0, run = 0;
    for (unsigned i = 0; i < units; i++) {
        run = bits >> i & 1 ? 0 : run + 1;
        if (run > best)
            best = run;
    }
    return best;
}

static bool window_free(uint64_t bits, unsigned first, unsigned n)
{
    for (unsigned i = first; i < first + n; i++)
        if (bits >> i & 1)
            return false;
    return true;
}

static void check(uint64_t bits, unsigned units, unsigned n)
{
    int most = -1, got = word_find(bits, units, n);
    for (unsigned first = 0; first + n <= units; first++)
        if (window_free(bits, first, n)) {
            unsigned left = longest_free(bits | word_mask(n) << first, units);
            most = (int)left > most ? (int)left : most;
        }
    if (most < 0) {
        assert_int_equal(got, -1);
        return;
    }
    assert_true(got >= 0 && window_free(bits, (unsigned)got, n) && (unsigned)got + n <= units);
    assert_int_equal(longest_free(bits | word_mask(n) << got, units), most);

    unsigned taken, fewest = 99;
    int at = word_candidate(bits, units, n, &taken);
    for (unsigned first = 0; first + n <= units; first++) {
        unsigned in = word_count(bits & word_mask(n) << first);
        fewest = in < fewest ? in : fewest;
    }
    assert_true(at >= 0);
    assert_int_equal(taken, fewest);
    assert_int_equal(word_count(bits & word_mask(n) << at), fewest);
}

static void test_all_small(void **state)
{
    (void)state;
    for (unsigned units = 1; units <= 12; units++)
        for (uint64_t bits = 0; bits < 1ull << units; bits++)
            for (unsigned n = 1; n <= units; n++)
                check(bits, units, n);
}

static void test_random_48(void **state)
{
    (void)state;
    uint64_t x = 0x5eed;
    for (int i = 0; i < 20000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = x >> 16, more = x * 0x9e3779b97f4a7c15u >> 16;
        bits = i % 3 == 0 ? bits & more : i % 3 == 1 ? bits | more : bits; /* sparse, dense, half */
        for (unsigned n = 1; n <= 48; n += 1 + (unsigned)(x & 7))
            check(bits, 48, n);
    }
    check(0, 48, 48);
    check(word_mask(48), 48, 1);
}

static void test_states(void **state)
{
    (void)state;
    uint64_t w = 0x800000000001;
    for (unsigned i = 0; i < 1u << 15; i++) {
        enum arena_state next = (enum arena_state)(i % 3);
        w = word_enter(w, next);
        assert_int_equal(word_state(w), next);
        assert_int_equal(word_epoch(w), (i + 1) & 0x3fff);
        assert_true(word_bits(w) == 0x800000000001);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small),
        cmocka_unit_test(test_random_48),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
