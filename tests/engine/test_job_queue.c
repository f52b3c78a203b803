/* Claims: the queue keeps order, bounds, keys, deadlines and sets, and moves states by its table only. Tests named
 * fault_* hold what went wrong in an earlier engine of this kind. Random histories agree with a slow model of the order
 * and leave nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/job_queue.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "tests/slower.h"

#define S UINT64_C(1000000000)
static struct job_queue *q;
static unsigned dropped;

static void changed(void *ctx, struct job *job, enum job_state to)
{
    (void)ctx;
    (void)job;
    dropped += to == JOB_STATES;
}

static void begin(struct job_queue_opts opts)
{
    opts.changed = changed;
    dropped = 0;
    assert_int_equal(job_queue_open(&q, &opts), 0);
}

static int submit(struct job **j, enum job_class class, const char *key, uint64_t now)
{
    return job_queue_submit(q, j, NULL, &(struct job_spec){.class = class, .bytes = 10, .key = key}, now);
}

static struct job *put(enum job_class class)
{
    struct job *j = NULL;
    assert_int_equal(submit(&j, class, NULL, 0), 0);
    return j;
}

static bool any(void *ctx, const struct job *j)
{
    return !ctx || ((struct job *)ctx)->circuit == j->circuit;
}

static struct job *take(uint64_t now)
{
    struct job *j = job_queue_pick(q, any, NULL, now);
    if (j)
        assert_int_equal(job_queue_move(q, j, JOB_READING, now), 0);
    return j;
}

static void run_to_end(struct job *j, uint64_t now)
{
    for (enum job_state s = j->state + 1; s <= JOB_DONE; s++)
        assert_int_equal(job_queue_move(q, j, s, now), 0);
}

static void test_transitions(void **state)
{
    (void)state;
    /* the picture in job.h, written out once more */
    static const char *const table[JOB_STATES] = {".R....FX", "Q.C...FX", "Q..P..FX", "Q...O.FX",
                                                  "Q....DFX", "........", "........", "........"};
    for (enum job_state a = 0; a < JOB_STATES; a++) {
        for (enum job_state b = 0; b < JOB_STATES; b++)
            assert_int_equal(job_may(a, b), table[a][b] != '.');
    }
    begin((struct job_queue_opts){0});
    struct job *j = put(CLASS_NORMAL);
    assert_int_equal(job_queue_move(q, j, JOB_DONE, 0), -EINVAL);
    assert_int_equal(j->state, JOB_QUEUED);
    job_queue_close(q);
}

static void test_order(void **state)
{
    (void)state;
    begin((struct job_queue_opts){0});
    struct job *low = put(CLASS_LOW), *n1 = put(CLASS_NORMAL), *n2 = put(CLASS_NORMAL), *high = put(CLASS_HIGH),
               *critical = put(CLASS_CRITICAL);
    assert_ptr_equal(take(0), critical);
    assert_ptr_equal(take(0), high);
    assert_ptr_equal(take(0), n1);
    assert_int_equal(job_queue_move(q, n1, JOB_QUEUED, 0), 0); /* its device failed: it keeps its place */
    assert_ptr_equal(take(0), n1);
    assert_ptr_equal(take(0), n2);
    assert_ptr_equal(take(0), low);
    assert_null(take(0));
    job_queue_close(q);
    assert_int_equal(dropped, 5);
}

/* 4.4.29: priority is used at every pick; and nobody starves, since waiting raises a class, but never to critical. */
static void fault_priority_inversion(void **state)
{
    (void)state;
    begin((struct job_queue_opts){.age_ns = 10 * S});
    struct job *low = put(CLASS_LOW), *fresh, *critical;
    assert_int_equal(submit(&fresh, CLASS_HIGH, NULL, 15 * S), 0);
    assert_ptr_equal(job_queue_pick(q, any, NULL, 15 * S), fresh); /* low counts as normal */
    assert_ptr_equal(job_queue_pick(q, any, NULL, 20 * S), low);   /* now as high, and it is older */
    assert_int_equal(submit(&critical, CLASS_CRITICAL, NULL, 500 * S), 0);
    assert_ptr_equal(job_queue_pick(q, any, NULL, 500 * S), critical);
    job_queue_close(q);
}

