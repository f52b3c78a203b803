/* public.json: an array of decimal strings. */
#ifndef PROVER_PUBLIC_JSON_H
#define PROVER_PUBLIC_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "prover/proof.h"

/* -EBADMSG: not such a file. -ERANGE: a value >= r. Close with publics_close. */
int public_json_read(struct publics *publics, const char *path, const struct curve *curve);
int public_json_parse(struct publics *publics, const char *name, const void *text, size_t bytes,
                      const struct curve *curve);

/* Byte for byte what snarkjs writes; packed: n plain scalars of 32 bytes at any alignment, for instance
 * wtns->values + 32. -EIO. */
int public_json_write(FILE *out, const void *packed, size_t n);

#endif
