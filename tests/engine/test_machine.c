/* Claims, exact and on virtual time, for 200 random machines (1 to 8 GPUs on 1 to 4 nodes, shared uplinks, resident and
 * streamed keys, device memory that fits to the byte) and random mixes of jobs:
 *   - every job ends, done; nothing deadlocks; sums agree after every event;
 *   - links are >= 95 % used while a witness copy is due, streamed bases counted;
 *   - the compute lane never idles while a job's input is there, but for jobs that must not share a circuit's buffers;
 *   - a critical job begins within a bound, a low one among a flood of high ones too;
 *   - in the end leases, budgets, device memory and handles are back: also after a cancel at every event, and after a
 *     fault of every single call of every operation, at once, late, or with the device lost.
 * PENSTOCK_SEED=n runs machine n alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "perf/log.h"

enum { MACHINES = 200 };

static struct machine *machine_new(void)
{
    struct machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    return m;
}

static unsigned links_judged, lanes_judged;
static uint64_t judged; /* the machine's seed */

static void expect_links_full(const struct machine *m)
{
    for (int i = 0; i < 2 * M_GPUS; i++) {
        links_judged += m->due_ns[i] > 50 * MS;
        if (m->due_ns[i] > 50 * MS && (double)m->moved[i] < 0.95 * 55.4 * (double)m->due_ns[i])
            fail_msg("seed %llu: link %d moved %.1f GB/s while copies were due for %.3f s", (unsigned long long)judged,
                     i, (double)m->moved[i] / (double)m->due_ns[i], (double)m->due_ns[i] * 1e-9);
    }
}

static void run_seed(uint64_t seed)
{
    judged = seed;
    uint64_t r = seed * 0x9e3779b97f4a7c15u;
    struct machine *m = machine_new();
    machine_random(m, &r);
    assert_true(machine_open(m));
    m->jobs = 20 + (unsigned)(machine_rnd(&r) % (M_JOBS - 20));
    uint64_t at = 0;
    for (unsigned i = 0; i < m->jobs; i++) {
        at += machine_rnd(&r) % 3 ? 0 : machine_rnd(&r) % (200 * MS);
        m->item[i] = (struct m_item){.at_ns = at,
                                     .class = (enum job_class)(machine_rnd(&r) % JOB_CLASSES),
                                     .kind = (unsigned)(machine_rnd(&r) % m->kinds)};
    }
    machine_run(m);
    assert_false(m->faulted);
    for (unsigned i = 0; i < m->jobs; i++)
        assert_int_equal(m->item[i].ended, JOB_DONE);
    expect_links_full(m);
    for (unsigned d = 0; d < m->gpus; d++) {
        assert_int_equal(m->gpu[d].idle_ns, 0);
        lanes_judged += m->gpu[d].busy_ns > 50 * MS;
    }
    machine_close(m);
    free(m);
}

static void test_random_machines(void **state)
{
    (void)state;
    const char *only = getenv("PENSTOCK_SEED");
    for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        if (only && strtoull(only, NULL, 10) != seed)
            continue;
        if (seed % 20 == 1 || only)
            fprintf(stderr, "seeds %llu..\n", (unsigned long long)seed);
        run_seed(seed);
    }
    if (!only) /* the claims met something */
        assert_true(links_judged > MACHINES && lanes_judged > 2 * MACHINES);
}

