#include "prover/file_map.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/err.h"
#include "prover/file_read.h"

static int read_fd(struct file_map *map, int fd, const char *path, uint64_t bytes)
{
    uint8_t *data = NULL;
    size_t n = (size_t)bytes;
    if (bytes == 0) {
        int rc = file_read_stream(fd, path, &data, &n);
        if (rc)
            return rc;
    } else {
        data = file_read_room(n);
        if (!data)
            return err_fail(-ENOMEM, "%s: no memory for its %zu bytes", path, n);
        int rc = file_read_at(fd, path, data, 0, n);
        if (rc) {
            file_read_free(data, n);
            return rc;
        }
    }
    map->data = data;
    map->bytes = n;
    map->read = true;
    return 0;
}

int file_map_open(struct file_map *map, const char *path)
{
    *map = (struct file_map){0};
    int fd;
    uint64_t bytes;
    int rc = file_read_open(&fd, &bytes, path);
    if (rc)
        return rc;
    rc = read_fd(map, fd, path, bytes);
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

int file_map_source(struct file_map *map, struct byte_source *source)
{
    char *path = strdup(source->path);
    *map = (struct file_map){.bytes = (size_t)source->bytes, .path = path, .source = source};
    if (path)
        return 0;
    file_map_close(map);
    return err_fail(-ENOMEM, "no memory for a file's name");
}

void file_map_close(struct file_map *map)
{
    if (map->read)
        file_read_free((uint8_t *)(uintptr_t)map->data, map->bytes);
    source_close(map->source);
    free(map->path);
    *map = (struct file_map){0};
}

int file_map_take(const struct file_map *map, const uint8_t **data, uint64_t offset, uint64_t bytes)
{
    if (!map->data)
        return source_take(map->source, data, offset, bytes);
    *data = map->data + offset;
    return 0;
}

void file_map_done(const struct file_map *map, uint64_t offset)
{
    if (!map->data)
        source_done(map->source, offset);
}
