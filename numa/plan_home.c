/* Which node a GPU hangs on: the chain of evidence, strongest first. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "numa/plan_step.h"
#include "perf/err.h"

/* Bandwidths differ by noise; a node counts as nearer from this factor on. Copies repeat within 1 % alone and within 3
 * % under load; a socket link costs 30 % and more. */
static const double nearer = 1.05;

static bool is_host(const struct topology *topo, int index)
{
    return index >= 0 && topo->node[index].kind == TOPO_NODE_HOST;
}

static int only_host_node(const struct topology *topo)
{
    int only = -1;
    for (size_t i = 0; i < topo->nodes; i++) {
        if (topo->node[i].kind != TOPO_NODE_HOST)
            continue;
        if (only >= 0)
            return -1;
        only = (int)i;
    }
    return only;
}

/* A device may name a node that is no place for host memory (no CPUs, no memory, its own): take the nearest that is. */
static int nearest_host(const struct topology *topo, int index)
{
    int best = -1;
    unsigned best_distance = 0;
    for (size_t i = 0; i < topo->nodes; i++) {
        if (!is_host(topo, (int)i))
            continue;
        unsigned distance = topo_distance(topo, (size_t)index, i) + (plan_ring(topo, (size_t)index, i) == 1 ? 0 : 1000);
        if (best < 0 || distance < best_distance) {
            best = (int)i;
            best_distance = distance;
        }
    }
    return best;
}

static uint64_t free_pages(const struct plan_in *in, size_t node)
{
    uint64_t pages = 0;
    return limits_free_pages(&pages, in->limits, &in->topo->node[node], TOPO_PAGE_1G) ? pages : 0;
}

/* One node out of a set of kernel numbers: -1 when the set says nothing (empty, every host node, several packages). In
 * one package the node with the most free 1 GiB pages; `more` says that there was a choice. */
static int pick(const struct plan_in *in, const struct idset *set, bool *more)
{
    const struct topology *topo = in->topo;
    size_t hosts = 0, named = 0;
    int best = -1;
    for (size_t i = 0; i < topo->nodes; i++) {
        if (!is_host(topo, (int)i))
            continue;
        hosts++;
        if (!idset_has(set, (unsigned)topo->node[i].os))
            continue;
        named++;
        if (best >= 0 && plan_ring(topo, (size_t)best, i) != 1)
            return -1;
        if (best < 0 || free_pages(in, i) > free_pages(in, (size_t)best))
            best = (int)i;
    }
    *more = named > 1;
    return named == hosts && hosts > 1 ? -1 : best;
}

double plan_measured_gb_per_s(const struct plan_in *in, const struct topo_device *dev, size_t node)
{
    for (size_t i = 0; i < in->settings->measurements; i++)
        if (in->settings->measured[i].node == in->topo->node[node].os &&
            plan_is_device(dev, in->settings->measured[i].pci))
            return in->settings->measured[i].gb_per_s;
    return 0;
}

/* The node whose measured bandwidth stands out; -1 when none was measured or they are alike. */
static int fastest(const struct plan_in *in, const struct topo_device *dev, double *best_p, double *next_p)
{
    int best = -1;
    double best_gb = 0, next_gb = 0;
    for (size_t i = 0; i < in->topo->nodes; i++) {
        double gb = is_host(in->topo, (int)i) ? plan_measured_gb_per_s(in, dev, i) : 0;
        if (gb > best_gb) {
            next_gb = best_gb;
            best_gb = gb;
            best = (int)i;
        } else if (gb > next_gb) {
            next_gb = gb;
        }
    }
    *best_p = best_gb;
    *next_p = next_gb;
    return next_gb > 0 && best_gb >= nearer * next_gb ? best : -1;
}

/* Set home from one node that a source names by kernel number. */
static bool from_node(struct plan_gpu *gpu, const struct topology *topo, int os, enum plan_from from)
{
    int index = os >= 0 ? topo_node_index(topo, os) : -1;
    if (index < 0)
        return false;
    gpu->home = is_host(topo, index) ? index : nearest_host(topo, index);
    gpu->from = from;
    return gpu->home >= 0;
}

static bool from_sysfs(struct plan_gpu *gpu, const struct plan_in *in, const struct topo_device *dev)
{
    if (!from_node(gpu, in->topo, dev->numa_node, PLAN_FROM_SYSFS))
        return false;
    int os = in->topo->node[gpu->home].os;
    int n = snprintf(gpu->why_home, PLAN_WHY, "the kernel says so (sysfs numa_node is %d)", dev->numa_node);
    if (os != dev->numa_node)
        snprintf(gpu->why_home + n, PLAN_WHY - (size_t)n, "; that node is no place for host memory, node %d is nearest",
                 os);
    return true;
}