/* 4.4.31: a job that cannot start does not stop those behind it, but only so often. */
static void fault_head_of_line(void **state)
{
    (void)state;
    begin((struct job_queue_opts){.max_passed_by = 3});
    struct job *stuck = put(CLASS_NORMAL), fits = {.circuit = 7};
    for (int i = 0; i < 6; i++) {
        struct job *j;
        struct job_spec spec = {.class = CLASS_NORMAL, .circuit = 7};
        assert_int_equal(job_queue_submit(q, &j, NULL, &spec, 0), 0);
    }
    for (int i = 0; i < 3; i++) {
        struct job *j = job_queue_pick(q, any, &fits, 0);
        assert_non_null(j);
        assert_int_equal(job_queue_move(q, j, JOB_READING, 0), 0);
    }
    assert_null(job_queue_pick(q, any, &fits, 0)); /* now it is waited for */
    struct job *critical;
    struct job_spec spec = {.class = CLASS_CRITICAL, .circuit = 7};
    assert_int_equal(job_queue_submit(q, &critical, NULL, &spec, 0), 0);
    assert_ptr_equal(job_queue_pick(q, any, &fits, 0), critical);
    assert_ptr_equal(take(0), critical);
    assert_ptr_equal(take(0), stuck);
    assert_non_null(job_queue_pick(q, any, &fits, 0));
    job_queue_close(q);
}

/* 4.1.4: numbers are never used twice, whatever class or set a job has. */
static void fault_queue_key_collision(void **state)
{
    (void)state;
    begin((struct job_queue_opts){.keep_jobs = 1});
    uint64_t last = 0;
    for (int i = 0; i < 3000; i++) {
        struct job *j = put((enum job_class)(i % JOB_CLASSES));
        assert_true(j->id > last);
        last = j->id;
        assert_ptr_equal(job_queue_find(q, last), j);
        run_to_end(take(0), 0);
        job_queue_expire(q, 0);
    }
    job_queue_close(q);
    assert_int_equal(dropped, 3000);
}

/* 4.1.6: a request that comes again joins its job, or gets its result; after a failure it is tried anew. */
static void fault_duplicate_request(void **state)
{
    (void)state;
    begin((struct job_queue_opts){0});
    struct job *a, *b;
    bool joined;
    struct job_spec spec = {.class = CLASS_NORMAL, .key = "porep-1-2", .fingerprint = 5}, other = spec;
    other.fingerprint = 6;
    assert_int_equal(job_queue_submit(q, &a, &joined, &spec, 0), 0);
    assert_false(joined);
    for (int i = 0; i < 4; i++) { /* waiting, running, done */
        assert_int_equal(job_queue_submit(q, &b, &joined, &spec, 0), 0);
        assert_true(joined);
        assert_ptr_equal(a, b);
        if (i == 0)
            assert_ptr_equal(take(0), a);
        if (i == 1)
            run_to_end(a, 0);
    }
    assert_int_equal(job_queue_submit(q, &b, NULL, &other, 0), -EEXIST);
    struct job_spec again = {.class = CLASS_NORMAL, .key = "snap-1"};
    assert_int_equal(job_queue_submit(q, &a, NULL, &again, 0), 0);
    err_fail(-EIO, "the disk is gone");
    job_queue_fail(q, a, -EIO, 0);
    assert_string_equal(a->why, "the disk is gone");
    assert_int_equal(job_queue_submit(q, &b, &joined, &again, 0), 0);
    assert_false(joined);
    assert_ptr_not_equal(a, b);
    char longest[JOB_KEY + 2];
    memset(longest, 'k', sizeof longest);
    longest[JOB_KEY + 1] = 0;
    assert_int_equal(submit(&b, CLASS_LOW, longest, 0), -EINVAL);
    job_queue_close(q);
}

