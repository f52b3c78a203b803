#include "numa/numa_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A line: "7f0000000000 bind:1 file=/anon_hugepage huge dirty=2 N0=1 N1=1 kernelpagesize_kB=1048576". Mappings come in
 * ascending order; a mapping ends at the latest where the next one starts. */
struct line {
    uintptr_t start;
    uint64_t on_pages, off_pages, page_bytes;
    int off_node;
};

static bool parse_line(struct line *out, char *text, int node)
{
    char *end;
    *out = (struct line){.start = strtoull(text, &end, 16), .page_bytes = 4096, .off_node = -1};
    if (end == text || *end != ' ')
        return false;
    char *save;
    for (char *word = strtok_r(end, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
        if (strncmp(word, "kernelpagesize_kB=", 18) == 0) {
            out->page_bytes = strtoull(word + 18, NULL, 10) << 10;
            continue;
        }
        if (word[0] != 'N' || word[1] < '0' || word[1] > '9')
            continue;
        long at = strtol(word + 1, &end, 10);
        if (*end != '=')
            continue;
        uint64_t pages = strtoull(end + 1, NULL, 10);
        if (at == node) {
            out->on_pages += pages;
        } else if (pages) {
            out->off_pages += pages;
            out->off_node = (int)at;
        }
    }
    return true;
}

static void add_line(struct numa_maps_sum *sum, const struct line *l, uintptr_t addr)
{
    sum->on_bytes += l->on_pages * l->page_bytes;
    sum->off_bytes += l->off_pages * l->page_bytes;
    if (l->off_node >= 0)
        sum->off_node = l->off_node;
    if (l->start < addr)
        sum->exact = false;
}

int numa_maps_sum(struct numa_maps_sum *sum, FILE *maps, uintptr_t addr, size_t bytes, int node)
{
    struct numa_maps_sum out = {.off_node = -1, .exact = true};
    struct line before = {0};
    bool have_before = false;
    size_t met = 0;
    char *text = NULL;
    size_t cap = 0;
    while (getline(&text, &cap, maps) > 0) {
        struct line l;
        if (!parse_line(&l, text, node) || l.start >= addr + bytes)
            continue;
        if (l.start <= addr) {
            before = l; /* the last one at or before the range holds its start */
            have_before = true;
        } else {
            add_line(&out, &l, addr);
            met++;
        }
    }
    int rc = ferror(maps) ? -EIO : 0;
    free(text);
    if (rc)
        return rc;
    if (have_before) {
        add_line(&out, &before, addr);
        met++;
    }
    if (met == 0)
        return -ENOENT;
    *sum = out;
    return 0;
}
