/* Opening, asking, waiting, dropping, closing: the callers' side of a loader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/loader_internal.h"
#include "alloc/sysops.h"
#include "perf/clock.h"
#include "perf/err.h"

enum { SMALLEST_UNIT = 64 << 10, MAX_UNITS = 1 << 24, MIB = 1 << 20 };

/* The smallest power of two of which an arena can hold a run for the largest range, its superset of blocks included: a
 * lease then wastes less than 1/24 of that range. */
static size_t unit_for(uint64_t largest)
{
    size_t unit = SMALLEST_UNIT;
    while (unit * (WORD_UNITS - 1) < largest + 8192)
        unit *= 2;
    return unit;
}

/* The best tier whose pages make up a unit: larger ones could not hold an arena's exact size. Transparent pages for
 * what has 2 MiB at all; arenas are rounded up to those. */
static enum page_tier tier_for(enum page_tier best, size_t unit, uint64_t largest)
{
    enum page_tier tier = best;
    while (tier < TIER_THP && hugepage_tier_bytes(tier) > unit)
        tier++;
    return tier == TIER_THP && largest < 2 * MIB ? TIER_4K : tier;
}

static int threads_start(struct loader *l)
{
    int rc = 0;
    while (l->threads < LOADER_THREADS && (rc = sys->thread_create(&l->thread[l->threads], NULL, loader_run, l)) == 0) {
        if (l->opts.cpus)
            sys->thread_pin(l->thread[l->threads], sizeof *l->opts.cpus, l->opts.cpus);
        l->threads++;
    }
    return l->threads ? 0 : err_fail(-rc, "no thread to load files with: %s", strerror(rc));
}

static int loader_start(struct loader *l)
{
    const struct loader_opts *o = &l->opts;
    struct pool_node_opts node = {.id = o->node, .max_units = MAX_UNITS, .on_request = true, .cpus = o->cpus};
    struct pool_opts pool = {.node = &node, .n_nodes = 1, .unit_bytes = l->unit_bytes, .arena_units = WORD_UNITS};
    pool.tier = o->strict ? o->tier : tier_for(o->tier, l->unit_bytes, o->largest_bytes);
    pool.strict = o->strict;
    pool.lazy = o->lazy;
    pool.registrar = o->registrar;
    pool.budget = o->budget;
    pool.spans = o->spans;
    int rc = pool_open(&l->pool, &pool);
    if (rc)
        return rc;
    struct filler_opts filler = {.cpus = o->cpus, .first = o->first, .use_cache = true, .spans = o->spans};
    filler.ended = loader_event;
    filler.ctx = l;
    rc = filler_open(&l->filler, &filler);
    if (rc)
        return rc;
    return threads_start(l);
}

static int loader_end(struct loader *l)
{
    pthread_mutex_lock(&l->lock);
    l->quit = true;
    pthread_mutex_unlock(&l->lock);
    loader_event(l);
    for (unsigned i = 0; i < l->threads; i++)
        pthread_join(l->thread[i], NULL);
    if (l->filler)
        filler_close(l->filler);
    int rc = l->pool ? pool_close(l->pool) : 0;
    pthread_cond_destroy(&l->change);
    pthread_mutex_destroy(&l->lock);
    free(l);
    return rc;
}

int loader_open(struct loader **out, const struct loader_opts *opts)
{
    if (opts->largest_bytes == 0 || opts->largest_bytes > (uint64_t)1 << 44)
        return err_fail(-EINVAL, "a loader for ranges of up to %lu bytes", opts->largest_bytes);
    struct loader *l = sys->calloc(1, sizeof *l);
    if (!l)
        return err_fail(-ENOMEM, "no memory to load files with");
    l->opts = *opts;
    l->end = &l->first;
    l->unit_bytes = unit_for(opts->largest_bytes);
    if (opts->strict && l->unit_bytes < hugepage_tier_bytes(opts->tier))
        l->unit_bytes = hugepage_tier_bytes(opts->tier);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->change, NULL);
    int rc = loader_start(l);
    if (rc) {
        char said[1024];
        err_copy(said);
        loader_end(l);
        err_set(said);
        return rc;
    }
    *out = l;
    return 0;
}

int loader_close(struct loader *l)
{
    bool busy = false;
    pthread_mutex_lock(&l->lock);
    for (const struct load *x = l->first; x; x = x->next)
        busy = busy || !x->dropped;
    while (!busy && l->first)
        pthread_cond_wait(&l->change, &l->lock);
    pthread_mutex_unlock(&l->lock);
    return busy ? err_fail(-EBUSY, "a range of a file is not dropped yet") : loader_end(l);
}

int load_ask(struct loader *l, struct load **out, const char *path, uint64_t offset, uint64_t bytes,
             const struct load *after)
{
    if (bytes > l->opts.largest_bytes)
        return err_fail(-E2BIG, "%s: a range of %lu bytes, the loader is for up to %lu", path, bytes,
                        l->opts.largest_bytes);
    size_t length = strlen(path) + 1;
    struct load *x = sys->calloc(1, sizeof *x + length);
    if (!x)
        return err_fail(-ENOMEM, "%s: no memory to note a range", path);
    memcpy(x->path, path, length);
    x->loader = l;
    x->after = after;
    x->extent = (struct fill_extent){.path = x->path, .offset = offset, .bytes = bytes};
    x->extent.room_bytes = fill_room(offset, bytes);
    pthread_mutex_lock(&l->lock);
    *l->end = x;
    l->end = &x->next;
    pthread_mutex_unlock(&l->lock);
    loader_event(l);
    *out = x;
    return 0;
}

int load_wait(struct load *x, const uint8_t **data)
{
    struct loader *l = x->loader;
    uint64_t t0 = clock_now_ns();
    pthread_mutex_lock(&l->lock);
    if (x->state < LOAD_READY) {
        x->waiting++;
        loader_event(l);
        while (x->state < LOAD_READY)
            pthread_cond_wait(&l->change, &l->lock);
        x->waiting--;
        l->wait_ns += clock_now_ns() - t0;
    }
    int rc = x->rc;
    if (rc)
        err_set(x->said);
    else
        *data = x->extent.data;
    pthread_mutex_unlock(&l->lock);
    return rc;
}

struct lease *load_lease(struct load *x)
{
    return &x->lease;
}

void load_drop(struct load *x)
{
    if (!x)
        return;
    struct loader *l = x->loader;
    pthread_mutex_lock(&l->lock);
    x->dropped = true;
    if (x->state == LOAD_FILLING && x->fill)
        fill_cancel(x->fill);
    pthread_mutex_unlock(&l->lock);
    loader_event(l);
}

void loader_trim(struct loader *l)
{
    pthread_mutex_lock(&l->lock);
    l->trim_now = true;
    pthread_mutex_unlock(&l->lock);
    loader_event(l);
}

void loader_read(struct loader *l, struct loader_view *v)
{
    pool_read(l->pool, &v->pool);
    pthread_mutex_lock(&l->lock);
    v->bytes = l->bytes;
    v->cached_bytes = l->cached_bytes;
    v->wait_ns = l->wait_ns;
    v->peak_bytes = l->peak_bytes;
    v->method = filler_method(l->filler);
    v->direct = !l->buffered;
    const char *ring = filler_why(l->filler);
    snprintf(v->why, sizeof v->why, "%s%s%s", ring, ring[0] && l->why[0] ? "; " : "", l->why);
    pthread_mutex_unlock(&l->lock);
}
