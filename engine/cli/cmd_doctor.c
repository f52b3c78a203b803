/* penstock doctor */
#include <stdio.h>
#include <string.h>

#include "cuda/device.h"
#include "engine/cli/cmd.h"
#include "engine/cli/opt_machine.h"
#include "numa/doctor.h"
#include "numa/plan.h"
#include "perf/err.h"

static const char doc[] =
    "Say what is wrong with this machine, and what repairs it.\n\n"
    "Each check is ok, unknown (could not look), warn or fail; below a warning or failure stands the command or the "
    "setting that repairs it. Nothing is changed. The exit code is the worst finding's: 0 ok or unknown, 1 warn, 69 a "
    "check of a GPU failed, 71 a check of memory or of the system failed. --quiet leaves out what is ok."
    "\v"
    "Examples:\n"
    "  penstock doctor\n"
    "  penstock doctor --quiet || echo \"look above\"\n"
    "  penstock doctor --json | jq -r '.findings[] | select(.grade == \"fail\") | .repair'\n"
    "  penstock doctor --xml server.xml         what a recorded machine tells";

struct args {
    struct common_opts common;
    struct machine_choice machine;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->machine;
        state->child_inputs[1] = &a->common;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "too many arguments: \"%s\"", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&machine_argp, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {NULL, parse, "", doc, children, NULL, NULL};

/* Without its GPU a machine still proves, slowly; without memory it does not: where both fail, memory's code. */
static enum exit_code code_of(const struct doctor *doctor)
{
    static const char *const of_gpus[] = {"driver", "persistence", "link", "gpu-node", "iommu", "acs"};
    enum exit_code code = doctor->worst == DOCTOR_WARN ? EXIT_INVALID : EXIT_DONE;
    for (size_t i = 0; i < doctor->findings; i++) {
        const struct doctor_finding *f = &doctor->finding[i];
        if (f->grade != DOCTOR_FAIL)
            continue;
        bool gpu = false;
        for (size_t k = 0; k < sizeof of_gpus / sizeof *of_gpus; k++)
            gpu = gpu || strcmp(f->check, of_gpus[k]) == 0;
        if (!gpu)
            return EXIT_NO_MEMORY;
        code = EXIT_NO_DEVICE;
    }
    return code;
}

static int examine(struct doctor **doctor_p, const struct machine *machine)
{
    struct plan *plan;
    int rc = plan_make(&plan, machine->topo, machine->limits, &(struct plan_settings){0});
    if (rc)
        return rc;
    const struct doctor_in in = {.topo = machine->topo,
                                 .limits = machine->limits,
                                 .plan = plan,
                                 .root = machine->root,
                                 .nvml = machine->nvml,
                                 .cuda_built = device_cuda_built()};
    rc = doctor_run(doctor_p, &in);
    plan_close(plan);
    return rc;
}

int cmd_doctor(int argc, char **argv)
{
    struct args a = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    struct machine machine;
    struct doctor *doctor;
    int rc = machine_open(&machine, &a.machine);
    if (rc)
        return cmd_fail(&a.common, rc);
    rc = examine(&doctor, &machine);
    machine_close(&machine);
    if (rc)
        return cmd_fail(&a.common, rc);
    enum exit_code code = code_of(doctor);
    if (a.common.json) {
        json_t *tree = doctor_to_json(doctor);
        if (tree && json_object_set_new(tree, "exit", json_integer((json_int_t)code)) == 0)
            cmd_print(&a.common, json_incref(tree));
        else
            rc = err_fail(-ENOMEM, "no memory for the answer");
        json_decref(tree);
    } else if (doctor_write_text(doctor, stdout, a.common.quiet)) {
        doctor_close(doctor);
        return cmd_fail_output(&a.common);
    }
    doctor_close(doctor);
    return rc ? cmd_fail(&a.common, rc) : (int)code;
}
