/* Claims: every check has a state in which it is content and one in which it warns with a repair; the worst grade is
 * the worst finding; what cannot be read is unknown and never ok; a recorded file alone gives no false alarm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "numa/doctor.h"
#include "perf/err.h"
#include "tests/numa/tree.h"

/* One recorded machine with everything in order; the cases below spoil one file each. */
static char root[TREE_PATH];

static int unpack(void **state)
{
    (void)state;
    tree_unpack(root, "evidence");
    tree_put(root, "[always] madvise never", "sys/kernel/mm/transparent_hugepage/enabled");
    tree_put(root, "BOOT_IMAGE=/vmlinuz hugepagesz=1G hugepages=0:8,1:4", "proc/cmdline");
    tree_put(root, "Filename Type Size Used Priority", "proc/swaps");
    tree_put(root, "6.8.0-45-generic", "proc/sys/kernel/osrelease");
    tree_put(root, "0", "proc/sys/kernel/numa_balancing");
    tree_put(root, "0", "proc/sys/vm/zone_reclaim_mode");
    tree_put(root, "Name: x\\nCpus_allowed_list: 0-2\\nMems_allowed_list: 0-1\\nSeccomp: 0\\nCapEff: 0000000000000000",
             "proc/self/status");
    tree_put(root, "Max locked memory         unlimited            unlimited            bytes", "proc/self/limits");
    tree_put(root, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Release Build\\nGCC version: gcc 12",
             "proc/driver/nvidia/version");
    for (int cpu = 0; cpu < 3; cpu++)
        tree_put(root, "performance", "sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    static const char *const gpus[] = {"0000:01:00.0", "0000:83:00.0", "0000:c1:00.0"};
    for (int i = 0; i < 3; i++)
        tree_put(root, "identity", "sys/bus/pci/devices/%s/iommu_group/type", gpus[i]);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    tree_remove(root);
    return 0;
}

struct machine {
    struct topology *topo;
    struct limits *limits;
    struct plan *plan;
    struct doctor *doctor;
};

static struct machine examine(const struct plan_settings *settings, const struct gpu_nvml *nvml, int cuda_built)
{
    struct machine m = {.limits = malloc(sizeof *m.limits)};
    assert_non_null(m.limits);
    assert_int_equal(topo_open(&m.topo, &(struct topo_opts){.path = root}), 0);
    assert_int_equal(limits_read(m.limits, root), 0);
    assert_int_equal(plan_make(&m.plan, m.topo, m.limits, settings), 0);
    const struct doctor_in in = {m.topo, m.limits, m.plan, root, nvml, cuda_built};
    assert_int_equal(doctor_run(&m.doctor, &in), 0);
    return m;
}

static void dismiss(struct machine *m)
{
    doctor_close(m->doctor);
    plan_close(m->plan);
    topo_close(m->topo);
    free(m->limits);
}

/* The worst finding of a check, or of those that hold `about`. */
static const struct doctor_finding *find(const struct doctor *doctor, const char *check, const char *about)
{
    const struct doctor_finding *worst = NULL;
    for (size_t i = 0; i < doctor->findings; i++) {
        const struct doctor_finding *f = &doctor->finding[i];
        if (strcmp(f->check, check) == 0 && strstr(f->said, about) && (!worst || f->grade > worst->grade))
            worst = f;
    }
    if (!worst)
        fail_msg("no finding of %s about \"%s\"", check, about);
    return worst;
}

static void test_spoiled_files(void **state)
{
    (void)state;
    static const struct {
        const char *check, *path, *good, *bad;
        enum doctor_grade grade;
        const char *said;
    } cases[] = {
        {"thp", "sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never", "always madvise [never]",
         DOCTOR_WARN, "off"},
        {"cma", "proc/cmdline", "quiet hugepages=8", "quiet hugetlb_cma=8G", DOCTOR_FAIL, "hugetlb_cma"},
        {"swap", "proc/swaps", "Filename Type Size Used Priority", "Filename Type Size\\n/dev/sda2 partition 8388604",
         DOCTOR_WARN, "swap is on"},
        {"kernel", "proc/sys/kernel/osrelease", "6.8.0-45-generic", "6.12.9-arch1-1", DOCTOR_WARN, "2 GiB"},
        {"kernel", "proc/sys/kernel/osrelease", "6.14.0", "5.4.0-200", DOCTOR_WARN, "MADV_POPULATE_WRITE"},
        {"numa-balancing", "proc/sys/kernel/numa_balancing", "0", "1", DOCTOR_WARN, "balancing is on"},
        {"zone-reclaim", "proc/sys/vm/zone_reclaim_mode", "0", "1", DOCTOR_WARN, "zone_reclaim_mode is 1"},
        {"governor", "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance", "schedutil", DOCTOR_WARN,
         "1 of 3 CPUs have the governor schedutil"},
        {"iommu", "sys/bus/pci/devices/0000:83:00.0/iommu_group/type", "identity", "DMA-FQ", DOCTOR_WARN,
         "translates 1 GPU"},
        {"memlock", "proc/self/limits", "Max locked memory  unlimited  unlimited  bytes",
         "Max locked memory  8388608  8388608  bytes", DOCTOR_WARN, "8.00 MiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s\n", cases[i].check);
        for (int bad = 0; bad < 2; bad++) {
            tree_put(root, bad ? cases[i].bad : cases[i].good, "%s", cases[i].path);
            struct machine m = examine(&(struct plan_settings){0}, NULL, 0);
            const struct doctor_finding *f = find(m.doctor, cases[i].check, bad ? cases[i].said : "");
            assert_int_equal(f->grade, bad ? cases[i].grade : DOCTOR_OK);
            assert_true(!bad || f->repair[0] || strstr(f->said, "POPULATE"));
            assert_true(m.doctor->worst >= f->grade);
            dismiss(&m);
        }
        tree_put(root, cases[i].good, "%s", cases[i].path);
    }
}

static void test_gpus(void **state)
{
    (void)state;
    struct gpu_nvml *nvml;
    assert_int_equal(gpu_nvml_open(&nvml, FAKE_NVML), 0);
    struct machine m = examine(&(struct plan_settings){0}, nvml, 12080);
    assert_int_equal(find(m.doctor, "driver", "")->grade, DOCTOR_OK);
    assert_non_null(strstr(find(m.doctor, "driver", "")->said, "580.65.06 runs CUDA up to 13.0"));
    assert_int_equal(find(m.doctor, "persistence", "83:00.0")->grade, DOCTOR_WARN);
    assert_int_equal(find(m.doctor, "persistence", "01:00.0")->grade, DOCTOR_UNKNOWN);
    assert_int_equal(find(m.doctor, "link", "01:00.0")->grade, DOCTOR_UNKNOWN); /* Gen1 of Gen5: idle? */
    assert_int_equal(find(m.doctor, "link", "83:00.0")->grade, DOCTOR_OK);
    assert_int_equal(find(m.doctor, "link", "c1:00.0")->grade, DOCTOR_WARN); /* x8 of x16 */
    assert_non_null(strstr(find(m.doctor, "link", "c1:00.0")->said, "x8 of x16"));
    assert_int_equal(find(m.doctor, "gpu-node", "01:00.0")->grade, DOCTOR_OK);
    assert_int_equal(find(m.doctor, "gpu-node", "c1:00.0")->grade, DOCTOR_WARN);
    assert_string_equal(find(m.doctor, "gpu-node", "c1:00.0")->repair, "penstock tune");
    assert_int_equal(m.doctor->worst, DOCTOR_WARN);
    dismiss(&m);

    m = examine(&(struct plan_settings){0}, nvml, 14000);
    assert_int_equal(find(m.doctor, "driver", "")->grade, DOCTOR_FAIL);
    assert_int_equal(m.doctor->worst, DOCTOR_FAIL);
    dismiss(&m);
    gpu_nvml_close(nvml);

    m = examine(&(struct plan_settings){0}, NULL, 12080);
    assert_int_equal(find(m.doctor, "driver", "")->grade, DOCTOR_UNKNOWN); /* a driver, but NVML does not answer */
    dismiss(&m);
    tree_put(root, "nothing here", "proc/driver/nvidia/version");
    m = examine(&(struct plan_settings){0}, NULL, 12080);
    assert_int_equal(find(m.doctor, "driver", "")->grade, DOCTOR_FAIL);
    dismiss(&m);
}

static void test_pages(void **state)
{
    (void)state;
    struct machine m = examine(&(struct plan_settings){0}, NULL, 0);
    assert_int_equal(find(m.doctor, "pages", "node 0")->grade, DOCTOR_OK);
    assert_int_equal(find(m.doctor, "pages", "node 1")->grade, DOCTOR_WARN);  /* all four are taken */
    assert_int_equal(find(m.doctor, "share", "83:00.0")->grade, DOCTOR_WARN); /* borrows from node 0 */
    assert_int_equal(find(m.doctor, "share", "01:00.0")->grade, DOCTOR_OK);
    dismiss(&m);

    m = examine(&(struct plan_settings){.bytes_per_gpu = 24ull << 30}, NULL, 0);
    assert_int_equal(find(m.doctor, "share", "01:00.0")->grade, DOCTOR_WARN);
    assert_non_null(strstr(find(m.doctor, "share", "01:00.0")->repair, "hugepages=0:24"));
    dismiss(&m);

    tree_put(root, "0", "sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages");
    tree_put(root, "0", "sys/devices/system/node/node0/hugepages/hugepages-1048576kB/free_hugepages");
    m = examine(&(struct plan_settings){0}, NULL, 0);
    assert_int_equal(find(m.doctor, "pages", "node 0 has no 1 GiB pages: the pool falls to 2 MiB")->grade, DOCTOR_WARN);
    dismiss(&m);
    tree_put(root, "8", "sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages");
    tree_put(root, "6", "sys/devices/system/node/node0/hugepages/hugepages-1048576kB/free_hugepages");
}

static void test_limits(void **state)
{
    (void)state;
    struct machine m = examine(&(struct plan_settings){0}, NULL, 0);
    assert_int_equal(find(m.doctor, "calls", "")->grade, DOCTOR_UNKNOWN);
    assert_int_equal(find(m.doctor, "cgroup", "")->grade, DOCTOR_OK);
    for (int i = 0; i < LIMITS_CALLS; i++)
        m.limits->call[i].known = true;
    m.limits->cgroup2 = true;
    struct doctor_in in = {m.topo, m.limits, m.plan, root, NULL, 0};
    doctor_close(m.doctor);
    assert_int_equal(doctor_run(&m.doctor, &in), 0);
    assert_int_equal(find(m.doctor, "calls", "")->grade, DOCTOR_OK);

    m.limits->call[LIMITS_MBIND].error = EPERM;
    m.limits->call[LIMITS_IO_URING].error = -1;
    m.limits->touch[TOPO_PAGE_1G] = (struct limit){.known = true, .value = 0, .file = "/sys/fs/cgroup/hugetlb.1GB.max"};
    m.limits->touch[TOPO_PAGE_2M] =
        (struct limit){.known = true, .value = 64 << 20, .file = "/sys/fs/cgroup/hugetlb.2MB.max"};
    m.limits->cpu_milli = (struct limit){.known = true, .value = 1500, .file = "/sys/fs/cgroup/cpu.max"};
    m.limits->mems_known = true;
    idset_parse(&m.limits->mems, "1");
    plan_close(m.plan);
    assert_int_equal(plan_make(&m.plan, m.topo, m.limits, &(struct plan_settings){0}), 0);
    in.plan = m.plan;
    doctor_close(m.doctor);
    assert_int_equal(doctor_run(&m.doctor, &in), 0);
    assert_non_null(strstr(find(m.doctor, "calls", "mbind is refused")->repair, "SYS_NICE"));
    assert_non_null(strstr(find(m.doctor, "calls", "io_uring_setup is refused")->said, "kills"));
    assert_int_equal(find(m.doctor, "cgroup", "1GB.max leaves room for no")->grade, DOCTOR_WARN);
    assert_int_equal(find(m.doctor, "cgroup", "32 2 MiB pages, but strikes only at touch")->grade, DOCTOR_OK);
    assert_int_equal(find(m.doctor, "cpu-quota", "1.5")->grade, DOCTOR_WARN);
    assert_int_equal(find(m.doctor, "gpu-node", "01:00.0 is on node 0, which may not be used")->grade, DOCTOR_WARN);
    dismiss(&m);
}

/* ACS: a port of the shared switch redirects. Two GPUs under one switch come from a recorded file, its ports' config
 * spaces from files written here. */
static void test_acs(void **state)
{
    (void)state;
    char path[512], acs_root[TREE_PATH], file[2 * TREE_PATH];
    struct topology *topo;
    struct plan *plan;
    static struct limits none;
    limits_none(&none);
    snprintf(path, sizeof path, "%s/machines/p5en.xml", NUMA_FOLDER);
    assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = path}), 0);
    assert_int_equal(plan_make(&plan, topo, &none, &(struct plan_settings){0}), 0);
    tree_unpack(acs_root, "bare");
    struct doctor *doctor;
    struct doctor_in in = {topo, &none, plan, acs_root, NULL, 0};
    assert_int_equal(doctor_run(&doctor, &in), 0);
    assert_int_equal(find(doctor, "acs", "")->grade, DOCTOR_UNKNOWN);
    doctor_close(doctor);

    const char *port = topo->bridge[topo->device[0].bridge[0]].pci;
    for (int on = 0; on < 2; on++) {
        unsigned char config[4096] = {0};
        config[0x100] = 0x01; /* AER at 0x100, next at 0x148: ACS, last */
        config[0x102] = 0x81;
        config[0x103] = 0x14;
        config[0x148] = 0x0d;
        config[0x14e] = on ? 0x1d : 0x01;
        tree_put(acs_root, "", "sys/bus/pci/devices/%s/config", port);
        snprintf(file, sizeof file, "%s/sys/bus/pci/devices/%s/config", acs_root, port);
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(config, 1, sizeof config, f), sizeof config);
        fclose(f);
        assert_int_equal(doctor_run(&doctor, &in), 0);
        assert_int_equal(find(doctor, "acs", "")->grade, on ? DOCTOR_WARN : DOCTOR_OK);
        assert_true(!on || strstr(find(doctor, "acs", "")->repair, port));
        doctor_close(doctor);
    }
    plan_close(plan);
    topo_close(topo);
    tree_remove(acs_root);
}

