/* Huge pages, limits on memory, refused calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "numa/doctor_check.h"
#include "numa/sysfs.h"
#include "perf/units.h"

/* Run-time reservation gives what memory has not been cut up yet: asked 10 pages, got 2, after touching all memory and
 * compaction 6 (measured). Hence the boot argument. */
static void repair_pages(struct doctor_finding *f, int node, uint64_t want)
{
    doctor_repair(f,
                  "boot with hugepagesz=1G hugepages=%d:%" PRIu64 " (one entry per node), or try now: echo %" PRIu64
                  " > /sys/devices/system/node/node%d/hugepages/hugepages-1048576kB/nr_hugepages",
                  node, want, want, node);
}

/* What the plan would like to have at a node: the shares of its GPUs, 24 pages (two PoRep partitions) each by default.
 */
static uint64_t wanted_at(const struct doctor_in *in, size_t node)
{
    uint64_t want = 0;
    for (size_t g = 0; in->plan && g < in->plan->gpus; g++)
        if (in->plan->gpu[g].home == (int)node)
            want += in->plan->gpu[g].want && in->plan->page == TOPO_PAGE_1G ? in->plan->gpu[g].want : 24;
    return want ? want : 24;
}

void doctor_check_pages(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    for (size_t i = 0; i < in->topo->nodes; i++) {
        const struct topo_node *node = &in->topo->node[i];
        if (node->kind != TOPO_NODE_HOST)
            continue;
        const struct topo_pages *large = limits_pages(in->limits, node, TOPO_PAGE_1G);
        const struct topo_pages *small = limits_pages(in->limits, node, TOPO_PAGE_2M);
        if (!large->total_known && !small->total_known)
            doctor_say(doctor, check, DOCTOR_UNKNOWN, "node %d: nothing tells its huge pages", node->os);
        else if (large->total == 0)
            repair_pages(
                doctor_say(doctor, check, DOCTOR_WARN,
                           "node %d has no 1 GiB pages: the pool falls to %s, and registering memory takes 1.3 to 2 "
                           "times as long",
                           node->os, small->total ? "2 MiB pages" : "transparent or 4 KiB pages"),
                node->os, wanted_at(in, i));
        else if (large->free_known && large->free == 0)
            doctor_repair(doctor_say(doctor, check, DOCTOR_WARN, "node %d: all %" PRIu64 " pages of 1 GiB are taken",
                                     node->os, large->total),
                          "grep -l hugepage /proc/*/numa_maps 2>/dev/null   # who holds them");
        else if (large->free_known)
            doctor_say(doctor, check, DOCTOR_OK, "node %d: %" PRIu64 " of %" PRIu64 " pages of 1 GiB free", node->os,
                       large->free, large->total);
        else
            doctor_say(doctor, check, DOCTOR_OK, "node %d: %" PRIu64 " pages of 1 GiB", node->os, large->total);
    }
}

void doctor_check_share(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    if (!in->plan || in->plan->gpus == 0) {
        doctor_say(doctor, check, in->topo->gpus ? DOCTOR_UNKNOWN : DOCTOR_OK, "%s",
                   in->topo->gpus ? "there is no plan to look at" : "no GPU needs a share of pages");
        return;
    }
    for (size_t g = 0; g < in->plan->gpus; g++) {
        const struct plan_gpu *gpu = &in->plan->gpu[g];
        const char *pci = in->topo->device[gpu->gpu].pci;
        bool home_full = gpu->home >= 0 && gpu->got == gpu->take[gpu->home];
        if (gpu->got < gpu->want)
            repair_pages(doctor_say(doctor, check, DOCTOR_WARN, "GPU %s: %s", pci, gpu->why_pages),
                         gpu->home >= 0 ? in->topo->node[gpu->home].os : 0,
                         wanted_at(in, gpu->home >= 0 ? (size_t)gpu->home : 0));
        else if (!home_full && gpu->home >= 0)
            repair_pages(doctor_say(doctor, check, DOCTOR_WARN, "GPU %s borrows: %s", pci, gpu->why_pages),
                         in->topo->node[gpu->home].os, wanted_at(in, (size_t)gpu->home));
        else
            doctor_say(doctor, check, DOCTOR_OK, "GPU %s: %s", pci,
                       gpu->why_pages[0] ? gpu->why_pages : "no pages asked");
    }
}

void doctor_check_cgroup(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    const struct limits *l = in->limits;
    bool said = false;
    for (int p = 0; p < TOPO_PAGES; p++) {
        uint64_t pages;
        const char *file, *name = topo_page_name((enum topo_page)p);
        if (!limits_cgroup_pages(&pages, &file, l, (enum topo_page)p))
            continue;
        said = true;
        if (pages == 0)
            doctor_repair(doctor_say(doctor, check, DOCTOR_WARN, "%.200s leaves room for no %s page", file, name),
                          "raise it (Kubernetes: limits.hugepages-1Gi; systemd-nspawn and podman: write to the file)");
        else if (l->touch[p].known && !l->reserve[p].known)
            doctor_say(doctor, check, DOCTOR_OK,
                       "%.160s leaves room for %" PRIu64
                       " %s pages, but strikes only at touch (no rsvd.max): the pool populates "
                       "guarded, other programs may die of SIGBUS",
                       file, pages, name);
        else
            doctor_say(doctor, check, DOCTOR_OK, "%.200s leaves room for %" PRIu64 " %s pages", file, pages, name);
    }
    if (!said)
        doctor_say(doctor, check, DOCTOR_OK,
                   l->cgroup2 ? "no hugetlb limit above this process" : "no cgroup v2 hierarchy here");
}

