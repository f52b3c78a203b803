/* penstock setup CIRCUIT.r1cs KEY VK */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/cmd.h"
#include "engine/cli/opt_device.h"
#include "engine/cli/progress.h"
#include "perf/err.h"
#include "perf/log.h"
#include "perf/units.h"
#include "prover/file_out.h"
#include "prover/setup.h"

static const char doc[] =
    "Make a TEST key from a circuit.\n\n"
    "CIRCUIT is an .r1cs as circom writes it; KEY and VK are written as a .zkey and a verification_key.json that "
    "snarkjs "
    "takes. The key is NOT for production: whoever makes one could forge proofs. Use a ceremony for that "
    "(snarkjs groth16 setup, zkey contribute)."
    "\v"
    "Examples:\n"
    "  penstock setup circuit.r1cs circuit.zkey verification_key.json\n"
    "  penstock setup --seed 7 circuit.r1cs circuit.zkey verification_key.json    the same key everywhere";

enum { OPT_SEED = 256, OPT_TRAPDOOR, OPT_DELTA_ONE };
static const struct argp_option options[] = {
    {"seed", OPT_SEED, "N", 0, "Derive the secrets from N in place of the kernel's random numbers", 1},
    {"trapdoor", OPT_TRAPDOOR, "FILE", 0, "Take the secrets from a JSON file (tau, alpha, beta, delta: \"0x...\")", 1},
    {"delta-one", OPT_DELTA_ONE, NULL, 0,
     "Leave delta at 1: the key before any contribution, as `snarkjs zkey verify' and `zkey contribute' expect it. "
     "Such "
     "a key does not even bind the public values",
     1},
    {0},
};

struct args {
    struct common_opts common;
    struct device_choice device;
    const char *path[3];
    const char *trapdoor_path;
    bool seeded, delta_one;
    uint64_t seed;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->device;
        state->child_inputs[1] = &a->common;
        return 0;
    case OPT_SEED: {
        char *end;
        a->seed = strtoull(arg, &end, 0);
        if (*end || end == arg || *arg == '-')
            argp_error(state, "--seed takes a number, not \"%s\"", arg);
        a->seeded = true;
        return 0;
    }
    case OPT_TRAPDOOR:
        a->trapdoor_path = arg;
        return 0;
    case OPT_DELTA_ONE:
        a->delta_one = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 3)
            argp_error(state, "too many arguments: \"%s\"", arg);
        a->path[state->arg_num] = arg;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 3)
            argp_error(state, "need CIRCUIT, KEY and VK");
        if (a->seeded && a->trapdoor_path)
            argp_error(state, "--seed and --trapdoor exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&device_argp, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "CIRCUIT.r1cs KEY VK", doc, children, NULL, NULL};

static int secrets(struct trapdoor *t, const struct args *a, const struct curve *curve)
{
    int rc = a->trapdoor_path ? trapdoor_read(curve, t, a->trapdoor_path)
             : a->seeded      ? trapdoor_derive(curve, t, a->seed)
                              : trapdoor_random(curve, t);
    if (!rc && a->delta_one)
        curve->fr_from_u64(&t->delta, 1);
    return rc;
}

static int make(const struct args *a, struct device *device, const struct r1cs *r1cs, struct setup_stats *stats,
                struct progress_bar *bar, bool *output_failed)
{
    struct trapdoor t;
    struct file_out *out;
    FILE *zkey, *vk;
    int rc = secrets(&t, a, r1cs->curve);
    if (!rc)
        rc = file_out_open(&out);
    if (rc)
        return rc;
    rc = file_out_add(out, &zkey, a->path[1]);
    if (!rc)
        rc = file_out_add(out, &vk, a->path[2]);
    *output_failed = rc != 0;
    if (!rc)
        rc = setup_write(zkey, vk, device, r1cs, &t, stats, progress_step, bar);
    explicit_bzero(&t, sizeof t);
    if (!rc) {
        rc = file_out_commit(out);
        *output_failed = rc != 0;
        return rc;
    }
    file_out_abort(out);
    return rc;
}

int cmd_setup(int argc, char **argv)
{
    struct args a = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    struct progress_bar bar = progress_begin(a.common.quiet || a.common.json);
    struct r1cs *r1cs = NULL;
    struct device *device;
    struct setup_stats stats;
    bool output_failed = false;
    int rc = r1cs_open(&r1cs, a.path[0]);
    if (!rc)
        rc = device_choice_open(&device, &a.device, r1cs->n_constraints);
    if (!rc) {
        rc = make(&a, device, r1cs, &stats, &bar, &output_failed);
        device->ops->close(device);
    }
    progress_end(&bar);
    const char *curve = r1cs ? r1cs->curve->name : "";
    r1cs_close(r1cs);
    if (rc)
        return output_failed ? cmd_fail_output(&a.common) : cmd_fail(&a.common, rc);
    log_line(LOG_WARN, "%s is a TEST key: whoever made it can forge proofs. Do not use it in production.", a.path[1]);
    if (a.common.json) {
        cmd_print(&a.common,
                  json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "key", a.path[1], "vk", a.path[2], "curve",
                            curve, "wires", (json_int_t)stats.n_vars, "publics", (json_int_t)stats.n_public,
                            "constraints", (json_int_t)stats.n_constraints, "domain", (json_int_t)stats.domain_size,
                            "coefficients", (json_int_t)stats.n_coefs, "key_bytes", (json_int_t)stats.zkey_bytes));
    } else if (!a.common.quiet) {
        char text[UNITS_TEXT];
        printf("%s: %s, %zu constraints, %zu wires, %zu public, domain %zu, %s\n", a.path[1], curve,
               stats.n_constraints, stats.n_vars, stats.n_public, stats.domain_size,
               units_bytes(text, stats.zkey_bytes));
    }
    return EXIT_DONE;
}
