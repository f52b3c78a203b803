/* penstock key info | check KEY */
#include <string.h>

#include "engine/cli/cmd.h"
#include "engine/cli/opt_device.h"
#include "engine/cli/progress.h"
#include "perf/err.h"
#include "prover/key_check.h"
#include "prover/zkey.h"

static const char doc[] = "Look into a key.\n\n"
                          "info prints its sizes (milliseconds, whatever the size). check tests every point of every "
                          "section (canonical, on the curve, in the subgroup), every coefficient, and that beta, delta "
                          "and B hold the same numbers in both groups. It cannot tell whether the ceremony was honest: "
                          "`snarkjs zkey verify' can."
                          "\v"
                          "Examples:\n"
                          "  penstock key info circuit.zkey\n"
                          "  penstock key check --threads 8 circuit.zkey";

struct args {
    struct common_opts common;
    struct device_choice device;
    const char *what, *path;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->device;
        state->child_inputs[1] = &a->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            a->what = arg;
        else if (state->arg_num == 1)
            a->path = arg;
        else
            argp_error(state, "too many arguments: \"%s\"", arg);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "need info or check, and KEY");
        if (strcmp(a->what, "info") != 0 && strcmp(a->what, "check") != 0)
            argp_error(state, "\"%s\" is neither info nor check", a->what);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&device_argp, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {NULL, parse, "info KEY\ncheck KEY", doc, children, NULL, NULL};

static json_t *info_tree(const struct zkey *z)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "key", z->map.path, "protocol", "groth16", "curve",
                     z->curve->name, "wires", (json_int_t)z->n_vars, "publics", (json_int_t)z->n_public, "domain",
                     (json_int_t)z->domain_size, "coefficients", (json_int_t)z->n_coefs, "bytes",
                     (json_int_t)z->map.bytes);
}

int cmd_key(int argc, char **argv)
{
    struct args a = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    bool check = strcmp(a.what, "check") == 0;
    struct progress_bar bar = progress_begin(a.common.quiet || a.common.json);
    struct zkey *z = NULL;
    struct device *device;
    int rc = zkey_open(&z, a.path);
    if (!rc && check)
        rc = device_choice_open(&device, &a.device, z->domain_size);
    if (!rc && check) {
        rc = key_check(device, z, progress_step, &bar);
        device->ops->close(device);
    }
    progress_end(&bar);
    json_t *tree = rc ? NULL : info_tree(z);
    if (tree && check)
        json_object_set_new(tree, "check", json_string("good"));
    zkey_close(z);
    if (rc)
        return cmd_fail(&a.common, rc);
    cmd_print(&a.common, tree);
    return EXIT_DONE;
}
