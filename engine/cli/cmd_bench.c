/* penstock bench [WHAT [ARGUMENT...]]: the benchmarks are a program of their own beside this one; this finds and runs
 * it.
 *
 *   installed   PREFIX/bin/penstock     PREFIX/libexec/penstock/bench
 *   build tree  BUILD/engine/penstock   BUILD/perf/bench/bench */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/cli/cmd.h"
#include "perf/err.h"

static const char doc[] = "Measure one thing.\n\n"
                          "Without WHAT: list what can be measured. Arguments behind WHAT are that benchmark's own; "
                          "each takes --help and --json."
                          "\v"
                          "Examples:\n"
                          "  penstock bench\n"
                          "  penstock bench link --device cuda:0\n"
                          "  penstock bench prove --runs 9 circuit.zkey witness.wtns\n"
                          "  penstock bench msm --help";

enum { PATH_BYTES = 4096 };

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

/* False: not there; `path` is the place where it should be. */
static bool program_find(char path[PATH_BYTES])
{
    static const char *const places[] = {"../perf/bench/bench", "../libexec/penstock/bench"};
    char self[PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, PATH_BYTES, "%.4000s/%s", self, places[i]);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

int cmd_bench(int argc, char **argv)
{
    struct args a = {0};
    int what;
    char path[PATH_BYTES];
    /* in order: what stands behind WHAT is the benchmark's */
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER | ARGP_NO_ARGS, &what, &a);
    if (!program_find(path)) {
        err_fail(-ENOENT, "%s: no such program: the benchmarks are not installed", path);
        return cmd_fail_as(&a.common, EXIT_NO_DEVICE);
    }
    char *list[] = {path, a.common.json ? "--json" : NULL, NULL};
    if (what < argc)
        argv[what - 1] = path;
    execv(path, what < argc ? argv + what - 1 : list);
    return cmd_fail(&a.common, err_fail(-errno, "%s: %s", path, strerror(errno)));
}