static void test_file_only(void **state)
{
    (void)state;
    char path[512];
    struct topology *topo;
    struct plan *plan;
    struct doctor *doctor;
    static struct limits none;
    limits_none(&none);
    snprintf(path, sizeof path, "%s/machines/p5en.xml", NUMA_FOLDER);
    assert_int_equal(topo_open(&topo, &(struct topo_opts){.path = path}), 0);
    assert_int_equal(plan_make(&plan, topo, &none, &(struct plan_settings){.bytes_per_gpu = 24ull << 30}), 0);
    const struct doctor_in in = {topo, &none, plan, NULL, NULL, 12080};
    assert_int_equal(doctor_run(&doctor, &in), 0);
    assert_int_equal(doctor->worst, DOCTOR_UNKNOWN);
    json_t *json = doctor_to_json(doctor);
    assert_string_equal(json_string_value(json_object_get(json, "worst")), "unknown");
    assert_int_equal(json_array_size(json_object_get(json, "findings")), doctor->findings);
    json_decref(json);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_int_equal(doctor_write_text(doctor, out, true), 0);
    fclose(out);
    assert_null(strstr(text, "ok  "));
    free(text);
    doctor_close(doctor);
    plan_close(plan);
    topo_close(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spoiled_files), cmocka_unit_test(test_gpus), cmocka_unit_test(test_pages),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_acs),  cmocka_unit_test(test_file_only),
    };
    return cmocka_run_group_tests(tests, unpack, clean);
}
