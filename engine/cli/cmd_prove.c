/* penstock prove KEY WITNESS [PROOF.json [PUBLIC.json]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/cli/cmd.h"
#include "engine/cli/opt_device.h"
#include "engine/cli/progress.h"
#include "engine/prove_job.h"
#include "perf/err.h"
#include "perf/log.h"
#include "perf/units.h"
#include "prover/file_out.h"
#include "prover/zkey.h"

static const char doc[] =
    "Prove that a witness satisfies a circuit.\n\n"
    "KEY is a Groth16 .zkey, WITNESS a .wtns of the same circuit. The proof is verified before it is written; a proof "
    "that does not verify is never written. \"-\" writes to standard output."
    "\v"
    "Examples:\n"
    "  penstock prove circuit.zkey witness.wtns proof.json public.json\n"
    "  penstock prove --device host --threads 8 circuit.zkey witness.wtns\n"
    "  penstock prove --r1cs circuit.r1cs circuit.zkey witness.wtns    names the row that is not satisfied";

enum { OPT_R1CS = 256, OPT_TRACE, OPT_PAGES };
static const struct argp_option options[] = {
    {"r1cs", OPT_R1CS, "FILE", 0, "Check the witness against the circuit first and name the first row that fails", 1},
    {"pages", OPT_PAGES, "SIZE", 0,
     "Read key and witness into pages of this size, 1G, 2M, thp or 4K, and fail where there are not enough; the "
     "default "
     "takes the best there are",
     1},
    {"trace", OPT_TRACE, "FILE", 0, "Write a Chrome trace of every stage", 1},
    {0},
};

struct args {
    struct common_opts common;
    struct device_choice device;
    const char *trace_path;
    struct prove_request req;
};

static bool pages_named(enum page_tier *tier, const char *name)
{
    static const char *const names[TIER_KINDS] = {
        [TIER_1G] = "1G", [TIER_2M] = "2M", [TIER_THP] = "thp", [TIER_4K] = "4K"};
    for (unsigned i = 0; i < TIER_KINDS; i++)
        if (strcasecmp(name, names[i]) == 0) {
            *tier = (enum page_tier)i;
            return true;
        }
    return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    const char **place[] = {&a->req.key_path, &a->req.witness_path, &a->req.proof_path, &a->req.public_path};
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->device;
        state->child_inputs[1] = &a->common;
        return 0;
    case OPT_R1CS:
        a->req.r1cs_path = arg;
        return 0;
    case OPT_PAGES:
        a->req.pages_strict = true;
        if (!pages_named(&a->req.pages, arg))
            argp_error(state, "--pages %s: expected 1G, 2M, thp or 4K", arg);
        return 0;
    case OPT_TRACE:
        a->trace_path = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 4)
            argp_error(state, "too many arguments: \"%s\"", arg);
        *place[state->arg_num] = arg;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "need KEY and WITNESS");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&device_argp, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "KEY WITNESS [PROOF.json [PUBLIC.json]]", doc, children, NULL, NULL};

static int write_trace(const struct args *a)
{
    struct file_out *out;
    FILE *f;
    int rc = file_out_open(&out);
    if (rc)
        return rc;
    rc = file_out_add(out, &f, a->trace_path);
    if (!rc)
        rc = span_write_trace(a->req.spans, f);
    if (!rc)
        return file_out_commit(out);
    file_out_abort(out);
    return rc;
}

static double report_total(const struct prove_report *r)
{
    double total = 0;
    for (int i = 0; i < PROVE_STAGES; i++)
        total += r->stage_s[i];
    return total;
}

static void print_line(const struct prove_report *r, const struct device_info *info)
{
    char text[UNITS_TEXT];
    for (int i = 0; i < PROVE_STAGES; i++)
        fprintf(stderr, "%s %s · ", prove_stage_names[i], units_seconds(text, r->stage_s[i]));
    fprintf(stderr, "total %s · %s, %zu wires, 2^%d rows · %s\n", units_seconds(text, report_total(r)), r->curve->title,
            r->n_vars, (int)__builtin_ctzll(r->domain_size), info->name);
}

/* How key and witness came in, and why not better; null when a pipe was read at once. */
static json_t *loading_tree(const struct prove_report *r)
{
    const struct loader_view *v = &r->loading;
    if (!r->loaded)
        return json_null();
    return json_pack("{s:s, s:b, s:I, s:I, s:f, s:I, s:s, s:s, s:s}", "method",
                     v->method == FILL_URING ? "io_uring" : "pread", "direct", v->direct, "bytes", (json_int_t)v->bytes,
                     "from_page_cache_bytes", (json_int_t)v->cached_bytes, "waited_seconds", (double)v->wait_ns * 1e-9,
                     "leased_peak_bytes", (json_int_t)v->peak_bytes, "pages", hugepage_tier_name(v->pool.lowest),
                     "pages_why", v->pool.why, "why", v->why);
}

