/* bench_start: what a node's memory costs at start, per GiB and page size: reserve (mmap), populate (one
 * thread and several), verify, unmap; each beside the bare system calls. Reserves huge pages when root, gives them
 * back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc/hugepage.h"
#include "perf/bench/bench.h"
#include "perf/clock.h"
#include "perf/err.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static long pool_set(size_t page_bytes, long pages)
{
    char path[128];
    long was = -1;
    snprintf(path, sizeof path, "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages", page_bytes >> 10);
    FILE *f = fopen(path, "r+e");
    if (!f)
        return -1;
    if (fscanf(f, "%ld", &was) != 1)
        was = -1;
    if (pages >= 0 && was >= 0) {
        rewind(f);
        fprintf(f, "%ld\n", was + pages);
    }
    fclose(f);
    return was;
}

static void pool_restore(size_t page_bytes, long was)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages", page_bytes >> 10);
    FILE *f = was >= 0 ? fopen(path, "we") : NULL;
    if (!f)
        return;
    fprintf(f, "%ld\n", was);
    fclose(f);
}

struct cost {
    double all, populate, verify, unmap, bare;
};

/* mmap, one MADV_POPULATE_WRITE, munmap: what the kernel needs without us. Seconds, < 0: refused. */
static double bare(size_t bytes, enum page_tier tier)
{
    int flags = MAP_ANONYMOUS | (tier <= TIER_2M ? MAP_SHARED | MAP_HUGETLB : MAP_PRIVATE);
    if (tier <= TIER_2M)
        flags |= (tier == TIER_1G ? 30 : 21) << MAP_HUGE_SHIFT;
    uint64_t t0 = clock_now_ns();
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED)
        return -1;
    if (tier >= TIER_THP)
        madvise(p, bytes, tier == TIER_THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    int rc = madvise(p, bytes, MADV_POPULATE_WRITE);
    uint64_t t1 = clock_now_ns();
    munmap(p, bytes);
    return rc ? -1 : (double)(t1 - t0) / 1e9;
}

static int ours(struct cost *c, size_t bytes, enum page_tier tier, unsigned threads)
{
    struct hugepage_map m;
    uint64_t t0 = clock_now_ns();
    int rc =
        hugepage_map(&m, &(struct hugepage_opts){.bytes = bytes, .first = tier, .strict = true, .threads = threads});
    if (rc)
        return rc;
    c->all = (double)(clock_now_ns() - t0) / 1e9;
    c->populate = (double)m.populate_ns / 1e9;
    c->verify = (double)m.verify_ns / 1e9;
    t0 = clock_now_ns();
    rc = hugepage_unmap(&m);
    c->unmap = (double)(clock_now_ns() - t0) / 1e9;
    return rc;
}

static void least(double *a, double b)
{
    if (*a == 0 || b < *a)
        *a = b;
}

static void tier_run(struct bench *out, enum page_tier tier, unsigned gib, int rounds)
{
    size_t bytes = (size_t)gib << 30, page = hugepage_tier_bytes(tier);
    long was = tier <= TIER_2M ? pool_set(page, (long)(bytes / page)) : -1;
    struct cost one = {0}, many = {0};
    int rc = 0;
    for (int i = 0; i < rounds && rc == 0; i++) {
        struct cost c = {0};
        double b = bare(bytes, tier);
        least(&one.bare, b);
        rc = ours(&c, bytes, tier, 1);
        least(&one.all, c.all);
        least(&one.verify, c.verify);
        least(&one.unmap, c.unmap);
        rc = rc ? rc : ours(&c, bytes, tier, 0);
        least(&many.all, c.all);
        least(&many.populate, c.populate);
    }
    pool_restore(page, was);
    if (rc)
        bench_row(out, json_pack("{s:s, s:s}", "memory", hugepage_tier_name(tier), "refused", pen_last_error()),
                  "%-18s -      %s", hugepage_tier_name(tier), pen_last_error());
    else
        bench_row(out,
                  json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:f}", "memory", hugepage_tier_name(tier), "gib", (int)gib,
                            "bare_s_per_gib", one.bare / gib, "one_thread_s_per_gib", one.all / gib,
                            "all_threads_s_per_gib", many.all / gib, "verify_s_per_gib", one.verify / gib,
                            "unmap_s_per_gib", one.unmap / gib),
                  "%-18s %9.3f %9.3f %12.3f %9.4f %9.3f", hugepage_tier_name(tier), one.bare / gib, one.all / gib,
                  many.all / gib, one.verify / gib, one.unmap / gib);
}

static const char doc[] = "Measure what a node's memory costs at start, per GiB and page size: map, populate with one "
                          "thread and with all, verify, unmap, beside the bare system calls. As root it reserves huge "
                          "pages for its time and gives them back.\v"
                          "Examples:\n"
                          "  penstock bench start\n"
                          "  penstock bench start --gib 4 --rounds 5 --json";

enum { OPT_GIB = 256, OPT_ROUNDS };
static const struct argp_option options[] = {
    {"gib", OPT_GIB, "N", 0, "GiB of each measurement; default: 1", 1},
    {"rounds", OPT_ROUNDS, "N", 0, "Rounds, of which the best counts; default: 3", 1},
    {0},
};

struct start_bench {
    struct bench bench;
    unsigned gib, rounds;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct start_bench *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &s->bench;
        return 0;
    case OPT_GIB:
        s->gib = (unsigned)bench_number(state, "--gib", arg, 1, 1024);
        return 0;
    case OPT_ROUNDS:
        s->rounds = (unsigned)bench_number(state, "--rounds", arg, 1, 1000);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "too many arguments: \"%s\"", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&bench_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "", doc, children, NULL, NULL};

int main(int argc, char **argv)
{
    struct start_bench s = {.bench = {.name = "start"}, .gib = 1, .rounds = 3};
    bench_options(&parser, argc, argv, &s);
    bench_say(&s.bench, "seconds per GiB, best of %u, %u GiB on node 0, %ld CPUs", s.rounds, s.gib,
              sysconf(_SC_NPROCESSORS_ONLN));
    bench_say(&s.bench, "%-18s %9s %9s %12s %9s %9s", "", "bare", "1 thread", "all threads", "verify", "unmap");
    for (enum page_tier tier = TIER_1G; tier < TIER_KINDS; tier++)
        tier_run(&s.bench, tier, s.gib, (int)s.rounds);
    return bench_end(&s.bench);
}
