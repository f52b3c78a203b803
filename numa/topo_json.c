#include "numa/topology.h"

#include <string.h>

static json_t *ids_json(const struct idset *set)
{
    char text[IDSET_TEXT];
    return json_string(idset_text(text, set));
}

static json_t *count_or_null(uint64_t value, bool known)
{
    return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *link_json(const struct topo_link *link)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "gb_per_s",
                     link->gb_per_s > 0 ? json_real(link->gb_per_s) : json_null(), "gen",
                     count_or_null((uint64_t)link->gen, link->gen > 0), "width",
                     count_or_null((uint64_t)link->width, link->width > 0), "max_gen",
                     count_or_null((uint64_t)link->max_gen, link->max_gen > 0), "max_width",
                     count_or_null((uint64_t)link->max_width, link->max_width > 0));
}

static json_t *node_or_null(int os)
{
    return os >= 0 ? json_integer(os) : json_null();
}

static json_t *node_json(const struct topology *topo, size_t index)
{
    static const char *const kinds[] = {"host", "memory only", "cpus only", "gpu memory"};
    const struct topo_node *node = &topo->node[index];
    json_t *pages = json_array(), *distances = json_array();
    for (int p = 0; p < TOPO_PAGES; p++)
        json_array_append_new(pages,
                              json_pack("{s:I, s:o, s:o}", "bytes", (json_int_t)topo_page_bytes((enum topo_page)p),
                                        "total", count_or_null(node->pages[p].total, node->pages[p].total_known),
                                        "free", count_or_null(node->pages[p].free, node->pages[p].free_known)));
    for (size_t i = 0; i < topo->nodes && topo->distance; i++)
        json_array_append_new(distances, json_integer(topo_distance(topo, index, i)));
    return json_pack("{s:i, s:o, s:s, s:I, s:o, s:o, s:o}", "node", node->os, "package",
                     node_or_null(node->package >= 0 ? topo->package[node->package].os : -1), "kind", kinds[node->kind],
                     "memory_bytes", (json_int_t)node->memory_bytes, "cpus", ids_json(&node->cpus), "pages", pages,
                     "distances", distances);
}

static json_t *device_json(const struct topology *topo, const struct topo_device *dev)
{
    json_t *bridges = json_array();
    for (size_t i = 0; i < dev->bridges; i++)
        json_array_append_new(bridges, json_string(topo->bridge[dev->bridge[i]].pci));
    char vendor[8], device[8], class_id[8];
    snprintf(vendor, sizeof vendor, "%04x", dev->vendor & 0xffff);
    snprintf(device, sizeof device, "%04x", dev->device & 0xffff);
    snprintf(class_id, sizeof class_id, "%04x", dev->class_id & 0xffff);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pci", dev->pci, "name", dev->name,
                     "vendor", vendor, "device", device, "class", class_id, "link", link_json(&dev->link), "bridges",
                     bridges, "uplink", node_or_null(dev->uplink), "numa_node", node_or_null(dev->numa_node),
                     "locality_nodes", ids_json(&dev->locality), "nvml_nodes", ids_json(&dev->nvml), "bridge_node",
                     node_or_null(dev->bridge_node));
}

static json_t *uplinks_json(const struct topology *topo)
{
    json_t *out = json_array();
    for (size_t i = 0; i < topo->uplinks; i++) {
        const struct topo_uplink *up = &topo->uplink[i];
        const struct topo_bridge *port = &topo->bridge[up->port];
        json_array_append_new(out, json_pack("{s:i, s:s, s:o, s:i, s:i, s:i}", "uplink", (int)i, "port", port->pci,
                                             "link", link_json(&port->link), "gpus", (int)up->count[TOPO_GPU], "drives",
                                             (int)up->count[TOPO_DRIVE], "nics", (int)up->count[TOPO_NIC]));
    }
    return out;
}

static json_t *packages_json(const struct topology *topo)
{
    json_t *out = json_array();
    for (size_t i = 0; i < topo->packages; i++)
        json_array_append_new(out, json_pack("{s:i, s:s, s:o}", "package", topo->package[i].os, "model",
                                             topo->package[i].model, "cpus", ids_json(&topo->package[i].cpus)));
    return out;
}

static json_t *caches_json(const struct topology *topo)
{
    json_t *out = json_array();
    for (size_t i = 0; i < topo->caches; i++)
        json_array_append_new(out, json_pack("{s:i, s:I, s:o}", "level", topo->cache[i].level, "bytes",
                                             (json_int_t)topo->cache[i].bytes, "cpus", ids_json(&topo->cache[i].cpus)));
    return out;
}

json_t *topo_to_json(const struct topology *topo)
{
    static const char *const lists[TOPO_KINDS] = {"gpus", "drives", "nics"};
    json_t *nodes = json_array();
    for (size_t i = 0; i < topo->nodes; i++)
        json_array_append_new(nodes, node_json(topo, i));
    json_t *out = json_pack("{s:i, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "machine", topo->name,
                            "origin", topo->origin, "cores", (int)topo->cores, "cpus_online", ids_json(&topo->online),
                            "cpus_offline", ids_json(&topo->offline), "packages", packages_json(topo), "nodes", nodes,
                            "caches", caches_json(topo), "uplinks", uplinks_json(topo));
    for (int kind = 0; out && kind < TOPO_KINDS; kind++) {
        json_t *list = json_array();
        for (size_t i = 0; i < topo->devices; i++)
            if ((int)topo->device[i].kind == kind)
                json_array_append_new(list, device_json(topo, &topo->device[i]));
        json_object_set_new(out, lists[kind], list);
    }
    return out;
}
