/* penstock topo */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/cli/cmd.h"
#include "engine/cli/opt_machine.h"
#include "numa/draw.h"
#include "perf/err.h"
#include "prover/file_out.h"

static const char doc[] =
    "Show what this machine is made of.\n\n"
    "A tree of packages, NUMA nodes, caches, pages taken and free of each size, PCIe uplinks, and below each uplink "
    "its GPUs with their link, drives and network ports. Beside a GPU stands what `penstock plan' would give it. What "
    "is not known is left out or said to be unknown, never guessed."
    "\v"
    "Examples:\n"
    "  penstock topo\n"
    "  penstock topo --svg machine.svg          the same as a picture\n"
    "  penstock topo --json | jq '.gpus[].link'\n"
    "  penstock topo --xml server.xml           another machine, from `lstopo server.xml' there";

enum { OPT_SVG = 256, OPT_ASCII };
static const struct argp_option options[] = {
    {"svg", OPT_SVG, "FILE", 0, "Write the picture as SVG; \"-\" is standard output", 1},
    {"ascii", OPT_ASCII, NULL, 0, "Draw the tree without UTF-8; default: as the locale (LC_ALL, LC_CTYPE, LANG) says",
     1},
    {0},
};

struct args {
    struct common_opts common;
    struct machine_choice machine;
    const char *svg;
    bool ascii;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->machine;
        state->child_inputs[1] = &a->common;
        return 0;
    case OPT_SVG:
        a->svg = arg;
        return 0;
    case OPT_ASCII:
        a->ascii = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "too many arguments: \"%s\"", arg);
        return 0;
    case ARGP_KEY_END:
        if (a->svg && a->common.json && strcmp(a->svg, "-") == 0)
            argp_error(state, "--json and --svg - both write to standard output");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&machine_argp, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "", doc, children, NULL, NULL};

/* The first of the three that is set decides, as everywhere. */
static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static int write_svg(const struct picture *picture, const char *path, bool *output_failed)
{
    struct file_out *out;
    FILE *f;
    int rc = file_out_open(&out);
    if (rc)
        return rc;
    rc = file_out_add(out, &f, path);
    *output_failed = rc != 0;
    if (!rc)
        rc = draw_write_svg(picture, f);
    if (!rc) {
        rc = file_out_commit(out);
        *output_failed = rc != 0;
        return rc;
    }
    file_out_abort(out);
    return rc;
}

static int show(const struct args *a, const struct machine *machine, bool *output_failed)
{
    struct plan *plan = NULL;
    struct picture *picture = NULL;
    int rc = plan_make(&plan, machine->topo, machine->limits, &(struct plan_settings){0});
    if (!rc)
        rc = draw_make(&picture, machine->topo, machine->limits, plan);
    if (!rc && a->svg)
        rc = write_svg(picture, a->svg, output_failed);
    if (!rc && a->common.json) {
        json_t *tree = topo_to_json(machine->topo), *limits = limits_to_json(machine->limits);
        if (!tree || json_object_set_new(tree, "limits", limits))
            rc = err_fail(-ENOMEM, "no memory for the answer");
        else
            cmd_print(&a->common, json_incref(tree));
        json_decref(tree);
    } else if (!rc && !a->svg) {
        rc = draw_write_text(picture, stdout, a->ascii || !locale_is_utf8());
        *output_failed = rc != 0;
    }
    draw_close(picture);
    plan_close(plan);
    return rc;
}

int cmd_topo(int argc, char **argv)
{
    struct args a = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    struct machine machine;
    bool output_failed = false;
    int rc = machine_open(&machine, &a.machine);
    if (!rc) {
        rc = show(&a, &machine, &output_failed);
        machine_close(&machine);
    }
    if (rc)
        return output_failed ? cmd_fail_output(&a.common) : cmd_fail(&a.common, rc);
    return EXIT_DONE;
}
