#include "perf/span.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"

struct span_list {
    size_t capacity;
    _Atomic size_t taken;
    struct span at[];
};

int span_list_open(struct span_list **list_p, size_t capacity)
{
    struct span_list *list = calloc(1, sizeof *list + capacity * sizeof list->at[0]);
    if (!list)
        return err_fail(-ENOMEM, "no memory for %zu spans", capacity);
    list->capacity = capacity;
    *list_p = list;
    return 0;
}

void span_list_close(struct span_list *list)
{
    free(list);
}

void span_add(struct span_list *list, const struct span *s)
{
    if (!list)
        return;
    size_t i = atomic_fetch_add_explicit(&list->taken, 1, memory_order_relaxed);
    if (i < list->capacity)
        list->at[i] = *s;
}

size_t span_count(const struct span_list *list)
{
    size_t taken = atomic_load_explicit(&list->taken, memory_order_acquire);
    return taken < list->capacity ? taken : list->capacity;
}

const struct span *span_at(const struct span_list *list, size_t i)
{
    return &list->at[i];
}

size_t span_dropped(const struct span_list *list)
{
    return atomic_load_explicit(&list->taken, memory_order_relaxed) - span_count(list);
}

uint64_t span_stage_ns(const struct span_list *list, const char *stage)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < span_count(list); i++) {
        if (strcmp(list->at[i].stage, stage) == 0)
            sum += list->at[i].end_ns - list->at[i].begin_ns;
    }
    return sum;
}

int span_write_trace(const struct span_list *list, FILE *out)
{
    fputs("{\"traceEvents\":[", out);
    for (size_t i = 0; i < span_count(list); i++) {
        const struct span *s = &list->at[i];
        fprintf(out,
                "%s\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":\"%s\",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64
                ".%03u,\"args\":{\"job\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}",
                i ? "," : "", s->stage, s->lane, s->begin_ns / 1000, (unsigned)(s->begin_ns % 1000),
                (s->end_ns - s->begin_ns) / 1000, (unsigned)((s->end_ns - s->begin_ns) % 1000), s->job, s->bytes);
    }
    fputs("\n]}\n", out);
    return fflush(out) || ferror(out) ? err_fail(-EIO, "cannot write the trace: %s", strerror(errno)) : 0;
}
