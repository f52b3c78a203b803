#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/numa/tree.h"

static void write_file(const char *root, const char *path, const void *bytes, size_t n)
{
    char full[2 * TREE_PATH];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *f = fopen(full, "w");
    if (!f)
        fail_msg("cannot write %s", full);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put_text(const char *root, const char *content, const char *path)
{
    char out[8192];
    size_t n = 0;
    for (const char *c = content; *c && n + 2 < sizeof out; c++) {
        if (c[0] == '\\' && c[1] == 'n') {
            out[n++] = '\n';
            c++;
        } else {
            out[n++] = *c;
        }
    }
    out[n++] = '\n';
    write_file(root, path, out, n);
}

void tree_put(const char *root, const char *content, const char *fmt, ...)
{
    char path[TREE_PATH];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    put_text(root, content, path);
}

static void mask_of(char out[16], unsigned cpu)
{
    snprintf(out, 16, "%08x", 1u << cpu);
}

static void put_cpu(const char *root, char *line)
{
    unsigned id, package, core;
    char state[16], mask[16], text[16];
    assert_int_equal(sscanf(line, "@cpu %u %u %u %15s", &id, &package, &core, state), 4);
    int online = strcmp(state, "online") == 0;
    mask_of(mask, id);
    if (id > 0)
        tree_put(root, online ? "1" : "0", "sys/devices/system/cpu/cpu%u/online", id);
    if (!online)
        return;
    static const char *const masks[] = {"thread_siblings", "core_cpus"};
    for (int i = 0; i < 2; i++)
        tree_put(root, mask, "sys/devices/system/cpu/cpu%u/topology/%s", id, masks[i]);
    snprintf(text, sizeof text, "%u", package);
    tree_put(root, text, "sys/devices/system/cpu/cpu%u/topology/physical_package_id", id);
    snprintf(text, sizeof text, "%u", core);
    tree_put(root, text, "sys/devices/system/cpu/cpu%u/topology/core_id", id);
}

static void put_pages(const char *root, unsigned id, unsigned kb, unsigned free_pages, unsigned total)
{
    char text[16];
    snprintf(text, sizeof text, "%u", total);
    tree_put(root, text, "sys/devices/system/node/node%u/hugepages/hugepages-%ukB/nr_hugepages", id, kb);
    snprintf(text, sizeof text, "%u", free_pages);
    tree_put(root, text, "sys/devices/system/node/node%u/hugepages/hugepages-%ukB/free_hugepages", id, kb);
}

static void put_node(const char *root, char *line)
{
    unsigned id, mib, f1, t1, f2, t2;
    char cpus[64], distances[128], text[512];
    assert_int_equal(
        sscanf(line, "@node %u %63s %u %u/%u %u/%u %127[^\n]", &id, cpus, &mib, &f1, &t1, &f2, &t2, distances), 8);
    const char *list = strcmp(cpus, "-") == 0 ? "" : cpus;
    unsigned low = 0, high = 0, mask = 0;
    int n = sscanf(list, "%u-%u", &low, &high);
    for (unsigned c = low; n > 0 && c <= (n == 2 ? high : low); c++)
        mask |= 1u << c;
    tree_put(root, list, "sys/devices/system/node/node%u/cpulist", id);
    snprintf(text, sizeof text, "%08x", mask);
    tree_put(root, text, "sys/devices/system/node/node%u/cpumap", id);
    tree_put(root, distances, "sys/devices/system/node/node%u/distance", id);
    snprintf(text, sizeof text, "Node %u MemTotal:       %u kB\\nNode %u MemFree:        %u kB", id, mib * 1024, id,
             mib * 512);
    tree_put(root, text, "sys/devices/system/node/node%u/meminfo", id);
    put_pages(root, id, 1048576, f1, t1);
    put_pages(root, id, 2048, f2, t2);
}

static void put_pci(const char *root, char *line)
{
    char pci[32], speed[16], max_speed[16], text[64];
    unsigned class_id, vendor, device, secondary = 0, subordinate = 0, bus;
    int node, width, max_width;
    int n = sscanf(line, "@pci %31s %x %x %x %d %15s %d %15s %d %x %x", pci, &class_id, &vendor, &device, &node, speed,
                   &width, max_speed, &max_width, &secondary, &subordinate);
    assert_true(n == 9 || n == 11);
    assert_int_equal(sscanf(pci, "%*x:%x:", &bus), 1);
    const struct {
        const char *name, *format;
        long value;
    } numbers[] = {{"class", "0x%06lx", (long)class_id << 8}, {"vendor", "0x%04lx", (long)vendor},
                   {"device", "0x%04lx", (long)device},       {"numa_node", "%ld", node},
                   {"current_link_width", "%ld", width},      {"max_link_width", "%ld", max_width}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text, i < 1 ? "0x%06lx" : i < 3 ? "0x%04lx" : "%ld", numbers[i].value);
        tree_put(root, text, "sys/bus/pci/devices/%s/%s", pci, numbers[i].name);
    }
    snprintf(text, sizeof text, "%s GT/s PCIe", speed);
    tree_put(root, speed[0] == '?' ? "Unknown" : text, "sys/bus/pci/devices/%s/current_link_speed", pci);
    snprintf(text, sizeof text, "%s GT/s PCIe", max_speed);
    tree_put(root, max_speed[0] == '?' ? "Unknown" : text, "sys/bus/pci/devices/%s/max_link_speed", pci);
    unsigned char config[64] = {(unsigned char)vendor, (unsigned char)(vendor >> 8), (unsigned char)device,
                                (unsigned char)(device >> 8)};
    config[0x0a] = (unsigned char)class_id;
    config[0x0b] = (unsigned char)(class_id >> 8);
    if (n == 11) {
        config[0x0e] = 1;
        config[0x18] = (unsigned char)bus;
        config[0x19] = (unsigned char)secondary;
        config[0x1a] = (unsigned char)subordinate;
    }
    char path[TREE_PATH];
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/config", pci);
    write_file(root, path, config, sizeof config);
}

void tree_unpack(char root[TREE_PATH], const char *name)
{
    char path[TREE_PATH], line[4096];
    snprintf(root, TREE_PATH, "/tmp/penstock-tree-XXXXXX");
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/%s.tree", NUMA_TREES, name);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing", path);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *colon = strstr(line, ": ");
        if (line[0] == '#' || !line[0])
            continue;
        if (strncmp(line, "@cpu ", 5) == 0)
            put_cpu(root, line);
        else if (strncmp(line, "@node ", 6) == 0)
            put_node(root, line);
        else if (strncmp(line, "@pci ", 5) == 0)
            put_pci(root, line);
        else if (colon) {
            *colon = 0;
            put_text(root, colon + 2, line);
        } else
            fail_msg("%s: \"%s\" is no line of a tree", path, line);
    }
    fclose(f);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void tree_remove(const char *root)
{
    if (strncmp(root, "/tmp/penstock-tree-", 19) == 0)
        nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
