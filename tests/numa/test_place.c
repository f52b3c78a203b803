/* Claims: with every k-th kernel call failing, placement ends with the thread where it was, outputs untouched and one
 * sentence; a refusal (EPERM, ENOSYS) is no failure but a step down that is reported; wrong nodes and absent pages are
 * counted; numa_maps takes over from move_pages and counts each mapping by its own page size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "numa/numa_maps.h"
#include "numa/place.h"
#include "perf/err.h"

/* A kernel in a struct: 4 nodes, a thread with CPUs and a policy, a range whose pages have a node. The k-th call fails.
 */
static struct {
    struct idset cpus, policy_nodes;
    int policy;
    int calls, fail_at, fail_with;
    int refuse; /* what mempolicy calls answer, 0: they work */
    int bound;  /* node of the range, -1: not bound */
    int page_node[64];
    size_t page_bytes;
    char *range;
    char maps[512];
} fake;

static int count_call(void)
{
    return ++fake.calls == fake.fail_at ? fake.fail_with : 0;
}

static int fake_get_affinity(struct idset *cpus)
{
    int rc = count_call();
    if (rc == 0)
        *cpus = fake.cpus;
    return rc;
}

static int fake_set_affinity(const struct idset *cpus)
{
    int rc = count_call();
    if (rc == 0)
        fake.cpus = *cpus;
    return rc;
}

static int fake_get_policy(int *mode, struct idset *nodes)
{
    int rc = count_call();
    if (rc || fake.refuse)
        return rc ? rc : fake.refuse;
    *mode = fake.policy;
    *nodes = fake.policy_nodes;
    return 0;
}

static int fake_set_policy(int mode, const struct idset *nodes)
{
    int rc = count_call();
    if (rc || fake.refuse)
        return rc ? rc : fake.refuse;
    fake.policy = mode;
    fake.policy_nodes = *nodes;
    return 0;
}

static int fake_bind(void *addr, size_t bytes, int node)
{
    (void)addr;
    (void)bytes;
    int rc = count_call();
    if (rc || fake.refuse)
        return rc ? rc : fake.refuse;
    fake.bound = node;
    return 0;
}

/* CPUs 10n to 10n+9 belong to node n: first touch lands there. */
static int fake_populate(void *addr, size_t bytes)
{
    (void)addr;
    int rc = count_call();
    if (rc)
        return rc;
    for (size_t i = 0; i < bytes / fake.page_bytes; i++)
        fake.page_node[i] = fake.bound >= 0 ? fake.bound : idset_next(&fake.cpus, 0) / 10;
    return 0;
}

static int fake_query(void *const *pages, int *node_or_err, size_t n)
{
    int rc = count_call();
    for (size_t i = 0; rc == 0 && i < n; i++)
        node_or_err[i] = fake.page_node[(size_t)((char *)pages[i] - fake.range) / fake.page_bytes];
    return rc;
}

static int fake_open_maps(FILE **maps_p)
{
    int rc = count_call();
    if (rc)
        return rc;
    *maps_p = fmemopen(fake.maps, strlen(fake.maps), "r");
    return *maps_p ? 0 : -errno;
}

static const struct place_ops fake_ops = {
    .get_affinity = fake_get_affinity,
    .set_affinity = fake_set_affinity,
    .get_policy = fake_get_policy,
    .set_policy = fake_set_policy,
    .bind = fake_bind,
    .populate = fake_populate,
    .read_zero = fake_populate,
    .query = fake_query,
    .open_maps = fake_open_maps,
};

enum { PAGES = 8 };
#define GIB (1ull << 30)

static void fake_reset(int fail_at, int fail_with, int refuse)
{
    memset(&fake, 0, sizeof fake);
    fake.fail_at = fail_at;
    fake.fail_with = fail_with;
    fake.refuse = refuse;
    fake.bound = -1;
    fake.page_bytes = GIB;
    fake.range = (char *)(uintptr_t)(64 * GIB); /* never touched */
    fake.cpus = idset_first(40);
    for (size_t i = 0; i < PAGES; i++)
        fake.page_node[i] = -ENOENT;
    snprintf(fake.maps, sizeof fake.maps,
             "ff0000000 default anon=1 N3=1 kernelpagesize_kB=4\n"
             "1000000000 bind:2 file=/anon_hugepage huge dirty=8 N2=8 kernelpagesize_kB=1048576\n"
             "2000000000 default N0=5 kernelpagesize_kB=4\n");
}

