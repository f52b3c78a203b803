/* A whole input file with the name that sentences give it: its bytes in memory, or a source that has them range by
 * range. Most parsers read from memory, so that a test or a fuzzer hands them any. */
#ifndef PROVER_FILE_MAP_H
#define PROVER_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prover/source.h"

struct file_map {
    const uint8_t *data; /* NULL: take ranges */
    size_t bytes;
    char *path;                 /* owned */
    bool read;                  /* data is ours to free */
    struct byte_source *source; /* owned; where data is NULL */
};

/* Read the file at `path` into memory; also a pipe. -EBADMSG for an empty file, a folder or a device, and for a file
 * that is shortened meanwhile, else what open(2) says (-ENOENT, -EACCES, ...). Close with file_map_close. */
int file_map_open(struct file_map *map, const char *path);

/* The same over the caller's memory, which must outlive it. -ENOMEM, -EBADMSG when empty. */
int file_map_wrap(struct file_map *map, const char *name, const void *data, size_t bytes);

/* The same over a source, which the map closes, also after a failure. -ENOMEM. */
int file_map_source(struct file_map *map, struct byte_source *source);

/* Also after a failed open. */
void file_map_close(struct file_map *map);

/* A range inside the file, in memory until as many calls of done; see source.h. */
int file_map_take(const struct file_map *map, const uint8_t **data, uint64_t offset, uint64_t bytes);
void file_map_done(const struct file_map *map, uint64_t offset);

#endif
