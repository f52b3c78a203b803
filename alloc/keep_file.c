#include <dirent.h>
#include <fcntl.h>
#include <hugetlbfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "alloc/keep_internal.h"
#include "alloc/sysops.h"
#include "perf/err.h"

const char *keep_state_name(enum keep_state state)
{
    static const char *const names[] = {"empty", "filling", "ready", "damaged"};
    return names[state];
}

uint32_t keep_header_sum(const struct keep_header *h)
{
    const size_t from = offsetof(struct keep_header, bytes), to = offsetof(struct keep_header, header_sum);
    return crc32c(KEEP_VERSION, (const unsigned char *)h + from, to - from);
}

enum keep_state keep_header_state(const struct keep_header *h)
{
    static const struct keep_header none;
    if (memcmp(h, &none, offsetof(struct keep_header, bytes)) == 0)
        return KEEP_EMPTY;
    uint32_t state = atomic_load_explicit(&((struct keep_header *)(uintptr_t)h)->state, memory_order_acquire);
    if (memcmp(h->magic, KEEP_MAGIC, sizeof h->magic) != 0 || h->version != KEEP_VERSION || state > KEEP_READY)
        return KEEP_DAMAGED;
    if (state == KEEP_READY && h->header_sum != keep_header_sum(h))
        return KEEP_DAMAGED;
    return (enum keep_state)state;
}

int keep_name_check(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n >= KEEP_NAME || name[0] == '.' ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != n)
        return err_fail(-EINVAL, "\"%.80s\" is no name for a kept arena: expected up to %d letters, digits, - _ .",
                        name, KEEP_NAME - 1);
    return 0;
}

int keep_header_read(int fd, const char *path, struct keep_header *h)
{
    struct keep_header read = {0};
    ssize_t n = sys->pread(fd, &read, sizeof read, 0);
    if (n < 0)
        return err_fail(-errno, "%s: reading its header: %s", path, strerror(errno));
    memcpy(h, &read, sizeof read); /* a file of 0 bytes: zeros */
    return 0;
}

/* Open the file and lock it; a file that was dropped between the two is opened again. */
int keep_file_lock(struct keep *k, int operation, bool create)
{
    for (int i = 0; i < 100; i++) {
        k->fd = sys->open(k->path, create ? O_RDWR | O_CREAT : O_RDWR, 0600);
        if (k->fd < 0)
            return err_fail(-errno, "%s: %s", k->path, strerror(errno));
        struct stat st;
        int rc = 0;
        if (sys->flock(k->fd, operation | LOCK_NB))
            rc = errno == EWOULDBLOCK ? err_fail(-EBUSY, "%s is in use by another process", k->path)
                                      : err_fail(-errno, "%s: flock: %s", k->path, strerror(errno));
        else if (sys->fstat(k->fd, &st))
            rc = err_fail(-errno, "%s: fstat: %s", k->path, strerror(errno));
        else if (st.st_nlink)
            return 0;
        sys->close(k->fd);
        k->fd = -1;
        if (rc)
            return rc;
    }
    return err_fail(-EAGAIN, "%s is dropped again and again", k->path);
}

void keep_file_unlock(struct keep *k)
{
    if (k->fd >= 0)
        sys->close(k->fd); /* and the lock with it */
    k->fd = -1;
}

/* What a file says of itself. Reading it allocates no page: a hole reads as zeros. */
static int entry_read(const char *path, struct keep_entry *e)
{
    struct keep_header h = {0};
    struct stat st;
    int fd = sys->open(path, O_RDWR, 0);
    if (fd < 0)
        return -errno;
    int rc = sys->fstat(fd, &st) ? -errno : 0;
    if (rc == 0)
        rc = keep_header_read(fd, path, &h);
    if (rc == 0) {
        e->state = keep_header_state(&h);
        e->file_bytes = (uint64_t)st.st_size;
        e->bytes = h.bytes;
        e->generation = h.generation;
        e->owner = (pid_t)h.owner;
        memcpy(e->identity, h.identity, KEEP_IDENTITY);
        /* A lock of our own descriptor collides with every other one, in this process too. */
        e->in_use = sys->flock(fd, LOCK_EX | LOCK_NB) != 0;
    }
    sys->close(fd);
    return rc;
}

static int list_dir(const char *dir, int (*each)(void *ctx, const struct keep_entry *e), void *ctx)
{
    DIR *d = opendir(dir);
    if (!d)
        return err_fail(-errno, "%s: %s", dir, strerror(errno));
    int rc = 0;
    for (struct dirent *f; rc == 0 && (f = readdir(d)) != NULL;) {
        struct keep_entry e = {0};
        char path[KEEP_PATH];
        size_t n = strlen(f->d_name);
        if (n < 15 || strncmp(f->d_name, "penstock-", 9) != 0 || strcmp(f->d_name + n - 5, ".keep") != 0 ||
            n - 14 >= KEEP_NAME)
            continue;
        memcpy(e.name, f->d_name + 9, n - 14);
        snprintf(path, sizeof path, "%.200s/%.255s", dir, f->d_name);
        if (entry_read(path, &e) == 0) /* else dropped meanwhile */
            rc = each(ctx, &e);
    }
    closedir(d);
    return rc;
}

int keep_list(const char *dir, int (*each)(void *ctx, const struct keep_entry *e), void *ctx)
{
    if (dir)
        return list_dir(dir, each, ctx);
    static const size_t sizes[] = {1u << 30, 2u << 20};
    int rc = 0, found = 0;
    for (int i = 0; i < 2 && rc == 0; i++) {
        const char *mount = hugetlbfs_find_path_for_size((long)sizes[i]);
        if (mount) {
            found++;
            rc = list_dir(mount, each, ctx);
        }
    }
    if (!found)
        return err_fail(-ENOTSUP, "no hugetlbfs mount: nothing is kept over a restart");
    return rc;
}

int keep_drop(const char *dir, const char *name)
{
    struct keep k = {.fd = -1};
    int rc = keep_name_check(name);
    if (rc)
        return rc;
    static const size_t sizes[] = {1u << 30, 2u << 20};
    for (int i = 0; i < (dir ? 1 : 2); i++) {
        const char *mount = dir ? dir : hugetlbfs_find_path_for_size((long)sizes[i]);
        if (!mount)
            continue;
        snprintf(k.path, sizeof k.path, "%.400s/penstock-%s.keep", mount, name);
        rc = keep_file_lock(&k, LOCK_EX, false);
        if (rc == -ENOENT)
            continue;
        if (rc == 0 && sys->unlink(k.path))
            rc = err_fail(-errno, "%s: %s", k.path, strerror(errno));
        keep_file_unlock(&k);
        return rc;
    }
    return err_fail(-ENOENT, "no kept arena named %s", name);
}
