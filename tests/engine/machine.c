#include "machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perf/clock.h"
#include "perf/err.h"

/* An action under way. It ends when all its streams' marks have been passed, or when its time is over. */
struct running {
    struct machine *m;
    struct action a;
    struct stream *stream; /* NULL: only time passes */
    int copy;              /* number of the copy stream */
    uint64_t begin_ns;
    struct running *next;
};

/* What the owner of a job holds; found through job->owner = the item, by index. */
struct held {
    struct budget_share lease;
    struct dbuf slot;
};
static struct held held[M_JOBS];

uint64_t machine_rnd(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static uint64_t input_bytes(const struct machine *m, unsigned kind)
{
    return m->kind[kind].n_vars * 32;
}

static struct held *held_of(const struct machine *m, const struct job *j)
{
    return &held[(const struct m_item *)j->owner - m->item];
}

static uint64_t now(const struct machine *m)
{
    return world_now_ns(sim_world(m->sim));
}

static void released(void *ctx, struct job *j, bool host, bool slot)
{
    struct machine *m = ctx;
    struct held *h = held_of(m, j);
    if (host)
        assert_int_equal(budget_give(&h->lease, UINT64_MAX), 0);
    if (slot && h->slot.bytes) {
        struct device *d = m->gpu[j->device].device;
        d->ops->free(d, h->slot);
        h->slot = (struct dbuf){0};
    }
}

static void changed(void *ctx, struct job *j, enum job_state to)
{
    struct machine *m = ctx;
    struct m_item *it = j->owner;
    if (to < JOB_STATES && job_over(to)) {
        it->ended = to;
        it->end_ns = now(m);
        m->over++;
    }
}

/* ---- what the lanes do ---- */

static void mark_passed(void *ctx)
{
    struct running *r = ctx;
    r->next = NULL;
    *r->m->finished_end = r;
    r->m->finished_end = &r->next;
}

static int stream_ready(struct machine *m, unsigned d, struct stream **s)
{
    struct device *dev = m->gpu[d].device;
    return *s ? 0 : dev->ops->stream_open(dev, s, NULL);
}

static int begin_copy(struct machine *m, struct running *r)
{
    struct m_gpu *g = &m->gpu[r->a.device];
    struct held *h = held_of(m, r->a.job);
    int rc = h->slot.bytes ? 0 : g->device->ops->alloc(g->device, &h->slot, r->a.job->bytes);
    r->copy = g->copying[0] ? 1 : 0;
    assert_false(g->copying[r->copy]);
    if (!rc)
        rc = stream_ready(m, r->a.device, &g->copy[r->copy]);
    if (rc)
        return rc;
    r->stream = g->copy[r->copy];
    g->copying[r->copy] = true;
    return g->device->ops->copy_h2d(r->stream, dbuf_at(h->slot, r->a.first, r->a.bytes),
                                    m->host[m->node[r->a.device]] + r->a.first, r->a.bytes);
}

static int queue_step(struct machine *m, struct running *r)
{
    static struct point result[M_PARTS];
    struct m_gpu *g = &m->gpu[r->a.device];
    const struct m_item *it = r->a.job->owner;
    const struct m_kind *k = &m->kind[it->kind];
    const struct m_key *key = &g->key[it->kind];
    const struct device_ops *ops = g->device->ops;
    const struct curve *cv = curve_get(CURVE_BLS12_381);
    struct dbuf w = held_of(m, r->a.job)->slot;
    struct msm_set sets[2] = {{key->bases[0], 0, &result[0]}, {key->bases[1], 0, &result[1]}};
    struct msm_set quotient = {key->bases[2], 0, &result[2]};
    if (r->a.step == 0)
        return ops->msm(r->stream, &(struct msm_args){cv, w, k->n_vars, sets, 2});
    if (r->a.step == 2)
        return ops->msm(r->stream, &(struct msm_args){cv, g->abc, k->domain, &quotient, 1});
    int rc = ops->spmv(r->stream, &(struct spmv_args){key->matrix, w, g->abc, k->domain});
    struct ntt_coset_args coset = {.curve = cv, .data = g->abc, .batch = 3};
    while ((size_t)1 << coset.log_n < k->domain)
        coset.log_n++;
    if (!rc)
        rc = ops->ntt_coset(r->stream, &coset);
    struct pointwise_args join = {.curve = cv, .out = g->abc, .a = g->abc, .b = g->abc, .c = g->abc, .n = k->domain};
    return rc ? rc : ops->pointwise(r->stream, &join);
}

static int begin_compute(struct machine *m, struct running *r)
{
    struct m_gpu *g = &m->gpu[r->a.device];
    struct m_item *it = r->a.job->owner;
    if (!it->begin_ns)
        it->begin_ns = now(m);
    if (!g->busy_from)
        g->busy_from = now(m);
    int rc = stream_ready(m, r->a.device, &g->compute);
    r->stream = g->compute;
    return rc ? rc : queue_step(m, r);
}

static int begin_read(struct machine *m, struct running *r)
{
    unsigned node = m->node[r->a.device];
    int rc = budget_try(m->budget[node], &held_of(m, r->a.job)->lease, r->a.job->bytes);
    assert_int_equal(rc, 0); /* the scheduler counts what the budget counts */
    const struct m_item *it = r->a.job->owner;
    return world_after(sim_world(m->sim), m->kind[it->kind].read_ns, mark_passed, r);
}

/* Its stream is not used again after a failure. */
static void stream_end(struct machine *m, struct running *r, int rc)
{
    struct m_gpu *g = &m->gpu[r->a.device];
    struct stream **s = r->a.lane == LANE_COPY ? &g->copy[r->copy] : &g->compute;
    if (r->a.lane == LANE_COPY && r->stream)
        g->copying[r->copy] = false;
    if (rc && *s && *s == r->stream) {
        g->device->ops->stream_close(*s);
        *s = NULL;
    }
}

static void action_end(struct machine *m, struct running *r, int rc)
{
    struct m_gpu *g = &m->gpu[r->a.device];
    if (r->a.lane == LANE_COPY || r->a.lane == LANE_COMPUTE)
        stream_end(m, r, rc);
    if (r->a.lane == LANE_COMPUTE) {
        g->busy_to = now(m);
        g->busy_ns += now(m) - r->begin_ns;
    }
    m->under_way--;
    m->faulted |= rc != 0;
    sched_done(m->sched, &r->a, rc, now(m));
    free(r);
}

static void action_begin(struct machine *m, const struct action *a)
{
    struct running *r = calloc(1, sizeof *r);
    assert_non_null(r);
    *r = (struct running){.m = m, .a = *a, .begin_ns = now(m)};
    const struct m_item *it = a->job->owner;
    m->under_way++;
    int rc = 0;
    switch (a->lane) {
    case LANE_READ:
        rc = begin_read(m, r);
        break;
    case LANE_COPY:
        rc = begin_copy(m, r);
        break;
    case LANE_COMPUTE:
        rc = begin_compute(m, r);
        break;
    default:
        rc = world_after(sim_world(m->sim), m->kind[it->kind].fold_ns, mark_passed, r);
        break;
    }
    if (!rc && r->stream)
        rc = sim_notify(r->stream, mark_passed, r);
    if (rc)
        action_end(m, r, rc);
}

/* ---- the loop ---- */

static void begin_all(struct machine *m)
{
    struct action a;
    for (bool some = true; some;) {
        some = false;
        for (unsigned d = 0; d < m->gpus; d++) {
            for (enum lane l = 0; l < LANES; l++) {
                while (sched_next(m->sched, d, l, now(m), &a)) {
                    action_begin(m, &a);
                    some = true;
                }
            }
        }
    }
}

static void pump(struct machine *m)
{
    do {
        if (++m->events == m->cancel_at) {
            (void)job_queue_cancel(m->queue, m->cancel_id, true, now(m));
            sched_reap(m->sched, now(m));
        }
        while (m->finished) {
            struct running *r = m->finished;
            m->finished = r->next;
            if (!m->finished)
                m->finished_end = &m->finished;
            int rc = r->stream ? r->stream->device->ops->stream_sync(r->stream) : 0;
            action_end(m, r, rc);
        }
        begin_all(m);
    } while (m->finished);
    const char *wrong = sched_check(m->sched);
    if (wrong)
        fail_msg("sums do not agree: %s", wrong);
}

static uint64_t moved_by(const struct machine *m, unsigned group)
{
    uint64_t sum = 0;
    for (unsigned d = 0; d < m->gpus; d++) {
        struct world_load load;
        world_read(sim_world(m->sim), d, WORLD_H2D, &load);
        sum += (m->uplink[d] < 0 ? M_GPUS + d : (unsigned)m->uplink[d]) == group ? load.moved : 0;
    }
    return sum;
}

/* Is a job's input complete on a device whose compute lane is free? */
static bool computable(const struct machine *m, unsigned d)
{
    for (struct job *j = NULL; (j = job_queue_running(m->queue, j)) != NULL;) {
        if (j->device == (int)d && j->state == JOB_COMPUTING && !j->in_flight)
            return true;
    }
    return false;
}

/* Time passes up to next_ns; who waited for what meanwhile? Nothing changes between two events. */
static void pass(struct machine *m, uint64_t next_ns)
{
    bool due[2 * M_GPUS] = {false};
    for (unsigned d = 0; d < m->gpus; d++) {
        due[m->uplink[d] < 0 ? M_GPUS + d : (unsigned)m->uplink[d]] |= sched_copy_due(m->sched, d);
        bool computing = false;
        for (struct job *j = NULL; (j = job_queue_running(m->queue, j)) != NULL;)
            computing |= j->device == (int)d && j->state == JOB_COMPUTING && j->in_flight;
        if (!computing && computable(m, d))
            m->gpu[d].idle_ns += next_ns - m->last_ns;
    }
    for (unsigned g = 0; g < 2 * M_GPUS; g++)
        m->moved_before[g] = due[g] ? moved_by(m, g) : 0;
    world_run(sim_world(m->sim), next_ns);
    for (unsigned g = 0; g < 2 * M_GPUS; g++) {
        m->moved[g] += due[g] ? moved_by(m, g) - m->moved_before[g] : 0;
        m->due_ns[g] += due[g] ? next_ns - m->last_ns : 0;
    }
    m->last_ns = next_ns;
}

static void submit_due(struct machine *m, unsigned *next)
{
    for (; *next < m->jobs && m->item[*next].at_ns <= now(m); ++*next) {
        struct m_item *it = &m->item[*next];
        struct job_spec spec = {
            .class = it->class, .circuit = it->kind, .bytes = input_bytes(m, it->kind), .owner = it};
        assert_int_equal(job_queue_submit(m->queue, &it->job, NULL, &spec, now(m)), 0);
    }
}

void machine_run(struct machine *m)
{
    uint64_t start = now(m);
    for (unsigned i = 0; i < m->jobs; i++)
        m->item[i].at_ns += start;
    m->last_ns = start;
    for (unsigned next = 0;;) {
        submit_due(m, &next);
        pump(m);
        uint64_t t = world_next_ns(sim_world(m->sim));
        if (next < m->jobs && m->item[next].at_ns < t)
            t = m->item[next].at_ns;
        if (t == WORLD_NEVER)
            break;
        pass(m, t);
    }
    assert_int_equal(m->under_way, 0);
    assert_int_equal(m->over, m->jobs); /* no deadlock */
    assert_true(job_queue_empty(m->queue));
}

/* ---- opening and closing ---- */

static void key_close(struct m_gpu *g, struct m_key *k)
{
    for (int i = 0; i < M_PARTS; i++) {
        if (k->bases[i])
            g->device->ops->bases_close(k->bases[i]);
    }
    if (k->matrix)
        g->device->ops->matrix_close(k->matrix);
    *k = (struct m_key){0};
}

static int key_open(struct machine *m, unsigned d, unsigned kind)
{
    struct m_gpu *g = &m->gpu[d];
    const struct m_kind *k = &m->kind[kind];
    const struct device_ops *ops = g->device->ops;
    bool resident = !(k->streamed >> d & 1);
    int rc = 0;
    for (int i = 0; i < M_PARTS && !rc; i++) {
        struct bases_args args = {.curve = curve_get(CURVE_BLS12_381),
                                  .group = i == 1 ? GROUP_G2 : GROUP_G1,
                                  .n = i == 2   ? k->domain
                                       : i == 1 ? k->n_vars / 4
                                                : k->n_vars,
                                  .resident = resident};
        rc = ops->bases_open(g->device, &g->key[kind].bases[i], &args);
    }
    struct matrix_args matrix = {.curve = curve_get(CURVE_BLS12_381), .rows = k->domain, .resident = resident};
    if (!rc)
        rc = ops->matrix_open(g->device, &g->key[kind].matrix, &matrix);
    if (rc)
        key_close(g, &g->key[kind]);
    return rc;
}

/* Device d with the keys that it can take. A failure costs that key, or the whole device. */
static void gpu_open(struct machine *m, unsigned d)
{
    struct m_gpu *g = &m->gpu[d];
    uint64_t most = 0;
    int rc = sim_device_open(m->sim, &g->device, d, NULL);
    assert_int_equal(rc, 0);
    for (unsigned k = 0; k < m->kinds; k++)
        most = m->kind[k].domain > most ? m->kind[k].domain : most;
    rc = g->device->ops->host_register(g->device, m->host[m->node[d]], 4 * GIB);
    if (!rc)
        rc = g->device->ops->alloc(g->device, &g->abc, most * 96);
    for (unsigned k = 0; k < m->kinds; k++) {
        if ((m->kind[k].on >> d & 1) && (rc || key_open(m, d, k)))
            m->kind[k].on &= ~(1u << d);
    }
}

bool machine_open(struct machine *m)
{
    memset(held, 0, sizeof held);
    m->finished_end = &m->finished;
    assert_int_equal(sim_open(&m->sim, &(struct sim_opts){.world = {.devices = m->gpus, .uplink = m->uplink},
                                                          .memory_bytes = m->device_bytes}),
                     0);
    if (m->fault.at)
        sim_fault(m->sim, &m->fault);
    for (unsigned n = 0; n < m->nodes; n++) {
        m->host[n] = mmap(NULL, 4 * GIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(m->host[n] != MAP_FAILED);
        assert_int_equal(budget_open(&m->budget[n], &(struct budget_opts){.limit_bytes = m->host_bytes}), 0);
    }
    struct sched_device dev[M_GPUS];
    for (unsigned d = 0; d < m->gpus; d++) {
        gpu_open(m, d);
        dev[d] = (struct sched_device){.uplink = m->uplink[d], .slot_bytes = m->slot_bytes, .node = m->node[d]};
    }
    struct job_queue_opts queue = {.max_jobs = 4 * M_JOBS, .age_ns = m->age_ns, .changed = changed, .ctx = m};
    assert_int_equal(job_queue_open(&m->queue, &queue), 0);
    struct sched_opts sched = {.device = dev,
                               .devices = m->gpus,
                               .host_bytes = m->host_bytes,
                               .reserve_bytes = m->reserve_bytes,
                               .copies = M_COPIES,
                               .release = released,
                               .ctx = m};
    assert_int_equal(sched_open(&m->sched, m->queue, &sched), 0);
    bool all = true;
    for (unsigned k = 0; k < m->kinds; k++) {
        all &= m->kind[k].on != 0;
        assert_int_equal(sched_circuit(m->sched, k, M_STEPS, m->kind[k].on), 0);
    }
    return all;
}

void machine_close(struct machine *m)
{
    struct sched_view v;
    sched_read(m->sched, &v);
    assert_int_equal(v.host_used, 0);
    for (unsigned d = 0; d < m->gpus; d++) {
        struct m_gpu *g = &m->gpu[d];
        assert_int_equal(v.slot_used[d] + v.jobs[d] + v.copies[d], 0);
        for (int i = 0; i < M_COPIES; i++) {
            if (g->copy[i])
                g->device->ops->stream_close(g->copy[i]);
        }
        if (g->compute)
            g->device->ops->stream_close(g->compute);
        for (unsigned k = 0; k < m->kinds; k++)
            key_close(g, &g->key[k]);
        g->device->ops->free(g->device, g->abc);
        g->device->ops->close(g->device);
    }
    for (unsigned i = 0; i < M_JOBS; i++)
        assert_int_equal(held[i].lease.bytes + held[i].slot.bytes, 0);
    for (unsigned n = 0; n < m->nodes; n++) {
        assert_int_equal(budget_close(m->budget[n]), 0);
        munmap(m->host[n], 4 * GIB);
    }
    assert_int_equal(sim_taken_bytes(m->sim), 0);
    assert_int_equal(sim_handles(m->sim), 0);
    sched_close(m->sched);
    job_queue_close(m->queue);
    assert_int_equal(sim_close(m->sim), 0);
}

/* ---- random ones ---- */

static void topology_random(struct machine *m, uint64_t *r)
{
    m->nodes = 1 + (unsigned)(machine_rnd(r) % M_NODES);
    m->gpus = 1 + (unsigned)(machine_rnd(r) % M_GPUS);
    for (unsigned d = 0; d < m->gpus; d++) { /* GPUs of one uplink are on one node */
        unsigned switches = 1 + m->gpus / 2, sw = (unsigned)(machine_rnd(r) % switches);
        m->uplink[d] = machine_rnd(r) % 3 ? (int)(sw % m->gpus) : WORLD_ALONE;
        m->node[d] = m->uplink[d] < 0 ? (unsigned)(machine_rnd(r) % m->nodes) : sw % m->nodes;
    }
}

void machine_random(struct machine *m, uint64_t *r)
{
    topology_random(m, r);
    uint64_t most = 0, abc = 0;
    uint32_t all = (1u << m->gpus) - 1;
    m->kinds = M_KINDS;
    for (unsigned k = 0; k < M_KINDS; k++) {
        struct m_kind *kind = &m->kind[k];
        unsigned log = 16 + (unsigned)(machine_rnd(r) % 11); /* 2^16 .. 2^26 rows: 2 MiB to 2 GiB of witness */
        kind->domain = (size_t)1 << log;
        kind->n_vars = kind->domain / 2 + machine_rnd(r) % (kind->domain / 2);
        kind->read_ns = machine_rnd(r) % 300 * MS;
        kind->fold_ns = machine_rnd(r) % 300 * MS;
        kind->on = k == 0 || machine_rnd(r) % 2 ? all : 1u << machine_rnd(r) % m->gpus;
        kind->streamed = machine_rnd(r) % 2 ? (uint32_t)machine_rnd(r) : 0;
        most = kind->n_vars * 32 > most ? kind->n_vars * 32 : most;
        abc = kind->domain * 96 > abc ? kind->domain * 96 : abc;
    }
    m->slot_bytes = (2 + machine_rnd(r) % 3) * most;
    m->host_bytes = (2 + machine_rnd(r) % 6) * most;
    m->reserve_bytes = machine_rnd(r) % 2 ? most : 0;
    /* exactly what the keys, the transforms and the slots take: one byte more and the device refuses */
    m->device_bytes = m->slot_bytes + abc;
    for (unsigned k = 0; k < M_KINDS; k++)
        m->device_bytes += m->kind[k].n_vars * (96 + 48) + m->kind[k].domain * (96 + 8 + 24) + 8;
}

uint64_t machine_step_ns(const struct machine *m, unsigned kind)
{
    const struct m_kind *k = &m->kind[kind];
    const struct sim_rates *t = &sim_rates_h200;
    uint64_t g1 = t->msm_ps[CURVE_BLS12_381][GROUP_G1], g2 = t->msm_ps[CURVE_BLS12_381][GROUP_G2];
    uint64_t witness = (k->n_vars * g1 + k->n_vars / 4 * g2) / 1000, over_link = k->n_vars * (96 + 48) * 10 / 554;
    uint64_t quotient = k->domain * g1 / 1000, quotient_link = k->domain * 96 * 10 / 554;
    uint64_t ntt = k->domain * (6 * t->ntt_ps + 3 * t->spmv_ps + t->pointwise_ps) / 1000;
    uint64_t most = witness > quotient ? witness : quotient;
    most = over_link > most ? over_link : most;
    most = quotient_link > most ? quotient_link : most;
    return (ntt > most ? ntt : most) + 4 * t->launch_ns;
}
