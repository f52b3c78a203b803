/* Where the bytes of a large input file come from. Parsers read headers with `head`; what is large they take range by
 * range, and give back when they will not look at it again. Whether a range is read when it is taken
 * (source_file_open), or has been on its way into leased memory since the file was opened (the engine's key_source) is
 * the source's affair, and the parser's code is the same.
 *
 *     head, head, head ...      take(range) -- read or compute on it -- done(range)      close
 */
#ifndef PROVER_SOURCE_H
#define PROVER_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct byte_source;

struct source_ops {
    /* Copy `bytes` at `offset` to `to`; for headers and tables. -EBADMSG: the file ends before; -EIO, ... */
    int (*head)(struct byte_source *s, void *to, uint64_t offset, size_t bytes);
    /* Wait for a range; *data (any alignment) stays until as many calls of done as of take. A range is known by its
     * offset: always the same length with the same offset. Any thread. -EBADMSG (the file became shorter), -EIO,
     * -ENOMEM, ... */
    int (*take)(struct byte_source *s, const uint8_t **data, uint64_t offset, uint64_t bytes);
    void (*done)(struct byte_source *s, uint64_t offset);
    void (*close)(struct byte_source *s);
};

/* Implementations begin their own struct with this. */
struct byte_source {
    const struct source_ops *ops;
    char *path; /* for sentences; owned by the source */
    uint64_t bytes;
};

/* Ranges are read with pread into memory of their own when they are taken, and freed when done. What is not a regular
 * file (a pipe) is read whole now. -EBADMSG for an empty file, a folder or a device, else what open(2) says. */
int source_file_open(struct byte_source **out, const char *path);

static inline int source_head(struct byte_source *s, void *to, uint64_t offset, size_t bytes)
{
    return s->ops->head(s, to, offset, bytes);
}

static inline int source_take(struct byte_source *s, const uint8_t **data, uint64_t offset, uint64_t bytes)
{
    return s->ops->take(s, data, offset, bytes);
}

static inline void source_done(struct byte_source *s, uint64_t offset)
{
    s->ops->done(s, offset);
}

static inline void source_close(struct byte_source *s) /* NULL is allowed */
{
    if (s)
        s->ops->close(s);
}

#endif
