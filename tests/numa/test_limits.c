/* Claims: the tightest level of a cgroup decides and is named; sets intersect; what no file says stays unknown; the
 * probe tells open calls from refused and from killing ones; free pages come from the snapshot before the topology. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "numa/limits.h"
#include "perf/err.h"
#include "tests/numa/tree.h"

static void test_pod(void **state)
{
    (void)state;
    char root[TREE_PATH], text[IDSET_TEXT];
    static struct limits l;
    tree_unpack(root, "pod");
    assert_int_equal(limits_read(&l, root), 0);
    assert_true(l.cgroup2);
    assert_string_equal(idset_text(text, &l.cpus), "8-15");
    assert_string_equal(idset_text(text, &l.mems), "1");
    /* leaf: 6 - 1 GiB; parent: 10 - 7; its parent's reservation: 4 - 3 */
    assert_true(l.touch[TOPO_PAGE_1G].known && l.reserve[TOPO_PAGE_1G].known);
    assert_int_equal(l.touch[TOPO_PAGE_1G].value, 3ull << 30);
    assert_string_equal(l.touch[TOPO_PAGE_1G].file, "/sys/fs/cgroup/kubepods.slice/pod1/hugetlb.1GB.max");
    assert_int_equal(l.reserve[TOPO_PAGE_1G].value, 1ull << 30);
    uint64_t pages;
    const char *file;
    assert_true(limits_cgroup_pages(&pages, &file, &l, TOPO_PAGE_1G));
    assert_int_equal(pages, 1);
    assert_string_equal(file, "/sys/fs/cgroup/kubepods.slice/hugetlb.1GB.rsvd.max");
    assert_true(limits_cgroup_pages(&pages, &file, &l, TOPO_PAGE_2M));
    assert_int_equal(pages, 0);
    assert_int_equal(l.memory.value, 32ull << 30);
    assert_int_equal(l.cpu_milli.value, 4000);
    assert_true(l.memlock_read && l.memlock.known);
    assert_int_equal(l.memlock.value, 8 << 20);
    assert_int_equal(l.seccomp, 2);
    assert_false(l.call[LIMITS_MBIND].known);
    assert_int_equal(l.nodes, 2);
    assert_int_equal(l.node[0].pages[TOPO_PAGE_1G].free, 9);
    assert_true(l.reserved_known[TOPO_PAGE_1G]);
    assert_int_equal(l.reserved[TOPO_PAGE_1G], 3);
    assert_false(l.node[0].pages[TOPO_PAGE_2M].total_known);

    struct topo_node node = {.os = 0, .pages = {{.total = 99, .total_known = true}, {.total = 7, .total_known = true}}};
    assert_true(limits_free_pages(&pages, &l, &node, TOPO_PAGE_1G));
    assert_int_equal(pages, 9);
    assert_true(limits_free_pages(&pages, &l, &node, TOPO_PAGE_2M));
    assert_int_equal(pages, 7);
    node.pages[TOPO_PAGE_2M].total_known = false;
    assert_false(limits_free_pages(&pages, &l, &node, TOPO_PAGE_2M));

    json_t *json = limits_to_json(&l);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "mems")), "1");
    assert_true(json_is_null(json_object_get(json_object_get(json, "calls"), "mbind")));
    json_decref(json);
    tree_remove(root);
}

static void test_bare(void **state)
{
    (void)state;
    char root[TREE_PATH];
    static struct limits l;
    tree_unpack(root, "bare");
    assert_int_equal(limits_read(&l, root), 0);
    assert_true(l.cgroup2);
    uint64_t pages;
    const char *file;
    assert_false(limits_cgroup_pages(&pages, &file, &l, TOPO_PAGE_1G));
    assert_true(l.memlock_read);
    assert_false(l.memlock.known || l.memory.known || l.cpu_milli.known);
    assert_int_equal(l.nodes, 1);
    assert_int_equal(l.node[0].pages[TOPO_PAGE_1G].free, 1);
    assert_true(l.cpus_known && l.mems_known);
    tree_remove(root);

    /* an empty root: nothing known, nothing wrong */
    assert_int_equal(limits_read(&l, "/nonexistent"), 0);
    assert_false(l.cgroup2 || l.cpus_known || l.mems_known || l.memlock_read || l.call[0].known);
    json_t *json = limits_to_json(&l);
    assert_true(json_is_null(json_object_get(json, "cpus")));
    json_decref(json);
}

/* Odd contents never become limits: "max", words, negative numbers, sizes that overflow. */
static void test_odd_files(void **state)
{
    (void)state;
    static const char *const odd[] = {"max", "", "12 apples", "-1", "99999999999999999999999", "0x"};
    char root[TREE_PATH];
    tree_unpack(root, "pod");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        static struct limits l;
        tree_put(root, odd[i], "sys/fs/cgroup/kubepods.slice/pod1/memory.max");
        tree_put(root, odd[i], "sys/fs/cgroup/kubepods.slice/pod1/ctr/cpuset.mems.effective");
        assert_int_equal(limits_read(&l, root), 0);
        assert_false(l.memory.known);
    }
    tree_remove(root);
}

/* Refuse one call in a child by a seccomp filter and let the child probe. */
static void probe_under_filter(struct limits_answer out[LIMITS_CALLS], unsigned nr, unsigned action)
{
    struct limits_answer *shared = mmap(NULL, sizeof(struct limits_answer[LIMITS_CALLS]), PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, action),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            _exit(77);
        limits_probe(shared, true);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        munmap(shared, sizeof(struct limits_answer[LIMITS_CALLS]));
        print_message("no seccomp filters here\n");
        skip();
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    memcpy(out, shared, sizeof(struct limits_answer[LIMITS_CALLS]));
    munmap(shared, sizeof(struct limits_answer[LIMITS_CALLS]));
}

static void test_probe(void **state)
{
    (void)state;
    static const unsigned numbers[LIMITS_CALLS] = {SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_move_pages,
                                                   SYS_io_uring_setup};
    struct limits_answer free_run[LIMITS_CALLS], run[LIMITS_CALLS];
    limits_probe(free_run, false);
    for (int i = 0; i < LIMITS_CALLS; i++) {
        assert_true(free_run[i].known);
        print_message("%s: %s\n", limits_call_name((enum limits_call)i),
                      free_run[i].error ? strerror(free_run[i].error) : "works");
    }
    for (int refused = 0; refused < LIMITS_CALLS; refused++) {
        probe_under_filter(run, numbers[refused], SECCOMP_RET_ERRNO | EPERM);
        for (int i = 0; i < LIMITS_CALLS; i++) {
            assert_true(run[i].known);
            assert_int_equal(run[i].error, i == refused ? EPERM : free_run[i].error);
        }
    }
    probe_under_filter(run, SYS_mbind, SECCOMP_RET_KILL_PROCESS);
    assert_true(run[LIMITS_MBIND].known);
    assert_int_equal(run[LIMITS_MBIND].error, -1);
    assert_int_equal(run[LIMITS_MOVE_PAGES].error, free_run[LIMITS_MOVE_PAGES].error);
}

static void test_here(void **state)
{
    (void)state;
    static struct limits l;
    assert_int_equal(limits_read(&l, ""), 0);
    assert_true(l.cpus_known);
    assert_false(idset_empty(&l.cpus));
    assert_true(l.call[LIMITS_MBIND].known);
    assert_true(l.nodes >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pod),   cmocka_unit_test(test_bare), cmocka_unit_test(test_odd_files),
        cmocka_unit_test(test_probe), cmocka_unit_test(test_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
