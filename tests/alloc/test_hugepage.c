/* Claims: the chain steps down with one reason per step and strict refuses; a short node or cgroup at population time
 * is -ENOMEM and never a signal; wrong or unknown placement is never called verified; old kernels are populated by
 * read(2); real huge pages, where this machine grants them, are mapped, counted and given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc/hugepage.h"
#include "fake.h"
#include "perf/err.h"

enum { MIB = 1 << 20 };

static int setup(void **state)
{
    (void)state;
    fake_begin();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_end();
    return atomic_load(&fake.mapped_bytes) || atomic_load(&fake.open_files) > 0 || atomic_load(&fake.violations);
}

static int map(struct hugepage_map *m, size_t bytes, int node, enum page_tier first, bool strict)
{
    struct hugepage_opts o = {.bytes = bytes, .node = node, .first = first, .strict = strict};
    return hugepage_map(m, &o);
}

static void test_falls_down_with_reasons(void **state)
{
    (void)state;
    struct hugepage_map m;
    /* 6 MiB divide no 1 GiB page; 2 MiB pages may be there or not; something always is. */
    assert_int_equal(map(&m, 6 * MIB, 0, TIER_1G, false), 0);
    assert_non_null(strstr(m.why, "1 GiB pages: 6.00 MiB is no multiple of a page"));
    assert_true(m.tier >= TIER_2M);
    assert_true(m.verified);
    assert_int_equal((uintptr_t)m.base % (2 * MIB), 0);
    for (size_t i = 0; i < m.bytes; i += 4096)
        m.base[i] = (unsigned char)i;
    assert_int_equal(hugepage_unmap(&m), 0);
    assert_int_equal(map(&m, 6 * MIB, 0, TIER_1G, true), -EINVAL);
    assert_non_null(strstr(pen_last_error(), "strict"));
    assert_int_equal(map(&m, 100, 0, TIER_4K, false), -EINVAL);
    assert_int_equal(map(&m, 0, 0, TIER_4K, false), -EINVAL);
}

static void test_short_node_is_an_error(void **state)
{
    (void)state;
    struct hugepage_map m;
    atomic_store(&fake.populate_errno, EFAULT); /* what the kernel says for a node or cgroup without pages */
    assert_int_equal(map(&m, 4 * MIB, 0, TIER_THP, false), -ENOMEM);
    assert_non_null(strstr(pen_last_error(), "4 KiB pages: population"));
    assert_int_equal(map(&m, 4 * MIB, 900, TIER_4K, false), -EINVAL);
    assert_non_null(strstr(pen_last_error(), "node 900"));
    assert_int_equal(map(&m, 4 * MIB, 5000, TIER_4K, false), -EINVAL);
}

static void test_old_kernel(void **state)
{
    (void)state;
    struct hugepage_map m;
    atomic_store(&fake.populate_errno, EINVAL);
    assert_int_equal(map(&m, 4 * MIB, 0, TIER_4K, false), 0);
    assert_true(atomic_load(&fake.reads) >= 1);
    assert_true(m.verified); /* the pages are there: read(2) wrote them */
    assert_int_equal(hugepage_unmap(&m), 0);
}

static void test_placement(void **state)
{
    (void)state;
    struct hugepage_map m;
    atomic_store(&fake.wrong_node, 3);
    assert_int_equal(map(&m, 4 * MIB, 0, TIER_THP, false), -ENOMEM);
    assert_non_null(strstr(pen_last_error(), "page 0 lies on node 3, not on node 0"));
    /* Binding refused by a container: the last tier is used, and says what it is. */
    atomic_store(&fake.mbind_errno, EPERM);
    assert_int_equal(map(&m, 4 * MIB, 0, TIER_4K, false), 0);
    assert_false(m.verified);
    assert_non_null(strstr(m.why, "lies on node 3"));
    assert_int_equal(hugepage_unmap(&m), 0);
    /* move_pages refused as well: numa_maps answers. */
    atomic_store(&fake.wrong_node, 0);
    atomic_store(&fake.move_pages_errno, EPERM);
    assert_int_equal(map(&m, 4 * MIB, 0, TIER_4K, false), 0);
    assert_true(m.verified || strstr(m.why, "unverified"));
    assert_int_equal(hugepage_unmap(&m), 0);
}

