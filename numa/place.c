#include "numa/place.h"

#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/err.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older headers lack it */
#endif

static int sys_get_affinity(struct idset *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    return sched_getaffinity(0, sizeof cpus->word, (cpu_set_t *)(void *)cpus->word) ? -errno : 0;
}

static int sys_set_affinity(const struct idset *cpus)
{
    return sched_setaffinity(0, sizeof cpus->word, (const cpu_set_t *)(const void *)cpus->word) ? -errno : 0;
}

/* The kernel reads maxnode - 1 bits: an old off-by-one that is now the interface, hence IDSET_MAX + 1. */
static int sys_get_policy(int *mode, struct idset *nodes)
{
    memset(nodes, 0, sizeof *nodes);
    return get_mempolicy(mode, nodes->word, IDSET_MAX + 1, NULL, 0) ? -errno : 0;
}

static int sys_set_policy(int mode, const struct idset *nodes)
{
    bool plain = idset_empty(nodes); /* MPOL_DEFAULT and MPOL_LOCAL carry no nodes */
    return set_mempolicy(mode, plain ? NULL : nodes->word, plain ? 0 : IDSET_MAX + 1) ? -errno : 0;
}

static int sys_bind(void *addr, size_t bytes, int node)
{
    struct idset nodes = {{0}};
    idset_add(&nodes, (unsigned)node);
    return mbind(addr, bytes, MPOL_BIND, nodes.word, IDSET_MAX + 1, 0) ? -errno : 0;
}

static int sys_populate(void *addr, size_t bytes)
{
    return madvise(addr, bytes, MADV_POPULATE_WRITE) ? -errno : 0;
}

static int sys_read_zero(void *addr, size_t bytes)
{
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = 0;
    for (size_t done = 0; done < bytes && rc == 0;) {
        size_t want = bytes - done < 1u << 30 ? bytes - done : 1u << 30;
        ssize_t got = read(fd, (char *)addr + done, want);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            rc = got == 0 ? -EIO : -errno;
    }
    close(fd);
    return rc;
}

static int sys_query(void *const *pages, int *node_or_err, size_t n)
{
    return move_pages(0, n, (void **)(uintptr_t)pages, NULL, node_or_err, 0) ? -errno : 0;
}

static int sys_open_maps(FILE **maps_p)
{
    FILE *maps = fopen("/proc/self/numa_maps", "re");
    if (!maps)
        return -errno;
    *maps_p = maps;
    return 0;
}

const struct place_ops place_system = {
    .get_affinity = sys_get_affinity,
    .set_affinity = sys_set_affinity,
    .get_policy = sys_get_policy,
    .set_policy = sys_set_policy,
    .bind = sys_bind,
    .populate = sys_populate,
    .read_zero = sys_read_zero,
    .query = sys_query,
    .open_maps = sys_open_maps,
};

static int thread_to_cpus(const struct place_ops *ops, struct place_saved *saved, const struct idset *cpus)
{
    char text[IDSET_TEXT];
    int rc = ops->get_affinity(&saved->cpus);
    if (rc)
        return err_fail(rc, "sched_getaffinity: %s", strerror(-rc));
    rc = ops->set_affinity(cpus);
    if (rc)
        return err_fail(rc, "sched_setaffinity to CPUs %s: %s%s", idset_text(text, cpus), strerror(-rc),
                        rc == -EINVAL ? " (offline, or outside cpuset.cpus.effective)" : "");
    saved->cpus_changed = true;
    return 0;
}

static int thread_to_node(const struct place_ops *ops, struct place_saved *saved, char why[PLACE_WHY], int node)
{
    const char *call = "get_mempolicy";
    int rc = ops->get_policy(&saved->mode, &saved->nodes);
    if (rc == 0) {
        struct idset nodes = {{0}};
        idset_add(&nodes, (unsigned)node);
        call = "set_mempolicy";
        rc = ops->set_policy(MPOL_BIND, &nodes);
    }
    if (rc == -EPERM || rc == -ENOSYS) {
        snprintf(why, PLACE_WHY, "%s is refused here (%s): memory follows the CPUs by first touch, nothing enforces it",
                 call, strerror(-rc));
        return 0;
    }
    if (rc)
        return err_fail(rc, "%s to node %d: %s%s", call, node, strerror(-rc),
                        rc == -EINVAL ? " (no such node, or outside cpuset.mems.effective)" : "");
    saved->policy_changed = true;
    return 0;
}

int place_thread_begin(const struct place_ops *ops, struct place_saved *saved, char why[PLACE_WHY],
                       const struct idset *cpus, int node)
{
    if (node >= IDSET_MAX)
        return err_fail(-EINVAL, "node %d: numbers end at %d", node, IDSET_MAX - 1);
    struct place_saved now = {.mode = MPOL_DEFAULT};
    char said[PLACE_WHY] = "";
    int rc = idset_empty(cpus) ? 0 : thread_to_cpus(ops, &now, cpus);
    if (rc == 0 && node >= 0)
        rc = thread_to_node(ops, &now, said, node);
    if (rc) {
        if (now.cpus_changed)
            ops->set_affinity(&now.cpus);
        return rc;
    }
    *saved = now;
    memcpy(why, said, sizeof said);
    return 0;
}

int place_thread_end(const struct place_ops *ops, const struct place_saved *saved)
{
    int rc_policy = saved->policy_changed ? ops->set_policy(saved->mode, &saved->nodes) : 0;
    int rc_cpus = saved->cpus_changed ? ops->set_affinity(&saved->cpus) : 0;
    if (rc_policy)
        return err_fail(rc_policy, "set_mempolicy back to mode %d: %s", saved->mode, strerror(-rc_policy));
    if (rc_cpus)
        return err_fail(rc_cpus, "sched_setaffinity back: %s", strerror(-rc_cpus));
    return 0;
}
