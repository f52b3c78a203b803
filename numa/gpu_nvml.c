#include "numa/gpu_nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"

typedef struct nvml_device *nvml_device; /* an opaque handle of the library */
enum { NVML_OK = 0, NVML_SCOPE_NODE = 0 };

struct gpu_nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_text)(int);
    int (*by_pci)(const char *, nvml_device *);
    int (*memory_affinity)(nvml_device, unsigned words, unsigned long *set, unsigned scope);
    int (*persistence)(nvml_device, unsigned *mode);
    int (*driver)(char *, unsigned);
    int (*cuda)(int *);
};

static bool load_symbols(struct gpu_nvml *nvml)
{
    const struct {
        const char *name;
        void *slot;
        bool needed;
    } symbols[] = {
        {"nvmlInit_v2", &nvml->init, true},
        {"nvmlShutdown", &nvml->shutdown, true},
        {"nvmlErrorString", &nvml->error_text, true},
        {"nvmlDeviceGetHandleByPciBusId_v2", &nvml->by_pci, true},
        {"nvmlDeviceGetMemoryAffinity", &nvml->memory_affinity, false}, /* from driver 450 on */
        {"nvmlDeviceGetPersistenceMode", &nvml->persistence, false},
        {"nvmlSystemGetDriverVersion", &nvml->driver, false},
        {"nvmlSystemGetCudaDriverVersion_v2", &nvml->cuda, false},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(nvml->library, symbols[i].name);
        if (!address && symbols[i].needed)
            return false;
        memcpy(symbols[i].slot, &address, sizeof address); /* ISO C has no cast from void * to a function */
    }
    return true;
}

int gpu_nvml_open(struct gpu_nvml **nvml_p, const char *library)
{
    if (!library)
        library = "libnvidia-ml.so.1";
    struct gpu_nvml *nvml = calloc(1, sizeof *nvml);
    if (!nvml)
        return err_fail(-ENOMEM, "no memory for NVML");
    int rc = 0;
    nvml->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        rc = err_fail(-ENOENT, "%s", dlerror());
    else if (!load_symbols(nvml))
        rc = err_fail(-ENOENT, "%s lacks NVML's basic calls", library);
    else if ((rc = nvml->init()) != NVML_OK)
        rc = err_fail(-EIO, "%s: %s", library, nvml->error_text(rc));
    if (rc) {
        if (nvml->library)
            dlclose(nvml->library);
        free(nvml);
        return rc;
    }
    *nvml_p = nvml;
    return 0;
}

void gpu_nvml_close(struct gpu_nvml *nvml)
{
    if (!nvml)
        return;
    nvml->shutdown();
    dlclose(nvml->library);
    free(nvml);
}

bool gpu_nvml_memory_nodes(const struct gpu_nvml *nvml, const char *pci, struct idset *nodes)
{
    nvml_device device;
    struct idset out = {{0}};
    _Static_assert(sizeof(unsigned long) == sizeof out.word[0], "NVML fills unsigned longs");
    unsigned long words[IDSET_WORDS] = {0};
    if (!nvml->memory_affinity || nvml->by_pci(pci, &device) != NVML_OK ||
        nvml->memory_affinity(device, IDSET_WORDS, words, NVML_SCOPE_NODE) != NVML_OK)
        return false;
    memcpy(out.word, words, sizeof out.word);
    if (idset_empty(&out))
        return false;
    *nodes = out;
    return true;
}

bool gpu_nvml_persistence(const struct gpu_nvml *nvml, const char *pci, bool *on)
{
    nvml_device device;
    unsigned mode;
    if (!nvml->persistence || nvml->by_pci(pci, &device) != NVML_OK || nvml->persistence(device, &mode) != NVML_OK)
        return false;
    *on = mode != 0;
    return true;
}

bool gpu_nvml_driver(const struct gpu_nvml *nvml, char version[TOPO_NAME])
{
    return nvml->driver && nvml->driver(version, TOPO_NAME) == NVML_OK;
}

bool gpu_nvml_cuda(const struct gpu_nvml *nvml, int *version)
{
    return nvml->cuda && nvml->cuda(version) == NVML_OK;
}

void gpu_nvml_localities(struct topology *topo, const char *library)
{
    struct gpu_nvml *nvml = NULL;
    if ((library && !library[0]) || gpu_nvml_open(&nvml, library))
        return;
    for (size_t i = 0; i < topo->gpus; i++)
        gpu_nvml_memory_nodes(nvml, topo->device[i].pci, &topo->device[i].nvml);
    gpu_nvml_close(nvml);
}
