#include "numa/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numa/sysfs.h"
#include "perf/err.h"

enum { PATH = 1024 };

/* Keep the smaller of two limits. */
static void limit_lower(struct limit *limit, uint64_t value, const char *dir, const char *name)
{
    if (limit->known && limit->value <= value)
        return;
    limit->known = true;
    limit->value = value;
    /* long container paths: the end is what tells them apart */
    size_t len = strlen(dir), room = sizeof limit->file - strlen(name) - 2;
    snprintf(limit->file, sizeof limit->file, "%.*s/%s", (int)room, len > room ? dir + (len - room) : dir, name);
}

/* One level of the hierarchy: room for huge pages, memory, CPU time. */
static void read_level(struct limits *limits, const char *root, const char *dir)
{
    static const char *const sizes[TOPO_PAGES] = {"1GB", "2MB"};
    char name[64];
    uint64_t max, used;
    for (int p = 0; p < TOPO_PAGES; p++)
        for (int rsvd = 0; rsvd < 2; rsvd++) {
            const char *mid = rsvd ? ".rsvd" : "";
            snprintf(name, sizeof name, "hugetlb.%s%s.max", sizes[p], mid);
            if (!sysfs_u64(&max, root, "%s/%s", dir, name)) /* "max" is no number: no limit here */
                continue;
            if (!sysfs_u64(&used, root, "%s/hugetlb.%s%s.current", dir, sizes[p], mid))
                used = 0;
            limit_lower(rsvd ? &limits->reserve[p] : &limits->touch[p], max > used ? max - used : 0, dir, name);
        }
    if (sysfs_u64(&max, root, "%s/memory.max", dir))
        limit_lower(&limits->memory, max, dir, "memory.max");
    char text[64], *end;
    if (sysfs_read(text, sizeof text, root, "%s/cpu.max", dir) == 0) {
        uint64_t quota = strtoull(text, &end, 10), period = strtoull(end, NULL, 10);
        if (end != text && period > 0)
            limit_lower(&limits->cpu_milli, quota * 1000 / period, dir, "cpu.max");
    }
}

/* The nearest level that has the file decides; ancestors are supersets. */
static void narrow(struct idset *set, bool *known, const struct idset *by)
{
    *set = *known ? idset_and(set, by) : *by;
    *known = true;
}

static bool find_cgroup2(char mount[PATH], const char *root)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char text[1024];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (sysfs_read(text, sizeof text, root, "%s/cgroup.controllers", places[i]) == 0) {
            snprintf(mount, PATH, "%s", places[i]);
            return true;
        }
    return false;
}

/* From our group up to the root of what is mounted. Inside a container the path may name levels that are not mounted:
 * their files are absent, the walk goes on, and the container's own group is the mount's root. */
static void read_cgroup(struct limits *limits, const char *root)
{
    char dir[PATH], text[4096];
    if (!find_cgroup2(dir, root))
        return;
    limits->cgroup2 = true;
    size_t mount = strlen(dir);
    if (sysfs_read(text, sizeof text, root, "/proc/self/cgroup") == 0) {
        const char *at = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
        if (at) {
            at += *at == '\n' ? 4 : 3;
            size_t len = strcspn(at, "\n");
            snprintf(dir + mount, sizeof dir - mount, "%.*s", (int)len, at);
        }
    }
    bool have_cpus = false, have_mems = false;
    for (;;) {
        size_t len = strlen(dir);
        while (len > mount && dir[len - 1] == '/')
            dir[--len] = 0;
        struct idset set;
        read_level(limits, root, dir);
        if (!have_cpus && (have_cpus = sysfs_ids(&set, root, "%s/cpuset.cpus.effective", dir)))
            narrow(&limits->cpus, &limits->cpus_known, &set);
        if (!have_mems && (have_mems = sysfs_ids(&set, root, "%s/cpuset.mems.effective", dir)))
            narrow(&limits->mems, &limits->mems_known, &set);
        char *slash = len > mount ? strrchr(dir + mount, '/') : NULL;
        if (!slash)
            return;
        *slash = 0;
    }
}

