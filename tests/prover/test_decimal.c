/* Claims: numbers go to text and back unchanged, and the text is what long division by ten gives; everything that is
 * not a canonical decimal number is refused, and what is too large is told apart from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "prover/decimal.h"
#include "tests/prover/random.h"

/* One digit at a time, the slow way. */
static void twin_format(char *text, const uint64_t *limbs, size_t n)
{
    uint64_t v[DECIMAL_LIMBS_MAX];
    memcpy(v, limbs, n * 8);
    char back[200];
    size_t len = 0;
    bool zero;
    do {
        unsigned __int128 rest = 0;
        zero = true;
        for (size_t i = n; i-- > 0;) {
            rest = rest << 64 | v[i];
            v[i] = (uint64_t)(rest / 10);
            rest %= 10;
            zero = zero && v[i] == 0;
        }
        back[len++] = (char)('0' + (int)rest);
    } while (!zero);
    for (size_t i = 0; i < len; i++)
        text[i] = back[len - 1 - i];
    text[len] = 0;
}

static void check_round(const uint64_t *limbs, size_t n)
{
    char text[DECIMAL_TEXT], twin[200];
    uint64_t back[DECIMAL_LIMBS_MAX];
    size_t len = decimal_format(text, limbs, n);
    twin_format(twin, limbs, n);
    assert_string_equal(text, twin);
    assert_int_equal(len, strlen(text));
    assert_int_equal(decimal_parse(back, n, text, len), 0);
    assert_memory_equal(back, limbs, n * 8);
}

static void test_round(void **state)
{
    (void)state;
    for (size_t n = 1; n <= DECIMAL_LIMBS_MAX; n++) {
        uint64_t limbs[DECIMAL_LIMBS_MAX] = {0};
        for (uint64_t small = 0; small < 1000; small++) {
            limbs[0] = small;
            check_round(limbs, n);
        }
        uint64_t tens[DECIMAL_LIMBS_MAX] = {1};
        for (int k = 0; k < (int)(19 * n); k++) { /* powers of ten and their neighbours */
            uint64_t below[DECIMAL_LIMBS_MAX];
            memcpy(below, tens, sizeof below);
            for (size_t i = 0; i < n && below[i]-- == 0; i++)
                ;
            check_round(below, n);
            check_round(tens, n);
            uint64_t carry = 0;
            for (size_t i = 0; i < n; i++) {
                unsigned __int128 t = (unsigned __int128)tens[i] * 10 + carry;
                tens[i] = (uint64_t)t;
                carry = (uint64_t)(t >> 64);
            }
        }
        for (int k = 0; k < 2000; k++) { /* long runs of 0 and 1 bits */
            for (size_t i = 0; i < n; i++)
                limbs[i] = random_below(3) == 0 ? random_next() : 0 - random_below(2);
            check_round(limbs, n);
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",  "-1", "+1", "0x10", "12ab", " 1",  "1 ",   "1e3", "1.0", "007", "00",  "\n",  "1\n",     "a",
        "/", ":",  "1/", "1:",   "--",   "1_0", "\xb2", "0x",  "-0",  "01",  "1,0", "NaN", "Infinity"};
    uint64_t limbs[DECIMAL_LIMBS_MAX] = {42};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(decimal_parse(limbs, 4, bad[i], strlen(bad[i])), -EBADMSG);
        assert_int_equal(limbs[0], 42);
    }
    assert_int_equal(decimal_parse(limbs, 4, "1\0002", 3), -EBADMSG);
    char nines[100000];
    memset(nines, '9', sizeof nines);
    assert_int_equal(decimal_parse(limbs, 4, nines, sizeof nines), -ERANGE);
    nines[50000] = 'x';
    assert_int_equal(decimal_parse(limbs, 4, nines, sizeof nines), -EBADMSG);
    assert_int_equal(limbs[0], 42);
}

static void test_range(void **state)
{
    (void)state;
    uint64_t limbs[DECIMAL_LIMBS_MAX];
    static const char largest[] = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    static const char next[] = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    assert_int_equal(decimal_parse(limbs, 4, largest, strlen(largest)), 0);
    for (int i = 0; i < 4; i++)
        assert_true(limbs[i] == UINT64_MAX);
    assert_int_equal(decimal_parse(limbs, 4, next, strlen(next)), -ERANGE);
    assert_int_equal(decimal_parse(limbs, 6, next, strlen(next)), 0);
    assert_int_equal(limbs[4], 1);
    assert_int_equal(decimal_parse(limbs, 1, "18446744073709551615", 20), 0);
    assert_int_equal(decimal_parse(limbs, 1, "18446744073709551616", 20), -ERANGE);
}

int main(void)
{
    seed_begin("test_decimal");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
