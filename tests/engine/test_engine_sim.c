/* Claims: the whole engine, its real threads and real proofs, on two simulated GPUs and virtual time: whatever single
 * operation of a device fails, at once or late, every job still ends with a proof that was verified (elsewhere, or by
 * the host), a wrong MSM is noticed, a lost device is left alone, and nothing of any device stays taken. Other
 * interleavings (seeds) give the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "cuda/sim/sim.h"
#include "engine/engine_internal.h"
#include "perf/clock_virtual.h"
#include "perf/log.h"
#include "tests/slower.h"

#define DATA PENSTOCK_TEST_DATA
enum { JOBS = 6 };

struct outcome {
    int opened, loaded;
    unsigned done, faults, down;
    uint64_t calls[SIM_OP_KINDS], end_ns;
    bool went_off;
};

/* One life of an engine with GPUs simulated over the host device. */
static struct outcome live(unsigned gpus, const struct sim_fault *fault, uint64_t seed)
{
    struct outcome out = {0};
    struct clock_virtual *clock;
    struct sim *sim;
    struct device *dev[2];
    struct pen_engine *e;
    assert_int_equal(clock_virtual_open(&clock, seed), 0);
    assert_int_equal(sim_open(&sim, &(struct sim_opts){.world = {.devices = gpus},
                                                       .clock = clock,
                                                       .inner = "host",
                                                       .inner_opts = &(struct device_opts){.threads = 1}}),
                     0);
    for (unsigned d = 0; d < gpus; d++)
        assert_int_equal(sim_device_open(sim, &dev[d], d, NULL), 0);
    sim_fault(sim, fault);
    assert_int_equal(engine_open_on(&e, &(struct pen_engine_opts){.threads = 1}, dev, gpus), 0);
    out.loaded = pen_circuit_load(e, "p", DATA "/bn128/mult/mult.zkey");
    uint64_t job[JOBS];
    for (int i = 0; i < JOBS && !out.loaded; i++)
        assert_int_equal(pen_submit_file(e, &job[i], "p", DATA "/bn128/mult/mult.wtns", NULL), 0);
    for (int i = 0; i < JOBS && !out.loaded; i++) {
        struct pen_result r;
        assert_int_equal(pen_wait(e, &r, job[i], PEN_FOREVER), 0);
        if (r.state != PEN_DONE)
            fail_msg("op %s at %llu: %s", fault ? sim_op_names[fault->op] : "none",
                     fault ? (unsigned long long)fault->at : 0, r.why);
        out.done++;
        out.faults += (unsigned)r.device_fault;
        pen_result_close(&r);
    }
    struct pen_stats s;
    assert_int_equal(pen_engine_stats(e, &s), 0);
    assert_int_equal(s.input_bytes + s.queue_bytes, 0);
    out.down = s.devices_down;
    out.faults += (unsigned)s.retries;
    pen_engine_close(e);
    out.end_ns = clock_now_ns();
    out.went_off = sim_fault_went_off(sim);
    for (enum sim_op op = 0; op < SIM_OP_KINDS; op++)
        out.calls[op] = sim_calls(sim, op);
    assert_int_equal(sim_taken_bytes(sim), 0);
    assert_int_equal(sim_handles(sim), 0);
    assert_int_equal(sim_close(sim), 0);
    clock_virtual_close(clock);
    return out;
}

static bool at_load(enum sim_op op)
{
    return op == SIM_INFO || op == SIM_BASES_OPEN || op == SIM_MATRIX_OPEN || op == SIM_HOST_REGISTER ||
           op == SIM_HOST_UNREGISTER;
}

static void every_fault(unsigned gpus, bool late, bool lost)
{
    struct outcome plain = live(gpus, NULL, 1);
    assert_int_equal(plain.done, JOBS);
    for (enum sim_op op = 0; op < SIM_OP_KINDS; op++) {
        for (uint64_t k = 1; k <= plain.calls[op]; k++) {
            struct sim_fault f = {.op = op, .device = SIM_ANY_DEVICE, .at = k, .late = late, .lost = lost};
            struct outcome out = live(gpus, &f, 1);
            if (out.loaded) { /* a single device that cannot take the circuit: said when loading */
                assert_int_equal(gpus, 1);
                assert_true(at_load(op) || op == SIM_ALLOC || op == SIM_STREAM_OPEN);
            } else {
                assert_int_equal(out.done, JOBS);
            }
        }
    }
}

