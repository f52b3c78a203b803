#include "engine/sched.h"

#include <stdlib.h>
#include <string.h>

#include "perf/err.h"

const char *const lane_names[LANES] = {"read", "copy", "compute", "fold"};

enum { CIRCUITS = 256 };

struct sched_gpu {
    struct sched_device opts;
    struct job *job[SCHED_AHEAD + 1];
    unsigned jobs;
    uint64_t slot_used;
    uint8_t slots[CIRCUITS], slots_used[CIRCUITS]; /* buffers of each circuit; 0: not limited */
    unsigned busy[LANES];                          /* actions under way */
    uint64_t last_copy;                            /* order of its last chunk, for turns on the uplink */
    bool down;
    unsigned row; /* faults in a row */
};

struct sched {
    struct sched_opts opts;
    struct job_queue *queue;
    unsigned steps[CIRCUITS]; /* 0: not loaded */
    uint32_t on[CIRCUITS];
    uint64_t node_used[SCHED_NODES], copies_order;
    uint64_t now_ns; /* of the last sched_next */
    struct sched_view stats;
    struct sched_gpu gpu[];
};

int sched_open(struct sched **s_p, struct job_queue *q, const struct sched_opts *opts)
{
    if (opts->devices == 0 || opts->devices > SCHED_DEVICES || opts->ahead > SCHED_AHEAD)
        return err_fail(-EINVAL, "scheduler: %u devices (1 to %d), %u jobs ahead (up to %d)", opts->devices,
                        SCHED_DEVICES, opts->ahead, SCHED_AHEAD);
    for (unsigned d = 0; d < opts->devices; d++) {
        if (opts->device[d].node >= SCHED_NODES)
            return err_fail(-EINVAL, "scheduler: device %u on node %u; nodes are 0 to %d", d, opts->device[d].node,
                            SCHED_NODES - 1);
    }
    struct sched *s = calloc(1, sizeof *s + opts->devices * sizeof s->gpu[0]);
    if (!s)
        return err_fail(-ENOMEM, "no memory for a scheduler");
    s->queue = q;
    s->opts = *opts;
    struct sched_opts *o = &s->opts;
    o->host_bytes = o->host_bytes ? o->host_bytes : UINT64_MAX;
    o->chunk_bytes = o->chunk_bytes ? o->chunk_bytes : 64 << 20;
    o->copies = o->copies ? o->copies : 2;
    o->tokens = o->tokens ? o->tokens : 2;
    o->ahead = o->ahead ? o->ahead : 4;
    o->max_tries = o->max_tries ? o->max_tries : 3;
    o->max_faults = o->max_faults ? o->max_faults : 3;
    for (unsigned d = 0; d < o->devices; d++) {
        s->gpu[d].opts = opts->device[d];
        if (s->gpu[d].opts.slot_bytes == 0)
            s->gpu[d].opts.slot_bytes = UINT64_MAX;
    }
    *s_p = s;
    return 0;
}

void sched_close(struct sched *s)
{
    free(s);
}

int sched_circuit(struct sched *s, unsigned circuit, unsigned steps, uint32_t devices)
{
    if (circuit >= CIRCUITS)
        return err_fail(-EINVAL, "circuit %u; at most %d are loaded at a time", circuit, CIRCUITS);
    s->steps[circuit] = steps;
    s->on[circuit] = devices;
    return 0;
}

void sched_slots(struct sched *s, unsigned circuit, unsigned device, unsigned n)
{
    s->gpu[device].slots[circuit] = (uint8_t)(n < UINT8_MAX ? n : UINT8_MAX);
}

static uint64_t reserve_for(const struct sched *s, const struct job *j)
{
    return j->class == CLASS_CRITICAL ? 0 : s->opts.reserve_bytes;
}

static bool fits(uint64_t used, uint64_t limit, uint64_t reserve, uint64_t bytes)
{
    return limit >= reserve && limit - reserve >= used && limit - reserve - used >= bytes;
}

