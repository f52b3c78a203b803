#include "prover/json_doc.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/decimal.h"
#include "prover/file_map.h"

/* Out of memory, jansson reports syntax errors, or succeeds with cut strings: we look at its allocations ourselves.
 * Its hook is one for the whole process, and we may be a library in somebody's program: what that program set before
 * our first document stays in use, ours only looks on. (Setting it later would mix two allocators, with or without
 * us: jansson asks for it before any other call.) */
static _Thread_local bool ran_out;
static json_malloc_t inner_malloc;

static void *watched_malloc(size_t bytes)
{
    void *p = inner_malloc(bytes);
    ran_out |= p == NULL;
    return p;
}

static void watch_jansson(void)
{
    json_free_t inner_free;
    json_get_alloc_funcs(&inner_malloc, &inner_free);
    json_set_alloc_funcs(watched_malloc, inner_free);
}

int json_doc_parse(struct json_doc *doc, const char *name, const void *text, size_t bytes)
{
    *doc = (struct json_doc){0};
    if (bytes == 0)
        return err_fail(-EBADMSG, "%s: is empty (0 bytes)", name);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_jansson);
    ran_out = false;
    json_error_t at;
    /* jansson stops at 2048 levels (JSON_PARSER_MAX_DEPTH), a few hundred KiB of stack */
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &at);
    if (ran_out) { /* also with a root: jansson loses characters of a string that it has no memory for */
        json_decref(root);
        return err_fail(-ENOMEM, "%s: no memory to read it", name);
    }
    if (!root)
        return err_fail(-EBADMSG, "%s: line %d, column %d: %s: expected JSON", name, at.line, at.column, at.text);
    doc->root = root;
    doc->name = strdup(name);
    if (doc->name)
        return 0;
    json_doc_close(doc);
    return err_fail(-ENOMEM, "%s: no memory for its name", name);
}

int json_doc_read(struct json_doc *doc, const char *path)
{
    struct file_map map;
    *doc = (struct json_doc){0};
    int rc = file_map_open(&map, path);
    if (rc == 0)
        rc = json_doc_parse(doc, path, map.data, map.bytes);
    file_map_close(&map);
    return rc;
}

void json_doc_close(struct json_doc *doc)
{
    json_decref(doc->root);
    free(doc->name);
    *doc = (struct json_doc){0};
}

int json_doc_text(const struct json_doc *doc, const char **text, const char *key, bool required)
{
    const json_t *value = json_object_get(doc->root, key);
    if (!value && !required) {
        *text = NULL;
        return 0;
    }
    if (!value)
        return err_fail(-EBADMSG, "%s: %s: missing", doc->name, key);
    if (!json_is_string(value))
        return err_fail(-EBADMSG, "%s: %s: expected a string", doc->name, key);
    *text = json_string_value(value);
    return 0;
}

static bool is_below(const uint64_t *a, const uint64_t *modulus, size_t n)
{
    for (size_t i = n; i-- > 0;)
        if (a[i] != modulus[i])
            return a[i] < modulus[i];
    return false;
}

int json_doc_number(const struct json_doc *doc, uint64_t *limbs, const json_t *value, const char *place,
                    const uint64_t *modulus, size_t n, const char *prime)
{
    if (json_is_number(value)) /* a double somewhere on the way would have rounded it */
        return err_fail(-EBADMSG, "%s: %s: is a JSON number, expected a decimal string (\"...\")", doc->name, place);
    if (!json_is_string(value))
        return err_fail(-EBADMSG, "%s: %s: expected a decimal string", doc->name, place);
    uint64_t parsed[DECIMAL_LIMBS_MAX];
    const char *text = json_string_value(value);
    int rc = decimal_parse(parsed, n, text, json_string_length(value));
    if (rc == -EBADMSG)
        return err_fail(-EBADMSG, "%s: %s: \"%.20s\" is not a decimal number (digits only, no leading zero)", doc->name,
                        place, text);
    if (rc || !is_below(parsed, modulus, n))
        return err_fail(-ERANGE, "%s: %s: is not below the prime %s", doc->name, place, prime);
    memcpy(limbs, parsed, n * sizeof *limbs);
    return 0;
}

/* The three coordinates as plain numbers, z with the others: coord[i][k], k < 2 in G2. */
struct coordinates {
    uint64_t plain[3][2][DECIMAL_LIMBS_MAX];
};

