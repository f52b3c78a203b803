/* Usable nodes, the order in which a GPU borrows from them, and uplink groups. */
#include <stdio.h>
#include <string.h>

#include "numa/plan_step.h"

static bool node_usable(struct plan_node *out, const struct plan_in *in, size_t index)
{
    const struct topo_node *node = &in->topo->node[index];
    char text[IDSET_TEXT];
    if (node->kind == TOPO_NODE_GPU_MEMORY)
        snprintf(out->why, PLAN_WHY, "it is a GPU's own memory");
    else if (node->kind == TOPO_NODE_CPUS_ONLY)
        snprintf(out->why, PLAN_WHY, "it has no memory");
    else if (node->kind == TOPO_NODE_MEMORY_ONLY && !in->settings->use_memory_only)
        snprintf(out->why, PLAN_WHY, "it has no CPUs (CXL or the like): GPU drivers may refuse to pin its memory");
    else if (in->limits->mems_known && !idset_has(&in->limits->mems, (unsigned)node->os))
        snprintf(out->why, PLAN_WHY, "the cpuset allows memory from nodes %.60s only",
                 idset_text(text, &in->limits->mems));
    else
        return true;
    return false;
}

static uint64_t free_of(const struct plan_in *in, size_t index, enum topo_page page, bool *known)
{
    uint64_t pages = 0;
    *known = limits_free_pages(&pages, in->limits, &in->topo->node[index], page);
    return *known ? pages : 0;
}

static uint64_t sum_free(const struct plan *plan, const struct plan_in *in, enum topo_page page)
{
    uint64_t sum = 0;
    bool known;
    for (size_t i = 0; i < plan->nodes; i++)
        sum += plan->node[i].usable ? free_of(in, i, page, &known) : 0;
    return sum;
}

static bool cgroup_shuts(const struct plan_in *in, enum topo_page page)
{
    uint64_t pages;
    const char *file;
    return limits_cgroup_pages(&pages, &file, in->limits, page) && pages == 0;
}

static void choose_page(struct plan *plan, const struct plan_in *in)
{
    plan->page = in->settings->page == PLAN_PAGE_2M ? TOPO_PAGE_2M : TOPO_PAGE_1G;
    if (in->settings->page != PLAN_PAGE_AUTO) {
        snprintf(plan->why_page, PLAN_WHY, "the settings ask for %s pages", topo_page_name(plan->page));
        return;
    }
    uint64_t large = sum_free(plan, in, TOPO_PAGE_1G), small = sum_free(plan, in, TOPO_PAGE_2M);
    bool shut = cgroup_shuts(in, TOPO_PAGE_1G);
    if (large > 0 && !shut) {
        snprintf(plan->why_page, PLAN_WHY, "%llu pages of 1 GiB can be had", (unsigned long long)large);
    } else if (small > 0 && !cgroup_shuts(in, TOPO_PAGE_2M)) {
        plan->page = TOPO_PAGE_2M;
        snprintf(plan->why_page, PLAN_WHY, "%s, %llu pages of 2 MiB can be had",
                 shut ? "the cgroup allows no 1 GiB page" : "no 1 GiB page is free", (unsigned long long)small);
    } else {
        snprintf(plan->why_page, PLAN_WHY, "no huge page is free on any node that may be used");
    }
}

/* Cap the sum of all takes: the cgroup's room, and pages that other mappings were promised but have not touched (the
 * kernel counts them as free). */
static void find_cap(struct plan *plan, const struct plan_in *in)
{
    uint64_t room, free_pages = sum_free(plan, in, plan->page);
    const char *file;
    plan->cap_pages = free_pages;
    if (in->limits->reserved_known[plan->page] && in->limits->reserved[plan->page] > 0) {
        uint64_t promised = in->limits->reserved[plan->page];
        plan->capped = true;
        plan->cap_pages = free_pages > promised ? free_pages - promised : 0;
        snprintf(plan->why_cap, PLAN_WHY, "%llu of the free pages are promised to other mappings",
                 (unsigned long long)promised);
    }
    if (limits_cgroup_pages(&room, &file, in->limits, plan->page) && room < plan->cap_pages) {
        plan->capped = true;
        plan->cap_pages = room;
        snprintf(plan->why_cap, PLAN_WHY, "%.200s leaves room for %llu", file, (unsigned long long)room);
    }
}

static void explain_node(struct plan_node *node, uint64_t pages, const struct topo_pages *from, enum topo_page page,
                         uint64_t keep)
{
    int n;
    if (!from->free_known && !from->total_known)
        n = snprintf(node->why, PLAN_WHY, "nothing tells how many %s pages it has", topo_page_name(page));
    else if (from->free_known)
        n = snprintf(node->why, PLAN_WHY, "%llu free", (unsigned long long)pages);
    else
        n = snprintf(node->why, PLAN_WHY, "%llu in all, how many are free was not recorded", (unsigned long long)pages);
    if (keep > 0)
        snprintf(node->why + n, PLAN_WHY - (size_t)n, ", %llu kept for others", (unsigned long long)keep);
}

