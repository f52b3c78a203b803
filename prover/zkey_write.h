/* Writes the sections of a .zkey front to back, and keeps snarkjs's circuit hash on the way: BLAKE2b-512 over the
 * points in Zcash's uncompressed form (big-endian, c1 before c0; but infinity is all zeros), as `snarkjs zkey verify`
 * forms it.
 */
#ifndef PROVER_ZKEY_WRITE_H
#define PROVER_ZKEY_WRITE_H

#include <stdio.h>

#include "cuda/math/curve.h"

struct zkey_writer;

/* -ENOMEM, -EIO. Close with zkey_writer_close (also after errors). */
int zkey_writer_open(struct zkey_writer **writer_p, FILE *out, const struct curve *curve, uint32_t n_sections);
void zkey_writer_close(struct zkey_writer *w); /* NULL is allowed */

/* Plain bytes of a section: begin with its exact length, then put. Errors are kept and told by zkey_writer_status. */
void zkey_writer_begin(struct zkey_writer *w, uint32_t id, uint64_t bytes);
void zkey_writer_put(struct zkey_writer *w, const void *data, size_t bytes);
void zkey_writer_u32(struct zkey_writer *w, uint32_t x);

/* Points: to the file, to the hash, or to both. n packed LEM points. */
enum { ZKEY_TO_FILE = 1, ZKEY_TO_HASH = 2 };
void zkey_writer_points(struct zkey_writer *w, enum group g, const void *packed, size_t n, unsigned to);
void zkey_writer_hash_u32(struct zkey_writer *w, uint32_t x); /* big-endian */

/* The hash of everything so far; ends the hashing. */
int zkey_writer_hash(struct zkey_writer *w, unsigned char digest[64]);

/* 0, or -EIO with the sentence of the first write that failed. */
int zkey_writer_status(const struct zkey_writer *w);
uint64_t zkey_writer_bytes(const struct zkey_writer *w);

#endif