/* Could this device do it at all? */
static bool able(const struct sched *s, unsigned d, const struct job *j)
{
    return j->circuit < CIRCUITS && s->steps[j->circuit] && s->on[j->circuit] >> d & 1 && !(j->failed_on >> d & 1) &&
           !s->gpu[d].down && fits(0, s->gpu[d].opts.slot_bytes, reserve_for(s, j), j->bytes) &&
           fits(0, s->opts.host_bytes, reserve_for(s, j), j->bytes);
}

static bool able_anywhere(const struct sched *s, const struct job *j)
{
    for (unsigned d = 0; d < s->opts.devices; d++) {
        if (able(s, d, j))
            return true;
    }
    return false;
}

/* Is there room for its input on the device's node now? */
static bool host_fits(const struct sched *s, unsigned d, const struct job *j)
{
    return fits(s->node_used[s->gpu[d].opts.node], s->opts.host_bytes, reserve_for(s, j), j->bytes);
}

struct asking {
    const struct sched *s;
    unsigned device;
};

static bool may_read(void *ctx, const struct job *j)
{
    const struct asking *a = ctx;
    const struct sched *s = a->s;
    const struct sched_gpu *g = &s->gpu[a->device];
    unsigned room = s->opts.ahead + (j->class == CLASS_CRITICAL);
    if (!able(s, a->device, j) || g->jobs >= room || !host_fits(s, a->device, j))
        return false;
    for (unsigned d = 0; d < s->opts.devices; d++) {
        if (s->gpu[d].jobs < g->jobs && able(s, d, j) && host_fits(s, d, j))
            return false; /* that one is emptier and will take it */
    }
    return true;
}

/* Age counts in the lanes as it does in the queue: else a low job that was read in a quiet moment would hold its place
 * on the device and be passed by for as long as high ones come. */
static enum job_class class_of(const struct sched *s, const struct job *j)
{
    return job_queue_class(s->queue, j, s->now_ns);
}

static bool before(const struct sched *s, const struct job *a, const struct job *b)
{
    enum job_class ca = class_of(s, a), cb = b ? class_of(s, b) : JOB_CLASSES;
    return !b || ca < cb || (ca == cb && a->id < b->id);
}

static bool copy_possible(const struct sched_gpu *g, const struct sched *s, const struct job *j)
{
    return j->state == JOB_COPYING && !j->stop && !j->back && j->chunk_issued < j->bytes &&
           (j->has_slot || (fits(g->slot_used, g->opts.slot_bytes, reserve_for(s, j), j->bytes) &&
                            (!g->slots[j->circuit] || g->slots_used[j->circuit] < g->slots[j->circuit])));
}

static struct job *copy_best(const struct sched *s, unsigned d)
{
    const struct sched_gpu *g = &s->gpu[d];
    struct job *best = NULL;
    for (unsigned i = 0; i < g->jobs; i++) {
        if (copy_possible(g, s, g->job[i]) && before(s, g->job[i], best))
            best = g->job[i];
    }
    return best;
}

/* A token of the shared uplink for this device? The last one goes to the best class, then to who has waited longest. */
static bool uplink_grants(const struct sched *s, unsigned device, const struct job *j)
{
    int uplink = s->gpu[device].opts.uplink;
    unsigned used = 0;
    if (uplink < 0)
        return true;
    for (unsigned d = 0; d < s->opts.devices; d++)
        used += s->gpu[d].opts.uplink == uplink ? s->gpu[d].busy[LANE_COPY] : 0;
    if (used >= s->opts.tokens)
        return false;
    for (unsigned d = 0; d < s->opts.devices && used + 1 >= s->opts.tokens; d++) {
        const struct sched_gpu *g = &s->gpu[d];
        if (d == device || g->opts.uplink != uplink || g->busy[LANE_COPY] >= s->opts.copies)
            continue;
        const struct job *other = copy_best(s, d);
        if (!other)
            continue;
        enum job_class theirs = class_of(s, other), ours = class_of(s, j);
        if (theirs < ours || (theirs == ours && g->last_copy < s->gpu[device].last_copy))
            return false;
    }
    return true;
}

