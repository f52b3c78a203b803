/* Claims: a simulated device keeps the contract of device.h on virtual time: streams beside each other, events, memory
 * counted to the byte, registration rules and the process lock, slow pageable copies; every operation can be made to
 * fail at its k-th call, at once or late, and a lost device stays lost; with an inner device results are real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "cuda/sim/sim.h"
#include "perf/clock_virtual.h"

enum { MIB = 1 << 20 };
static char *const host =
    (char *)(uintptr_t)0x100000000u; /* an address only: nothing is read without an inner device */
static struct sim *sim;
static struct device *dev;

static void begin(struct sim_opts opts)
{
    opts.world.devices = 1;
    assert_int_equal(sim_open(&sim, &opts), 0);
    assert_int_equal(sim_device_open(sim, &dev, 0, NULL), 0);
}

static void end(void)
{
    assert_int_equal(sim_close(sim), -EBUSY);
    dev->ops->close(dev);
    assert_int_equal(sim_taken_bytes(sim), 0);
    assert_int_equal(sim_handles(sim), 0);
    assert_int_equal(sim_close(sim), 0);
}

static uint64_t now(void)
{
    return world_now_ns(sim_world(sim));
}

static void test_streams_overlap(void **state)
{
    (void)state;
    begin((struct sim_opts){0});
    struct stream *copy, *compute;
    struct event *copied;
    struct dbuf buf;
    assert_int_equal(dev->ops->host_register(dev, host, 1024 * (size_t)MIB), 0);
    assert_int_equal(now(), 20000000); /* 1 GiB */
    assert_int_equal(dev->ops->alloc(dev, &buf, 64 * MIB), 0);
    assert_int_equal(dev->ops->stream_open(dev, &copy, NULL), 0);
    assert_int_equal(dev->ops->stream_open(dev, &compute, NULL), 0);
    assert_int_equal(dev->ops->event_open(dev, &copied), 0);
    struct pointwise_args mul = {.n = 1000000};
    assert_int_equal(dev->ops->copy_h2d(copy, buf, host, 64 * MIB), 0);
    assert_int_equal(dev->ops->event_record(copy, copied), 0);
    assert_int_equal(dev->ops->pointwise(compute, &mul), 0); /* beside the copy */
    assert_int_equal(dev->ops->event_wait(compute, copied), 0);
    assert_int_equal(dev->ops->pointwise(compute, &mul), 0); /* behind it */
    assert_int_equal(now(), 20000000);
    assert_int_equal(dev->ops->stream_sync(compute), 0);
    uint64_t copy_ns = 2800 + (64ull * MIB * 1000000000u + 55399999999u) / 55400000000u;
    assert_int_equal(now() - 20000000, copy_ns + 5000 + 30000);
    dev->ops->event_close(copied);
    dev->ops->stream_close(copy);
    dev->ops->stream_close(compute);
    dev->ops->free(dev, buf);
    end();
}

static void test_memory_limit(void **state)
{
    (void)state;
    begin((struct sim_opts){.memory_bytes = 1000});
    struct dbuf a, b = {7, 7};
    assert_int_equal(dev->ops->alloc(dev, &a, 600), 0);
    assert_int_equal(dev->ops->alloc(dev, &b, 401), -ENOMEM);
    assert_int_equal(b.addr, 7);
    assert_int_equal(dev->ops->alloc(dev, &b, 400), 0);
    assert_true(b.addr >= a.addr + 600);
    dev->ops->free(dev, a);
    dev->ops->free(dev, b);
    end();
}

static void test_registration(void **state)
{
    (void)state;
    begin((struct sim_opts){.register_max_bytes = 64 * MIB});
    struct stream *s;
    struct dbuf buf;
    assert_int_equal(dev->ops->stream_open(dev, &s, NULL), 0);
    assert_int_equal(dev->ops->alloc(dev, &buf, 64 * MIB), 0);
    assert_int_equal(dev->ops->host_register(dev, host, 65 * MIB), -ENOMEM);
    assert_int_equal(dev->ops->host_register(dev, host, 16 * MIB), 0);
    assert_int_equal(dev->ops->host_register(dev, host + 8 * MIB, 16 * MIB), -EINVAL);
    assert_int_equal(dev->ops->host_register(dev, host + 16 * MIB, 16 * MIB), 0);
    assert_int_equal(dev->ops->copy_h2d(s, buf, host + 8 * MIB, 16 * MIB), -EINVAL); /* across the seam */
    assert_int_equal(dev->ops->host_unregister(dev, host + 4 * MIB), -EINVAL);
    uint64_t start = now();
    assert_int_equal(dev->ops->copy_h2d(s, buf, host, 16 * MIB), 0);
    assert_int_equal(now(), start);
    assert_int_equal(dev->ops->stream_sync(s), 0);
    uint64_t pinned = now() - start;
    assert_int_equal(dev->ops->host_unregister(dev, host), 0);
    start = now();
    assert_int_equal(dev->ops->copy_h2d(s, buf, host, 16 * MIB), 0);
    assert_true(now() - start > 7 * pinned); /* the call itself waited, at 7.6 of 55.4 GB/s */
    dev->ops->stream_close(s);
    dev->ops->free(dev, buf);
    end();
}

