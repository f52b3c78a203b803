/* Claims: every range of a file arrives exactly, whatever order they are waited for, from the drive and from the page
 * cache; a range behind another one reuses its memory; without trim the memory stays, with it it goes back; a file that
 * is shortened, a drive that fails, a budget without room are errors of those who wait, with the file and the place,
 * and the leases return; every call may fail once without a lost file, byte, thread or registration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/loader.h"
#include "fake.h"
#include "perf/err.h"

enum { FILE_BYTES = 9 * (1 << 20) + 4321, PIECES = 24 };

static char path[64];
static unsigned char *content;
static int file_fd;

static int make_file(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "penstock-loader-XXXXXX");
    file_fd = mkstemp(path);
    content = malloc(FILE_BYTES);
    for (size_t i = 0; i < FILE_BYTES; i++)
        content[i] = (unsigned char)(((i + 1) * 0x9e3779b97f4a7c15u) >> 40);
    return write(file_fd, content, FILE_BYTES) != FILE_BYTES || fsync(file_fd);
}

static int remove_file(void **state)
{
    (void)state;
    free(content);
    close(file_fd);
    return unlink(path);
}

static struct loader *open_loader(struct budget *budget, bool trim, uint64_t largest)
{
    struct loader *l = NULL;
    struct loader_opts o = {
        .largest_bytes = largest, .trim = trim, .node = -1, .budget = budget, .registrar = fake_registrar};
    assert_int_equal(loader_open(&l, &o), 0);
    return l;
}

struct range {
    uint64_t at, bytes;
};

static struct range range_of(unsigned i)
{
    uint64_t at = i * 389017ull, bytes = 1 + (i * 77777ull) % 1500000;
    return (struct range){at, at + bytes > FILE_BYTES ? FILE_BYTES - at : bytes};
}

static void expect_range(struct load *x, struct range r)
{
    const uint8_t *data = NULL;
    assert_int_equal(load_wait(x, &data), 0);
    assert_memory_equal(data, content + r.at, r.bytes);
}

static void all_ranges(bool cached, bool backwards)
{
    fake_begin();
    struct load *x[PIECES];
    struct loader *l = open_loader(NULL, true, 1500000);
    posix_fadvise(file_fd, 0, 0, cached ? POSIX_FADV_WILLNEED : POSIX_FADV_DONTNEED);
    for (unsigned i = 0; i < PIECES; i++) {
        struct range r = range_of(i);
        assert_int_equal(load_ask(l, &x[i], path, r.at, r.bytes, i >= 4 && !backwards ? x[i - 4] : NULL), 0);
    }
    for (unsigned k = 0; k < PIECES; k++) {
        unsigned i = backwards ? PIECES - 1 - k : k;
        expect_range(x[i], range_of(i));
        load_drop(x[i]);
    }
    struct loader_view v;
    loader_read(l, &v);
    uint64_t sum = 0;
    for (unsigned i = 0; i < PIECES; i++)
        sum += range_of(i).bytes;
    assert_true(v.bytes >= sum);
    /* in order, only four at a time hold memory: 4 leases of 1.5 MB in units of 64 KiB */
    if (!backwards)
        assert_in_range(v.peak_bytes, 1, 7 << 20);
    assert_int_equal(loader_close(l), 0);
    assert_int_equal(atomic_load(&fake.registered), 0);
    assert_int_equal(atomic_load(&fake.mapped_bytes), 0);
    assert_int_equal(atomic_load(&fake.violations), 0);
    assert_int_equal(atomic_load(&fake.open_files), 0);
    fake_end();
}

static void test_ranges(void **state)
{
    (void)state;
    all_ranges(false, false);
    all_ranges(true, false);
    all_ranges(false, true);
}

/* What lies in the page cache is copied from there, and only that. */
static void test_cache(void **state)
{
    (void)state;
    struct loader_view v;
    struct load *x;
    for (int cached = 0; cached < 2; cached++) {
        fsync(file_fd);
        posix_fadvise(file_fd, 0, 0, POSIX_FADV_DONTNEED);
        ssize_t there = sys_real.cached(file_fd, 0, FILE_BYTES);
        unsigned char *sink = malloc(FILE_BYTES);
        if (cached)
            assert_int_equal(pread(file_fd, sink, FILE_BYTES, 0), FILE_BYTES);
        free(sink);
        struct loader *l = open_loader(NULL, false, FILE_BYTES);
        assert_int_equal(load_ask(l, &x, path, 0, FILE_BYTES, NULL), 0);
        expect_range(x, (struct range){0, FILE_BYTES});
        load_drop(x);
        loader_read(l, &v);
        assert_int_equal(loader_close(l), 0);
        if (there != 0 || !v.direct)
            skip(); /* tmpfs, or a kernel that will not say */
        assert_int_equal(v.cached_bytes, cached ? v.bytes : 0);
        if (!cached) /* and the cache has not grown */
            assert_int_equal(sys_real.cached(file_fd, 0, FILE_BYTES), 0);
    }
}

