/* Packages, cores, caches, NUMA nodes and their pages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "numa/sysfs.h"
#include "numa/topo_load.h"
#include "perf/err.h"

static size_t count_type(hwloc_topology_t hw, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(hw, type);
    return n > 0 ? (size_t)n : 0;
}

/* One more than needed: calloc(0) may be NULL. */
static void *make_array(size_t n, size_t each, int *rc)
{
    void *array = calloc(n + 1, each);
    if (!array)
        *rc = err_fail(-ENOMEM, "no memory for a topology of %zu objects", n);
    return array;
}

static void load_caches(struct topology *topo, hwloc_topology_t hw, hwloc_obj_type_t type, int level)
{
    hwloc_obj_t obj = NULL;
    while ((obj = hwloc_get_next_obj_by_type(hw, type, obj)))
        topo->cache[topo->caches++] =
            (struct topo_cache){.level = level, .bytes = obj->attr->cache.size, .cpus = topo_ids(obj->cpuset)};
}

int topo_load_cpus(struct topology *topo, hwloc_topology_t hw)
{
    int rc = 0;
    topo->package = make_array(count_type(hw, HWLOC_OBJ_PACKAGE), sizeof *topo->package, &rc);
    topo->core = make_array(count_type(hw, HWLOC_OBJ_CORE) + count_type(hw, HWLOC_OBJ_PU), sizeof *topo->core, &rc);
    topo->cache =
        make_array(count_type(hw, HWLOC_OBJ_L3CACHE) + count_type(hw, HWLOC_OBJ_L2CACHE), sizeof *topo->cache, &rc);
    if (rc)
        return rc;
    hwloc_obj_t obj = NULL;
    while ((obj = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_PACKAGE, obj))) {
        struct topo_package *package = &topo->package[topo->packages++];
        package->os = (int)obj->os_index;
        package->cpus = topo_ids(obj->cpuset);
        topo_copy_name(package->model, hwloc_obj_get_info_by_name(obj, "CPUModel"));
    }
    /* Where the firmware names no cores each CPU is one. */
    hwloc_obj_type_t core = count_type(hw, HWLOC_OBJ_CORE) ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    while ((obj = hwloc_get_next_obj_by_type(hw, core, obj)))
        topo->core[topo->cores++].cpus = topo_ids(obj->cpuset);
    load_caches(topo, hw, HWLOC_OBJ_L3CACHE, 3);
    load_caches(topo, hw, HWLOC_OBJ_L2CACHE, 2);
    return 0;
}

/* Totals and free pages from the node's own folder; a kernel without NUMA has only the global one. */
static void pages_from_sysfs(struct topo_node *node, const char *root, bool only_node)
{
    for (int p = 0; p < TOPO_PAGES; p++) {
        unsigned long kb = (unsigned long)(topo_page_bytes((enum topo_page)p) >> 10);
        struct topo_pages *pages = &node->pages[p];
        static const char dir[] = "/sys/devices/system/node/node%d/hugepages/hugepages-%lukB/%s_hugepages";
        pages->total_known = sysfs_u64(&pages->total, root, dir, node->os, kb, "nr");
        pages->free_known = sysfs_u64(&pages->free, root, dir, node->os, kb, "free");
        if (pages->total_known || !only_node)
            continue;
        static const char global[] = "/sys/kernel/mm/hugepages/hugepages-%lukB/%s_hugepages";
        pages->total_known = sysfs_u64(&pages->total, root, global, kb, "nr");
        pages->free_known = sysfs_u64(&pages->free, root, global, kb, "free");
    }
}

static void pages_from_hwloc(struct topo_node *node, hwloc_obj_t obj)
{
    const struct hwloc_numanode_attr_s *attr = &obj->attr->numanode;
    for (unsigned i = 0; i < attr->page_types_len; i++)
        for (int p = 0; p < TOPO_PAGES; p++)
            if (attr->page_types[i].size == topo_page_bytes((enum topo_page)p)) {
                node->pages[p].total = attr->page_types[i].count;
                node->pages[p].total_known = true;
            }
}

