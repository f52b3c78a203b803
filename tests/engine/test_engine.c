/* Claims: the engine proves real circuits of both curves on the host device, from files, memory and producers, many at
 * once, each proof verified again here; bad inputs fail with their sentence and nobody else's job; keys, priorities,
 * cancels, deadlines, back-pressure, draining and events do what engine.h says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "penstock/engine.h"
#include "penstock/verify.h"
#include "prover/wtns.h"

#define DATA PENSTOCK_TEST_DATA
static const char *const circuits[] = {"bn128/mult",    "bn128/linear",    "bn128/nopub",    "bn128/poseidon1",
                                       "bls12381/mult", "bls12381/linear", "bls12381/nopub", "bls12381/poseidon1"};
enum { CIRCUITS = sizeof circuits / sizeof *circuits };

static const char *path(const char *circuit, const char *ext)
{
    static _Thread_local char text[4][512];
    static _Thread_local unsigned at;
    const char *name = strrchr(circuit, '/') + 1;
    char *out = text[at++ % 4];
    snprintf(out, sizeof text[0], "%s/%s/%s%s", DATA, circuit, ext[0] == '.' ? name : "", ext);
    return out;
}

static char *slurp(const char *file, size_t *n)
{
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    char *data = malloc(1 << 20);
    assert_non_null(data);
    *n = fread(data, 1, 1 << 20, f);
    fclose(f);
    return data;
}

static struct pen_engine *open_engine(struct pen_engine_opts opts)
{
    static const char *const host[] = {"host", "host"};
    struct pen_engine *e;
    opts.devices = host;
    opts.n_devices = opts.n_devices ? opts.n_devices : 1;
    opts.threads = 1;
    assert_int_equal(pen_engine_open(&e, &opts), 0);
    return e;
}

static void expect_proof(struct pen_engine *e, uint64_t job, const char *circuit)
{
    struct pen_result r;
    assert_int_equal(pen_wait(e, &r, job, PEN_FOREVER), 0);
    if (r.state != PEN_DONE)
        fail_msg("%s: %s: %s", circuit, pen_state_name(r.state), r.why);
    assert_int_equal(r.device_fault, 0);
    size_t n, m;
    char *vk = slurp(path(circuit, "verification_key.json"), &n), *due = slurp(path(circuit, "public.json"), &m);
    enum pen_verdict verdict = PEN_FALSE;
    assert_int_equal(
        pen_verify(&verdict, vk, n, r.public_json, strlen(r.public_json), r.proof_json, strlen(r.proof_json)), 0);
    assert_int_equal(verdict, PEN_VALID);
    assert_int_equal(strlen(r.public_json), m);
    assert_memory_equal(r.public_json, due, m);
    free(vk);
    free(due);
    pen_result_close(&r);
}

static void load_all(struct pen_engine *e)
{
    for (int i = 0; i < CIRCUITS; i++)
        if (pen_circuit_load(e, circuits[i], path(circuits[i], ".zkey")))
            fail_msg("%s", pen_last_error());
}

static void test_prove_all(void **state)
{
    (void)state;
    for (unsigned devices = 1; devices <= 2; devices++) {
        struct pen_engine *e = open_engine((struct pen_engine_opts){.n_devices = devices});
        load_all(e);
        uint64_t job[5 * CIRCUITS];
        for (int i = 0; i < 5 * CIRCUITS; i++) {
            const char *c = circuits[i % CIRCUITS];
            struct pen_job_opts opts = {.priority = (enum pen_priority)(i % 4)};
            assert_int_equal(pen_submit_file(e, &job[i], c, path(c, ".wtns"), &opts), 0);
        }
        for (int i = 0; i < 5 * CIRCUITS; i++)
            expect_proof(e, job[i], circuits[i % CIRCUITS]);
        struct pen_stats s;
        assert_int_equal(pen_engine_stats(e, &s), 0);
        assert_int_equal(s.done, 5 * CIRCUITS);
        assert_int_equal(s.circuits, CIRCUITS);
        assert_int_equal(s.queue_bytes + s.input_bytes + s.running + s.waiting, 0);
        for (int i = 0; i < CIRCUITS; i++)
            assert_int_equal(pen_circuit_drop(e, circuits[i]), 0);
        pen_engine_close(e);
    }
}

struct source {
    const struct wtns *wtns;
    int rc, spoil;
};

static int produce(void *ctx, void *scalars, size_t n)
{
    const struct source *s = ctx;
    assert_int_equal(n, s->wtns->n);
    memcpy(scalars, s->wtns->values, 32 * n);
    if (s->spoil)
        memset(scalars, s->spoil, 32);
    return s->rc;
}

static void expect_failed(struct pen_engine *e, uint64_t job, int error, const char *words)
{
    struct pen_result r;
    assert_int_equal(pen_wait(e, &r, job, PEN_FOREVER), 0);
    assert_int_equal(r.state, PEN_FAILED);
    assert_int_equal(r.error, error);
    if (!strstr(r.why, words))
        fail_msg("\"%s\" does not say \"%s\"", r.why, words);
    assert_null(r.proof_json);
    pen_result_close(&r);
}

static void test_sources(void **state)
{
    (void)state;
    struct pen_engine *e = open_engine((struct pen_engine_opts){0});
    const char *c = "bn128/poseidon1";
    uint64_t job[8];
    size_t n;
    char *data = slurp(path(c, ".wtns"), &n);
    struct wtns *w;
    assert_int_equal(wtns_open_memory(&w, "w", data, n), 0);
    struct source good = {w, 0, 0}, stops = {w, -ENOSPC, 0}, no_one = {w, 0, 2}, large = {w, 0, 255};
    load_all(e);
    assert_int_equal(pen_submit_memory(e, &job[0], c, data, n, NULL), 0);
    assert_int_equal(pen_submit_producer(e, &job[1], c, produce, &good, NULL), 0);
    assert_int_equal(pen_submit_producer(e, &job[2], c, produce, &stops, NULL), 0);
    assert_int_equal(pen_submit_producer(e, &job[3], c, produce, &no_one, NULL), 0);
    assert_int_equal(pen_submit_producer(e, &job[4], c, produce, &large, NULL), 0);
    assert_int_equal(pen_submit_file(e, &job[5], c, "/no/such.wtns", NULL), 0);
    assert_int_equal(pen_submit_file(e, &job[6], c, path("bn128/mult", ".wtns"), NULL), 0);
    assert_int_equal(pen_submit_memory(e, &job[7], "bls12381/poseidon1", data, n, NULL), 0);
    expect_proof(e, job[0], c);
    expect_proof(e, job[1], c);
    expect_failed(e, job[2], -ENOSPC, "producer");
    expect_failed(e, job[3], -EBADMSG, "element 0");
    expect_failed(e, job[4], -EBADMSG, "element 0 is not below");
    expect_failed(e, job[5], -ENOENT, "/no/such.wtns");
    expect_failed(e, job[6], -EBADMSG, "");
    expect_failed(e, job[7], -EBADMSG, "");
    wtns_close(w);
    free(data);
    pen_engine_close(e);
}

/* Snap and PoSt results were handed out unchecked there (4.5.41): here a false witness gives no proof. */
static void fault_result_not_checked(void **state)
{
    (void)state;
    struct pen_engine *e = open_engine((struct pen_engine_opts){0});
    size_t n;
    uint64_t job;
    char *data = slurp(path("bn128/poseidon1", ".wtns"), &n);
    data[n - 32] ^= 1;
    load_all(e);
    assert_int_equal(pen_submit_memory(e, &job, "bn128/poseidon1", data, n, NULL), 0);
    expect_failed(e, job, -EBADMSG, "does not satisfy");
    free(data);
    pen_engine_close(e);
}

