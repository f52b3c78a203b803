/* Hints on disk:  | "penhint1" | u64 n | n times: id 32, rows, aux, inputs u64 | u64 crc32c of all before |
 * little-endian, the one used longest ago first. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/hints_internal.h"
#include "alloc/keep_internal.h"
#include "alloc/sysops.h"
#include "perf/err.h"

enum { ENTRIES_MAX = 4096 };

struct entry {
    unsigned char id[HINT_ID];
    uint64_t rows, aux, inputs;
};

struct image {
    char magic[8];
    uint64_t n;
    struct entry entry[]; /* and the sum */
};

static const char magic[8] = {'p', 'e', 'n', 'h', 'i', 'n', 't', '1'};

static size_t image_bytes(uint64_t n)
{
    return sizeof(struct image) + n * sizeof(struct entry) + sizeof(uint64_t);
}

static uint64_t image_sum(const struct image *m, uint64_t n)
{
    return crc32c(0, (const unsigned char *)m, image_bytes(n) - sizeof(uint64_t));
}

static int by_use(const void *pa, const void *pb)
{
    const struct slot *a = pa, *b = pb;
    return a->used < b->used ? -1 : a->used > b->used;
}

/* NULL: no memory. */
static struct image *image_make(struct hints *h)
{
    struct image *m = sys->calloc(1, image_bytes(h->n));
    struct slot *sorted = sys->calloc(h->n, sizeof *sorted);
    if (m && sorted) {
        pthread_mutex_lock(&h->lock);
        memcpy(sorted, h->slot, h->n * sizeof *sorted);
        pthread_mutex_unlock(&h->lock);
        qsort(sorted, h->n, sizeof *sorted, by_use);
        memcpy(m->magic, magic, sizeof magic);
        for (unsigned i = 0; i < h->n; i++) {
            if (!sorted[i].used)
                continue;
            struct entry *e = &m->entry[m->n++];
            memcpy(e->id, sorted[i].id, HINT_ID);
            e->rows = sorted[i].hint.rows;
            e->aux = sorted[i].hint.aux;
            e->inputs = sorted[i].hint.inputs;
        }
        uint64_t sum = image_sum(m, m->n);
        memcpy((unsigned char *)m + image_bytes(m->n) - sizeof sum, &sum, sizeof sum);
    } else {
        free(m);
        m = NULL;
    }
    free(sorted);
    return m;
}

static int write_all(int fd, const char *path, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    while (bytes) {
        ssize_t n = sys->write(fd, p, bytes);
        if (n < 0 && errno != EINTR)
            return err_fail(-errno, "%s: %s", path, strerror(errno));
        p += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return sys->fsync(fd) ? err_fail(-errno, "%s: fsync: %s", path, strerror(errno)) : 0;
}

int hints_save(struct hints *h, const char *path)
{
    char beside[4096];
    if (snprintf(beside, sizeof beside, "%s.%d.new", path, (int)getpid()) >= (int)sizeof beside)
        return err_fail(-ENAMETOOLONG, "%s: too long a name", path);
    struct image *m = image_make(h);
    if (!m)
        return err_fail(-ENOMEM, "%s: no memory to write size hints", path);
    int fd = sys->open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
    int rc = fd < 0 ? err_fail(-errno, "%s: %s", beside, strerror(errno)) : 0;
    if (!rc)
        rc = write_all(fd, beside, m, image_bytes(m->n));
    if (fd >= 0)
        sys->close(fd);
    if (!rc && sys->rename(beside, path))
        rc = err_fail(-errno, "%s: %s", path, strerror(errno));
    if (rc && fd >= 0)
        sys->unlink(beside);
    free(m);
    return rc;
}

/* Everything wrong with a file of `bytes` at m. */
static int image_check(const struct image *m, size_t bytes, const char *path)
{
    uint64_t sum;
    if (bytes < image_bytes(0) || memcmp(m->magic, magic, sizeof magic) != 0)
        return err_fail(-EBADMSG, "%s: is no file of size hints of this version; ignored", path);
    if (m->n > ENTRIES_MAX || bytes != image_bytes(m->n))
        return err_fail(-EBADMSG, "%s: %zu bytes, its count asks for others; ignored", path, bytes);
    memcpy(&sum, (const unsigned char *)m + bytes - sizeof sum, sizeof sum);
    if (sum != image_sum(m, m->n))
        return err_fail(-EBADMSG, "%s: its checksum does not match its content; ignored", path);
    return 0;
}

static void take(struct hints *h, const struct image *m)
{
    for (uint64_t i = 0; i < m->n; i++) {
        const struct entry *e = &m->entry[i];
        struct hint known;
        if (!hints_get(h, e->id, &known))
            hints_put(h, e->id, &(struct hint){.rows = e->rows, .aux = e->aux, .inputs = e->inputs});
    }
}

int hints_load(struct hints *h, const char *path)
{
    int fd = sys->open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_fail(-errno, "%s: %s", path, strerror(errno));
    size_t room = image_bytes(ENTRIES_MAX) + 1, used = 0;
    struct image *m = sys->calloc(1, room);
    int rc = m ? 0 : err_fail(-ENOMEM, "%s: no memory to read size hints", path);
    while (!rc && used < room) {
        ssize_t n = sys->pread(fd, (unsigned char *)m + used, room - used, (off_t)used);
        if (n < 0 && errno != EINTR)
            rc = err_fail(-errno, "%s: %s", path, strerror(errno));
        if (n == 0)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    sys->close(fd);
    if (!rc)
        rc = image_check(m, used, path);
    if (!rc)
        take(h, m);
    free(m);
    return rc;
}
