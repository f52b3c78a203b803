/* penstock bench [WHAT [ARGUMENT...]]: each benchmark is a program of its own beside this one; this finds and runs it.
 *
 *   installed   PREFIX/bin/penstock     PREFIX/libexec/penstock/bench-WHAT
 *   build tree  BUILD/engine/penstock   BUILD/perf/bench/bench-WHAT */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/cli/cmd.h"
#include "perf/err.h"

static const char doc[] = "Measure one thing.\n\n"
                          "Without WHAT: list what can be measured, and whether its program is installed. Arguments "
                          "behind WHAT go to that program; each takes --help and --json."
                          "\v"
                          "Examples:\n"
                          "  penstock bench\n"
                          "  penstock bench link --device cuda:0\n"
                          "  penstock bench prove --runs 9 circuit.zkey witness.wtns\n"
                          "  penstock bench msm --help";

static const struct {
    const char *name, *program, *fixed[2]; /* arguments that make the program this benchmark */
    const char *summary;
} benches[] = {
    {"pool", "pool", {NULL}, "take and give a lease, alone and contended, beside a mutex and a free list"},
    {"start", "start", {NULL}, "what host memory costs at start: reserve, populate, verify, for each page size"},
    {"fill", "fill", {NULL}, "read a file into DMA memory, beside fio"},
    {"link", "link", {NULL}, "copies to and from a device, pinned and pageable, for each chunk size"},
    {"field", "ops", {"--only", "field"}, "field products on a device"},
    {"ntt", "ops", {"--only", "ntt"}, "transforms on a device"},
    {"msm", "ops", {"--only", "msm"}, "multi-scalar multiplications on a device"},
    {"prove", "prove", {NULL}, "whole proofs of a key and a witness: median and spread of each stage"},
    {"partition", "partition", {NULL}, "a partition of many rows: how full the lanes are"},
    {"gpu", "gpu", {NULL}, "a CUDA device in detail: rates, transforms, MSMs with checked results, copies"},
};
enum { BENCHES = sizeof benches / sizeof *benches, PATH_BYTES = 4096 };

struct args {
    struct common_opts common;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &a->common;
    return 0;
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {NULL, parse, "[WHAT [ARGUMENT...]]", doc, children, NULL, NULL};

/* The program of a benchmark that can be run; in `path` the last place that was looked at. */
static bool program_find(char path[PATH_BYTES], const char *program)
{
    static const char *const places[] = {"../libexec/penstock", "../perf/bench"};
    char self[PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, PATH_BYTES, "%.3900s/%s/bench-%s", self, places[i], program);
        if (access(path, X_OK) == 0)
            return true;
    }
    snprintf(path, PATH_BYTES, "%.3900s/%s/bench-%s", self, places[0], program);
    return false;
}

static int list(const struct common_opts *common)
{
    char path[PATH_BYTES];
    json_t *rows = json_array();
    for (int i = 0; i < BENCHES; i++) {
        bool there = program_find(path, benches[i].program);
        if (common->json)
            json_array_append_new(rows, json_pack("{s:s, s:s, s:b}", "bench", benches[i].name, "summary",
                                                  benches[i].summary, "installed", there));
        else
            printf("  %-10s %s%s\n", benches[i].name, benches[i].summary, there ? "" : " (not in this build)");
    }
    if (common->json) {
        cmd_print(common, json_pack("{s:o}", "benches", rows));
        return EXIT_DONE;
    }
    json_decref(rows);
    return EXIT_DONE;
}

/* Does not come back when it can be run. */
static int bench_run(const struct common_opts *common, int bench, int argc, char **argv)
{
    char path[PATH_BYTES], full[64];
    if (!program_find(path, benches[bench].program)) {
        err_fail(-ENOENT, "%s: no such program: this build has no benchmark of %s", path, benches[bench].name);
        return cmd_fail_as(common, EXIT_NO_DEVICE);
    }
    char **args = calloc((size_t)argc + 4, sizeof *args);
    if (!args)
        return cmd_fail(common, err_fail(-ENOMEM, "no memory for %d arguments", argc));
    int n = 0;
    snprintf(full, sizeof full, "penstock bench %s", benches[bench].name);
    args[n++] = full;
    for (int i = 0; i < 2 && benches[bench].fixed[i]; i++)
        args[n++] = (char *)(uintptr_t)benches[bench].fixed[i]; /* execv does not write to them */
    for (int i = 0; i < argc; i++)
        args[n++] = argv[i];
    execv(path, args);
    int rc = err_fail(-errno, "%s: %s", path, strerror(errno));
    free(args);
    return cmd_fail(common, rc);
}

int cmd_bench(int argc, char **argv)
{
    struct args a = {0};
    int what;
    /* in order: what stands behind WHAT is the program's */
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER | ARGP_NO_ARGS, &what, &a);
    if (what >= argc)
        return list(&a.common);
    for (int i = 0; i < BENCHES; i++)
        if (strcmp(argv[what], benches[i].name) == 0)
            return bench_run(&a.common, i, argc - what - 1, argv + what + 1);
    fprintf(stderr, "%s: \"%s\" is no benchmark; `penstock bench' lists them\n", argv[0], argv[what]);
    return EXIT_USAGE;
}
