#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/hugepage.h"
#include "alloc/sysops.h"
#include "perf/err.h"

enum { BATCH = 1024 };

static int verify_batch(unsigned char *at, size_t n, size_t step, int node, size_t first)
{
    void *pages[BATCH];
    int status[BATCH];
    for (size_t i = 0; i < n; i++)
        pages[i] = at + i * step;
    if (sys->move_pages(0, n, pages, NULL, status, 0) < 0)
        return err_fail(-ENODATA, "placement unverified: move_pages: %s", strerror(errno));
    for (size_t i = 0; i < n; i++) {
        if (status[i] < 0)
            return err_fail(-ENODATA, "placement unverified: page %zu: %s", first + i, strerror(-status[i]));
        if (status[i] != node)
            return err_fail(-EXDEV, "page %zu lies on node %d, not on node %d", first + i, status[i], node);
    }
    return 0;
}

int hugepage_verify(unsigned char *base, size_t bytes, size_t page_bytes, int node)
{
    size_t step = page_bytes;
    size_t n = bytes / step;
    for (size_t i = 0; i < n; i += BATCH) {
        int rc = verify_batch(base + i * step, n - i < BATCH ? n - i : BATCH, step, node, i);
        if (rc == -ENODATA)
            return hugepage_verify_numa_maps("/proc/self/numa_maps", base, bytes, node);
        if (rc)
            return rc;
    }
    return 0;
}

/* One line's "N<node>=<pages>" fields, all of which must name our node. */
static int line_check(char *line, int node)
{
    bool seen = false;
    char *save, *word = strtok_r(line, " \n", &save);
    for (; word; word = strtok_r(NULL, " \n", &save)) {
        int on;
        unsigned long pages;
        if (sscanf(word, "N%d=%lu", &on, &pages) != 2)
            continue;
        if (on != node)
            return err_fail(-EXDEV, "numa_maps: %lu pages lie on node %d, not on node %d", pages, on, node);
        seen = true;
    }
    if (!seen)
        return err_fail(-ENODATA, "placement unverified: numa_maps counts no page");
    return 0;
}

int hugepage_verify_numa_maps(const char *path, const void *base, size_t bytes, int node)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_fail(-ENODATA, "placement unverified: %s: %s", path, strerror(errno));
    /* A line tells where a mapping starts, not where it ends: ours are the last one at or below base and all that start
     * inside. */
    char *line = NULL, *below = NULL;
    size_t room = 0;
    uintptr_t from = (uintptr_t)base, to = from + bytes;
    int rc = 0;
    while (rc == 0 && getline(&line, &room, f) > 0) {
        uintptr_t start = strtoull(line, NULL, 16);
        if (start >= to)
            break;
        if (start > from) {
            rc = line_check(line, node);
        } else {
            free(below);
            below = strdup(line);
        }
    }
    if (rc == 0)
        rc = below ? line_check(below, node) : err_fail(-ENODATA, "placement unverified: %s has no line", path);
    free(below);
    free(line);
    fclose(f);
    return rc;
}
