/* penstock verify VK PUBLIC PROOF */
#include <string.h>

#include "engine/cli/cmd.h"
#include "perf/err.h"
#include "penstock/verify.h"

static const char doc[] =
    "Check a proof.\n\n"
    "VK is a verification_key.json, PUBLIC and PROOF are public.json and proof.json, as snarkjs, "
    "rapidsnark and penstock write them. Exit code 0: valid. 1: not valid, with the reason. 65: a "
    "file cannot be read or is not what it should be."
    "\v"
    "Examples:\n"
    "  penstock verify verification_key.json public.json proof.json\n"
    "  penstock verify --json verification_key.json public.json proof.json";

struct args {
    struct common_opts common;
    const char *path[3];
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 3)
            argp_error(state, "too many arguments: \"%s\"", arg);
        a->path[state->arg_num] = arg;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 3)
            argp_error(state, "need VK, PUBLIC and PROOF");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {NULL, parse, "VK PUBLIC PROOF", doc, children, NULL, NULL};

static const char *const verdict_names[] = {
    [PEN_VALID] = "valid",
    [PEN_FALSE] = "false",
    [PEN_NOT_CANONICAL] = "not-canonical",
    [PEN_INFINITY] = "infinity",
    [PEN_NOT_ON_CURVE] = "not-on-curve",
    [PEN_NOT_IN_SUBGROUP] = "not-in-subgroup",
    [PEN_PUBLIC_TOO_LARGE] = "public-too-large",
    [PEN_PUBLIC_COUNT] = "public-count",
};

int cmd_verify(int argc, char **argv)
{
    struct args a = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    enum pen_verdict verdict;
    int rc = pen_verify_files(&verdict, a.path[0], a.path[1], a.path[2]);
    if (rc)
        return cmd_fail(&a.common, rc);
    bool valid = verdict == PEN_VALID;
    if (a.common.json)
        cmd_print(&a.common, json_pack("{s:b, s:s, s:s}", "valid", valid, "verdict", verdict_names[verdict], "reason",
                                       valid ? "" : pen_last_error()));
    else if (!a.common.quiet)
        printf(valid ? "valid\n" : "NOT valid: %s\n", pen_last_error());
    return valid ? EXIT_DONE : EXIT_INVALID;
}