/* CAP_IPC_LOCK lifts the limit. "IPC_LOCK" given to a container that runs as another user than root is inert: what
 * counts is the effective set. */
static bool may_lock_all(const struct doctor_in *in)
{
    char text[64];
    return in->root && sysfs_key(text, sizeof text, in->root, "/proc/self/status", "CapEff") &&
           (strtoull(text, NULL, 16) >> 14 & 1);
}

void doctor_check_memlock(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    uint64_t need = 0;
    for (size_t g = 0; in->plan && g < in->plan->gpus; g++)
        need += in->plan->gpu[g].got * topo_page_bytes(in->plan->page);
    if (need == 0)
        need = 1ull << 30;
    char have[UNITS_TEXT], want[UNITS_TEXT];
    if (!in->limits->memlock_read)
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "RLIMIT_MEMLOCK could not be read");
    else if (!in->limits->memlock.known || in->limits->memlock.value >= need)
        doctor_say(doctor, check, DOCTOR_OK, "RLIMIT_MEMLOCK is high enough");
    else if (may_lock_all(in))
        doctor_say(doctor, check, DOCTOR_OK, "RLIMIT_MEMLOCK is %s, but CAP_IPC_LOCK lifts it",
                   units_bytes(have, in->limits->memlock.value));
    else
        doctor_repair(
            doctor_say(doctor, check, DOCTOR_WARN,
                       "RLIMIT_MEMLOCK is %s, the pool has %s: io_uring will not register it (whole huge pages are "
                       "charged) and files are read with plain O_DIRECT",
                       units_bytes(have, in->limits->memlock.value), units_bytes(want, need)),
            "LimitMEMLOCK=infinity in the unit, --ulimit memlock=-1 for a container, ulimit -l unlimited in a shell");
}

void doctor_check_calls(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    size_t open_calls = 0, unknown = 0;
    for (int i = 0; i < LIMITS_CALLS; i++) {
        const struct limits_answer *a = &in->limits->call[i];
        if (!a->known) {
            unknown++;
        } else if (a->error == 0) {
            open_calls++;
        } else {
            bool uring = i == LIMITS_IO_URING;
            doctor_repair(
                doctor_say(doctor, check, DOCTOR_WARN, "%s is refused (%s): %s", limits_call_name((enum limits_call)i),
                           a->error > 0 ? strerror(a->error) : "the filter kills the process",
                           uring ? "files are read by O_DIRECT threads instead"
                                 : "pages are placed by first touch and perhaps not verified"),
                uring ? "allow io_uring_setup in the seccomp profile; sysctl kernel.io_uring_disabled=0"
                      : "docker run --cap-add SYS_NICE; Kubernetes: securityContext.capabilities.add: [SYS_NICE]");
        }
    }
    if (unknown == LIMITS_CALLS)
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "a recorded machine answers no calls");
    else if (open_calls + unknown == LIMITS_CALLS)
        doctor_say(doctor, check, DOCTOR_OK, "mempolicy, move_pages and io_uring calls work");
}

void doctor_check_thp(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    char text[128];
    if (!in->root || sysfs_read(text, sizeof text, in->root, "/sys/kernel/mm/transparent_hugepage/enabled"))
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "the kernel says nothing of transparent huge pages");
    else if (strstr(text, "[never]"))
        doctor_repair(doctor_say(doctor, check, DOCTOR_WARN,
                                 "transparent huge pages are off: without reserved pages the pool falls "
                                 "to 4 KiB pages (first touch 3 times as slow)"),
                      "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
    else
        doctor_say(doctor, check, DOCTOR_OK, "transparent huge pages: %.60s", text);
}

void doctor_check_cma(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    char text[4096];
    if (!in->root || sysfs_read(text, sizeof text, in->root, "/proc/cmdline"))
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "the kernel's command line could not be read");
    else if (strstr(text, "hugetlb_cma="))
        doctor_repair(
            doctor_say(doctor, check, DOCTOR_FAIL,
                       "hugetlb_cma= puts 1 GiB pages where they cannot be pinned for long: registering them fails"),
            "boot with hugepagesz=1G hugepages=0:N,1:N instead of hugetlb_cma=");
    else
        doctor_say(doctor, check, DOCTOR_OK, "huge pages do not come from CMA");
}

void doctor_check_swap(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    char text[4096];
    if (!in->root || sysfs_read(text, sizeof text, in->root, "/proc/swaps"))
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "/proc/swaps could not be read");
    else if (strchr(text, '\n'))
        doctor_repair(
            doctor_say(doctor, check, DOCTOR_WARN, "swap is on: synthesis memory and witnesses may go to disk"),
            "swapoff -a, and take it out of /etc/fstab");
    else
        doctor_say(doctor, check, DOCTOR_OK, "no swap");
}
