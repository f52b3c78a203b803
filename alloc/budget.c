#include "alloc/budget.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "alloc/sysops.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "perf/units.h"

/* While somebody waits with idle bytes too young to evict, look again this often. */
enum { LOOK_AGAIN_NS = 50 * 1000 * 1000 };

struct ticket {
    struct ticket *next;
    uint64_t bytes;
};

struct budget {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct budget_opts opts;
    uint64_t taken, permanent;
    struct ticket *first, *last;
    struct budget_evictor *evictors, *running;
    struct budget_view count; /* the counters in it */
};

int budget_open(struct budget **out, const struct budget_opts *opts)
{
    if (opts->limit_bytes == 0)
        return err_fail(-EINVAL, "a budget of 0 bytes: expected the bytes of host memory that may be used");
    struct budget *b = sys->calloc(1, sizeof *b);
    if (!b)
        return err_fail(-ENOMEM, "no memory for the budget");
    b->opts = *opts;
    pthread_mutex_init(&b->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&b->changed, &attr);
    pthread_condattr_destroy(&attr);
    *out = b;
    return 0;
}

int budget_close(struct budget *b)
{
    pthread_mutex_lock(&b->lock);
    uint64_t taken = b->taken;
    bool waiting = b->first != NULL;
    pthread_mutex_unlock(&b->lock);
    if (taken || waiting)
        return err_fail(-EBUSY, "the budget still counts %lu bytes%s", taken, waiting ? " and somebody waits" : "");
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
    return 0;
}

static int refuse_impossible(const struct budget *b, uint64_t bytes)
{
    char want[UNITS_TEXT], limit[UNITS_TEXT];
    return err_fail(-E2BIG, "%s can never be had: the whole budget is %s", units_bytes(want, bytes),
                    units_bytes(limit, b->opts.limit_bytes));
}

static uint64_t free_bytes(const struct budget *b)
{
    return b->opts.limit_bytes - b->taken;
}

/* Locked. */
static void grant(struct budget *b, struct budget_share *share, uint64_t bytes)
{
    b->taken += bytes;
    b->count.takes++;
    share->budget = b;
    share->bytes += bytes;
    if (share->permanent)
        b->permanent += bytes;
}

int budget_try(struct budget *b, struct budget_share *share, uint64_t bytes)
{
    if (bytes > b->opts.limit_bytes)
        return refuse_impossible(b, bytes);
    pthread_mutex_lock(&b->lock);
    uint64_t have = free_bytes(b);
    bool room = !b->first && have >= bytes;
    if (room)
        grant(b, share, bytes);
    else
        b->count.refusals++;
    pthread_mutex_unlock(&b->lock);
    if (!room)
        return err_fail(-EAGAIN, "%lu bytes are not free now: %lu are, and earlier requests go first", bytes, have);
    return 0;
}

int budget_more(struct budget_share *share, uint64_t bytes)
{
    return budget_try(share->budget, share, bytes);
}

/* The evictor to run next: lowest rank, then idle for longest. *total = what all of them could free. Locked; the
 * callbacks only read atomics of their own. */
static struct budget_evictor *evictor_pick(struct budget *b, uint64_t *total, uint64_t *bytes, bool *young)
{
    struct budget_evictor *best = NULL;
    uint64_t best_since = 0, now = clock_now_ns();
    *total = 0;
    *young = false;
    for (struct budget_evictor *e = b->evictors; e; e = e->next) {
        uint64_t since = 0, idle = e->idle(e->ctx, &since);
        if (idle && since + b->opts.min_idle_ns > now) {
            *young = true;
            continue;
        }
        if (idle == 0)
            continue;
        *total += idle;
        if (!best || e->rank < best->rank || (e->rank == best->rank && since < best_since)) {
            best = e;
            best_since = since;
            *bytes = idle;
        }
    }
    return best;
}

/* Make room for the first in line by eviction, if eviction can make enough: throwing things away without being able to
 * serve anybody is what must not happen. True: something changed. Locked; unlocks around the callback. */
static bool make_room(struct budget *b, uint64_t need, bool *young)
{
    uint64_t total, idle = 0;
    *young = false;
    if (b->running)
        return false;
    struct budget_evictor *e = evictor_pick(b, &total, &idle, young);
    uint64_t have = free_bytes(b);
    if (!e || have + total < need)
        return false;
    uint64_t ask = need - have < idle ? need - have : idle;
    b->running = e;
    pthread_mutex_unlock(&b->lock);
    int rc = e->evict(e->ctx, ask);
    pthread_mutex_lock(&b->lock);
    b->running = NULL;
    pthread_cond_broadcast(&b->changed);
    if (rc) {
        *young = true; /* in use after all, or stuck: look again soon, not at once */
        return false;
    }
    b->count.evictions++;
    b->count.evicted_bytes += free_bytes(b) > have ? free_bytes(b) - have : 0;
    return free_bytes(b) > have;
}

