/* Claims: ten recorded machines get the plans that were written by hand from their descriptions; each link of the home
 * chain wins over the later ones and never ends on node 0 by default; limits are honoured (cpuset, cgroup, promised
 * pages, pages kept); every decision has a reason; pages balance on random machines' limits; the same input gives the
 * same plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "numa/plan.h"
#include "perf/err.h"
#include "perf/units.h"
#include "tests/numa/tree.h"
#include "tests/slower.h"

static struct topology *open_machine(const char *name)
{
    char path[512];
    struct topology *topo;
    snprintf(path, sizeof path, "%s/machines/%s.xml", NUMA_FOLDER, name);
    if (topo_open(&topo, &(struct topo_opts){.path = path}))
        fail_msg("%s", pen_last_error());
    return topo;
}

static void print_ids(FILE *out, const char *label, const struct idset *set)
{
    char text[IDSET_TEXT];
    fprintf(out, " %s %s", label, idset_empty(set) ? "-" : idset_text(text, set));
}

/* The compact form of golden/README. */
static void print_plan(FILE *out, const struct plan *plan, const struct topology *topo)
{
    fprintf(out, "page %s\n", topo_page_name(plan->page));
    for (size_t g = 0; g < plan->gpus; g++) {
        const struct plan_gpu *gpu = &plan->gpu[g];
        char home[16] = "-", uplink[16] = "-";
        if (gpu->home >= 0)
            snprintf(home, sizeof home, "%d", topo->node[gpu->home].os);
        if (gpu->uplink >= 0)
            snprintf(uplink, sizeof uplink, "%d", gpu->uplink);
        fprintf(out, "gpu %s home %s by %s uplink %s order ", topo->device[gpu->gpu].pci, home,
                plan_from_name(gpu->from), uplink);
        for (size_t i = 0; i < gpu->orders; i++)
            fprintf(out, "%s%d", i ? "," : "", topo->node[gpu->order[i]].os);
        print_ids(out, "io", &gpu->io);
        print_ids(out, "synth", &gpu->synth);
        fprintf(out, " pages ");
        bool any = false;
        for (size_t i = 0; i < plan->nodes; i++)
            if (gpu->take[i]) {
                fprintf(out, "%s%d:%" PRIu64, any ? "," : "", topo->node[i].os, gpu->take[i]);
                any = true;
            }
        fprintf(out, "%s short %" PRIu64 "\n", any ? "" : "-", gpu->want - gpu->got);
    }
    for (size_t i = 0; i < plan->nodes; i++)
        if (plan->node[i].usable)
            fprintf(out, "node %d available %" PRIu64 " given %" PRIu64 "\n", topo->node[i].os, plan->node[i].available,
                    plan->node[i].given);
        else
            fprintf(out, "node %d unused\n", topo->node[i].os);
    fprintf(out, "spare");
    print_ids(out, "", &plan->spare);
    fprintf(out, "\n");
}

/* The text without doubled blanks, so "spare  -" equals "spare -". */
static char *plan_text(const struct plan *plan, const struct topology *topo)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    print_plan(out, plan, topo);
    fclose(out);
    char *to = text;
    for (char *from = text; *from; from++)
        if (!(from[0] == ' ' && from[1] == ' '))
            *to++ = *from;
    *to = 0;
    return text;
}

static void assert_reasons(const struct plan *plan)
{
    assert_true(plan->why_page[0]);
    for (size_t g = 0; g < plan->gpus; g++) {
        const struct plan_gpu *gpu = &plan->gpu[g];
        assert_true(gpu->why_home[0] && gpu->why_order[0] && gpu->why_uplink[0] && gpu->why_cpus[0]);
        assert_true(gpu->why_pages[0] || gpu->want == 0);
        assert_true(gpu->got <= gpu->want);
    }
    for (size_t i = 0; i < plan->nodes; i++)
        assert_true(plan->node[i].why[0]);
    assert_true(idset_empty(&plan->spare) || plan->why_spare[0]);
}

