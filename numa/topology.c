#include "numa/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "numa/gpu_nvml.h"
#include "numa/topo_load.h"
#include "perf/err.h"

uint64_t topo_page_bytes(enum topo_page page)
{
    return page == TOPO_PAGE_1G ? 1ull << 30 : 1ull << 21;
}

const char *topo_page_name(enum topo_page page)
{
    return page == TOPO_PAGE_1G ? "1 GiB" : "2 MiB";
}

struct idset topo_ids(hwloc_const_bitmap_t bitmap)
{
    struct idset set = {{0}};
    if (!bitmap)
        return set;
    for (int i = hwloc_bitmap_first(bitmap); i >= 0 && i < IDSET_MAX; i = hwloc_bitmap_next(bitmap, i))
        idset_add(&set, (unsigned)i);
    return set;
}

void topo_copy_name(char out[TOPO_NAME], const char *text)
{
    snprintf(out, TOPO_NAME, "%s", text ? text : "");
    for (char *c = out; *c; c++) /* firmware strings hold anything; JSON and SVG want UTF-8 */
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* hwloc reads these from the environment only. The old values come back after the load. */
struct env_save {
    const char *name;
    const char *value; /* what the load needs */
    char *old;
};

static void env_set(struct env_save *env, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *old = getenv(env[i].name);
        env[i].old = old ? strdup(old) : NULL;
        setenv(env[i].name, env[i].value, 1);
    }
}

static void env_restore(struct env_save *env, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (env[i].old)
            setenv(env[i].name, env[i].old, 1);
        else
            unsetenv(env[i].name);
        free(env[i].old);
    }
}

/* Not wanted: "pci" reads through libpciaccess what "linux" reads from sysfs, and leaks 136 bytes and more a load; the
 * others open displays and GPU contexts to learn what plan does not use. An absent component is no error. */
static void leave_out_components(hwloc_topology_t hw)
{
    static const char *const unwanted[] = {"pci", "gl", "opencl", "cuda", "nvml", "rsmi", "levelzero"};
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        hwloc_topology_set_components(hw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unwanted[i]);
}

/* Without an I/O filter hwloc shows no PCI device at all (measured: 0 devices, 0 bridges). INCLUDE_DISALLOWED: what a
 * cpuset hides is still part of the machine; limits say what is ours. */
static int hwloc_read(hwloc_topology_t *hw_p, const char *xml)
{
    hwloc_topology_t hw;
    if (hwloc_topology_init(&hw))
        return err_fail(-ENOMEM, "hwloc_topology_init failed");
    int rc = 0;
    leave_out_components(hw);
    hwloc_topology_set_io_types_filter(hw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_set_flags(hw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    errno = 0;
    int bad = xml && hwloc_topology_set_xml(hw, xml);
    if (!bad)
        bad = hwloc_topology_load(hw); /* without libxml2, hwloc's own reader sees only now that it is none */
    if (bad && xml)
        rc = err_fail(-EINVAL, "%s: not an hwloc XML file that hwloc %#x reads (version 2 files only)", xml,
                      hwloc_get_api_version());
    else if (bad)
        rc = err_fail(-EINVAL, "hwloc cannot make a topology of this machine");
    if (rc) {
        hwloc_topology_destroy(hw);
        return rc;
    }
    *hw_p = hw;
    return 0;
}

static int hwloc_open(hwloc_topology_t *hw_p, const char *path, bool folder)
{
    if (path && !folder)
        return hwloc_read(hw_p, path);
    /* hwloc drops GPU-memory nodes unless asked; a node that exists must be seen to be avoided. */
    struct env_save env[] = {
        {"HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES", "1", NULL},
        {"HWLOC_FSROOT", path, NULL},
        {"HWLOC_COMPONENTS", "linux,stop", NULL},
        {"HWLOC_DUMPED_HWDATA_DIR", "/var/run/hwloc", NULL},
    };
    size_t n = folder ? sizeof env / sizeof *env : 1;
    env_set(env, n);
    int rc = hwloc_read(hw_p, NULL);
    env_restore(env, n);
    return rc && path ? err_in(rc, "%s", path) : rc;
}

static void name_machine(struct topology *topo, hwloc_topology_t hw, const char *path)
{
    hwloc_obj_t machine = hwloc_get_root_obj(hw);
    const char *name = hwloc_obj_get_info_by_name(machine, "DMIProductName");
    if (!name)
        name = hwloc_obj_get_info_by_name(machine, "HostName");
    if (!name && path) {
        const char *slash = strrchr(path, '/');
        name = slash ? slash + 1 : path;
    }
    topo_copy_name(topo->name, name);
    snprintf(topo->origin, sizeof topo->origin, "%s", path ? path : "this machine");
    topo->this_machine = path == NULL;
    topo->online = topo_ids(hwloc_topology_get_topology_cpuset(hw));
    struct idset all = topo_ids(hwloc_topology_get_complete_cpuset(hw));
    topo->offline = idset_minus(&all, &topo->online);
}

int topo_open(struct topology **topo_p, const struct topo_opts *opts)
{
    struct stat st = {0};
    if (opts->path && stat(opts->path, &st))
        return err_fail(-errno, "%s: %s", opts->path, strerror(errno));
    bool folder = opts->path && S_ISDIR(st.st_mode);
    struct topology *topo = calloc(1, sizeof *topo);
    if (!topo)
        return err_fail(-ENOMEM, "no memory for a topology");
    hwloc_topology_t hw = NULL;
    int rc = hwloc_open(&hw, opts->path, folder);
    if (rc)
        goto undo_topo;
    const char *root = opts->path ? (folder ? opts->path : NULL) : "";
    name_machine(topo, hw, opts->path);
    rc = topo_load_cpus(topo, hw);
    if (rc == 0)
        rc = topo_load_nodes(topo, hw, root);
    if (rc == 0)
        rc = topo_load_devices(topo, hw, root, opts->vendor ? opts->vendor : TOPO_VENDOR_NVIDIA);
    hwloc_topology_destroy(hw);
    if (rc)
        goto undo_topo;
    if (topo->this_machine && topo->gpus > 0)
        gpu_nvml_localities(topo, opts->nvml);
    *topo_p = topo;
    return 0;
undo_topo:
    topo_close(topo);
    return rc;
}

void topo_close(struct topology *topo)
{
    if (!topo)
        return;
    free(topo->package);
    free(topo->node);
    free(topo->cache);
    free(topo->core);
    free(topo->bridge);
    free(topo->device);
    free(topo->uplink);
    free(topo->distance);
    free(topo);
}

int topo_node_index(const struct topology *topo, int os)
{
    for (size_t i = 0; i < topo->nodes; i++)
        if (topo->node[i].os == os)
            return (int)i;
    return -1;
}

unsigned topo_distance(const struct topology *topo, size_t from, size_t to)
{
    return topo->distance ? topo->distance[from * topo->nodes + to] : 0;
}