/* The memory of a dropped range serves the next ones, and goes back when told. */
static void test_reuse(void **state)
{
    (void)state;
    struct loader *l = open_loader(NULL, false, 1 << 20);
    struct loader_view v;
    for (int round = 0; round < 20; round++) {
        struct load *x;
        assert_int_equal(load_ask(l, &x, path, (uint64_t)(round + 1) * 1000, 1 << 20, NULL), 0);
        expect_range(x, (struct range){(uint64_t)(round + 1) * 1000, 1 << 20});
        load_drop(x);
        for (int i = 0; i < 1000; i++) { /* given back by the loader's thread */
            loader_read(l, &v);
            if (v.pool.leased_bytes == 0)
                break;
            usleep(1000);
        }
    }
    assert_int_equal(v.pool.grows, 1);
    loader_trim(l);
    for (int i = 0; i < 1000 && v.pool.mapped_bytes; i++) {
        usleep(1000);
        loader_read(l, &v);
    }
    assert_int_equal(v.pool.mapped_bytes, 0);
    assert_int_equal(loader_close(l), 0);
}

/* Reading ahead takes no more than there is; who waits for what cannot be had is told. */
static void test_budget_short(void **state)
{
    (void)state;
    struct budget *b;
    struct load *x[3];
    assert_int_equal(budget_open(&b, &(struct budget_opts){.limit_bytes = 5 << 20}), 0);
    struct loader *l = open_loader(b, false, 2 << 20);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(load_ask(l, &x[i], path, 1 + i * 100, 2 << 20, NULL), 0);
    expect_range(x[0], (struct range){1, 2 << 20});
    expect_range(x[1], (struct range){101, 2 << 20});
    const uint8_t *data;
    assert_int_equal(load_wait(x[2], &data), -EAGAIN);
    assert_non_null(strstr(pen_last_error(), path));
    load_drop(x[2]);
    load_drop(x[0]);
    assert_int_equal(load_ask(l, &x[2], path, 200, 2 << 20, NULL), 0);
    expect_range(x[2], (struct range){200, 2 << 20}); /* in the memory of the first */
    assert_int_equal(loader_close(l), -EBUSY);
    load_drop(x[1]);
    load_drop(x[2]);
    assert_int_equal(load_ask(l, &x[0], path, 0, 3 << 20, NULL), -E2BIG);
    assert_int_equal(loader_close(l), 0);
    assert_int_equal(budget_close(b), 0);
}

/* Another process shortens the file while it is read: mapped, this would be a SIGBUS. */
static void test_shortened(void **state)
{
    (void)state;
    char name[] = "penstock-loader-XXXXXX";
    int fd = mkstemp(name);
    assert_int_equal(write(fd, content, 4 << 20), 4 << 20);
    struct loader *l = open_loader(NULL, false, 2 << 20);
    struct load *a, *b, *c;
    const uint8_t *data;
    assert_int_equal(load_ask(l, &a, name, 0, 2 << 20, NULL), 0);
    assert_int_equal(load_ask(l, &b, name, 2 << 20, 2 << 20, a), 0); /* not begun before a is dropped */
    expect_range(a, (struct range){0, 2 << 20});
    assert_int_equal(ftruncate(fd, 3 << 20), 0);
    assert_memory_equal(lease_buffer(load_lease(a), 0), content, 2 << 20); /* what was read stays */
    assert_int_equal(load_wait(b, &data), -ENODATA);
    assert_non_null(strstr(pen_last_error(), "ends at byte 3145728, expected at least 4194304"));
    load_drop(a);
    load_drop(b);
    assert_int_equal(load_ask(l, &c, name, 1 << 20, 2 << 20, NULL), 0); /* the loader goes on */
    expect_range(c, (struct range){1 << 20, 2 << 20});
    load_drop(c);
    assert_int_equal(loader_close(l), 0);
    close(fd);
    unlink(name);
}

