#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/err.h"
#include "prover/file_read.h"
#include "prover/source.h"

struct range {
    struct range *next;
    uint64_t offset;
    size_t bytes;
    unsigned users;
    uint8_t *data;
};

struct source_file {
    struct byte_source base;
    int fd;         /* -1: all of it is in memory */
    uint8_t *whole; /* what came through a pipe */
    pthread_mutex_t lock;
    struct range *ranges;
};

static int file_head(struct byte_source *s, void *to, uint64_t offset, size_t bytes)
{
    const struct source_file *f = (const struct source_file *)s;
    if (offset > s->bytes || bytes > s->bytes - offset)
        return err_fail(-EBADMSG, "%s: has %lu bytes, expected %zu at %lu", s->path, s->bytes, bytes, offset);
    if (f->fd >= 0)
        return file_read_at(f->fd, s->path, to, offset, bytes);
    memcpy(to, f->whole + offset, bytes);
    return 0;
}

/* Lock held: a second taker waits for the first one's read. */
static int range_read(struct source_file *f, struct range **out, uint64_t offset, size_t bytes)
{
    struct range *r = calloc(1, sizeof *r);
    uint8_t *data = r ? file_read_room(bytes) : NULL;
    int rc = data ? file_read_at(f->fd, f->base.path, data, offset, bytes)
                  : err_fail(-ENOMEM, "%s: no memory for %zu bytes of it", f->base.path, bytes);
    if (rc) {
        if (data)
            file_read_free(data, bytes);
        free(r);
        return rc;
    }
    *r = (struct range){.next = f->ranges, .offset = offset, .bytes = bytes, .data = data};
    *out = f->ranges = r;
    return 0;
}

static int file_take(struct byte_source *s, const uint8_t **data, uint64_t offset, uint64_t bytes)
{
    struct source_file *f = (struct source_file *)s;
    if (f->fd < 0) {
        *data = f->whole + offset;
        return 0;
    }
    pthread_mutex_lock(&f->lock);
    struct range *r = f->ranges;
    while (r && r->offset != offset)
        r = r->next;
    int rc = r ? 0 : range_read(f, &r, offset, (size_t)bytes);
    if (rc == 0) {
        r->users++;
        *data = r->data;
    }
    pthread_mutex_unlock(&f->lock);
    return rc;
}

static void file_done(struct byte_source *s, uint64_t offset)
{
    struct source_file *f = (struct source_file *)s;
    pthread_mutex_lock(&f->lock);
    struct range **at = &f->ranges;
    while (*at && (*at)->offset != offset)
        at = &(*at)->next;
    struct range *r = *at;
    if (r && --r->users == 0)
        *at = r->next;
    else
        r = NULL;
    pthread_mutex_unlock(&f->lock);
    if (r)
        file_read_free(r->data, r->bytes);
    free(r);
}

static void file_close(struct byte_source *s)
{
    struct source_file *f = (struct source_file *)s;
    for (struct range *r = f->ranges, *next; r; r = next) {
        next = r->next;
        file_read_free(r->data, r->bytes);
        free(r);
    }
    if (f->whole)
        file_read_free(f->whole, (size_t)s->bytes);
    if (f->fd >= 0)
        close(f->fd);
    pthread_mutex_destroy(&f->lock);
    free(s->path);
    free(f);
}

static const struct source_ops file_ops = {file_head, file_take, file_done, file_close};

int source_file_open(struct byte_source **out, const char *path)
{
    struct source_file *f = calloc(1, sizeof *f);
    if (!f)
        return err_fail(-ENOMEM, "%s: no memory to open it", path);
    f->base = (struct byte_source){.ops = &file_ops, .path = strdup(path)};
    pthread_mutex_init(&f->lock, NULL);
    f->fd = -1;
    int rc = f->base.path ? file_read_open(&f->fd, &f->base.bytes, path)
                          : err_fail(-ENOMEM, "%s: no memory for its name", path);
    if (rc == 0 && f->base.bytes == 0) {
        size_t n = 0;
        rc = file_read_stream(f->fd, path, &f->whole, &n);
        f->base.bytes = n;
        close(f->fd);
        f->fd = -1;
    }
    if (rc)
        file_close(&f->base);
    else
        *out = &f->base;
    return rc;
}
