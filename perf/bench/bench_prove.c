/* bench_prove KEY WITNESS: whole proofs, from files to files, each verified: median and spread of every stage. What
 * `penstock prove' does, without the start of the process and of the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/cli/exit.h"
#include "engine/cli/opt_device.h"
#include "engine/prove_job.h"
#include "perf/bench/bench.h"
#include "perf/err.h"
#include "perf/units.h"

static const char doc[] = "Prove the same statement again and again: median and spread of each stage. Every proof is "
                          "verified; one that a device got wrong ends the run with exit code 70.\v"
                          "Examples:\n"
                          "  penstock bench prove circuit.zkey witness.wtns\n"
                          "  penstock bench prove --runs 9 --device cuda:0 --json circuit.zkey witness.wtns";

enum { OPT_RUNS = 256, OPT_WARM_UPS, RUNS_MAX = 10000 };
static const struct argp_option options[] = {
    {"runs", OPT_RUNS, "N", 0, "Proofs that are measured; default: 5", 1},
    {"warm-ups", OPT_WARM_UPS, "N", 0, "Proofs before them; default: 1", 1},
    {0},
};

struct prove_bench {
    struct bench bench;
    struct device_choice choice;
    const char *path[2];
    unsigned runs, warm_ups;
    char dir[256], proof[288], public[288];
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct prove_bench *p = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &p->choice;
        state->child_inputs[1] = &p->bench;
        return 0;
    case OPT_RUNS:
        p->runs = (unsigned)bench_number(state, "--runs", arg, 1, RUNS_MAX);
        return 0;
    case OPT_WARM_UPS:
        p->warm_ups = (unsigned)bench_number(state, "--warm-ups", arg, 0, RUNS_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 2)
            argp_error(state, "too many arguments: \"%s\"", arg);
        p->path[state->arg_num] = arg;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "need KEY and WITNESS");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&device_argp, 0, NULL, 0}, {&bench_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "KEY WITNESS", doc, children, NULL, NULL};

/* Proofs go to a folder of their own, as a user's do: the time of writing counts. */
static void outputs_open(struct prove_bench *p)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(p->dir, sizeof p->dir, "%.200s/penstock-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(p->dir))
        bench_must(&p->bench, err_fail(-errno, "%s: %s", p->dir, strerror(errno)));
    snprintf(p->proof, sizeof p->proof, "%s/proof.json", p->dir);
    snprintf(p->public, sizeof p->public, "%s/public.json", p->dir);
}

static void outputs_close(const struct prove_bench *p)
{
    unlink(p->proof);
    unlink(p->public);
    rmdir(p->dir);
}

static int prove_once(struct prove_bench *p, struct device *d, struct prove_report *report)
{
    struct prove_request req = {
        .key_path = p->path[0], .witness_path = p->path[1], .proof_path = p->proof, .public_path = p->public};
    int rc = prove_job_run(report, d, &req);
    return !rc && report->device_fault ? err_fail(-EIO, "%s", report->fault) : rc;
}

static void stage_row(struct prove_bench *p, const char *stage, double *t)
{
    struct bench_spread s = bench_spread(t, p->runs);
    char a[UNITS_TEXT], b[UNITS_TEXT], c[UNITS_TEXT];
    bench_row(&p->bench, json_pack("{s:s, s:o}", "stage", stage, "seconds", bench_spread_json(&s)),
              "%-8s %10s   from %s to %s", stage, units_seconds(a, s.middle), units_seconds(b, s.least),
              units_seconds(c, s.most));
}

static void about_row(struct prove_bench *p, const struct prove_report *r, const struct device_info *info)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    char key[UNITS_TEXT], peak[UNITS_TEXT];
    bench_row(&p->bench,
              json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:i, s:I}", "key", p->path[0], "device", info->id,
                        "device_name", info->name, "curve", r->curve->name, "wires", (json_int_t)r->n_vars, "domain",
                        (json_int_t)r->domain_size, "key_bytes", (json_int_t)r->key_bytes, "runs", (int)p->runs,
                        "peak_bytes", (json_int_t)use.ru_maxrss * 1024),
              "%s, %s, %zu wires, %zu rows, key of %s, %u proofs, peak memory %s", info->name, r->curve->title,
              r->n_vars, r->domain_size, units_bytes(key, r->key_bytes), p->runs,
              units_bytes(peak, (uint64_t)use.ru_maxrss * 1024));
}

int main(int argc, char **argv)
{
    static double t[PROVE_STAGES + 1][RUNS_MAX];
    struct prove_bench p = {.bench = {.name = "prove"}, .runs = 5, .warm_ups = 1};
    struct device *d;
    struct device_info info;
    struct prove_report report;
    bench_options(&parser, argc, argv, &p);
    bench_must(&p.bench, device_choice_open(&d, &p.choice, DEVICE_ROWS_MANY));
    bench_must(&p.bench, d->ops->info(d, &info));
    outputs_open(&p);
    int rc = 0;
    for (unsigned i = 0; !rc && i < p.warm_ups; i++)
        rc = prove_once(&p, d, &report);
    for (unsigned i = 0; !rc && i < p.runs; i++) {
        rc = prove_once(&p, d, &report);
        for (int k = 0; k < PROVE_STAGES; k++) {
            t[k][i] = report.stage_s[k];
            t[PROVE_STAGES][i] += report.stage_s[k];
        }
    }
    outputs_close(&p);
    d->ops->close(d);
    bench_must(&p.bench, rc);
    about_row(&p, &report, &info);
    for (int k = 0; k < PROVE_STAGES; k++)
        stage_row(&p, prove_stage_names[k], t[k]);
    stage_row(&p, "total", t[PROVE_STAGES]);
    return bench_end(&p.bench);
}
