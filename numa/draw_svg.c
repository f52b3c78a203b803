/* SVG: boxes in boxes. Sizes are found from the leaves up, places from the root down.
 *
 *     +-- machine --------------------------------+
 *     | +-- package ------+ +-- package ------+   |   packages side by side, nodes two to a row,
 *     | | node            | | node            |   |   uplinks two to a row, devices below each other
 *     | |  caches, pages  | |                 |   |
 *     | |  [uplink][uplink] |                 |   |
 *     +-------------------------------------------+ */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "numa/draw.h"
#include "perf/err.h"

/* Text is measured by count of letters: 7.3 px a letter holds for 12 px monospace fonts within 2 %. */
static const double letter = 7.3, line = 17, pad = 10, gap = 8, bar_height = 8;

struct place {
    double x, y, w, h;
};

static const char *class_of(enum draw_kind kind)
{
    static const char *const names[] = {"machine", "package", "node",  "cache", "pages",
                                        "uplink",  "gpu",     "drive", "nic",   "loose"};
    return names[kind];
}

static size_t columns_of(enum draw_kind kind)
{
    switch (kind) {
    case DRAW_MACHINE:
    case DRAW_PACKAGE:
    case DRAW_NODE:
    case DRAW_LOOSE:
        return 2;
    default:
        return 1;
    }
}

/* Lines of text and bars take a row of their own. */
static bool alone(enum draw_kind kind)
{
    return kind == DRAW_CACHE || kind == DRAW_PAGES || kind == DRAW_DRIVE || kind == DRAW_NIC;
}

static double max_of(double a, double b)
{
    return a > b ? a : b;
}

static double own_height(const struct draw_box *box)
{
    double lines = box->note[0] ? 2 : 1;
    if (box->kind == DRAW_CACHE || box->kind == DRAW_PAGES)
        return line + (box->bar ? bar_height : 0); /* title and note share a line */
    return lines * line;
}

static double own_width(const struct draw_box *box)
{
    double title = letter * (double)strlen(box->title), said = letter * (double)strlen(box->note);
    return box->kind == DRAW_CACHE || box->kind == DRAW_PAGES ? title + said + 2 * letter : max_of(title, said);
}

/* Walk the children of `parent` in rows, and place them (relative to the parent) when `place` asks. Returns the size of
 * the rows. */
static struct place rows(const struct picture *picture, struct place *size, size_t parent)
{
    double x = 0, y = 0, width = 0, height = 0;
    size_t in_row = 0;
    bool row_alone = false;
    for (size_t i = parent + 1; i < picture->boxes; i++) {
        if (picture->box[i].parent != (int)parent)
            continue;
        bool mine = alone(picture->box[i].kind);
        if (in_row > 0 && (mine || row_alone || in_row == columns_of(picture->box[parent].kind))) {
            y += height + gap;
            x = height = 0;
            in_row = 0;
        }
        size[i].x = x;
        size[i].y = y;
        x += size[i].w + gap;
        height = max_of(height, size[i].h);
        width = max_of(width, x - gap);
        in_row++;
        row_alone = mine;
    }
    return (struct place){.w = width, .h = y + height};
}

static void measure(const struct picture *picture, struct place *size)
{
    for (size_t i = picture->boxes; i-- > 0;) {
        const struct draw_box *box = &picture->box[i];
        struct place inner = rows(picture, size, i);
        size[i].w = max_of(own_width(box), inner.w) + 2 * pad;
        size[i].h = own_height(box) + (inner.h > 0 ? inner.h + gap : 0) + 2 * pad;
        if (box->kind == DRAW_CACHE || box->kind == DRAW_PAGES) {
            size[i].w -= 2 * pad;
            size[i].h -= 2 * pad;
        }
    }
}

