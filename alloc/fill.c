/* Jobs: which chunk is read next, and what its result means. */
#include "alloc/fill.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/fill_internal.h"
#include "perf/clock.h"
#include "perf/count.h"
#include "perf/err.h"
#include "perf/span.h"

static uint64_t down(uint64_t x)
{
    return x & ~(uint64_t)(BLOCK - 1);
}

static uint64_t up(uint64_t x)
{
    return down(x + BLOCK - 1);
}

size_t fill_room(uint64_t offset, uint64_t bytes)
{
    return (size_t)(up(offset + bytes) - down(offset));
}

/* Lock held. */
static void job_end(struct fill *j)
{
    j->done = true;
    j->end_ns = clock_now_ns();
    for (unsigned i = 0; i < j->n_files; i++) {
        sys->close(j->file[i].fd);
        if (j->file[i].spare_fd >= 0)
            sys->close(j->file[i].spare_fd);
        if (j->file[i].cache_fd >= 0)
            sys->close(j->file[i].cache_fd);
    }
    struct span s = {.stage = "read", .lane = "read", .job = j->job, .bytes = j->bytes};
    s.begin_ns = j->begin_ns;
    s.end_ns = j->end_ns;
    span_add(j->filler->opts.spans, &s);
    count_add(COUNT_READ_BYTES, j->bytes);
    pthread_cond_broadcast(&j->filler->finished);
    if (j->filler->opts.ended)
        j->filler->opts.ended(j->filler->opts.ctx);
}

static void job_fail(struct fill *j, int rc)
{
    if (j->rc == 0) {
        j->rc = rc;
        err_copy(j->said);
    }
    j->unissued = 0;
}

static void chunk_free(struct filler *f, struct chunk *c)
{
    struct fill *j = c->job;
    c->next = f->idle;
    f->idle = c;
    if (--j->in_flight == 0 && j->unissued == 0 && !j->done)
        job_end(j);
}

/* Through the page cache when all of the chunk lies there: one copy, against a read from the drive. Asking costs 2 us a
 * chunk of 1 MiB. */
static void chunk_choose(struct chunk *c, const struct fill_file *file)
{
    c->fd = file->fd;
    c->direct = file->direct;
    if (!c->direct || file->cache_fd < 0 || c->at >= file->bytes)
        return;
    size_t bytes = file->bytes - c->at < c->bytes ? (size_t)(file->bytes - c->at) : c->bytes;
    ssize_t there = sys->cached(file->cache_fd, (off_t)c->at, bytes);
    if (there < (ssize_t)bytes)
        return;
    c->fd = file->cache_fd;
    c->direct = false;
    c->cached = true;
}

static struct chunk *next_of_job(struct filler *f, struct fill *j)
{
    for (unsigned i = 0; i < j->n_extents; i++) {
        unsigned e = j->turn++ % j->n_extents; /* extents in turns: they may lie on different drives */
        struct cursor *cur = &j->cursor[e];
        if (cur->at == cur->end)
            continue;
        struct chunk *c = f->idle;
        f->idle = c->next;
        uint64_t left = cur->end - cur->at;
        *c = (struct chunk){.job = j, .extent = e, .at = cur->at};
        c->bytes = left < f->opts.chunk_bytes ? (size_t)left : f->opts.chunk_bytes;
        chunk_choose(c, &j->file[cur->file]);
        c->to = j->extent[e].room + (cur->at - down(j->extent[e].offset));
        cur->at += c->bytes;
        if (cur->at == cur->end)
            j->unissued--;
        j->in_flight++;
        return c;
    }
    return NULL;
}

struct chunk *fill_next(struct filler *f)
{
    while (f->again) {
        struct chunk *c = f->again;
        f->again = c->next;
        if (c->job->rc == 0)
            return c;
        chunk_free(f, c); /* its job failed or was cancelled meanwhile */
    }
    if (!f->idle)
        return NULL;
    for (struct fill **at = &f->jobs; *at; at = &(*at)->next) {
        struct fill *j = *at;
        if (j->rc || j->unissued == 0)
            continue;
        struct chunk *c = next_of_job(f, j);
        *at = j->next; /* to the end of the line */
        struct fill **end = at;
        while (*end)
            end = &(*end)->next;
        j->next = NULL;
        *end = j;
        return c;
    }
    return NULL;
}