static void test_cancel_by_holders(void **state)
{
    (void)state;
    begin((struct job_queue_opts){0});
    struct job *a, *b;
    assert_int_equal(submit(&a, CLASS_NORMAL, "k", 0), 0);
    assert_int_equal(submit(&b, CLASS_NORMAL, "k", 0), 0);
    assert_int_equal(job_queue_cancel(q, a->id, false, 0), 0);
    assert_int_equal(a->state, JOB_QUEUED); /* somebody else still wants it */
    assert_int_equal(job_queue_cancel(q, a->id, false, 0), 0);
    assert_int_equal(a->state, JOB_CANCELLED);
    assert_int_equal(job_queue_cancel(q, a->id, true, 0), -EALREADY);
    assert_int_equal(job_queue_cancel(q, 99, true, 0), -ENOENT);
    a = put(CLASS_NORMAL);
    assert_ptr_equal(take(0), a);
    a->in_flight = 1;
    assert_int_equal(job_queue_cancel(q, a->id, false, 0), 0);
    assert_int_equal(a->state, JOB_READING); /* until the action under way is over */
    a->in_flight = 0;
    assert_true(job_queue_stopped(q, a, 0));
    assert_int_equal(a->state, JOB_CANCELLED);
    job_queue_close(q);
}

/* 4.4.32: one failed part stops its siblings at once, counts once, and nothing of the set stays behind. */
static void fault_failed_siblings(void **state)
{
    (void)state;
    begin((struct job_queue_opts){.keep_ns = S});
    struct job_spec specs[5] = {{.class = CLASS_NORMAL},
                                {.class = CLASS_NORMAL},
                                {.class = CLASS_NORMAL},
                                {.class = CLASS_NORMAL},
                                {.class = CLASS_NORMAL}};
    struct job *j[5];
    assert_int_equal(job_queue_submit_set(q, j, specs, 5, 0), 0);
    for (int i = 0; i < 3; i++) /* lowest part first */
        assert_ptr_equal(take(0), j[i]);
    run_to_end(j[0], 0);
    j[2]->in_flight = 1;
    err_fail(-EBADMSG, "bad witness");
    job_queue_fail(q, j[1], -EBADMSG, 0);
    assert_int_equal(j[0]->state, JOB_DONE);
    assert_int_equal(j[1]->state, JOB_FAILED);
    assert_int_equal(j[2]->state, JOB_READING);
    assert_true(j[2]->stop);
    assert_int_equal(j[3]->state, JOB_CANCELLED);
    assert_int_equal(j[4]->state, JOB_CANCELLED);
    assert_string_equal(j[4]->why, "part 1 of its set failed");
    assert_null(take(0));
    j[2]->in_flight = 0;
    assert_true(job_queue_stopped(q, j[2], 0));
    struct job_queue_view v;
    job_queue_read(q, &v);
    assert_int_equal(v.ended[JOB_FAILED], 1);
    assert_int_equal(v.bytes, 0);
    job_queue_expire(q, S);
    assert_int_equal(dropped, 5);
    job_queue_close(q);
}

/* 4.4.31, 4.5.41: bounded by count and bytes, one visible answer, ended jobs take no room, critical has its own. */
static void fault_unbounded_queue(void **state)
{
    (void)state;
    begin((struct job_queue_opts){.max_jobs = 8, .max_bytes = 75});
    struct job *j, *first = put(CLASS_LOW);
    for (int i = 1; i < 7; i++)
        put(CLASS_LOW);
    assert_int_equal(submit(&j, CLASS_HIGH, NULL, 0), -EAGAIN); /* the last eighth is for critical ones */
    assert_non_null(strstr(pen_last_error(), "7 jobs"));
    struct job_spec small = {.class = CLASS_CRITICAL, .bytes = 6}, big = {.class = CLASS_CRITICAL, .bytes = 76};
    assert_int_equal(job_queue_submit(q, &j, NULL, &small, 0), -EAGAIN); /* bytes */
    assert_int_equal(job_queue_submit(q, &j, NULL, &big, 0), -E2BIG);    /* never */
    small.bytes = 5;
    assert_int_equal(job_queue_submit(q, &j, NULL, &small, 0), 0);
    assert_int_equal(job_queue_cancel(q, first->id, false, 0), 0);
    assert_int_equal(job_queue_cancel(q, first->id + 1, false, 0), 0);
    assert_int_equal(submit(&j, CLASS_HIGH, NULL, 0), 0);
    struct job_queue_view v;
    job_queue_read(q, &v);
    assert_int_equal(v.refused, 2);
    job_queue_close(q);
}

