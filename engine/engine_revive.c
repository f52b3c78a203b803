/* A device that is down gets another chance: after one second, then two, four, up to a minute. It is tried with memory,
 * a stream and a copy of its own; then its keys get new streams and it takes jobs again. What this cannot bring back is
 * a device that the driver has given up (a sticky error ends every later call of the process): that needs a new
 * process, and everything that was registered with the old one goes with it. */
#include <string.h>

#include "engine/engine_internal.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "perf/log.h"

static const uint64_t FIRST_NS = 1000000000, MOST_NS = 60000000000, LOOK_NS = 10000000;

static int device_try(struct device *d)
{
    static const char out[64] = "is anybody there?";
    char back[64] = "";
    struct stream *s = NULL;
    struct dbuf b;
    int rc = d->ops->alloc(d, &b, sizeof out);
    if (rc)
        return rc;
    rc = d->ops->stream_open(d, &s, NULL);
    rc = rc ? rc : d->ops->copy_h2d(s, b, out, sizeof out);
    rc = rc ? rc : d->ops->copy_d2h(s, back, b, sizeof back);
    rc = rc ? rc : d->ops->stream_sync(s);
    if (!rc && memcmp(out, back, sizeof out) != 0)
        rc = err_fail(-EIO, "what was copied to it came back changed");
    if (s)
        d->ops->stream_close(s);
    d->ops->free(d, b);
    return rc;
}

/* Try it, and give its keys new streams. The circuits are held meanwhile, so that nobody drops one. */
static int device_revive(struct pen_engine *e, unsigned d)
{
    struct circuit *held[ENGINE_CIRCUITS];
    unsigned n = 0;
    for (int i = 0; i < ENGINE_CIRCUITS; i++) {
        if (e->circuit[i] && e->circuit[i]->input_bytes && e->circuit[i]->on[d].key) {
            held[n++] = e->circuit[i];
            e->circuit[i]->users++;
        }
    }
    pthread_mutex_unlock(&e->lock);
    int rc = device_try(e->gpu[d].device);
    for (unsigned i = 0; i < n && !rc; i++)
        rc = groth16_key_reset(held[i]->on[d].key);
    pthread_mutex_lock(&e->lock);
    for (unsigned i = 0; i < n; i++)
        held[i]->users--;
    return rc;
}

void device_fell(struct pen_engine *e, unsigned d)
{
    struct engine_gpu *g = &e->gpu[d];
    if (!sched_device_down(e->sched, d) || g->retry_ns)
        return;
    if (!g->wait_ns)
        g->wait_ns = FIRST_NS;
    g->retry_ns = clock_now_ns() + g->wait_ns;
    clock_signal(&e->down);
}

static void attempt(struct pen_engine *e, unsigned d)
{
    struct engine_gpu *g = &e->gpu[d];
    int rc = device_revive(e, d);
    g->wait_ns = 2 * g->wait_ns < MOST_NS ? 2 * g->wait_ns : MOST_NS; /* also for the next time, until it proves */
    g->retry_ns = rc ? clock_now_ns() + g->wait_ns : 0;
    if (rc) {
        log_line(LOG_WARN, "%s is still down: %s", g->name, pen_last_error());
        return;
    }
    log_line(LOG_WARN, "%s is back", g->name);
    e->revived++;
    sched_device_up(e->sched, d);
    lanes_wake(e);
}

static void *revive_main(void *arg)
{
    struct pen_engine *e = arg;
    pthread_mutex_lock(&e->lock);
    while (!e->stop) {
        uint64_t until_ns = CLOCK_NEVER, now_ns = clock_now_ns();
        unsigned due = e->gpus;
        for (unsigned d = 0; d < e->gpus; d++) {
            uint64_t at_ns = e->gpu[d].retry_ns;
            if (at_ns && at_ns <= now_ns && !sched_device_quiet(e->sched, d))
                at_ns = now_ns + LOOK_NS;
            if (at_ns && at_ns <= now_ns)
                due = d;
            else if (at_ns && at_ns < until_ns)
                until_ns = at_ns;
        }
        if (due < e->gpus)
            attempt(e, due);
        else
            (void)clock_wait(&e->down, &e->lock, until_ns);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

int revive_start(struct pen_engine *e)
{
    int rc = clock_thread_open(&e->revive_thread, revive_main, e);
    e->reviving = rc == 0;
    return rc;
}
