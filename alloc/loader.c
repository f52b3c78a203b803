/* The loader's threads: which range is next, its lease, its read, and its end. */
#include "alloc/loader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/loader_internal.h"
#include "alloc/sysops.h"
#include "alloc/thread.h"
#include "perf/err.h"

enum { ARENA_STEP = 2 << 20 };

void loader_event(void *ctx)
{
    struct loader *l = ctx;
    atomic_fetch_add(&l->events, 1);
    sys_futex_wake(&l->events);
}

/* Units for an arena that serves this request. Small units are rounded up to whole 2 MiB, so that transparent pages are
 * possible, where that wastes no more than an eighth. */
static unsigned units_for(const struct loader *l, size_t bytes)
{
    size_t units = (bytes + l->unit_bytes - 1) / l->unit_bytes;
    size_t whole = (bytes + ARENA_STEP - 1) / ARENA_STEP * ARENA_STEP;
    if (l->unit_bytes < ARENA_STEP && whole - bytes <= bytes / 8 && whole / l->unit_bytes <= WORD_UNITS)
        units = whole / l->unit_bytes;
    return (unsigned)units;
}

/* A lease, from a new arena if `grow`. -EAGAIN: only a new arena would do. */
static int lease_take(struct loader *l, struct load *load, bool grow)
{
    enum { TRIES = 64 }; /* the other thread, or a trim under way, may be quicker to take the new arena away */
    struct pool_want want = {.size = {load->extent.room_bytes}, .buffers = 1, .local = true};
    size_t bytes = load->extent.room_bytes;
    unsigned units = units_for(l, bytes * 4 <= l->opts.window_bytes ? l->opts.window_bytes : bytes);
    int rc = pool_take(l->pool, &load->lease, &want);
    if (rc && !grow)
        return -EAGAIN;
    for (int i = 0; i < TRIES && rc; i++) {
        rc = pool_grow(l->pool, 0, units);
        if (rc) { /* once more with what lies idle in runs that are too short */
            pool_shrink(l->pool, 0, UINT64_MAX, 0, NULL);
            rc = pool_grow(l->pool, 0, units);
        }
        if (rc)
            return err_in(rc, "%s: no memory to read %lu bytes into", load->path, load->extent.bytes);
        rc = pool_take(l->pool, &load->lease, &want);
    }
    if (!rc)
        lease_pass(&load->lease); /* a thread of this loader gives it back, whichever */
    return rc;
}

/* The first range that may be taken now. Lock held. */
static struct load *load_next(const struct loader *l)
{
    for (struct load *x = l->first; x; x = x->next)
        if (x->state == LOAD_ASKED && !x->dropped && x->waiting && !(x->must_grow && l->growing))
            return x;
    for (struct load *x = l->first; x && l->filling < LOADER_FILLS && !l->stalled; x = x->next)
        if (x->state == LOAD_ASKED && !x->dropped && !x->after && !(x->must_grow && l->growing))
            return x;
    return NULL;
}

/* Copy a range that lies in the page cache altogether: by this thread, so that there are two that copy. False: it does
 * not, or something is wrong, which the reader will find again and word. */
static bool copy_cached(struct load *x)
{
    struct fill_extent *e = &x->extent;
    int fd = sys->open(e->path, O_RDONLY, 0);
    if (fd < 0)
        return false;
    ssize_t there = sys->cached(fd, (off_t)e->offset, e->bytes);
    uint64_t got = 0;
    unsigned char *to = e->room + e->offset % 64; /* as the reader would: any alignment, but a cache line's the same */
    while (there >= (ssize_t)e->bytes && got < e->bytes) {
        ssize_t n = sys->pread(fd, to + got, (size_t)(e->bytes - got), (off_t)(e->offset + got));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            break;
        got += n > 0 ? (uint64_t)n : 0;
    }
    sys->close(fd);
    if (got < e->bytes)
        return false;
    e->data = to;
    return true;
}

