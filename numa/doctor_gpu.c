/* GPUs: driver, link, place, what stands between them and memory. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "numa/doctor_check.h"
#include "numa/sysfs.h"

static size_t nvidia_gpus(const struct topology *topo)
{
    size_t n = 0;
    for (size_t i = 0; i < topo->gpus; i++)
        n += topo->device[i].vendor == TOPO_VENDOR_NVIDIA;
    return n;
}

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build": the first word with a digit and
 * a dot in it. */
static bool driver_version(const struct doctor_in *in, char version[TOPO_NAME])
{
    if (in->nvml && gpu_nvml_driver(in->nvml, version))
        return true;
    char text[1024], *save;
    if (!in->root || sysfs_read(text, sizeof text, in->root, "/proc/driver/nvidia/version"))
        return false;
    for (char *word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
        if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
            snprintf(version, TOPO_NAME, "%s", word);
            return true;
        }
    return false;
}

void doctor_check_driver(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    char version[TOPO_NAME];
    int cuda;
    if (nvidia_gpus(in->topo) == 0) {
        doctor_say(doctor, check, DOCTOR_OK, "no NVIDIA GPU: proofs run on the host device");
    } else if (!in->root) {
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "a recorded machine has no driver to ask");
    } else if (!driver_version(in, version)) {
        doctor_repair(
            doctor_say(doctor, check, DOCTOR_FAIL, "%zu NVIDIA GPUs, but no driver is loaded", nvidia_gpus(in->topo)),
            "install the NVIDIA driver, then: modprobe nvidia");
    } else if (in->cuda_built == 0) {
        doctor_say(doctor, check, DOCTOR_WARN, "driver %s, but this build has no CUDA device: proofs run on the host",
                   version);
    } else if (!in->nvml || !gpu_nvml_cuda(in->nvml, &cuda)) {
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "driver %s; its newest CUDA version could not be asked", version);
    } else if (cuda / 1000 < in->cuda_built / 1000) {
        doctor_repair(doctor_say(doctor, check, DOCTOR_FAIL,
                                 "driver %s runs CUDA up to %d.%d, the program was built with %d.%d", version,
                                 cuda / 1000, cuda % 1000 / 10, in->cuda_built / 1000, in->cuda_built % 1000 / 10),
                      "update the driver, or build with a CUDA %d toolkit", cuda / 1000);
    } else {
        doctor_say(doctor, check, DOCTOR_OK, "driver %s runs CUDA up to %d.%d", version, cuda / 1000, cuda % 1000 / 10);
    }
}

void doctor_check_persistence(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    for (size_t i = 0; i < in->topo->gpus; i++) {
        const char *pci = in->topo->device[i].pci;
        bool on;
        if (!in->nvml || !gpu_nvml_persistence(in->nvml, pci, &on))
            doctor_say(doctor, check, DOCTOR_UNKNOWN, "GPU %s: NVML was not there to ask", pci);
        else if (on)
            doctor_say(doctor, check, DOCTOR_OK, "GPU %s: persistence mode is on", pci);
        else
            doctor_repair(
                doctor_say(doctor, check, DOCTOR_WARN,
                           "GPU %s: persistence mode is off: the first proof after a pause waits for the driver", pci),
                "systemctl enable --now nvidia-persistenced (or nvidia-smi -pm 1)");
    }
    if (in->topo->gpus == 0)
        doctor_say(doctor, check, DOCTOR_OK, "no GPU");
}

