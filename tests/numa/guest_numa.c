/* Runs inside the guests of qemu.sh. Claims: the machine is read as it was built (nodes, distances, stand-in GPUs,
 * switch, a device at numa_node -1); pages land on the node that was asked, by policy and by first touch, and both
 * proofs agree; a short node is an error with a sentence, never SIGBUS; cgroup and cpuset limits are read, planned for
 * and obeyed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "numa/doctor.h"
#include "numa/draw.h"
#include "numa/place.h"
#include "numa/plan.h"
#include "numa/sysfs.h"
#include "perf/err.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static struct topology *topo;
static struct limits limits;
static bool two_socket;

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        fail_msg("%s: write \"%s\": %s", path, text, strerror(errno));
    close(fd);
}

static int read_machine(void **state)
{
    (void)state;
    const char *machine = getenv("GUEST_MACHINE");
    if (!machine) {
        fprintf(stderr, "runs inside qemu.sh only\n");
        exit(77);
    }
    two_socket = strcmp(machine, "two-socket") == 0;
    if (topo_open(&topo, &(struct topo_opts){.vendor = 0x1234, .nvml = ""}) || limits_read(&limits, ""))
        fail_msg("%s", pen_last_error());
    return 0;
}

static struct plan *make_plan(const struct plan_settings *settings)
{
    struct plan *plan;
    if (plan_make(&plan, topo, &limits, settings))
        fail_msg("%s", pen_last_error());
    return plan;
}

static int home_os(const struct plan *plan, size_t gpu)
{
    return plan->gpu[gpu].home < 0 ? -1 : topo->node[plan->gpu[gpu].home].os;
}

static void test_topology(void **state)
{
    (void)state;
    struct plan *plan = make_plan(&(struct plan_settings){.page = PLAN_PAGE_1G, .bytes_per_gpu = GIB});
    struct picture *picture;
    assert_int_equal(draw_make(&picture, topo, &limits, plan), 0);
    draw_write_text(picture, stdout, true);
    draw_close(picture);
    plan_write_text(plan, topo, stdout);
    assert_int_equal(topo->packages, 2);
    assert_int_equal(topo->nodes, two_socket ? 2 : 4);
    assert_int_equal(topo_distance(topo, 0, 1), two_socket ? 21 : 12);
    assert_int_equal(idset_count(&topo->online), 4);
    for (size_t i = 0; i < topo->nodes; i++) {
        uint64_t pages;
        assert_true(limits_free_pages(&pages, &limits, &topo->node[i], TOPO_PAGE_1G));
        assert_int_equal(pages, 1);
        assert_int_equal(topo->node[i].kind, TOPO_NODE_HOST);
    }
    if (two_socket) {
        assert_int_equal(topo->gpus, 4);
        static const int homes[] = {0, 1, 1, -1};
        for (size_t g = 0; g < 4; g++)
            assert_int_equal(home_os(plan, g), homes[g]);
        assert_int_equal(plan->gpu[0].from, PLAN_FROM_SYSFS);
        assert_int_equal(plan->gpu[3].from, PLAN_FROM_NOTHING);
        /* behind one switch, with the drive */
        assert_int_equal(plan->gpu[1].uplink, plan->gpu[2].uplink);
        assert_int_not_equal(plan->gpu[0].uplink, plan->gpu[1].uplink);
        assert_int_equal(topo->uplink[plan->gpu[1].uplink].count[TOPO_DRIVE], 1);
        assert_int_equal(topo->device[1].bridges, 3);
        /* two pages for four GPUs: each home gives its one */
        assert_int_equal(plan->gpu[0].take[0], 1);
        assert_int_equal(plan->gpu[1].take[1], 1);
        assert_int_equal(plan->gpu[2].got, 0);
        assert_non_null(strstr(plan->gpu[2].why_pages, "1 short of 1"));
    } else {
        assert_int_equal(topo->gpus, 2);
        assert_int_equal(home_os(plan, 0), 0);
        assert_int_equal(home_os(plan, 1), 3);
        static const int order[2][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}};
        for (size_t g = 0; g < 2; g++)
            for (size_t i = 0; i < 4; i++)
                assert_int_equal(topo->node[plan->gpu[g].order[i]].os, order[g][i]);
        /* one core per node: the package's other node lends its core */
        assert_int_equal(idset_count(&plan->gpu[0].io), 1);
        assert_true(idset_has(&plan->gpu[0].synth, 1));
        assert_true(idset_has(&plan->gpu[1].synth, 2));
    }
    plan_close(plan);
}

