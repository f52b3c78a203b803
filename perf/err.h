/* One sentence per thread about the last failure. The function that finds a fault words it, everybody above passes the
 * code on. */
#ifndef PERF_ERR_H
#define PERF_ERR_H

#include <errno.h>
#include <stdarg.h>

#include "penstock/error.h"

/* Store the sentence for this thread and return `code` (a negative errno), so that a finder can write
 *     return err_fail(-ENOMEM, "node %d has %zu free 1 GiB pages, need %zu", node, have, want);
 * The sentence is cut at 1023 bytes. Any thread; no allocation. */
int err_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* Put "what: " before this thread's sentence, where only a caller knows the file or the stage. Returns `code`. */
int err_in(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* Carry a sentence from a worker thread to the thread that joins it. */
void err_copy(char out[1024]);
void err_set(const char *sentence);

#endif
