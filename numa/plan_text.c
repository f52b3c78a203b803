#include "numa/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "perf/err.h"

static void write_row(FILE *out, const char *label, const char *value, const char *why)
{
    if (why[0])
        fprintf(out, "  %-9s %-22s %s\n", label, value, why);
    else
        fprintf(out, "  %-9s %s\n", label, value);
}

static void write_gpu(FILE *out, const struct topology *topo, const struct plan *plan, const struct plan_gpu *gpu)
{
    const struct topo_device *dev = &topo->device[gpu->gpu];
    char text[IDSET_TEXT + 32], ids[IDSET_TEXT], link[TOPO_NAME];
    fprintf(out, "GPU %zu  %s  %s%slink %s\n", gpu->gpu, dev->pci, dev->name, dev->name[0] ? "  " : "",
            topo_link_text(link, &dev->link));
    snprintf(text, sizeof text, gpu->home >= 0 ? "node %d" : "unknown", gpu->home >= 0 ? topo->node[gpu->home].os : 0);
    write_row(out, "home", text, gpu->why_home);
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < gpu->orders && used + 8 < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i ? " " : "", topo->node[gpu->order[i]].os);
    write_row(out, "nodes", text, gpu->why_order);
    snprintf(text, sizeof text, gpu->uplink >= 0 ? "%d" : "none", gpu->uplink);
    write_row(out, "uplink", text, gpu->why_uplink);
    write_row(out, "I/O", idset_text(ids, &gpu->io), "");
    write_row(out, "synthesis", idset_text(ids, &gpu->synth), gpu->why_cpus);
    snprintf(text, sizeof text, "%" PRIu64 " x %s", gpu->got, topo_page_name(plan->page));
    write_row(out, "pages", text, gpu->why_pages);
}

int plan_write_text(const struct plan *plan, const struct topology *topo, FILE *out)
{
    char text[IDSET_TEXT];
    fprintf(out, "%s (%s)\n", topo->name, topo->origin);
    fprintf(out, "pages of %s: %s%s%s\n", topo_page_name(plan->page), plan->why_page, plan->capped ? "; " : "",
            plan->why_cap);
    for (size_t i = 0; i < plan->gpus; i++)
        write_gpu(out, topo, plan, &plan->gpu[i]);
    if (plan->gpus == 0)
        fprintf(out, "no GPU: the host device uses every node\n");
    for (size_t i = 0; i < plan->nodes; i++) {
        const struct plan_node *node = &plan->node[i];
        if (node->usable)
            fprintf(out, "node %d: gives %" PRIu64 " of %" PRIu64 " pages (%s)\n", topo->node[i].os, node->given,
                    node->available, node->why);
        else
            fprintf(out, "node %d: not used, %s\n", topo->node[i].os, node->why);
    }
    if (!idset_empty(&plan->spare))
        fprintf(out, "spare CPUs %s: %s\n", idset_text(text, &plan->spare), plan->why_spare);
    return ferror(out) ? err_fail(-EIO, "the plan could not be written") : 0;
}
