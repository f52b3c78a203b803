#include "alloc/hugepage.h"

#include <hugetlbfs.h>
#include <numaif.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc/sysops.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "perf/units.h"

enum { SMALL_PAGE = 4096, ALIGN = 2 << 20, NODE_WORDS = 16 /* 1024 nodes: the kernel's largest build */ };
#define HUGE_SHIFT(log2) ((log2) << MAP_HUGE_SHIFT)

static const struct {
    const char *name;
    size_t bytes;
    int map_flags;
} tiers[TIER_KINDS] = {
    [TIER_1G] = {"1 GiB pages", 1u << 30, MAP_SHARED | MAP_HUGETLB | HUGE_SHIFT(30)},
    [TIER_2M] = {"2 MiB pages", 2u << 20, MAP_SHARED | MAP_HUGETLB | HUGE_SHIFT(21)},
    /* Private: shared anonymous memory is shmem, whose huge pages are off by default on every distribution. Nothing
     * forks with it: DONTFORK. */
    [TIER_THP] = {"transparent pages", 2u << 20, MAP_PRIVATE},
    [TIER_4K] = {"4 KiB pages", 4096, MAP_PRIVATE},
};

const char *hugepage_tier_name(enum page_tier tier)
{
    return tiers[tier].name;
}

size_t hugepage_tier_bytes(enum page_tier tier)
{
    return tiers[tier].bytes;
}

bool hugepage_free(int node, size_t page_bytes, uint64_t *pages)
{
    char path[128], where[48] = "/sys/kernel/mm";
    if (node >= 0)
        snprintf(where, sizeof where, "/sys/devices/system/node/node%d", node);
    snprintf(path, sizeof path, "%s/hugepages/hugepages-%zukB/free_hugepages", where, page_bytes >> 10);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    unsigned long n;
    bool known = fscanf(f, "%lu", &n) == 1;
    fclose(f);
    if (known)
        *pages = n;
    return known;
}

/* Append this thread's sentence to the reasons. */
static void why_add(struct hugepage_map *m, enum page_tier tier)
{
    size_t used = strlen(m->why);
    snprintf(m->why + used, sizeof m->why - used, "%s%s: %s", used ? "; " : "", tiers[tier].name, pen_last_error());
}

/* Sentence for pages that the kernel does not have: with the count, so that the operator knows what to reserve. */
static int short_of_pages(const struct hugepage_opts *o, enum page_tier tier, const char *call, int err)
{
    uint64_t have;
    size_t need = o->bytes / tiers[tier].bytes;
    if (tier > TIER_2M)
        return err_fail(-ENOMEM, "%s refused %zu bytes: %s", call, o->bytes, strerror(err));
    if (!hugepage_free(o->node, tiers[tier].bytes, &have))
        return err_fail(-ENOMEM, "%s refused %zu pages: %s", call, need, strerror(err));
    char place[32] = "the machine";
    if (o->node >= 0)
        snprintf(place, sizeof place, "node %d", o->node);
    return err_fail(-ENOMEM, "%s has %lu free, need %zu (%s: %s)", place, have, need, call, strerror(err));
}

static bool size_exists(size_t page_bytes)
{
    long sizes[16];
    int n = gethugepagesizes(sizes, 16);
    for (int i = 0; i < n && i < 16; i++)
        if ((size_t)sizes[i] == page_bytes)
            return true;
    return false;
}

static bool thp_is_off(void)
{
    char line[64] = "";
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    if (!f)
        return true;
    bool read = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    return !read || strstr(line, "[never]") != NULL;
}

/* Reasons that need no system call. */
static int tier_possible(const struct hugepage_opts *o, enum page_tier tier)
{
    char text[UNITS_TEXT];
    if (o->bytes % tiers[tier].bytes)
        return err_fail(-EINVAL, "%s is no multiple of a page", units_bytes(text, o->bytes));
    if (tier <= TIER_2M && !size_exists(tiers[tier].bytes))
        return err_fail(-ENOTSUP, "this kernel or CPU has none");
    if (tier == TIER_THP && thp_is_off())
        return err_fail(-ENOTSUP, "/sys/kernel/mm/transparent_hugepage/enabled says never");
    return 0;
}

/* *refused: the kernel or a seccomp filter does not let us bind; pages then follow the populating threads. */
static int map_bind(const struct hugepage_map *m, bool *refused)
{
    *refused = false;
    if (m->node < 0)
        return 0;
    unsigned long mask[NODE_WORDS] = {0};
    if (m->node >= NODE_WORDS * 64)
        return err_fail(-EINVAL, "node %d: the kernel knows at most %d", m->node, NODE_WORDS * 64);
    mask[m->node / 64] = 1ul << m->node % 64;
    if (sys->mbind(m->base, m->bytes, MPOL_BIND, mask, NODE_WORDS * 64 + 1, 0) == 0)
        return 0;
    if (errno == EPERM || errno == ENOSYS) {
        *refused = true;
        return 0;
    }
    if (errno == EINVAL)
        return err_fail(-EINVAL, "node %d does not exist or this process's cpuset forbids it (mbind: %s)", m->node,
                        strerror(errno));
    return err_fail(-errno, "mbind to node %d: %s", m->node, strerror(errno));
}