static void check_one_link(struct doctor *doctor, const struct topology *topo, const char *check,
                           const struct topo_device *dev)
{
    const struct topo_link *link = &dev->link;
    char text[TOPO_NAME], slow[TOPO_NAME];
    const struct topo_link *port = dev->uplink >= 0 ? &topo->bridge[topo->uplink[dev->uplink].port].link : NULL;
    topo_link_text(text, link);
    if (link->gb_per_s <= 0)
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "GPU %s: nothing tells its link speed (usual in virtual machines)",
                   dev->pci);
    else if (link->width && link->max_width && link->width < link->max_width)
        doctor_repair(doctor_say(doctor, check, DOCTOR_WARN, "GPU %s runs x%d of x%d lanes (%s)", dev->pci, link->width,
                                 link->max_width, text),
                      "reseat the card or riser, check the slot's bifurcation in the firmware");
    else if (link->gen && link->max_gen && link->gen < link->max_gen)
        doctor_repair(doctor_say(doctor, check, DOCTOR_UNKNOWN,
                                 "GPU %s runs Gen%d of Gen%d (%s): an idle GPU slows its link down", dev->pci,
                                 link->gen, link->max_gen, text),
                      "look again under load: penstock bench link");
    else if (port && port->gb_per_s > 0 && port->gb_per_s < 0.99 * link->gb_per_s)
        doctor_say(doctor, check, DOCTOR_WARN, "GPU %s has %s, but its root port only %s", dev->pci, text,
                   topo_link_text(slow, port));
    else
        doctor_say(doctor, check, DOCTOR_OK, "GPU %s: %s", dev->pci, text);
}

void doctor_check_link(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    for (size_t i = 0; i < in->topo->gpus; i++)
        check_one_link(doctor, in->topo, check, &in->topo->device[i]);
    if (in->topo->gpus == 0)
        doctor_say(doctor, check, DOCTOR_OK, "no GPU");
}

/* Firmware without _PXM may answer 0 for every device. One socket with all GPUs exists too, so it is a question. */
static bool all_on_first(const struct doctor_in *in)
{
    if (in->topo->packages < 2 || in->plan->gpus < 4)
        return false;
    for (size_t g = 0; g < in->plan->gpus; g++)
        if (in->plan->gpu[g].home != 0 || in->plan->gpu[g].from != PLAN_FROM_SYSFS)
            return false;
    return true;
}

void doctor_check_node(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    if (!in->plan || in->plan->gpus == 0) {
        doctor_say(doctor, check, in->topo->gpus ? DOCTOR_UNKNOWN : DOCTOR_OK, "%s",
                   in->topo->gpus ? "there is no plan to look at" : "no GPU to place");
        return;
    }
    for (size_t g = 0; g < in->plan->gpus; g++) {
        const struct plan_gpu *gpu = &in->plan->gpu[g];
        const char *pci = in->topo->device[gpu->gpu].pci;
        if (gpu->home < 0) {
            doctor_repair(doctor_say(doctor, check, DOCTOR_WARN, "GPU %s: %.250s", pci, gpu->why_home),
                          "penstock tune");
        } else if (gpu->orders == 0 || gpu->order[0] != gpu->home) {
            int near = gpu->orders ? gpu->order[0] : -1;
            doctor_repair(
                doctor_say(doctor, check, near >= 0 ? DOCTOR_WARN : DOCTOR_FAIL,
                           "GPU %s is on node %d, which may not be used (%.100s); nearest that may: %d, distance %u",
                           pci, in->topo->node[gpu->home].os, in->plan->node[gpu->home].why,
                           near >= 0 ? in->topo->node[near].os : -1,
                           near >= 0 ? topo_distance(in->topo, (size_t)gpu->home, (size_t)near) : 0),
                "let the cpuset hold node %d (systemd: AllowedMemoryNodes=, docker: --cpuset-mems)",
                in->topo->node[gpu->home].os);
        } else {
            doctor_say(doctor, check, DOCTOR_OK, "GPU %s is on node %d: %.200s", pci, in->topo->node[gpu->home].os,
                       gpu->why_home);
        }
    }
    if (all_on_first(in))
        doctor_repair(doctor_say(doctor, check, DOCTOR_WARN,
                                 "the firmware puts every GPU on the first node of %zu packages: true, "
                                 "or _PXM is missing",
                                 in->topo->packages),
                      "penstock tune measures it");
}

