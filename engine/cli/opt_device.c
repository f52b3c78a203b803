#include "engine/cli/opt_device.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/log.h"
#include "perf/units.h"

enum { OPT_MEMORY = 512 };
static const struct argp_option options[] = {
    {"device", 'd', "NAME", 0,
     "auto (a GPU where there is one and the circuit is large enough to win back the driver's start, else the host; "
     "says which and why), host, or cuda:N; a named device is never replaced by another",
     5},
    {"device-memory", OPT_MEMORY, "SIZE", 0,
     "GPU memory that this process may take, like 8GiB; default: what is free. What does not fit is streamed from the "
     "host, or refused before any work",
     5},
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
    case OPT_MEMORY: {
        uint64_t bytes;
        if (units_parse_bytes(arg, &bytes) || bytes == 0)
            argp_error(state, "--device-memory takes a size like 8GiB, not \"%s\"", arg);
        choice->opts.memory_limit = bytes;
        return 0;
    }
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

bool device_auto_is_gpu(char why[DEVICE_WHY], uint64_t rows, unsigned threads, int cuda_built, unsigned (*count)(void))
{
    uint64_t crossover = (uint64_t)threads * DEVICE_AUTO_ROWS_PER_THREAD;
    if (!cuda_built) {
        snprintf(why, DEVICE_WHY, "this build has no CUDA device");
        return false;
    }
    if (rows < crossover) {
        snprintf(why, DEVICE_WHY,
                 "%llu rows are fewer than %llu (%d for each of %u threads), where a GPU wins back its driver's start",
                 (unsigned long long)rows, (unsigned long long)crossover, DEVICE_AUTO_ROWS_PER_THREAD, threads);
        return false;
    }
    unsigned gpus = count();
    if (gpus == 0)
        snprintf(why, DEVICE_WHY, "no usable GPU here (`penstock doctor' tells more)");
    else if (rows == DEVICE_ROWS_MANY)
        snprintf(why, DEVICE_WHY, "the first of %u GPUs", gpus);
    else
        snprintf(why, DEVICE_WHY, "the first of %u GPUs, and %llu rows are no fewer than %llu", gpus,
                 (unsigned long long)rows, (unsigned long long)crossover);
    return gpus > 0;
}

/* As the host device counts them. */
static unsigned threads_of(const struct device_choice *choice)
{
    cpu_set_t set;
    if (choice->opts.threads)
        return choice->opts.threads;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

int device_choice_open(struct device **device_p, const struct device_choice *choice, uint64_t rows)
{
    if (!device_choice_is_auto(choice))
        return device_open(device_p, choice->name, &choice->opts);
    char why[DEVICE_WHY];
    bool gpu = device_auto_is_gpu(why, rows, threads_of(choice), device_cuda_built(), device_cuda_count);
    log_line(LOG_NOTICE, "device %s: %s", gpu ? "cuda:0" : "host", why);
    return gpu ? device_cuda_open(device_p, 0, &choice->opts) : device_host_open(device_p, &choice->opts);
}