/* Books: what GPUs take is what nodes give, nobody gives more than it has, the cap holds. */
static void assert_books(const struct plan *plan)
{
    uint64_t total = 0;
    for (size_t i = 0; i < plan->nodes; i++) {
        uint64_t taken = 0;
        for (size_t g = 0; g < plan->gpus; g++)
            taken += plan->gpu[g].take[i];
        assert_int_equal(taken, plan->node[i].given);
        assert_true(plan->node[i].given <= plan->node[i].available);
        assert_true(plan->node[i].usable || plan->node[i].given == 0);
        total += taken;
    }
    assert_true(!plan->capped || total <= plan->cap_pages);
}

static struct plan *make(const struct topology *topo, const struct limits *limits, const struct plan_settings *settings)
{
    struct plan *plan;
    if (plan_make(&plan, topo, limits, settings))
        fail_msg("%s", pen_last_error());
    assert_reasons(plan);
    assert_books(plan);
    return plan;
}

static void read_golden(const char *name, char *text, size_t cap, uint64_t *bytes_per_gpu)
{
    char path[512], setting[128], size[64];
    snprintf(path, sizeof path, "%s/golden/%s.plan", NUMA_FOLDER, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(setting, sizeof setting, f));
    assert_int_equal(sscanf(setting, "bytes_per_gpu %63s", size), 1);
    assert_int_equal(units_parse_bytes(size, bytes_per_gpu), 0);
    text[fread(text, 1, cap - 1, f)] = 0;
    fclose(f);
}

static void test_golden(void **state)
{
    (void)state;
    static const char *const machines[] = {"p4d",  "p5",   "p5en", "p6-b200", "dgx2",
                                           "snc4", "nps4", "vm1",  "unknown", "gpumem"};
    static struct limits none;
    limits_none(&none);
    int wrong = 0;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char expected[8192];
        struct plan_settings settings = {0};
        read_golden(machines[i], expected, sizeof expected, &settings.bytes_per_gpu);
        struct topology *topo = open_machine(machines[i]);
        struct plan *plan = make(topo, &none, &settings);
        char *text = plan_text(plan, topo);
        if (strcmp(text, expected) != 0) {
            print_error("%s\nexpected:\n%s\ngot:\n%s\n", machines[i], expected, text);
            wrong++;
        }
        json_t *json = plan_to_json(plan, topo);
        assert_non_null(json);
        assert_int_equal(json_array_size(json_object_get(json, "gpus")), topo->gpus);
        json_decref(json);
        free(text);
        plan_close(plan);
        topo_close(topo);
    }
    assert_int_equal(wrong, 0);
}

static int home_os(const struct plan *plan, const struct topology *topo, size_t gpu)
{
    return plan->gpu[gpu].home < 0 ? -1 : topo->node[plan->gpu[gpu].home].os;
}

static void assert_home(struct topology *topo, const struct plan_settings *settings, int os, enum plan_from from)
{
    static struct limits none;
    limits_none(&none);
    struct plan *plan = make(topo, &none, settings);
    assert_int_equal(home_os(plan, topo, 0), os);
    assert_int_equal(plan->gpu[0].from, from);
    plan_close(plan);
}

