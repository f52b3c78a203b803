#include "alloc/sysops.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <numaif.h>
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
    .pread = pread,
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