/* Kind 2 becomes small and critical, kinds 0 and 1 big and low; kind 3 is not used. */
static void flood(struct machine *m, uint64_t seed)
{
    uint64_t r = seed * 0x9e3779b97f4a7c15u;
    machine_random(m, &r);
    m->kind[2] = (struct m_kind){.n_vars = 300000, .domain = 1 << 19, .read_ns = 2 * MS, .fold_ns = 10 * MS};
    for (unsigned k = 0; k < M_KINDS; k++) {
        m->kind[k].on = (1u << m->gpus) - 1;
        m->device_bytes += (size_t)1 << 29; /* the small kind may be larger than the one it replaces */
    }
    m->reserve_bytes = 16 * MIB;
    m->slot_bytes += 16 * MIB;
    m->host_bytes += 16 * MIB;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* It waits for one read, for the chunks that are queued before its own on the links of its uplink, and for one step of
 * another job, which its link may slow down. */
static void test_critical_wait(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct machine *m = machine_new();
        flood(m, seed);
        assert_true(machine_open(m));
        m->jobs = 128;
        for (unsigned i = 0; i < m->jobs; i++)
            m->item[i] = (struct m_item){.at_ns = i / 16 * 1500 * MS,
                                         .class = i % 16 == 15 ? CLASS_CRITICAL : CLASS_LOW,
                                         .kind = i % 16 == 15 ? 2 : i % 2};
        machine_run(m);
        uint64_t chunk_ns = 64 * MIB * m->gpus / 55 + 10000;
        uint64_t step_ns = max_of(machine_step_ns(m, 0), machine_step_ns(m, 1));
        uint64_t bound = max_of(m->kind[0].read_ns, m->kind[1].read_ns) + 2 * MS + (2 * M_COPIES + 1) * chunk_ns +
                         3 * m->gpus * step_ns;
        for (unsigned i = 15; i < m->jobs; i += 16) {
            uint64_t waited = m->item[i].begin_ns - m->item[i].at_ns;
            if (waited > bound)
                fail_msg("seed %llu: a critical job waited %.3f s, the bound is %.3f s", (unsigned long long)seed,
                         (double)waited * 1e-9, (double)bound * 1e-9);
        }
        machine_close(m);
        free(m);
    }
}

/* High jobs come faster than they can be done, for as long as it takes; a few low ones came with the first. */
static void test_no_starvation(void **state)
{
    (void)state;
    unsigned floods = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct machine *m = machine_new();
        flood(m, seed);
        m->age_ns = 500 * MS;
        assert_true(machine_open(m));
        m->jobs = M_JOBS;
        for (unsigned i = 0; i < m->jobs; i++)
            m->item[i] = (struct m_item){
                .at_ns = i * MS, .class = i % 10 == 9 && i < 50 ? CLASS_LOW : CLASS_HIGH, .kind = i % 2};
        machine_run(m);
        uint64_t last_low = 0, last = 0;
        for (unsigned i = 0; i < m->jobs; i++) {
            assert_int_equal(m->item[i].ended, JOB_DONE);
            uint64_t *of = m->item[i].class == CLASS_LOW ? &last_low : &last;
            *of = max_of(*of, m->item[i].end_ns);
        }
        if (last > 10000 * MS) { /* a real flood; the low ones count as high after 1 s: they go with the first half */
            floods++;
            assert_true(last_low < last / 2);
        }
        machine_close(m);
        free(m);
    }
    assert_true(floods >= 5);
}

/* PoRep-32G: 4.17 GB of witness, 130 M rows, key resident; one to eight GPUs, two on each uplink. */
static void test_porep_keeps_compute_busy(void **state)
{
    (void)state;
    for (unsigned gpus = 1; gpus <= M_GPUS; gpus++) {
        struct machine *m = machine_new();
        *m = (struct machine){.gpus = gpus, .nodes = 1 + gpus / 5, .kinds = 1, .host_bytes = 64 * GIB};
        for (unsigned d = 0; d < gpus; d++) {
            m->uplink[d] = (int)(d / 2);
            m->node[d] = d / 4 % m->nodes;
        }
        m->kind[0] = (struct m_kind){.n_vars = 130170221 - 4000000, /* the host range is 4 GiB */
                                     .domain = 1 << 27,
                                     .read_ns = 200 * MS,
                                     .fold_ns = 150 * MS,
                                     .on = (1u << gpus) - 1};
        m->slot_bytes = 9 * GIB;
        assert_true(machine_open(m));
        m->jobs = gpus * 12;
        for (unsigned i = 0; i < m->jobs; i++)
            m->item[i].class = CLASS_NORMAL;
        machine_run(m);
        expect_links_full(m);
        for (unsigned d = 0; d < gpus; d++)
            assert_true((double)m->gpu[d].busy_ns >= 0.98 * (double)(m->gpu[d].busy_to - m->gpu[d].busy_from));
        machine_close(m);
        free(m);
    }
}

