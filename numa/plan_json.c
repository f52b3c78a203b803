#include "numa/plan.h"

static json_t *because(json_t *value, const char *why)
{
    return json_pack("{s:o, s:s}", "value", value, "why", why);
}

static json_t *ids_json(const struct idset *set)
{
    char text[IDSET_TEXT];
    return json_string(idset_text(text, set));
}

static json_t *os_or_null(const struct topology *topo, int index)
{
    return index >= 0 ? json_integer(topo->node[index].os) : json_null();
}

static json_t *gpu_json(const struct plan *plan, const struct topology *topo, const struct plan_gpu *gpu)
{
    const struct topo_device *dev = &topo->device[gpu->gpu];
    json_t *order = json_array(), *from = json_array();
    for (size_t i = 0; i < gpu->orders; i++)
        json_array_append_new(order, os_or_null(topo, gpu->order[i]));
    for (size_t i = 0; i < plan->nodes; i++)
        if (gpu->take[i])
            json_array_append_new(from,
                                  json_pack("{s:i, s:I}", "node", topo->node[i].os, "pages", (json_int_t)gpu->take[i]));
    json_t *cpus = json_pack("{s:o, s:o, s:s}", "io", ids_json(&gpu->io), "synthesis", ids_json(&gpu->synth), "why",
                             gpu->why_cpus);
    json_t *pages = json_pack("{s:I, s:I, s:o, s:s}", "want", (json_int_t)gpu->want, "got", (json_int_t)gpu->got,
                              "from", from, "why", gpu->why_pages);
    json_t *home = json_pack("{s:o, s:s, s:s}", "value", os_or_null(topo, gpu->home), "from", plan_from_name(gpu->from),
                             "why", gpu->why_home);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "pci", dev->pci, "name", dev->name, "home", home,
                     "borrow_order", because(order, gpu->why_order), "uplink",
                     because(gpu->uplink >= 0 ? json_integer(gpu->uplink) : json_null(), gpu->why_uplink), "cpus", cpus,
                     "pages", pages);
}

json_t *plan_to_json(const struct plan *plan, const struct topology *topo)
{
    json_t *gpus = json_array(), *nodes = json_array();
    for (size_t i = 0; i < plan->gpus; i++)
        json_array_append_new(gpus, gpu_json(plan, topo, &plan->gpu[i]));
    for (size_t i = 0; i < plan->nodes; i++) {
        const struct plan_node *node = &plan->node[i];
        json_array_append_new(nodes, json_pack("{s:i, s:b, s:I, s:I, s:s}", "node", topo->node[i].os, "usable",
                                               node->usable, "available_pages", (json_int_t)node->available,
                                               "given_pages", (json_int_t)node->given, "why", node->why));
    }
    json_t *cap = plan->capped ? because(json_integer((json_int_t)plan->cap_pages), plan->why_cap) : json_null();
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "page_bytes",
                     because(json_integer((json_int_t)topo_page_bytes(plan->page)), plan->why_page), "cap_pages", cap,
                     "gpus", gpus, "nodes", nodes, "spare_cpus", because(ids_json(&plan->spare), plan->why_spare));
}
