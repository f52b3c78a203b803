/* The threads that read: one with an io_uring, or several with pread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/fill_internal.h"
#include "perf/err.h"

enum { DEPTH = 32, CHUNK = 1 << 20 };

/* Put what is to be read into the ring; sleeps when there is nothing and nothing is in flight. Returns false at the
 * end. */
static bool ring_feed(struct filler *f, unsigned *in_flight)
{
    pthread_mutex_lock(&f->lock);
    for (;;) {
        struct chunk *c;
        while (*in_flight < f->opts.depth && (c = fill_next(f)) != NULL) {
            struct io_uring_sqe *sqe = io_uring_get_sqe(&f->ring); /* the ring has `depth` entries: never NULL */
            io_uring_prep_read(sqe, c->fd, c->to, (unsigned)c->bytes, c->at);
            io_uring_sqe_set_data(sqe, c);
            ++*in_flight;
        }
        if (*in_flight || f->quit)
            break;
        pthread_cond_wait(&f->work, &f->lock);
    }
    pthread_mutex_unlock(&f->lock);
    return *in_flight != 0;
}

static void *ring_run(void *arg)
{
    struct filler *f = arg;
    unsigned in_flight = 0;
    while (ring_feed(f, &in_flight)) {
        /* A refused submit (EAGAIN, EBUSY, EINTR: the kernel is short) leaves the entries in the ring for next time.
         * There is no giving up here: entries that the kernel has taken write into the lease. */
        if (sys->uring_submit(&f->ring) < 0)
            usleep(1000);
        if (io_uring_sq_ready(&f->ring) == in_flight)
            continue; /* none is out: nothing to wait for */
        struct io_uring_cqe *cqe;
        if (sys->uring_wait(&f->ring, &cqe))
            continue;
        pthread_mutex_lock(&f->lock);
        for (;;) {
            struct chunk *c = io_uring_cqe_get_data(cqe);
            long result = cqe->res;
            io_uring_cqe_seen(&f->ring, cqe);
            in_flight--;
            fill_result(f, c, result);
            if (io_uring_cq_ready(&f->ring) == 0 || sys->uring_wait(&f->ring, &cqe))
                break;
        }
        pthread_mutex_unlock(&f->lock);
    }
    return NULL;
}

static void *pread_run(void *arg)
{
    struct filler *f = arg;
    pthread_mutex_lock(&f->lock);
    for (;;) {
        struct chunk *c = fill_next(f);
        if (!c) {
            if (f->quit)
                break;
            pthread_cond_wait(&f->work, &f->lock);
            continue;
        }
        pthread_mutex_unlock(&f->lock);
        ssize_t n = sys->pread(c->fd, c->to, c->bytes, (off_t)c->at);
        long result = n < 0 ? -errno : n;
        pthread_mutex_lock(&f->lock);
        fill_result(f, c, result);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static int threads_start(struct filler *f, void *(*run)(void *), unsigned n)
{
    int rc = 0;
    while (f->threads < n && (rc = sys->thread_create(&f->thread[f->threads], NULL, run, f)) == 0) {
        if (f->opts.cpus)
            sys->thread_pin(f->thread[f->threads], sizeof *f->opts.cpus, f->opts.cpus);
        f->threads++;
    }
    return f->threads ? 0 : err_fail(-rc, "no thread to read files with: %s", strerror(rc));
}

int engine_start(struct filler *f)
{
    f->method = f->opts.first;
    if (f->method == FILL_URING) {
        int rc = sys->uring_init(f->opts.depth, &f->ring, 0);
        if (rc == 0) {
            rc = threads_start(f, ring_run, 1);
            if (rc)
                io_uring_queue_exit(&f->ring);
            return rc;
        }
        snprintf(f->why, sizeof f->why, "io_uring refused (%s): reading with pread threads", strerror(-rc));
        f->method = FILL_PREAD;
    }
    return threads_start(f, pread_run, f->opts.depth < PREAD_THREADS_MAX ? f->opts.depth : PREAD_THREADS_MAX);
}

void engine_stop(struct filler *f)
{
    pthread_mutex_lock(&f->lock);
    f->quit = true;
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
    for (unsigned i = 0; i < f->threads; i++)
        pthread_join(f->thread[i], NULL);
    if (f->method == FILL_URING)
        io_uring_queue_exit(&f->ring);
}

int filler_open(struct filler **out, const struct filler_opts *opts)
{
    struct filler *f = sys->calloc(1, sizeof *f);
    if (!f)
        return err_fail(-ENOMEM, "no memory for a file reader");
    f->opts = *opts;
    if (!f->opts.depth)
        f->opts.depth = DEPTH;
    if (!f->opts.chunk_bytes)
        f->opts.chunk_bytes = CHUNK;
    int rc = 0;
    if (f->opts.depth > FILL_DEPTH_MAX || f->opts.chunk_bytes % BLOCK || f->opts.chunk_bytes > 1u << 30)
        rc = err_fail(-EINVAL, "%u reads of %zu bytes: expected up to %d, of whole 4 KiB up to 1 GiB", f->opts.depth,
                      f->opts.chunk_bytes, FILL_DEPTH_MAX);
    for (unsigned i = 0; i < f->opts.depth && !rc; i++) {
        f->chunks[i].next = f->idle;
        f->idle = &f->chunks[i];
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->work, NULL);
    pthread_cond_init(&f->finished, NULL);
    if (!rc)
        rc = engine_start(f);
    if (rc) {
        free(f);
        return rc;
    }
    *out = f;
    return 0;
}

int filler_close(struct filler *f)
{
    pthread_mutex_lock(&f->lock);
    bool busy = f->jobs != NULL;
    pthread_mutex_unlock(&f->lock);
    if (busy)
        return err_fail(-EBUSY, "a read job is not closed yet");
    engine_stop(f);
    pthread_cond_destroy(&f->finished);
    pthread_cond_destroy(&f->work);
    pthread_mutex_destroy(&f->lock);
    free(f);
    return 0;
}

enum fill_method filler_method(const struct filler *f)
{
    return f->method;
}

const char *filler_why(const struct filler *f)
{
    return f->why;
}