/* What the kernel enforces for this process; also right under cgroup v1 and taskset. */
static void read_status(struct limits *limits, const char *root)
{
    char text[4096];
    struct idset set;
    if (sysfs_key(text, sizeof text, root, "/proc/self/status", "Cpus_allowed_list") && idset_parse(&set, text) == 0)
        narrow(&limits->cpus, &limits->cpus_known, &set);
    if (sysfs_key(text, sizeof text, root, "/proc/self/status", "Mems_allowed_list") && idset_parse(&set, text) == 0)
        narrow(&limits->mems, &limits->mems_known, &set);
    if (sysfs_key(text, sizeof text, root, "/proc/self/status", "Seccomp"))
        limits->seccomp = atoi(text);
}

/* "Max locked memory         8388608              8388608              bytes" */
static void read_memlock(struct limits *limits, const char *root)
{
    char text[8192];
    static const char key[] = "Max locked memory";
    if (sysfs_read(text, sizeof text, root, "/proc/self/limits"))
        return;
    const char *at = strstr(text, key);
    if (!at)
        return;
    at += strlen(key);
    char *end;
    uint64_t soft = strtoull(at, &end, 10);
    limits->memlock_read = true;
    if (end != at)
        limit_lower(&limits->memlock, soft, "", "proc/self/limits");
}

static int read_nodes(struct limits *limits, const char *root)
{
    struct idset online;
    bool numa = sysfs_ids(&online, root, "/sys/devices/system/node/online");
    if (!numa)
        online = idset_first(1);
    for (int id = idset_next(&online, 0); id >= 0; id = idset_next(&online, (unsigned)id + 1)) {
        if (limits->nodes == LIMITS_NODES)
            return err_fail(-ERANGE, "more than %d NUMA nodes online", LIMITS_NODES);
        struct limits_node *node = &limits->node[limits->nodes++];
        node->os = id;
        for (int p = 0; p < TOPO_PAGES; p++) {
            unsigned long kb = (unsigned long)(topo_page_bytes((enum topo_page)p) >> 10);
            char dir[128];
            if (numa)
                snprintf(dir, sizeof dir, "/sys/devices/system/node/node%d/hugepages/hugepages-%lukB", id, kb);
            else
                snprintf(dir, sizeof dir, "/sys/kernel/mm/hugepages/hugepages-%lukB", kb);
            struct topo_pages *pages = &node->pages[p];
            pages->total_known = sysfs_u64(&pages->total, root, "%s/nr_hugepages", dir);
            pages->free_known = sysfs_u64(&pages->free, root, "%s/free_hugepages", dir);
        }
    }
    for (int p = 0; p < TOPO_PAGES; p++)
        limits->reserved_known[p] =
            sysfs_u64(&limits->reserved[p], root, "/sys/kernel/mm/hugepages/hugepages-%lukB/resv_hugepages",
                      (unsigned long)(topo_page_bytes((enum topo_page)p) >> 10));
    return 0;
}

void limits_none(struct limits *limits)
{
    *limits = (struct limits){.seccomp = -1};
}

int limits_read(struct limits *limits, const char *root)
{
    struct limits *out = calloc(1, sizeof *out);
    if (!out)
        return err_fail(-ENOMEM, "no memory for the limits");
    limits_none(out);
    read_cgroup(out, root);
    read_status(out, root);
    read_memlock(out, root);
    int rc = read_nodes(out, root);
    if (rc == 0 && !root[0])
        limits_probe(out->call, out->seccomp != 0);
    if (rc == 0)
        *limits = *out;
    free(out);
    return rc;
}

const struct topo_pages *limits_pages(const struct limits *limits, const struct topo_node *node, enum topo_page page)
{
    for (size_t i = 0; i < limits->nodes; i++)
        if (limits->node[i].os == node->os && limits->node[i].pages[page].free_known)
            return &limits->node[i].pages[page];
    return &node->pages[page];
}

bool limits_free_pages(uint64_t *pages, const struct limits *limits, const struct topo_node *node, enum topo_page page)
{
    const struct topo_pages *p = limits_pages(limits, node, page);
    *pages = p->free_known ? p->free : p->total;
    return p->free_known || p->total_known;
}

bool limits_cgroup_pages(uint64_t *pages, const char **file, const struct limits *limits, enum topo_page page)
{
    const struct limit *touch = &limits->touch[page], *reserve = &limits->reserve[page];
    const struct limit *tight = !reserve->known || (touch->known && touch->value <= reserve->value) ? touch : reserve;
    if (!tight->known)
        return false;
    *pages = tight->value / topo_page_bytes(page);
    *file = tight->file;
    return true;
}