/* 4.1.10: a device error failed the job there, and the retry was never written. */
static void fault_device_error_loses_job(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    every_fault(2, false, false);
    every_fault(2, true, false);
    every_fault(1, false, false);
    every_fault(1, true, false);
}

static void test_lost_device(void **state)
{
    (void)state;
    every_fault(2, false, true);
    every_fault(1, false, true);
}

static void test_wrong_results(void **state)
{
    (void)state;
    struct outcome plain = live(2, NULL, 1);
    for (uint64_t k = 1; k <= plain.calls[SIM_MSM]; k++) {
        struct sim_fault f = {.op = SIM_MSM, .device = SIM_ANY_DEVICE, .at = k, .wrong = true};
        struct outcome out = live(2, &f, 1);
        assert_int_equal(out.done, JOBS);
        assert_true(out.went_off);
        assert_int_equal(out.faults, 1); /* noticed by the verification, made good by the host */
    }
}

static void test_interleavings(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rounds(60); seed++) {
        struct outcome a = live(2, NULL, seed), b = live(2, NULL, seed);
        assert_int_equal(a.done, JOBS);
        assert_int_equal(a.end_ns, b.end_ns); /* exact, run after run */
    }
}

/* A key goes where the plan says, its buffers for inputs are taken when it is loaded, and nothing is allocated while
 * proofs run: d_b's first allocation took 700 ms there, and each cudaFree waits for the whole device (4.3.24). */
static void fault_allocation_while_proving(void **state)
{
    (void)state;
    struct clock_virtual *clock;
    struct sim *sim;
    struct device *dev;
    struct pen_engine *e;
    struct pen_circuit_info info;
    assert_int_equal(clock_virtual_open(&clock, 1), 0);
    struct device_opts inner = {.threads = 1};
    assert_int_equal(
        sim_open(&sim,
                 &(struct sim_opts){.world = {.devices = 1}, .clock = clock, .inner = "host", .inner_opts = &inner}),
        0);
    assert_int_equal(sim_device_open(sim, &dev, 0, NULL), 0);
    assert_int_equal(engine_open_on(&e, &(struct pen_engine_opts){.threads = 1}, &dev, 1), 0);
    assert_int_equal(pen_circuit_load(e, "p", DATA "/bn128/mult/mult.zkey"), 0);
    uint64_t allocations = sim_calls(sim, SIM_ALLOC), job[JOBS];
    size_t taken = sim_taken_bytes(sim);
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(pen_submit_file(e, &job[i], "p", DATA "/bn128/mult/mult.wtns", NULL), 0);
    for (int i = 0; i < JOBS; i++) {
        struct pen_result r;
        assert_int_equal(pen_wait(e, &r, job[i], PEN_FOREVER), 0);
        assert_int_equal(r.state, PEN_DONE);
        pen_result_close(&r);
    }
    assert_int_equal(sim_calls(sim, SIM_ALLOC), allocations);
    assert_int_equal(sim_taken_bytes(sim), taken);
    assert_int_equal(pen_circuit_read(e, &info, "p"), 0);
    assert_int_equal(info.devices, 1);
    assert_int_equal(info.proofs, JOBS);
    assert_int_equal(info.streamed_parts, 0);
    assert_true(info.slots >= 2 && info.multiples >= 1 && info.device_bytes > 0);
    assert_true(info.predicted_s > 0 && info.predicted_s >= info.predicted_compute_s);
    assert_true(info.compute_s > 0 && info.copy_s > 0); /* on the virtual clock */
    assert_int_equal(pen_circuit_read(e, &info, "q"), -ENOENT);
    pen_engine_close(e);
    assert_int_equal(sim_taken_bytes(sim), 0);
    assert_int_equal(sim_close(sim), 0);
    clock_virtual_close(clock);
}

