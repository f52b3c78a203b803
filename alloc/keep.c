#include "alloc/keep.h"

#include <hugetlbfs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "alloc/keep_internal.h"
#include "alloc/sysops.h"
#include "perf/clock.h"
#include "perf/err.h"

enum { DATA_AT = 2 << 20, RETRY_NS = 2 * 1000 * 1000, PATIENCE_NS = 20 * 1000 * 1000 };

static int dir_find(const char **dir, size_t page_bytes)
{
    if (*dir)
        return 0;
    *dir = hugetlbfs_find_path_for_size((long)page_bytes);
    if (!*dir)
        return err_fail(-ENOTSUP,
                        "no hugetlbfs mount for pages of %zu MiB: keys are not kept over a restart "
                        "(mount -t hugetlbfs -o pagesize=%zuM none DIR)",
                        page_bytes >> 20, page_bytes >> 20);
    return 0;
}

/* Page size of the file system; only those whose pages are memory and nothing else. */
static int page_size(int fd, const char *path, size_t *page_bytes)
{
    struct statfs fs;
    if (sys->fstatfs(fd, &fs))
        return err_fail(-errno, "%s: statfs: %s", path, strerror(errno));
    if (fs.f_type != HUGETLBFS_MAGIC && fs.f_type != TMPFS_MAGIC)
        return err_fail(-ENOTSUP, "%s lies on a file system of type 0x%lx: expected hugetlbfs or tmpfs", path,
                        (unsigned long)fs.f_type);
    *page_bytes = (size_t)fs.f_bsize;
    return 0;
}

static int file_map(struct keep *k, const struct keep_opts *o, size_t page_bytes, uint64_t file_bytes)
{
    struct hugepage_opts m = {.bytes = file_bytes, .node = o->node, .threads = o->threads, .cpus = o->cpus};
    m.fd = k->fd;
    m.fd_page_bytes = page_bytes;
    int rc = hugepage_map(&k->map, &m);
    if (rc)
        return rc;
    k->header = (void *)k->map.base;
    return 0;
}