static int slow_produce(void *ctx, void *scalars, size_t n)
{
    usleep(30000);
    return produce(ctx, scalars, n);
}

static void test_queue_rules(void **state)
{
    (void)state;
    struct pen_engine *e = open_engine((struct pen_engine_opts){.max_jobs = 8});
    const char *c = "bn128/mult";
    struct wtns *w;
    uint64_t job[8], again;
    assert_int_equal(wtns_open(&w, path(c, ".wtns")), 0);
    struct source good = {w, 0, 0};
    assert_int_equal(pen_submit_file(e, &job[0], c, "x", NULL), -ENOENT); /* not loaded */
    load_all(e);
    assert_int_equal(pen_circuit_load(e, c, path(c, ".zkey")), -EEXIST);
    assert_int_equal(pen_circuit_load(e, "x", path(c, ".wtns")), -EBADMSG);
    assert_int_equal(pen_circuit_drop(e, "x"), -ENOENT);
    struct pen_job_opts keyed = {.key = "one"}, late = {.timeout_ms = 1};
    assert_int_equal(pen_submit_producer(e, &job[0], c, slow_produce, &good, &keyed), 0);
    assert_int_equal(pen_submit_producer(e, &again, c, slow_produce, &good, &keyed), 0);
    assert_int_equal(again, job[0]); /* joined */
    assert_int_equal(pen_submit_producer(e, &again, "bn128/linear", slow_produce, &good, &keyed), -EEXIST);
    for (int i = 1; i < 6; i++)
        assert_int_equal(pen_submit_producer(e, &job[i], c, slow_produce, &good, NULL), 0);
    assert_int_equal(pen_submit_producer(e, &job[6], c, slow_produce, &good, &late), 0);
    assert_int_equal(pen_submit_producer(e, &again, c, slow_produce, &good, NULL), -EAGAIN);
    assert_int_equal(pen_circuit_drop(e, c), -EBUSY);
    struct pen_result r = {0};
    assert_int_equal(pen_wait(e, &r, job[5], 0), -ETIMEDOUT);
    assert_int_equal(r.state, PEN_QUEUED);
    assert_int_equal(pen_cancel(e, job[5]), 0);
    assert_int_equal(pen_wait(e, &r, job[5], PEN_FOREVER), 0);
    assert_int_equal(r.state, PEN_CANCELLED);
    assert_int_equal(pen_cancel(e, job[5]), -EALREADY);
    expect_failed(e, job[6], -ETIMEDOUT, "deadline");
    assert_int_equal(pen_engine_drain(e, 1), -ETIMEDOUT);
    assert_int_equal(pen_submit_producer(e, &again, c, slow_produce, &good, NULL), -ESHUTDOWN);
    assert_int_equal(pen_engine_drain(e, PEN_FOREVER), 0);
    for (int i = 0; i < 5; i++)
        expect_proof(e, job[i], c);
    struct pen_stats s;
    assert_int_equal(pen_engine_stats(e, &s), 0);
    assert_int_equal(s.joined, 1);
    wtns_close(w);
    pen_engine_close(e);
}

