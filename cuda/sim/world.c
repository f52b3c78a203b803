#include "cuda/sim/world.h"

#include <stdbool.h>
#include <stdlib.h>

#include "perf/err.h"

/* Bytes x 1e9, so that rate x nanoseconds needs no division. */
typedef unsigned __int128 nanobytes;

enum flight_phase { FLIGHT_QUEUED, FLIGHT_SETUP, FLIGHT_DATA, FLIGHT_TIMED };

struct flight {
    struct flight *next; /* in its engine's queue, or in the list of timers */
    enum flight_phase phase;
    uint64_t order, end_ns; /* end of SETUP or TIMED; of DATA as long as the rates stay */
    uint64_t bytes, duration_ns, max_rate, rate;
    nanobytes left;
    world_done *done;
    void *ctx;
};

struct engine {
    struct flight *first, **last; /* the first is under way */
    struct world_load load;
};

struct gpu {
    int uplink;
    struct engine engine[WORLD_ENGINES];
};

struct world {
    struct world_opts opts;
    uint64_t now_ns, order;
    bool stale; /* rates and ends of flows must be computed anew */
    struct flight *timers;
    unsigned n;
    struct gpu gpu[];
};

int world_open(struct world **world_p, const struct world_opts *opts)
{
    if (opts->devices == 0 || opts->devices > WORLD_DEVICES)
        return err_fail(-EINVAL, "%u simulated devices; 1 to %d are possible", opts->devices, WORLD_DEVICES);
    for (unsigned i = 0; opts->uplink && i < opts->devices; i++) {
        if (opts->uplink[i] != WORLD_ALONE && (opts->uplink[i] < 0 || (unsigned)opts->uplink[i] >= opts->devices))
            return err_fail(-EINVAL, "device %u: uplink %d; %u devices have uplinks 0 to %u", i, opts->uplink[i],
                            opts->devices, opts->devices - 1);
    }
    struct world *w = calloc(1, sizeof *w + opts->devices * sizeof w->gpu[0]);
    if (!w)
        return err_fail(-ENOMEM, "no memory for a simulated machine");
    w->opts = *opts;
    w->opts.uplink = NULL;
    w->n = opts->devices;
    uint64_t *rate[] = {&w->opts.link_bytes_per_s, &w->opts.link_both_bytes_per_s, &w->opts.uplink_bytes_per_s,
                        &w->opts.uplink_both_bytes_per_s};
    for (int i = 0; i < 4; i++) {
        if (*rate[i] == 0)
            *rate[i] = i % 2 ? 50600000000u : 55400000000u;
    }
    if (w->opts.copy_setup_ns == 0)
        w->opts.copy_setup_ns = 2800;
    for (unsigned i = 0; i < w->n; i++) {
        w->gpu[i].uplink = opts->uplink ? opts->uplink[i] : WORLD_ALONE;
        for (int e = 0; e < WORLD_ENGINES; e++)
            w->gpu[i].engine[e].last = &w->gpu[i].engine[e].first;
    }
    *world_p = w;
    return 0;
}

static void flights_free(struct flight *f)
{
    while (f) {
        struct flight *next = f->next;
        free(f);
        f = next;
    }
}

void world_close(struct world *w)
{
    if (!w)
        return;
    for (unsigned i = 0; i < w->n; i++) {
        for (int e = 0; e < WORLD_ENGINES; e++)
            flights_free(w->gpu[i].engine[e].first);
    }
    flights_free(w->timers);
    free(w);
}

uint64_t world_now_ns(const struct world *w)
{
    return w->now_ns;
}

static void engine_start(struct world *w, struct engine *e)
{
    struct flight *f = e->first;
    bool timed = f->bytes == 0; /* a kernel, or a copy of nothing */
    f->phase = timed ? FLIGHT_TIMED : FLIGHT_SETUP;
    f->end_ns = w->now_ns + (timed ? f->duration_ns : w->opts.copy_setup_ns);
}

