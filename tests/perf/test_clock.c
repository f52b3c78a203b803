/* Claims: reading the clock is no system call; waits end by wake or by deadline, on real and on virtual time; virtual
 * time costs no real time, is the same each run, is shuffled by a seed, drives timers, and finds a deadlock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/clock.h"
#include "perf/clock_virtual.h"

static int child_status(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* A filter under which the system call kills; 0 when it is set. */
static int forbid_clock_gettime(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void test_no_system_call(void **state)
{
    (void)state;
    if (!getauxval(AT_SYSINFO_EHDR))
        skip(); /* no vDSO: valgrind takes it away */
    pid_t pid = fork();
    if (pid == 0) {
        if (forbid_clock_gettime())
            _exit(77);
        uint64_t last = clock_now_ns();
        for (int i = 0; i < 1000; i++) {
            uint64_t now = clock_now_ns();
            if (now < last)
                _exit(1);
            last = now;
        }
        _exit(0);
    }
    int status = child_status(pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* no seccomp here */
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

struct pair {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int flag;
};

static void *set_flag(void *arg)
{
    struct pair *p = arg;
    clock_sleep(1000000);
    pthread_mutex_lock(&p->mutex);
    p->flag = 1;
    clock_signal(&p->cond);
    pthread_mutex_unlock(&p->mutex);
    return p;
}

/* The same on both kinds of time. */
static void wait_both_ways(void)
{
    struct pair p = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    assert_int_equal(clock_cond_open(&p.cond), 0);
    uint64_t begin_ns = clock_now_ns();
    pthread_mutex_lock(&p.mutex);
    int rc = 0;
    while (rc == 0) /* nobody wakes: only the deadline ends this */
        rc = clock_wait(&p.cond, &p.mutex, begin_ns + 2000000);
    assert_int_equal(rc, -ETIMEDOUT);
    assert_true(clock_now_ns() >= begin_ns + 2000000);
    pthread_t t;
    assert_int_equal(clock_thread_open(&t, set_flag, &p), 0);
    while (!p.flag)
        assert_int_equal(clock_wait(&p.cond, &p.mutex, CLOCK_NEVER), 0);
    pthread_mutex_unlock(&p.mutex);
    assert_int_equal(clock_thread_join(t), 0);
    pthread_cond_destroy(&p.cond);
}

static void test_wait_real(void **state)
{
    (void)state;
    wait_both_ways();
}

static void test_wait_virtual(void **state)
{
    (void)state;
    struct clock_virtual *c;
    assert_int_equal(clock_virtual_open(&c, 0), 0);
    wait_both_ways();
    assert_int_equal(clock_now_ns(), 3000000); /* exactly: 2 ms of the deadline, 1 ms of the thread */
    clock_virtual_close(c);
}

enum { RUNNERS = 5, ROUNDS = 40 };
struct runner {
    uint64_t step_ns;
    char name, *log;
    size_t *used;
};

static void *run(void *arg)
{
    struct runner *r = arg;
    for (int i = 0; i < ROUNDS; i++) {
        clock_sleep(r->step_ns);
        r->log[(*r->used)++] = r->name; /* no lock: one thread runs at a time */
    }
    return NULL;
}

/* Who ran when, as a string. All five step by an hour, so each hour is a tie. */
static void race(char log[RUNNERS * ROUNDS + 1], uint64_t seed)
{
    struct clock_virtual *c;
    struct runner r[RUNNERS];
    pthread_t t[RUNNERS];
    size_t used = 0;
    assert_int_equal(clock_virtual_open(&c, seed), 0);
    for (int i = 0; i < RUNNERS; i++) {
        r[i] = (struct runner){3600000000000u, (char)('a' + i), log, &used};
        assert_int_equal(clock_thread_open(&t[i], run, &r[i]), 0);
    }
    for (int i = 0; i < RUNNERS; i++)
        assert_int_equal(clock_thread_join(t[i]), 0);
    log[used] = 0;
    assert_int_equal(used, RUNNERS * ROUNDS);
    assert_int_equal(clock_now_ns(), 3600000000000u * ROUNDS);
    clock_virtual_close(c);
}

static void test_virtual_replay(void **state)
{
    (void)state;
    char fair[RUNNERS * ROUNDS + 1], again[sizeof fair], other[sizeof fair];
    race(fair, 0);
    for (int i = 0; i < RUNNERS * ROUNDS; i++)
        assert_int_equal(fair[i], "abcde"[i % RUNNERS]);
    race(fair, 5);
    race(again, 5);
    race(other, 6);
    assert_string_equal(fair, again);
    assert_string_not_equal(fair, other);
}

struct beat {
    uint64_t next_ns;
    int count;
    struct pair *pair;
};

static uint64_t beat_next(void *ctx)
{
    return ((struct beat *)ctx)->next_ns;
}

static void beat_fire(void *ctx, uint64_t now_ns)
{
    struct beat *b = ctx;
    assert_int_equal(now_ns, b->next_ns);
    b->next_ns = ++b->count == 3 ? CLOCK_NEVER : now_ns + 10;
    clock_broadcast(&b->pair->cond);
}

static void test_timer(void **state)
{
    (void)state;
    struct clock_virtual *c;
    struct pair p = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct beat b = {.next_ns = 100, .pair = &p};
    struct clock_timer t = {beat_next, beat_fire, &b, NULL};
    assert_int_equal(clock_virtual_open(&c, 0), 0);
    assert_int_equal(clock_cond_open(&p.cond), 0);
    clock_timer_add(c, &t);
    pthread_mutex_lock(&p.mutex);
    while (b.count < 3)
        assert_int_equal(clock_wait(&p.cond, &p.mutex, CLOCK_NEVER), 0);
    pthread_mutex_unlock(&p.mutex);
    assert_int_equal(clock_now_ns(), 120);
    clock_timer_remove(c, &t);
    pthread_cond_destroy(&p.cond);
    clock_virtual_close(c);
}

static void leave(void *ctx)
{
    _exit(*(int *)ctx);
}

static void test_deadlock_found(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct clock_virtual *c;
        struct pair p = {.mutex = PTHREAD_MUTEX_INITIALIZER};
        int code = 42;
        if (clock_virtual_open(&c, 0) || clock_cond_open(&p.cond))
            _exit(1);
        clock_virtual_on_stuck(c, leave, &code);
        pthread_mutex_lock(&p.mutex);
        clock_wait(&p.cond, &p.mutex, CLOCK_NEVER);
        _exit(2);
    }
    int status = child_status(pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_system_call), cmocka_unit_test(test_wait_real),
                                       cmocka_unit_test(test_wait_virtual),   cmocka_unit_test(test_virtual_replay),
                                       cmocka_unit_test(test_timer),          cmocka_unit_test(test_deadlock_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