static void test_calls(void **state)
{
    (void)state;
    for (int i = 0; i < LIMITS_CALLS; i++) {
        assert_true(limits.call[i].known);
        assert_int_equal(limits.call[i].error, 0);
    }
    struct doctor *doctor;
    assert_int_equal(doctor_run(&doctor, &(struct doctor_in){.topo = topo, .limits = &limits, .root = ""}), 0);
    doctor_write_text(doctor, stdout, true);
    doctor_close(doctor);
}

static void *map_huge(size_t bytes, size_t page)
{
    int size_flag = page == GIB ? 30 << 26 : 21 << 26; /* MAP_HUGE_1GB, MAP_HUGE_2MB */
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | size_flag, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void set_pages_2m(int node, unsigned pages)
{
    char path[128], text[16];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/nr_hugepages", node);
    snprintf(text, sizeof text, "%u", pages);
    put(path, text);
}

static uint64_t free_2m(int node)
{
    uint64_t pages;
    assert_true(
        sysfs_u64(&pages, "", "/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/free_hugepages", node));
    return pages;
}

static void put_on(int node, size_t bytes, size_t page, const struct place_ops *ops, struct place_report *report)
{
    void *at = map_huge(bytes, page);
    assert_non_null(at);
    if (place_range(ops, report, at, bytes, page, node, &topo->node[topo_node_index(topo, node)].cpus))
        fail_msg("%s", pen_last_error());
    print_message("node %d: %zu pages of %zu MiB, by %d, proof %d, elsewhere %zu %s\n", node, report->pages, page >> 20,
                  (int)report->by, (int)report->proof, report->elsewhere, report->why);
    assert_int_equal(report->pages, bytes / page);
    assert_true(place_is_proved(report));
    struct place_report again = {0};
    assert_int_equal(place_range_check(ops, &again, at, bytes, page, node), 0);
    assert_true(place_is_proved(&again));
    /* the other nodes are seen as elsewhere */
    int other = node == 0 ? 1 : 0;
    assert_int_equal(place_range_check(ops, &again, at, bytes, page, other), 0);
    assert_int_equal(again.elsewhere, bytes / page);
    assert_int_equal(again.elsewhere_node, node);
    assert_int_equal(munmap(at, bytes), 0);
}

static int refuse_bind(void *addr, size_t bytes, int node)
{
    (void)addr;
    (void)bytes;
    (void)node;
    return -EPERM;
}

static int refuse_query(void *const *pages, int *node_or_err, size_t n)
{
    (void)pages;
    (void)node_or_err;
    (void)n;
    return -EPERM;
}

/* Each node in turn: by policy, by first touch of a pinned thread, proved by move_pages and by numa_maps. */
static void test_placement(void **state)
{
    (void)state;
    struct place_ops filtered = place_system;
    filtered.bind = refuse_bind;
    filtered.query = refuse_query;
    for (size_t i = 0; i < topo->nodes; i++)
        set_pages_2m(topo->node[i].os, 4);
    for (size_t i = 0; i < topo->nodes; i++) {
        int node = topo->node[i].os;
        struct place_report report;
        put_on(node, 4 * 2 * MIB, 2 * MIB, &place_system, &report);
        assert_int_equal(report.by, PLACE_BY_POLICY);
        assert_int_equal(report.proof, PLACE_PROVED_MOVE_PAGES);
        put_on(node, 4 * 2 * MIB, 2 * MIB, &filtered, &report);
        assert_int_equal(report.by, PLACE_BY_FIRST_TOUCH);
        assert_int_equal(report.proof, PLACE_PROVED_NUMA_MAPS);
        assert_int_equal(free_2m(node), 4);
    }
    struct idset cpus;
    assert_int_equal(place_system.get_affinity(&cpus), 0);
    assert_int_equal(idset_count(&cpus), 4);
}

/* Zeroing a 1 GiB page takes seconds under emulation: one, on the last node. */
static void test_one_gib(void **state)
{
    (void)state;
    struct place_report report;
    put_on(topo->node[topo->nodes - 1].os, GIB, GIB, &place_system, &report);
}

static void test_short_node(void **state)
{
    (void)state;
    int node = topo->node[topo->nodes - 1].os;
    for (size_t i = 0; i < topo->nodes; i++)
        set_pages_2m(topo->node[i].os, 4);
    set_pages_2m(node, 1);
    /* the pool as a whole has enough, so mmap succeeds; the node has one */
    void *at = map_huge(2 * 2 * MIB, 2 * MIB);
    assert_non_null(at);
    struct place_report report = {.elsewhere_node = -77};
    assert_int_equal(
        place_range(&place_system, &report, at, 2 * 2 * MIB, 2 * MIB, node, &topo->node[topo->nodes - 1].cpus),
        -ENOMEM);
    print_message("%s\n", pen_last_error());
    assert_non_null(strstr(pen_last_error(), "could not give 4.00 MiB"));
    assert_int_equal(report.elsewhere_node, -77);
    munmap(at, 2 * 2 * MIB);
    assert_int_equal(free_2m(node), 1);

    /* with the thread's policy on the node, the reservation itself fails early */
    struct place_saved saved;
    char why[PLACE_WHY];
    struct idset stay = {{0}};
    assert_int_equal(place_thread_begin(&place_system, &saved, why, &stay, node), 0);
    errno = 0;
    assert_null(map_huge(2 * 2 * MIB, 2 * MIB));
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(place_thread_end(&place_system, &saved), 0);
    at = map_huge(2 * 2 * MIB, 2 * MIB);
    assert_non_null(at);
    munmap(at, 2 * 2 * MIB);

    /* the plan's next choice: a node of the package, or the nearest with pages */
    assert_int_equal(limits_read(&limits, ""), 0);
    struct plan *plan = make_plan(&(struct plan_settings){.page = PLAN_PAGE_2M, .bytes_per_gpu = 2 * 2 * MIB});
    size_t gpu = 1;
    assert_int_equal(home_os(plan, gpu), node);
    assert_int_equal(plan->gpu[gpu].take[topo->nodes - 1], 1);
    assert_int_equal(plan->gpu[gpu].take[topo->nodes - 2], 1);
    assert_int_equal(plan->gpu[gpu].got, 2);
    plan_close(plan);
}

/* In a child: a group with one 2 MiB page and node 0 only. */
static void in_cgroup(void **state)
{
    (void)state;
    char text[IDSET_TEXT], pid[16];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    put("/sys/fs/cgroup/cgroup.subtree_control", "+hugetlb +cpuset");
    assert_true(mkdir("/sys/fs/cgroup/pod", 0755) == 0 || errno == EEXIST);
    put("/sys/fs/cgroup/pod/hugetlb.2MB.max", "2097152");
    put("/sys/fs/cgroup/pod/cpuset.mems", "0");
    put("/sys/fs/cgroup/pod/cgroup.procs", pid);
    assert_int_equal(limits_read(&limits, ""), 0);
    uint64_t pages;
    const char *file;
    assert_true(limits_cgroup_pages(&pages, &file, &limits, TOPO_PAGE_2M));
    assert_int_equal(pages, 1);
    assert_string_equal(file, "/sys/fs/cgroup/pod/hugetlb.2MB.max");
    assert_string_equal(idset_text(text, &limits.mems), "0");

    void *at = map_huge(2 * 2 * MIB, 2 * MIB);
    assert_non_null(at); /* hugetlb.max strikes at touch */
    struct place_report report;
    assert_int_equal(place_range(&place_system, &report, at, 2 * 2 * MIB, 2 * MIB, 0, &topo->node[0].cpus), -ENOMEM);
    print_message("%s\n", pen_last_error());
    assert_int_equal(place_range_bind(&place_system, &report, at, 2 * 2 * MIB, 1), -EINVAL);
    print_message("%s\n", pen_last_error());
    assert_non_null(strstr(pen_last_error(), "cpuset.mems.effective"));
    munmap(at, 2 * 2 * MIB);

    struct plan *plan = make_plan(&(struct plan_settings){.page = PLAN_PAGE_2M, .bytes_per_gpu = 2 * 2 * MIB});
    assert_true(plan->capped);
    assert_int_equal(plan->cap_pages, 1);
    assert_false(plan->node[1].usable);
    assert_int_equal(plan->gpu[0].got, 1);
    assert_int_equal(plan->gpu[1].orders, 1);
    plan_close(plan);
}

static void test_cgroup(void **state)
{
    (void)state;
    for (size_t i = 0; i < topo->nodes; i++)
        set_pages_2m(topo->node[i].os, 4);
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct CMUnitTest inner[] = {cmocka_unit_test(in_cgroup)};
        _exit(cmocka_run_group_tests(inner, NULL, NULL));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topology),   cmocka_unit_test(test_calls),  cmocka_unit_test(test_placement),
        cmocka_unit_test(test_short_node), cmocka_unit_test(test_cgroup), cmocka_unit_test(test_one_gib),
    };
    return cmocka_run_group_tests(tests, read_machine, NULL);
}
