/* Points of BLS12-381 as bytes, the way Zcash's and Filecoin's files hold them: coordinates big-endian, in G2 c1 before
 * c0, flags in the three top bits of the first byte.
 *
 *   compressed    | flags x |       48 bytes in G1, 96 in G2
 *   uncompressed  | flags x | y |   96 bytes in G1, 192 in G2
 *   flags: 0x80 compressed, 0x40 infinity (all other bits are zero), 0x20 y is the larger of the two roots (compressed
 *   only). In G2 the larger root has the larger c1, or c0 where both c1 are zero.
 * (Zcash protocol specification, 5.4.9.2; the pairing crate's notes on serialisation.) */
#ifndef CUDA_MATH_ENCODE_H
#define CUDA_MATH_ENCODE_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/math/curve.h"

enum encode_form { ENCODE_COMPRESSED, ENCODE_UNCOMPRESSED };

size_t encode_bytes(enum group g, enum encode_form form);

/* out takes encode_bytes(g, form). p must be a point of the curve. Any thread. */
void point_encode(enum group g, enum encode_form form, void *out, const struct point *p);

/* Strict: -EINVAL with a sentence for wrong flags, numbers not below q, and, where no root exists, a compressed x.
 * checked: also the curve equation and the subgroup (50 to 110 us a point). Unchecked and uncompressed means that the
 * point may lie anywhere: for bulk data whose points are checked elsewhere. Any thread. */
int point_decode(enum group g, enum encode_form form, struct point *p, const void *in, bool checked);

#endif
