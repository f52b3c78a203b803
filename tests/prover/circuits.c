#include "tests/prover/circuits.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t find_in(struct circuit *found, size_t n, const char *root, const struct curve *curve)
{
    char base[300];
    snprintf(base, sizeof base, "%s/%s", root, curve->name);
    struct dirent **names;
    int count = scandir(base, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.' && n < CIRCUITS_MAX) {
            struct circuit *c = &found[n++];
            c->curve = curve;
            snprintf(c->name, sizeof c->name, "%.60s", names[i]->d_name);
            snprintf(c->dir, sizeof c->dir, "%s/%s", base, c->name);
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return n;
}

size_t circuits_find(struct circuit found[CIRCUITS_MAX])
{
    size_t n = 0;
    char good[256];
    const char *corpus = getenv("PENSTOCK_CORPUS");
    for (int id = 0; id < CURVES; id++)
        n = find_in(found, n, PENSTOCK_TEST_DATA, curve_get((enum curve_id)id));
    if (n == 0)
        abort();
    snprintf(good, sizeof good, "%s/good", corpus ? corpus : "");
    for (int id = 0; id < CURVES && corpus && *corpus; id++)
        n = find_in(found, n, good, curve_get((enum curve_id)id));
    return n;
}

const char *circuit_path(char path[CIRCUIT_PATH], const struct circuit *c, const char *ending)
{
    if (strchr(ending, '.'))
        snprintf(path, CIRCUIT_PATH, "%s/%s", c->dir, ending);
    else
        snprintf(path, CIRCUIT_PATH, "%s/%s.%s", c->dir, c->name, ending);
    return path;
}
