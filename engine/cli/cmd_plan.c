/* penstock plan [KEY] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/cmd.h"
#include "engine/cli/key_plan.h"
#include "engine/cli/opt_machine.h"
#include "numa/plan.h"
#include "perf/err.h"
#include "perf/units.h"

static const char doc[] =
    "Say who would get what on this machine, and why.\n\n"
    "Without KEY: each GPU's home node, the order of nodes to borrow from, its uplink group, its CPUs and pages. With "
    "KEY (a .zkey): what of the key would live on each device, in pinned or kept pages and on disk, how much each part "
    "takes, and the times to expect. Both are computed from what can be read; nothing is allocated, bound or run."
    "\v"
    "Examples:\n"
    "  penstock plan\n"
    "  penstock plan --bytes-per-gpu 24GiB --home 0000:c1:00.0=1\n"
    "  penstock plan --xml server.xml --json\n"
    "  penstock plan circuit.zkey\n"
    "  penstock plan --gpus 8 --device-memory 141GB --pinned 48GiB circuit.zkey    a machine that one does not have";

enum {
    OPT_PAGE = 256,
    OPT_BYTES,
    OPT_KEEP_PAGES,
    OPT_MEMORY_ONLY,
    OPT_HOME,
    OPT_MEASURED,
    OPT_GPUS,
    OPT_DEVICE_MEMORY,
    OPT_PINNED,
    OPT_KEPT,
    OPT_COUNT,
    OPT_FULL
};
static const struct argp_option options[] = {
    {"page", OPT_PAGE, "SIZE", 0, "auto (1GiB where any node has them), 1GiB or 2MiB", 1},
    {"bytes-per-gpu", OPT_BYTES, "SIZE", 0, "Pages that each GPU should get; default: an even share of all", 1},
    {"keep-pages", OPT_KEEP_PAGES, "N", 0, "Pages of each node to leave for others", 1},
    {"memory-only", OPT_MEMORY_ONLY, NULL, 0, "Also borrow from nodes without CPUs (CXL)", 1},
    {"home", OPT_HOME, "PCI=NODE", 0, "Home node of one GPU, in place of what the machine says; may be repeated", 1},
    {"measured", OPT_MEASURED, "PCI@NODE=GB/S", 0, "Measured copy rate from a node to a GPU; may be repeated", 1},
    {NULL, 0, NULL, 0, "With KEY:", 2},
    {"gpus", OPT_GPUS, "N", 0, "N equal GPUs, in place of this machine's", 2},
    {"device-memory", OPT_DEVICE_MEMORY, "SIZE", 0, "Free memory of each GPU; default: asked of each", 2},
    {"pinned", OPT_PINNED, "SIZE", 0, "Pinned host pages for this key and each GPU; default: its pages of the plan", 2},
    {"kept", OPT_KEPT, NULL, 0, "These pages outlive the process (hugetlbfs)", 2},
    {"count", OPT_COUNT, NULL, 0, "Read the whole key: leave out points at infinity, count distinct coefficients", 2},
    {"full-share", OPT_FULL, "PERCENT", 0, "Witness values other than 0 and 1; default: all", 2},
    {0},
};

enum { MANY = 64 };
struct args {
    struct common_opts common;
    struct machine_choice machine;
    struct plan_settings settings;
    struct plan_home home[MANY];
    struct plan_measured measured[MANY];
    struct key_plan_opts key;
};

static uint64_t number(struct argp_state *state, const char *name, const char *arg, uint64_t max)
{
    char *end;
    unsigned long long n = strtoull(arg, &end, 10);
    if (*arg < '0' || *arg > '9' || *end || n > max)
        argp_error(state, "--%s takes a number up to %llu, not \"%s\"", name, (unsigned long long)max, arg);
    return n;
}

static uint64_t size(struct argp_state *state, const char *name, const char *arg)
{
    uint64_t bytes = 0;
    if (units_parse_bytes(arg, &bytes))
        argp_error(state, "--%s: %s", name, pen_last_error());
    return bytes;
}

/* PCI=NODE */
static void home_add(struct argp_state *state, struct args *a, char *arg)
{
    char *equals = strrchr(arg, '=');
    if (!equals || equals == arg)
        argp_error(state, "--home takes PCI=NODE like 0000:c1:00.0=1, not \"%s\"", arg);
    if (a->settings.homes == MANY)
        argp_error(state, "--home may be given %d times", MANY);
    *equals = 0;
    a->home[a->settings.homes++] = (struct plan_home){arg, (int)number(state, "home", equals + 1, IDSET_MAX)};
    a->settings.home = a->home;
}

/* PCI@NODE=GB/S */
static void measured_add(struct argp_state *state, struct args *a, char *arg)
{
    char *at = strchr(arg, '@'), *equals = at ? strchr(at, '=') : NULL, *end = NULL;
    double rate = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || at == arg || !end || *end || !(rate > 0))
        argp_error(state, "--measured takes PCI@NODE=GB/S like 0000:c1:00.0@1=54.9, not \"%s\"", arg);
    if (a->settings.measurements == MANY)
        argp_error(state, "--measured may be given %d times", MANY);
    *at = *equals = 0;
    int node = (int)number(state, "measured", at + 1, IDSET_MAX);
    a->measured[a->settings.measurements++] = (struct plan_measured){arg, node, rate};
    a->settings.measured = a->measured;
}

