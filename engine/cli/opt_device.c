#include "engine/cli/opt_device.h"

#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {
    {"device", 'd', "NAME", 0,
     "auto (a GPU where there is one, else the host), host, or cuda:N; a named device is never replaced by another", 5},
    {"threads", 't', "N", 0, "Threads of the host device; default: all CPUs that this process may use", 5},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct device_choice *choice = state->input;
    switch (key) {
    case 'd':
        if (strcmp(arg, "auto") != 0 && strcmp(arg, "host") != 0 && strncmp(arg, "cuda:", 5) != 0)
            argp_error(state, "--device takes auto, host or cuda:N, not \"%s\"", arg);
        choice->name = arg;
        return 0;
    case 't': {
        char *end;
        unsigned long n = strtoul(arg, &end, 10);
        if (*end || end == arg || n == 0 || n > 4096)
            argp_error(state, "--threads takes a number from 1 to 4096, not \"%s\"", arg);
        choice->opts.threads = (unsigned)n;
        return 0;
    }
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp device_argp = {.options = options, .parser = parse};

int device_choice_open(struct device **device_p, const struct device_choice *choice)
{
    return device_open(device_p, choice->name ? choice->name : "auto", &choice->opts);
}
