/* What this process may use of the machine: CPUs and nodes (cpuset), huge pages (free per node, cgroup limits), locked
 * memory, CPU time, and which system calls the container's filter refuses. Read once at start; free pages are a
 * snapshot, other processes take from the same pool. */
#ifndef NUMA_LIMITS_H
#define NUMA_LIMITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "numa/idset.h"
#include "numa/topology.h"

enum { LIMITS_NODES = 128, LIMITS_FILE = 192 };

/* Bytes (or pages, or milli-CPUs) still allowed by the tightest of several files. */
struct limit {
    bool known; /* some file gives a finite limit */
    uint64_t value;
    char file[LIMITS_FILE]; /* that file, as the user finds it */
};

/* System calls that containers gate. */
enum limits_call {
    LIMITS_MBIND,
    LIMITS_SET_MEMPOLICY,
    LIMITS_GET_MEMPOLICY,
    LIMITS_MOVE_PAGES,
    LIMITS_IO_URING,
    LIMITS_CALLS
};
const char *limits_call_name(enum limits_call call);

struct limits_answer {
    bool known;
    int error; /* 0: works; EPERM, ENOSYS: refused; -1: the filter kills the process that calls it */
};

struct limits_node {
    int os;
    struct topo_pages pages[TOPO_PAGES];
};

struct limits {
    bool cpus_known, mems_known;
    struct idset cpus, mems; /* may run on, may allocate from */
    bool cgroup2;            /* a cgroup v2 hierarchy was found */
    /* Room left, limit minus use, at the tightest ancestor. `touch` (hugetlb.SIZE.max) strikes when a page is first
     * touched: SIGBUS; `reserve` (hugetlb.SIZE.rsvd.max) strikes at mmap: ENOMEM. */
    struct limit touch[TOPO_PAGES], reserve[TOPO_PAGES];
    struct limit memory;    /* memory.max; explicit huge pages are not charged to it unless cgroup2 is mounted so */
    struct limit cpu_milli; /* cpu.max: 4000 = four CPUs' time */
    struct limit memlock;   /* RLIMIT_MEMLOCK, soft; unknown = unlimited or not read */
    bool memlock_read;
    uint64_t reserved[TOPO_PAGES]; /* pages promised to mappings that have not touched them; part of `free` */
    bool reserved_known[TOPO_PAGES];
    int seccomp; /* 0 none, 1 strict, 2 filter, -1 unknown */
    struct limits_answer call[LIMITS_CALLS];
    struct limits_node node[LIMITS_NODES]; /* online nodes, ascending */
    size_t nodes;
};

/* Everything allowed, nothing known: for a topology from an XML file. */
void limits_none(struct limits *limits);

/* Read them below `root`: "" is this machine, and then the gated calls are tried too (in a forked child where a seccomp
 * filter is on, since a filter may kill); a recorded tree leaves them unknown. -ERANGE (too many nodes). */
int limits_read(struct limits *limits, const char *root);

/* Try each gated call with arguments that change nothing. Uses fork when `guarded`. */
void limits_probe(struct limits_answer call[LIMITS_CALLS], bool guarded);

/* Pages of a size on a node: from the snapshot where it knows the free count, else what the topology says. */
const struct topo_pages *limits_pages(const struct limits *limits, const struct topo_node *node, enum topo_page page);

/* How many of them to count on: free, else total (a file records no free count). False: unknown. */
bool limits_free_pages(uint64_t *pages, const struct limits *limits, const struct topo_node *node, enum topo_page page);

/* How many pages of a size the cgroup still lets us have, and the file that says so. False: no limit. */
bool limits_cgroup_pages(uint64_t *pages, const char **file, const struct limits *limits, enum topo_page page);

/* As JSON ("schema": 1). NULL: no memory. The caller owns it. */
json_t *limits_to_json(const struct limits *limits);

#endif
