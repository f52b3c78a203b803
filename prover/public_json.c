#include "prover/public_json.h"

#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/json_doc.h"

static int read_publics(struct publics *publics, const struct json_doc *doc, const struct curve *curve)
{
    struct publics p = {.was_null = json_is_null(doc->root), .n = json_array_size(doc->root)};
    if (!p.was_null && !json_is_array(doc->root))
        return err_fail(-EBADMSG, "%s: expected a JSON array of decimal strings", doc->name);
    p.values = malloc((p.n ? p.n : 1) * sizeof *p.values);
    if (!p.values)
        return err_fail(-ENOMEM, "%s: no memory for %zu values", doc->name, p.n);
    int rc = 0;
    for (size_t i = 0; i < p.n && rc == 0; i++) {
        char place[32];
        snprintf(place, sizeof place, "value %zu", i);
        rc = json_doc_number(doc, p.values[i].l, json_array_get(doc->root, i), place, curve->fr->p, 4, "r");
    }
    if (rc)
        publics_close(&p);
    else
        *publics = p;
    return rc;
}

int public_json_read(struct publics *publics, const char *path, const struct curve *curve)
{
    struct json_doc doc;
    int rc = json_doc_read(&doc, path);
    if (rc == 0)
        rc = read_publics(publics, &doc, curve);
    json_doc_close(&doc);
    return rc;
}

int public_json_parse(struct publics *publics, const char *name, const void *text, size_t bytes,
                      const struct curve *curve)
{
    struct json_doc doc;
    int rc = json_doc_parse(&doc, name, text, bytes);
    if (rc == 0)
        rc = read_publics(publics, &doc, curve);
    json_doc_close(&doc);
    return rc;
}

int public_json_write(FILE *out, const void *packed, size_t n)
{
    const uint8_t *p = packed;
    uint64_t *limbs = malloc((n ? n : 1) * 32);
    if (!limbs)
        return err_fail(-ENOMEM, "no memory for %zu public values", n);
    if (n)
        memcpy(limbs, p, n * 32);
    json_numbers_write(out, limbs, 4, n, 0);
    free(limbs);
    return json_write_end(out, "public values");
}
