/* Claims, on the simulated machine (exact, no thread): over random topologies of 1 to 8 GPUs with shared uplinks and
 * random mixes of jobs, faults and cancels nothing deadlocks, every job ends, every sum agrees after every event and is
 * zero at the end; links are >= 95 % used while copies are due; a critical job begins within a bound; the compute lane
 * is
 * >= 98 % busy where compute bounds; a cancel at every event and a fault of every action leave the others right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/world.h"
#include "engine/sched.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "tests/slower.h"

enum { GPUS = 8, KINDS = 3, STEPS = 3, JOBS = 128 };
#define MS  UINT64_C(1000000)
#define MIB ((uint64_t)1 << 20)

static uint64_t rnd(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

struct kind {
    uint64_t bytes, read_ns, step_ns, fold_ns;
};

struct item {
    struct job *job;
    uint64_t at_ns, critical_begin_ns;
    enum job_class class;
    unsigned kind;
    enum job_state ended;
};

struct bench {
    struct world *w;
    struct job_queue *q;
    struct sched *s;
    unsigned gpus;
    int uplink[GPUS];
    struct kind kind[KINDS];
    struct item item[JOBS];
    unsigned jobs, over;
    uint64_t due_ns[2 * GPUS], busy_from[GPUS], busy_to[GPUS]; /* due: by uplink, or GPUS + device */
    uint64_t last_ns, actions, fail_at, events, cancel_at, cancel_id;
    int fail_rc;
    enum lane failed_lane;
    uint64_t fault_seed; /* 0: none */
    uint64_t released;
};

struct running {
    struct bench *b;
    struct action a;
};

static void pump(struct bench *b);

static void changed(void *ctx, struct job *j, enum job_state to)
{
    struct bench *b = ctx;
    struct item *it = j->owner;
    if (to < JOB_STATES && job_over(to)) {
        it->ended = to;
        b->over++;
    }
}

static void released(void *ctx, struct job *j, bool host, bool slot)
{
    (void)j;
    ((struct bench *)ctx)->released += host + slot;
}

static int action_rc(struct bench *b, const struct action *a)
{
    if (++b->actions == b->fail_at) {
        b->failed_lane = a->lane;
        return err_fail(b->fail_rc, "action %llu fails", (unsigned long long)b->fail_at);
    }
    if (!b->fault_seed || rnd(&b->fault_seed) % 40)
        return 0;
    static const int rcs[LANES][2] = {{-EIO, -EBADMSG}, {-EIO, -ENOMEM}, {-EIO, -EINVAL}, {-EREMOTEIO, -EBADMSG}};
    return err_fail(rcs[a->lane][rnd(&b->fault_seed) % 2], "random fault");
}

static void action_end(void *ctx)
{
    struct running *r = ctx;
    struct bench *b = r->b;
    if (r->a.lane == LANE_COMPUTE)
        b->busy_to[r->a.device] = world_now_ns(b->w);
    sched_done(b->s, &r->a, action_rc(b, &r->a), world_now_ns(b->w));
    free(r);
    pump(b);
}

static void action_begin(struct bench *b, const struct action *a)
{
    struct item *it = a->job->owner;
    const struct kind *k = &b->kind[it->kind];
    struct running *r = malloc(sizeof *r);
    assert_non_null(r);
    *r = (struct running){b, *a};
    if (a->lane == LANE_COPY) {
        world_copy(b->w, a->device, WORLD_H2D, a->bytes, 0, action_end, r);
    } else if (a->lane == LANE_COMPUTE) {
        if (a->step == 0 && !it->critical_begin_ns)
            it->critical_begin_ns = world_now_ns(b->w);
        if (!b->busy_from[a->device])
            b->busy_from[a->device] = world_now_ns(b->w);
        world_compute(b->w, a->device, k->step_ns, action_end, r);
    } else {
        world_after(b->w, a->lane == LANE_READ ? k->read_ns : k->fold_ns, action_end, r);
    }
}

/* Everything that can begin now begins. */
static void pump(struct bench *b)
{
    struct action a;
    uint64_t now = world_now_ns(b->w);
    if (++b->events == b->cancel_at) {
        (void)job_queue_cancel(b->q, b->cancel_id, true, now);
        sched_reap(b->s, now);
    }
    for (bool some = true; some;) {
        some = false;
        for (unsigned d = 0; d < b->gpus; d++) {
            for (enum lane l = 0; l < LANES; l++) {
                while (sched_next(b->s, d, l, now, &a)) {
                    action_begin(b, &a);
                    some = true;
                }
            }
        }
    }
    const char *wrong = sched_check(b->s);
    if (wrong)
        fail_msg("sums do not agree: %s", wrong);
}

