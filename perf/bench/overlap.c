#include "perf/bench/overlap.h"

#include <stdlib.h>
#include <string.h>

static bool lane_is(const struct span *s, const char *lane)
{
    const char *space = strrchr(s->lane, ' ');
    return strcmp(space ? space + 1 : s->lane, lane) == 0;
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Spans of one lane, in order of their begin. */
static struct span *lane_spans(const struct span_list *list, size_t first, const char *lane, size_t *n)
{
    size_t total = span_count(list);
    struct span *out = malloc((total - first + 1) * sizeof *out);
    *n = 0;
    for (size_t i = first; out && i < total; i++) {
        if (lane_is(span_at(list, i), lane))
            out[(*n)++] = *span_at(list, i);
    }
    if (out)
        qsort(out, *n, sizeof *out, by_begin);
    return out;
}

/* Seconds covered by at least one span, within [from, to]. */
static double covered(const struct span *s, size_t n, uint64_t from, uint64_t to)
{
    uint64_t sum = 0, at = from;
    for (size_t i = 0; i < n; i++) {
        uint64_t b = s[i].begin_ns > at ? s[i].begin_ns : at, e = s[i].end_ns < to ? s[i].end_ns : to;
        if (e > b) {
            sum += e - b;
            at = e;
        }
    }
    return (double)sum * 1e-9;
}

static void compute_read(struct overlap *o, const struct span *s, size_t n, uint64_t *from, uint64_t *to)
{
    size_t first = 0;
    while (first + 1 < n && s[first + 1].job == s[0].job)
        first++;
    *from = s[first].end_ns;
    *to = s[n - 1].end_ns;
    for (size_t i = first + 1; i < n; i++) {
        if (s[i].job == s[i - 1].job)
            continue;
        double gap = s[i].begin_ns > s[i - 1].end_ns ? (double)(s[i].begin_ns - s[i - 1].end_ns) * 1e-9 : 0;
        o->jobs++;
        o->gap_sum_s += gap;
        o->gap_max_s = gap > o->gap_max_s ? gap : o->gap_max_s;
    }
    o->wall_s = (double)(*to - *from) * 1e-9;
    o->compute_s = covered(s, n, *from, *to);
}

bool overlap_of(struct overlap *o, const struct span_list *list, size_t first)
{
    static const char *const lanes[] = {"compute", "copy", "read", "fold"};
    *o = (struct overlap){0};
    uint64_t from = 0, to = 0;
    for (int l = 0; l < 4; l++) {
        size_t n;
        struct span *s = lane_spans(list, first, lanes[l], &n);
        if (s && n && l == 0)
            compute_read(o, s, n, &from, &to);
        double whole = s ? covered(s, n, 0, UINT64_MAX) : 0;
        if (l == 1) {
            o->copy_s = whole;
            for (size_t i = 0; s && i < n; i++)
                o->copy_bytes += s[i].bytes;
        } else if (l == 2) {
            o->read_s = whole;
        } else if (l == 3) {
            o->fold_s = whole;
        }
        free(s);
    }
    return o->jobs > 0;
}
