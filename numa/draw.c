#include "numa/draw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "perf/units.h"

struct draw_in {
    const struct topology *topo;
    const struct limits *limits;
    const struct plan *plan;
};

/* Add a box and return its index; -1 when memory is out (then every later add fails as well). */
static int add(struct picture *picture, enum draw_kind kind, int parent, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static int add(struct picture *picture, enum draw_kind kind, int parent, const char *fmt, ...)
{
    if (picture->boxes == picture->room) {
        size_t room = picture->room ? 2 * picture->room : 64;
        struct draw_box *box = realloc(picture->box, room * sizeof *box);
        if (!box) {
            picture->failed = true;
            return -1;
        }
        picture->box = box;
        picture->room = room;
    }
    struct draw_box *box = &picture->box[picture->boxes];
    *box = (struct draw_box){.kind = kind, .parent = parent};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(box->title, sizeof box->title, fmt, ap);
    va_end(ap);
    return (int)picture->boxes++;
}

static void note(struct picture *picture, int box, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void note(struct picture *picture, int box, const char *fmt, ...)
{
    if (box < 0)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(picture->box[box].note, sizeof picture->box[box].note, fmt, ap);
    va_end(ap);
}

/* Node index of a device: what the plan decided for GPUs, else the same chain in short; -1: nobody knows. */
static int node_of(const struct draw_in *in, size_t index)
{
    const struct topology *topo = in->topo;
    const struct topo_device *dev = &topo->device[index];
    if (index < topo->gpus && in->plan)
        return in->plan->gpu[index].home;
    if (topo->nodes == 1)
        return 0;
    if (dev->numa_node >= 0)
        return topo_node_index(topo, dev->numa_node);
    if (dev->bridge_node >= 0)
        return topo_node_index(topo, dev->bridge_node);
    int os = idset_next(&dev->locality, 0);
    return os >= 0 ? topo_node_index(topo, os) : -1;
}

/* An uplink is where its first device is: a GPU, if it has one, since those come first. */
static int node_of_uplink(const struct draw_in *in, int uplink)
{
    for (size_t i = 0; i < in->topo->devices; i++)
        if (in->topo->device[i].uplink == uplink)
            return node_of(in, i);
    return -1;
}

static void add_pages(struct picture *picture, const struct draw_in *in, int parent, const struct topo_node *node)
{
    for (int p = 0; p < TOPO_PAGES; p++) {
        const struct topo_pages *pages = limits_pages(in->limits, node, (enum topo_page)p);
        if (!pages->total_known || (pages->total == 0 && p != TOPO_PAGE_1G))
            continue;
        int box = add(picture, DRAW_PAGES, parent, "%s pages", topo_page_name((enum topo_page)p));
        if (box < 0)
            return;
        if (pages->total == 0) {
            note(picture, box, "none");
            continue;
        }
        if (!pages->free_known) {
            note(picture, box, "%" PRIu64 ", free not recorded", pages->total);
            continue;
        }
        picture->box[box].bar = true;
        picture->box[box].whole = pages->total;
        picture->box[box].part = pages->total > pages->free ? pages->total - pages->free : 0;
        note(picture, box, "%" PRIu64 " taken, %" PRIu64 " free", picture->box[box].part, pages->free);
    }
}

/* One line for all equal caches of a level whose CPUs lie in `cpus`. */
static void add_caches(struct picture *picture, const struct topology *topo, int parent, const struct idset *cpus)
{
    for (int level = 3; level >= 2; level--) {
        size_t n = 0;
        uint64_t bytes = 0;
        for (size_t i = 0; i < topo->caches; i++)
            if (topo->cache[i].level == level && idset_subset(&topo->cache[i].cpus, cpus) && topo->cache[i].bytes) {
                n++;
                bytes = topo->cache[i].bytes;
            }
        char text[UNITS_TEXT];
        if (n > 0)
            add(picture, DRAW_CACHE, parent, n > 1 ? "L%d %s x %zu" : "L%d %s", level, units_bytes(text, bytes), n);
    }
}

static void add_device(struct picture *picture, const struct draw_in *in, int parent, size_t index)
{
    static const enum draw_kind kinds[TOPO_KINDS] = {DRAW_GPU, DRAW_DRIVE, DRAW_NIC};
    static const char *const words[TOPO_KINDS] = {"GPU", "drive", "port"};
    const struct topo_device *dev = &in->topo->device[index];
    char link[TOPO_NAME], best[TOPO_NAME + 32] = "";
    topo_link_text(link, &dev->link);
    if (dev->link.gen && dev->link.max_gen &&
        (dev->link.gen < dev->link.max_gen || dev->link.width < dev->link.max_width))
        snprintf(best, sizeof best, ", can do Gen%d x%d", dev->link.max_gen, dev->link.max_width);
    int box;
    if (dev->kind == TOPO_GPU)
        box = add(picture, DRAW_GPU, parent, "GPU %zu  %s%s%s", index, dev->pci, dev->name[0] ? "  " : "", dev->name);
    else
        box = add(picture, kinds[dev->kind], parent, "%s %s  %s", words[dev->kind], dev->name, dev->pci);
    if (dev->kind == TOPO_GPU && in->plan && in->plan->gpu[index].want > 0)
        note(picture, box, "link %s%s; pages: %.80s", link, best, in->plan->gpu[index].why_pages);
    else
        note(picture, box, "link %s%s", link, best);
}

/* Ports come in dozens on some machines (p5en: 8 functions per switch): from three on one line counts them. */
static void add_devices(struct picture *picture, const struct draw_in *in, int parent, int uplink, int node)
{
    const struct topology *topo = in->topo;
    size_t ports = 0;
    for (size_t i = 0; i < topo->devices; i++) {
        if (topo->device[i].uplink != uplink || (uplink < 0 && node_of(in, i) != node))
            continue;
        if (topo->device[i].kind == TOPO_NIC)
            ports++;
        else
            add_device(picture, in, parent, i);
    }
    for (size_t i = 0; i < topo->devices && ports > 0 && ports < 3; i++)
        if (topo->device[i].kind == TOPO_NIC && topo->device[i].uplink == uplink &&
            (uplink >= 0 || node_of(in, i) == node))
            add_device(picture, in, parent, i);
    if (ports >= 3)
        add(picture, DRAW_NIC, parent, "%zu network ports", ports);
}

/* Everything that hangs on a node (or on none: -1). */
static void add_io(struct picture *picture, const struct draw_in *in, int parent, int node)
{
    const struct topology *topo = in->topo;
    for (size_t u = 0; u < topo->uplinks; u++) {
        if (node_of_uplink(in, (int)u) != node)
            continue;
        const struct topo_uplink *up = &topo->uplink[u];
        const struct topo_bridge *port = &topo->bridge[up->port];
        char link[TOPO_NAME];
        int box = add(picture, DRAW_UPLINK, parent, "uplink %zu  %s", u, topo_link_text(link, &port->link));
        if (up->count[TOPO_GPU] > 1)
            note(picture, box, "root port %s, shared by %u GPUs", port->pci, up->count[TOPO_GPU]);
        else
            note(picture, box, "root port %s", port->pci);
        add_devices(picture, in, box, (int)u, node);
    }
    add_devices(picture, in, parent, -1, node);
}

static void add_node(struct picture *picture, const struct draw_in *in, int parent, size_t index)
{
    static const char *const kinds[] = {"", ", no CPUs", ", no memory", ", a GPU's memory"};
    const struct topo_node *node = &in->topo->node[index];
    char bytes[UNITS_TEXT], cpus[IDSET_TEXT];
    int box = add(picture, DRAW_NODE, parent, "node %d  %s%s", node->os, units_bytes(bytes, node->memory_bytes),
                  kinds[node->kind]);
    if (!idset_empty(&node->cpus))
        note(picture, box, "CPUs %.150s", idset_text(cpus, &node->cpus));
    if (!idset_empty(&node->cpus))
        add_caches(picture, in->topo, box, &node->cpus);
    add_pages(picture, in, box, node);
    add_io(picture, in, box, (int)index);
}

static bool any_loose(const struct draw_in *in)
{
    for (size_t i = 0; i < in->topo->devices; i++)
        if (node_of(in, i) < 0)
            return true;
    return false;
}

static int add_machine(struct picture *picture, const struct draw_in *in)
{
    const struct topology *topo = in->topo;
    char offline[IDSET_TEXT];
    int root = add(picture, DRAW_MACHINE, -1, "%s", topo->name[0] ? topo->name : "machine");
    if (idset_empty(&topo->offline))
        note(picture, root, "%s", topo->origin);
    else
        note(picture, root, "%.80s, CPUs offline: %.80s", topo->origin, idset_text(offline, &topo->offline));
    for (size_t p = 0; p < topo->packages; p++) {
        int package = add(picture, DRAW_PACKAGE, root, "package %d", topo->package[p].os);
        note(picture, package, "%s", topo->package[p].model);
        for (size_t n = 0; n < topo->nodes; n++)
            if (topo->node[n].package == (int)p)
                add_node(picture, in, package, n);
    }
    for (size_t n = 0; n < topo->nodes; n++)
        if (topo->node[n].package < 0)
            add_node(picture, in, root, n);
    if (any_loose(in))
        add_io(picture, in, add(picture, DRAW_LOOSE, root, "node unknown"), -1);
    return picture->failed ? -ENOMEM : 0;
}

int draw_make(struct picture **picture_p, const struct topology *topo, const struct limits *limits,
              const struct plan *plan)
{
    const struct draw_in in = {topo, limits, plan};
    struct picture *picture = calloc(1, sizeof *picture);
    if (!picture || add_machine(picture, &in)) {
        draw_close(picture);
        return err_fail(-ENOMEM, "no memory to draw %s", topo->name);
    }
    *picture_p = picture;
    return 0;
}

void draw_close(struct picture *picture)
{
    if (!picture)
        return;
    free(picture->box);
    free(picture);
}
