/* GPUs, drives and network ports, the bridges above them, their links, and all the evidence of where they hang. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numa/sysfs.h"
#include "numa/topo_load.h"
#include "perf/err.h"

static void pci_text(char out[TOPO_PCI], const struct hwloc_pcidev_attr_s *pci)
{
    snprintf(out, TOPO_PCI, "%04x:%02x:%02x.%01x", pci->domain & 0xffffffffu, pci->bus, pci->dev, pci->func & 0xfu);
}

/* "32.0 GT/s PCIe" -> 5; "Unknown" -> 0. */
static int gen_of(const char *speed)
{
    static const double rates[] = {2.5, 5, 8, 16, 32, 64};
    double rate = strtod(speed, NULL);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (fabs(rate - rates[i]) < 0.1)
            return (int)i + 1;
    return 0;
}

static void link_side(const char *root, const char *pci, const char *side, int *gen, int *width)
{
    char speed[64];
    int lanes;
    if (sysfs_read(speed, sizeof speed, root, "/sys/bus/pci/devices/%s/%s_link_speed", pci, side) ||
        !sysfs_int(&lanes, root, "/sys/bus/pci/devices/%s/%s_link_width", pci, side))
        return;
    /* 255 lanes at "Unknown" is how the kernel writes: no link (a port without a card, a virtual function) */
    if (gen_of(speed) == 0 || lanes <= 0 || lanes > 32)
        return;
    *gen = gen_of(speed);
    *width = lanes;
}

static struct topo_link link_of(const char *root, const char *pci, double hwloc_speed)
{
    struct topo_link link = {.gb_per_s = hwloc_speed > 0 ? hwloc_speed : 0};
    if (root) {
        link_side(root, pci, "current", &link.gen, &link.width);
        link_side(root, pci, "max", &link.max_gen, &link.max_width);
        if (link.gen)
            link.gb_per_s = topo_link_speed(link.gen, link.width);
    }
    if (!link.gen && link.gb_per_s > 0)
        topo_link_guess(link.gb_per_s, &link.gen, &link.width);
    return link;
}

static int numa_node_of(const char *root, const char *pci)
{
    int node;
    return root && sysfs_int(&node, root, "/sys/bus/pci/devices/%s/numa_node", pci) && node >= 0 ? node : -1;
}

static bool is_pci_bridge(hwloc_obj_t obj)
{
    return obj && obj->type == HWLOC_OBJ_BRIDGE && obj->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
}

/* Index of a bridge, added with its parents when it is new. */
static int bridge_index(struct topology *topo, hwloc_obj_t obj, const char *root)
{
    struct topo_bridge bridge = {.parent = -1};
    pci_text(bridge.pci, &obj->attr->bridge.upstream.pci);
    for (size_t i = 0; i < topo->bridges; i++)
        if (strcmp(topo->bridge[i].pci, bridge.pci) == 0)
            return (int)i;
    if (is_pci_bridge(obj->parent))
        bridge.parent = bridge_index(topo, obj->parent, root);
    bridge.link = link_of(root, bridge.pci, (double)obj->attr->bridge.upstream.pci.linkspeed);
    bridge.numa_node = numa_node_of(root, bridge.pci);
    topo->bridge[topo->bridges] = bridge;
    return (int)topo->bridges++;
}

static bool kind_of(enum topo_kind *kind, const struct hwloc_pcidev_attr_s *pci, unsigned vendor)
{
    unsigned class_id = pci->class_id;
    if (class_id == 0x0300 || class_id == 0x0302 || class_id == 0x0380) {
        *kind = TOPO_GPU;
        return vendor == TOPO_VENDOR_ANY || pci->vendor_id == vendor;
    }
    *kind = class_id == 0x0108 ? TOPO_DRIVE : TOPO_NIC;
    return class_id == 0x0108 || class_id >> 8 == 0x02 || class_id == 0x0c06;
}

/* The kernel's name (nvme0n1, eth0) where it has one, else the PCI data base's. */
static void name_device(struct topo_device *dev, hwloc_obj_t obj)
{
    for (hwloc_obj_t child = obj->io_first_child; child && dev->kind != TOPO_GPU; child = child->next_sibling)
        if (child->type == HWLOC_OBJ_OS_DEVICE && child->name) {
            topo_copy_name(dev->name, child->name);
            return;
        }
    const char *name = hwloc_obj_get_info_by_name(obj, "PCIDevice");
    topo_copy_name(dev->name, name ? name : obj->name);
}

