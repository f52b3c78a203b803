/* Verify Groth16 proofs of snarkjs, rapidsnark and penstock on BN254 and BLS12-381. */
#ifndef PENSTOCK_VERIFY_H
#define PENSTOCK_VERIFY_H

#include <stddef.h>

#include "penstock/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pen_verdict {
    PEN_VALID = 0,
    PEN_FALSE,            /* the pairing equation does not hold */
    PEN_NOT_CANONICAL,    /* a coordinate >= q, a z other than 1, another curve's proof */
    PEN_INFINITY,         /* a proof point is the point at infinity */
    PEN_NOT_ON_CURVE,     /* a proof point does not satisfy the curve equation */
    PEN_NOT_IN_SUBGROUP,  /* a proof point lies outside the group of prime order */
    PEN_PUBLIC_TOO_LARGE, /* a public value >= r */
    PEN_PUBLIC_COUNT,     /* not as many public values as the key asks for */
};

/* Judge the proof in three JSON files. Returns 0 with the verdict, and pen_last_error() then holds its reason unless it
 * is PEN_VALID. A file that cannot be read, that is not what it should be, or a faulty key: -EBADMSG or the errno of
 * opening it, and *verdict is untouched. Any thread. */
PEN_API int pen_verify_files(enum pen_verdict *verdict, const char *vk_path, const char *public_path,
                             const char *proof_path);

/* The same from memory; sentences call them "verification key", "public values" and "proof". */
PEN_API int pen_verify(enum pen_verdict *verdict, const char *vk_json, size_t vk_bytes, const char *public_json,
                       size_t public_bytes, const char *proof_json, size_t proof_bytes);

#ifdef __cplusplus
}
#endif
#endif
