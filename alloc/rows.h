/* A bounded writer of rows (a, b, c) of 32 bytes into a lease's first three buffers. It refuses, it never grows: a
 * vector that grows would hand registered memory to realloc. Where the number of rows is not known yet, rows go to the
 * heap in chunks and are copied once when the size, and with it the lease, is there. One thread per writer; rows_split
 * gives each thread its own. */
#ifndef ALLOC_ROWS_H
#define ALLOC_ROWS_H

#include <string.h>

#include "alloc/lease.h"

enum { ROW_BYTES = 32, ROW_COLUMNS = 3 };

struct rows_chunk;

struct rows {
    unsigned char *column[ROW_COLUMNS]; /* of the segment being written */
    uint64_t at, room;                  /* rows in it, rows it can hold */
    uint64_t before, limit;             /* rows in earlier segments; rows in all at most */
    uint64_t refused;                   /* rows that found no room: the result is not usable */
    struct rows_chunk *first, *last;    /* staged: the segments */
};

/* Write up to `rows` rows into buffers 0, 1, 2 of the lease. -EINVAL: one of them is too small for that. */
int rows_open(struct rows *r, const struct lease *lease, uint64_t rows);

/* Write up to `limit` rows to the heap. Nothing is allocated yet. */
void rows_stage(struct rows *r, uint64_t limit);

/* Cold: the segment is full. 0 when another one was opened, else -ENOSPC (the limit) or -ENOMEM, with a sentence. */
int rows_next(struct rows *r);

static inline int rows_push(struct rows *r, const void *a, const void *b, const void *c)
{
    if (__builtin_expect(r->at == r->room, 0)) {
        int rc = rows_next(r);
        if (rc)
            return rc;
    }
    memcpy(r->column[0] + r->at * ROW_BYTES, a, ROW_BYTES);
    memcpy(r->column[1] + r->at * ROW_BYTES, b, ROW_BYTES);
    memcpy(r->column[2] + r->at * ROW_BYTES, c, ROW_BYTES);
    r->at++;
    return 0;
}

/* n rows at once, all or none. */
int rows_put(struct rows *r, const void *a, const void *b, const void *c, uint64_t n);

static inline uint64_t rows_count(const struct rows *r)
{
    return r->before + r->at;
}

/* The next n rows become the business of *part, which another thread may write meanwhile; r goes on behind them. Not
 * when staged: -EINVAL. */
int rows_split(struct rows *r, struct rows *part, uint64_t n);

/* Nothing was refused and exactly `rows` rows are there: 0, else -ENOSPC or -EINVAL with a sentence. */
int rows_finish(const struct rows *r, uint64_t rows);

/* Copy a staged writer's rows into a lease, free the stage, and leave *r as if it had written there from the start.
 * *copied = bytes copied. -EINVAL and nothing happens when they do not fit. */
int rows_land(struct rows *r, const struct lease *lease, uint64_t *copied);

/* Free a stage (of a writer that failed). Nothing to do for a writer on a lease. */
void rows_drop(struct rows *r);

#endif