static void load_evidence(struct topology *topo, struct topo_device *dev, hwloc_obj_t obj, const char *root)
{
    dev->numa_node = numa_node_of(root, dev->pci);
    hwloc_obj_t above = obj;
    while (above && hwloc_obj_type_is_io(above->type))
        above = above->parent;
    if (above && above->type != HWLOC_OBJ_MACHINE)
        dev->locality = topo_ids(above->nodeset);
    dev->bridge_node = dev->bridge_from = -1;
    for (size_t i = 0; i < dev->bridges && dev->bridge_node < 0; i++)
        if (topo->bridge[dev->bridge[i]].numa_node >= 0) {
            dev->bridge_from = dev->bridge[i];
            dev->bridge_node = topo->bridge[dev->bridge[i]].numa_node;
        }
}

static int load_device(struct topology *topo, hwloc_obj_t obj, const char *root, enum topo_kind kind)
{
    const struct hwloc_pcidev_attr_s *pci = &obj->attr->pcidev;
    struct topo_device dev = {.kind = kind, .uplink = -1};
    pci_text(dev.pci, pci);
    name_device(&dev, obj);
    dev.vendor = pci->vendor_id;
    dev.device = pci->device_id;
    dev.class_id = pci->class_id;
    dev.link = link_of(root, dev.pci, (double)pci->linkspeed);
    int above = is_pci_bridge(obj->parent) ? bridge_index(topo, obj->parent, root) : -1;
    for (; above >= 0; above = topo->bridge[above].parent) {
        if (dev.bridges == TOPO_DEPTH)
            return err_fail(-ERANGE, "%s: more than %d bridges above %s", topo->origin, TOPO_DEPTH, dev.pci);
        dev.bridge[dev.bridges++] = above;
    }
    load_evidence(topo, &dev, obj, root);
    topo->device[topo->devices++] = dev;
    topo->gpus += kind == TOPO_GPU;
    return 0;
}

/* Addresses order as numbers: a domain may have 4 or 8 hex digits. */
static int by_kind_and_address(const void *a, const void *b)
{
    const struct topo_device *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    size_t nx = strlen(x->pci), ny = strlen(y->pci);
    return nx != ny ? (nx < ny ? -1 : 1) : strcmp(x->pci, y->pci);
}

/* Uplinks are numbered by their first GPU, then by their first drive or port. */
static void group_uplinks(struct topology *topo)
{
    for (size_t i = 0; i < topo->devices; i++) {
        struct topo_device *dev = &topo->device[i];
        if (dev->bridges == 0)
            continue;
        int port = dev->bridge[dev->bridges - 1];
        size_t u = 0;
        while (u < topo->uplinks && topo->uplink[u].port != port)
            u++;
        if (u == topo->uplinks)
            topo->uplink[topo->uplinks++] = (struct topo_uplink){.port = port};
        topo->uplink[u].count[dev->kind]++;
        dev->uplink = (int)u;
    }
}

int topo_load_devices(struct topology *topo, hwloc_topology_t hw, const char *root, unsigned vendor)
{
    size_t bridges = 0, devices = 0;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_bridge(hw, obj));)
        bridges++;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_pcidev(hw, obj));)
        devices++;
    topo->bridge = calloc(bridges + 1, sizeof *topo->bridge);
    topo->device = calloc(devices + 1, sizeof *topo->device);
    topo->uplink = calloc(devices + 1, sizeof *topo->uplink);
    if (!topo->bridge || !topo->device || !topo->uplink)
        return err_fail(-ENOMEM, "no memory for %zu PCI devices", devices);
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_pcidev(hw, obj));) {
        enum topo_kind kind;
        if (!kind_of(&kind, &obj->attr->pcidev, vendor))
            continue;
        int rc = load_device(topo, obj, root, kind);
        if (rc)
            return rc;
    }
    qsort(topo->device, topo->devices, sizeof *topo->device, by_kind_and_address);
    group_uplinks(topo);
    return 0;
}