static struct flight *flight_new(struct world *w, world_done *done, void *ctx)
{
    struct flight *f = calloc(1, sizeof *f);
    if (!f) {
        err_fail(-ENOMEM, "no memory for a simulated operation");
        return NULL;
    }
    f->order = ++w->order;
    f->done = done;
    f->ctx = ctx;
    return f;
}

static int engine_queue(struct world *w, struct engine *e, struct flight *f)
{
    *e->last = f;
    e->last = &f->next;
    if (e->first == f)
        engine_start(w, e);
    return 0;
}

int world_copy(struct world *w, unsigned device, enum world_engine dir, uint64_t bytes, uint64_t max_bytes_per_s,
               world_done *done, void *ctx)
{
    struct flight *f = flight_new(w, done, ctx);
    if (!f)
        return -ENOMEM;
    f->bytes = bytes;
    f->left = (nanobytes)bytes * 1000000000u;
    f->max_rate = max_bytes_per_s;
    return engine_queue(w, &w->gpu[device].engine[dir], f);
}

int world_compute(struct world *w, unsigned device, uint64_t ns, world_done *done, void *ctx)
{
    struct flight *f = flight_new(w, done, ctx);
    if (!f)
        return -ENOMEM;
    f->duration_ns = ns;
    return engine_queue(w, &w->gpu[device].engine[WORLD_COMPUTE], f);
}

int world_after(struct world *w, uint64_t ns, world_done *done, void *ctx)
{
    struct flight *f = flight_new(w, done, ctx);
    if (!f)
        return -ENOMEM;
    f->phase = FLIGHT_TIMED;
    f->end_ns = w->now_ns + ns;
    f->next = w->timers;
    w->timers = f;
    return 0;
}

static struct flight *flow_of(struct gpu *g, enum world_engine dir)
{
    struct flight *f = g->engine[dir].first;
    return f && f->phase == FLIGHT_DATA ? f : NULL;
}

static uint64_t link_cap(const struct world *w, struct gpu *g, const struct flight *f)
{
    bool both = flow_of(g, WORLD_H2D) && flow_of(g, WORLD_D2H);
    uint64_t cap = both ? w->opts.link_both_bytes_per_s : w->opts.link_bytes_per_s;
    return f->max_rate && f->max_rate < cap ? f->max_rate : cap;
}

/* Equal parts of `room` for all flows of one uplink, but none above its own cap: those below the part get their cap,
 * the others share what remains. */
static void uplink_fill(struct world *w, int uplink, enum world_engine dir, uint64_t room)
{
    bool set[WORLD_DEVICES] = {false};
    for (;;) {
        unsigned open = 0;
        for (unsigned i = 0; i < w->n; i++)
            open += w->gpu[i].uplink == uplink && flow_of(&w->gpu[i], dir) && !set[i];
        if (!open)
            return;
        uint64_t part = room / open;
        bool capped = false;
        for (unsigned i = 0; i < w->n; i++) {
            struct flight *f = flow_of(&w->gpu[i], dir);
            if (w->gpu[i].uplink != uplink || !f || set[i])
                continue;
            uint64_t cap = link_cap(w, &w->gpu[i], f);
            if (cap <= part) {
                f->rate = cap;
                room -= cap;
                set[i] = capped = true;
            } else {
                f->rate = part;
            }
        }
        if (!capped)
            return;
    }
}

static bool uplink_busy(struct world *w, int uplink, enum world_engine dir)
{
    for (unsigned i = 0; i < w->n; i++) {
        if (w->gpu[i].uplink == uplink && flow_of(&w->gpu[i], dir))
            return true;
    }
    return false;
}

