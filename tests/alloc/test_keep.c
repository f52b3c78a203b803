/* Claims: what was sealed is there again, byte for byte, for the next process; a crash while filling is seen and filled
 * again; two processes never fill one, and one that waits gets what the other has filled; nothing in use is replaced or
 * dropped; damage is found; every call may fail once and nothing is left locked, mapped or registered. On tmpfs always,
 * on hugetlbfs where this process may mount one and gets pages. */
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
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc/keep.h"
#include "fake.h"
#include "perf/clock.h"
#include "perf/err.h"

enum { BYTES = 300001, MS = 1000 * 1000 };

static char dir[64];

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/dev/shm/penstock-keep-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir); /* fails when a test left a file */
}

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
    return atomic_load(&fake.mapped_bytes) || atomic_load(&fake.registered) || atomic_load(&fake.violations) ||
           atomic_load(&fake.open_files);
}

static struct keep_opts opts(unsigned char identity)
{
    struct keep_opts o = {.dir = dir, .name = "key-1.0", .bytes = BYTES, .node = -1, .registrar = fake_registrar};
    memset(o.identity, identity, sizeof o.identity);
    return o;
}

static void write_data(struct keep *k, unsigned char seed)
{
    unsigned char *p = keep_data(k);
    for (uint64_t i = 0; i < BYTES; i++)
        p[i] = (unsigned char)(i * 31 >> 3 ^ seed);
}

static bool data_right(struct keep *k, unsigned char seed)
{
    const unsigned char *p = keep_data(k);
    for (uint64_t i = 0; i < BYTES; i++)
        if (p[i] != (unsigned char)(i * 31 >> 3 ^ seed))
            return false;
    return true;
}

/* Open, fill if needed, seal; true when it had to be filled. */
static bool get(struct keep **k, unsigned char identity)
{
    struct keep_opts o = opts(identity);
    assert_int_equal(keep_open(k, &o), 0);
    bool filled = !keep_ready(*k);
    if (filled) {
        write_data(*k, identity);
        assert_int_equal(keep_seal(*k), 0);
        assert_true(keep_ready(*k));
    }
    assert_true(data_right(*k, identity));
    return filled;
}

struct seen {
    unsigned n;
    struct keep_entry last;
};

static int see(void *ctx, const struct keep_entry *e)
{
    struct seen *s = ctx;
    s->n++;
    s->last = *e;
    return 0;
}

static struct seen list(void)
{
    struct seen s = {0};
    assert_int_equal(keep_list(dir, see, &s), 0);
    return s;
}

static void test_crc(void **state)
{
    (void)state;
    assert_int_equal(crc32c(0, (const unsigned char *)"123456789", 9), 0xe3069283u); /* RFC 3720's check value */
    static unsigned char data[40000];
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t n = 0; n < sizeof data; n = n * 2 + 1) {
        uint32_t slow = ~0u; /* bit by bit */
        for (size_t i = 0; i < n; i++) {
            slow ^= data[i];
            for (int b = 0; b < 8; b++)
                slow = slow & 1 ? 0x82f63b78u ^ slow >> 1 : slow >> 1;
        }
        assert_int_equal(crc32c(0, data, n), ~slow);
        assert_int_equal(crc32c(crc32c(0, data, n / 3), data + n / 3, n - n / 3), ~slow);
    }
    uint64_t sum = keep_sum(data, sizeof data);
    for (unsigned i = 0; i < sizeof data; i += 977) {
        data[i] ^= 1;
        assert_true(keep_sum(data, sizeof data) != sum);
        data[i] ^= 1;
    }
    assert_true(keep_sum(data, sizeof data - 1) != sum);
}

static void test_again(void **state)
{
    (void)state;
    struct keep *k, *other;
    assert_true(get(&k, 1));
    assert_int_equal(keep_generation(k), 1);
    assert_int_equal((uintptr_t)keep_data(k) % 4096, 0);
    assert_int_equal(keep_seal(k), -EINVAL);
    assert_false(get(&other, 1)); /* shared */
    assert_int_equal(keep_check(other), 0);
    assert_int_equal(keep_close(other), 0);
    struct seen s = list();
    assert_int_equal(s.n, 1);
    assert_string_equal(s.last.name, "key-1.0");
    assert_int_equal(s.last.state, KEEP_READY);
    assert_int_equal(s.last.bytes, BYTES);
    assert_true(s.last.in_use);
    assert_int_equal(s.last.owner, getpid());
    /* In use: neither replaced nor dropped. */
    struct keep_opts o = opts(2);
    assert_int_equal(keep_open(&other, &o), -EBUSY);
    assert_int_equal(keep_drop(dir, "key-1.0"), -EBUSY);
    assert_int_equal(keep_close(k), 0);
    assert_false(list().last.in_use);
    assert_false(get(&k, 1));
    assert_int_equal(keep_close(k), 0);
    assert_true(get(&k, 2)); /* other contents */
    assert_int_equal(keep_generation(k), 2);
    assert_int_equal(keep_close(k), 0);
    assert_int_equal(keep_drop(dir, "key-1.0"), 0);
    assert_int_equal(keep_drop(dir, "key-1.0"), -ENOENT);
    assert_int_equal(list().n, 0);
}