/* Nothing is kept for ever (4.4.32). No result is read before it goes, so the pace of the machine does not matter. */
static void test_dropped(void **state)
{
    (void)state;
    struct pen_engine *e = open_engine((struct pen_engine_opts){.keep_ms = 50});
    const char *c = "bn128/mult";
    uint64_t job;
    load_all(e);
    assert_int_equal(pen_submit_file(e, &job, c, path(c, ".wtns"), NULL), 0);
    struct pen_result r = {0};
    int rc = 0;
    for (int i = 0; i < 6000 && rc != -ENOENT; i++) {
        rc = pen_wait(e, &r, job, 0);
        assert_true(rc == 0 || rc == -ETIMEDOUT || rc == -ENOENT);
        pen_result_close(&r);
        usleep(10000);
    }
    assert_int_equal(rc, -ENOENT);
    struct pen_stats s;
    assert_int_equal(pen_engine_stats(e, &s), 0);
    assert_int_equal(s.kept, 0);
    pen_engine_close(e);
}

static void test_events(void **state)
{
    (void)state;
    struct pen_engine *e = open_engine((struct pen_engine_opts){0});
    const char *c = "bls12381/mult";
    uint64_t job;
    struct pen_event ev = {0};
    load_all(e);
    assert_int_equal(pen_event_next(e, &ev, 0, 1), -ETIMEDOUT);
    assert_int_equal(pen_submit_file(e, &job, c, path(c, ".wtns"), NULL), 0);
    for (enum pen_state s = PEN_QUEUED; s <= PEN_DONE; s++) {
        assert_int_equal(pen_event_next(e, &ev, ev.number, PEN_FOREVER), 0);
        assert_int_equal(ev.number, s + 1);
        assert_int_equal(ev.job, job);
        assert_int_equal(ev.state, s);
    }
    pen_engine_close(e);
}

