/* What the three JSON files of a proof have in common: a parsed document with its name, strict numbers, points. */
#ifndef PROVER_JSON_DOC_H
#define PROVER_JSON_DOC_H

#include <jansson.h>
#include <stdio.h>

#include "cuda/math/curve.h"

struct json_doc {
    json_t *root;
    char *name; /* owned */
};

/* -EBADMSG: no JSON (nesting deeper than 2048, a repeated key and bytes after the end included), with line and column.
 * Close with json_doc_close. */
int json_doc_read(struct json_doc *doc, const char *path);
int json_doc_parse(struct json_doc *doc, const char *name, const void *text, size_t bytes);
void json_doc_close(struct json_doc *doc); /* also a zeroed one */

/* A string among the root's members. -EBADMSG when absent or of another type; `required` false: absent gives NULL. */
int json_doc_text(const struct json_doc *doc, const char **text, const char *key, bool required);

/* A decimal string below `modulus` (n limbs). `place` names it in sentences ("pi_a[0]"), `prime` the modulus ("q").
 * -EBADMSG: not a decimal string; -ERANGE: not below the modulus. */
int json_doc_number(const struct json_doc *doc, uint64_t *limbs, const json_t *value, const char *place,
                    const uint64_t *modulus, size_t n, const char *prime);

/* [x, y, "1"] or [[x0, x1], [y0, y1], ["1", "0"]], or the infinity that snarkjs writes (0, 1, 0). The point is
 * canonical; nothing else is checked. -EBADMSG: another shape; -ERANGE: a coordinate >= q, another z, (0, 0). */
int json_doc_point(const struct json_doc *doc, struct point *point, const json_t *value, const char *place,
                   const struct curve *curve, enum group group);

/* Write the value part of a point, its first line at the caller's position, as snarkjs does: one space of indent for
 * each level, `level` that of the line it stands on. */
void json_point_write(FILE *out, const struct curve *curve, enum group group, const struct point *point, int level);

/* Write an array of n decimal strings, limbs each, the same way. */
void json_numbers_write(FILE *out, const uint64_t *limbs, size_t n_limbs, size_t n, int level);

/* After the last write: 0, or -EIO naming what was to be written. */
int json_write_end(FILE *out, const char *what);

#endif
