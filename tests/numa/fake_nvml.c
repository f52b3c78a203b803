/* A library with NVML's names: one GPU at 0000:83:00.0 whose memory is near node 1. FAKE_NVML_FAIL=1 makes init fail as
 * on a machine whose driver is not loaded. */
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int code);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
int nvmlDeviceGetMemoryAffinity(void *device, unsigned words, unsigned long *set, unsigned scope);
int nvmlDeviceGetPersistenceMode(void *device, unsigned *mode);
int nvmlSystemGetDriverVersion(char *version, unsigned length);
int nvmlSystemGetCudaDriverVersion_v2(int *version);

static int gpu;

int nvmlInit_v2(void)
{
    return getenv("FAKE_NVML_FAIL") ? 9 : 0;
}

int nvmlShutdown(void)
{
    return 0;
}

const char *nvmlErrorString(int code)
{
    return code == 9 ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device)
{
    if (strcmp(pci, "0000:83:00.0") != 0)
        return 6;
    *device = &gpu;
    return 0;
}

int nvmlDeviceGetMemoryAffinity(void *device, unsigned words, unsigned long *set, unsigned scope)
{
    if (device != &gpu || words == 0 || scope != 0)
        return 2;
    memset(set, 0, words * sizeof *set);
    set[0] = 2;
    return 0;
}

int nvmlDeviceGetPersistenceMode(void *device, unsigned *mode)
{
    (void)device;
    *mode = 0;
    return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    if (length < 12)
        return 7;
    strcpy(version, "580.65.06");
    return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return 0;
}