static void prove_some(struct pen_engine *e)
{
    uint64_t job[JOBS];
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(pen_submit_file(e, &job[i], "p", DATA "/bn128/mult/mult.wtns", NULL), 0);
    for (int i = 0; i < JOBS; i++) {
        struct pen_result r;
        assert_int_equal(pen_wait(e, &r, job[i], PEN_FOREVER), 0);
        assert_int_equal(r.state, PEN_DONE);
        pen_result_close(&r);
    }
}

/* A device that said -ENODEV once is tried again after a second and works on; one that stays lost is left alone, tried
 * at growing distances. Nobody loses a job. */
static void revive(bool lost)
{
    struct clock_virtual *clock;
    struct sim *sim;
    struct device *dev[2];
    struct pen_engine *e;
    struct pen_stats s;
    struct device_opts inner = {.threads = 1};
    assert_int_equal(clock_virtual_open(&clock, 1), 0);
    assert_int_equal(
        sim_open(&sim,
                 &(struct sim_opts){.world = {.devices = 2}, .clock = clock, .inner = "host", .inner_opts = &inner}),
        0);
    for (unsigned d = 0; d < 2; d++)
        assert_int_equal(sim_device_open(sim, &dev[d], d, NULL), 0);
    assert_int_equal(engine_open_on(&e, &(struct pen_engine_opts){.threads = 1}, dev, 2), 0);
    assert_int_equal(pen_circuit_load(e, "p", DATA "/bn128/mult/mult.zkey"), 0);
    sim_fault(sim, &(struct sim_fault){.op = SIM_MSM, .device = 0, .at = 1, .rc = -ENODEV, .lost = lost});
    prove_some(e);
    assert_true(sim_fault_went_off(sim));
    assert_int_equal(pen_engine_stats(e, &s), 0);
    assert_int_equal(s.devices_down, 1);
    uint64_t tries = sim_calls(sim, SIM_ALLOC);
    clock_sleep(100000000000u); /* 1, 2, 4, 8, 16, 32 s and once more after 60 */
    assert_int_equal(pen_engine_stats(e, &s), 0);
    assert_int_equal(s.devices_down, lost);
    assert_int_equal(s.devices_revived, !lost);
    assert_int_equal(sim_calls(sim, SIM_ALLOC) - tries, lost ? 6 : 1);
    uint64_t before = s.done;
    prove_some(e);
    assert_int_equal(pen_engine_stats(e, &s), 0);
    assert_int_equal(s.done - before, JOBS);
    pen_engine_close(e);
    assert_int_equal(sim_taken_bytes(sim), 0);
    assert_int_equal(sim_handles(sim), 0);
    assert_int_equal(sim_close(sim), 0);
    clock_virtual_close(clock);
}

static void test_device_comes_back(void **state)
{
    (void)state;
    revive(false);
    revive(true);
}

/* Too little device memory is said with both figures before anything is taken. */
static void test_device_too_small(void **state)
{
    (void)state;
    struct clock_virtual *clock;
    struct sim *sim;
    struct device *dev;
    struct pen_engine *e;
    assert_int_equal(clock_virtual_open(&clock, 1), 0);
    assert_int_equal(sim_open(&sim, &(struct sim_opts){.world = {.devices = 1}, .clock = clock, .memory_bytes = 300}),
                     0);
    assert_int_equal(sim_device_open(sim, &dev, 0, NULL), 0);
    assert_int_equal(engine_open_on(&e, &(struct pen_engine_opts){.threads = 1}, &dev, 1), 0);
    assert_int_equal(pen_circuit_load(e, "p", DATA "/bn128/mult/mult.zkey"), -ENOMEM);
    assert_non_null(strstr(pen_last_error(), "300 B free"));
    assert_int_equal(sim_taken_bytes(sim), 0);
    pen_engine_close(e);
    assert_int_equal(sim_close(sim), 0);
    clock_virtual_close(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fault_device_error_loses_job),
                                       cmocka_unit_test(test_lost_device),
                                       cmocka_unit_test(test_wrong_results),
                                       cmocka_unit_test(test_interleavings),
                                       cmocka_unit_test(fault_allocation_while_proving),
                                       cmocka_unit_test(test_device_comes_back),
                                       cmocka_unit_test(test_device_too_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