static void issue_again(struct filler *f, struct chunk *c)
{
    c->next = f->again;
    f->again = c;
    pthread_cond_signal(&f->work);
}

/* The file system takes O_DIRECT at open and refuses it at the first read: read through the page cache. */
static bool file_go_buffered(struct chunk *c)
{
    struct fill *j = c->job;
    struct fill_file *file = &j->file[j->cursor[c->extent].file];
    if (file->direct) {
        int fd = sys->open(file->path, O_RDONLY, 0);
        if (fd < 0)
            return false;
        snprintf(j->why, sizeof j->why, "%.400s: O_DIRECT reads refused", file->path);
        file->spare_fd = file->fd;
        file->fd = fd;
        file->direct = false;
    }
    c->fd = file->fd;
    c->direct = false;
    return true;
}

void fill_result(struct filler *f, struct chunk *c, long result)
{
    struct fill *j = c->job;
    const struct fill_extent *e = &j->extent[c->extent];
    if (result == -EINTR || result == -EAGAIN || (result == -EINVAL && c->direct && file_go_buffered(c))) {
        issue_again(f, c);
        return;
    }
    if (result < 0) {
        job_fail(j, err_fail((int)result, "%s: read of %zu bytes at %lu: %s", e->path, c->bytes, c->at,
                             strerror((int)-result)));
        chunk_free(f, c);
        return;
    }
    uint64_t got = (uint64_t)result, wanted_end = e->offset + e->bytes;
    j->bytes += got;
    j->cached_bytes += c->cached ? got : 0;
    if (got == c->bytes || c->at + got >= wanted_end) {
        chunk_free(f, c);
        return;
    }
    /* Short. A direct read goes on at a block boundary; one that ends inside a block ends with the file. */
    uint64_t on = c->direct ? down(got) : got;
    if (on == 0) {
        job_fail(j, err_fail(-ENODATA, "%s ends at byte %lu, expected at least %lu", e->path, c->at + got, wanted_end));
        chunk_free(f, c);
        return;
    }
    c->at += on;
    c->to += on;
    c->bytes -= (size_t)on;
    issue_again(f, c);
}

static int extent_check(const struct fill_extent *e, unsigned i)
{
    if (!e->path || e->bytes == 0 || e->offset + e->bytes < e->offset || e->offset + e->bytes > INT64_MAX - BLOCK)
        return err_fail(-EINVAL, "extent %u: %lu bytes at %lu", i, e->bytes, e->offset);
    if ((uintptr_t)e->room % BLOCK)
        return err_fail(-EINVAL, "extent %u: room at %p, expected a multiple of 4096", i, (void *)e->room);
    if (e->room_bytes < fill_room(e->offset, e->bytes))
        return err_fail(-EINVAL, "extent %u: room of %zu bytes for %zu", i, e->room_bytes,
                        fill_room(e->offset, e->bytes));
    return 0;
}

static int file_open(struct fill *j, struct fill_file *file, const char *path)
{
    *file = (struct fill_file){.path = path, .spare_fd = -1, .cache_fd = -1, .direct = true};
    file->fd = sys->open(path, O_RDONLY | O_DIRECT, 0);
    if (file->fd < 0 && (errno == EINVAL || errno == EOPNOTSUPP)) {
        snprintf(j->why, sizeof j->why, "%.400s: O_DIRECT refused at open: %s", path, strerror(errno));
        file->direct = false;
        file->fd = sys->open(path, O_RDONLY, 0);
    }
    if (file->fd < 0)
        return err_fail(-errno, "%s: %s", path, strerror(errno));
    if (j->filler->opts.use_cache && file->direct)
        file->cache_fd = sys->open(path, O_RDONLY, 0); /* fails: read all of it past the cache */
    return 0;
}