static void ticket_leave(struct budget *b, struct ticket *t)
{
    struct ticket **p = &b->first, *before = NULL;
    while (*p != t) {
        before = *p;
        p = &(*p)->next;
    }
    *p = t->next;
    if (b->last == t)
        b->last = before;
    pthread_cond_broadcast(&b->changed);
}

static void wait_changed(struct budget *b, uint64_t until_ns)
{
    if (until_ns == UINT64_MAX) {
        pthread_cond_wait(&b->changed, &b->lock);
        return;
    }
    struct timespec ts = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    pthread_cond_timedwait(&b->changed, &b->lock, &ts);
}

/* Wait at ticket t until it is first and its bytes are there. Locked. */
static int wait_turn(struct budget *b, const struct ticket *t, const struct budget_wait *w)
{
    uint64_t start = clock_now_ns();
    uint64_t end = w->wait_ns > UINT64_MAX - start ? UINT64_MAX : start + w->wait_ns;
    bool waited = false;
    for (;;) {
        bool young = false;
        if (b->first == t) {
            if (free_bytes(b) >= t->bytes)
                return 0;
            if (make_room(b, t->bytes, &young))
                continue;
            if (free_bytes(b) >= t->bytes) /* while the lock was open */
                return 0;
        }
        if (w->cancel && atomic_load(w->cancel))
            return err_fail(-ECANCELED, "cancelled while waiting for %lu bytes of the budget", t->bytes);
        uint64_t now = clock_now_ns();
        if (w->wait_ns == 0)
            return err_fail(-EAGAIN, "%lu bytes are not free now: %lu are, and earlier requests go first", t->bytes,
                            free_bytes(b));
        if (now >= end)
            return err_fail(-ETIMEDOUT, "waited %lu ms for %lu bytes of the budget: %lu are free",
                            (now - start) / 1000000, t->bytes, free_bytes(b));
        if (!waited)
            b->count.waits++;
        waited = true;
        wait_changed(b, young && now + LOOK_AGAIN_NS < end ? now + LOOK_AGAIN_NS : end);
    }
}

int budget_take(struct budget *b, struct budget_share *share, uint64_t bytes, const struct budget_wait *wait)
{
    static const struct budget_wait for_ever = {.wait_ns = UINT64_MAX};
    if (share->bytes)
        return err_fail(-EINVAL, "this share holds %lu bytes already: ask for everything at once", share->bytes);
    if (bytes > b->opts.limit_bytes)
        return refuse_impossible(b, bytes);
    struct ticket t = {.bytes = bytes};
    pthread_mutex_lock(&b->lock);
    if (b->last)
        b->last->next = &t;
    else
        b->first = &t;
    b->last = &t;
    int rc = wait_turn(b, &t, wait ? wait : &for_ever);
    ticket_leave(b, &t);
    if (rc)
        b->count.refusals++;
    else
        grant(b, share, bytes);
    pthread_mutex_unlock(&b->lock);
    return rc;
}

int budget_give(struct budget_share *share, uint64_t bytes)
{
    if (bytes == UINT64_MAX)
        bytes = share->bytes;
    if (bytes > share->bytes)
        return err_fail(-EINVAL, "giving back %lu bytes of a share of %lu", bytes, share->bytes);
    struct budget *b = share->budget;
    if (bytes == 0)
        return 0;
    pthread_mutex_lock(&b->lock);
    b->taken -= bytes;
    share->bytes -= bytes;
    if (share->permanent)
        b->permanent -= bytes;
    share->permanent = share->permanent && share->bytes;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return 0;
}

void budget_keep(struct budget_share *share)
{
    struct budget *b = share->budget;
    if (share->permanent || !b)
        return;
    pthread_mutex_lock(&b->lock);
    share->permanent = true;
    b->permanent += share->bytes;
    pthread_mutex_unlock(&b->lock);
}

void budget_evictor_add(struct budget *b, struct budget_evictor *e)
{
    pthread_mutex_lock(&b->lock);
    e->next = b->evictors;
    b->evictors = e;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

void budget_evictor_remove(struct budget *b, struct budget_evictor *e)
{
    pthread_mutex_lock(&b->lock);
    while (b->running == e)
        pthread_cond_wait(&b->changed, &b->lock);
    struct budget_evictor **p = &b->evictors;
    while (*p && *p != e)
        p = &(*p)->next;
    if (*p)
        *p = e->next;
    pthread_mutex_unlock(&b->lock);
}

void budget_wake(struct budget *b)
{
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

void budget_read(struct budget *b, struct budget_view *view)
{
    pthread_mutex_lock(&b->lock);
    *view = b->count;
    view->limit_bytes = b->opts.limit_bytes;
    view->taken_bytes = b->taken;
    view->permanent_bytes = b->permanent;
    for (const struct ticket *t = b->first; t; t = t->next) {
        view->waiting++;
        view->waiting_bytes += t->bytes;
    }
    pthread_mutex_unlock(&b->lock);
}
