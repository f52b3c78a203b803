#include "numa/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "numa/plan_step.h"
#include "perf/err.h"

const char *plan_from_name(enum plan_from from)
{
    static const char *const names[] = {"setting", "only-node", "sysfs",    "nvml",
                                        "bridge",  "locality",  "measured", "unknown"};
    return names[from];
}

bool plan_is_device(const struct topo_device *dev, const char *name)
{
    if (strcasecmp(dev->pci, name) == 0)
        return true;
    return strncmp(dev->pci, "0000:", 5) == 0 && strcasecmp(dev->pci + 5, name) == 0;
}

size_t plan_gpus_at(const struct plan *plan, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->gpus; i++)
        n += plan->gpu[i].home == (int)node;
    return n;
}

int plan_ring(const struct topology *topo, size_t a, size_t b)
{
    if (a == b)
        return 0;
    return topo->node[a].package >= 0 && topo->node[a].package == topo->node[b].package ? 1 : 2;
}

/* NULL: no memory. */
static struct plan *plan_alloc(const struct topology *topo)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    plan->nodes = topo->nodes;
    plan->gpu = calloc(topo->gpus + 1, sizeof *plan->gpu);
    plan->node = calloc(topo->nodes + 1, sizeof *plan->node);
    bool ok = plan->gpu && plan->node;
    plan->gpus = plan->gpu ? topo->gpus : 0;
    for (size_t i = 0; i < plan->gpus; i++) {
        plan->gpu[i].gpu = i;
        plan->gpu[i].order = calloc(topo->nodes + 1, sizeof *plan->gpu[i].order);
        plan->gpu[i].take = calloc(topo->nodes + 1, sizeof *plan->gpu[i].take);
        ok = ok && plan->gpu[i].order && plan->gpu[i].take;
    }
    if (!ok) {
        plan_close(plan);
        return NULL;
    }
    return plan;
}

int plan_make(struct plan **plan_p, const struct topology *topo, const struct limits *limits,
              const struct plan_settings *settings)
{
    const struct plan_in in = {topo, limits, settings};
    struct plan *plan = plan_alloc(topo);
    if (!plan)
        return err_fail(-ENOMEM, "no memory for a plan of %zu GPUs and %zu nodes", topo->gpus, topo->nodes);
    int rc = plan_step_homes(plan, &in);
    if (rc)
        goto undo_plan;
    plan_step_nodes(plan, &in);
    plan_step_orders(plan, &in);
    plan_step_uplinks(plan, &in);
    rc = plan_step_cpus(plan, &in);
    if (rc)
        goto undo_plan;
    plan_step_pages(plan, &in);
    *plan_p = plan;
    return 0;
undo_plan:
    plan_close(plan);
    return rc;
}

void plan_close(struct plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->gpus; i++) {
        free(plan->gpu[i].order);
        free(plan->gpu[i].take);
    }
    free(plan->gpu);
    free(plan->node);
    free(plan);
}