static int read_coordinate(const struct json_doc *doc, uint64_t plain[2][DECIMAL_LIMBS_MAX], const json_t *value,
                           const char *place, const struct curve *c, enum group group)
{
    size_t limbs = c->fq_bytes / 8;
    if (group == GROUP_G1)
        return json_doc_number(doc, plain[0], value, place, c->fq->p, limbs, "q");
    if (!json_is_array(value) || json_array_size(value) != 2)
        return err_fail(-EBADMSG, "%s: %s: expected an array of 2 decimal strings (c0, c1)", doc->name, place);
    for (size_t k = 0; k < 2; k++) {
        char inner[80];
        snprintf(inner, sizeof inner, "%s[%zu]", place, k);
        int rc = json_doc_number(doc, plain[k], json_array_get(value, k), inner, c->fq->p, limbs, "q");
        if (rc)
            return rc;
    }
    return 0;
}

static bool is_number(const uint64_t plain[2][DECIMAL_LIMBS_MAX], uint64_t small)
{
    uint64_t any = plain[0][0] ^ small;
    for (int i = 1; i < DECIMAL_LIMBS_MAX; i++)
        any |= plain[0][i];
    for (int i = 0; i < DECIMAL_LIMBS_MAX; i++)
        any |= plain[1][i];
    return any == 0;
}

static void store_point(struct point *point, const struct coordinates *xyz, const struct curve *c, enum group group)
{
    *point = (struct point){{0}};
    size_t parts = group == GROUP_G1 ? 1 : 2;
    uint8_t *to = (uint8_t *)point->w;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < parts; k++, to += c->fq_bytes)
            c->fq_from_plain(to, xyz->plain[i][k]);
}

int json_doc_point(const struct json_doc *doc, struct point *point, const json_t *value, const char *place,
                   const struct curve *c, enum group group)
{
    if (!json_is_array(value) || json_array_size(value) != 3)
        return err_fail(-EBADMSG, "%s: %s: %s, expected an array of 3 coordinates (x, y, z)", doc->name, place,
                        value ? "is something else" : "missing");
    struct coordinates xyz = {0};
    for (size_t i = 0; i < 3; i++) {
        char inner[64];
        snprintf(inner, sizeof inner, "%s[%zu]", place, i);
        int rc = read_coordinate(doc, xyz.plain[i], json_array_get(value, i), inner, c, group);
        if (rc)
            return rc;
    }
    bool x0 = is_number(xyz.plain[0], 0), y0 = is_number(xyz.plain[1], 0), y1 = is_number(xyz.plain[1], 1);
    if (is_number(xyz.plain[2], 0) && x0 && y1) {
        *point = (struct point){{0}};
        return 0;
    }
    if (!is_number(xyz.plain[2], 1))
        return err_fail(-ERANGE, "%s: %s[2]: expected z = 1 (an affine point)", doc->name, place);
    if (x0 && y0)
        return err_fail(-ERANGE, "%s: %s: (0, 0) is not on the curve", doc->name, place);
    store_point(point, &xyz, c, group);
    return 0;
}

static void new_line(FILE *out, int level)
{
    fprintf(out, "\n%*s", level, "");
}

void json_numbers_write(FILE *out, const uint64_t *limbs, size_t n_limbs, size_t n, int level)
{
    fputc('[', out);
    for (size_t i = 0; i < n; i++) {
        char text[DECIMAL_TEXT];
        decimal_format(text, limbs + i * n_limbs, n_limbs);
        new_line(out, level + 1);
        fprintf(out, "\"%s\"%s", text, i + 1 < n ? "," : "");
    }
    new_line(out, level);
    fputc(']', out);
}

void json_point_write(FILE *out, const struct curve *c, enum group group, const struct point *point, int level)
{
    size_t limbs = c->fq_bytes / 8, parts = group == GROUP_G1 ? 1 : 2;
    uint64_t plain[6 * DECIMAL_LIMBS_MAX] = {0}; /* x, y, z of `parts` numbers each */
    bool infinity = point_is_infinity(point);
    for (size_t i = 0; i < 2 * parts; i++)
        c->fq_to_plain(plain + i * limbs, point->w + i * limbs);
    if (infinity)
        plain[parts * limbs] = 1; /* (0, 1, 0) */
    else
        plain[2 * parts * limbs] = 1;
    if (group == GROUP_G1) {
        json_numbers_write(out, plain, limbs, 3, level);
        return;
    }
    fputc('[', out);
    for (size_t i = 0; i < 3; i++) {
        new_line(out, level + 1);
        json_numbers_write(out, plain + i * parts * limbs, limbs, parts, level + 1);
        if (i < 2)
            fputc(',', out);
    }
    new_line(out, level);
    fputc(']', out);
}

int json_write_end(FILE *out, const char *what)
{
    return ferror(out) ? err_fail(-EIO, "the %s cannot be written: %s", what, strerror(errno)) : 0;
}
