/* Claims: every recorded machine is read with its counts, links, uplinks and kinds of nodes; a sysfs tree gives the
 * evidence of each GPU (node, bridge, nothing) and the links now and at best; NVML is asked by dlopen and its absence
 * is no failure; files that are no topology are refused with a sentence; JSON is complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numa/gpu_nvml.h"
#include "numa/topology.h"
#include "perf/err.h"
#include "tests/numa/tree.h"

static struct topology *open_machine(const char *name)
{
    char path[512];
    struct topology *topo;
    snprintf(path, sizeof path, "%s/machines/%s.xml", NUMA_FOLDER, name);
    int rc = topo_open(&topo, &(struct topo_opts){.path = path});
    if (rc)
        fail_msg("%s: %s", path, pen_last_error());
    return topo;
}

static void test_machines(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t packages, nodes, cores, gpus, uplinks, bridges;
        unsigned cpus, gpus_per_uplink, drives_per_uplink, nics_per_uplink;
        double gb_per_s;
        int gen; /* 0: the speed fits several */
    } machines[] = {
        /* bridges: root and switch ports, without the host bridges (p5: 105 - 9, p5en: 61 - 5) */
        {"p4d", 2, 2, 48, 8, 4, 28, 96, 2, 2, 1, 31.5, 0},    {"p5", 2, 2, 96, 8, 8, 96, 192, 1, 1, 8, 63.0, 5},
        {"p5en", 2, 2, 96, 8, 4, 56, 192, 2, 2, 8, 63.0, 5},  {"p6-b200", 2, 2, 96, 8, 8, 40, 192, 1, 1, 1, 63.0, 5},
        {"dgx2", 2, 2, 48, 16, 4, 48, 96, 4, 0, 2, 15.75, 0}, {"snc4", 2, 8, 96, 4, 4, 4, 192, 1, 0, 0, 63.0, 5},
        {"nps4", 2, 8, 48, 8, 8, 8, 95, 1, 0, 0, 31.5, 0},    {"vm1", 1, 1, 16, 1, 0, 0, 16, 0, 0, 0, 0, 0},
        {"unknown", 2, 2, 32, 4, 4, 4, 64, 1, 0, 0, 31.5, 0}, {"gpumem", 2, 5, 16, 2, 2, 2, 16, 1, 0, 0, 63.0, 5},
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct topology *topo = open_machine(machines[i].name);
        print_message("%s\n", machines[i].name);
        assert_int_equal(topo->packages, machines[i].packages);
        assert_int_equal(topo->nodes, machines[i].nodes);
        assert_int_equal(topo->cores, machines[i].cores);
        assert_int_equal(idset_count(&topo->online), machines[i].cpus);
        assert_int_equal(topo->gpus, machines[i].gpus);
        assert_int_equal(topo->uplinks, machines[i].uplinks);
        assert_int_equal(topo->bridges, machines[i].bridges);
        for (size_t u = 0; u < topo->uplinks; u++) {
            assert_int_equal(topo->uplink[u].count[TOPO_GPU], machines[i].gpus_per_uplink);
            assert_int_equal(topo->uplink[u].count[TOPO_DRIVE], machines[i].drives_per_uplink);
            assert_int_equal(topo->uplink[u].count[TOPO_NIC], machines[i].nics_per_uplink);
        }
        for (size_t g = 0; g < topo->gpus; g++) {
            assert_int_equal(topo->device[g].kind, TOPO_GPU);
            assert_true(fabs(topo->device[g].link.gb_per_s - machines[i].gb_per_s) < 0.1);
            assert_int_equal(topo->device[g].link.gen, machines[i].gen);
            assert_int_equal(topo->device[g].numa_node, -1);
            assert_true(g == 0 || strcmp(topo->device[g - 1].pci, topo->device[g].pci) < 0);
        }
        topo_close(topo);
    }
}