/* From "unknown" upwards, one piece of evidence after the other is added and takes over. */
static void test_home_chain(void **state)
{
    (void)state;
    struct topology *topo = open_machine("unknown");
    struct topo_device *dev = &topo->device[0];
    struct plan_settings s = {0};
    assert_home(topo, &s, -1, PLAN_FROM_NOTHING);
    struct plan_measured alike[] = {{dev->pci, 0, 24.5}, {dev->pci, 1, 25.0}};
    s.measured = alike;
    s.measurements = 2;
    assert_home(topo, &s, -1, PLAN_FROM_NOTHING);
    struct plan_measured apart[] = {{dev->pci, 0, 13.5}, {dev->pci, 1, 25.0}};
    s.measured = apart;
    assert_home(topo, &s, 1, PLAN_FROM_MEASURED);
    idset_add(&dev->locality, 0);
    idset_add(&dev->locality, 1);
    assert_home(topo, &s, 1, PLAN_FROM_MEASURED); /* every node: says nothing */
    idset_remove(&dev->locality, 1);
    assert_home(topo, &s, 0, PLAN_FROM_LOCALITY);
    dev->bridge_node = 1;
    dev->bridge_from = 0;
    assert_home(topo, &s, 1, PLAN_FROM_BRIDGE);
    idset_add(&dev->nvml, 0);
    assert_home(topo, &s, 0, PLAN_FROM_NVML);
    dev->numa_node = 1;
    assert_home(topo, &s, 1, PLAN_FROM_SYSFS);
    dev->numa_node = 9; /* no such node */
    assert_home(topo, &s, 0, PLAN_FROM_NVML);
    dev->numa_node = 1;
    struct plan_home word = {"21:00.0", 0};
    s.home = &word;
    s.homes = 1;
    assert_home(topo, &s, 0, PLAN_FROM_SETTING);

    struct plan *plan = NULL;
    static struct limits none;
    limits_none(&none);
    word.node = 7;
    assert_int_equal(plan_make(&plan, topo, &none, &s), -EINVAL);
    word = (struct plan_home){"99:00.0", 0};
    assert_int_equal(plan_make(&plan, topo, &none, &s), -EINVAL);
    assert_non_null(strstr(pen_last_error(), "99:00.0"));
    assert_null(plan);
    topo_close(topo);

    /* sysfs names the GPU's own memory: the nearest host node */
    topo = open_machine("gpumem");
    topo->device[1].numa_node = 12;
    topo->device[0].numa_node = 4;
    plan = make(topo, &none, &(struct plan_settings){0});
    assert_int_equal(home_os(plan, topo, 0), 0);
    assert_int_equal(home_os(plan, topo, 1), 1);
    plan_close(plan);

    /* the CXL node is used only when asked, and last */
    plan = make(topo, &none, &(struct plan_settings){.use_memory_only = true, .bytes_per_gpu = 50ull << 30});
    assert_int_equal(plan->gpu[0].orders, 3);
    assert_int_equal(topo->node[plan->gpu[0].order[2]].os, 2);
    assert_int_equal(plan->gpu[0].got, 50);
    plan_close(plan);
    topo_close(topo);
}

/* A sysfs tree end to end: numa_node 0, a bridge on node 1, and nothing at all. */
static void test_tree(void **state)
{
    (void)state;
    char root[TREE_PATH];
    static struct limits limits;
    struct topology *topo;
    tree_unpack(root, "evidence");
    assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = root}), 0);
    assert_int_equal(limits_read(&limits, root), 0);
    struct plan *plan = make(topo, &limits, &(struct plan_settings){0});
    assert_int_equal(home_os(plan, topo, 0), 0);
    assert_int_equal(plan->gpu[0].from, PLAN_FROM_SYSFS);
    assert_int_equal(home_os(plan, topo, 1), 1);
    assert_int_equal(plan->gpu[1].from, PLAN_FROM_BRIDGE);
    assert_non_null(strstr(plan->gpu[1].why_home, "0000:80:01.0"));
    assert_int_equal(home_os(plan, topo, 2), -1);
    /* 6 free pages on node 0, none on node 1: an even share of 2, borrowed where home has none */
    assert_int_equal(plan->gpu[1].take[0], 2);
    assert_int_equal(plan->gpu[2].take[0], 2);
    plan_close(plan);
    topo_close(topo);
    tree_remove(root);
}

