/* Claims: outputs appear together at commit or not at all; no temporary survives; an existing file keeps its contents
 * until then and its permissions afterwards; links are followed; a full disk is found; what is no regular file is
 * written, never replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/err.h"
#include "prover/file_out.h"

static char dir[64];

static const char *at(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void assert_file(const char *path, const char *text)
{
    char got[100] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = 0;
    fclose(f);
    assert_string_equal(got, text);
}

static int count_files(void)
{
    DIR *d = opendir(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/penstock_out_XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static void test_together(void **state)
{
    (void)state;
    struct file_out *out;
    FILE *a, *b;
    assert_int_equal(file_out_open(&out), 0);
    assert_int_equal(file_out_add(out, &a, at("a")), 0);
    assert_int_equal(file_out_add(out, &b, at("b")), 0);
    fputs("first", a);
    fputs("second", b);
    fflush(a);
    assert_int_equal(access(at("a"), F_OK), -1);
    assert_int_equal(file_out_commit(out), 0);
    assert_file(at("a"), "first");
    assert_file(at("b"), "second");
    assert_int_equal(count_files(), 2);
    struct stat st;
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(at("a"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
}

static void test_abort(void **state)
{
    (void)state;
    put(at("old"), "old");
    struct file_out *out;
    FILE *a, *b;
    assert_int_equal(file_out_open(&out), 0);
    assert_int_equal(file_out_add(out, &a, at("old")), 0);
    assert_int_equal(file_out_add(out, &b, at("new")), 0);
    fputs("new", a);
    file_out_abort(out);
    file_out_abort(NULL);
    assert_file(at("old"), "old");
    assert_int_equal(count_files(), 1);
}

static void test_replace(void **state)
{
    (void)state;
    put(at("old"), "old");
    assert_int_equal(chmod(at("old"), 0640), 0);
    assert_int_equal(symlink("old", at("link")), 0);
    struct file_out *out;
    FILE *a;
    assert_int_equal(file_out_open(&out), 0);
    assert_int_equal(file_out_add(out, &a, at("link")), 0);
    fputs("new", a);
    assert_file(at("old"), "old");
    assert_int_equal(file_out_commit(out), 0);
    assert_file(at("old"), "new");
    struct stat st;
    assert_int_equal(lstat(at("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(at("old"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static void refuse(const char *path, int code, const char *sentence)
{
    struct file_out *out;
    FILE *f;
    assert_int_equal(file_out_open(&out), 0);
    assert_int_equal(file_out_add(out, &f, path), code);
    assert_non_null(strstr(pen_last_error(), sentence));
    assert_non_null(strstr(pen_last_error(), path));
    file_out_abort(out);
    assert_int_equal(count_files(), 0);
}

static void test_refused(void **state)
{
    (void)state;
    refuse(dir, -EISDIR, "is a folder");
    refuse(at("none/a"), -ENOENT, "No such file");
    refuse(at("none/"), -ENOENT, "its folder");
    refuse("/proc/self/a", -ENOENT, "cannot be created");
    struct file_out *out;
    FILE *f, *g;
    assert_int_equal(file_out_open(&out), 0);
    assert_int_equal(file_out_add(out, &f, at("a")), 0);
    assert_int_equal(file_out_add(out, &g, at("./a")), -EINVAL);
    assert_non_null(strstr(pen_last_error(), "two outputs"));
    file_out_abort(out);
    assert_int_equal(count_files(), 0);
}

static void test_full(void **state)
{
    (void)state;
    put(at("old"), "old");
    struct file_out *out;
    FILE *a, *full;
    assert_int_equal(file_out_open(&out), 0);
    assert_int_equal(file_out_add(out, &a, at("new")), 0);
    assert_int_equal(file_out_add(out, &full, "/dev/full"), 0);
    fputs("text", a);
    fputs("text", full);
    assert_int_equal(file_out_commit(out), -ENOSPC);
    assert_non_null(strstr(pen_last_error(), "/dev/full: cannot be written: No space left"));
    assert_int_equal(count_files(), 1);
    assert_file(at("old"), "old");
}

/* A disk of 64 KiB: the failure comes from a write in the middle. Needs the right to mount. */
static void test_small_disk(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "mount -t tmpfs -o size=64k none %s 2>/dev/null", dir);
    if (system(command) != 0)
        skip();
    struct file_out *out;
    FILE *a;
    int rc = file_out_open(&out);
    rc |= file_out_add(out, &a, at("big"));
    for (int i = 0; rc == 0 && i < 100000; i++)
        fputs("0123456789", a);
    if (rc == 0)
        rc = file_out_commit(out);
    int files = count_files();
    snprintf(command, sizeof command, "umount %s", dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(rc, -ENOSPC);
    assert_non_null(strstr(pen_last_error(), "big: cannot be written: No space left"));
    assert_int_equal(files, 0);
}

/* Renaming fails for the second file: the first, new, goes again. */
static void test_undone(void **state)
{
    (void)state;
    struct file_out *out;
    FILE *a, *b;
    assert_int_equal(file_out_open(&out), 0);
    assert_int_equal(file_out_add(out, &a, at("a")), 0);
    assert_int_equal(file_out_add(out, &b, at("b")), 0);
    fputs("text", a);
    assert_int_equal(mkdir(at("b"), 0700), 0);
    assert_int_equal(file_out_commit(out), -EISDIR);
    assert_non_null(strstr(pen_last_error(), "/b: cannot be written"));
    assert_int_equal(count_files(), 1);
    assert_int_equal(rmdir(at("b")), 0);
}

static void test_not_regular(void **state)
{
    (void)state;
    struct file_out *out;
    FILE *f;
    assert_int_equal(file_out_open(&out), 0);
    assert_int_equal(file_out_add(out, &f, "/dev/null"), 0);
    fputs("gone", f);
    assert_int_equal(file_out_commit(out), 0);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));

    int keep = dup(STDOUT_FILENO);
    int fd = open(at("stdout"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && keep >= 0);
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    int rc = file_out_open(&out);
    rc |= file_out_add(out, &f, "-");
    fputs("said", f);
    rc |= file_out_commit(out);
    dup2(keep, STDOUT_FILENO);
    close(keep);
    close(fd);
    assert_int_equal(rc, 0);
    assert_file(at("stdout"), "said");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_together, setup, teardown),
        cmocka_unit_test_setup_teardown(test_abort, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replace, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_undone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_regular, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
