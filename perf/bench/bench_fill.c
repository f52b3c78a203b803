/* bench_fill [FILE [ROUNDS]]: read a file into DMA memory with fill, beside fio with the same depth and chunk on the
 * same file, in turns. Without FILE one of 1 GiB is written first (and removed). */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc/fill.h"
#include "alloc/hugepage.h"
#include "perf/err.h"

enum { DEPTH = 32, CHUNK = 1 << 20, MAKE_BYTES = 1 << 30 };

static int make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    char *data = malloc(CHUNK);
    uint64_t x = 1;
    for (int i = 0; i < MAKE_BYTES / CHUNK; i++) {
        for (size_t k = 0; k < CHUNK; k += sizeof x, x = x * 6364136223846793005u + 1)
            memcpy(data + k, &x, sizeof x);
        if (write(fd, data, CHUNK) != CHUNK) {
            perror(path);
            return 1;
        }
    }
    free(data);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* start with none of it in the page cache */
    return close(fd);
}

/* Megabytes of page cache. */
static double cached_mb(void)
{
    char line[128];
    double kb = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Cached: %lf", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb / 1000;
}

static double fill_once(const char *path, uint64_t bytes, struct hugepage_map *m, enum fill_method method, bool show)
{
    struct filler *f;
    struct fill *j;
    struct fill_report r = {0};
    struct fill_extent e = {path, 0, bytes, m->base, m->bytes, NULL};
    if (filler_open(&f, &(struct filler_opts){.depth = DEPTH, .chunk_bytes = CHUNK, .first = method}))
        return 0;
    int rc = fill_start(f, &j, &e, 1, 0);
    if (rc == 0) {
        rc = fill_wait(j);
        fill_read(j, &r);
        fill_close(j);
    }
    if (rc)
        fprintf(stderr, "%s\n", pen_last_error());
    if (show)
        printf("fill: %s, %s%s%s\n", filler_method(f) == FILL_URING ? "io_uring" : "pread threads",
               r.direct ? "direct" : "buffered", r.why[0] ? ": " : "", r.why);
    filler_close(f);
    return rc ? 0 : (double)bytes / (double)r.ns;
}

static double fio_once(const char *path, uint64_t bytes)
{
    char command[1024];
    snprintf(command, sizeof command,
             "fio --name=r --filename='%s' --size=%lu --rw=read --direct=1 --bs=%d --iodepth=%d --ioengine=io_uring "
             "--output-format=json 2>/dev/null",
             path, bytes, CHUNK, DEPTH);
    FILE *p = popen(command, "re");
    json_t *root = p ? json_loadf(p, 0, NULL) : NULL;
    if (p)
        pclose(p);
    json_t *job = json_array_get(json_object_get(root, "jobs"), 0);
    double rate = json_number_value(json_object_get(json_object_get(job, "read"), "bw_bytes")) / 1e9;
    json_decref(root);
    return rate;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "bench_fill.data";
    int rounds = argc > 2 ? atoi(argv[2]) : 4;
    struct stat st;
    if (argc < 2 && make_file(path))
        return 1;
    if (stat(path, &st)) {
        perror(path);
        return 1;
    }
    uint64_t bytes = (uint64_t)st.st_size & ~4095ull;
    struct hugepage_map m;
    if (hugepage_map(&m, &(struct hugepage_opts){.bytes = (bytes + (2 << 20) - 1) & ~((2ull << 20) - 1), .node = -1})) {
        fprintf(stderr, "%s\n", pen_last_error());
        return 71;
    }
    printf("%lu MiB into %s, depth %d, chunks of 1 MiB; GB/s per round\n", bytes >> 20, hugepage_tier_name(m.tier),
           DEPTH);
    fill_once(path, bytes, &m, FILL_URING, true); /* also warms what lies below the drive */
    double best[3] = {0}, sum[3] = {0}, cache = cached_mb();
    for (int i = 0; i < rounds; i++) {
        double rate[3] = {fill_once(path, bytes, &m, FILL_URING, false), fio_once(path, bytes),
                          fill_once(path, bytes, &m, FILL_PREAD, false)};
        printf("  fill io_uring %.3f   fio io_uring %.3f   fill pread %.3f\n", rate[0], rate[1], rate[2]);
        for (int k = 0; k < 3; k++) {
            sum[k] += rate[k];
            best[k] = rate[k] > best[k] ? rate[k] : best[k];
        }
    }
    printf("fill / fio: best %.3f, mean %.3f; pread / fio: mean %.3f; page cache grew by %.1f MB\n", best[0] / best[1],
           sum[0] / sum[1], sum[2] / sum[1], cached_mb() - cache);
    if (argc < 2)
        unlink(path);
    return hugepage_unmap(&m) ? 1 : 0;
}
