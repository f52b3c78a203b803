/* Where a range's pages are, read from the text of /proc/self/numa_maps. No system call filter covers it, so it works
 * where move_pages is refused. */
#ifndef NUMA_NUMA_MAPS_H
#define NUMA_NUMA_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct numa_maps_sum {
    uint64_t on_bytes;  /* present on the node asked for */
    uint64_t off_bytes; /* present on other nodes */
    int off_node;       /* one of these, -1: none */
    bool exact;         /* false: the first mapping also holds memory before the range, so the sums are of more */
};

/* Sum the mappings that meet [addr, addr + bytes). Each mapping is counted with its own kernelpagesize_kB (mixed sizes
 * are what numastat -p gets wrong). -ENOENT when no mapping meets the range, -EIO. Words nothing. */
int numa_maps_sum(struct numa_maps_sum *sum, FILE *maps, uintptr_t addr, size_t bytes, int node);

#endif
