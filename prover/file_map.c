#include "prover/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/err.h"

static int map_fd(struct file_map *map, int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_fail(-errno, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_fail(-EBADMSG, "%s: is a folder, expected a file", path);
    if (!S_ISREG(st.st_mode))
        return err_fail(-EBADMSG, "%s: is not a regular file (a pipe or device cannot be mapped)", path);
    if (st.st_size == 0)
        return err_fail(-EBADMSG, "%s: is empty (0 bytes)", path);
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return err_fail(-errno, "%s: cannot be mapped: %s", path, strerror(errno));
    map->data = data;
    map->bytes = (size_t)st.st_size;
    map->mapped = true;
    return 0;
}

int file_map_open(struct file_map *map, const char *path)
{
    *map = (struct file_map){0};
    /* O_NONBLOCK: opening a FIFO that nobody writes must not hang */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_fail(-errno, "%s: cannot be opened: %s", path, strerror(errno));
    int rc = map_fd(map, fd, path);
    close(fd);
    if (rc)
        return rc;
    map->path = strdup(path);
    if (map->path)
        return 0;
    file_map_close(map);
    return err_fail(-ENOMEM, "%s: no memory for its name", path);
}

int file_map_wrap(struct file_map *map, const char *name, const void *data, size_t bytes)
{
    *map = (struct file_map){0};
    if (bytes == 0)
        return err_fail(-EBADMSG, "%s: is empty (0 bytes)", name);
    char *path = strdup(name);
    if (!path)
        return err_fail(-ENOMEM, "%s: no memory for its name", name);
    *map = (struct file_map){.data = data, .bytes = bytes, .path = path};
    return 0;
}

void file_map_close(struct file_map *map)
{
    if (map->mapped)
        munmap((void *)(uintptr_t)map->data, map->bytes);
    free(map->path);
    *map = (struct file_map){0};
}

/* Whole pages: `inside` shrinks the range to those that lie in it altogether, otherwise it grows to all it touches. */
static void advise(const struct file_map *map, const void *at, size_t bytes, int advice, bool inside)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)at, end = begin + bytes;
    if (!map->mapped || begin < (uintptr_t)map->data || end > (uintptr_t)map->data + map->bytes)
        return;
    begin = (inside ? begin + page - 1 : begin) & ~(page - 1);
    end = (inside ? end : end + page - 1) & ~(page - 1);
    if (begin < end)
        madvise((void *)begin, end - begin, advice);
}

void file_map_sequential(const struct file_map *map, const void *at, size_t bytes)
{
    advise(map, at, bytes, MADV_SEQUENTIAL, false);
}

void file_map_need(const struct file_map *map, const void *at, size_t bytes)
{
    advise(map, at, bytes, MADV_WILLNEED, false);
}

void file_map_drop(const struct file_map *map, const void *at, size_t bytes)
{
    advise(map, at, bytes, MADV_DONTNEED, true);
}