static int run_range(struct place_report *report)
{
    struct idset cpus;
    idset_parse(&cpus, "20-29");
    return place_range(&fake_ops, report, fake.range, PAGES * GIB, GIB, 2, &cpus);
}

static int run_thread(struct place_report *report)
{
    (void)report;
    struct idset cpus;
    idset_parse(&cpus, "20-29");
    struct place_saved saved;
    char why[PLACE_WHY];
    int rc = place_thread_begin(&fake_ops, &saved, why, &cpus, 2);
    if (rc)
        return rc;
    assert_true(idset_equal(&fake.cpus, &cpus));
    assert_true(why[0] ? idset_empty(&fake.policy_nodes) : idset_has(&fake.policy_nodes, 2));
    assert_true(why[0] || !fake.refuse);
    return place_thread_end(&fake_ops, &saved);
}

/* Run with the k-th call failing for every k until a run has fewer than k calls. */
static int fail_each(int (*scenario)(struct place_report *), int fail_with, int refuse)
{
    const struct idset all = idset_first(40);
    for (int k = 1;; k++) {
        fake_reset(k, fail_with, refuse);
        err_set("");
        struct place_report report = {.elsewhere_node = -77};
        int rc = scenario(&report);
        bool reached = fake.calls >= k;
        if (rc) {
            assert_true(pen_last_error()[0]);
            assert_int_equal(report.elsewhere_node, -77);
        } else if (scenario == run_range) {
            assert_true(report.proof == PLACE_UNVERIFIED ? report.why[0] != 0 : place_is_proved(&report));
            /* an old kernel's populate (EINVAL, ENOSYS) is replaced without a word: the result is the same */
            assert_true(!reached || report.why[0] || fail_with == -EINVAL || fail_with == -ENOSYS);
        }
        /* The thread is back, except when putting it back is itself the call that failed. */
        if (!(rc && fake.calls == k && reached && !idset_equal(&fake.cpus, &all)))
            assert_true(idset_equal(&fake.cpus, &all));
        else
            assert_non_null(strstr(pen_last_error(), "back"));
        if (!reached)
            return k - 1;
        assert_true(k < 100);
    }
}

static void test_fail_every_call(void **state)
{
    (void)state;
    static const int errors[] = {-EIO, -EINVAL, -ENOMEM, -EFAULT, -EPERM, -ENOSYS};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        assert_int_equal(fail_each(run_range, errors[i], 0), 3);      /* bind, populate, query */
        assert_int_equal(fail_each(run_range, errors[i], -EPERM), 6); /* and three for the visit */
        assert_int_equal(fail_each(run_thread, errors[i], 0), 6);
        assert_int_equal(fail_each(run_thread, errors[i], -ENOSYS), 4);
    }
}

static void test_policy(void **state)
{
    (void)state;
    fake_reset(0, 0, 0);
    struct place_report r;
    assert_int_equal(run_range(&r), 0);
    assert_int_equal(r.by, PLACE_BY_POLICY);
    assert_int_equal(r.proof, PLACE_PROVED_MOVE_PAGES);
    assert_int_equal(r.pages, PAGES);
    assert_true(place_is_proved(&r));
    assert_string_equal(r.why, "");
}

static void test_refused(void **state)
{
    (void)state;
    fake_reset(0, 0, -EPERM);
    struct place_report r;
    assert_int_equal(run_range(&r), 0);
    assert_int_equal(r.by, PLACE_BY_FIRST_TOUCH);
    assert_true(place_is_proved(&r));
    assert_non_null(strstr(r.why, "mbind is refused"));

    /* a CPU-less node cannot be reached by first touch: the check sees it */
    struct idset cpus;
    idset_parse(&cpus, "10-19");
    fake_reset(0, 0, -EPERM);
    assert_int_equal(place_range(&fake_ops, &r, fake.range, PAGES * GIB, GIB, 2, &cpus), 0);
    assert_false(place_is_proved(&r));
    assert_int_equal(r.elsewhere, PAGES);
    assert_int_equal(r.elsewhere_node, 1);
}

static void test_check_counts(void **state)
{
    (void)state;
    fake_reset(0, 0, 0);
    fake.page_node[0] = 2;
    fake.page_node[1] = 3;
    fake.page_node[2] = 2;
    struct place_report r = {0};
    assert_int_equal(place_range_check(&fake_ops, &r, fake.range, PAGES * GIB, GIB, 2), 0);
    assert_int_equal(r.elsewhere, 1);
    assert_int_equal(r.elsewhere_node, 3);
    assert_int_equal(r.absent, PAGES - 3);
    assert_false(place_is_proved(&r));
    assert_int_equal(place_range_check(&fake_ops, &r, fake.range, 0, GIB, 2), -EINVAL);
}

