/* Every call of this layer that can fail for a reason outside the program, behind one table, so that a test can fail
 * the k-th call of a scenario for every k. */
#ifndef ALLOC_SYSOPS_H
#define ALLOC_SYSOPS_H

#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>

/* As the calls of the same name: pointer or -1 with errno; the uring_ ones: 0 or -errno; thread_ ones: 0 or errno. */
struct sysops {
    void *(*calloc)(size_t n, size_t bytes);

    void *(*mmap)(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
    int (*munmap)(void *addr, size_t bytes);
    int (*madvise)(void *addr, size_t bytes, int advice);
    long (*mbind)(void *addr, unsigned long bytes, int mode, const unsigned long *nodes, unsigned long max_node,
                  unsigned flags);
    long (*move_pages)(int pid, unsigned long n, void **pages, const int *nodes, int *status, int flags);

    int (*open)(const char *path, int flags, mode_t mode);
    int (*close)(int fd);
    int (*fstat)(int fd, struct stat *st);
    int (*fstatfs)(int fd, struct statfs *st);
    int (*ftruncate)(int fd, off_t bytes);
    int (*flock)(int fd, int operation);
    int (*unlink)(const char *path);
    int (*rename)(const char *from, const char *to);
    int (*fsync)(int fd);
    ssize_t (*write)(int fd, const void *buf, size_t bytes);
    ssize_t (*pread)(int fd, void *buf, size_t bytes, off_t offset);
    /* Bytes of the range that are in the page cache; -1 with errno: nobody would say. */
    ssize_t (*cached)(int fd, off_t offset, size_t bytes);

    int (*uring_init)(unsigned entries, struct io_uring *ring, unsigned flags);
    int (*uring_submit)(struct io_uring *ring);
    int (*uring_wait)(struct io_uring *ring, struct io_uring_cqe **cqe);

    int (*thread_create)(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
    int (*thread_pin)(pthread_t thread, size_t bytes, const cpu_set_t *cpus);
};

extern const struct sysops sys_real;

/* The table in use; &sys_real unless a test replaced it (with sys_use, while no thread of this layer runs). */
extern const struct sysops *sys;
void sys_use(const struct sysops *table);

/* Futexes are not in the table: a wait that fails is a wake-up too many, which every caller must bear anyway. */
void sys_futex_wait(const _Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns); /* UINT64_MAX: no limit */
void sys_futex_wake(const _Atomic uint32_t *word);                                     /* everybody */

#endif
