/* What NVIDIA's management library says of GPUs, asked through dlopen so that nothing depends on the driver. It has no
 * header in the CUDA toolkit; the prototypes here follow its public reference. */
#ifndef NUMA_GPU_NVML_H
#define NUMA_GPU_NVML_H

#include <stdbool.h>

#include "numa/idset.h"
#include "numa/topology.h"

struct gpu_nvml;

/* Load and initialise `library` (NULL: libnvidia-ml.so.1). -ENOENT when there is none (no driver here), -EIO with
 * NVML's own words when it does not start. Close with gpu_nvml_close. */
int gpu_nvml_open(struct gpu_nvml **nvml_p, const char *library);
void gpu_nvml_close(struct gpu_nvml *nvml);

/* Nodes whose memory is near the GPU at `pci`. False when NVML has no answer for it. This is the affinity, not
 * nvmlDeviceGetNumaNodeId: that one names the GPU's own memory as a node and answers "not supported" on an H200. */
bool gpu_nvml_memory_nodes(const struct gpu_nvml *nvml, const char *pci, struct idset *nodes);

/* Persistence mode of the GPU at `pci`. */
bool gpu_nvml_persistence(const struct gpu_nvml *nvml, const char *pci, bool *on);

/* "580.65.06", and the newest CUDA version that the driver runs as 1000 * major + 10 * minor. */
bool gpu_nvml_driver(const struct gpu_nvml *nvml, char version[TOPO_NAME]);
bool gpu_nvml_cuda(const struct gpu_nvml *nvml, int *version);

/* Fill `nvml` of each GPU of a topology; without NVML nothing changes. library "" asks nobody. */
void gpu_nvml_localities(struct topology *topo, const char *library);

#endif
