#include "alloc/rows.h"

#include <stdlib.h>

#include "alloc/sysops.h"
#include "perf/err.h"

/* 64 Ki rows, 6 MiB: the heap gives it by mmap, so a freed stage goes back at once. */
enum { CHUNK_ROWS = 1 << 16 };

struct rows_chunk {
    struct rows_chunk *next;
    uint64_t rows;
    unsigned char data[];
};

static int lease_fits(const struct lease *l, uint64_t rows)
{
    for (unsigned i = 0; i < ROW_COLUMNS; i++)
        if (i >= l->buffers || rows > l->size[i] / ROW_BYTES)
            return err_fail(-EINVAL, "buffer %u of the lease holds %zu bytes: %lu rows need %lu", i,
                            i < l->buffers ? l->size[i] : 0, rows, rows * ROW_BYTES);
    return 0;
}

int rows_open(struct rows *r, const struct lease *lease, uint64_t rows)
{
    int rc = lease_fits(lease, rows);
    if (rc)
        return rc;
    *r = (struct rows){.room = rows, .limit = rows};
    for (unsigned i = 0; i < ROW_COLUMNS; i++)
        r->column[i] = lease_buffer(lease, i);
    return 0;
}

void rows_stage(struct rows *r, uint64_t limit)
{
    *r = (struct rows){.limit = limit};
}

int rows_next(struct rows *r)
{
    if (r->before + r->at >= r->limit) {
        r->refused++;
        return err_fail(-ENOSPC, "row %lu does not fit: the size was given as %lu rows", rows_count(r), r->limit);
    }
    /* Only a stage has room below its limit. */
    struct rows_chunk *c = sys->calloc(1, sizeof *c + (size_t)CHUNK_ROWS * ROW_COLUMNS * ROW_BYTES);
    if (!c) {
        r->refused++;
        return err_fail(-ENOMEM, "no memory to stage more than %lu rows", rows_count(r));
    }
    if (r->last) {
        r->last->rows = r->at;
        r->last->next = c;
    } else {
        r->first = c;
    }
    r->last = c;
    r->before += r->at;
    r->at = 0;
    r->room = r->limit - r->before < CHUNK_ROWS ? r->limit - r->before : CHUNK_ROWS;
    for (unsigned i = 0; i < ROW_COLUMNS; i++)
        r->column[i] = c->data + (size_t)i * CHUNK_ROWS * ROW_BYTES;
    return 0;
}

int rows_put(struct rows *r, const void *a, const void *b, const void *c, uint64_t n)
{
    const unsigned char *from[ROW_COLUMNS] = {a, b, c};
    if (n > r->limit - rows_count(r)) {
        r->refused += n;
        return err_fail(-ENOSPC, "%lu rows after row %lu do not fit: the size was given as %lu rows", n, rows_count(r),
                        r->limit);
    }
    while (n) {
        if (r->at == r->room) {
            int rc = rows_next(r); /* -ENOMEM of a stage: what is there stays, the writer is refused */
            if (rc)
                return rc;
        }
        uint64_t part = n < r->room - r->at ? n : r->room - r->at;
        for (unsigned i = 0; i < ROW_COLUMNS; i++) {
            memcpy(r->column[i] + r->at * ROW_BYTES, from[i], part * ROW_BYTES);
            from[i] += part * ROW_BYTES;
        }
        r->at += part;
        n -= part;
    }
    return 0;
}

int rows_split(struct rows *r, struct rows *part, uint64_t n)
{
    if (r->first || r->room != r->limit)
        return err_fail(-EINVAL, "a stage cannot be split: its size is not known");
    if (n > r->room - r->at)
        return err_fail(-ENOSPC, "a part of %lu rows at row %lu of %lu", n, r->at, r->room);
    *part = (struct rows){.room = n, .limit = n};
    for (unsigned i = 0; i < ROW_COLUMNS; i++)
        part->column[i] = r->column[i] + r->at * ROW_BYTES;
    r->at += n;
    return 0;
}

int rows_finish(const struct rows *r, uint64_t rows)
{
    if (r->refused)
        return err_fail(-ENOSPC, "%lu rows were refused: the size was given as %lu rows", r->refused, r->limit);
    if (rows_count(r) != rows)
        return err_fail(-EINVAL, "%lu rows were written, expected %lu", rows_count(r), rows);
    return 0;
}

int rows_land(struct rows *r, const struct lease *lease, uint64_t *copied)
{
    uint64_t n = rows_count(r), at = 0;
    struct rows on;
    int rc = rows_open(&on, lease, n);
    if (rc)
        return rc;
    if (r->last)
        r->last->rows = r->at;
    for (struct rows_chunk *c = r->first; c; c = c->next) {
        for (unsigned i = 0; i < ROW_COLUMNS; i++)
            memcpy(on.column[i] + at * ROW_BYTES, c->data + (size_t)i * CHUNK_ROWS * ROW_BYTES, c->rows * ROW_BYTES);
        at += c->rows;
    }
    on.at = n;
    on.refused = r->refused;
    rows_drop(r);
    *r = on;
    *copied = n * ROW_COLUMNS * ROW_BYTES;
    return 0;
}

void rows_drop(struct rows *r)
{
    for (struct rows_chunk *c = r->first, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    rows_stage(r, 0);
}
