#include "numa/idset.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"

struct idset idset_first(unsigned n)
{
    struct idset set = {{0}};
    for (unsigned i = 0; i < n && i < IDSET_MAX; i++)
        idset_add(&set, i);
    return set;
}

unsigned idset_count(const struct idset *set)
{
    unsigned n = 0;
    for (size_t i = 0; i < IDSET_WORDS; i++)
        n += (unsigned)__builtin_popcountll(set->word[i]);
    return n;
}

bool idset_empty(const struct idset *set)
{
    return idset_next(set, 0) < 0;
}

bool idset_equal(const struct idset *a, const struct idset *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

bool idset_subset(const struct idset *part, const struct idset *whole)
{
    struct idset outside = idset_minus(part, whole);
    return idset_empty(&outside);
}

struct idset idset_and(const struct idset *a, const struct idset *b)
{
    struct idset out;
    for (size_t i = 0; i < IDSET_WORDS; i++)
        out.word[i] = a->word[i] & b->word[i];
    return out;
}

struct idset idset_or(const struct idset *a, const struct idset *b)
{
    struct idset out;
    for (size_t i = 0; i < IDSET_WORDS; i++)
        out.word[i] = a->word[i] | b->word[i];
    return out;
}

struct idset idset_minus(const struct idset *a, const struct idset *b)
{
    struct idset out;
    for (size_t i = 0; i < IDSET_WORDS; i++)
        out.word[i] = a->word[i] & ~b->word[i];
    return out;
}

int idset_next(const struct idset *set, unsigned from)
{
    if (from >= IDSET_MAX)
        return -1;
    size_t i = from / 64;
    uint64_t w = set->word[i] & ~0ull << (from % 64);
    while (w == 0) {
        if (++i == IDSET_WORDS)
            return -1;
        w = set->word[i];
    }
    return (int)(i * 64) + __builtin_ctzll(w);
}

/* One number of a list; moves *at behind it. */
static int parse_id(unsigned *id, const char **at, const char *list)
{
    if (!isdigit((unsigned char)**at))
        return err_fail(-EINVAL, "\"%s\" is not a list like 0-3,8 (at byte %zu)", list, (size_t)(*at - list));
    char *end;
    unsigned long value = strtoul(*at, &end, 10);
    if (value >= IDSET_MAX)
        return err_fail(-ERANGE, "\"%s\": number %lu is beyond %d", list, value, IDSET_MAX - 1);
    *id = (unsigned)value;
    *at = end;
    return 0;
}

int idset_parse(struct idset *set, const char *list)
{
    struct idset out = {{0}};
    const char *at = list;
    while (*at && *at != '\n') {
        unsigned low = 0, high;
        int rc = parse_id(&low, &at, list);
        if (rc)
            return rc;
        high = low;
        if (*at == '-') {
            at++;
            rc = parse_id(&high, &at, list);
            if (rc)
                return rc;
        }
        if (high < low)
            return err_fail(-EINVAL, "\"%s\": range %u-%u runs backwards", list, low, high);
        for (unsigned i = low; i <= high; i++)
            idset_add(&out, i);
        if (*at == ',' && at[1])
            at++;
        else if (*at && *at != '\n')
            return err_fail(-EINVAL, "\"%s\" is not a list like 0-3,8 (at byte %zu)", list, (size_t)(at - list));
    }
    *set = out;
    return 0;
}

const char *idset_text(char text[IDSET_TEXT], const struct idset *set)
{
    size_t used = 0;
    text[0] = 0;
    for (int low = idset_next(set, 0); low >= 0;) {
        int high = low;
        while (idset_has(set, (unsigned)high + 1))
            high++;
        if (used + 32 > IDSET_TEXT) {
            snprintf(text + used, IDSET_TEXT - used, ",...");
            break;
        }
        int n = snprintf(text + used, IDSET_TEXT - used, high > low ? "%s%d-%d" : "%s%d", used ? "," : "", low, high);
        used += (size_t)n;
        low = idset_next(set, (unsigned)high + 1);
    }
    return text;
}
