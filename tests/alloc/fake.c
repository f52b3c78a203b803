#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/err.h"

struct fake fake;

enum { RANGES = 64 };
static struct {
    uintptr_t from, to;
} ranges[RANGES];
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;

static bool due(const char *name)
{
    unsigned long n = atomic_fetch_add(&fake.calls, 1) + 1;
    if (n != atomic_load(&fake.fail_at))
        return false;
    atomic_fetch_add(&fake.failed, 1);
    strncpy(fake.failed_name, name, sizeof fake.failed_name - 1);
    return true;
}

/* Fail the call with this errno if it is its turn. */
#define DUE(err, bad)                                                                                                  \
    do {                                                                                                               \
        if (due(__func__)) {                                                                                           \
            errno = (err);                                                                                             \
            return (bad);                                                                                              \
        }                                                                                                              \
    } while (0)

static bool overlaps(const void *at, size_t bytes)
{
    uintptr_t from = (uintptr_t)at, to = from + bytes;
    bool hit = false;
    pthread_mutex_lock(&ranges_lock);
    for (int i = 0; i < RANGES; i++)
        hit = hit || (ranges[i].to > from && ranges[i].from < to);
    pthread_mutex_unlock(&ranges_lock);
    return hit;
}

static void *f_calloc(size_t n, size_t bytes)
{
    DUE(ENOMEM, NULL);
    return sys_real.calloc(n, bytes);
}

static void *f_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    DUE(ENOMEM, MAP_FAILED);
    if (atomic_load(&fake.no_populate))
        flags |= MAP_NORESERVE;
    void *p = sys_real.mmap(addr, bytes, prot, flags, fd, offset);
    if (p != MAP_FAILED)
        atomic_fetch_add(&fake.mapped_bytes, (long)bytes);
    return p;
}

static int f_munmap(void *addr, size_t bytes)
{
    if (overlaps(addr, bytes))
        atomic_fetch_add(&fake.violations, 1);
    DUE(EINVAL, -1);
    int rc = sys_real.munmap(addr, bytes);
    if (rc == 0)
        atomic_fetch_sub(&fake.mapped_bytes, (long)bytes);
    return rc;
}

static int f_madvise(void *addr, size_t bytes, int advice)
{
    DUE(EFAULT, -1);
    if (advice == 23 /* populate */ && atomic_load(&fake.populate_errno)) {
        errno = atomic_load(&fake.populate_errno);
        return -1;
    }
    if (advice == 23 && atomic_load(&fake.no_populate))
        return 0;
    return sys_real.madvise(addr, bytes, advice);
}

static long f_mbind(void *addr, unsigned long bytes, int mode, const unsigned long *nodes, unsigned long max_node,
                    unsigned flags)
{
    DUE(EIO, -1);
    if (atomic_load(&fake.mbind_errno)) {
        errno = atomic_load(&fake.mbind_errno);
        return -1;
    }
    return sys_real.mbind(addr, bytes, mode, nodes, max_node, flags);
}

static long f_move_pages(int pid, unsigned long n, void **pages, const int *nodes, int *status, int flags)
{
    DUE(EPERM, -1);
    if (atomic_load(&fake.move_pages_errno)) {
        errno = atomic_load(&fake.move_pages_errno);
        return -1;
    }
    long rc = sys_real.move_pages(pid, n, pages, nodes, status, flags);
    for (unsigned long i = 0; i < n && rc == 0 && atomic_load(&fake.wrong_node) > 0; i++)
        status[i] = atomic_load(&fake.wrong_node);
    return rc;
}

static int f_open(const char *path, int flags, mode_t mode)
{
    DUE(EACCES, -1);
    if ((flags & O_DIRECT) && atomic_load(&fake.direct_errno)) {
        errno = atomic_load(&fake.direct_errno);
        return -1;
    }
    int fd = sys_real.open(path, flags, mode);
    if (fd >= 0)
        atomic_fetch_add(&fake.open_files, 1);
    return fd;
}

static int f_close(int fd)
{
    atomic_fetch_sub(&fake.open_files, 1); /* a failing close closes all the same: nothing to test */
    return sys_real.close(fd);
}

static int f_fstat(int fd, struct stat *st)
{
    DUE(EIO, -1);
    int rc = sys_real.fstat(fd, st);
    if (rc == 0)
        st->st_size += atomic_load(&fake.fstat_lies);
    return rc;
}

static int f_fstatfs(int fd, struct statfs *st)
{
    DUE(EIO, -1);
    return sys_real.fstatfs(fd, st);
}

static int f_ftruncate(int fd, off_t bytes)
{
    DUE(ENOSPC, -1);
    return sys_real.ftruncate(fd, bytes);
}

static int f_flock(int fd, int operation)
{
    DUE(ENOLCK, -1);
    return sys_real.flock(fd, operation);
}

static int f_unlink(const char *path)
{
    DUE(EACCES, -1);
    return sys_real.unlink(path);
}

static int f_rename(const char *from, const char *to)
{
    DUE(EACCES, -1);
    return sys_real.rename(from, to);
}

static int f_fsync(int fd)
{
    DUE(EIO, -1);
    return sys_real.fsync(fd);
}

static ssize_t f_write(int fd, const void *buf, size_t bytes)
{
    DUE(ENOSPC, -1);
    return sys_real.write(fd, buf, bytes);
}

