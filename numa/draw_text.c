#include "numa/draw.h"

#include <errno.h>

#include "perf/err.h"

enum { DEPTH = 16, BAR = 20 };

struct strokes {
    const char *tee, *last, *bar, *gap, *full, *empty;
};
static const struct strokes utf8 = {"├─ ", "└─ ", "│  ", "   ", "█", "░"};
static const struct strokes plain = {"|- ", "`- ", "|  ", "   ", "#", "."};

static bool has_later_sibling(const struct picture *picture, size_t index)
{
    for (size_t i = index + 1; i < picture->boxes; i++)
        if (picture->box[i].parent == picture->box[index].parent)
            return true;
    return false;
}

/* The trunk from the root down to the box, then its own branch. */
static void write_indent(FILE *out, const struct picture *picture, size_t index, const struct strokes *strokes)
{
    size_t path[DEPTH], n = 0;
    for (int i = (int)index; i > 0 && n < DEPTH; i = picture->box[i].parent)
        path[n++] = (size_t)i;
    while (n > 0) {
        n--;
        bool later = has_later_sibling(picture, path[n]);
        fputs(n == 0 ? (later ? strokes->tee : strokes->last) : (later ? strokes->bar : strokes->gap), out);
    }
}

static void write_bar(FILE *out, const struct draw_box *box, const struct strokes *strokes)
{
    uint64_t full = box->whole ? (box->part * BAR + box->whole / 2) / box->whole : 0;
    /* a page that is taken, or free, shows */
    if (full == 0 && box->part > 0)
        full = 1;
    if (full == BAR && box->part < box->whole)
        full = BAR - 1;
    fputs("  ", out);
    for (uint64_t i = 0; i < BAR; i++)
        fputs(i < full ? strokes->full : strokes->empty, out);
}

int draw_write_text(const struct picture *picture, FILE *out, bool ascii)
{
    const struct strokes *strokes = ascii ? &plain : &utf8;
    for (size_t i = 0; i < picture->boxes; i++) {
        const struct draw_box *box = &picture->box[i];
        write_indent(out, picture, i, strokes);
        fputs(box->title, out);
        if (box->bar)
            write_bar(out, box, strokes);
        if (box->note[0])
            fprintf(out, "  %s", box->note);
        fputc('\n', out);
    }
    return ferror(out) ? err_fail(-EIO, "the drawing could not be written") : 0;
}