static void test_other_size(void **state)
{
    (void)state;
    struct keep *k;
    assert_true(get(&k, 1));
    assert_int_equal(keep_close(k), 0);
    struct keep_opts o = opts(1);
    o.bytes = BYTES + 1; /* same pages, other length */
    assert_int_equal(keep_open(&k, &o), 0);
    assert_false(keep_ready(k));
    assert_int_equal(keep_close(k), 0);
    o.bytes = 9 << 20;
    assert_int_equal(keep_open(&k, &o), 0);
    assert_false(keep_ready(k));
    memset(keep_data(k), 1, 9 << 20);
    assert_int_equal(keep_close(k), 0);
    assert_int_equal(keep_drop(dir, "key-1.0"), 0);
}

static void test_crash_while_filling(void **state)
{
    (void)state;
    struct keep *k;
    assert_true(get(&k, 1));
    assert_int_equal(keep_close(k), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct keep_opts o = opts(2);
        if (keep_open(&k, &o) || keep_ready(k))
            _exit(1);
        write_data(k, 2);
        _exit(0); /* everything written, nothing sealed */
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    struct seen s = list();
    assert_int_equal(s.last.state, KEEP_FILLING);
    assert_int_equal(s.last.owner, pid);
    assert_false(s.last.in_use);
    assert_true(get(&k, 2));
    assert_int_equal(keep_generation(k), 3);
    assert_int_equal(keep_close(k), 0);
    assert_int_equal(keep_drop(dir, "key-1.0"), 0);
}

static void test_two_processes(void **state)
{
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct keep *k;
        struct keep_opts o = opts(1);
        if (keep_open(&k, &o) || keep_ready(k) || write(ready[1], "x", 1) != 1)
            _exit(1);
        usleep(150000);
        write_data(k, 1);
        int rc = keep_seal(k);
        usleep(100000);
        _exit(rc ? 1 : 0);
    }
    char x;
    assert_int_equal(read(ready[0], &x, 1), 1);
    struct keep *k;
    struct keep_opts o = opts(1);
    assert_int_equal(keep_open(&k, &o), -EBUSY);
    assert_non_null(strstr(pen_last_error(), "in use by another process"));
    o.wait_ns = 10000ull * MS;
    assert_int_equal(keep_open(&k, &o), 0);
    assert_true(keep_ready(k)); /* the other one has filled it */
    assert_true(data_right(k, 1));
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(keep_close(k), 0);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(keep_drop(dir, "key-1.0"), 0);
}

static void test_damage(void **state)
{
    (void)state;
    struct keep *k;
    assert_true(get(&k, 1));
    keep_data(k)[BYTES / 2] ^= 4;
    assert_int_equal(keep_check(k), -EBADMSG);
    assert_int_equal(keep_close(k), 0);
    assert_int_equal(list().last.state, KEEP_DAMAGED);
    assert_true(get(&k, 1));
    assert_int_equal(keep_close(k), 0);
    /* Any damaged byte of the header is found. */
    char path[128];
    snprintf(path, sizeof path, "%s/penstock-key-1.0.keep", dir);
    for (int at = 0; at < 84; at += 3) {
        int fd = open(path, O_RDWR);
        unsigned char byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x80;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        close(fd);
        assert_true(get(&k, 1));
        assert_int_equal(keep_close(k), 0);
    }
    assert_int_equal(keep_drop(dir, "key-1.0"), 0);
}