static void test_nodes(void **state)
{
    (void)state;
    struct topology *topo = open_machine("gpumem");
    static const struct {
        int os, package;
        enum topo_node_kind kind;
        unsigned cpus, pages;
    } nodes[] = {{0, 0, TOPO_NODE_HOST, 8, 30},
                 {1, 1, TOPO_NODE_HOST, 8, 30},
                 {2, 0, TOPO_NODE_MEMORY_ONLY, 0, 50},
                 {4, 0, TOPO_NODE_GPU_MEMORY, 0, 0},
                 {12, 1, TOPO_NODE_GPU_MEMORY, 0, 0}};
    for (size_t i = 0; i < 5; i++) {
        const struct topo_node *node = &topo->node[i];
        assert_int_equal(node->os, nodes[i].os);
        assert_int_equal(node->package, nodes[i].package);
        assert_int_equal(node->kind, nodes[i].kind);
        assert_int_equal(idset_count(&node->cpus), nodes[i].cpus);
        assert_true(node->pages[TOPO_PAGE_1G].total_known);
        assert_false(node->pages[TOPO_PAGE_1G].free_known);
        assert_int_equal(node->pages[TOPO_PAGE_1G].total, nodes[i].pages);
    }
    assert_int_equal(topo_node_index(topo, 12), 4);
    assert_int_equal(topo_node_index(topo, 3), -1);
    assert_int_equal(topo_distance(topo, 0, 2), 40);
    assert_int_equal(topo_distance(topo, 0, 4), 80);
    topo_close(topo);

    topo = open_machine("nps4");
    char text[IDSET_TEXT];
    assert_string_equal(idset_text(text, &topo->offline), "95");
    assert_string_equal(idset_text(text, &topo->node[7].cpus), "42-47,90-94");
    assert_int_equal(topo_distance(topo, 0, 3), 12);
    assert_int_equal(topo_distance(topo, 0, 4), 32);
    assert_int_equal(idset_next(&topo->device[3].locality, 0), 3);
    assert_int_equal(topo->caches, 16);
    topo_close(topo);

    topo = open_machine("unknown");
    assert_true(idset_empty(&topo->device[0].locality));
    topo_close(topo);
}

static void test_tree(void **state)
{
    (void)state;
    char root[TREE_PATH];
    tree_unpack(root, "evidence");
    struct topology *topo;
    if (topo_open(&topo, &(struct topo_opts){.path = root}))
        fail_msg("%s", pen_last_error());
    assert_int_equal(topo->gpus, 3);
    const struct topo_device *sure = &topo->device[0], *behind = &topo->device[1], *lost = &topo->device[2];
    assert_string_equal(sure->pci, "0000:01:00.0");
    assert_int_equal(sure->numa_node, 0);
    assert_int_equal(sure->link.gen, 1);
    assert_int_equal(sure->link.max_gen, 5);
    assert_true(fabs(sure->link.gb_per_s - 4.0) < 0.01);
    assert_int_equal(behind->numa_node, -1);
    assert_int_equal(behind->bridges, 3);
    assert_int_equal(behind->bridge_node, 1);
    assert_string_equal(topo->bridge[behind->bridge_from].pci, "0000:80:01.0");
    assert_string_equal(topo->bridge[behind->bridge[0]].pci, "0000:82:00.0");
    assert_int_equal(topo->uplink[behind->uplink].count[TOPO_DRIVE], 1);
    assert_int_equal(lost->bridge_node, -1);
    assert_int_equal(lost->link.width, 8);
    assert_int_equal(lost->link.max_width, 16);
    assert_int_equal(topo->devices, 4);
    char text[IDSET_TEXT];
    assert_string_equal(idset_text(text, &topo->offline), "3");
    assert_int_equal(topo->node[0].pages[TOPO_PAGE_1G].free, 6);
    assert_int_equal(topo->node[0].pages[TOPO_PAGE_1G].total, 8);
    assert_int_equal(topo->node[0].pages[TOPO_PAGE_2M].free, 100);
    assert_int_equal(topo_distance(topo, 1, 0), 21);
    topo_close(topo);

    /* the management display counts once any vendor does */
    assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = root, .vendor = TOPO_VENDOR_ANY}), 0);
    assert_int_equal(topo->gpus, 4);
    assert_int_equal(topo->device[1].link.gen, 0);
    topo_close(topo);
    assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = root, .vendor = 0x1a03}), 0);
    assert_int_equal(topo->gpus, 1);
    assert_null(getenv("HWLOC_FSROOT"));

    /* NVML knows what the firmware does not */
    topo_close(topo);
    assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = root}), 0);
    gpu_nvml_localities(topo, FAKE_NVML);
    assert_int_equal(idset_next(&topo->device[1].nvml, 0), 1);
    assert_true(idset_empty(&topo->device[2].nvml));
    topo_close(topo);
    tree_remove(root);
}