static uint64_t file_bytes_for(uint64_t bytes, size_t page_bytes)
{
    return (DATA_AT + bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/* Locked shared: is it what we want? Maps it if so. 0, or -EAGAIN: it must be filled. */
static int try_ready(struct keep *k, const struct keep_opts *o)
{
    struct stat st;
    size_t page = 0;
    int rc = page_size(k->fd, k->path, &page);
    if (rc)
        return rc;
    if (sys->fstat(k->fd, &st))
        return err_fail(-errno, "%s: fstat: %s", k->path, strerror(errno));
    if ((uint64_t)st.st_size != file_bytes_for(o->bytes, page))
        return -EAGAIN;
    struct keep_header h = {0};
    rc = keep_header_read(k->fd, k->path, &h);
    if (rc)
        return rc;
    bool same = keep_header_state(&h) == KEEP_READY && h.bytes == o->bytes &&
                memcmp(h.identity, o->identity, KEEP_IDENTITY) == 0;
    if (!same)
        return -EAGAIN;
    k->generation = h.generation;
    k->ready = true;
    return file_map(k, o, page, (uint64_t)st.st_size);
}

/* Locked exclusively: make it ours and say so before the first byte changes. */
static int begin_fill(struct keep *k, const struct keep_opts *o)
{
    size_t page = 0;
    int rc = page_size(k->fd, k->path, &page);
    if (rc)
        return rc;
    uint64_t file_bytes = file_bytes_for(o->bytes, page);
    if (sys->ftruncate(k->fd, (off_t)file_bytes))
        return err_fail(-errno, "%s: no room for %lu bytes: %s", k->path, file_bytes, strerror(errno));
    rc = file_map(k, o, page, file_bytes);
    if (rc)
        return rc;
    struct keep_header *h = k->header;
    enum keep_state before = keep_header_state(h);
    atomic_store_explicit(&h->state, KEEP_FILLING, memory_order_release);
    k->generation = (before == KEEP_EMPTY || before == KEEP_DAMAGED ? 0 : h->generation) + 1;
    memcpy(h->magic, KEEP_MAGIC, sizeof h->magic);
    h->version = KEEP_VERSION;
    h->bytes = o->bytes;
    h->generation = k->generation;
    h->owner = getpid();
    memcpy(h->identity, o->identity, KEEP_IDENTITY);
    h->sum = 0;
    h->header_sum = 0;
    return 0;
}

static int open_once(struct keep *k, const struct keep_opts *o)
{
    int rc = keep_file_lock(k, LOCK_SH, true);
    if (rc)
        return rc;
    k->ready = false;
    rc = try_ready(k, o);
    if (rc == 0)
        return 0;
    keep_file_unlock(k);
    if (rc != -EAGAIN)
        return rc;
    rc = keep_file_lock(k, LOCK_EX, true);
    if (rc)
        return rc;
    rc = try_ready(k, o); /* somebody may have filled it between the two locks */
    if (rc == 0 && sys->flock(k->fd, LOCK_SH | LOCK_NB))
        rc = err_fail(-errno, "%s: flock: %s", k->path, strerror(errno));
    else if (rc == -EAGAIN) {
        rc = begin_fill(k, o);
        /* Half populated pages of nothing would stay taken. Nobody uses the file: we hold it exclusively. */
        if (rc)
            sys->unlink(k->path);
    }
    if (rc) {
        if (k->map.base)
            hugepage_unmap(&k->map);
        keep_file_unlock(k);
    }
    return rc;
}

int keep_open(struct keep **out, const struct keep_opts *o)
{
    const char *dir = o->dir;
    int rc = keep_name_check(o->name);
    rc = rc ? rc : dir_find(&dir, o->page_bytes ? o->page_bytes : 1u << 30);
    if (rc)
        return rc;
    if (o->bytes == 0 || o->bytes > INT64_MAX / 2)
        return err_fail(-EINVAL, "a kept arena of %lu bytes", o->bytes);
    struct keep *k = sys->calloc(1, sizeof *k);
    if (!k)
        return err_fail(-ENOMEM, "no memory for a kept arena's record");
    k->fd = -1;
    k->bytes = o->bytes;
    snprintf(k->name, sizeof k->name, "%s", o->name);
    snprintf(k->path, sizeof k->path, "%.400s/penstock-%s.keep", dir, o->name);
    uint64_t t0 = clock_now_ns();
    /* A little patience always: keep_list locks a file for a moment to see whether it is in use. */
    while ((rc = open_once(k, o)) == -EBUSY &&
           clock_now_ns() - t0 < (o->wait_ns > PATIENCE_NS ? o->wait_ns : PATIENCE_NS))
        nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
    if (rc)
        goto undo_record;
    if (o->registrar.host_register) {
        rc = o->registrar.host_register(o->registrar.ctx, k->map.base, k->map.bytes);
        if (rc)
            goto undo_map;
        k->registrar = o->registrar;
    }
    *out = k;
    return 0;
undo_map:
    hugepage_unmap(&k->map);
    keep_file_unlock(k);
undo_record:
    free(k);
    return rc;
}

bool keep_ready(const struct keep *k)
{
    return k->ready;
}

unsigned char *keep_data(const struct keep *k)
{
    return k->map.base + DATA_AT;
}

uint64_t keep_bytes(const struct keep *k)
{
    return k->bytes;
}

uint64_t keep_generation(const struct keep *k)
{
    return k->generation;
}

bool keep_verified(const struct keep *k)
{
    return k->map.verified;
}

int keep_seal(struct keep *k)
{
    struct keep_header *h = k->header;
    if (k->ready)
        return err_fail(-EINVAL, "%s is sealed already", k->path);
    h->sum = keep_sum(keep_data(k), k->bytes);
    h->header_sum = keep_header_sum(h);
    atomic_store_explicit(&h->state, KEEP_READY, memory_order_release);
    /* Exclusive -> shared is not atomic in the kernel: the lock is dropped and taken. Who slips in between has found it
     * ready, and either shares it or replaces it; the generation tells. */
    if (sys->flock(k->fd, LOCK_SH | LOCK_NB))
        return err_fail(errno == EWOULDBLOCK ? -ESTALE : -errno, "%s: sharing it after the filling: %s", k->path,
                        strerror(errno));
    if (h->generation != k->generation || keep_header_state(h) != KEEP_READY)
        return err_fail(-ESTALE, "%s was taken over by process %ld", k->path, h->owner);
    k->ready = true;
    return 0;
}

int keep_check(struct keep *k)
{
    struct keep_header *h = k->header;
    if (keep_header_state(h) == KEEP_READY && h->sum == keep_sum(keep_data(k), k->bytes))
        return 0;
    /* No process may fill it while others use it; the mark makes the next open do so. */
    h->header_sum = ~keep_header_sum(h);
    return err_fail(-EBADMSG, "%s: the data does not have its checksum; it is read again at the next start", k->path);
}

int keep_close(struct keep *k)
{
    if (k->registrar.host_unregister) {
        int rc = k->registrar.host_unregister(k->registrar.ctx, k->map.base, k->map.bytes);
        if (rc)
            return rc;
        k->registrar = (struct registrar){0};
    }
    int rc = hugepage_unmap(&k->map);
    if (rc)
        return rc;
    keep_file_unlock(k);
    free(k);
    return 0;
}
