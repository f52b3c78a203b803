#include "numa/place.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "numa/numa_maps.h"
#include "perf/err.h"
#include "perf/units.h"

/* Reasons of several steps stand side by side: "a; b". */
static void add_why(struct place_report *report, const char *sentence)
{
    size_t used = strlen(report->why);
    snprintf(report->why + used, sizeof report->why - used, "%s%s", used ? "; " : "", sentence);
}

int place_range_bind(const struct place_ops *ops, struct place_report *report, void *addr, size_t bytes, int node)
{
    if (node < 0 || node >= IDSET_MAX)
        return err_fail(-EINVAL, "bind memory to node %d: numbers are 0 to %d", node, IDSET_MAX - 1);
    struct place_report out = {.by = PLACE_BY_POLICY, .elsewhere_node = -1};
    int rc = ops->bind(addr, bytes, node);
    if (rc == -EPERM || rc == -ENOSYS) {
        char said[PLACE_WHY];
        snprintf(said, sizeof said, "mbind is refused here (%s): first touch from node %d's CPUs instead",
                 strerror(-rc), node);
        out.by = PLACE_BY_FIRST_TOUCH;
        add_why(&out, said);
    } else if (rc) {
        return err_fail(rc, "mbind to node %d: %s%s", node, strerror(-rc),
                        rc == -EINVAL ? " (no such node, or outside cpuset.mems.effective)" : "");
    }
    *report = out;
    return 0;
}

int place_range_populate(const struct place_ops *ops, void *addr, size_t bytes, int node)
{
    int rc = ops->populate(addr, bytes);
    if (rc == -EINVAL || rc == -ENOSYS)
        rc = ops->read_zero(addr, bytes); /* a fault inside read(2) is an errno where a store would be SIGBUS */
    if (rc == 0)
        return 0;
    char text[UNITS_TEXT];
    if (rc == -EFAULT || rc == -ENOMEM)
        return err_fail(-ENOMEM,
                        "node %d could not give %s when it was touched: too few free pages there, or a cgroup "
                        "limit (hugetlb.*.max, memory.max)",
                        node, units_bytes(text, bytes));
    return err_fail(rc, "populate %s on node %d: %s", units_bytes(text, bytes), node, strerror(-rc));
}

enum { BATCH = 1024 };

/* Ask in batches: one call per page would be 262144 calls per GiB of 4 KiB pages. */
static int count_by_query(const struct place_ops *ops, struct place_report *out, char *addr, size_t bytes,
                          size_t page_bytes, int node)
{
    void *pages[BATCH];
    int where[BATCH];
    for (size_t done = 0; done < bytes;) {
        size_t n = 0;
        for (; n < BATCH && done < bytes; n++, done += page_bytes)
            pages[n] = addr + done;
        int rc = ops->query(pages, where, n);
        if (rc)
            return rc;
        out->pages += n;
        for (size_t i = 0; i < n; i++) {
            if (where[i] < 0) {
                out->absent++;
            } else if (where[i] != node) {
                out->elsewhere++;
                out->elsewhere_node = where[i];
            }
        }
    }
    out->proof = PLACE_PROVED_MOVE_PAGES;
    return 0;
}

static int count_by_maps(const struct place_ops *ops, struct place_report *out, const char *addr, size_t bytes,
                         size_t page_bytes, int node)
{
    FILE *maps;
    int rc = ops->open_maps(&maps);
    if (rc)
        return rc;
    struct numa_maps_sum sum;
    rc = numa_maps_sum(&sum, maps, (uintptr_t)addr, bytes, node);
    fclose(maps);
    if (rc)
        return rc;
    if (!sum.exact && sum.off_bytes > 0)
        return -EXDEV; /* pages elsewhere, but perhaps in the part of the mapping that is not ours */
    uint64_t seen = sum.on_bytes + sum.off_bytes;
    out->pages = (bytes + page_bytes - 1) / page_bytes;
    out->elsewhere = (size_t)(sum.off_bytes / page_bytes);
    out->elsewhere_node = sum.off_node;
    out->absent = seen < bytes ? (size_t)((bytes - seen) / page_bytes) : 0;
    out->proof = PLACE_PROVED_NUMA_MAPS;
    return 0;
}

int place_range_check(const struct place_ops *ops, struct place_report *report, void *addr, size_t bytes,
                      size_t page_bytes, int node)
{
    if (page_bytes == 0 || bytes == 0)
        return err_fail(-EINVAL, "check of %zu bytes in pages of %zu", bytes, page_bytes);
    struct place_report out = *report;
    out.proof = PLACE_UNVERIFIED;
    out.pages = out.elsewhere = out.absent = 0;
    out.elsewhere_node = -1;
    struct place_report counted = out;
    int rc = count_by_query(ops, &counted, addr, bytes, page_bytes, node);
    if (rc) {
        char said[PLACE_WHY];
        snprintf(said, sizeof said, "move_pages: %s", strerror(-rc));
        add_why(&out, said);
        counted = out;
        rc = count_by_maps(ops, &counted, addr, bytes, page_bytes, node);
        snprintf(said, sizeof said, rc ? "numa_maps: %s: placement is unverified" : "placement read from numa_maps",
                 rc == -EXDEV ? "the mapping holds more than this range" : strerror(-rc));
        add_why(rc ? &out : &counted, said);
    }
    *report = rc ? out : counted;
    return 0;
}

int place_range(const struct place_ops *ops, struct place_report *report, void *addr, size_t bytes, size_t page_bytes,
                int node, const struct idset *node_cpus)
{
    struct place_report out = {.elsewhere_node = -1};
    int rc = place_range_bind(ops, &out, addr, bytes, node);
    if (rc)
        return rc;
    struct place_saved saved = {.cpus_changed = false};
    if (out.by == PLACE_BY_FIRST_TOUCH) {
        char said[PLACE_WHY];
        rc = place_thread_begin(ops, &saved, said, node_cpus, -1);
        if (rc)
            return rc;
    }
    rc = place_range_populate(ops, addr, bytes, node);
    int rc_end = place_thread_end(ops, &saved);
    if (rc || rc_end)
        return rc ? rc : rc_end;
    rc = place_range_check(ops, &out, addr, bytes, page_bytes, node);
    if (rc)
        return rc;
    *report = out;
    return 0;
}
