/* --xml and --sysfs, as every command that looks at a machine takes them, and the machine that they name. */
#ifndef ENGINE_CLI_OPT_MACHINE_H
#define ENGINE_CLI_OPT_MACHINE_H

#include <argp.h>

#include "numa/gpu_nvml.h"
#include "numa/limits.h"
#include "numa/topology.h"

struct machine_choice {
    const char *xml, *sysfs; /* both NULL: this machine */
};
extern const struct argp machine_argp; /* input: struct machine_choice * */

struct machine {
    struct topology *topo;
    struct limits *limits;
    struct gpu_nvml *nvml; /* NULL: not this machine, or no driver */
    const char *root;      /* of /proc and /sys: "" this machine, a recorded tree, NULL: an XML file has none */
};

/* Read it. Close with machine_close. -ENOENT, -EINVAL (not a machine), -ENOMEM. */
int machine_open(struct machine *machine, const struct machine_choice *choice);
void machine_close(struct machine *machine);

#endif