static void submit_item(struct bench *b, struct item *it)
{
    struct job_spec spec = {.class = it->class, .circuit = it->kind, .bytes = b->kind[it->kind].bytes, .owner = it};
    assert_int_equal(job_queue_submit(b->q, &it->job, NULL, &spec, world_now_ns(b->w)), 0);
}

/* How long each group of devices had a copy due; nothing changes between two events. */
static void account(struct bench *b, uint64_t next_ns)
{
    bool due[2 * GPUS] = {false};
    for (unsigned d = 0; d < b->gpus; d++)
        due[b->uplink[d] < 0 ? GPUS + d : (unsigned)b->uplink[d]] |= sched_copy_due(b->s, d);
    for (int i = 0; i < 2 * GPUS; i++)
        b->due_ns[i] += due[i] ? next_ns - b->last_ns : 0;
    b->last_ns = next_ns;
}

static void bench_open(struct bench *b, struct sched_opts opts)
{
    struct sched_device dev[GPUS];
    assert_int_equal(world_open(&b->w, &(struct world_opts){.devices = b->gpus, .uplink = b->uplink}), 0);
    assert_int_equal(
        job_queue_open(&b->q, &(struct job_queue_opts){.max_jobs = 4 * JOBS, .changed = changed, .ctx = b}), 0);
    for (unsigned d = 0; d < b->gpus; d++)
        dev[d] = (struct sched_device){.uplink = b->uplink[d], .slot_bytes = opts.device ? opts.device->slot_bytes : 0};
    opts.device = dev;
    opts.devices = b->gpus;
    opts.release = released;
    opts.ctx = b;
    assert_int_equal(sched_open(&b->s, b->q, &opts), 0);
}

/* Submit in order of time, run all events, and see that nothing is left. */
static void bench_run(struct bench *b)
{
    unsigned next = 0;
    for (;;) {
        while (next < b->jobs && b->item[next].at_ns <= world_now_ns(b->w))
            submit_item(b, &b->item[next++]);
        pump(b);
        uint64_t t = world_next_ns(b->w);
        if (next < b->jobs && b->item[next].at_ns < t)
            t = b->item[next].at_ns;
        if (t == WORLD_NEVER)
            break;
        account(b, t);
        world_run(b->w, t);
    }
    struct sched_view v;
    struct job_queue_view qv;
    sched_read(b->s, &v);
    job_queue_read(b->q, &qv);
    assert_int_equal(b->over, b->jobs); /* no deadlock, no starvation */
    assert_true(job_queue_empty(b->q));
    assert_int_equal(v.host_used, 0);
    assert_int_equal(qv.bytes, 0);
    for (unsigned d = 0; d < b->gpus; d++)
        assert_int_equal(v.slot_used[d] + v.jobs[d] + v.copies[d], 0);
}

static void bench_close(struct bench *b)
{
    sched_close(b->s);
    job_queue_close(b->q);
    world_close(b->w);
    free(b);
}

static void expect_links_full(const struct bench *b)
{
    for (int i = 0; i < 2 * GPUS; i++) {
        uint64_t bytes = 0;
        for (unsigned d = 0; d < b->gpus; d++) {
            struct world_load load;
            world_read(b->w, d, WORLD_H2D, &load);
            bytes += (b->uplink[d] < 0 ? GPUS + (int)d : b->uplink[d]) == i ? load.bytes : 0;
        }
        if (b->due_ns[i] > 0)
            assert_true((double)bytes >= 0.95 * 55.4 * (double)b->due_ns[i]);
    }
}

static void topology_random(struct bench *b, uint64_t *r)
{
    b->gpus = 1 + (unsigned)(rnd(r) % GPUS);
    for (unsigned d = 0; d < b->gpus; d++)
        b->uplink[d] = rnd(r) % 3 ? (int)(rnd(r) % (b->gpus + 1) / 2) : WORLD_ALONE;
    for (unsigned k = 0; k < KINDS; k++)
        b->kind[k] =
            (struct kind){(8 + rnd(r) % 2000) * MIB, rnd(r) % 300 * MS, (1 + rnd(r) % 200) * MS, rnd(r) % 300 * MS};
}

