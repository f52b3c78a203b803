/* Claims: the text of recorded machines is what was reviewed (golden/NAME.draw; PENSTOCK_REWRITE=1 writes them anew);
 * page bars show taken and free, a single page is never rounded away; SVG is well formed, escapes what firmware may
 * say, and every box lies inside its parent and beside its siblings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "numa/draw.h"
#include "perf/err.h"
#include "tests/numa/tree.h"

static struct picture *draw_machine(const char *name, const struct limits *limits)
{
    char path[512];
    struct topology *topo;
    struct plan *plan;
    struct picture *picture;
    snprintf(path, sizeof path, "%s/machines/%s.xml", NUMA_FOLDER, name);
    if (topo_open(&topo, &(struct topo_opts){.path = path}))
        fail_msg("%s", pen_last_error());
    snprintf(topo->origin, sizeof topo->origin, "%s.xml", name); /* not where the tree is checked out */
    assert_int_equal(plan_make(&plan, topo, limits, &(struct plan_settings){.bytes_per_gpu = 24ull << 30}), 0);
    assert_int_equal(draw_make(&picture, topo, limits, plan), 0);
    plan_close(plan);
    topo_close(topo);
    return picture;
}

static char *text_of(const struct picture *picture, bool ascii, bool svg)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    assert_int_equal(svg ? draw_write_svg(picture, out) : draw_write_text(picture, out, ascii), 0);
    fclose(out);
    char *copy = strdup(text); /* gcc 12 -O3 takes the stream's buffer for a pointer to the local */
    assert_non_null(copy);
    free(text);
    return copy;
}

static void compare_golden(const char *name, const char *text)
{
    static char expected[65536];
    char path[512];
    snprintf(path, sizeof path, "%s/golden/%s.draw", NUMA_FOLDER, name);
    if (getenv("PENSTOCK_REWRITE")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
    }
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing", path);
    expected[fread(expected, 1, sizeof expected - 1, f)] = 0;
    fclose(f);
    assert_string_equal(text, expected);
}

static void test_golden(void **state)
{
    (void)state;
    static const char *const machines[] = {"p5en", "dgx2", "snc4", "nps4", "vm1", "unknown", "gpumem"};
    static struct limits none;
    limits_none(&none);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct picture *picture = draw_machine(machines[i], &none);
        char *text = text_of(picture, false, false);
        compare_golden(machines[i], text);
        free(text);
        draw_close(picture);
    }
}

static void test_bars(void **state)
{
    (void)state;
    static struct limits l;
    limits_none(&l);
    l.nodes = 2;
    for (int i = 0; i < 2; i++)
        l.node[i] = (struct limits_node){
            .os = i, .pages = {{.total = 200, .free = i ? 199 : 1, .total_known = true, .free_known = true}}};
    struct picture *picture = draw_machine("p5en", &l);
    char *text = text_of(picture, true, false);
    assert_non_null(strstr(text, "1 GiB pages  ###################.  199 taken, 1 free"));
    assert_non_null(strstr(text, "1 GiB pages  #...................  1 taken, 199 free"));
    for (const char *c = text; *c; c++)
        assert_in_range(*c, '\n', '~');
    free(text);
    draw_close(picture);
}

/* Tags balance, attributes are quoted, no bare < or &. Enough of XML for what the writer makes. */
static void assert_well_formed(const char *svg)
{
    const char *stack[32];
    size_t depth = 0;
    for (const char *c = strchr(svg, '<'); c; c = strchr(c, '<')) {
        const char *end = strchr(c, '>');
        assert_non_null(end);
        assert_null(memchr(c + 1, '<', (size_t)(end - c - 1)));
        size_t name = strcspn(c + 1, " />");
        if (c[1] == '/') {
            assert_true(depth > 0);
            depth--;
            assert_memory_equal(c + 2, stack[depth] + 1, strcspn(c + 2, ">"));
        } else if (end[-1] != '/') {
            assert_true(depth < 32 && name > 0);
            stack[depth++] = c;
        }
        size_t quotes = 0;
        for (const char *q = c; q < end; q++)
            quotes += *q == '"';
        assert_int_equal(quotes % 2, 0);
        c = end;
    }
    assert_int_equal(depth, 0);
    for (const char *amp = strchr(svg, '&'); amp; amp = strchr(amp + 1, '&'))
        assert_true(!strncmp(amp, "&lt;", 4) || !strncmp(amp, "&gt;", 4) || !strncmp(amp, "&amp;", 5) ||
                    !strncmp(amp, "&quot;", 6));
}

