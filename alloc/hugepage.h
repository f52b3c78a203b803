/* Memory for DMA: the largest pages that the node can give, bound, populated and verified. Tiers: 1 GiB, 2 MiB,
 * transparent, 4 KiB; each step down has its reason. What page size buys is start-up (registration 0.021 s/GiB against
 * 0.037 to 0.051, population of 1 GiB pages without compaction), not link speed: H2D is 55.4 GB/s from all four. */
#ifndef ALLOC_HUGEPAGE_H
#define ALLOC_HUGEPAGE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum page_tier { TIER_1G, TIER_2M, TIER_THP, TIER_4K, TIER_KINDS };

enum { HUGEPAGE_WHY = 768 };

struct hugepage_opts {
    size_t bytes;          /* a multiple of 4 KiB; a tier whose pages do not divide it is passed over */
    int node;              /* -1: anywhere */
    enum page_tier first;  /* best tier to try */
    bool strict;           /* only that tier */
    bool lazy;             /* transparent and 4 KiB pages come when they are written: no node, no device reads them */
    unsigned threads;      /* population; 0: up to 8, by size and CPUs */
    const cpu_set_t *cpus; /* the node's CPUs, for populating threads; NULL: not pinned */
    size_t fd_page_bytes;  /* not 0: map `fd` (hugetlbfs, tmpfs) instead; its pages of this size are the only tier */
    int fd;
};

struct hugepage_map {
    unsigned char *base; /* 2 MiB aligned at least */
    size_t bytes;
    size_t page_bytes; /* of the tier; transparent: 2 MiB */
    enum page_tier tier;
    int node;
    bool verified; /* every page was seen on `node`; false: could not be asked, `why` says so */
    uint64_t populate_ns, verify_ns;
    char why[HUGEPAGE_WHY]; /* "" or one reason per step down, joined by "; " */
    void *map_addr;         /* what munmap gets */
    size_t map_bytes;
};

/* Map, bind, populate and verify. Never dies of SIGBUS: a node or cgroup that is short is -ENOMEM. -EINVAL: a size that
 * is no multiple of 4 KiB, or a node that does not exist or is forbidden by the cpuset. The pages are MADV_DONTFORK.
 * Any thread. */
int hugepage_map(struct hugepage_map *out, const struct hugepage_opts *opts);

/* Give the pages back. An error (-EINVAL from the kernel) leaves everything as it was. */
int hugepage_unmap(struct hugepage_map *m);

const char *hugepage_tier_name(enum page_tier tier);
size_t hugepage_tier_bytes(enum page_tier tier);

/* Pages of this size that the kernel has free on a node (node -1: all), read from sysfs. False: cannot be read. */
bool hugepage_free(int node, size_t page_bytes, uint64_t *pages);

/* The steps; used by hugepage_map.
 * populate: write-fault every page by several threads. -ENOMEM with a sentence. */
int hugepage_populate(unsigned char *base, size_t bytes, size_t page_bytes, unsigned threads, const cpu_set_t *cpus);

/* verify: 0 all on `node`; -EXDEV one is elsewhere, with a sentence; -ENODATA nobody would say, with a sentence. */
int hugepage_verify(unsigned char *base, size_t bytes, size_t page_bytes, int node);

/* The same question asked of text in the format of /proc/self/numa_maps (where seccomp forbids move_pages). */
int hugepage_verify_numa_maps(const char *path, const void *base, size_t bytes, int node);

#endif
