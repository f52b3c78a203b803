#include "cuda/device.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"

static int cuda_open(struct device **out, const char *name, const struct device_opts *opts)
{
    const char *digits = name + strlen("cuda:");
    char *end;
    unsigned long ordinal = strtoul(digits, &end, 10);
    if (!isdigit((unsigned char)digits[0]) || *end || ordinal > 1023)
        return err_fail(-EINVAL, "\"%s\" is not a device (write it like cuda:0)", name);
    return device_cuda_open(out, (unsigned)ordinal, opts);
}

int device_open(struct device **out, const char *name, const struct device_opts *opts)
{
    if (strcmp(name, "auto") == 0)
        return device_cuda_count() > 0 ? device_cuda_open(out, 0, opts) : device_host_open(out, opts);
    if (strcmp(name, "host") == 0)
        return device_host_open(out, opts);
    if (strncmp(name, "cuda:", strlen("cuda:")) == 0)
        return cuda_open(out, name, opts);
    return err_fail(-EINVAL, "\"%s\" is not a device (host, cuda:N or auto)", name);
}
