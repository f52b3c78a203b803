/* A discrete-event model of the machine around some GPUs: copy engines, links, shared uplinks, compute engines. No
 * thread, no real time, integers only: the same calls give the same nanoseconds.
 *
 *   host memory ==uplink==+== link 0 == [H2D D2H compute] device 0        an engine does one thing at a time, first in
 *                         +== link 1 == [H2D D2H compute] device 1        first out; flows that share an uplink get
 *               ========= link 2 ====== [H2D D2H compute] device 2        equal parts of it (water filling)
 *
 * A flow's rate changes whenever another begins or ends, and when the other direction of its link or uplink becomes
 * busy; between such moments it is constant, so each end is computed and not stepped to. The defaults are measured:
 * Gen5 x16 H2D or D2H 55.4 GB/s alone, 50.6 GB/s each when both run, 2.8 us of an engine for each copy (16 MiB chunks
 * then run at 54.9, 1 MiB at 48.3 GB/s). */
#ifndef CUDA_SIM_WORLD_H
#define CUDA_SIM_WORLD_H

#include <stddef.h>
#include <stdint.h>

struct world;

enum world_engine { WORLD_H2D, WORLD_D2H, WORLD_COMPUTE, WORLD_ENGINES };
enum { WORLD_DEVICES = 32, WORLD_ALONE = -1 };
#define WORLD_NEVER UINT64_MAX

struct world_opts {
    unsigned devices;
    const int *uplink; /* of each device: a number below `devices`, or WORLD_ALONE; NULL: all alone */
    uint64_t link_bytes_per_s, link_both_bytes_per_s;
    uint64_t uplink_bytes_per_s, uplink_both_bytes_per_s;
    uint64_t copy_setup_ns;
};

struct world_load {
    uint64_t busy_ns; /* an engine that waits out a setup is busy */
    uint64_t bytes;   /* of copies that ended */
    uint64_t moved;   /* these and what has crossed of the one under way */
    uint64_t done;    /* copies or kernels */
};

typedef void world_done(void *ctx);

/* Zero options mean the measured defaults. -EINVAL, -ENOMEM. */
int world_open(struct world **world_p, const struct world_opts *opts);
void world_close(struct world *w); /* what is under way ends without its call */

uint64_t world_now_ns(const struct world *w);

/* Queue a copy (WORLD_H2D, WORLD_D2H) of `bytes` at no more than max_bytes_per_s (0: no such limit), or a kernel of
 * `ns`. `done` is called from world_run at the moment it ends, and may queue more. -ENOMEM. */
int world_copy(struct world *w, unsigned device, enum world_engine dir, uint64_t bytes, uint64_t max_bytes_per_s,
               world_done *done, void *ctx);
int world_compute(struct world *w, unsigned device, uint64_t ns, world_done *done, void *ctx);
/* Call after `ns`, bound to no engine. */
int world_after(struct world *w, uint64_t ns, world_done *done, void *ctx);

/* When the next thing ends; WORLD_NEVER. */
uint64_t world_next_ns(struct world *w);
/* Let time pass up to until_ns, ends in order; ends at one moment in the order of their begin. */
void world_run(struct world *w, uint64_t until_ns);

void world_read(const struct world *w, unsigned device, enum world_engine engine, struct world_load *load);

#endif
