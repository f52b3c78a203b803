/* --device and --threads, as every command that computes takes them. */
#ifndef ENGINE_CLI_OPT_DEVICE_H
#define ENGINE_CLI_OPT_DEVICE_H

#include <argp.h>

#include "cuda/device.h"

struct device_choice {
    const char *name; /* NULL = auto */
    struct device_opts opts;
};
extern const struct argp device_argp; /* input: struct device_choice * */

/* Open what was chosen. -ENODEV, -ENOMEM. */
int device_choice_open(struct device **device_p, const struct device_choice *choice);

#endif
