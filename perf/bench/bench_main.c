/* bench [WHAT [ARGUMENT...]]: every benchmark in one program, so that an installed tree holds the kernels once more and
 * not ten times. The main function of bench_pool.c is compiled as bench_pool_main; one that a build lacks is NULL. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/exit.h"

#define BENCH(name) extern int bench_##name##_main(int argc, char **argv) __attribute__((weak))
BENCH(fill);
BENCH(gpu);
BENCH(link);
BENCH(msm);
BENCH(ops);
BENCH(partition);
BENCH(pool);
BENCH(prove);
BENCH(start);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *fixed[2]; /* arguments that make the program this benchmark */
    const char *summary;
} benches[] = {
    {"pool", bench_pool_main, {NULL}, "take and give a lease, alone and contended, beside a mutex and a free list"},
    {"start", bench_start_main, {NULL}, "what host memory costs at start: reserve, populate, verify, by page size"},
    {"fill", bench_fill_main, {NULL}, "read a file into DMA memory, beside fio"},
    {"link", bench_link_main, {NULL}, "copies to and from a device, pinned and pageable, by chunk size"},
    {"field", bench_ops_main, {"--only", "field"}, "field products on a device"},
    {"ntt", bench_ops_main, {"--only", "ntt"}, "transforms on a device"},
    {"msm", bench_ops_main, {"--only", "msm"}, "multi-scalar multiplications on a device"},
    {"prove", bench_prove_main, {NULL}, "whole proofs of a key and a witness: median and spread of each stage"},
    {"partition", bench_partition_main, {NULL}, "a partition of many rows: how full the lanes are"},
    {"msm-stages", bench_msm_main, {NULL}, "the stages of an MSM on a CUDA device, for any window width"},
    {"gpu", bench_gpu_main, {NULL}, "a CUDA device in detail: rates, transforms, MSMs with checked results, copies"},
};
enum { BENCHES = sizeof benches / sizeof *benches, ARGUMENTS = 256 };

static int list(bool json)
{
    json_t *rows = json_array();
    for (int i = 0; i < BENCHES; i++) {
        bool there = benches[i].run != NULL;
        if (json)
            json_array_append_new(rows, json_pack("{s:s, s:s, s:b}", "bench", benches[i].name, "summary",
                                                  benches[i].summary, "built", there));
        else
            printf("  %-10s %s%s\n", benches[i].name, benches[i].summary, there ? "" : " (not in this build)");
    }
    json_t *tree = json_pack("{s:o}", "benches", rows);
    if (json) {
        json_dumpf(tree, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(tree);
    return fflush(stdout) ? EXIT_OUTPUT : EXIT_DONE;
}

static int bench_run(int bench, int argc, char **argv)
{
    static char full[64];
    char *args[ARGUMENTS];
    int n = 0;
    snprintf(full, sizeof full, "penstock bench %s", benches[bench].name);
    args[n++] = full;
    for (int i = 0; i < 2 && benches[bench].fixed[i]; i++)
        args[n++] = (char *)(uintptr_t)benches[bench].fixed[i];
    if (n + argc >= ARGUMENTS) {
        fprintf(stderr, "%s: more than %d arguments\n", full, ARGUMENTS - 4);
        return EXIT_USAGE;
    }
    for (int i = 0; i < argc; i++)
        args[n++] = argv[i];
    args[n] = NULL;
    return benches[bench].run(n, args);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return list(false);
    if (strcmp(argv[1], "--json") == 0)
        return list(true);
    for (int i = 0; i < BENCHES; i++) {
        if (strcmp(argv[1], benches[i].name) != 0)
            continue;
        if (benches[i].run)
            return bench_run(i, argc - 2, argv + 2);
        fprintf(stderr, "penstock bench %s: not in this build\n", benches[i].name);
        return EXIT_NO_DEVICE;
    }
    fprintf(stderr, "penstock bench: \"%s\" is no benchmark; `penstock bench' lists them\n", argv[1]);
    return EXIT_USAGE;
}
