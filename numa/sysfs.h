/* Small files of the kernel, below a root: "" is this machine, anything else a recorded tree (a folder that holds
 * sys/... and proc/...). An absent file is an answer, not an error: these functions word no sentence. */
#ifndef NUMA_SYSFS_H
#define NUMA_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numa/idset.h"

/* Read a file whole, cut at cap - 1 bytes, trailing white space removed. The path is `root` then fmt. Returns 0 or a
 * negative errno (-ENOENT, -EACCES, ...). Any thread. */
int sysfs_read(char *out, size_t cap, const char *root, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* A file that holds one number, decimal or 0x hex. False when the file is absent or holds something else. */
bool sysfs_u64(uint64_t *value, const char *root, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool sysfs_int(int *value, const char *root, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A file that holds a list like 0-3,8. */
bool sysfs_ids(struct idset *set, const char *root, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The value of a "Key:   value" line of a file such as /proc/self/status. False when there is none. */
bool sysfs_key(char *out, size_t cap, const char *root, const char *path, const char *key);

#endif