static void test_maps_fallback(void **state)
{
    (void)state;
    fake_reset(1, -EPERM, 0); /* the query */
    struct place_report r = {0};
    assert_int_equal(place_range_check(&fake_ops, &r, fake.range, PAGES * GIB, GIB, 2), 0);
    assert_int_equal(r.proof, PLACE_PROVED_NUMA_MAPS);
    assert_true(place_is_proved(&r));
    assert_non_null(strstr(r.why, "numa_maps"));

    fake_reset(1, -ENOSYS, 0);
    r = (struct place_report){0};
    assert_int_equal(place_range_check(&fake_ops, &r, fake.range, PAGES * GIB, GIB, 1), 0);
    assert_int_equal(r.elsewhere, PAGES);
    assert_int_equal(r.elsewhere_node, 2);
}

static void sum_of(struct numa_maps_sum *sum, const char *text, uintptr_t addr, size_t bytes, int node, int expect)
{
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", text);
    FILE *f = fmemopen(copy, strlen(copy), "r");
    assert_non_null(f);
    assert_int_equal(numa_maps_sum(sum, f, addr, bytes, node), expect);
    fclose(f);
}

static void test_numa_maps(void **state)
{
    (void)state;
    /* a 1 GiB arena with a 2 MiB tail: two mappings of different page size, side by side */
    const char *mixed =
        "7f0000000000 bind:1 file=/anon_hugepage\\040(deleted) huge dirty=2 N1=2 kernelpagesize_kB=1048576\n"
        "7f0080000000 bind:1 huge dirty=3 N1=2 N0=1 kernelpagesize_kB=2048\n"
        "7f0090000000 default anon=9 N0=9 kernelpagesize_kB=4\n";
    struct numa_maps_sum s;
    sum_of(&s, mixed, 0x7f0000000000, 2 * GIB + (6 << 20), 1, 0);
    assert_int_equal(s.on_bytes, 2 * GIB + (4 << 20));
    assert_int_equal(s.off_bytes, 2 << 20);
    assert_int_equal(s.off_node, 0);
    assert_true(s.exact);
    sum_of(&s, mixed, 0x7f0000000000 + GIB, GIB, 1, 0); /* the second page of the first mapping */
    assert_false(s.exact);
    assert_int_equal(s.off_bytes, 0);
    sum_of(&s, mixed, 0x1000, 4096, 1, -ENOENT);
    sum_of(&s, "not a line\n", 0x1000, 4096, 1, -ENOENT);
}

/* The real kernel: 4 KiB pages of this process lie on the node of the CPU that it runs on, whatever the machine. */
static void test_real(void **state)
{
    (void)state;
    struct idset cpus;
    assert_int_equal(place_system.get_affinity(&cpus), 0);
    assert_false(idset_empty(&cpus));
    size_t bytes = 3 << 20;
    char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(mem, MAP_FAILED);
    struct place_report r;
    int rc = place_range(&place_system, &r, mem, bytes, 4096, 0, &cpus);
    if (rc == -EINVAL) {
        munmap(mem, bytes);
        print_message("node 0 is not ours: %s\n", pen_last_error());
        skip();
    }
    assert_int_equal(rc, 0);
    print_message("by %d proof %d why \"%s\"\n", (int)r.by, (int)r.proof, r.why);
    assert_int_equal(r.pages, bytes / 4096);
    assert_int_equal(r.absent, 0);
    struct place_report maps = {0};
    struct place_ops no_query = place_system;
    no_query.query = fake_query;
    fake_reset(1, -EPERM, 0);
    assert_int_equal(place_range_check(&no_query, &maps, mem, bytes, 4096, 0), 0);
    if (maps.proof == PLACE_PROVED_NUMA_MAPS) {
        assert_int_equal(maps.elsewhere, r.elsewhere);
        assert_int_equal(maps.absent, 0);
    }
    munmap(mem, bytes);
    char why[PLACE_WHY];
    struct place_saved saved;
    struct idset none = {{0}};
    assert_int_equal(place_thread_begin(&place_system, &saved, why, &none, 1999), -EINVAL);
    assert_true(pen_last_error()[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy),        cmocka_unit_test(test_refused),   cmocka_unit_test(test_check_counts),
        cmocka_unit_test(test_maps_fallback), cmocka_unit_test(test_numa_maps), cmocka_unit_test(test_fail_every_call),
        cmocka_unit_test(test_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