static void rates_update(struct world *w)
{
    for (int up = 0; up < (int)w->n; up++) {
        bool both = uplink_busy(w, up, WORLD_H2D) && uplink_busy(w, up, WORLD_D2H);
        uint64_t room = both ? w->opts.uplink_both_bytes_per_s : w->opts.uplink_bytes_per_s;
        uplink_fill(w, up, WORLD_H2D, room);
        uplink_fill(w, up, WORLD_D2H, room);
    }
    for (unsigned i = 0; i < w->n; i++) {
        for (enum world_engine dir = WORLD_H2D; dir <= WORLD_D2H; dir++) {
            struct flight *f = flow_of(&w->gpu[i], dir);
            if (!f)
                continue;
            if (w->gpu[i].uplink == WORLD_ALONE)
                f->rate = link_cap(w, &w->gpu[i], f);
            f->end_ns = w->now_ns + (uint64_t)((f->left + f->rate - 1) / f->rate);
        }
    }
    w->stale = false;
}

/* The flight that ends first, and the engine it is on (NULL: a timer). */
static struct flight *next_end(struct world *w, struct engine **engine)
{
    struct flight *best = NULL;
    if (w->stale)
        rates_update(w);
    for (struct flight *f = w->timers; f; f = f->next) {
        if (!best || f->end_ns < best->end_ns || (f->end_ns == best->end_ns && f->order < best->order)) {
            best = f;
            *engine = NULL;
        }
    }
    for (unsigned i = 0; i < w->n; i++) {
        for (int e = 0; e < WORLD_ENGINES; e++) {
            struct flight *f = w->gpu[i].engine[e].first;
            if (f && (!best || f->end_ns < best->end_ns || (f->end_ns == best->end_ns && f->order < best->order))) {
                best = f;
                *engine = &w->gpu[i].engine[e];
            }
        }
    }
    return best;
}

uint64_t world_next_ns(struct world *w)
{
    struct engine *e;
    struct flight *f = next_end(w, &e);
    return f ? f->end_ns : WORLD_NEVER;
}

static void time_move(struct world *w, uint64_t to_ns)
{
    uint64_t passed = to_ns - w->now_ns;
    for (unsigned i = 0; i < w->n; i++) {
        for (int e = 0; e < WORLD_ENGINES; e++) {
            struct flight *f = w->gpu[i].engine[e].first;
            if (!f)
                continue;
            w->gpu[i].engine[e].load.busy_ns += passed;
            if (f->phase == FLIGHT_DATA) {
                nanobytes moved = (nanobytes)f->rate * passed;
                f->left = moved < f->left ? f->left - moved : 0;
            }
        }
    }
    w->now_ns = to_ns;
}

static void flight_end(struct world *w, struct engine *e, struct flight *f)
{
    if (f->phase == FLIGHT_SETUP) {
        f->phase = FLIGHT_DATA;
        w->stale = true;
        return;
    }
    w->stale = w->stale || f->phase == FLIGHT_DATA;
    if (e) {
        e->first = f->next;
        if (!e->first)
            e->last = &e->first;
        e->load.bytes += f->bytes;
        e->load.done++;
        if (e->first)
            engine_start(w, e);
    } else {
        struct flight **p = &w->timers;
        while (*p != f)
            p = &(*p)->next;
        *p = f->next;
    }
    world_done *done = f->done;
    void *ctx = f->ctx;
    free(f);
    if (done)
        done(ctx);
}

void world_run(struct world *w, uint64_t until_ns)
{
    struct engine *e;
    struct flight *f;
    while ((f = next_end(w, &e)) != NULL && f->end_ns <= until_ns) {
        time_move(w, f->end_ns);
        flight_end(w, e, f);
    }
    if (until_ns > w->now_ns && until_ns != WORLD_NEVER)
        time_move(w, until_ns);
}

void world_read(const struct world *w, unsigned device, enum world_engine engine, struct world_load *load)
{
    const struct engine *e = &w->gpu[device].engine[engine];
    *load = e->load;
    load->moved = e->load.bytes;
    if (e->first && e->first->phase == FLIGHT_DATA)
        load->moved += e->first->bytes - (uint64_t)(e->first->left / 1000000000u);
}
