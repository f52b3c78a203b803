/* The parts of topo_open; private to numa/topo*.c. Each fills its arrays of `topo` from hwloc, with `root` as the place
 * of sysfs ("" this machine, a folder, or NULL: there is none, an XML file). */
#ifndef NUMA_TOPO_LOAD_H
#define NUMA_TOPO_LOAD_H

#include <hwloc.h>

#include "numa/topology.h"

int topo_load_cpus(struct topology *topo, hwloc_topology_t hw);
int topo_load_nodes(struct topology *topo, hwloc_topology_t hw, const char *root);
int topo_load_devices(struct topology *topo, hwloc_topology_t hw, const char *root, unsigned vendor);

struct idset topo_ids(hwloc_const_bitmap_t bitmap);
void topo_copy_name(char out[TOPO_NAME], const char *text);

#endif
