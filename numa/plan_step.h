/* The steps of plan_make, in order; private to numa/plan*.c. Each fills its part of the plan from the parts before it.
 */
#ifndef NUMA_PLAN_STEP_H
#define NUMA_PLAN_STEP_H

#include "numa/plan.h"

struct plan_in {
    const struct topology *topo;
    const struct limits *limits;
    const struct plan_settings *settings;
};

int plan_step_homes(struct plan *plan, const struct plan_in *in);   /* gpu.home, from, why_home */
void plan_step_nodes(struct plan *plan, const struct plan_in *in);  /* page, node.usable, available, why; cap */
void plan_step_orders(struct plan *plan, const struct plan_in *in); /* gpu.order */
void plan_step_uplinks(struct plan *plan, const struct plan_in *in);
int plan_step_cpus(struct plan *plan, const struct plan_in *in);   /* gpu.io, synth; spare */
void plan_step_pages(struct plan *plan, const struct plan_in *in); /* gpu.take, got; node.given */

/* Does `name` (an address, the domain may be left out) mean this device? */
bool plan_is_device(const struct topo_device *dev, const char *name);

/* Bandwidth measured from a node (by index) to a GPU; 0: not measured. */
double plan_measured_gb_per_s(const struct plan_in *in, const struct topo_device *dev, size_t node);

/* GPUs whose home is this node. */
size_t plan_gpus_at(const struct plan *plan, size_t node);

/* 0 same node, 1 same package, 2 other package or none. */
int plan_ring(const struct topology *topo, size_t a, size_t b);

#endif