/* From relative to absolute; parents come first. Rows of one element stretch to their parent's width. */
static void settle(const struct picture *picture, struct place *size)
{
    for (size_t i = 1; i < picture->boxes; i++) {
        const struct place *up = &size[picture->box[i].parent];
        size[i].x += up->x + pad;
        size[i].y += up->y + pad + own_height(&picture->box[picture->box[i].parent]) + gap;
        if (alone(picture->box[i].kind) || picture->box[i].kind == DRAW_GPU)
            size[i].w = up->w - 2 * pad;
    }
}

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc(*text, out);
    }
}

static void write_words(FILE *out, const char *class_name, double x, double y, const char *text)
{
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class_name, x, y);
    write_escaped(out, text);
    fputs("</text>\n", out);
}

static void write_line_box(FILE *out, const struct draw_box *box, const struct place *at)
{
    write_words(out, "t", at->x, at->y + 12, box->title);
    if (box->note[0])
        write_words(out, "n", at->x + letter * (double)(strlen(box->title) + 2), at->y + 12, box->note);
    if (!box->bar || box->whole == 0)
        return;
    double full = at->w * (double)box->part / (double)box->whole;
    fprintf(out, "<rect class=\"free\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", at->x, at->y + line,
            at->w, bar_height - 2);
    fprintf(out, "<rect class=\"taken\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", at->x, at->y + line,
            full, bar_height - 2);
}

static void write_box(FILE *out, const struct draw_box *box, const struct place *at)
{
    if (box->kind == DRAW_CACHE || box->kind == DRAW_PAGES) {
        write_line_box(out, box, at);
        return;
    }
    fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\"/>\n",
            class_of(box->kind), at->x, at->y, at->w, at->h);
    write_words(out, "t", at->x + pad, at->y + pad + 11, box->title);
    if (box->note[0])
        write_words(out, "n", at->x + pad, at->y + pad + 11 + line, box->note);
}

static const char style[] =
    "<style>\n"
    "text{font:12px 'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace;fill:#1b2733}\n"
    ".t{font-weight:600}.n{fill:#52606d}\n"
    "rect{stroke:#9aa5b1;stroke-width:1}\n"
    ".machine{fill:#fff}.package{fill:#f5f7fa}.node,.loose{fill:#fff}.loose{stroke-dasharray:4 3}\n"
    ".uplink{fill:#e8f1fb;stroke:#7ea8d1}.gpu{fill:#dff3e4;stroke:#5aa469}.drive{fill:#fdf1d8;stroke:#d2a54a}\n"
    ".nic{fill:#efe7f7;stroke:#a48bc0}.free{fill:#d9e2ec;stroke:none}.taken{fill:#3d7ebf;stroke:none}\n"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9fb0c0}rect{stroke:#52606d}.machine{fill:#0d1117}"
    ".package{fill:#161b22}.node,.loose{fill:#0d1117}.uplink{fill:#132337;stroke:#3d6a99}.gpu{fill:#12301c;stroke:#"
    "3b7d4b}"
    ".drive{fill:#33280f;stroke:#8a6d2f}.nic{fill:#2a2036;stroke:#6e5a86}.free{fill:#2d3743}.taken{fill:#5b9bd8}}\n"
    "</style>\n";

int draw_write_svg(const struct picture *picture, FILE *out)
{
    struct place *size = calloc(picture->boxes + 1, sizeof *size);
    if (!size)
        return err_fail(-ENOMEM, "no memory to draw %zu boxes", picture->boxes);
    measure(picture, size);
    size[0].x = size[0].y = 4;
    settle(picture, size);
    double w = size[0].w + 8, h = size[0].h + 8;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "role=\"img\" "
            "aria-label=\"",
            w, h, w, h);
    write_escaped(out, picture->boxes ? picture->box[0].title : "");
    fprintf(out, "\">\n%s", style);
    for (size_t i = 0; i < picture->boxes; i++)
        write_box(out, &picture->box[i], &size[i]);
    fputs("</svg>\n", out);
    free(size);
    return ferror(out) ? err_fail(-EIO, "the drawing could not be written") : 0;
}
