/* Runs inside the guests of tests/numa/qemu.sh. Claims: a pool's leases lie on the node that was asked, each page
 * verified; a node that is short is an error with its count, never SIGBUS, and the request goes on to the plan's next
 * nodes, in the plan's order; a cgroup's hugetlb limit and a cpuset are honoured with a sentence; what was taken goes
 * back, counted by the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc/pool.h"
#include "numa/limits.h"
#include "numa/plan.h"
#include "numa/topology.h"
#include "perf/err.h"

#define MIB2 (2ull << 20)
#define GIB  (1ull << 30)

enum { PER_NODE = 8 };

static struct topology *topo;
static struct limits limits;
static struct plan *plan;
static unsigned nodes;

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        fail_msg("%s: write \"%s\": %s", path, text, strerror(errno));
    close(fd);
}

static uint64_t free_pages(int node, size_t bytes)
{
    uint64_t n = 0;
    assert_true(hugepage_free(node, bytes, &n));
    return n;
}

static int read_machine(void **state)
{
    (void)state;
    char path[128];
    if (!getenv("GUEST_MACHINE")) {
        fprintf(stderr, "runs inside qemu.sh only\n");
        exit(77);
    }
    if (topo_open(&topo, &(struct topo_opts){.vendor = 0x1234, .nvml = ""}))
        fail_msg("%s", pen_last_error());
    nodes = (unsigned)topo->nodes;
    for (unsigned i = 0; i < nodes; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%u/hugepages/hugepages-2048kB/nr_hugepages", i);
        put(path, "8");
        assert_int_equal(free_pages((int)i, MIB2), PER_NODE);
    }
    if (limits_read(&limits, "") ||
        plan_make(&plan, topo, &limits, &(struct plan_settings){.page = PLAN_PAGE_1G, .bytes_per_gpu = GIB}))
        fail_msg("%s", pen_last_error());
    return 0;
}

/* Every node a place, with the order of the plan's first GPU to borrow in from its home, node 0. */
static struct pool *open_pool(size_t unit, enum page_tier tier, unsigned start, unsigned max)
{
    static struct pool_node_opts node[8];
    struct pool *p;
    for (unsigned i = 0; i < nodes; i++)
        node[i] = (struct pool_node_opts){.id = topo->node[i].os, .start_units = start, .max_units = max};
    for (unsigned i = 1; i < nodes; i++)
        node[0].borrow[node[0].n_borrow++] = (unsigned)plan->gpu[0].order[i];
    struct pool_opts o = {.node = node, .n_nodes = nodes, .unit_bytes = unit, .tier = tier, .strict = true};
    if (pool_open(&p, &o))
        fail_msg("%s", pen_last_error());
    return p;
}

static void test_one_gib(void **state)
{
    (void)state;
    unsigned last = nodes - 1;
    struct pool *p = open_pool(GIB, TIER_1G, 0, 2);
    struct lease l = {0};
    assert_int_equal(pool_grow(p, last, 1), 0);
    assert_int_equal(free_pages((int)last, GIB), 0);
    assert_int_equal(free_pages(0, GIB), 1); /* of the node that was asked, and of no other */
    assert_int_equal(pool_take(p, &l, &(struct pool_want){.place = last, .size = {GIB}, .buffers = 1, .local = true}),
                     0);
    assert_int_equal(l.node, last);
    assert_true(l.verified);
    assert_int_equal(hugepage_verify(l.base, GIB, GIB, (int)last), 0);
    assert_int_equal(hugepage_verify(l.base, GIB, GIB, 0), -EXDEV);
    assert_int_equal(pool_grow(p, last, 1), -ENOMEM);
    char want[64];
    snprintf(want, sizeof want, "node %u has 0 free, need 1", last);
    if (!strstr(pen_last_error(), want))
        fail_msg("\"%s\" does not say \"%s\"", pen_last_error(), want);
    print_message("short node: %s\n", pen_last_error());
    assert_int_equal(pool_give(p, &l), 0);
    assert_int_equal(pool_close(p), 0);
    assert_int_equal(free_pages((int)last, GIB), 1);
}

/* A full home: the next leases come from the plan's other nodes, in its order. */
static void test_borrow_order(void **state)
{
    (void)state;
    struct pool *p = open_pool(MIB2, TIER_2M, 2, 2);
    struct lease l[16];
    unsigned n = 0;
    const struct pool_want want = {.size = {2 * MIB2}, .buffers = 1};
    for (unsigned i = 0; i < nodes; i++) {
        assert_int_equal(pool_take(p, &l[n], &want), 0);
        assert_int_equal(l[n].node, topo->node[plan->gpu[0].order[i]].os);
        assert_true(l[n].verified);
        assert_int_equal(hugepage_verify(l[n].base, 2 * MIB2, MIB2, l[n].node), 0);
        print_message("lease %u of home 0: node %d\n", i, l[n].node);
        n++;
    }
    struct lease none;
    assert_int_equal(pool_take(p, &none, &want), -EAGAIN);
    struct pool_view v;
    pool_read(p, &v);
    assert_int_equal(v.borrowed, nodes - 1);
    while (n--)
        assert_int_equal(pool_give(p, &l[n]), 0);
    assert_int_equal(pool_close(p), 0);
    for (unsigned i = 0; i < nodes; i++)
        assert_int_equal(free_pages((int)i, MIB2), PER_NODE);
}

/* The child joins a cgroup and says by its exit code what it saw; 0: what it should. */
static void in_cgroup(const char *name, const char *file, const char *text, int (*child)(void))
{
    char path[160];
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s", name);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s/%s", name, file);
    put(path, text);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(path, sizeof path, "/sys/fs/cgroup/%s/cgroup.procs", name);
        put(path, "0");
        _exit(child());
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        fail_msg("%s = %s: killed by signal %d", file, text, WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int grow_beyond(void)
{
    struct pool *p = open_pool(MIB2, TIER_2M, 0, 6);
    if (pool_grow(p, 0, 2))
        return 1; /* the limit has room for two */
    if (pool_grow(p, 0, 4) != -ENOMEM)
        return 2;
    print_message("hugetlb.2MB.max: %s\n", pen_last_error());
    struct lease l;
    if (pool_take(p, &l, &(struct pool_want){.size = {2 * MIB2}, .buffers = 1}))
        return 3; /* what was there is there */
    memset(l.base, 1, l.bytes);
    return pool_give(p, &l) || pool_close(p) ? 4 : 0;
}

static int grow_forbidden(void)
{
    struct pool *p = open_pool(MIB2, TIER_2M, 0, 2);
    if (pool_grow(p, 1, 1) != -EINVAL || !strstr(pen_last_error(), "cpuset forbids"))
        return 1;
    print_message("cpuset.mems: %s\n", pen_last_error());
    return pool_grow(p, 0, 1) || pool_close(p) ? 2 : 0;
}

static void test_limits(void **state)
{
    (void)state;
    put("/sys/fs/cgroup/cgroup.subtree_control", "+hugetlb +cpuset");
    in_cgroup("pages", "hugetlb.2MB.max", "4194304", grow_beyond);
    in_cgroup("mems", "cpuset.mems", "0", grow_forbidden);
    assert_int_equal(free_pages(0, MIB2), PER_NODE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_borrow_order),
                                       cmocka_unit_test(test_one_gib)};
    return cmocka_run_group_tests(tests, read_machine, NULL);
}