static int map_verify(struct hugepage_map *m, bool bind_refused, bool last_tier)
{
    if (m->node < 0)
        return 0;
    /* Inside a transparent page the kernel may have fallen back to small ones: ask for each of those. */
    int rc = hugepage_verify(m->base, m->bytes, m->tier == TIER_THP ? SMALL_PAGE : m->page_bytes, m->node);
    m->verified = rc == 0;
    if (rc == 0 || rc == -ENODATA || (rc == -EXDEV && bind_refused && last_tier)) {
        if (rc)
            why_add(m, m->tier);
        return 0;
    }
    return rc;
}

/* Everything between mmap and a usable range. */
static int map_settle(struct hugepage_map *m, const struct hugepage_opts *o, bool last_tier)
{
    bool refused;
    if (sys->madvise(m->map_addr, m->map_bytes, MADV_DONTFORK))
        return err_fail(-errno, "madvise(DONTFORK): %s", strerror(errno));
    if (m->tier == TIER_THP && !o->fd_page_bytes && sys->madvise(m->base, m->bytes, MADV_HUGEPAGE))
        return err_fail(-errno, "madvise(HUGEPAGE): %s", strerror(errno));
    if (m->tier == TIER_4K && !o->fd_page_bytes)
        sys->madvise(m->base, m->bytes, MADV_NOHUGEPAGE); /* the tier's name is a promise; refused: better pages */
    if (o->lazy && m->tier >= TIER_THP && m->node < 0)
        return 0; /* a shortage of these is never a SIGBUS */
    int rc = map_bind(m, &refused);
    if (rc)
        return rc;
    uint64_t t0 = clock_now_ns();
    rc = hugepage_populate(m->base, m->bytes, m->page_bytes, o->threads, o->cpus);
    m->populate_ns = clock_now_ns() - t0;
    if (rc == -EFAULT)
        return short_of_pages(o, m->tier, "population", ENOMEM);
    if (rc)
        return rc;
    t0 = clock_now_ns();
    rc = map_verify(m, refused, last_tier);
    m->verify_ns = clock_now_ns() - t0;
    return rc;
}

static int tier_map(struct hugepage_map *m, const struct hugepage_opts *o, enum page_tier tier, bool last_tier)
{
    int rc = o->fd_page_bytes ? 0 : tier_possible(o, tier);
    if (rc)
        return rc;
    int flags = o->fd_page_bytes ? MAP_SHARED : tiers[tier].map_flags | MAP_ANONYMOUS;
    /* Small pages: map 2 MiB more and start at a boundary. The rest stays untouched and costs address space only. */
    size_t slack = tier <= TIER_2M || o->fd_page_bytes ? 0 : ALIGN;
    void *p = sys->mmap(NULL, o->bytes + slack, PROT_READ | PROT_WRITE, flags, o->fd_page_bytes ? o->fd : -1, 0);
    if (p == MAP_FAILED)
        return short_of_pages(o, tier, "mmap", errno);
    m->map_addr = p;
    m->map_bytes = o->bytes + slack;
    m->base = slack ? (void *)(((uintptr_t)p + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1)) : p;
    m->bytes = o->bytes;
    m->page_bytes = o->fd_page_bytes ? o->fd_page_bytes : tiers[tier].bytes;
    m->tier = tier;
    rc = map_settle(m, o, last_tier);
    if (rc)
        sys->munmap(m->map_addr, m->map_bytes);
    return rc;
}

int hugepage_map(struct hugepage_map *out, const struct hugepage_opts *o)
{
    struct hugepage_map m = {.node = o->node};
    if (o->bytes == 0 || o->bytes % SMALL_PAGE)
        return err_fail(-EINVAL, "%zu bytes of DMA memory: expected a multiple of 4096", o->bytes);
    enum page_tier first = o->first, last = o->strict ? o->first : TIER_4K;
    if (o->fd_page_bytes)
        first = last = o->fd_page_bytes >= 1u << 30 ? TIER_1G : o->fd_page_bytes >= 2u << 20 ? TIER_2M : TIER_4K;
    int rc = 0;
    for (enum page_tier tier = first; tier <= last; tier++) {
        rc = tier_map(&m, o, tier, tier == last);
        if (rc == 0) {
            *out = m;
            return 0;
        }
        why_add(&m, tier);
    }
    char text[UNITS_TEXT];
    return err_fail(rc == -EINVAL ? -EINVAL : -ENOMEM, "no DMA memory of %s: %s%s", units_bytes(text, o->bytes), m.why,
                    o->strict ? " (strict: no smaller pages)" : "");
}

int hugepage_unmap(struct hugepage_map *m)
{
    if (sys->munmap(m->map_addr, m->map_bytes))
        return err_fail(-errno, "munmap of %zu bytes at %p: %s", m->map_bytes, m->map_addr, strerror(errno));
    *m = (struct hugepage_map){.node = -1};
    return 0;
}
