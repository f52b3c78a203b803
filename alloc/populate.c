#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc/hugepage.h"
#include "alloc/sysops.h"
#include "perf/err.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* 64 MiB: long enough to hide the call, short enough that 8 threads finish a 1 GiB range of small pages together. */
enum { SLICE = 64 << 20, THREADS_MAX = 64, RETRIES = 16 };

struct population {
    unsigned char *base;
    size_t bytes, slice_bytes;
    const cpu_set_t *cpus;
    _Atomic size_t next; /* slice to take */
    _Atomic int rc;      /* first failure; stops the others */
};

/* Kernels before 5.14: let read(2) write the pages. A page that cannot be had is EFAULT there too, not SIGBUS. */
static int populate_by_read(unsigned char *at, size_t bytes)
{
    int fd = sys->open("/dev/zero", O_RDONLY, 0);
    if (fd < 0)
        return -errno;
    int rc = 0;
    while (bytes && rc == 0) {
        ssize_t n = sys->pread(fd, at, bytes, 0);
        if (n > 0) {
            at += n;
            bytes -= (size_t)n;
        } else if (n == 0) {
            rc = -EIO;
        } else if (errno != EINTR) {
            rc = -errno;
        }
    }
    sys->close(fd);
    return rc;
}

static int populate_slice(unsigned char *at, size_t bytes)
{
    for (int i = 0; i < RETRIES; i++) {
        if (sys->madvise(at, bytes, MADV_POPULATE_WRITE) == 0)
            return 0;
        if (errno == EINVAL)
            return populate_by_read(at, bytes);
        if (errno != EINTR && errno != EAGAIN)
            break;
    }
    return -errno;
}

static void *populate_run(void *arg)
{
    struct population *p = arg;
    for (;;) {
        size_t at = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed) * p->slice_bytes;
        if (at >= p->bytes || atomic_load_explicit(&p->rc, memory_order_relaxed))
            return NULL;
        size_t bytes = p->bytes - at < p->slice_bytes ? p->bytes - at : p->slice_bytes;
        int rc = populate_slice(p->base + at, bytes), none = 0;
        if (rc)
            atomic_compare_exchange_strong(&p->rc, &none, rc);
    }
}

static unsigned threads_for(size_t slices, unsigned asked)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = asked ? asked : cpus < 1 ? 1 : cpus > 8 ? 8 : (unsigned)cpus;
    if (n > slices)
        n = (unsigned)slices;
    return n > THREADS_MAX ? THREADS_MAX : n;
}

int hugepage_populate(unsigned char *base, size_t bytes, size_t page_bytes, unsigned threads, const cpu_set_t *cpus)
{
    struct population p = {.base = base, .bytes = bytes, .cpus = cpus};
    p.slice_bytes = page_bytes > SLICE ? page_bytes : SLICE;
    unsigned n = threads_for((bytes + p.slice_bytes - 1) / p.slice_bytes, threads), started = 0;
    pthread_t helper[THREADS_MAX];
    /* With CPUs given, even one slice goes to a helper: the caller's own affinity is not ours to change. */
    unsigned helpers = cpus ? n : n - 1;
    while (started < helpers && sys->thread_create(&helper[started], NULL, populate_run, &p) == 0) {
        if (cpus)
            sys->thread_pin(helper[started], sizeof *cpus, cpus); /* refused: verification tells */
        started++;
    }
    if (started == 0 || !cpus)
        populate_run(&p);
    for (unsigned i = 0; i < started; i++)
        pthread_join(helper[i], NULL);
    int rc = atomic_load(&p.rc);
    if (rc)
        return err_fail(rc, "population of %zu bytes: %s", bytes, strerror(-rc));
    return 0;
}