static void circuits_random(struct bench *b, uint64_t *r)
{
    uint32_t all = (1u << b->gpus) - 1;
    for (unsigned k = 0; k < KINDS; k++) {
        uint32_t on = k == 0 ? all : (uint32_t)rnd(r) & all;
        assert_int_equal(sched_circuit(b->s, k, STEPS, on ? on : 1), 0);
    }
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rounds(200); seed++) {
        uint64_t r = seed * 0x9e3779b97f4a7c15u;
        struct bench *b = calloc(1, sizeof *b);
        assert_non_null(b);
        topology_random(b, &r);
        bool rough = seed % 2; /* with faults and a cancel */
        uint64_t most = 2008 * MIB;
        bench_open(b, (struct sched_opts){.device = &(struct sched_device){.slot_bytes = (2 + rnd(&r) % 3) * most},
                                          .host_bytes = (2 + rnd(&r) % (2 * b->gpus)) * most,
                                          .reserve_bytes = rnd(&r) % 2 ? most : 0,
                                          .max_faults = 1000});
        circuits_random(b, &r);
        b->jobs = 20 + (unsigned)(rnd(&r) % 100);
        uint64_t at = 0;
        for (unsigned i = 0; i < b->jobs; i++) {
            at += rnd(&r) % 3 ? 0 : rnd(&r) % (200 * MS);
            b->item[i] = (struct item){
                .at_ns = at, .class = (enum job_class)(rnd(&r) % JOB_CLASSES), .kind = (unsigned)(rnd(&r) % KINDS)};
        }
        if (rough) {
            b->fault_seed = rnd(&r);
            b->cancel_at = 1 + rnd(&r) % 500;
            b->cancel_id = 1 + rnd(&r) % b->jobs;
        }
        bench_run(b);
        if (!rough) {
            expect_links_full(b);
            for (unsigned i = 0; i < b->jobs; i++)
                assert_int_equal(b->item[i].ended, JOB_DONE);
            assert_int_equal(b->released, 2 * b->jobs);
        }
        bench_close(b);
    }
}

/* A flood of big low jobs; now and then one small critical job. It waits for one read, two chunks, one step. */
static void test_critical_bounded(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rounds(60); seed++) {
        uint64_t r = seed * 0x9e3779b97f4a7c15u;
        struct bench *b = calloc(1, sizeof *b);
        assert_non_null(b);
        topology_random(b, &r);
        b->kind[1] = b->kind[0];
        b->kind[2] = (struct kind){12 * MIB, 2 * MS, 5 * MS, 10 * MS};
        bench_open(b,
                   (struct sched_opts){.device = &(struct sched_device){.slot_bytes = 2 * b->kind[0].bytes + 16 * MIB},
                                       .host_bytes = 3 * b->kind[0].bytes + 16 * MIB,
                                       .reserve_bytes = 16 * MIB});
        for (unsigned k = 0; k < KINDS; k++)
            assert_int_equal(sched_circuit(b->s, k, STEPS, (1u << b->gpus) - 1), 0);
        b->jobs = JOBS;
        for (unsigned i = 0; i < JOBS; i++)
            b->item[i] = (struct item){.at_ns = i / 16 * 1500 * MS,
                                       .class = i % 16 == 15 ? CLASS_CRITICAL : CLASS_LOW,
                                       .kind = i % 16 == 15 ? 2 : i % 2};
        bench_run(b);
        uint64_t chunk_ns = 64 * MIB * b->gpus / 55 + 10000; /* every device of an uplink may be ahead by one */
        uint64_t bound = b->kind[0].read_ns + 2 * MS + 3 * chunk_ns + 12 * MIB * b->gpus / 55 + b->kind[0].step_ns;
        for (unsigned i = 15; i < JOBS; i += 16)
            assert_in_range(b->item[i].critical_begin_ns - b->item[i].at_ns, 0, bound);
        bench_close(b);
    }
}

/* PoRep-32G shapes: 4.17 GB over the link, 600 ms of kernels. From one GPU to eight, two of them on each uplink. */
static void test_compute_lane_full(void **state)
{
    (void)state;
    for (unsigned gpus = 1; gpus <= GPUS; gpus++) {
        struct bench *b = calloc(1, sizeof *b);
        assert_non_null(b);
        b->gpus = gpus;
        for (unsigned d = 0; d < gpus; d++)
            b->uplink[d] = (int)(d / 2);
        b->kind[0] = (struct kind){4165436576u, 200 * MS, 200 * MS, 150 * MS};
        bench_open(b, (struct sched_opts){.device = &(struct sched_device){.slot_bytes = 9000000000u}});
        assert_int_equal(sched_circuit(b->s, 0, STEPS, (1u << gpus) - 1), 0);
        b->jobs = gpus * 12;
        for (unsigned i = 0; i < b->jobs; i++)
            b->item[i].class = CLASS_NORMAL;
        bench_run(b);
        expect_links_full(b);
        for (unsigned d = 0; d < gpus; d++) {
            struct world_load load;
            world_read(b->w, d, WORLD_COMPUTE, &load);
            assert_int_equal(load.done, 12 * STEPS); /* evenly spread */
            assert_true((double)load.busy_ns >= 0.98 * (double)(b->busy_to[d] - b->busy_from[d]));
        }
        bench_close(b);
    }
}

