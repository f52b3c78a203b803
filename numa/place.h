/* Placement: put the calling thread on CPUs, put a memory range on a node, then look where the pages really are.
 *
 * Three ways down, each said aloud in `why`:
 *     policy     mbind(MPOL_BIND) or set_mempolicy; a node without pages is an error at once
 *     first touch  the kernel or its seccomp filter refuses policies (EPERM, ENOSYS): a thread pinned to the node's
 * CPUs touches the pages; they land there while the node has free ones, and nothing enforces it and the proof:
 * move_pages, else /proc/self/numa_maps, else "unverified". Every system call goes through a table, so that a test can
 * fail the k-th one. */
#ifndef NUMA_PLACE_H
#define NUMA_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "numa/idset.h"

enum { PLACE_WHY = 256 };

/* Each returns 0 or a negative errno and words nothing. */
struct place_ops {
    int (*get_affinity)(struct idset *cpus);                      /* sched_getaffinity, calling thread */
    int (*set_affinity)(const struct idset *cpus);                /* sched_setaffinity */
    int (*get_policy)(int *mode, struct idset *nodes);            /* get_mempolicy, calling thread */
    int (*set_policy)(int mode, const struct idset *nodes);       /* set_mempolicy */
    int (*bind)(void *addr, size_t bytes, int node);              /* mbind(MPOL_BIND) */
    int (*populate)(void *addr, size_t bytes);                    /* madvise(MADV_POPULATE_WRITE) */
    int (*read_zero)(void *addr, size_t bytes);                   /* read(2) from /dev/zero: for kernels before 5.14 */
    int (*query)(void *const *pages, int *node_or_err, size_t n); /* move_pages(nodes = NULL) */
    int (*open_maps)(FILE **maps_p);                              /* /proc/self/numa_maps */
};
extern const struct place_ops place_system;

/* What place_thread_begin changed. */
struct place_saved {
    struct idset cpus, nodes;
    int mode;
    bool cpus_changed, policy_changed;
};

/* Move the calling thread to `cpus` (empty: stay) and make `node` (kernel numbering, -1: leave) its memory policy, so
 * that an mmap of hugepages that the node cannot serve fails early. Where policies are refused the thread is pinned all
 * the same and `why` says so; else `why` is "". Undo with place_thread_end in the same thread. -EINVAL (no such CPU or
 * node for this process), or what the kernel said; then nothing has changed. */
int place_thread_begin(const struct place_ops *ops, struct place_saved *saved, char why[PLACE_WHY],
                       const struct idset *cpus, int node);

/* Put back what begin changed; tries all of it and returns the first failure. */
int place_thread_end(const struct place_ops *ops, const struct place_saved *saved);

enum place_by { PLACE_BY_POLICY, PLACE_BY_FIRST_TOUCH };
enum place_proof { PLACE_UNVERIFIED, PLACE_PROVED_MOVE_PAGES, PLACE_PROVED_NUMA_MAPS };

struct place_report {
    enum place_by by;
    enum place_proof proof;
    size_t pages;        /* of page_bytes each, that were looked at */
    size_t elsewhere;    /* of these, on another node */
    size_t absent;       /* of these, not populated */
    int elsewhere_node;  /* one such node, -1: none */
    char why[PLACE_WHY]; /* "" or the reason of each step down */
};

/* True when every page was seen on its node. */
static inline bool place_is_proved(const struct place_report *r)
{
    return r->proof != PLACE_UNVERIFIED && r->elsewhere == 0 && r->absent == 0;
}

/* Bind a range that nobody has touched yet. Sets report->by and ->why, and the rest to nothing: on a refusal (EPERM,
 * ENOSYS) it succeeds with PLACE_BY_FIRST_TOUCH. -EINVAL: the node does not exist or the cpuset forbids it. */
int place_range_bind(const struct place_ops *ops, struct place_report *report, void *addr, size_t bytes, int node);

/* Make every page present, zeroed. Never SIGBUS: -ENOMEM when the pages are not there (short node, cgroup limit). For
 * first touch the caller stands on the node's CPUs (place_thread_begin). */
int place_range_populate(const struct place_ops *ops, void *addr, size_t bytes, int node);

/* Count where the pages are; fills proof, pages, elsewhere, absent and adds to why. Pages on other nodes are no failure
 * of the check: look at place_is_proved. -ENOMEM. */
int place_range_check(const struct place_ops *ops, struct place_report *report, void *addr, size_t bytes,
                      size_t page_bytes, int node);

/* The three in order; for first touch the calling thread visits `node_cpus` meanwhile. On failure pages that were
 * already populated stay: unmap the range. */
int place_range(const struct place_ops *ops, struct place_report *report, void *addr, size_t bytes, size_t page_bytes,
                int node, const struct idset *node_cpus);

#endif