static void test_nvml(void **state)
{
    (void)state;
    struct gpu_nvml *nvml;
    bool on = true;
    int cuda;
    char version[TOPO_NAME];
    assert_int_equal(gpu_nvml_open(&nvml, "/nonexistent/libnvidia-ml.so"), -ENOENT);
    assert_non_null(strstr(pen_last_error(), "nonexistent"));
    setenv("FAKE_NVML_FAIL", "1", 1);
    assert_int_equal(gpu_nvml_open(&nvml, FAKE_NVML), -EIO);
    assert_non_null(strstr(pen_last_error(), "Driver Not Loaded"));
    unsetenv("FAKE_NVML_FAIL");
    assert_int_equal(gpu_nvml_open(&nvml, FAKE_NVML), 0);
    assert_true(gpu_nvml_persistence(nvml, "0000:83:00.0", &on));
    assert_false(on);
    assert_false(gpu_nvml_persistence(nvml, "0000:01:00.0", &on));
    assert_true(gpu_nvml_driver(nvml, version));
    assert_string_equal(version, "580.65.06");
    assert_true(gpu_nvml_cuda(nvml, &cuda));
    assert_int_equal(cuda, 13000);
    gpu_nvml_close(nvml);
}

static void test_refused(void **state)
{
    (void)state;
    char root[TREE_PATH], path[2 * TREE_PATH];
    struct topology *topo = NULL;
    assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = "/nonexistent.xml"}), -ENOENT);
    tree_unpack(root, "bare");
    tree_put(root, "<topology version=\"2.0\"></topology>", "empty.xml");
    tree_put(root, "not a topology", "text.xml");
    tree_put(root, "", "nothing.xml");
    static const char *const files[] = {"empty.xml", "text.xml", "nothing.xml"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = path}), -EINVAL);
        assert_non_null(strstr(pen_last_error(), files[i]));
    }
    assert_null(topo);
    tree_remove(root);
}

static void test_links(void **state)
{
    (void)state;
    int gen = 0, width = 0;
    assert_true(topo_link_guess(63.015385, &gen, &width));
    assert_true(gen == 5 && width == 16);
    assert_true(topo_link_guess(topo_link_speed(6, 16), &gen, &width));
    assert_true(gen == 6 && width == 16);
    assert_false(topo_link_guess(31.507692, &gen, &width)); /* Gen4 x16 or Gen5 x8 */
    assert_false(topo_link_guess(20, &gen, &width));
    assert_true(fabs(topo_link_speed(5, 16) - 63.015385) < 1e-4);
    assert_true(topo_link_speed(0, 16) == 0 && topo_link_speed(9, 16) == 0);
    char text[TOPO_NAME];
    assert_string_equal(topo_link_text(text, &(struct topo_link){0}), "unknown");
    assert_string_equal(topo_link_text(text, &(struct topo_link){.gb_per_s = 31.5}), "31.5 GB/s");
}

static void test_json(void **state)
{
    (void)state;
    struct topology *topo = open_machine("p5en");
    json_t *json = topo_to_json(topo);
    assert_non_null(json);
    assert_int_equal(json_integer_value(json_object_get(json, "schema")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "gpus")), 8);
    assert_int_equal(json_array_size(json_object_get(json, "nics")), 32);
    assert_int_equal(json_array_size(json_object_get(json, "drives")), 9);
    json_t *gpu = json_array_get(json_object_get(json, "gpus"), 7);
    assert_int_equal(json_integer_value(json_object_get(gpu, "uplink")), 3);
    assert_true(json_is_null(json_object_get(gpu, "numa_node")));
    assert_string_equal(json_string_value(json_object_get(gpu, "locality_nodes")), "1");
    json_decref(json);
    topo_close(topo);
}

static void test_this_machine(void **state)
{
    (void)state;
    struct topology *topo;
    if (topo_open(&topo, &(struct topo_opts){.nvml = ""}))
        fail_msg("%s", pen_last_error());
    assert_true(topo->this_machine && topo->nodes > 0 && topo->cores > 0);
    assert_false(idset_empty(&topo->online));
    topo_close(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines), cmocka_unit_test(test_nodes),        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_nvml),     cmocka_unit_test(test_refused),      cmocka_unit_test(test_links),
        cmocka_unit_test(test_json),     cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