static enum plan_page page(struct argp_state *state, const char *arg)
{
    uint64_t bytes = 0;
    if (strcmp(arg, "auto") == 0)
        return PLAN_PAGE_AUTO;
    if (units_parse_bytes(arg, &bytes) || (bytes != 1u << 30 && bytes != 2u << 20))
        argp_error(state, "--page takes auto, 1GiB or 2MiB, not \"%s\"", arg);
    return bytes == 1u << 30 ? PLAN_PAGE_1G : PLAN_PAGE_2M;
}

static error_t parse_key_option(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case OPT_GPUS:
        a->key.gpus = (unsigned)number(state, "gpus", arg, 1024);
        if (a->key.gpus == 0)
            argp_error(state, "--gpus takes a number from 1 to 1024");
        return 0;
    case OPT_DEVICE_MEMORY:
        a->key.device_bytes = size(state, "device-memory", arg);
        return 0;
    case OPT_PINNED:
        a->key.pinned_bytes = size(state, "pinned", arg);
        a->key.pinned_given = true;
        return 0;
    case OPT_KEPT:
        a->key.kept = true;
        return 0;
    case OPT_COUNT:
        a->key.count = true;
        return 0;
    case OPT_FULL:
        a->key.full_share = (double)number(state, "full-share", arg, 100) / 100;
        if (a->key.full_share <= 0)
            argp_error(state, "--full-share takes a number from 1 to 100");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_together(struct argp_state *state, const struct args *a)
{
    const struct key_plan_opts *k = &a->key;
    if (!k->path && (k->gpus || k->device_bytes || k->pinned_given || k->kept || k->count || k->full_share > 0))
        argp_error(state, "--gpus, --device-memory, --pinned, --kept, --count and --full-share need KEY");
    if (k->gpus && (a->machine.xml || a->machine.sysfs))
        argp_error(state, "--gpus stands in place of a machine: leave out --xml and --sysfs");
    if (k->gpus && !k->device_bytes)
        argp_error(state, "--gpus needs --device-memory SIZE");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->machine;
        state->child_inputs[1] = &a->common;
        return 0;
    case OPT_PAGE:
        a->settings.page = page(state, arg);
        return 0;
    case OPT_BYTES:
        a->settings.bytes_per_gpu = size(state, "bytes-per-gpu", arg);
        return 0;
    case OPT_KEEP_PAGES:
        a->settings.keep_pages = number(state, "keep-pages", arg, 1u << 30);
        return 0;
    case OPT_MEMORY_ONLY:
        a->settings.use_memory_only = true;
        return 0;
    case OPT_HOME:
        home_add(state, a, arg);
        return 0;
    case OPT_MEASURED:
        measured_add(state, a, arg);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 1)
            argp_error(state, "too many arguments: \"%s\"", arg);
        a->key.path = arg;
        return 0;
    case ARGP_KEY_END:
        check_together(state, a);
        return 0;
    default:
        return parse_key_option(key, arg, state);
    }
}

static const struct argp_child children[] = {{&machine_argp, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "[KEY]", doc, children, NULL, NULL};

static int show_machine(const struct args *a, const struct machine *machine, const struct plan *plan,
                        bool *output_failed)
{
    if (a->common.json) {
        json_t *tree = plan_to_json(plan, machine->topo);
        if (!tree)
            return err_fail(-ENOMEM, "no memory for the answer");
        cmd_print(&a->common, tree);
        return 0;
    }
    int rc = plan_write_text(plan, machine->topo, stdout);
    *output_failed = rc != 0;
    return rc;
}

static int show_key(const struct args *a, const struct machine *machine, const struct plan *plan, bool *output_failed)
{
    struct key_plan *key;
    int rc = key_plan_make(&key, &a->key, machine ? machine->topo : NULL, plan);
    if (rc)
        return rc;
    if (a->common.json) {
        json_t *tree = key_plan_to_json(key);
        rc = tree ? 0 : err_fail(-ENOMEM, "no memory for the answer");
        if (tree)
            cmd_print(&a->common, tree);
    } else {
        rc = key_plan_write_text(key, stdout);
        *output_failed = rc != 0;
    }
    key_plan_close(key);
    return rc;
}

int cmd_plan(int argc, char **argv)
{
    struct args a = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    struct machine machine;
    struct plan *plan = NULL;
    bool output_failed = false;
    int rc;
    if (a.key.gpus) {
        rc = show_key(&a, NULL, NULL, &output_failed);
    } else {
        rc = machine_open(&machine, &a.machine);
        if (!rc) {
            rc = plan_make(&plan, machine.topo, machine.limits, &a.settings);
            if (!rc)
                rc = a.key.path ? show_key(&a, &machine, plan, &output_failed)
                                : show_machine(&a, &machine, plan, &output_failed);
            plan_close(plan);
            machine_close(&machine);
        }
    }
    if (rc)
        return output_failed ? cmd_fail_output(&a.common) : cmd_fail(&a.common, rc);
    return EXIT_DONE;
}