static void test_limits(void **state)
{
    (void)state;
    struct topology *topo = open_machine("p5en");
    static struct limits l;
    limits_none(&l);
    l.mems_known = l.cpus_known = true;
    idset_parse(&l.mems, "1");
    idset_parse(&l.cpus, "48-63");
    struct plan *plan = make(topo, &l, &(struct plan_settings){.bytes_per_gpu = 24ull << 30});
    char text[IDSET_TEXT];
    assert_int_equal(home_os(plan, topo, 0), 0); /* the hardware's place does not move */
    assert_int_equal(plan->gpu[0].orders, 1);
    assert_int_equal(topo->node[plan->gpu[0].order[0]].os, 1);
    assert_non_null(strstr(plan->node[0].why, "cpuset"));
    assert_int_equal(plan->gpu[0].take[1], 24);
    /* 8 GPUs on the 16 allowed CPUs of node 1: two cores each */
    assert_string_equal(idset_text(text, &plan->gpu[0].io), "48");
    assert_string_equal(idset_text(text, &plan->gpu[7].synth), "63");
    plan_close(plan);

    idset_parse(&l.cpus, "0-1"); /* fewer cores than GPUs */
    plan = make(topo, &l, &(struct plan_settings){0});
    assert_string_equal(idset_text(text, &plan->gpu[7].synth), "0-1");
    assert_string_equal(idset_text(text, &plan->gpu[7].io), "0-1");
    plan_close(plan);

    limits_none(&l);
    l.touch[TOPO_PAGE_1G] =
        (struct limit){.known = true, .value = 20ull << 30, .file = "/sys/fs/cgroup/pod/hugetlb.1GB.max"};
    plan = make(topo, &l, &(struct plan_settings){.bytes_per_gpu = 24ull << 30});
    assert_true(plan->capped);
    uint64_t got = 0;
    for (size_t g = 0; g < plan->gpus; g++) {
        got += plan->gpu[g].got;
        assert_in_range(plan->gpu[g].got, 2, 3); /* 20 over 8, in turn */
    }
    assert_int_equal(got, 20);
    assert_non_null(strstr(plan->gpu[0].why_pages, "hugetlb.1GB.max"));
    plan_close(plan);

    /* the cgroup shuts 1 GiB pages: 2 MiB where there are any */
    l.touch[TOPO_PAGE_1G].value = 0;
    l.nodes = 1;
    l.node[0] =
        (struct limits_node){.os = 1, .pages = {{.free = 9, .free_known = true}, {.free = 4096, .free_known = true}}};
    plan = make(topo, &l, &(struct plan_settings){0});
    assert_int_equal(plan->page, TOPO_PAGE_2M);
    assert_int_equal(plan->gpu[0].got, 512);
    plan_close(plan);

    limits_none(&l);
    l.reserved_known[TOPO_PAGE_1G] = true;
    l.reserved[TOPO_PAGE_1G] = 392;
    plan = make(topo, &l, &(struct plan_settings){.keep_pages = 150});
    assert_int_equal(plan->cap_pages, 8);
    assert_int_equal(plan->node[0].available, 50);
    assert_int_equal(plan->gpu[3].got, 1);
    plan_close(plan);
    topo_close(topo);
}

/* Measured bandwidth from every node orders the nodes; from half of them it orders nothing. */
static void test_measured_order(void **state)
{
    (void)state;
    struct topology *topo = open_machine("snc4");
    static struct limits none;
    limits_none(&none);
    struct plan_measured table[8];
    static const double gb[] = {55, 40, 54.9, 54.8, 30, 31, 20, 54.7};
    for (int i = 0; i < 8; i++)
        table[i] = (struct plan_measured){topo->device[0].pci, i, gb[i]};
    struct plan *plan = make(topo, &none, &(struct plan_settings){.measured = table, .measurements = 8});
    static const int by_speed[] = {0, 3, 2, 7, 1, 5, 4, 6};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(topo->node[plan->gpu[0].order[i]].os, by_speed[i]);
    plan_close(plan);
    plan = make(topo, &none, &(struct plan_settings){.measured = table, .measurements = 7});
    static const int by_distance[] = {0, 1, 3, 2, 4, 6, 5, 7};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(topo->node[plan->gpu[0].order[i]].os, by_distance[i]);
    plan_close(plan);
    topo_close(topo);
}

