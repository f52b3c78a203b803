/* Canonical decimal strings <-> limbs (64 bits, least significant first). */
#ifndef PROVER_DECIMAL_H
#define PROVER_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_LIMBS_MAX = 6, DECIMAL_TEXT = 120 }; /* 2^384 has 116 digits */

/* Digits only: no sign, no 0x, no spaces, no leading zero ("0" itself is one digit).
 * -EBADMSG: not such a number; -ERANGE: such a number, but >= 2^(64 n_limbs). No sentence: the caller knows the place.
 */
int decimal_parse(uint64_t *limbs, size_t n_limbs, const char *text, size_t len);

/* Returns the number of characters; `text` ends with a NUL. n_limbs <= DECIMAL_LIMBS_MAX. */
size_t decimal_format(char text[DECIMAL_TEXT], const uint64_t *limbs, size_t n_limbs);

#endif