static void test_numa_maps_text(void **state)
{
    (void)state;
    char path[] = "/tmp/penstock-numa-maps-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fputs("7f0000000000 default anon=4 dirty=4 N0=4 kernelpagesize_kB=4\n"
          "7f0040000000 bind:1 file=/anon_hugepage\\040(deleted) huge dirty=2 N1=2 kernelpagesize_kB=1048576\n"
          "7f00c0000000 bind:1 huge dirty=2 N0=1 N1=1 kernelpagesize_kB=1048576\n"
          "7f0140000000 bind:0 huge\n",
          f);
    fclose(f);
    const size_t two = 2ul << 30;
    assert_int_equal(hugepage_verify_numa_maps(path, (void *)0x7f0040000000, two, 1), 0);
    assert_int_equal(hugepage_verify_numa_maps(path, (void *)0x7f0040000000, two, 0), -EXDEV);
    assert_int_equal(hugepage_verify_numa_maps(path, (void *)0x7f00c0000000, two, 1), -EXDEV);
    assert_int_equal(hugepage_verify_numa_maps(path, (void *)0x7f0040000000, 2 * two, 1), -EXDEV); /* both mappings */
    assert_int_equal(hugepage_verify_numa_maps(path, (void *)0x7f0140000000, two, 0), -ENODATA);   /* nothing counted */
    assert_int_equal(hugepage_verify_numa_maps(path, (void *)0x1000, 4096, 0), -ENODATA);
    assert_int_equal(hugepage_verify_numa_maps("/nonexistent", (void *)0x1000, 4096, 0), -ENODATA);
    unlink(path);
}

static void test_child_has_nothing(void **state)
{
    (void)state;
    struct hugepage_map m;
    assert_int_equal(map(&m, 4 * MIB, -1, TIER_4K, false), 0);
    static const char mark[] = "what a child must not see";
    memcpy(m.base, mark, sizeof mark);
    pid_t pid = fork();
    if (pid == 0) {
        /* DONTFORK: our bytes are not in the child, so no copy-on-write can move pinned pages. (Something else may be:
         * ThreadSanitizer maps memory of its own in the hole.) */
        char there[sizeof mark] = {0};
        int p[2];
        bool readable = pipe(p) == 0 && write(p[1], m.base, sizeof mark) == (ssize_t)sizeof mark &&
                        read(p[0], there, sizeof there) == (ssize_t)sizeof there;
        _exit(readable && memcmp(there, mark, sizeof mark) == 0 ? 1 : 0);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(hugepage_unmap(&m), 0);
}

static unsigned long pool_pages(const char *file, size_t page_bytes, long set)
{
    char path[128];
    unsigned long n = 0;
    snprintf(path, sizeof path, "/sys/kernel/mm/hugepages/hugepages-%zukB/%s", page_bytes >> 10, file);
    FILE *f = fopen(path, set >= 0 ? "w" : "r");
    if (f && set >= 0)
        fprintf(f, "%ld\n", set);
    else if (f && fscanf(f, "%lu", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

/* Reserve pages, map them through the chain, see the kernel's count fall and rise, give everything back. */
static void real_pages(enum page_tier tier, unsigned long want)
{
    size_t page = hugepage_tier_bytes(tier);
    unsigned long before = pool_pages("nr_hugepages", page, -1), free0 = 0;
    if (geteuid() == 0)
        pool_pages("nr_hugepages", page, (long)(before + want));
    struct hugepage_map m;
    unsigned long used = 0, back = 0;
    bool ok = false;
    int rc = -ENOMEM;
    /* Others may use the pool meanwhile: the counts must fit together once in three times. */
    for (int i = 0; i < 3 && !(ok && used == free0 - 1 && back == free0); i++) {
        free0 = pool_pages("free_hugepages", page, -1);
        rc = free0 ? map(&m, page, 0, tier, true) : -ENOMEM;
        if (rc)
            break;
        used = pool_pages("free_hugepages", page, -1);
        ok = m.verified && m.tier == tier && m.page_bytes == page;
        memset(m.base, 0x5a, 4096);
        assert_int_equal(hugepage_unmap(&m), 0);
        back = pool_pages("free_hugepages", page, -1);
        /* More than the kernel has: refused with the count, no signal. */
        assert_int_equal(map(&m, page * (free0 + 64), 0, tier, true), -ENOMEM);
    }
    if (geteuid() == 0)
        pool_pages("nr_hugepages", page, (long)before);
    if (rc)
        skip(); /* no page of this size to be had */
    assert_true(ok);
    assert_int_equal(used, free0 - 1);
    assert_int_equal(back, free0);
}

static void test_real_1g(void **state)
{
    (void)state;
    real_pages(TIER_1G, 1);
}

static void test_real_2m(void **state)
{
    (void)state;
    real_pages(TIER_2M, 4);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_falls_down_with_reasons),
        TEST(test_short_node_is_an_error),
        TEST(test_old_kernel),
        TEST(test_placement),
        TEST(test_numa_maps_text),
        TEST(test_child_has_nothing),
        TEST(test_real_1g),
        TEST(test_real_2m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
