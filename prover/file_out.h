/* Output files that appear together or not at all. Each is written under a temporary name in its own folder;
 * file_out_commit syncs all of them, gives them their names and syncs the folders.
 *
 *     file_out_open(&out);
 *     file_out_add(out, &proof, "proof.json");
 *     file_out_add(out, &pub, "public.json");
 *     ... fprintf(proof, ...) ...
 *     rc = file_out_commit(out);            any failure before: file_out_abort(out)
 *
 * "-" is standard output. That, and what exists and is not a regular file (/dev/null, a pipe), is held in memory and
 * written at commit. A symbolic link is followed: the file that it names is replaced. */
#ifndef PROVER_FILE_OUT_H
#define PROVER_FILE_OUT_H

#include <stdio.h>

struct file_out;

enum { FILE_OUT_MAX = 8 }; /* files of one set */

/* -ENOMEM. End with file_out_commit or file_out_abort. */
int file_out_open(struct file_out **out_p);

/* Add one file and get the stream to write it to (owned by the set: do not fclose). An existing file keeps its
 * contents until the commit and its permissions after it. -EISDIR, -EACCES, -ENOENT (no such folder), -EINVAL (twice
 * the same path), -ENOSPC ..., with a sentence. */
int file_out_add(struct file_out *out, FILE **stream_p, const char *path);

/* Write and rename all; frees the set, whatever it returns. On failure nothing new is left: temporaries are removed,
 * files that did not exist before are gone again. */
int file_out_commit(struct file_out *out);

/* Remove the temporaries and free the set; NULL is allowed. */
void file_out_abort(struct file_out *out);

#endif