static bool next_read(struct sched *s, unsigned d, uint64_t now_ns, struct action *a)
{
    struct sched_gpu *g = &s->gpu[d];
    struct job *j = job_queue_pick(s->queue, may_read, &(struct asking){s, d}, now_ns);
    if (!j)
        return false;
    (void)job_queue_move(s->queue, j, JOB_READING, now_ns);
    j->device = (int)d;
    j->has_host = true;
    s->node_used[g->opts.node] += j->bytes;
    g->job[g->jobs++] = j;
    a->job = j;
    return true;
}

static bool next_copy(struct sched *s, unsigned d, struct action *a)
{
    struct sched_gpu *g = &s->gpu[d];
    struct job *j = copy_best(s, d);
    if (!j || !uplink_grants(s, d, j))
        return false;
    if (!j->has_slot) {
        j->has_slot = true;
        g->slot_used += j->bytes;
        g->slots_used[j->circuit]++;
    }
    g->last_copy = ++s->copies_order;
    a->job = j;
    a->first = j->chunk_issued;
    a->bytes = j->bytes - j->chunk_issued < s->opts.chunk_bytes ? j->bytes - j->chunk_issued : s->opts.chunk_bytes;
    j->chunk_issued += a->bytes;
    return true;
}

static bool next_compute(struct sched *s, unsigned d, struct action *a)
{
    struct sched_gpu *g = &s->gpu[d];
    struct job *best = NULL;
    for (unsigned i = 0; i < g->jobs; i++) {
        struct job *j = g->job[i];
        if (j->state != JOB_COMPUTING || j->stop || j->back)
            continue;
        bool begun = false; /* another job of its circuit: they share the circuit's buffers */
        for (unsigned k = 0; k < g->jobs; k++)
            begun = begun || (k != i && g->job[k]->circuit == j->circuit && g->job[k]->state == JOB_COMPUTING &&
                              g->job[k]->steps_done);
        /* begun work goes on before anything but a critical job */
        bool first = !best || (j->class == CLASS_CRITICAL) != (best->class == CLASS_CRITICAL) ? before(s, j, best)
                     : (j->steps_done > 0) != (best->steps_done > 0)                          ? j->steps_done > 0
                                                                                              : before(s, j, best);
        if (!begun && first)
            best = j;
    }
    if (!best)
        return false;
    a->job = best;
    a->step = best->steps_done;
    return true;
}

static bool next_fold(struct sched *s, unsigned d, struct action *a)
{
    struct sched_gpu *g = &s->gpu[d];
    struct job *best = NULL;
    for (unsigned i = 0; i < g->jobs; i++) {
        struct job *j = g->job[i];
        if (j->state == JOB_FOLDING && !j->stop && !j->back && before(s, j, best))
            best = j;
    }
    a->job = best;
    return best != NULL;
}

bool sched_next(struct sched *s, unsigned d, enum lane lane, uint64_t now_ns, struct action *action)
{
    struct sched_gpu *g = &s->gpu[d];
    struct action a = {.lane = lane, .device = d};
    s->now_ns = now_ns;
    if ((g->down && lane != LANE_FOLD) || g->busy[lane] >= (lane == LANE_COPY ? s->opts.copies : 1))
        return false;
    bool found = lane == LANE_READ      ? next_read(s, d, now_ns, &a)
                 : lane == LANE_COPY    ? next_copy(s, d, &a)
                 : lane == LANE_COMPUTE ? next_compute(s, d, &a)
                                        : next_fold(s, d, &a);
    if (!found)
        return false;
    a.job->in_flight++;
    g->busy[lane]++;
    *action = a;
    return true;
}

static void give_host(struct sched *s, struct job *j)
{
    if (!j->has_host)
        return;
    j->has_host = false;
    s->node_used[s->gpu[j->device].opts.node] -= j->bytes;
    if (s->opts.release)
        s->opts.release(s->opts.ctx, j, true, false);
}

static void give_slot(struct sched *s, struct job *j)
{
    if (!j->has_slot)
        return;
    j->has_slot = false;
    s->gpu[j->device].slot_used -= j->bytes;
    s->gpu[j->device].slots_used[j->circuit]--;
    if (s->opts.release)
        s->opts.release(s->opts.ctx, j, false, true);
}

