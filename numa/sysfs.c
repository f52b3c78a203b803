#include "numa/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_path(char *out, size_t cap, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t used = 0;
    ssize_t got = 0;
    while (used + 1 < cap && (got = read(fd, out + used, cap - 1 - used)) > 0)
        used += (size_t)got;
    int rc = got < 0 ? -errno : 0;
    close(fd);
    if (rc)
        return rc;
    while (used > 0 && (out[used - 1] == '\n' || out[used - 1] == ' ' || out[used - 1] == '\t'))
        used--;
    out[used] = 0;
    return 0;
}

static int read_va(char *out, size_t cap, const char *root, const char *fmt, va_list ap)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s", root);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    int m = vsnprintf(path + n, sizeof path - (size_t)n, fmt, ap);
    if (m < 0 || (size_t)n + (size_t)m >= sizeof path)
        return -ENAMETOOLONG;
    return read_path(out, cap, path);
}

int sysfs_read(char *out, size_t cap, const char *root, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = read_va(out, cap, root, fmt, ap);
    va_end(ap);
    return rc;
}

bool sysfs_u64(uint64_t *value, const char *root, const char *fmt, ...)
{
    char text[64];
    va_list ap;
    va_start(ap, fmt);
    int rc = read_va(text, sizeof text, root, fmt, ap);
    va_end(ap);
    if (rc || text[0] < '0' || text[0] > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (errno || *end)
        return false;
    *value = v;
    return true;
}

bool sysfs_int(int *value, const char *root, const char *fmt, ...)
{
    char text[64];
    va_list ap;
    va_start(ap, fmt);
    int rc = read_va(text, sizeof text, root, fmt, ap);
    va_end(ap);
    if (rc)
        return false;
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < INT_MIN || v > INT_MAX)
        return false;
    *value = (int)v;
    return true;
}

bool sysfs_ids(struct idset *set, const char *root, const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    int rc = read_va(text, sizeof text, root, fmt, ap);
    va_end(ap);
    return rc == 0 && idset_parse(set, text) == 0;
}

bool sysfs_key(char *out, size_t cap, const char *root, const char *path, const char *key)
{
    char text[16384];
    if (sysfs_read(text, sizeof text, root, "%s", path))
        return false;
    size_t len = strlen(key);
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) != 0 || line[len] != ':')
            continue;
        line += len + 1;
        line += strspn(line, " \t");
        snprintf(out, cap, "%.*s", (int)strcspn(line, "\n"), line);
        return true;
    }
    return false;
}
