#include "prover/trapdoor.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "perf/err.h"
#include "prover/scalar_random.h"

enum { SECRETS = 4 };
static const char *const names[SECRETS] = {"tau", "alpha", "beta", "delta"};

static struct fr *secret(struct trapdoor *t, int i)
{
    struct fr *const all[SECRETS] = {&t->tau, &t->alpha, &t->beta, &t->delta};
    return all[i];
}

int trapdoor_random(const struct curve *curve, struct trapdoor *t)
{
    for (int i = 0; i < SECRETS; i++) {
        struct scalar s;
        int rc = scalar_random(curve, &s);
        if (rc)
            return rc;
        curve->fr_from_scalar(secret(t, i), &s);
    }
    return 0;
}

int trapdoor_derive(const struct curve *curve, struct trapdoor *t, uint64_t seed)
{
    for (int i = 0; i < SECRETS; i++) {
        struct scalar s;
        int rc = scalar_derive(curve, &s, seed, names[i]);
        if (rc)
            return rc;
        curve->fr_from_scalar(secret(t, i), &s);
    }
    return 0;
}

static bool hex_parse(struct scalar *s, const char *text)
{
    if (strncmp(text, "0x", 2) != 0 || text[2] == 0 || strlen(text) > 2 + 64)
        return false;
    *s = (struct scalar){{0}};
    for (const char *p = text + 2; *p; p++) {
        if (!isxdigit((unsigned char)*p))
            return false;
        unsigned digit = isdigit((unsigned char)*p) ? (unsigned)(*p - '0') : (unsigned)(tolower(*p) - 'a' + 10);
        for (int i = 3; i > 0; i--)
            s->l[i] = s->l[i] << 4 | s->l[i - 1] >> 60;
        s->l[0] = s->l[0] << 4 | digit;
    }
    return true;
}

int trapdoor_read(const struct curve *curve, struct trapdoor *t, const char *path)
{
    json_error_t error;
    json_t *tree = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!tree)
        return err_fail(-EBADMSG, "%s: line %d: %s", path, error.line, error.text);
    struct trapdoor read;
    int rc = 0;
    for (int i = 0; i < SECRETS && !rc; i++) {
        const char *text = json_string_value(json_object_get(tree, names[i]));
        struct scalar s;
        if (!text || !hex_parse(&s, text) || !scalar_is_canonical(curve, &s) || !(s.l[0] | s.l[1] | s.l[2] | s.l[3]))
            rc =
                err_fail(-EBADMSG,
                         "%s: \"%s\" must be a hexadecimal string \"0x...\", not zero and below the scalar order of %s",
                         path, names[i], curve->title);
        else
            curve->fr_from_scalar(secret(&read, i), &s);
    }
    json_decref(tree);
    if (!rc)
        *t = read;
    return rc;
}