static struct bench *small_run(uint64_t cancel_at, uint64_t fail_at, int fail_rc)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->gpus = 2;
    b->cancel_at = cancel_at;
    b->cancel_id = 3;
    b->fail_at = fail_at;
    b->fail_rc = fail_rc;
    for (unsigned k = 0; k < KINDS; k++)
        b->kind[k] = (struct kind){150 * MIB, 5 * MS, (k + 1) * 10 * MS, 7 * MS};
    bench_open(b,
               (struct sched_opts){.device = &(struct sched_device){.slot_bytes = 400 * MIB}, .host_bytes = 400 * MIB});
    for (unsigned k = 0; k < KINDS; k++)
        assert_int_equal(sched_circuit(b->s, k, STEPS, 3), 0);
    b->jobs = 8;
    for (unsigned i = 0; i < b->jobs; i++)
        b->item[i] = (struct item){.class = i == 5 ? CLASS_CRITICAL : CLASS_NORMAL, .kind = i % KINDS};
    bench_run(b);
    return b;
}

static void test_every_cancel_point(void **state)
{
    (void)state;
    struct bench *b = small_run(0, 0, 0);
    uint64_t events = b->events, cancelled = 0;
    bench_close(b);
    for (uint64_t k = 1; k <= events; k++) {
        b = small_run(k, 0, 0);
        for (unsigned i = 0; i < b->jobs; i++) {
            if (i == 2) /* job 3 */
                assert_true(b->item[i].ended == JOB_CANCELLED || b->item[i].ended == JOB_DONE);
            else
                assert_int_equal(b->item[i].ended, JOB_DONE);
        }
        cancelled += b->item[2].ended == JOB_CANCELLED;
        bench_close(b);
    }
    assert_true(cancelled > 20 && cancelled < events); /* early and late ones were both met */
}

/* A device fault of any copy, step or fold costs time, no job; a failed read costs that job alone. 4.1.10. */
static void fault_cuda_error_fails_job(void **state)
{
    (void)state;
    struct bench *b = small_run(0, 0, 0);
    uint64_t actions = b->actions;
    bench_close(b);
    static const int rcs[] = {-EIO, -ENOMEM, -ENODEV, -EREMOTEIO, -EBADMSG};
    for (size_t c = 0; c < sizeof rcs / sizeof *rcs; c++) {
        for (uint64_t k = 1; k <= actions; k++) {
            b = small_run(0, k, rcs[c]);
            unsigned failed = 0;
            for (unsigned i = 0; i < b->jobs; i++)
                failed += b->item[i].ended == JOB_FAILED;
            bool device = b->failed_lane == LANE_FOLD   ? rcs[c] == -EREMOTEIO
                          : b->failed_lane == LANE_READ ? false
                                                        : rcs[c] != -EBADMSG && rcs[c] != -EREMOTEIO;
            struct sched_view v;
            sched_read(b->s, &v);
            assert_int_equal(failed, device ? 0 : 1);
            assert_true(v.retries >= device);
            assert_int_equal(sched_device_down(b->s, 0) + sched_device_down(b->s, 1), device && rcs[c] == -ENODEV);
            bench_close(b);
        }
    }
}

/* The only device is lost: what waits fails with a sentence instead of waiting for ever (4.4.30). */
static void fault_waits_forever(void **state)
{
    (void)state;
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->gpus = 1;
    b->uplink[0] = WORLD_ALONE;
    b->kind[0] = (struct kind){MIB, MS, MS, MS};
    b->fail_at = 4;
    b->fail_rc = -ENODEV;
    bench_open(b, (struct sched_opts){0});
    assert_int_equal(sched_circuit(b->s, 0, STEPS, 1), 0);
    b->jobs = 10;
    for (unsigned i = 0; i < b->jobs; i++)
        b->item[i].class = CLASS_NORMAL;
    bench_run(b);
    assert_true(sched_device_down(b->s, 0));
    for (unsigned i = 1; i < b->jobs; i++) {
        assert_int_equal(b->item[i].ended, JOB_FAILED);
        assert_true(strlen(b->item[i].job->why) > 0);
    }
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_critical_bounded),
        cmocka_unit_test(test_compute_lane_full),
        cmocka_unit_test(test_every_cancel_point),
        cmocka_unit_test(fault_cuda_error_fails_job),
        cmocka_unit_test(fault_waits_forever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