/* Lock held; it is away meanwhile. */
static void load_begin(struct loader *l, struct load *x)
{
    bool grow = !l->growing && x->must_grow;
    uint64_t returned = l->returned;
    x->state = LOAD_TAKING;
    l->growing = l->growing || grow;
    pthread_mutex_unlock(&l->lock);
    int rc = lease_take(l, x, grow);
    if (grow && !rc) { /* the other thread may grow while this one copies */
        pthread_mutex_lock(&l->lock);
        l->growing = false;
        pthread_mutex_unlock(&l->lock);
        loader_event(l);
    }
    bool copied = false;
    if (!rc) {
        x->extent.room = x->lease.base;
        copied = copy_cached(x);
        rc = copied ? 0 : fill_start(l->filler, &x->fill, &x->extent, 1, 0);
    }
    pthread_mutex_lock(&l->lock);
    if (grow && rc)
        l->growing = false;
    if (rc == -EAGAIN && !grow) {
        x->must_grow = true;
        x->state = LOAD_ASKED;
    } else if (rc && !x->lease.base && (l->returning || l->returned != returned)) {
        x->state = LOAD_ASKED; /* memory was dropped, but had not come back yet */
    } else if (rc && !x->waiting && !x->lease.base) {
        l->stalled = true; /* reading ahead needs more memory than there is: later, or when somebody waits */
        x->state = LOAD_ASKED;
    } else if (rc) {
        x->rc = rc;
        err_copy(x->said);
        x->state = LOAD_FAILED;
    } else if (copied) {
        x->state = LOAD_READY;
        l->bytes += x->extent.bytes;
        l->cached_bytes += x->extent.bytes;
    } else {
        x->state = LOAD_FILLING;
        l->filling++;
    }
    if (x->lease.base) {
        l->held_bytes += x->lease.bytes;
        l->peak_bytes = l->held_bytes > l->peak_bytes ? l->held_bytes : l->peak_bytes;
    }
    pthread_cond_broadcast(&l->change);
    loader_event(l);
}

/* The read ended. Lock held; it is away meanwhile, and the load is neither dropped nor settled by anybody else. */
static void load_settle(struct loader *l, struct load *x)
{
    struct fill *fill = x->fill;
    struct fill_report report;
    x->fill = NULL;
    pthread_mutex_unlock(&l->lock);
    int rc = fill_wait(fill);
    fill_read(fill, &report);
    fill_close(fill);
    pthread_mutex_lock(&l->lock);
    x->rc = rc;
    if (rc)
        err_copy(x->said);
    x->state = rc ? LOAD_FAILED : LOAD_READY;
    l->filling--;
    l->bytes += report.bytes;
    l->cached_bytes += report.cached_bytes;
    l->buffered = l->buffered || !report.direct;
    if (report.why[0])
        memcpy(l->why, report.why, sizeof l->why);
    pthread_cond_broadcast(&l->change);
    loader_event(l);
}

/* Give a dropped load's lease back and forget it. Lock held; it is away meanwhile. */
static void load_bury(struct loader *l, struct load *x)
{
    struct load **at = &l->first;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    if (l->end == &x->next)
        l->end = at;
    for (struct load *y = l->first; y; y = y->next)
        y->after = y->after == x ? NULL : y->after;
    size_t bytes = x->lease.base ? x->lease.bytes : 0;
    l->returning += bytes != 0;
    pthread_mutex_unlock(&l->lock);
    if (bytes)
        pool_give(l->pool, &x->lease); /* this thread has its record: it took one before it ran */
    free(x);
    pthread_mutex_lock(&l->lock);
    l->returning -= bytes != 0;
    l->returned += bytes != 0;
    l->held_bytes -= bytes;
    l->stalled = l->stalled && !bytes;
    l->trim_asked = l->trim_asked || (bytes && l->opts.trim);
    pthread_cond_broadcast(&l->change);
    loader_event(l);
}

/* One thing that can be done now. False: there is none. Lock held. */
static bool loader_step(struct loader *l)
{
    for (struct load *x = l->first; x; x = x->next) {
        if (x->state == LOAD_FILLING && x->fill && fill_done(x->fill)) {
            load_settle(l, x);
            return true;
        }
        if (x->dropped && x->state != LOAD_TAKING && x->state != LOAD_FILLING) {
            load_bury(l, x);
            return true;
        }
    }
    struct load *next = load_next(l);
    if (next) {
        load_begin(l, next);
        return true;
    }
    return false;
}

/* Nothing is asked for that could use what is idle. Lock held. */
static bool may_trim(const struct loader *l)
{
    bool asked = false;
    for (const struct load *x = l->first; x; x = x->next)
        asked = asked || x->state == LOAD_ASKED || x->state == LOAD_TAKING;
    return !l->trimming && !l->growing && (l->trim_now || (l->trim_asked && !asked));
}

static void loader_shrink(struct loader *l)
{
    l->trim_asked = l->trim_now = false;
    l->trimming = true;
    pthread_mutex_unlock(&l->lock);
    pool_shrink(l->pool, 0, UINT64_MAX, 0, NULL);
    pthread_mutex_lock(&l->lock);
    l->trimming = false;
}

void *loader_run(void *arg)
{
    struct loader *l = arg;
    while (!thread_enter()) /* one small record: so that giving back cannot fail */
        sys_futex_wait(&l->events, atomic_load(&l->events), 1000 * 1000);
    pthread_mutex_lock(&l->lock);
    for (;;) {
        uint32_t seen = atomic_load(&l->events);
        if (loader_step(l))
            continue;
        if (l->quit)
            break;
        if (may_trim(l)) {
            loader_shrink(l);
            continue;
        }
        pthread_mutex_unlock(&l->lock);
        sys_futex_wait(&l->events, seen, UINT64_MAX);
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}