/* It leaves its device. */
static void job_leave(struct sched *s, struct job *j)
{
    struct sched_gpu *g = &s->gpu[j->device];
    give_host(s, j);
    give_slot(s, j);
    for (unsigned i = 0; i < g->jobs; i++) {
        if (g->job[i] == j)
            g->job[i] = g->job[--g->jobs];
    }
    j->device = JOB_NO_DEVICE;
}

/* If it must stop or go back and nothing of it is under way: do that. True when it left. */
static bool job_settle(struct sched *s, struct job *j, uint64_t now_ns)
{
    if (j->in_flight || !(j->stop || j->back))
        return false;
    job_leave(s, j);
    if (job_queue_stopped(s->queue, j, now_ns))
        return true;
    j->back = false;
    j->chunk_issued = j->chunk_done = 0;
    j->steps_done = 0;
    if (j->tries < s->opts.max_tries && able_anywhere(s, j)) {
        s->stats.retries++;
        (void)job_queue_move(s->queue, j, JOB_QUEUED, now_ns);
    } else {
        err_fail(j->rc, "%s (%u tries; no other device can do it)", j->why, j->tries);
        job_queue_fail(s->queue, j, j->rc, now_ns);
    }
    return true;
}

static void device_fault(struct sched *s, const struct action *a, int rc)
{
    struct sched_gpu *g = &s->gpu[a->device];
    struct job *j = a->job;
    s->stats.faults[a->device]++;
    if (++g->row >= s->opts.max_faults || rc == -ENODEV)
        g->down = true;
    if (!j->back) {
        char why[1024];
        err_copy(why);
        j->tries++;
        j->back = true;
        j->failed_on |= 1u << a->device;
        if (!j->stop) {
            j->rc = rc;
            memcpy(j->why, why, JOB_WHY - 1);
        }
    }
}

static void action_succeeded(struct sched *s, const struct action *a, uint64_t now_ns)
{
    struct job *j = a->job;
    switch (a->lane) {
    case LANE_READ:
        (void)job_queue_move(s->queue, j, JOB_COPYING, now_ns);
        break;
    case LANE_COPY:
        j->chunk_done += a->bytes;
        if (j->chunk_done == j->bytes) {
            if (!s->opts.hold_host)
                give_host(s, j);
            (void)job_queue_move(s->queue, j, JOB_COMPUTING, now_ns);
        }
        break;
    case LANE_COMPUTE:
        if (++j->steps_done == s->steps[j->circuit]) {
            s->gpu[a->device].row = 0;
            give_slot(s, j);
            (void)job_queue_move(s->queue, j, JOB_FOLDING, now_ns);
        }
        break;
    case LANE_FOLD:
        s->stats.done[a->device]++;
        job_leave(s, j);
        (void)job_queue_move(s->queue, j, JOB_DONE, now_ns);
        break;
    case LANES:
        break;
    }
}

void sched_done(struct sched *s, const struct action *a, int rc, uint64_t now_ns)
{
    struct sched_gpu *g = &s->gpu[a->device];
    struct job *j = a->job;
    g->busy[a->lane]--;
    j->in_flight--;
    bool device = a->lane == LANE_FOLD ? rc == -EREMOTEIO
                                       : a->lane != LANE_READ && (rc == -EIO || rc == -ENOMEM || rc == -ENODEV);
    if (device) {
        device_fault(s, a, rc);
    } else if (rc && !j->stop) {
        char why[1024];
        err_copy(why);
        j->stop = true;
        j->stop_as = JOB_FAILED;
        j->rc = rc;
        memcpy(j->why, why, JOB_WHY - 1);
    } else if (!rc && !j->stop && !j->back) {
        action_succeeded(s, a, now_ns);
    }
    if (j->device != JOB_NO_DEVICE)
        (void)job_settle(s, j, now_ns);
    if (g->down || j->state == JOB_FAILED || j->state == JOB_CANCELLED) /* others may have to follow */
        sched_reap(s, now_ns);
}