static bool from_set(struct plan_gpu *gpu, const struct plan_in *in, const struct idset *set, enum plan_from from,
                     const char *who)
{
    bool more = false;
    int index = pick(in, set, &more);
    if (index < 0)
        return false;
    gpu->home = index;
    gpu->from = from;
    char text[IDSET_TEXT];
    if (more)
        snprintf(gpu->why_home, PLAN_WHY, "%s names nodes %.60s of one package; node %d has the most free pages", who,
                 idset_text(text, set), in->topo->node[index].os);
    else
        snprintf(gpu->why_home, PLAN_WHY, "%s names node %d", who, in->topo->node[index].os);
    return true;
}

static bool from_bridge(struct plan_gpu *gpu, const struct plan_in *in, const struct topo_device *dev)
{
    if (!from_node(gpu, in->topo, dev->bridge_node, PLAN_FROM_BRIDGE))
        return false;
    snprintf(gpu->why_home, PLAN_WHY, "the kernel does not know (numa_node -1); the bridge %s above it is on node %d",
             in->topo->bridge[dev->bridge_from].pci, dev->bridge_node);
    return true;
}

static bool from_measured(struct plan_gpu *gpu, const struct plan_in *in, const struct topo_device *dev)
{
    double best, next;
    int index = fastest(in, dev, &best, &next);
    if (index < 0)
        return false;
    gpu->home = index;
    gpu->from = PLAN_FROM_MEASURED;
    snprintf(gpu->why_home, PLAN_WHY,
             "nobody names a node; measured %.1f GB/s from node %d, at most %.1f from the others", best,
             in->topo->node[index].os, next);
    return true;
}

/* -1: no setting for this GPU, 1: set. */
static int from_setting(struct plan_gpu *gpu, const struct plan_in *in, const struct topo_device *dev)
{
    for (size_t i = 0; i < in->settings->homes; i++) {
        const struct plan_home *home = &in->settings->home[i];
        if (!plan_is_device(dev, home->pci))
            continue;
        gpu->home = topo_node_index(in->topo, home->node);
        gpu->from = PLAN_FROM_SETTING;
        snprintf(gpu->why_home, PLAN_WHY, "the settings say so");
        return 1;
    }
    return -1;
}

static void find_home(struct plan_gpu *gpu, const struct plan_in *in)
{
    const struct topo_device *dev = &in->topo->device[gpu->gpu];
    if (from_setting(gpu, in, dev) > 0)
        return;
    gpu->home = only_host_node(in->topo);
    gpu->from = PLAN_FROM_ONLY_NODE;
    if (gpu->home >= 0) {
        snprintf(gpu->why_home, PLAN_WHY, "it is the only node with CPUs and memory");
        return;
    }
    if (from_sysfs(gpu, in, dev) ||
        from_set(gpu, in, &dev->nvml, PLAN_FROM_NVML,
                 "the kernel does not know (numa_node -1); NVML's memory affinity") ||
        from_bridge(gpu, in, dev) || from_set(gpu, in, &dev->locality, PLAN_FROM_LOCALITY, "hwloc's locality") ||
        from_measured(gpu, in, dev))
        return;
    gpu->home = -1;
    gpu->from = PLAN_FROM_NOTHING;
    snprintf(
        gpu->why_home, PLAN_WHY,
        "no node is known: numa_node is -1, NVML and the bridges above are silent, nothing measured tells nodes apart "
        "(`penstock tune` measures it)");
}

int plan_step_homes(struct plan *plan, const struct plan_in *in)
{
    for (size_t i = 0; i < in->settings->homes; i++) {
        const struct plan_home *home = &in->settings->home[i];
        bool found = false;
        for (size_t g = 0; g < plan->gpus; g++)
            found = found || plan_is_device(&in->topo->device[g], home->pci);
        if (!found)
            return err_fail(-EINVAL, "settings: there is no GPU at %s", home->pci);
        if (!is_host(in->topo, topo_node_index(in->topo, home->node)))
            return err_fail(-EINVAL, "settings: GPU %s cannot live on node %d: no such node with CPUs and memory",
                            home->pci, home->node);
    }
    for (size_t g = 0; g < plan->gpus; g++)
        find_home(&plan->gpu[g], in);
    return 0;
}