/* Two GPUs on two nodes, one kind resident, one streamed, one mixed. */
static struct machine *small(const struct sim_fault *fault, uint64_t cancel_at)
{
    struct machine *m = machine_new();
    *m = (struct machine){.gpus = 2,
                          .nodes = 2,
                          .kinds = 3,
                          .uplink = {0, 0},
                          .node = {0, 1},
                          .slot_bytes = 400 * MIB,
                          .host_bytes = 400 * MIB,
                          .cancel_at = cancel_at,
                          .cancel_id = 3,
                          .jobs = 8};
    if (fault)
        m->fault = *fault;
    for (unsigned k = 0; k < m->kinds; k++)
        m->kind[k] = (struct m_kind){.n_vars = 4000000,
                                     .domain = 1 << 22,
                                     .read_ns = 5 * MS,
                                     .fold_ns = 7 * MS,
                                     .on = 3,
                                     .streamed = k == 0   ? 0
                                                 : k == 1 ? 3
                                                          : 1};
    for (unsigned i = 0; i < m->jobs; i++)
        m->item[i] = (struct m_item){.class = i == 5 ? CLASS_CRITICAL : CLASS_NORMAL, .kind = i % 3};
    return m;
}

static void test_every_cancel_point(void **state)
{
    (void)state;
    struct machine *m = small(NULL, 0);
    assert_true(machine_open(m));
    machine_run(m);
    uint64_t events = m->events, early = 0;
    machine_close(m);
    free(m);
    for (uint64_t k = 1; k <= events; k++) {
        m = small(NULL, k);
        assert_true(machine_open(m));
        machine_run(m);
        for (unsigned i = 0; i < m->jobs; i++)
            assert_int_equal(m->item[i].ended, i == 2 && m->item[2].ended == JOB_CANCELLED ? JOB_CANCELLED : JOB_DONE);
        early += m->item[2].ended == JOB_CANCELLED;
        machine_close(m);
        free(m);
    }
    assert_true(early > 10 && early < events);
}

/* Every call that this machine makes, loading included, fails once. A device fault costs time, never a job, as long as
 * the other device can do it; whatever failed, everything is given back. */
static void every_fault(bool late, bool lost)
{
    struct machine *m = small(NULL, 0);
    uint64_t calls[SIM_OP_KINDS];
    assert_true(machine_open(m));
    machine_run(m);
    for (enum sim_op op = 0; op < SIM_OP_KINDS; op++)
        calls[op] = sim_calls(m->sim, op);
    machine_close(m);
    free(m);
    for (enum sim_op op = 0; op < SIM_OP_KINDS; op++) {
        for (uint64_t at = 1; at <= calls[op]; at++) {
            m = small(&(struct sim_fault){.op = op, .device = SIM_ANY_DEVICE, .at = at, .late = late, .lost = lost}, 0);
            assert_true(machine_open(m)); /* at least one device takes each kind */
            machine_run(m);
            for (unsigned i = 0; i < m->jobs; i++) {
                if (m->item[i].ended != JOB_DONE)
                    fail_msg("%s, call %llu: job %u: %s", sim_op_names[op], (unsigned long long)at, i + 1,
                             m->item[i].job->why);
            }
            assert_true(sim_fault_went_off(m->sim));
            machine_close(m);
            free(m);
        }
    }
}

static void test_every_fault(void **state)
{
    (void)state;
    every_fault(false, false);
    every_fault(true, false);
    every_fault(false, true);
    every_fault(true, true);
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_machines),    cmocka_unit_test(test_critical_wait),
        cmocka_unit_test(test_no_starvation),      cmocka_unit_test(test_porep_keeps_compute_busy),
        cmocka_unit_test(test_every_cancel_point), cmocka_unit_test(test_every_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
