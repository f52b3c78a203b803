/* bench_fill [FILE]: read a file into DMA memory with fill, beside fio with the same depth and chunk on the same file,
 * in turns. Without FILE one of 1 GiB is written first (and removed). */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc/fill.h"
#include "alloc/hugepage.h"
#include "engine/cli/exit.h"
#include "perf/bench/bench.h"
#include "perf/err.h"

static const char doc[] = "Read a file into DMA memory with io_uring and with pread threads, beside fio (where it is "
                          "installed) with the same depth and chunk, in turns. Without FILE one of 1 GiB is written "
                          "to the current folder first, and removed.\v"
                          "Examples:\n"
                          "  penstock bench fill /data/circuit.zkey\n"
                          "  penstock bench fill --rounds 8 --json";

enum { OPT_ROUNDS = 256 };
static const struct argp_option options[] = {
    {"rounds", OPT_ROUNDS, "N", 0, "Rounds; default: 4", 1},
    {0},
};

struct fill_bench {
    struct bench bench;
    const char *path;
    int rounds;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct fill_bench *f = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &f->bench;
        return 0;
    case OPT_ROUNDS:
        f->rounds = (int)bench_number(state, "--rounds", arg, 1, 1000);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 1)
            argp_error(state, "too many arguments: \"%s\"", arg);
        f->path = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&bench_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "[FILE]", doc, children, NULL, NULL};

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

static double fill_once(const struct bench *b, const char *path, uint64_t bytes, struct hugepage_map *m,
                        enum fill_method method, bool show)
{
    struct filler *f;
    struct fill *j;
    struct fill_report r = {0};
    struct fill_extent e = {path, 0, bytes, m->base, m->bytes, NULL};
    bench_must(b, filler_open(&f, &(struct filler_opts){.depth = DEPTH, .chunk_bytes = CHUNK, .first = method}));
    int rc = fill_start(f, &j, &e, 1, 0);
    if (rc == 0) {
        rc = fill_wait(j);
        fill_read(j, &r);
        fill_close(j);
    }
    bench_must(b, rc);
    if (show)
        bench_say(b, "fill: %s, %s%s%s", filler_method(f) == FILL_URING ? "io_uring" : "pread threads",
                  r.direct ? "direct" : "buffered", r.why[0] ? ": " : "", r.why);
    filler_close(f);
    return (double)bytes / (double)r.ns;
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

/* fio is not there: 0. */
static void round_row(struct bench *b, const double rate[3])
{
    bench_row(b,
              json_pack("{s:f, s:o, s:f}", "uring_gb_per_s", rate[0], "fio_gb_per_s",
                        rate[1] > 0 ? json_real(rate[1]) : json_null(), "pread_gb_per_s", rate[2]),
              "  fill io_uring %.3f   fio io_uring %.3f   fill pread %.3f", rate[0], rate[1], rate[2]);
}

static void measure(struct fill_bench *f, uint64_t bytes, struct hugepage_map *m)
{
    bench_say(&f->bench, "%lu MiB into %s, depth %d, chunks of 1 MiB; GB/s per round (fio 0: not installed)",
              bytes >> 20, hugepage_tier_name(m->tier), DEPTH);
    fill_once(&f->bench, f->path, bytes, m, FILL_URING, true); /* also warms what lies below the drive */
    double best[3] = {0}, sum[3] = {0}, cache = cached_mb();
    for (int i = 0; i < f->rounds; i++) {
        double rate[3] = {fill_once(&f->bench, f->path, bytes, m, FILL_URING, false), fio_once(f->path, bytes),
                          fill_once(&f->bench, f->path, bytes, m, FILL_PREAD, false)};
        round_row(&f->bench, rate);
        for (int k = 0; k < 3; k++) {
            sum[k] += rate[k];
            best[k] = rate[k] > best[k] ? rate[k] : best[k];
        }
    }
    cache = cached_mb() - cache;
    if (sum[1] > 0)
        bench_say(&f->bench, "fill / fio: best %.3f, mean %.3f; pread / fio: mean %.3f", best[0] / best[1],
                  sum[0] / sum[1], sum[2] / sum[1]);
    bench_row(&f->bench,
              json_pack("{s:s, s:I, s:f}", "memory", hugepage_tier_name(m->tier), "bytes", (json_int_t)bytes,
                        "page_cache_growth_mb", cache),
              "page cache grew by %.1f MB", cache);
}

int main(int argc, char **argv)
{
    struct fill_bench f = {.bench = {.name = "fill"}, .rounds = 4};
    bench_options(&parser, argc, argv, &f);
    bool made = !f.path;
    if (made) {
        f.path = "bench_fill.data";
        if (make_file(f.path))
            return EXIT_OUTPUT;
    }
    struct stat st;
    if (stat(f.path, &st))
        bench_must(&f.bench, err_fail(-errno, "%s: %s", f.path, strerror(errno)));
    uint64_t bytes = (uint64_t)st.st_size & ~4095ull;
    if (bytes == 0)
        bench_must(&f.bench, err_fail(-EINVAL, "%s: need at least 4096 bytes", f.path));
    struct hugepage_map m;
    bench_must(&f.bench, hugepage_map(&m, &(struct hugepage_opts){
                                              .bytes = (bytes + (2 << 20) - 1) & ~((2ull << 20) - 1), .node = -1}));
    measure(&f, bytes, &m);
    if (made)
        unlink(f.path);
    bench_must(&f.bench, hugepage_unmap(&m));
    return bench_end(&f.bench);
}
