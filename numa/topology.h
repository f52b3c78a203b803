/* What this machine is made of, as plain data: packages, NUMA nodes, caches, cores, GPUs, drives, network ports, the
 * bridges above them. Read once from this machine, from an hwloc XML file, or from a recorded sysfs tree; never changed
 * afterwards, so any thread may read it. What is not known is absent (-1, 0 GB/s, known = false), never guessed.
 *
 *     package 0            package 1
 *       node 0  node 1       node 2  node 3        (SNC or NPS: several nodes in one package)
 *       |                    |
 *       host bridge          host bridge
 *         root port  <------------- the uplink: all below share its link
 *           switch
 *             GPU  GPU  NVMe  NIC
 */
#ifndef NUMA_TOPOLOGY_H
#define NUMA_TOPOLOGY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numa/idset.h"

enum { TOPO_NAME = 64, TOPO_PCI = 20, TOPO_DEPTH = 12 };

/* The sizes that x86-64 and arm64 (4 KiB kernels) give as hugetlb pages. */
enum topo_page { TOPO_PAGE_1G, TOPO_PAGE_2M, TOPO_PAGES };
uint64_t topo_page_bytes(enum topo_page page);
const char *topo_page_name(enum topo_page page); /* "1 GiB", "2 MiB" */

struct topo_pages {
    uint64_t total, free;
    bool total_known, free_known; /* an XML file holds totals only */
};

enum topo_node_kind {
    TOPO_NODE_HOST,        /* has CPUs and memory */
    TOPO_NODE_MEMORY_ONLY, /* no CPUs: CXL, HBM; GPU drivers may refuse to pin it */
    TOPO_NODE_CPUS_ONLY,   /* CPUs, no memory */
    TOPO_NODE_GPU_MEMORY   /* a GPU's own memory: never used for host pools */
};

struct topo_node {
    int os;      /* the kernel's number */
    int package; /* index, -1: belongs to none */
    enum topo_node_kind kind;
    uint64_t memory_bytes;
    struct topo_pages pages[TOPO_PAGES];
    struct idset cpus; /* online */
};

struct topo_package {
    int os;
    char model[TOPO_NAME];
    struct idset cpus;
};

struct topo_cache {
    int level; /* 2 or 3 */
    uint64_t bytes;
    struct idset cpus;
};

struct topo_core {
    struct idset cpus; /* its hardware threads, online */
};

/* A PCIe link. gb_per_s is GB/s each way, encoding taken off, headers not: 63.0 for Gen5 x16. */
struct topo_link {
    double gb_per_s;        /* as it runs now; 0: unknown. An idle GPU lowers its link: read it under load. */
    int gen, width;         /* now; 0: unknown */
    int max_gen, max_width; /* what the device can do; 0: unknown */
};

struct topo_bridge {
    char pci[TOPO_PCI];
    int parent;            /* index, -1: this one is a root port (its parent is a host bridge) */
    int numa_node;         /* what the kernel says of the bridge, -1: nothing */
    struct topo_link link; /* towards the CPU */
};

enum topo_kind { TOPO_GPU, TOPO_DRIVE, TOPO_NIC, TOPO_KINDS };

struct topo_device {
    enum topo_kind kind;
    char pci[TOPO_PCI];
    char name[TOPO_NAME]; /* what PCI data bases or the kernel call it, or "" */
    unsigned vendor, device, class_id;
    struct topo_link link;
    int bridge[TOPO_DEPTH]; /* nearest first, the last is the root port */
    size_t bridges;         /* 0: sits on the root complex itself */
    int uplink;             /* index, -1: sits on the root complex */
    /* Evidence of where it hangs; plan decides which to believe. Kernel numbering. */
    int numa_node;         /* sysfs numa_node, -1: the kernel does not know */
    struct idset locality; /* nodes that hwloc attached it to; empty: the whole machine */
    struct idset nvml;     /* nodes that NVML's memory affinity names; empty: not asked or no answer */
    int bridge_node;       /* numa_node of the nearest bridge that has one, -1: none */
    int bridge_from;       /* index of that bridge */
};

/* All devices below one root port share its link. */
struct topo_uplink {
    int port; /* bridge index */
    unsigned count[TOPO_KINDS];
};

struct topology {
    char name[TOPO_NAME]; /* product, else host, else file */
    char origin[256];     /* "this machine", or the path */
    bool this_machine;
    struct idset online, offline; /* CPUs */
    struct topo_package *package;
    struct topo_node *node; /* ascending by os */
    struct topo_cache *cache;
    struct topo_core *core;
    struct topo_bridge *bridge;
    struct topo_device *device; /* by kind, then by PCI address: GPUs are device[0 .. gpus) */
    struct topo_uplink *uplink;
    size_t packages, nodes, caches, cores, bridges, devices, gpus, uplinks;
    unsigned *distance; /* nodes x nodes, NULL: unknown; 10 = local */
};

enum { TOPO_VENDOR_NVIDIA = 0x10de, TOPO_VENDOR_ANY = 0x10000 };

struct topo_opts {
    const char *path; /* NULL: this machine. A file: hwloc XML. A folder: a recorded tree with sys/ and proc/ in it. */
    unsigned vendor;  /* whose display and 3D controllers count as GPUs; 0: NVIDIA */
    const char *nvml; /* library to ask on this machine; NULL: libnvidia-ml.so.1; "": none */
};

/* Read a machine. Close with topo_close. -ENOENT, -EINVAL (not a topology), -ENOMEM. For a folder it sets HWLOC_*
 * environment variables for the time of the call: call it before threads that read the environment start. */
int topo_open(struct topology **topo_p, const struct topo_opts *opts);
void topo_close(struct topology *topo);

/* Index of a node by the kernel's number, -1: none. */
int topo_node_index(const struct topology *topo, int os);

/* Distance between two nodes by index; 0: unknown. */
unsigned topo_distance(const struct topology *topo, size_t from, size_t to);

/* Generation and width from GB/s when only one pair gives that speed (63.0 -> Gen5 x16; 31.5 may be Gen4 x16 or Gen5 x8
 * and gives false). And the speed of a pair, 0 for an unknown generation. */
bool topo_link_guess(double gb_per_s, int *gen, int *width);
double topo_link_speed(int gen, int width);
/* "63.0 GB/s (Gen5 x16)", "31.5 GB/s", "unknown". Returns `text`. */
const char *topo_link_text(char text[TOPO_NAME], const struct topo_link *link);

/* Everything above as JSON ("schema": 1; unknown values are null). NULL: no memory. The caller owns it. */
json_t *topo_to_json(const struct topology *topo);

#endif