static void *register_gib(void *at)
{
    assert_int_equal(dev->ops->host_register(dev, at, 1024 * (size_t)MIB), 0);
    return NULL;
}

/* On threads: two registrations go one after the other, and a copy that is called meanwhile stands behind them. */
static void test_process_lock(void **state)
{
    (void)state;
    struct clock_virtual *c;
    assert_int_equal(clock_virtual_open(&c, 0), 0);
    begin((struct sim_opts){.clock = c});
    struct stream *s;
    struct dbuf buf;
    pthread_t t[2];
    assert_int_equal(dev->ops->stream_open(dev, &s, NULL), 0);
    assert_int_equal(dev->ops->alloc(dev, &buf, MIB), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(clock_thread_open(&t[i], register_gib, host + i * (ptrdiff_t)1024 * MIB), 0);
    clock_sleep(1000000);
    assert_int_equal(dev->ops->copy_h2d(s, buf, host, MIB), 0);
    assert_true(clock_now_ns() >= 20000000);
    for (int i = 0; i < 2; i++)
        assert_int_equal(clock_thread_join(t[i]), 0);
    assert_true(clock_now_ns() >= 40000000 && clock_now_ns() < 41000000);
    dev->ops->stream_close(s);
    dev->ops->free(dev, buf);
    end();
    clock_virtual_close(c);
}

#define STEP(call) rc = rc ? rc : (call)

/* One call of each operation at least; the first failure. */
static int every_op(void)
{
    const struct device_ops *o = dev->ops;
    const struct curve *cv = curve_get(CURVE_BN254);
    struct device_info info;
    struct dbuf buf = {0};
    struct stream *s = NULL, *s2 = NULL;
    struct event *e = NULL;
    struct bases *b = NULL;
    struct matrix *m = NULL;
    struct point p;
    int rc = o->info(dev, &info);
    STEP(o->host_register(dev, host, MIB));
    bool registered = rc == 0;
    STEP(o->alloc(dev, &buf, MIB));
    STEP(o->bases_open(dev, &b, &(struct bases_args){.curve = cv, .n = 16, .resident = true}));
    STEP(o->matrix_open(dev, &m, &(struct matrix_args){.curve = cv, .rows = 16, .resident = true}));
    STEP(o->stream_open(dev, &s, NULL));
    STEP(o->stream_open(dev, &s2, NULL));
    STEP(o->event_open(dev, &e));
    STEP(o->copy_h2d(s, buf, host, MIB));
    STEP(o->event_record(s, e));
    STEP(o->event_wait(s2, e));
    STEP(o->zero(s, buf, 512));
    STEP(o->ntt(s, &(struct ntt_args){.curve = cv, .log_n = 4}));
    STEP(o->ntt_coset(s, &(struct ntt_coset_args){.curve = cv, .log_n = 4}));
    struct msm_set set = {.bases = b, .result = &p};
    STEP(o->msm(s, &(struct msm_args){.curve = cv, .n = 16, .sets = &set, .n_sets = 1}));
    STEP(o->sum_selected(s, &(struct sum_selected_args){.bases = b, .result = &p}));
    STEP(o->spmv(s, &(struct spmv_args){.matrix = m}));
    STEP(o->pointwise(s, &(struct pointwise_args){.curve = cv, .n = 16}));
    STEP(o->mul_base(s, &(struct mul_base_args){.curve = cv, .n = 16}));
    STEP(o->check_points(s, &(struct check_points_args){.curve = cv}));
    STEP(o->copy_d2h(s2, host, buf, MIB));
    int synced = s ? o->stream_sync(s) : 0, synced2 = s2 ? o->stream_sync(s2) : 0;
    STEP(synced);
    STEP(synced2);
    if (e)
        o->event_close(e);
    if (s2)
        o->stream_close(s2);
    if (s)
        o->stream_close(s);
    if (m)
        o->matrix_close(m);
    if (b)
        o->bases_close(b);
    if (buf.addr)
        o->free(dev, buf);
    int gone = registered ? o->host_unregister(dev, host) : 0;
    STEP(gone);
    return rc;
}

static void test_every_fault(void **state)
{
    (void)state;
    for (enum sim_op op = 0; op < SIM_OP_KINDS; op++) {
        for (int late = 0; late < 2; late++) {
            begin((struct sim_opts){0});
            assert_int_equal(every_op(), 0);
            uint64_t calls = sim_calls(sim, op);
            assert_true(calls > 0); /* every_op misses none */
            sim_fault(sim, &(struct sim_fault){.op = op, .device = 0, .at = calls, .late = late});
            int rc = every_op();
            assert_true(rc == -EIO || rc == -ENOMEM);
            assert_true(sim_fault_went_off(sim));
            if (op == SIM_HOST_UNREGISTER)
                assert_int_equal(dev->ops->host_unregister(dev, host), 0);
            assert_int_equal(every_op(), 0); /* streams are new, the device goes on */
            end();
        }
    }
}

static void test_lost_device(void **state)
{
    (void)state;
    begin((struct sim_opts){0});
    sim_fault(sim, &(struct sim_fault){.op = SIM_MSM, .device = SIM_ANY_DEVICE, .at = 1, .lost = true});
    assert_int_equal(every_op(), -EIO);
    assert_int_equal(every_op(), -EIO);
    dev->ops->close(dev);
    assert_int_equal(sim_device_open(sim, &dev, 0, NULL), 0);
    assert_int_equal(every_op(), 0);
    end();
}

/* A stream that waits for failed work fails too; a third one goes on. */
static void test_failure_spreads(void **state)
{
    (void)state;
    begin((struct sim_opts){0});
    struct stream *s[3];
    struct event *e;
    struct pointwise_args mul = {.n = 1000};
    for (int i = 0; i < 3; i++)
        assert_int_equal(dev->ops->stream_open(dev, &s[i], NULL), 0);
    assert_int_equal(dev->ops->event_open(dev, &e), 0);
    sim_fault(sim, &(struct sim_fault){.op = SIM_POINTWISE, .device = 0, .at = 1, .late = true});
    assert_int_equal(dev->ops->pointwise(s[0], &mul), 0);
    assert_int_equal(dev->ops->event_record(s[0], e), 0);
    assert_int_equal(dev->ops->event_wait(s[1], e), 0);
    assert_int_equal(dev->ops->pointwise(s[2], &mul), 0);
    assert_int_equal(dev->ops->stream_sync(s[1]), -EIO);
    assert_int_equal(dev->ops->stream_sync(s[0]), -EIO);
    assert_int_equal(dev->ops->stream_sync(s[2]), 0);
    assert_int_equal(dev->ops->pointwise(s[0], &mul), -EIO);
    dev->ops->event_close(e);
    for (int i = 0; i < 3; i++)
        dev->ops->stream_close(s[i]);
    end();
}

static void test_inner_is_real(void **state)
{
    (void)state;
    begin((struct sim_opts){.inner = "host", .inner_opts = &(struct device_opts){.threads = 1}});
    const struct curve *cv = curve_get(CURVE_BN254);
    struct stream *s;
    struct dbuf buf;
    struct bases *b;
    struct point p, due;
    struct scalar k[2] = {{{5}}, {{7}}}, twelve = {{12}};
    char points[2 * 64];
    for (int i = 0; i < 2; i++)
        point_store(cv, GROUP_G1, points + (ptrdiff_t)64 * i, &cv->generator[GROUP_G1]);
    assert_int_equal(dev->ops->stream_open(dev, &s, NULL), 0);
    assert_int_equal(dev->ops->alloc(dev, &buf, sizeof k), 0);
    assert_int_equal(dev->ops->bases_open(dev, &b, &(struct bases_args){.curve = cv, .points = points, .n = 2}), 0);
    assert_int_equal(dev->ops->copy_h2d(s, buf, k, sizeof k), 0);
    struct msm_set set = {.bases = b, .result = &p};
    struct msm_args args = {.curve = cv, .scalars = buf, .n = 2, .sets = &set, .n_sets = 1};
    cv->mul(GROUP_G1, &due, &cv->generator[GROUP_G1], &twelve);
    assert_int_equal(dev->ops->msm(s, &args), 0);
    assert_int_equal(dev->ops->stream_sync(s), 0);
    assert_memory_equal(&p, &due, sizeof p);
    sim_fault(sim, &(struct sim_fault){.op = SIM_MSM, .device = 0, .at = 1, .wrong = true});
    assert_int_equal(dev->ops->msm(s, &args), 0);
    assert_memory_not_equal(&p, &due, sizeof p);
    assert_int_equal(cv->check(GROUP_G1, &p), POINT_OK);
    dev->ops->bases_close(b);
    dev->ops->free(dev, buf);
    dev->ops->stream_close(s);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_overlap), cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_registration),    cmocka_unit_test(test_process_lock),
        cmocka_unit_test(test_every_fault),     cmocka_unit_test(test_lost_device),
        cmocka_unit_test(test_failure_spreads), cmocka_unit_test(test_inner_is_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
