#include "prover/file_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/err.h"

struct out_file {
    char *path;   /* as the caller named it, for sentences */
    char *target; /* what is replaced: links resolved; NULL: written at commit from `text` */
    char *folder;
    char *temporary;
    FILE *stream;
    char *text;
    size_t text_bytes;
    bool existed; /* a file of that name was there before */
    bool renamed;
};

struct file_out {
    struct out_file files[FILE_OUT_MAX];
    int n;
};

int file_out_open(struct file_out **out_p)
{
    struct file_out *out = calloc(1, sizeof *out);
    if (!out)
        return err_fail(-ENOMEM, "no memory for the list of outputs");
    *out_p = out;
    return 0;
}

static void release(struct out_file *f)
{
    if (f->stream)
        fclose(f->stream);
    if (f->temporary && !f->renamed)
        unlink(f->temporary);
    free(f->path);
    free(f->target);
    free(f->folder);
    free(f->temporary);
    free(f->text);
    *f = (struct out_file){0};
}

static int no_memory(const char *path)
{
    return err_fail(-ENOMEM, "%s: no memory to write it", path);
}

/* Standard output, pipes and devices: collected, written when everything else is ready. */
static int collect(struct out_file *f)
{
    f->stream = open_memstream(&f->text, &f->text_bytes);
    return f->stream ? 0 : no_memory(f->path);
}

/* Folder and target with links resolved, so that two spellings of one file are seen to be one. */
static int resolve(struct out_file *f)
{
    char *whole = f->existed ? realpath(f->path, NULL) : strdup(f->path);
    if (!whole)
        return no_memory(f->path);
    const char *slash = strrchr(whole, '/');
    const char *name = slash ? slash + 1 : whole;
    char *folder = slash ? strndup(whole, slash == whole ? 1 : (size_t)(slash - whole)) : strdup(".");
    int rc = 0;
    if (!folder)
        rc = no_memory(f->path);
    else if (!(f->folder = realpath(folder, NULL)))
        rc = err_fail(-errno, "%s: its folder %s: %s", f->path, folder, strerror(errno));
    if (rc == 0 && *name == 0)
        rc = err_fail(-EISDIR, "%s: is a folder, expected the name of a file to write", f->path);
    if (rc == 0 && asprintf(&f->target, "%s/%s", f->folder, name) < 0) {
        f->target = NULL;
        rc = no_memory(f->path);
    }
    free(folder);
    free(whole);
    return rc;
}