void doctor_check_iommu(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    size_t direct = 0, translated = 0;
    char type[32];
    for (size_t i = 0; in->root && i < in->topo->gpus; i++) {
        if (sysfs_read(type, sizeof type, in->root, "/sys/bus/pci/devices/%s/iommu_group/type",
                       in->topo->device[i].pci))
            continue;
        if (strncmp(type, "DMA", 3) == 0)
            translated++;
        else
            direct++;
    }
    if (in->topo->gpus == 0)
        doctor_say(doctor, check, DOCTOR_OK, "no GPU");
    else if (translated > 0)
        doctor_repair(doctor_say(doctor, check, DOCTOR_WARN,
                                 "the IOMMU translates %zu GPUs' accesses: registering memory costs a map "
                                 "per page, copies cost look-ups",
                                 translated),
                      "boot with iommu=pt");
    else if (direct > 0)
        doctor_say(doctor, check, DOCTOR_OK, "the IOMMU passes the GPUs through");
    else if (in->root)
        doctor_say(doctor, check, DOCTOR_OK, "no IOMMU stands before the GPUs");
    else
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "a recorded machine without sysfs");
}

enum { CONFIG_BYTES = 4096, FIRST_EXTENDED = 0x100, CAP_ACS = 0x0d, REDIRECT = 0x04 | 0x08 };

static unsigned word_at(const unsigned char *config, unsigned offset)
{
    return (unsigned)config[offset] | (unsigned)config[offset + 1] << 8;
}

/* Is request or completion redirect of Access Control Services on in this bridge's config space? -1: cannot be read
 * (only root sees beyond 64 bytes). PCI Express base specification: extended capabilities start at 0x100, a header is
 * the id in 16 bits and the next offset in the top 12 of 32; ACS control is 6 bytes into the capability. */
static int acs_redirects(const char *root, const char *pci)
{
    unsigned char config[CONFIG_BYTES];
    char path[512];
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/config", root, pci);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, config, sizeof config);
    close(fd);
    if (got < (ssize_t)sizeof config)
        return -1;
    unsigned offset = FIRST_EXTENDED;
    for (int steps = 0; steps < 64 && offset >= FIRST_EXTENDED && offset + 8 <= CONFIG_BYTES; steps++) {
        if (word_at(config, offset) == CAP_ACS)
            return (word_at(config, offset + 6) & REDIRECT) != 0;
        offset = word_at(config, offset + 2) >> 4;
    }
    return 0;
}

void doctor_check_acs(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    const struct topology *topo = in->topo;
    size_t read_ok = 0, on = 0;
    const char *example = "";
    for (size_t b = 0; in->root && b < topo->bridges; b++) {
        if (topo->bridge[b].parent < 0)
            continue; /* traffic between GPUs of one switch does not pass the root port */
        int redirects = acs_redirects(in->root, topo->bridge[b].pci);
        read_ok += redirects >= 0;
        on += redirects > 0;
        example = redirects > 0 ? topo->bridge[b].pci : example;
    }
    size_t shared = 0;
    for (size_t u = 0; u < topo->uplinks; u++)
        shared += topo->uplink[u].count[TOPO_GPU] > 1;
    if (shared == 0)
        doctor_say(doctor, check, DOCTOR_OK, "no two GPUs share a switch");
    else if (on > 0)
        doctor_repair(doctor_say(doctor, check, DOCTOR_WARN,
                                 "ACS sends GPU to GPU traffic over the shared uplink in %zu switch ports", on),
                      "setpci -s %s ECAP_ACS+6.w=0 (each such port, after every boot), or turn ACS off in the firmware",
                      example);
    else if (read_ok > 0)
        doctor_say(doctor, check, DOCTOR_OK, "no switch port redirects GPU to GPU traffic");
    else
        doctor_say(doctor, check, DOCTOR_UNKNOWN,
                   "GPUs share a switch; only root may read whether ACS redirects their traffic");
}
