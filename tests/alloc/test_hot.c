/* Claim: taking and giving back a lease makes no system call and no allocation. The child runs under seccomp's strict
 * mode (anything but read, write and exit kills it), with malloc and its relatives counted by the linker's --wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc/pool.h"
#include "perf/err.h"

enum { UNIT = 1 << 17, ROUNDS = 200000 };

static _Atomic unsigned long allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    allocations++;
    return __real_malloc(bytes);
}
void *__wrap_calloc(size_t n, size_t bytes)
{
    allocations++;
    return __real_calloc(n, bytes);
}
void *__wrap_realloc(void *p, size_t bytes)
{
    allocations++;
    return __real_realloc(p, bytes);
}
void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    allocations++;
    return __real_aligned_alloc(align, bytes);
}

static void leave(int code)
{
    syscall(SYS_exit, code); /* exit_group is not allowed */
}

static void child(struct pool *p, const struct pool_want *want)
{
    struct lease l = {0};
    if (pool_take(p, &l, want) || pool_give(p, &l)) /* the thread's first */
        leave(2);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        leave(77);
    unsigned long before = allocations;
    for (int i = 0; i < ROUNDS; i++)
        if (pool_take(p, &l, want) || pool_give(p, &l))
            leave(2);
    leave(allocations == before ? 0 : 3);
}

static void run(struct pool_want want)
{
    if (!getauxval(AT_SYSINFO_EHDR))
        skip(); /* under valgrind, which takes the vDSO away: the filter would kill valgrind at a call of its own */
    struct pool_node_opts node = {.id = -1, .start_units = 24};
    struct pool_opts o = {.node = &node, .n_nodes = 1, .unit_bytes = UNIT, .tier = TIER_4K};
    struct pool *p;
    assert_int_equal(pool_open(&p, &o), 0);
    struct lease keep = {0}; /* a small one stays out, so that its divided unit does */
    assert_int_equal(pool_take(p, &keep, &(struct pool_want){.size = {100}, .buffers = 1}), 0);
    assert_true(allocations > 0); /* the counter counts */
    pid_t pid = fork();
    if (pid == 0)
        child(p, &want);
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(pool_give(p, &keep), 0);
    assert_int_equal(pool_close(p), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* The pages themselves are not in the child (DONTFORK): it works on the records, which is what a take does. */
static void test_triple(void **state)
{
    (void)state;
    run((struct pool_want){.size = {4 * UNIT, 4 * UNIT, 4 * UNIT}, .buffers = 3});
}

static void test_small(void **state)
{
    (void)state;
    run((struct pool_want){.size = {5000, 600}, .buffers = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_triple), cmocka_unit_test(test_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