static void test_deadlines_and_keeping(void **state)
{
    (void)state;
    begin((struct job_queue_opts){.keep_ns = 10 * S});
    struct job *a, *b;
    struct job_spec spec = {.class = CLASS_NORMAL, .deadline_ns = 5 * S - 1};
    assert_int_equal(job_queue_next_ns(q), CLOCK_NEVER);
    assert_int_equal(job_queue_submit(q, &a, NULL, &spec, 0), 0);
    assert_int_equal(job_queue_submit(q, &b, NULL, &spec, 0), 0);
    assert_ptr_equal(take(0), a);
    a->has_slot = true;
    assert_int_equal(job_queue_next_ns(q), 5 * S - 1);
    job_queue_expire(q, 5 * S - 2);
    assert_int_equal(b->state, JOB_QUEUED);
    job_queue_expire(q, 5 * S - 1);
    assert_int_equal(b->state, JOB_FAILED);
    assert_int_equal(b->rc, -ETIMEDOUT);
    assert_int_equal(a->state, JOB_READING);
    a->has_slot = false;
    assert_true(job_queue_stopped(q, a, 6 * S));
    assert_int_equal(a->state, JOB_FAILED);
    uint64_t id = b->id;
    job_queue_expire(q, 15 * S - 2);
    assert_ptr_equal(job_queue_find(q, id), b);
    assert_int_equal(job_queue_next_ns(q), 15 * S - 1);
    job_queue_expire(q, 16 * S);
    assert_null(job_queue_find(q, id));
    assert_int_equal(dropped, 2);
    job_queue_drain(q);
    assert_int_equal(submit(&a, CLASS_CRITICAL, NULL, 0), -ESHUTDOWN);
    assert_true(job_queue_empty(q));
    job_queue_close(q);
}

static uint64_t rnd(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

/* The order once more, by looking at everybody. */
static struct job *slow_pick(struct job **live, size_t n, uint64_t now, uint64_t age)
{
    struct job *best = NULL;
    int best_class = 9;
    for (size_t i = 0; i < n; i++) {
        int class = (int)live[i]->class;
        for (uint64_t t = live[i]->submit_ns + age; class > 1 && t <= now; t += age)
            class --;
        if (live[i]->state == JOB_QUEUED && (class < best_class || (class == best_class && live[i]->id < best->id))) {
            best = live[i];
            best_class = class;
        }
    }
    return best;
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rounds(200); seed++) {
        uint64_t r = seed * 0x9e3779b97f4a7c15u, now = 0;
        begin((struct job_queue_opts){.age_ns = S, .keep_ns = 1ull << 60, .keep_jobs = 1000});
        struct job *live[300];
        size_t n = 0;
        while (n < 300) {
            now += rnd(&r) % S;
            unsigned what = (unsigned)(rnd(&r) % 6);
            if (what < 3) {
                assert_int_equal(submit(&live[n++], (enum job_class)(rnd(&r) % JOB_CLASSES), NULL, now), 0);
            } else if (what < 5) {
                struct job *due = slow_pick(live, n, now, S);
                assert_ptr_equal(take(now), due);
            } else if (n) {
                struct job *j = live[rnd(&r) % n];
                if (j->state != JOB_QUEUED && !job_over(j->state) && rnd(&r) % 2)
                    run_to_end(j, now);
                else
                    (void)job_queue_cancel(q, j->id, true, now);
            }
        }
        struct job *j;
        while ((j = take(now)) != NULL)
            run_to_end(j, now);
        while ((j = job_queue_running(q, NULL)) != NULL)
            run_to_end(j, now);
        assert_true(job_queue_empty(q));
        struct job_queue_view v;
        job_queue_read(q, &v);
        assert_int_equal(v.bytes, 0);
        assert_int_equal(v.ended[JOB_DONE] + v.ended[JOB_CANCELLED], 300);
        job_queue_close(q);
        assert_int_equal(dropped, 300);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transitions),
        cmocka_unit_test(test_order),
        cmocka_unit_test(fault_priority_inversion),
        cmocka_unit_test(fault_head_of_line),
        cmocka_unit_test(fault_queue_key_collision),
        cmocka_unit_test(fault_duplicate_request),
        cmocka_unit_test(test_cancel_by_holders),
        cmocka_unit_test(fault_failed_siblings),
        cmocka_unit_test(fault_unbounded_queue),
        cmocka_unit_test(test_deadlines_and_keeping),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
