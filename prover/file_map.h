/* A whole input file, mapped read-only, with the name that sentences give it. The parsers read from one of these, so
 * that a test or a fuzzer hands them memory instead. */
#ifndef PROVER_FILE_MAP_H
#define PROVER_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_map {
    const uint8_t *data;
    size_t bytes;
    char *path;  /* owned */
    bool mapped; /* data is ours to unmap */
};

/* Map the regular file at `path`. -EBADMSG for an empty file and for what is not a regular file, else what open(2)
 * says (-ENOENT, -EACCES, ...). Close with file_map_close. Another process that shortens the file while it is mapped
 * kills this one (SIGBUS), as with every mapped file. */
int file_map_open(struct file_map *map, const char *path);

/* The same over the caller's memory, which must outlive it. -ENOMEM, -EBADMSG when empty. */
int file_map_wrap(struct file_map *map, const char *name, const void *data, size_t bytes);

/* Also after a failed open. */
void file_map_close(struct file_map *map);

/* Hints about a range inside the map; nothing happens on wrapped memory.
 * sequential: read ahead far. need: start reading now. drop: this process will not read the range again soon, take its
 * pages out of the resident set (they stay in the page cache). */
void file_map_sequential(const struct file_map *map, const void *at, size_t bytes);
void file_map_need(const struct file_map *map, const void *at, size_t bytes);
void file_map_drop(const struct file_map *map, const void *at, size_t bytes);

#endif