static void test_drive_fails(void **state)
{
    (void)state;
    fake_begin();
    atomic_store(&fake.read_eio_at, 3);
    atomic_store(&fake.cached_nothing, true);
    struct loader *l = open_loader(NULL, true, FILE_BYTES);
    struct load *x;
    const uint8_t *data;
    assert_int_equal(load_ask(l, &x, path, 0, FILE_BYTES, NULL), 0);
    assert_int_equal(load_wait(x, &data), -EIO);
    assert_non_null(strstr(pen_last_error(), path));
    load_drop(x);
    assert_int_equal(loader_close(l), 0);
    assert_int_equal(atomic_load(&fake.mapped_bytes), 0);
    fake_end();
}

/* Dropped in any state: asked, being read, there. */
static void test_drop_early(void **state)
{
    (void)state;
    fake_begin();
    atomic_store(&fake.read_slow_us, 500);
    struct loader *l = open_loader(NULL, true, 1500000);
    struct load *x[PIECES];
    for (unsigned i = 0; i < PIECES; i++) {
        struct range r = range_of(i);
        assert_int_equal(load_ask(l, &x[i], path, r.at, r.bytes, NULL), 0);
    }
    usleep(3000);
    for (unsigned i = 0; i < PIECES; i++)
        load_drop(x[i]);
    assert_int_equal(loader_close(l), 0);
    assert_int_equal(atomic_load(&fake.mapped_bytes), 0);
    assert_int_equal(atomic_load(&fake.open_files), 0);
    fake_end();
}

/* Returns false when the scenario needed fewer than k calls. */
static bool scenario(unsigned long k, bool cached)
{
    fake_begin();
    atomic_store(&fake.cached_nothing, !cached);
    atomic_store(&fake.fail_at, k);
    struct budget *b = NULL;
    struct loader *l = NULL;
    struct load *x[3] = {NULL};
    bool said = true;
    int rc = budget_open(&b, &(struct budget_opts){.limit_bytes = 64 << 20});
    struct loader_opts o = {.largest_bytes = 400000, .trim = k % 2, .node = 0, .budget = b};
    o.registrar = fake_registrar;
    if (rc == 0)
        rc = loader_open(&l, &o);
    for (unsigned i = 0; i < 3 && rc == 0; i++)
        rc = load_ask(l, &x[i], path, i * 333333, 400000, i ? x[i - 1] : NULL);
    for (unsigned i = 0; i < 3 && rc == 0; i++) {
        const uint8_t *data = NULL;
        rc = load_wait(x[i], &data);
        if (rc == 0)
            assert_memory_equal(data, content + i * 333333, 400000);
        load_drop(x[i]);
        x[i] = NULL;
    }
    if (rc)
        said = pen_last_error()[0] != 0;
    for (unsigned i = 0; i < 3; i++)
        load_drop(x[i]);
    int closed = l ? loader_close(l) : 0;
    if (b)
        assert_int_equal(budget_close(b), closed ? -EBUSY : 0);
    bool failed = atomic_load(&fake.failed) > 0;
    fake_end();
    if (closed == 0 && (atomic_load(&fake.mapped_bytes) || atomic_load(&fake.registered)))
        fail_msg("call %lu (%s): %ld bytes mapped, %d registered", k, fake.failed_name, atomic_load(&fake.mapped_bytes),
                 atomic_load(&fake.registered));
    if (atomic_load(&fake.violations) || atomic_load(&fake.open_files) || !said || (!failed && rc))
        fail_msg("call %lu (%s) failed: %d rules broken, %d files, rc %d%s", k, fake.failed_name,
                 atomic_load(&fake.violations), atomic_load(&fake.open_files), rc, said ? "" : " without a word");
    return failed;
}

/* The number of calls varies with the threads' luck: until 20 rounds in a row had no call left to fail. */
static void test_every_call(void **state)
{
    (void)state;
    for (int cached = 0; cached < 2; cached++) {
        unsigned long k = 1;
        for (int clean = 0; clean < 20; k++)
            clean = scenario(k, cached) ? 0 : clean + 1;
        assert_true(k > 40);
        print_message("%s: %lu calls, each failed once\n", cached ? "from the page cache" : "from the drive", k - 21);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges),     cmocka_unit_test(test_cache),
                                       cmocka_unit_test(test_reuse),      cmocka_unit_test(test_budget_short),
                                       cmocka_unit_test(test_shortened),  cmocka_unit_test(test_drive_fails),
                                       cmocka_unit_test(test_drop_early), cmocka_unit_test(test_every_call)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
