/* Who gets what, and why: a pure function of the machine, the limits and the settings. Same inputs, same plan; nothing
 * is asked, bound or allocated here.
 *
 * Home node of a GPU: the operator's word; else the only host node; else sysfs numa_node; else NVML's memory affinity;
 *     else the nearest bridge that has a node; else what hwloc attached it to; else measured bandwidth (5 % or more
 * above the next node); else unknown. Never node 0 by default. Borrow order: home; then nodes of its package; then by
 * distance; then nodes without GPUs of their own before nodes with (no stealing from a node that has its own queue);
 * then by number. Where the bandwidth from every node was measured, by that. Where home is unknown, by free pages.
 * Uplink group: GPUs below the same root port share one link.
 * CPUs: the cores of the home node are split evenly among its GPUs; nodes of the same package without GPUs lend theirs.
 * The first core of a share runs the I/O thread, the others synthesis. Pages: every GPU takes from its home node, page
 * by page in turn, until it has its share or the node is empty; those still short borrow in their order, again in turn.
 * A cgroup limit and pages promised to other mappings cap the sum. */
#ifndef NUMA_PLAN_H
#define NUMA_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "numa/limits.h"
#include "numa/topology.h"

enum { PLAN_WHY = 320 };

/* The operator's word for one GPU. */
struct plan_home {
    const char *pci;
    int node; /* kernel numbering */
};

/* What `penstock tune` measured: host to device, all GPUs active. */
struct plan_measured {
    const char *pci;
    int node;
    double gb_per_s;
};

enum plan_page { PLAN_PAGE_AUTO, PLAN_PAGE_1G, PLAN_PAGE_2M };

struct plan_settings {
    enum plan_page page;    /* AUTO: 1 GiB where any node has them, else 2 MiB */
    uint64_t bytes_per_gpu; /* 0: an even share of all pages that may be used */
    uint64_t keep_pages;    /* on each node, for others */
    bool use_memory_only;   /* also borrow from nodes without CPUs (CXL): drivers may refuse to pin them */
    const struct plan_home *home;
    size_t homes;
    const struct plan_measured *measured;
    size_t measurements;
};

enum plan_from {
    PLAN_FROM_SETTING,
    PLAN_FROM_ONLY_NODE,
    PLAN_FROM_SYSFS,
    PLAN_FROM_NVML,
    PLAN_FROM_BRIDGE,
    PLAN_FROM_LOCALITY,
    PLAN_FROM_MEASURED,
    PLAN_FROM_NOTHING
};
const char *plan_from_name(enum plan_from from);

struct plan_gpu {
    size_t gpu; /* index into topo->device */
    int home;   /* node index, -1: unknown */
    enum plan_from from;
    int *order; /* usable node indices, best first; home is first when it is usable */
    size_t orders;
    int uplink;             /* index into topo->uplink, -1: on the root complex */
    struct idset io, synth; /* CPUs */
    uint64_t want, got;     /* pages */
    uint64_t *take;         /* pages from each node, by node index */
    char why_home[PLAN_WHY], why_order[PLAN_WHY], why_uplink[PLAN_WHY], why_cpus[PLAN_WHY], why_pages[PLAN_WHY];
};

struct plan_node {
    bool usable;
    uint64_t available, given; /* pages */
    char why[PLAN_WHY];        /* why not usable, or where the count comes from */
};

struct plan {
    enum topo_page page;
    char why_page[PLAN_WHY];
    bool capped; /* fewer pages than the nodes have may be taken in all */
    uint64_t cap_pages;
    char why_cap[PLAN_WHY];
    struct plan_gpu *gpu;
    struct plan_node *node; /* by node index */
    size_t gpus, nodes;
    struct idset spare; /* usable CPUs that no GPU got */
    char why_spare[PLAN_WHY];
};

/* Make a plan. Close with plan_close. A machine without GPUs gets a plan with nodes and no GPUs. -EINVAL: a setting
 * names a GPU or node that is not there. -ENOMEM. */
int plan_make(struct plan **plan_p, const struct topology *topo, const struct limits *limits,
              const struct plan_settings *settings);
void plan_close(struct plan *plan);

/* As JSON ("schema": 1, each decision beside its reason). NULL: no memory. The caller owns it. */
json_t *plan_to_json(const struct plan *plan, const struct topology *topo);

/* As text for people. -EIO. */
int plan_write_text(const struct plan *plan, const struct topology *topo, FILE *out);

#endif