void sched_reap(struct sched *s, uint64_t now_ns)
{
    for (unsigned d = 0; d < s->opts.devices; d++) {
        struct sched_gpu *g = &s->gpu[d];
        for (unsigned i = g->jobs; i-- > 0;) {
            if (i >= g->jobs) /* a set took others with it */
                continue;
            struct job *j = g->job[i];
            if (g->down && !j->back && j->state != JOB_FOLDING) {
                j->back = true; /* not its fault: no try is counted */
                if (!j->stop) {
                    j->rc = -ENODEV;
                    strcpy(j->why, "its device is down");
                }
            }
            (void)job_settle(s, j, now_ns);
        }
    }
    for (enum job_class c = 0; c < JOB_CLASSES; c++) {
        for (struct job *j = job_queue_waiting(s->queue, c, NULL), *next; j; j = next) {
            next = job_queue_waiting(s->queue, c, j);
            if (able_anywhere(s, j))
                continue;
            err_fail(-ENODEV, "no device is left that can do it");
            job_queue_fail(s->queue, j, -ENODEV, now_ns);
            next = job_queue_waiting(s->queue, c, NULL);
        }
    }
}

bool sched_device_down(const struct sched *s, unsigned d)
{
    return s->gpu[d].down;
}

bool sched_device_quiet(const struct sched *s, unsigned d)
{
    const struct sched_gpu *g = &s->gpu[d];
    return !(g->busy[LANE_READ] | g->busy[LANE_COPY] | g->busy[LANE_COMPUTE]);
}

void sched_device_up(struct sched *s, unsigned d)
{
    s->gpu[d].down = false;
    s->gpu[d].row = 0;
}

bool sched_copy_due(const struct sched *s, unsigned d)
{
    return s->gpu[d].busy[LANE_COPY] || copy_best(s, d);
}

void sched_read(const struct sched *s, struct sched_view *view)
{
    *view = s->stats;
    for (unsigned n = 0; n < SCHED_NODES; n++) {
        view->node_used[n] = s->node_used[n];
        view->host_used += s->node_used[n];
    }
    for (unsigned d = 0; d < s->opts.devices; d++) {
        view->slot_used[d] = s->gpu[d].slot_used;
        view->jobs[d] = s->gpu[d].jobs;
        view->copies[d] = s->gpu[d].busy[LANE_COPY];
    }
}

const char *sched_check(const struct sched *s)
{
    uint64_t host[SCHED_NODES] = {0};
    for (unsigned d = 0; d < s->opts.devices; d++) {
        const struct sched_gpu *g = &s->gpu[d];
        uint64_t slots = 0;
        unsigned under_way = 0, busy = 0, buffers = 0, counted = 0;
        for (unsigned i = 0; i < g->jobs; i++) {
            const struct job *j = g->job[i];
            host[g->opts.node] += j->has_host ? j->bytes : 0;
            slots += j->has_slot ? j->bytes : 0;
            buffers += j->has_slot;
            under_way += j->in_flight;
            if (j->device != (int)d || j->state == JOB_QUEUED || job_over(j->state))
                return "a job is not where it says";
            if (j->chunk_done > j->chunk_issued || j->chunk_issued > j->bytes)
                return "more was copied than there is";
        }
        for (int l = 0; l < LANES; l++)
            busy += g->busy[l];
        for (int c = 0; c < CIRCUITS; c++) {
            counted += g->slots_used[c];
            if (g->slots[c] && g->slots_used[c] > g->slots[c])
                return "more buffers than the circuit has";
        }
        if (counted != buffers)
            return "buffers";
        if (busy != under_way)
            return "actions under way";
        if (slots != g->slot_used || slots > g->opts.slot_bytes)
            return "slots";
        if (g->jobs > s->opts.ahead + 1)
            return "too many jobs on a device";
    }
    for (unsigned n = 0; n < SCHED_NODES; n++) {
        if (host[n] != s->node_used[n] || host[n] > s->opts.host_bytes)
            return "host memory";
    }
    return NULL;
}
