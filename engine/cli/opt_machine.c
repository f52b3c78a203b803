#include "engine/cli/opt_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "perf/err.h"

enum { OPT_XML = 512, OPT_SYSFS };
static const struct argp_option options[] = {
    {"xml", OPT_XML, "FILE", 0, "Look at the machine of an hwloc XML file (lstopo FILE.xml) in place of this one", 4},
    {"sysfs", OPT_SYSFS, "DIR", 0,
     "Look at a recorded machine: a folder that holds its sys/ and proc/ (hwloc-gather-topology makes one)", 4},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct machine_choice *choice = state->input;
    switch (key) {
    case OPT_XML:
        choice->xml = arg;
        return 0;
    case OPT_SYSFS:
        choice->sysfs = arg;
        return 0;
    case ARGP_KEY_END:
        if (choice->xml && choice->sysfs)
            argp_error(state, "--xml and --sysfs exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp machine_argp = {.options = options, .parser = parse};

/* topo_open takes either kind by looking at it: the option says which one was meant. */
static int kind_check(const struct machine_choice *choice)
{
    const char *path = choice->xml ? choice->xml : choice->sysfs;
    struct stat st;
    if (!path)
        return 0;
    if (stat(path, &st))
        return err_fail(-errno, "%s: %s", path, strerror(errno));
    if (choice->xml && S_ISDIR(st.st_mode))
        return err_fail(-EISDIR, "%s is a folder; --xml takes a file that lstopo wrote, --sysfs takes folders", path);
    if (choice->sysfs && !S_ISDIR(st.st_mode))
        return err_fail(-ENOTDIR, "%s is no folder; --sysfs takes one that holds sys/ and proc/", path);
    if (choice->sysfs) {
        char sys[4096];
        snprintf(sys, sizeof sys, "%.4000s/sys", path);
        if (stat(sys, &st))
            return err_fail(-ENOENT, "%s holds no sys/: expected a recorded tree with sys/ and proc/ in it", path);
    }
    return 0;
}

int machine_open(struct machine *machine, const struct machine_choice *choice)
{
    struct machine m = {.root = choice->xml ? NULL : choice->sysfs ? choice->sysfs : ""};
    int rc = kind_check(choice);
    if (rc)
        return rc;
    m.limits = calloc(1, sizeof *m.limits);
    if (!m.limits)
        return err_fail(-ENOMEM, "no memory for the machine's limits");
    setenv("HWLOC_HIDE_ERRORS", "2", 0); /* our own sentence is enough */
    rc = topo_open(&m.topo, &(struct topo_opts){.path = choice->xml ? choice->xml : choice->sysfs});
    if (!rc && m.root)
        rc = limits_read(m.limits, m.root);
    else
        limits_none(m.limits);
    if (rc) {
        machine_close(&m);
        return rc;
    }
    if (m.topo->this_machine && m.topo->gpus > 0 && gpu_nvml_open(&m.nvml, NULL))
        m.nvml = NULL; /* no driver: the doctor says so */
    *machine = m;
    return 0;
}

void machine_close(struct machine *machine)
{
    if (machine->nvml)
        gpu_nvml_close(machine->nvml);
    topo_close(machine->topo);
    free(machine->limits);
    *machine = (struct machine){0};
}