static long bend(long n)
{
    unsigned long i = atomic_fetch_add(&fake.reads, 1) + 1;
    if (i == atomic_load(&fake.read_eio_at))
        return -EIO;
    if (i == atomic_load(&fake.read_short_at) && n > 4096)
        return n / 2 & ~4095l;
    return n;
}

static ssize_t f_pread(int fd, void *buf, size_t bytes, off_t offset)
{
    DUE(EIO, -1);
    if (atomic_load(&fake.read_slow_us))
        usleep((useconds_t)atomic_load(&fake.read_slow_us));
    if (atomic_load(&fake.direct_read_errno) && fcntl(fd, F_GETFL) & O_DIRECT) {
        errno = atomic_load(&fake.direct_read_errno);
        return -1;
    }
    ssize_t n = sys_real.pread(fd, buf, bytes, offset);
    long bent = n < 0 ? n : bend(n);
    if (n >= 0 && bent < 0) {
        errno = (int)-bent;
        return -1;
    }
    return bent;
}

static ssize_t f_cached(int fd, off_t offset, size_t bytes)
{
    DUE(EIO, -1);
    if (atomic_load(&fake.cached_nothing))
        return 0;
    return sys_real.cached(fd, offset, bytes);
}

static int f_uring_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
    DUE(EPERM, -EPERM);
    if (atomic_load(&fake.uring_errno))
        return -atomic_load(&fake.uring_errno);
    return sys_real.uring_init(entries, ring, flags);
}

static int f_uring_submit(struct io_uring *ring)
{
    DUE(EAGAIN, -EAGAIN);
    return sys_real.uring_submit(ring);
}

static int f_uring_wait(struct io_uring *ring, struct io_uring_cqe **cqe)
{
    DUE(EINTR, -EINTR);
    if (atomic_load(&fake.read_slow_us))
        usleep((useconds_t)atomic_load(&fake.read_slow_us));
    int rc = sys_real.uring_wait(ring, cqe);
    if (rc == 0 && (*cqe)->res >= 0)
        (*cqe)->res = (int)bend((*cqe)->res);
    return rc;
}

static int f_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    DUE(EAGAIN, EAGAIN);
    return sys_real.thread_create(thread, attr, run, arg);
}

static int f_thread_pin(pthread_t thread, size_t bytes, const cpu_set_t *cpus)
{
    DUE(EINVAL, EINVAL);
    return sys_real.thread_pin(thread, bytes, cpus);
}

const struct sysops fake_sys = {
    .calloc = f_calloc,
    .mmap = f_mmap,
    .munmap = f_munmap,
    .madvise = f_madvise,
    .mbind = f_mbind,
    .move_pages = f_move_pages,
    .open = f_open,
    .close = f_close,
    .fstat = f_fstat,
    .fstatfs = f_fstatfs,
    .ftruncate = f_ftruncate,
    .flock = f_flock,
    .unlink = f_unlink,
    .rename = f_rename,
    .fsync = f_fsync,
    .write = f_write,
    .pread = f_pread,
    .cached = f_cached,
    .uring_init = f_uring_init,
    .uring_submit = f_uring_submit,
    .uring_wait = f_uring_wait,
    .thread_create = f_thread_create,
    .thread_pin = f_thread_pin,
};

static int f_register(void *ctx, void *base, size_t bytes)
{
    (void)ctx;
    if (due("host_register") || atomic_load(&fake.register_fails))
        return err_fail(-EIO, "the device refused to register %zu bytes", bytes);
    if (atomic_load(&fake.register_us))
        usleep((useconds_t)atomic_load(&fake.register_us));
    if (bytes >= 1ull << 39 || overlaps(base, bytes)) {
        atomic_fetch_add(&fake.violations, 1);
        return err_fail(-EEXIST, "range overlaps a registered one, or has 512 GiB");
    }
    pthread_mutex_lock(&ranges_lock);
    int i = 0;
    while (i < RANGES && ranges[i].to)
        i++;
    if (i < RANGES) {
        ranges[i].from = (uintptr_t)base;
        ranges[i].to = (uintptr_t)base + bytes;
        atomic_fetch_add(&fake.registered, 1);
    }
    pthread_mutex_unlock(&ranges_lock);
    return i < RANGES ? 0 : err_fail(-ENOSPC, "test: too many ranges");
}

static int f_unregister(void *ctx, void *base, size_t bytes)
{
    (void)ctx;
    if (due("host_unregister") || atomic_load(&fake.unregister_fails))
        return err_fail(-EIO, "the device refused to unregister %p", base);
    int rc = -EINVAL;
    pthread_mutex_lock(&ranges_lock);
    for (int i = 0; i < RANGES; i++)
        if (ranges[i].to && ranges[i].from == (uintptr_t)base && ranges[i].to - ranges[i].from == bytes) {
            ranges[i].from = ranges[i].to = 0;
            atomic_fetch_sub(&fake.registered, 1);
            rc = 0;
        }
    pthread_mutex_unlock(&ranges_lock);
    if (rc)
        atomic_fetch_add(&fake.violations, 1);
    return rc ? err_fail(rc, "%p is not the base of a registered range", base) : 0;
}

const struct registrar fake_registrar = {f_register, f_unregister, NULL};

void fake_begin(void)
{
    memset((void *)&fake, 0, sizeof fake);
    memset(ranges, 0, sizeof ranges);
    sys_use(&fake_sys);
}

void fake_end(void)
{
    sys_use(&sys_real);
}
