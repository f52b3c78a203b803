/* Spans: one stage of one job on one lane, with start and end. From spans come the timings line, the Chrome trace and
 * the overlap figures. */
#ifndef PERF_SPAN_H
#define PERF_SPAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct span {
    const char *stage; /* static string */
    const char *lane;  /* static string: "read", "h2d", "compute", "d2h", "fold" */
    uint64_t job;
    uint64_t begin_ns, end_ns;
    uint64_t bytes; /* moved, or 0 */
};

/* A bounded list of spans. Adding is thread-safe; when full, spans are dropped and counted. */
struct span_list;

/* -ENOMEM. Close with span_list_close. */
int span_list_open(struct span_list **list_p, size_t capacity);
void span_list_close(struct span_list *list);

/* Any thread; `list` may be NULL (nothing is recorded). */
void span_add(struct span_list *list, const struct span *s);

size_t span_count(const struct span_list *list);
const struct span *span_at(const struct span_list *list, size_t i);
size_t span_dropped(const struct span_list *list);

/* Sum of the durations of one stage, in nanoseconds. */
uint64_t span_stage_ns(const struct span_list *list, const char *stage);

/* Write the list as a Chrome trace (chrome://tracing, Perfetto). -EIO. */
int span_write_trace(const struct span_list *list, FILE *out);

#endif