struct rect {
    double x, y, w, h;
};

static bool inside(const struct rect *in, const struct rect *out)
{
    return in->x >= out->x && in->y >= out->y && in->x + in->w <= out->x + out->w + 0.2 &&
           in->y + in->h <= out->y + out->h + 0.2;
}

static bool apart(const struct rect *a, const struct rect *b)
{
    return a->x + a->w <= b->x + 0.2 || b->x + b->w <= a->x + 0.2 || a->y + a->h <= b->y + 0.2 ||
           b->y + b->h <= a->y + 0.2;
}

/* Rectangles of real boxes come in the order of the picture; any two are apart or one holds the other. */
static void assert_layout(const char *svg, const struct picture *picture)
{
    struct rect rects[512];
    size_t n = 0, expected = 0;
    for (const char *c = strstr(svg, "<rect class"); c; c = strstr(c + 1, "<rect class")) {
        if (strncmp(c, "<rect class=\"free", 17) == 0 || strncmp(c, "<rect class=\"taken", 18) == 0)
            continue;
        assert_true(n < 512);
        struct rect *r = &rects[n++];
        assert_int_equal(
            sscanf(strstr(c, " x="), " x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &r->x, &r->y, &r->w, &r->h),
            4);
    }
    for (size_t i = 0; i < picture->boxes; i++)
        expected += picture->box[i].kind != DRAW_CACHE && picture->box[i].kind != DRAW_PAGES;
    assert_int_equal(n, expected);
    for (size_t i = 1; i < n; i++) {
        assert_true(inside(&rects[i], &rects[0]));
        for (size_t j = 1; j < i; j++)
            assert_true(inside(&rects[i], &rects[j]) || apart(&rects[i], &rects[j]));
    }
}

static void test_svg(void **state)
{
    (void)state;
    static const char *const machines[] = {"p4d",  "p5",   "p5en", "p6-b200", "dgx2",
                                           "snc4", "nps4", "vm1",  "unknown", "gpumem"};
    static struct limits none;
    limits_none(&none);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct picture *picture = draw_machine(machines[i], &none);
        snprintf(picture->box[0].title, DRAW_TEXT, "R&D <\"box\">");
        char *svg = text_of(picture, false, true);
        assert_well_formed(svg);
        assert_layout(svg, picture);
        assert_non_null(strstr(svg, "R&amp;D &lt;&quot;box&quot;&gt;"));
        free(svg);
        draw_close(picture);
    }
}

/* A sysfs tree without a plan: the idle link says what it could do. */
static void test_tree(void **state)
{
    (void)state;
    char root[TREE_PATH];
    struct topology *topo;
    struct picture *picture;
    static struct limits limits;
    tree_unpack(root, "evidence");
    assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = root}), 0);
    assert_int_equal(limits_read(&limits, root), 0);
    assert_int_equal(draw_make(&picture, topo, &limits, NULL), 0);
    char *text = text_of(picture, false, false);
    assert_non_null(strstr(text, "link 4.0 GB/s (Gen1 x16), can do Gen5 x16"));
    assert_non_null(strstr(text, "node unknown"));
    assert_non_null(strstr(text, "CPUs offline: 3"));
    assert_non_null(strstr(text, "2 taken, 6 free"));
    free(text);
    draw_close(picture);
    topo_close(topo);
    tree_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_bars),
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
