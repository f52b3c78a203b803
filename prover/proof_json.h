/* proof.json of snarkjs, and of rapidsnark (one line, no `curve`). */
#ifndef PROVER_PROOF_JSON_H
#define PROVER_PROOF_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "prover/proof.h"

/* `curve`: that of the verifying key; a proof that names another one is refused (-ERANGE). NULL: the proof must name
 * it. -EBADMSG: not a proof file. -ERANGE: a proof file whose numbers no honest prover writes: a coordinate >= q, z
 * other than 1, infinity. Points are not yet on any curve: verify checks. */
int proof_json_read(struct proof *proof, const char *path, const struct curve *curve);
int proof_json_parse(struct proof *proof, const char *name, const void *text, size_t bytes, const struct curve *curve);

/* Byte for byte what snarkjs writes. -EIO. */
int proof_json_write(FILE *out, const struct proof *proof);

#endif