/* All GPUs on one socket: the other socket's CPUs are spare and said to be; no GPUs at all: everything is. */
static void test_spare(void **state)
{
    (void)state;
    struct topology *topo = open_machine("p4d");
    static struct limits none;
    limits_none(&none);
    topo->gpus = 4;
    struct plan *plan = make(topo, &none, &(struct plan_settings){0});
    char text[IDSET_TEXT];
    assert_string_equal(idset_text(text, &plan->spare), "24-47,72-95");
    plan_close(plan);
    topo->gpus = 0;
    plan = make(topo, &none, &(struct plan_settings){0});
    assert_int_equal(idset_count(&plan->spare), 96);
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);
    assert_int_equal(plan_write_text(plan, topo, f), 0);
    fclose(f);
    assert_non_null(strstr(out, "no GPU"));
    free(out);
    plan_close(plan);
    topo_close(topo);
}

/* Random free pages, allowed nodes, caps and wishes: the books hold, nobody is short while a usable node has pages and
 * the cap has room, and nobody borrows while home has pages. Twice the same input: the same plan. */
static void test_random(void **state)
{
    (void)state;
    const char *env = getenv("PENSTOCK_SEED");
    unsigned seed = env ? (unsigned)strtoul(env, NULL, 0) : 0x5eed2b;
    print_message("seed %#x (rerun: PENSTOCK_SEED=%#x)\n", seed, seed);
    srand(seed);
    static const char *const machines[] = {"snc4", "nps4", "unknown", "gpumem", "dgx2"};
    for (int round = 0; round < (int)rounds(300); round++) {
        struct topology *topo = open_machine(machines[round % 5]);
        static struct limits l;
        limits_none(&l);
        for (size_t i = 0; i < topo->nodes; i++)
            topo->node[i].pages[TOPO_PAGE_1G].total = (uint64_t)(rand() % 40);
        l.mems_known = rand() % 2;
        l.cpus_known = rand() % 2;
        l.mems.word[0] = (uint64_t)rand() | 1;
        for (size_t w = 0; w < 4; w++)
            l.cpus.word[w] = (uint64_t)rand() << 32 | (uint64_t)rand() | 1;
        if (rand() % 3 == 0)
            l.touch[TOPO_PAGE_1G] =
                (struct limit){.known = true, .value = ((uint64_t)(rand() % 100) + 1) << 30, .file = "f"};
        struct plan_settings s = {.bytes_per_gpu = (uint64_t)(rand() % 40) << 30, .page = PLAN_PAGE_1G};
        struct plan *plan = make(topo, &l, &s), *again = make(topo, &l, &s);
        uint64_t left = 0, given = 0;
        for (size_t i = 0; i < plan->nodes; i++) {
            left += plan->node[i].available - plan->node[i].given;
            given += plan->node[i].given;
        }
        bool room = left > 0 && (!plan->capped || given < plan->cap_pages);
        for (size_t g = 0; g < plan->gpus; g++) {
            const struct plan_gpu *gpu = &plan->gpu[g];
            assert_true(gpu->got == gpu->want || !room);
            uint64_t borrowed = gpu->got - (gpu->home >= 0 ? gpu->take[gpu->home] : gpu->got);
            if (borrowed && plan->node[gpu->home].usable)
                assert_int_equal(plan->node[gpu->home].given, plan->node[gpu->home].available);
            assert_false(idset_empty(&gpu->io) || idset_empty(&gpu->synth));
            assert_true(idset_subset(&gpu->synth, &topo->online));
            assert_true(!l.cpus_known || idset_subset(&gpu->io, &l.cpus));
            assert_true(!l.cpus_known || idset_subset(&gpu->synth, &l.cpus));
        }
        char *a = plan_text(plan, topo), *b = plan_text(again, topo);
        assert_string_equal(a, b);
        free(a);
        free(b);
        plan_close(plan);
        plan_close(again);
        topo_close(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden), cmocka_unit_test(test_home_chain),     cmocka_unit_test(test_tree),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_measured_order), cmocka_unit_test(test_spare),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