/* A file without a name until it is complete: a killed process leaves nothing. Not every file system has it. */
static bool create_unnamed(struct out_file *f, mode_t mode)
{
    int fd = open(f->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    if (fchmod(fd, mode) == 0 && (f->stream = fdopen(fd, "w")))
        return true;
    close(fd);
    return false;
}

/* Give the unnamed file its temporary name: rename replaces, linkat does not. */
static int give_name(struct out_file *f)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(f->stream));
    for (unsigned try = 0; try < 100; try++) {
        if (asprintf(&f->temporary, "%s/.%s.%d-%u", f->folder, strrchr(f->target, '/') + 1, (int)getpid(), try) < 0) {
            f->temporary = NULL;
            return ENOMEM;
        }
        if (linkat(AT_FDCWD, self, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        int code = errno;
        free(f->temporary);
        f->temporary = NULL;
        if (code != EEXIST)
            return code;
    }
    return EEXIST;
}

static int create(struct out_file *f, mode_t mode)
{
    if (access("/proc/self/fd", X_OK) == 0 && create_unnamed(f, mode))
        return 0;
    if (asprintf(&f->temporary, "%s/.%s.XXXXXX", f->folder, strrchr(f->target, '/') + 1) < 0) {
        f->temporary = NULL;
        return no_memory(f->path);
    }
    int fd = mkostemp(f->temporary, O_CLOEXEC);
    if (fd < 0) {
        int code = -errno;
        free(f->temporary);
        f->temporary = NULL;
        return err_fail(code, "%s: cannot be created in %s: %s", f->path, f->folder, strerror(-code));
    }
    if (fchmod(fd, mode) < 0 || !(f->stream = fdopen(fd, "w"))) {
        int code = -errno;
        close(fd);
        return err_fail(code, "%s: cannot be created: %s", f->path, strerror(-code));
    }
    return 0;
}

static mode_t new_file_mode(void)
{
    mode_t mask = umask(0); /* the only way to read it without /proc; outputs are opened by one thread */
    umask(mask);
    return 0666 & ~mask;
}

static int add(struct file_out *out, struct out_file *f, const char *path)
{
    f->path = strdup(path);
    if (!f->path)
        return no_memory(path);
    if (strcmp(path, "-") == 0)
        return collect(f);
    struct stat st;
    f->existed = stat(path, &st) == 0;
    if (!f->existed && errno != ENOENT)
        return err_fail(-errno, "%s: cannot be written: %s", path, strerror(errno));
    if (f->existed && S_ISDIR(st.st_mode))
        return err_fail(-EISDIR, "%s: is a folder, expected the name of a file to write", path);
    if (f->existed && !S_ISREG(st.st_mode))
        return collect(f);
    int rc = resolve(f);
    if (rc)
        return rc;
    for (int i = 0; i < out->n; i++)
        if (out->files[i].target && strcmp(out->files[i].target, f->target) == 0)
            return err_fail(-EINVAL, "%s: is named for two outputs", path);
    return create(f, f->existed ? st.st_mode & 07777 : new_file_mode());
}

int file_out_add(struct file_out *out, FILE **stream_p, const char *path)
{
    if (out->n == FILE_OUT_MAX)
        return err_fail(-EINVAL, "%s: more than %d outputs", path, FILE_OUT_MAX);
    struct out_file *f = &out->files[out->n];
    int rc = add(out, f, path);
    if (rc) {
        release(f);
        return rc;
    }
    out->n++;
    *stream_p = f->stream;
    return 0;
}

static int write_failed(const struct out_file *f, int code)
{
    return err_fail(-code, "%s: cannot be written: %s", f->path, strerror(code));
}

/* Close the stream; a file is on disk afterwards. */
static int finish(struct out_file *f)
{
    bool bad = ferror(f->stream) != 0;
    errno = 0;
    bad |= fflush(f->stream) != 0;
    if (f->target && !bad && fsync(fileno(f->stream)) < 0 && errno != EINVAL)
        bad = true;
    int code = bad ? (errno ? errno : EIO) : 0;
    if (f->target && !f->temporary && !code)
        code = give_name(f);
    FILE *stream = f->stream;
    f->stream = NULL;
    if (fclose(stream) != 0 && !code)
        code = errno;
    return code ? write_failed(f, code) : 0;
}

static int write_collected(const struct out_file *f)
{
    bool standard = strcmp(f->path, "-") == 0;
    int fd = standard ? STDOUT_FILENO : open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return write_failed(f, errno);
    int code = 0;
    for (size_t done = 0; done < f->text_bytes && !code;) {
        ssize_t n = write(fd, f->text + done, f->text_bytes - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            code = errno;
    }
    if (!standard)
        close(fd);
    return code ? write_failed(f, code) : 0;
}

static int move_into_place(struct out_file *f)
{
    if (rename(f->temporary, f->target) < 0)
        return write_failed(f, errno);
    f->renamed = true;
    int fd = open(f->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) { /* a folder that may be written but not read cannot be synced; the file itself was */
        fsync(fd);
        close(fd);
    }
    return 0;
}

static int commit(struct file_out *out)
{
    int rc = 0;
    for (int i = 0; i < out->n; i++)
        if ((rc = finish(&out->files[i])))
            return rc;
    /* first what cannot be undone but may fail (a full device, a closed pipe), then the renames, which hardly can */
    for (int i = 0; i < out->n && rc == 0; i++)
        if (!out->files[i].target)
            rc = write_collected(&out->files[i]);
    for (int i = 0; i < out->n && rc == 0; i++)
        if (out->files[i].target)
            rc = move_into_place(&out->files[i]);
    if (rc == 0)
        return 0;
    for (int i = 0; i < out->n; i++)
        if (out->files[i].renamed && !out->files[i].existed)
            unlink(out->files[i].target);
    return rc;
}

int file_out_commit(struct file_out *out)
{
    int rc = commit(out);
    file_out_abort(out);
    return rc;
}

void file_out_abort(struct file_out *out)
{
    if (!out)
        return;
    for (int i = 0; i < out->n; i++)
        release(&out->files[i]);
    free(out);
}