static json_t *report_tree(const struct args *a, const struct prove_report *r, const struct device_info *info)
{
    json_t *stages = json_object();
    for (int i = 0; i < PROVE_STAGES; i++)
        json_object_set_new(stages, prove_stage_names[i], json_real(r->stage_s[i]));
    json_t *kernels = json_object();
    static const char *const names[] = {"spmv", "ntt", "msm", "pointwise"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(kernels, names[i], json_real((double)span_stage_ns(a->req.spans, names[i]) * 1e-9));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:f, s:o, s:o, s:o}", "proof",
                     a->req.proof_path, "public", a->req.public_path, "curve", r->curve->name, "device", info->id,
                     "device_name", info->name, "wires", (json_int_t)r->n_vars, "publics", (json_int_t)r->n_public,
                     "domain", (json_int_t)r->domain_size, "key_bytes", (json_int_t)r->key_bytes, "witness_bytes",
                     (json_int_t)r->witness_bytes, "device_fault", r->device_fault, "total_seconds", report_total(r),
                     "stage_seconds", stages, "operation_seconds", kernels, "loading", loading_tree(r));
}

/* How large the circuit is, for `auto': from the key's header, and only where there is a choice. A pipe can be read
 * once only, so its size is not known. */
static int rows_of(uint64_t *rows, const struct args *a)
{
    struct stat st;
    struct zkey *z;
    *rows = DEVICE_ROWS_MANY;
    if (!device_choice_is_auto(&a->device) || !device_cuda_built() ||
        (stat(a->req.key_path, &st) == 0 && !S_ISREG(st.st_mode)))
        return 0;
    int rc = zkey_open(&z, a->req.key_path);
    if (rc)
        return rc;
    *rows = z->domain_size;
    zkey_close(z);
    return 0;
}

int cmd_prove(int argc, char **argv)
{
    struct args a = {.req = {.proof_path = "proof.json", .public_path = "public.json"}};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    struct device *device;
    struct prove_report report = {0};
    struct device_info info;
    struct progress_bar bar = progress_begin(a.common.quiet || a.common.json);
    a.req.progress = progress_step;
    a.req.ctx = &bar;
    struct span_list *spans = NULL;
    uint64_t rows = 0;
    int rc = span_list_open(&spans, 4096);
    a.req.spans = spans;
    if (!rc)
        rc = rows_of(&rows, &a);
    if (!rc)
        rc = device_choice_open(&device, &a.device, rows);
    if (!rc) {
        rc = device->ops->info(device, &info);
        if (!rc)
            rc = prove_job_run(&report, device, &a.req);
        device->ops->close(device);
    }
    progress_end(&bar);
    if (!rc && a.trace_path)
        rc = write_trace(&a);
    if (rc) {
        span_list_close(spans);
        return report.output_failed ? cmd_fail_output(&a.common) : cmd_fail(&a.common, rc);
    }
    if (report.device_fault)
        log_line(LOG_ERROR, "%s: %s; the proof that was written was made by the host and verifies", info.id,
                 report.fault);
    if (a.common.json)
        cmd_print(&a.common, report_tree(&a, &report, &info));
    else if (!a.common.quiet)
        print_line(&report, &info);
    span_list_close(spans);
    return report.device_fault ? EXIT_FAULT : EXIT_DONE;
}