void plan_step_nodes(struct plan *plan, const struct plan_in *in)
{
    for (size_t i = 0; i < plan->nodes; i++)
        plan->node[i].usable = node_usable(&plan->node[i], in, i);
    choose_page(plan, in);
    uint64_t keep = in->settings->keep_pages;
    for (size_t i = 0; i < plan->nodes; i++) {
        struct plan_node *node = &plan->node[i];
        bool known;
        uint64_t pages = free_of(in, i, plan->page, &known);
        if (!node->usable)
            continue;
        node->available = pages > keep ? pages - keep : 0;
        explain_node(node, pages, limits_pages(in->limits, &in->topo->node[i], plan->page), plan->page, keep);
    }
    find_cap(plan, in);
}

struct rank {
    long key[6]; /* smaller is better, first difference decides */
};

/* Bandwidths within 3 % of the best share a step, so noise does not order nodes. */
static long bandwidth_step(double gb_per_s, double best)
{
    return best > 0 ? -(long)(gb_per_s / best * 33.0 + 0.5) : 0;
}

static struct rank rank_of(const struct plan *plan, const struct plan_in *in, const struct plan_gpu *gpu, size_t node,
                           double best_gb)
{
    const struct topology *topo = in->topo;
    long cpuless = topo->node[node].kind == TOPO_NODE_MEMORY_ONLY;
    double gb = plan_measured_gb_per_s(in, &topo->device[gpu->gpu], node);
    if (gpu->home < 0)
        return (struct rank){
            {cpuless, bandwidth_step(gb, best_gb), -(long)plan->node[node].available, topo->node[node].os}};
    size_t home = (size_t)gpu->home;
    return (struct rank){{node != home, cpuless, bandwidth_step(gb, best_gb),
                          (long)plan_ring(topo, home, node) * 1000 + (long)topo_distance(topo, home, node),
                          plan_gpus_at(plan, node) > 0, topo->node[node].os}};
}

static bool better(const struct rank *a, const struct rank *b)
{
    for (size_t i = 0; i < sizeof a->key / sizeof *a->key; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i];
    return false;
}

/* Best bandwidth when every usable node was measured, else 0: half a table orders nothing. */
static double measured_all(const struct plan *plan, const struct plan_in *in, const struct plan_gpu *gpu)
{
    double best = 0;
    for (size_t i = 0; i < plan->nodes; i++) {
        double gb = plan_measured_gb_per_s(in, &in->topo->device[gpu->gpu], i);
        if (plan->node[i].usable && gb <= 0)
            return 0;
        best = plan->node[i].usable && gb > best ? gb : best;
    }
    return best;
}

static void order_of(struct plan *plan, const struct plan_in *in, struct plan_gpu *gpu)
{
    double best = measured_all(plan, in, gpu);
    for (size_t i = 0; i < plan->nodes; i++) {
        if (!plan->node[i].usable)
            continue;
        struct rank mine = rank_of(plan, in, gpu, i, best);
        size_t at = gpu->orders++;
        for (; at > 0; at--) { /* insertion: a machine has few nodes */
            struct rank other = rank_of(plan, in, gpu, (size_t)gpu->order[at - 1], best);
            if (!better(&mine, &other))
                break;
            gpu->order[at] = gpu->order[at - 1];
        }
        gpu->order[at] = (int)i;
    }
    const char *then = best > 0 ? "by measured bandwidth" : "its package, then by distance, nodes without GPUs first";
    if (gpu->orders == 0)
        snprintf(gpu->why_order, PLAN_WHY, "no node may be used");
    else if (gpu->home < 0)
        snprintf(gpu->why_order, PLAN_WHY, "home is unknown: %s", best > 0 ? then : "most free pages first");
    else if (gpu->orders == 1 && gpu->order[0] == gpu->home)
        snprintf(gpu->why_order, PLAN_WHY, "home is the only node that may be used");
    else
        snprintf(gpu->why_order, PLAN_WHY, "%s, then %s",
                 plan->node[gpu->home].usable ? "home" : "home may not be used", then);
}

void plan_step_orders(struct plan *plan, const struct plan_in *in)
{
    for (size_t i = 0; i < plan->gpus; i++)
        order_of(plan, in, &plan->gpu[i]);
}

void plan_step_uplinks(struct plan *plan, const struct plan_in *in)
{
    for (size_t i = 0; i < plan->gpus; i++) {
        struct plan_gpu *gpu = &plan->gpu[i];
        gpu->uplink = in->topo->device[gpu->gpu].uplink;
        if (gpu->uplink < 0) {
            snprintf(gpu->why_uplink, PLAN_WHY, "it sits on the root complex itself: no link is shared");
            continue;
        }
        const struct topo_uplink *up = &in->topo->uplink[gpu->uplink];
        const struct topo_bridge *port = &in->topo->bridge[up->port];
        char link[TOPO_NAME];
        topo_link_text(link, &port->link);
        if (up->count[TOPO_GPU] > 1)
            snprintf(gpu->why_uplink, PLAN_WHY, "%u GPUs share root port %s, %s: one copy budget for all of them",
                     up->count[TOPO_GPU], port->pci, link);
        else
            snprintf(gpu->why_uplink, PLAN_WHY, "no other GPU is below root port %s, %s", port->pci, link);
    }
}