/* One span for each read, copy, step and fold, and the lanes' times in the statistics. */
static void test_trace(void **state)
{
    (void)state;
    char file[] = "/tmp/penstock-trace-XXXXXX";
    close(mkstemp(file));
    struct pen_engine *e = open_engine((struct pen_engine_opts){.trace_path = file});
    const char *c = "bn128/mult";
    uint64_t job[3];
    load_all(e);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pen_submit_file(e, &job[i], c, path(c, ".wtns"), NULL), 0);
    for (int i = 0; i < 3; i++)
        expect_proof(e, job[i], c);
    struct pen_stats s;
    assert_int_equal(pen_engine_stats(e, &s), 0);
    assert_true(s.read_s > 0 && s.copy_s > 0 && s.compute_s > 0 && s.fold_s > 0);
    pen_engine_close(e);
    json_t *trace = json_load_file(file, 0, NULL);
    assert_non_null(trace);
    assert_int_equal(json_array_size(json_object_get(trace, "traceEvents")), 3 * (1 + 1 + 3 + 1));
    json_decref(trace);
    unlink(file);
}

/* SIGTERM killed queued jobs silently there (4.4.36): closing ends every job, whatever stage it is in. */
static void fault_close_with_jobs_inside(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        struct pen_engine *e = open_engine((struct pen_engine_opts){.n_devices = 2});
        uint64_t job;
        load_all(e);
        for (int i = 0; i < 40; i++) {
            const char *c = circuits[i % CIRCUITS];
            assert_int_equal(pen_submit_file(e, &job, c, path(c, ".wtns"), NULL), 0);
        }
        usleep(1000 * (unsigned)round);
        pen_engine_close(e);
    }
}

struct loader_arg {
    struct pen_engine *e;
    int rc;
};

static void *load_one(void *arg)
{
    struct loader_arg *a = arg;
    a->rc = pen_circuit_load(a->e, "same", path(circuits[3], ".zkey"));
    return NULL;
}

/* Each job that came before the first extraction was done started another one, 47 s and 40 GiB each (4.2.18): here the
 * name is taken before the work begins. */
static void fault_loads_side_by_side(void **state)
{
    (void)state;
    enum { LOADERS = 6 };
    struct pen_engine *e = open_engine((struct pen_engine_opts){0});
    struct loader_arg arg[LOADERS];
    pthread_t thread[LOADERS];
    unsigned good = 0;
    for (int i = 0; i < LOADERS; i++) {
        arg[i] = (struct loader_arg){e, 1};
        assert_int_equal(pthread_create(&thread[i], NULL, load_one, &arg[i]), 0);
    }
    for (int i = 0; i < LOADERS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(arg[i].rc == 0 || arg[i].rc == -EEXIST);
        good += arg[i].rc == 0;
    }
    assert_int_equal(good, 1);
    struct pen_stats s;
    assert_int_equal(pen_engine_stats(e, &s), 0);
    assert_int_equal(s.circuits, 1);
    pen_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prove_all),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(fault_result_not_checked),
        cmocka_unit_test(test_queue_rules),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(fault_close_with_jobs_inside),
        cmocka_unit_test(fault_loads_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
