/* Reading input files with read(2) and pread(2): what another process does to a file meanwhile (shortens it, say) is an
 * error with the file and the place, never a SIGBUS, which a mapped file gives. */
#ifndef PROVER_FILE_READ_H
#define PROVER_FILE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open for reading. *bytes: the file's size, or 0 where that is known at the end only (a pipe, a socket, /proc): then
 * file_read_stream. -EBADMSG for a folder, a device and an empty file, else what open(2) says. */
int file_read_open(int *fd, uint64_t *bytes, const char *path);

/* Of a regular file; 0: what is read as a stream. A pipe is not opened, since opening it twice would lose its writer.
 * Errors are those of file_read_open. */
int file_read_bytes(uint64_t *bytes, const char *path);

/* All of `bytes` at `offset`. -EBADMSG: the file ends before; -EIO and others, with the place. */
int file_read_at(int fd, const char *path, void *to, uint64_t offset, size_t bytes);

/* All there is, into memory that file_read_free frees. -EBADMSG: nothing; -ENOMEM. */
int file_read_stream(int fd, const char *path, uint8_t **data, size_t *bytes);

/* Zeroed pages. NULL: none, without a sentence. */
uint8_t *file_read_room(size_t bytes);
void file_read_free(uint8_t *data, size_t bytes);

#endif
