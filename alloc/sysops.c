#include "alloc/sysops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long real_mbind(void *addr, unsigned long bytes, int mode, const unsigned long *nodes, unsigned long max_node,
                       unsigned flags)
{
    return mbind(addr, bytes, mode, nodes, max_node, flags);
}

static long real_move_pages(int pid, unsigned long n, void **pages, const int *nodes, int *status, int flags)
{
    return move_pages(pid, n, pages, nodes, status, flags);
}

static int real_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags | O_CLOEXEC, mode);
}

static int real_uring_wait(struct io_uring *ring, struct io_uring_cqe **cqe)
{
    return io_uring_wait_cqe(ring, cqe);
}

/* cachestat(2), Linux 6.5. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
struct cache_range {
    uint64_t offset, bytes;
};
struct cache_counts {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/* Older kernels: map the range, touch nothing, ask. */
static ssize_t cached_by_mincore(int fd, off_t offset, size_t bytes)
{
    enum { PAGE = 4096, PAGES = 1024 };
    unsigned char there[PAGES];
    size_t n = 0;
    for (size_t at = 0; at < bytes; at += PAGES * PAGE) {
        size_t part = bytes - at < PAGES * PAGE ? bytes - at : PAGES * PAGE, pages = (part + PAGE - 1) / PAGE;
        void *p = mmap(NULL, part, PROT_NONE, MAP_SHARED, fd, offset + (off_t)at);
        if (p == MAP_FAILED)
            return -1;
        int rc = mincore(p, part, there);
        munmap(p, part);
        if (rc)
            return -1;
        for (size_t i = 0; i < pages; i++)
            n += there[i] & 1;
    }
    return (ssize_t)(n * PAGE);
}

static ssize_t real_cached(int fd, off_t offset, size_t bytes)
{
    struct cache_range range = {(uint64_t)offset, bytes};
    struct cache_counts counts;
    if (syscall(SYS_cachestat, fd, &range, &counts, 0) == 0)
        return (ssize_t)counts.cached * 4096;
    return errno == ENOSYS || errno == EPERM ? cached_by_mincore(fd, offset, bytes) : -1;
}

const struct sysops sys_real = {
    .calloc = calloc,
    .mmap = mmap,
    .munmap = munmap,
    .madvise = madvise,
    .mbind = real_mbind,
    .move_pages = real_move_pages,
    .open = real_open,
    .close = close,
    .fstat = fstat,
    .fstatfs = fstatfs,
    .ftruncate = ftruncate,
    .flock = flock,
    .unlink = unlink,
    .rename = rename,
    .fsync = fsync,
    .write = write,
    .pread = pread,
    .cached = real_cached,
    .uring_init = io_uring_queue_init,
    .uring_submit = io_uring_submit,
    .uring_wait = real_uring_wait,
    .thread_create = pthread_create,
    .thread_pin = pthread_setaffinity_np,
};

const struct sysops *sys = &sys_real;

void sys_use(const struct sysops *table)
{
    sys = table;
}

void sys_futex_wait(const _Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec ts = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, timeout_ns == UINT64_MAX ? NULL : &ts, NULL, 0);
}

void sys_futex_wake(const _Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
