/* Claims: any extent of any file arrives exactly, by io_uring, by pread threads and through the page cache; short reads
 * go on; EIO and an early end fail the job with path and offset, and then no read is in flight; cancel ends soon;
 * several files are read at once and evenly; every call may fail once without a lost file, thread or byte. */
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
#include <sys/mman.h>
#include <unistd.h>

#include "alloc/fill.h"
#include "fake.h"
#include "perf/count.h"
#include "perf/err.h"
#include "perf/span.h"

enum { FILE_BYTES = 3 * (1 << 20) + 12345, CHUNK = 64 << 10, FILES = 3 };

static char path[FILES][64];
static unsigned char *room;
static const size_t room_bytes = 16 << 20;

static unsigned char byte_at(unsigned file, uint64_t at)
{
    uint64_t x = (at + 1) * 0x9e3779b97f4a7c15u + file * 77;
    return (unsigned char)(x >> 40);
}

static int make_files(void **state)
{
    (void)state;
    for (unsigned f = 0; f < FILES; f++) {
        snprintf(path[f], sizeof path[f], "penstock-fill-XXXXXX");
        int fd = mkstemp(path[f]);
        unsigned char *data = malloc(FILE_BYTES);
        for (uint64_t i = 0; i < FILE_BYTES; i++)
            data[i] = byte_at(f, i);
        assert_int_equal(write(fd, data, FILE_BYTES), FILE_BYTES);
        free(data);
        close(fd);
    }
    room = mmap(NULL, room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED;
}

static int remove_files(void **state)
{
    (void)state;
    for (unsigned f = 0; f < FILES; f++)
        unlink(path[f]);
    return munmap(room, room_bytes);
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
    return atomic_load(&fake.open_files);
}

static bool right(const struct fill_extent *e, unsigned file)
{
    for (uint64_t i = 0; i < e->bytes; i++)
        if (e->data[i] != byte_at(file, e->offset + i))
            return false;
    return true;
}

static struct filler *open_filler(enum fill_method first, unsigned depth)
{
    struct filler *f = NULL;
    assert_int_equal(filler_open(&f, &(struct filler_opts){.depth = depth, .chunk_bytes = CHUNK, .first = first}), 0);
    return f;
}

/* Read one extent of file 0; the room's other bytes must stay untouched outside the superset. */
static void one(struct filler *f, uint64_t offset, uint64_t bytes)
{
    struct fill_extent e = {path[0], offset, bytes, room + 8192, fill_room(offset, bytes), NULL};
    memset(room, 0xee, e.room_bytes + 16384);
    struct fill *j;
    assert_int_equal(fill_start(f, &j, &e, 1, 1), 0);
    assert_int_equal(fill_wait(j), 0);
    fill_close(j);
    assert_ptr_equal(e.data, room + 8192 + offset % 4096);
    assert_true(right(&e, 0));
    for (unsigned i = 0; i < 8192; i++)
        assert_true(room[i] == 0xee && room[8192 + e.room_bytes + i] == 0xee);
}

static void extents(struct filler *f)
{
    static const struct {
        uint64_t offset, bytes;
    } cases[] = {{0, 1},
                 {0, 4096},
                 {1, 4096},
                 {4095, 2},
                 {5000, 100000},
                 {65536, 65536},
                 {65535, 65538},
                 {0, FILE_BYTES},
                 {7, FILE_BYTES - 7},
                 {FILE_BYTES - 1, 1},
                 {FILE_BYTES - 5000, 5000}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        one(f, cases[i].offset, cases[i].bytes);
}

static void test_extents(void **state)
{
    (void)state;
    for (unsigned depth = 1; depth <= 33; depth += 16) {
        struct filler *f = open_filler(FILL_URING, depth);
        if (filler_method(f) != FILL_URING)
            print_message("not tested here: %s\n", filler_why(f));
        extents(f);
        assert_int_equal(filler_close(f), 0);
        f = open_filler(FILL_PREAD, depth);
        assert_int_equal(filler_method(f), FILL_PREAD);
        extents(f);
        assert_int_equal(filler_close(f), 0);
    }
}

static void test_steps_down(void **state)
{
    (void)state;
    atomic_store(&fake.uring_errno, EPERM); /* what a container's seccomp filter says */
    struct filler *f = open_filler(FILL_URING, 8);
    assert_int_equal(filler_method(f), FILL_PREAD);
    assert_non_null(strstr(filler_why(f), "Operation not permitted"));
    extents(f);
    for (int at_open = 0; at_open < 2; at_open++) {
        atomic_store(at_open ? &fake.direct_errno : &fake.direct_read_errno, EINVAL);
        struct fill_extent e = {path[0], 3, FILE_BYTES - 3, room, room_bytes, NULL};
        struct fill *j;
        struct fill_report r;
        assert_int_equal(fill_start(f, &j, &e, 1, 1), 0);
        assert_int_equal(fill_wait(j), 0);
        fill_read(j, &r);
        fill_close(j);
        assert_true(right(&e, 0));
        assert_false(r.direct);
        assert_non_null(strstr(r.why, at_open ? "refused at open" : "reads refused"));
    }
    assert_int_equal(filler_close(f), 0);
}

static void test_short_reads(void **state)
{
    (void)state;
    for (int method = FILL_URING; method <= FILL_PREAD; method++)
        for (unsigned long at = 1; at < 12; at++) {
            struct filler *f = open_filler((enum fill_method)method, 4);
            atomic_store(&fake.reads, 0);
            atomic_store(&fake.read_short_at, at);
            one(f, 1000, 500000);
            assert_int_equal(filler_close(f), 0);
        }
}

static void fails(struct filler *f, int expected, const char *says)
{
    struct fill_extent e[2] = {{path[0], 100, 1 << 20, room, 2 << 20, NULL},
                               {path[1], 0, 1 << 20, room + (2 << 20), 2 << 20, NULL}};
    struct fill *j;
    assert_int_equal(fill_start(f, &j, e, 2, 1), 0);
    assert_int_equal(fill_wait(j), expected);
    assert_non_null(strstr(pen_last_error(), says));
    fill_close(j);
    /* Nothing may write into the lease any more. */
    memset(room, 0x11, 4 << 20);
    usleep(2000);
    for (size_t i = 0; i < 4 << 20; i++)
        if (room[i] != 0x11)
            fail_msg("byte %zu of the room was written after the job's end", i);
}

static void test_eio(void **state)
{
    (void)state;
    for (int method = FILL_URING; method <= FILL_PREAD; method++) {
        struct filler *f = open_filler((enum fill_method)method, 8);
        for (unsigned long at = 1; at < 30; at += 7) {
            atomic_store(&fake.reads, 0);
            atomic_store(&fake.read_eio_at, at);
            fails(f, -EIO, "Input/output error");
            assert_non_null(strstr(pen_last_error(), "penstock-fill"));
        }
        atomic_store(&fake.read_eio_at, 0);
        one(f, 0, 100000); /* and the reader goes on */
        assert_int_equal(filler_close(f), 0);
    }
}

static void test_early_end(void **state)
{
    (void)state;
    for (int method = FILL_URING; method <= FILL_PREAD; method++) {
        struct filler *f = open_filler((enum fill_method)method, 8);
        struct fill *j;
        /* Known at the start. */
        struct fill_extent e = {path[0], 1, FILE_BYTES, room, room_bytes, NULL};
        assert_int_equal(fill_start(f, &j, &e, 1, 1), -ENODATA);
        assert_non_null(strstr(pen_last_error(), "ends at byte 3158073, expected at least 3158074"));
        /* Found while reading: the file is shorter than it was, by less and by more than a block. */
        for (uint64_t more = 1; more <= 100001; more += 50000) {
            atomic_store(&fake.fstat_lies, (long)more);
            e = (struct fill_extent){path[0], 1, FILE_BYTES - 1 + more, room, room_bytes, NULL};
            assert_int_equal(fill_start(f, &j, &e, 1, 1), 0);
            assert_int_equal(fill_wait(j), -ENODATA);
            assert_non_null(strstr(pen_last_error(), " ends at byte 3"));
            fill_close(j);
            atomic_store(&fake.fstat_lies, 0);
        }
        assert_int_equal(filler_close(f), 0);
    }
}

static void test_refused(void **state)
{
    (void)state;
    struct filler *f = open_filler(FILL_URING, 8), *g;
    struct fill *j;
    const struct fill_extent bad[] = {
        {path[0], 0, 0, room, 4096, NULL},    {path[0], 0, 4096, room + 1, 8192, NULL},
        {path[0], 1, 4096, room, 4096, NULL}, {path[0], UINT64_MAX, 2, room, 1 << 20, NULL},
        {NULL, 0, 1, room, 4096, NULL},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fill_extent e[2] = {{path[1], 0, 10, room, 4096, NULL}, bad[i]};
        assert_int_equal(fill_start(f, &j, e, 2, 1), -EINVAL);
        assert_non_null(strstr(pen_last_error(), "extent 1"));
    }
    struct fill_extent none = {"no-such-file", 0, 1, room, 4096, NULL};
    assert_int_equal(fill_start(f, &j, &none, 1, 1), -ENOENT);
    assert_int_equal(fill_start(f, &j, &none, 0, 1), -EINVAL);
    assert_int_equal(filler_open(&g, &(struct filler_opts){.depth = 1000}), -EINVAL);
    assert_int_equal(filler_open(&g, &(struct filler_opts){.chunk_bytes = 1000}), -EINVAL);
    assert_int_equal(filler_close(f), 0);
}

static void test_cancel(void **state)
{
    (void)state;
    for (int method = FILL_URING; method <= FILL_PREAD; method++) {
        struct filler *f = open_filler((enum fill_method)method, 1);
        atomic_store(&fake.read_slow_us, 20000); /* 49 chunks: a second when nobody cancels */
        struct fill_extent e = {path[0], 0, FILE_BYTES, room, room_bytes, NULL};
        struct fill *j;
        struct fill_report r;
        assert_int_equal(fill_start(f, &j, &e, 1, 1), 0);
        assert_int_equal(filler_close(f), -EBUSY);
        usleep(50000);
        assert_false(fill_done(j));
        fill_cancel(j);
        assert_int_equal(fill_wait(j), -ECANCELED);
        fill_read(j, &r);
        assert_true(r.bytes < FILE_BYTES / 2);
        fill_cancel(j); /* of a job that has ended: nothing */
        fill_close(j);
        atomic_store(&fake.read_slow_us, 0);
        one(f, 0, 100000);
        assert_int_equal(filler_close(f), 0);
    }
}

/* Three files in one job and three jobs at once; bytes are counted and spans recorded. */
static void test_many(void **state)
{
    (void)state;
    struct span_list *spans;
    assert_int_equal(span_list_open(&spans, 16), 0);
    struct filler *f;
    uint64_t before = count_read(COUNT_READ_BYTES);
    assert_int_equal(filler_open(&f, &(struct filler_opts){.chunk_bytes = CHUNK, .spans = spans}), 0);
    struct fill_extent e[4][3];
    struct fill *j[4];
    unsigned char *to = room;
    for (unsigned k = 0; k < 4; k++) {
        for (unsigned i = 0; i < 3; i++) {
            uint64_t offset = 1000 * k + 33 * i, bytes = 1000000 + 7 * k;
            e[k][i] = (struct fill_extent){path[i], offset, bytes, to, fill_room(offset, bytes), NULL};
            to += e[k][i].room_bytes;
        }
        assert_int_equal(fill_start(f, &j[k], e[k], 3, k), 0);
    }
    for (unsigned k = 0; k < 4; k++) {
        assert_int_equal(fill_wait(j[k]), 0);
        for (unsigned i = 0; i < 3; i++)
            assert_true(right(&e[k][i], i));
        fill_close(j[k]);
    }
    assert_int_equal(filler_close(f), 0);
    assert_int_equal(span_count(spans), 4);
    assert_true(span_at(spans, 0)->bytes >= 3000000);
    assert_true(count_read(COUNT_READ_BYTES) - before >= 12000000);
    span_list_close(spans);
}

/* Every call once: right data or an error with a sentence, and nothing left over. */
static bool scenario(enum fill_method method, unsigned long k)
{
    fake_begin();
    atomic_store(&fake.fail_at, k);
    struct filler *f;
    int rc = filler_open(&f, &(struct filler_opts){.depth = 4, .chunk_bytes = CHUNK, .first = method});
    if (rc == 0) {
        struct fill_extent e[2] = {{path[0], 9, 300000, room, 1 << 20, NULL},
                                   {path[1], 4096, 300000, room + (1 << 20), 1 << 20, NULL}};
        struct fill *j;
        rc = fill_start(f, &j, e, 2, 1);
        if (rc == 0) {
            rc = fill_wait(j);
            if (rc == 0 && (!right(&e[0], 0) || !right(&e[1], 1)))
                fail_msg("call %lu: wrong bytes", k);
            fill_close(j);
        }
        assert_int_equal(filler_close(f), 0);
    }
    assert_true(rc == 0 || pen_last_error()[0]);
    bool failed = atomic_load(&fake.failed) > 0;
    assert_true(failed || rc == 0);
    assert_int_equal(atomic_load(&fake.open_files), 0);
    fake_end();
    return failed;
}

static void test_every_call(void **state)
{
    (void)state;
    for (int method = FILL_URING; method <= FILL_PREAD; method++) {
        unsigned long k = 1;
        while (scenario((enum fill_method)method, k))
            k++;
        assert_true(k > 15);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_extents), TEST(test_steps_down), TEST(test_short_reads),
        TEST(test_eio),     TEST(test_early_end),  TEST(test_refused),
        TEST(test_cancel),  TEST(test_many),       cmocka_unit_test(test_every_call),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
