/* One picture of the machine: a tree of boxes that a writer turns into text or SVG.
 *
 *     machine > package > node > caches, page bars, uplinks > GPUs, drives, ports
 *
 * Devices whose node nobody knows hang below the machine, not below node 0. */
#ifndef NUMA_DRAW_H
#define NUMA_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "numa/limits.h"
#include "numa/plan.h"
#include "numa/topology.h"

enum { DRAW_TEXT = 192 };

enum draw_kind {
    DRAW_MACHINE,
    DRAW_PACKAGE,
    DRAW_NODE,
    DRAW_CACHE,
    DRAW_PAGES, /* a bar: part of whole is taken */
    DRAW_UPLINK,
    DRAW_GPU,
    DRAW_DRIVE,
    DRAW_NIC,
    DRAW_LOOSE /* "node unknown" */
};

struct draw_box {
    enum draw_kind kind;
    int parent; /* index, -1: the root */
    char title[DRAW_TEXT], note[DRAW_TEXT];
    bool bar;
    uint64_t part, whole;
};

/* Boxes in the order in which they are written: parents before children, siblings in order. */
struct picture {
    struct draw_box *box;
    size_t boxes, room;
    bool failed; /* memory ran out while drawing */
};

/* Draw a machine; with a plan (may be NULL) the GPUs show what they get. Close with draw_close. -ENOMEM. */
int draw_make(struct picture **picture_p, const struct topology *topo, const struct limits *limits,
              const struct plan *plan);
void draw_close(struct picture *picture);

/* As a text tree; `ascii` for terminals without UTF-8. -EIO. */
int draw_write_text(const struct picture *picture, FILE *out, bool ascii);

/* As a self-contained SVG that follows the reader's light or dark theme. -EIO, -ENOMEM. */
int draw_write_svg(const struct picture *picture, FILE *out);

#endif
