#include "prover/file_read.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/err.h"

enum { STREAM_START = 1 << 20 };

int file_read_open(int *fd_p, uint64_t *bytes, const char *path)
{
    /* O_NONBLOCK: opening a FIFO that nobody writes must not hang */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_fail(-errno, "%s: cannot be opened: %s", path, strerror(errno));
    struct stat st;
    int rc = 0;
    if (fstat(fd, &st) < 0)
        rc = err_fail(-errno, "%s: cannot be read: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        rc = err_fail(-EBADMSG, "%s: is a folder, expected a file", path);
    else if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
        rc = err_fail(-EBADMSG, "%s: is not a regular file (nor a pipe)", path);
    if (rc) {
        close(fd);
        return rc;
    }
    *fd_p = fd;
    *bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return 0;
}

/* Is there something that can be read once only: a pipe, a socket? */
static bool is_stream(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

int file_read_bytes(uint64_t *bytes, const char *path)
{
    int fd;
    *bytes = 0;
    if (is_stream(path))
        return 0;
    int rc = file_read_open(&fd, bytes, path);
    if (!rc)
        close(fd);
    return rc;
}

int file_read_at(int fd, const char *path, void *to, uint64_t offset, size_t bytes)
{
    uint8_t *at = to;
    while (bytes) {
        ssize_t n = pread(fd, at, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_fail(-errno, "%s: read of %zu bytes at %" PRIu64 ": %s", path, bytes, offset, strerror(errno));
        if (n == 0)
            return err_fail(-EBADMSG, "%s: ends at byte %" PRIu64 ", expected %zu more: shortened while it was read?",
                            path, offset, bytes);
        at += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

/* Bytes read, 0 at the end. Waits where the pipe is empty but has a writer. */
static ssize_t stream_read(int fd, void *to, size_t bytes)
{
    for (;;) {
        ssize_t n = read(fd, to, bytes);
        if (n >= 0)
            return n;
        if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
            return -1;
    }
}

int file_read_stream(int fd, const char *path, uint8_t **data, size_t *bytes)
{
    size_t room = STREAM_START, used = 0;
    uint8_t *p = file_read_room(room);
    while (p) {
        ssize_t n = stream_read(fd, p + used, room - used);
        if (n < 0) {
            int err = errno;
            file_read_free(p, room);
            return err_fail(-err, "%s: read after %zu bytes: %s", path, used, strerror(err));
        }
        used += (size_t)n;
        if (n == 0)
            break;
        if (used < room)
            continue;
        void *more = mremap(p, room, 2 * room, MREMAP_MAYMOVE);
        if (more == MAP_FAILED) {
            file_read_free(p, room);
            p = NULL;
        } else {
            p = more;
            room *= 2;
        }
    }
    if (!p)
        return err_fail(-ENOMEM, "%s: no memory after %zu bytes of it", path, used);
    if (used == 0) {
        file_read_free(p, room);
        return err_fail(-EBADMSG, "%s: is empty (0 bytes)", path);
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE), keep = (used + page - 1) / page * page;
    if (keep < room)
        munmap(p + keep, room - keep);
    *data = p;
    *bytes = used;
    return 0;
}

uint8_t *file_read_room(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void file_read_free(uint8_t *data, size_t bytes)
{
    munmap(data, bytes);
}