static void test_refused(void **state)
{
    (void)state;
    struct keep *k;
    static const char *const bad[] = {"", "a/b", "..", ".x", "a b", "\xc3\xa9"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct keep_opts o = opts(1);
        o.name = bad[i];
        assert_int_equal(keep_open(&k, &o), -EINVAL);
        assert_int_equal(keep_drop(dir, bad[i]), -EINVAL);
    }
    struct keep_opts o = opts(1);
    o.bytes = 0;
    assert_int_equal(keep_open(&k, &o), -EINVAL);
    o = opts(1);
    o.dir = "/nonexistent";
    assert_int_equal(keep_open(&k, &o), -ENOENT);
    o.dir = "."; /* a disk's file system, in a build folder */
    int rc = keep_open(&k, &o);
    unlink("penstock-key-1.0.keep");
    if (rc != -ENOTSUP)
        print_message("the working directory lies in memory: not tested\n");
    o = opts(1);
    atomic_store(&fake.populate_errno, EFAULT); /* pages run out in the middle */
    assert_int_equal(keep_open(&k, &o), -ENOMEM);
    assert_int_equal(list().n, 0); /* and none stays taken */
    atomic_store(&fake.populate_errno, 0);
    atomic_store(&fake.register_fails, true);
    assert_int_equal(keep_open(&k, &o), -EIO);
    assert_int_equal(keep_drop(dir, "key-1.0"), 0);
}

static bool scenario(unsigned long n)
{
    fake_begin();
    atomic_store(&fake.fail_at, n);
    struct keep *k = NULL;
    int errors = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct keep_opts o = opts(1);
        if (keep_open(&k, &o)) {
            errors++;
            assert_true(pen_last_error()[0] != 0);
            continue;
        }
        if (!keep_ready(k)) {
            write_data(k, 1);
            errors += keep_seal(k) != 0;
        }
        assert_true(data_right(k, 1));
        if (keep_close(k)) {
            errors++;
            assert_int_equal(keep_close(k), 0); /* nothing was lost: again */
        }
    }
    struct seen s = {0};
    errors += keep_list(dir, see, &s) != 0;
    if (keep_drop(dir, "key-1.0")) {
        errors++;
        int rc = keep_drop(dir, "key-1.0");
        assert_true(rc == 0 || rc == -ENOENT);
    }
    bool failed = atomic_load(&fake.failed) > 0;
    assert_true(failed || errors == 0);
    if (atomic_load(&fake.mapped_bytes) || atomic_load(&fake.registered) || atomic_load(&fake.open_files) ||
        atomic_load(&fake.violations))
        fail_msg("call %lu (%s): %ld bytes mapped, %d registered, %d files", n, fake.failed_name,
                 atomic_load(&fake.mapped_bytes), atomic_load(&fake.registered), atomic_load(&fake.open_files));
    fake_end();
    return failed;
}

static void test_every_call(void **state)
{
    (void)state;
    unsigned long n = 1;
    while (scenario(n))
        n++;
    assert_true(n > 30);
    print_message("%lu calls, each failed once\n", n - 1);
}

/* Real huge pages: 2 MiB ones on a mount of our own. */
static void test_hugetlbfs(void **state)
{
    (void)state;
    char mount_at[] = "/tmp/penstock-huge-XXXXXX", was[32] = "";
    const char *pool = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    if (geteuid() != 0 || !mkdtemp(mount_at))
        skip();
    FILE *f = fopen(pool, "r+");
    bool mounted = mount("none", mount_at, "hugetlbfs", 0, "pagesize=2M") == 0;
    bool read = f && fgets(was, sizeof was, f) && mounted;
    if (read) {
        rewind(f);
        fprintf(f, "%d\n", atoi(was) + 4);
        fflush(f);
    }
    bool ok = false, first = false, second = false;
    struct keep *k;
    struct keep_opts o = opts(1);
    o.dir = mount_at;
    o.node = 0;
    int rc = read ? keep_open(&k, &o) : -ENOTSUP;
    if (rc == 0) {
        first = !keep_ready(k);
        write_data(k, 1);
        ok = keep_verified(k) && keep_seal(k) == 0 && keep_close(k) == 0;
        ok = ok && keep_open(&k, &o) == 0;
        second = ok && keep_ready(k) && data_right(k, 1) && keep_check(k) == 0;
        ok = ok && keep_close(k) == 0 && keep_drop(mount_at, "key-1.0") == 0;
    }
    if (read) {
        rewind(f);
        fputs(was, f);
    }
    if (f)
        fclose(f);
    if (mounted)
        umount(mount_at);
    rmdir(mount_at);
    if (rc)
        skip(); /* no mount, or no page */
    assert_true(first && ok && second);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_crc),           TEST(test_again),  TEST(test_other_size), TEST(test_crash_while_filling),
        TEST(test_two_processes), TEST(test_damage), TEST(test_refused),    cmocka_unit_test(test_every_call),
        TEST(test_hugetlbfs),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