/* The extent's file, opened once per path. */
static int extent_open(struct fill *j, unsigned i)
{
    struct fill_extent *e = &j->extent[i];
    int rc = extent_check(e, i);
    if (rc)
        return rc;
    unsigned k = 0;
    while (k < j->n_files && strcmp(j->file[k].path, e->path) != 0)
        k++;
    if (k == j->n_files) {
        rc = file_open(j, &j->file[k], e->path);
        if (rc)
            return rc;
        j->n_files++;
    }
    struct stat st;
    if (sys->fstat(j->file[k].fd, &st))
        return err_fail(-errno, "%s: fstat: %s", e->path, strerror(errno));
    j->file[k].bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    if (S_ISREG(st.st_mode) && e->offset + e->bytes > (uint64_t)st.st_size)
        return err_fail(-ENODATA, "%s ends at byte %ld, expected at least %lu", e->path, st.st_size,
                        e->offset + e->bytes);
    j->cursor[i] = (struct cursor){.at = down(e->offset), .end = up(e->offset + e->bytes), .file = k};
    return 0;
}

static void job_free(struct fill *j)
{
    free(j->file);
    free(j->cursor);
    free(j);
}

int fill_start(struct filler *f, struct fill **out, struct fill_extent *extents, unsigned n, uint64_t job)
{
    if (n == 0)
        return err_fail(-EINVAL, "a read of no extents");
    struct fill *j = sys->calloc(1, sizeof *j);
    if (!j)
        return err_fail(-ENOMEM, "no memory for a read job");
    j->cursor = sys->calloc(n, sizeof *j->cursor);
    j->file = sys->calloc(n, sizeof *j->file);
    int rc = j->cursor && j->file ? 0 : err_fail(-ENOMEM, "no memory for %u extents", n);
    j->filler = f;
    j->extent = extents;
    j->n_extents = j->unissued = n;
    j->job = job;
    j->begin_ns = clock_now_ns();
    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = extent_open(j, i);
    if (rc) {
        for (unsigned i = 0; i < j->n_files; i++) {
            sys->close(j->file[i].fd);
            if (j->file[i].cache_fd >= 0)
                sys->close(j->file[i].cache_fd);
        }
        job_free(j);
        return rc;
    }
    for (unsigned i = 0; i < n; i++)
        extents[i].data = extents[i].room + extents[i].offset % BLOCK;
    pthread_mutex_lock(&f->lock);
    j->next = f->jobs;
    f->jobs = j;
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
    *out = j;
    return 0;
}

int fill_wait(struct fill *j)
{
    pthread_mutex_lock(&j->filler->lock);
    while (!j->done)
        pthread_cond_wait(&j->filler->finished, &j->filler->lock);
    pthread_mutex_unlock(&j->filler->lock);
    if (j->rc)
        err_set(j->said);
    return j->rc;
}

void fill_cancel(struct fill *j)
{
    struct filler *f = j->filler;
    pthread_mutex_lock(&f->lock);
    if (!j->done) {
        job_fail(j, err_fail(-ECANCELED, "the read was cancelled after %lu bytes", j->bytes));
        if (j->in_flight == 0)
            job_end(j);
        pthread_cond_broadcast(&f->work); /* chunks that wait to be issued again leave */
    }
    pthread_mutex_unlock(&f->lock);
}

bool fill_done(struct fill *j)
{
    pthread_mutex_lock(&j->filler->lock);
    bool done = j->done;
    pthread_mutex_unlock(&j->filler->lock);
    return done;
}

void fill_read(struct fill *j, struct fill_report *report)
{
    pthread_mutex_lock(&j->filler->lock);
    report->bytes = j->bytes;
    report->cached_bytes = j->cached_bytes;
    report->ns = (j->done ? j->end_ns : clock_now_ns()) - j->begin_ns;
    report->direct = true;
    for (unsigned i = 0; i < j->n_files; i++)
        report->direct = report->direct && j->file[i].direct;
    memcpy(report->why, j->why, sizeof report->why);
    pthread_mutex_unlock(&j->filler->lock);
}

void fill_close(struct fill *j)
{
    struct filler *f = j->filler;
    fill_wait(j);
    pthread_mutex_lock(&f->lock);
    struct fill **at = &f->jobs;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    pthread_mutex_unlock(&f->lock);
    job_free(j);
}