static enum topo_node_kind kind_of(hwloc_obj_t obj, const struct topo_node *node)
{
    if (obj->subtype && strcmp(obj->subtype, "GPUMemory") == 0)
        return TOPO_NODE_GPU_MEMORY;
    if (node->memory_bytes == 0)
        return TOPO_NODE_CPUS_ONLY;
    return idset_empty(&node->cpus) ? TOPO_NODE_MEMORY_ONLY : TOPO_NODE_HOST;
}

/* hwloc attaches a memory-only node to the CPUs it is nearest to, so its cpuset may name CPUs of another node. The
 * kernel's own list tells: it is empty. In an XML file the node that comes first among those with the same CPUs owns
 * them. */
static struct idset own_cpus(const struct topology *topo, hwloc_obj_t obj, const char *root)
{
    struct idset cpus = topo_ids(obj->cpuset), own;
    if (obj->subtype && strcmp(obj->subtype, "GPUMemory") == 0)
        return (struct idset){{0}};
    if (root && sysfs_ids(&own, root, "/sys/devices/system/node/node%u/cpulist", obj->os_index))
        return idset_and(&cpus, &own);
    for (size_t i = 0; i < topo->nodes; i++)
        cpus = idset_minus(&cpus, &topo->node[i].cpus);
    return cpus;
}

static int package_of(const struct topology *topo, hwloc_obj_t obj)
{
    struct idset cpus = topo_ids(obj->cpuset);
    for (size_t i = 0; i < topo->packages && !idset_empty(&cpus); i++)
        if (idset_subset(&cpus, &topo->package[i].cpus))
            return (int)i;
    return topo->packages == 1 && !idset_empty(&cpus) ? 0 : -1;
}

static int load_distances(struct topology *topo, hwloc_topology_t hw)
{
    unsigned have = 1;
    struct hwloc_distances_s *found = NULL;
    if (hwloc_distances_get_by_type(hw, HWLOC_OBJ_NUMANODE, &have, &found,
                                    HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) ||
        have == 0)
        return 0;
    int rc = 0;
    topo->distance = make_array(topo->nodes * topo->nodes, sizeof *topo->distance, &rc);
    for (unsigned i = 0; rc == 0 && i < found->nbobjs; i++)
        for (unsigned j = 0; j < found->nbobjs; j++) {
            int from = topo_node_index(topo, (int)found->objs[i]->os_index);
            int to = topo_node_index(topo, (int)found->objs[j]->os_index);
            if (from >= 0 && to >= 0)
                topo->distance[(size_t)from * topo->nodes + (size_t)to] =
                    (unsigned)found->values[i * found->nbobjs + j];
        }
    hwloc_distances_release(hw, found);
    return rc;
}

static int by_os(const void *a, const void *b)
{
    return ((const struct topo_node *)a)->os - ((const struct topo_node *)b)->os;
}

int topo_load_nodes(struct topology *topo, hwloc_topology_t hw, const char *root)
{
    int rc = 0;
    size_t n = count_type(hw, HWLOC_OBJ_NUMANODE);
    topo->node = make_array(n, sizeof *topo->node, &rc);
    if (rc)
        return rc;
    hwloc_obj_t obj = NULL;
    while ((obj = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_NUMANODE, obj))) {
        if (obj->os_index >= IDSET_MAX)
            return err_fail(-ERANGE, "NUMA node %u: numbers end at %d", obj->os_index, IDSET_MAX - 1);
        struct topo_node node = {.os = (int)obj->os_index, .package = package_of(topo, obj)};
        node.memory_bytes = obj->attr->numanode.local_memory;
        node.cpus = own_cpus(topo, obj, root);
        node.kind = kind_of(obj, &node);
        pages_from_hwloc(&node, obj);
        if (root)
            pages_from_sysfs(&node, root, n == 1);
        topo->node[topo->nodes++] = node;
    }
    qsort(topo->node, topo->nodes, sizeof *topo->node, by_os);
    return load_distances(topo, hw);
}
