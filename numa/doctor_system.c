/* Kernel, clocks, scheduler. */
#include <stdio.h>
#include <string.h>

#include "numa/doctor_check.h"
#include "numa/sysfs.h"

void doctor_check_kernel(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    char text[128];
    int major, minor;
    if (!in->root || sysfs_read(text, sizeof text, in->root, "/proc/sys/kernel/osrelease") ||
        sscanf(text, "%d.%d", &major, &minor) != 2)
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "the kernel's version could not be read");
    else if (major == 6 && minor >= 11 && minor <= 13)
        doctor_repair(doctor_say(doctor, check, DOCTOR_WARN,
                                 "kernel %s: 6.11 to 6.13 fail to pin more than 2 GiB at once, or leak the pages",
                                 text),
                      "update to 6.14 or later, or to a 6.12 with the long-term pinning fix");
    else if (major < 5 || (major == 5 && minor < 14))
        doctor_say(doctor, check, DOCTOR_WARN,
                   "kernel %s lacks MADV_POPULATE_WRITE (5.14): pages are populated by read(2)", text);
    else
        doctor_say(doctor, check, DOCTOR_OK, "kernel %s", text);
}

void doctor_check_governor(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    size_t seen = 0, slow = 0;
    char text[64], example[64] = "";
    for (int cpu = idset_next(&in->topo->online, 0); in->root && cpu >= 0;
         cpu = idset_next(&in->topo->online, (unsigned)cpu + 1)) {
        if (sysfs_read(text, sizeof text, in->root, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu))
            continue;
        seen++;
        if (strcmp(text, "performance") != 0) {
            slow++;
            memcpy(example, text, sizeof example);
        }
    }
    if (seen == 0)
        doctor_say(doctor, check, DOCTOR_UNKNOWN,
                   "the kernel does not set clocks here (a virtual machine, or the firmware does)");
    else if (slow > 0)
        doctor_repair(
            doctor_say(doctor, check, DOCTOR_WARN, "%zu of %zu CPUs have the governor %s", slow, seen, example),
            "cpupower frequency-set -g performance");
    else
        doctor_say(doctor, check, DOCTOR_OK, "governor performance on %zu CPUs", seen);
}

void doctor_check_balancing(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    int on;
    if (in->topo->nodes < 2)
        doctor_say(doctor, check, DOCTOR_OK, "one node: nothing to balance");
    else if (!in->root || !sysfs_int(&on, in->root, "/proc/sys/kernel/numa_balancing"))
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "the kernel says nothing of NUMA balancing");
    else if (on)
        doctor_repair(
            doctor_say(doctor, check, DOCTOR_WARN,
                       "NUMA balancing is on: it unmaps pages to see who touches them, which costs synthesis faults"),
            "sysctl -w kernel.numa_balancing=0");
    else
        doctor_say(doctor, check, DOCTOR_OK, "NUMA balancing is off");
}

void doctor_check_reclaim(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    int mode;
    if (!in->root || !sysfs_int(&mode, in->root, "/proc/sys/vm/zone_reclaim_mode"))
        doctor_say(doctor, check, DOCTOR_UNKNOWN, "vm.zone_reclaim_mode could not be read");
    else if (mode)
        doctor_repair(doctor_say(doctor, check, DOCTOR_WARN,
                                 "vm.zone_reclaim_mode is %d: a full node scans its page cache at every "
                                 "allocation",
                                 mode),
                      "sysctl -w vm.zone_reclaim_mode=0");
    else
        doctor_say(doctor, check, DOCTOR_OK, "vm.zone_reclaim_mode is 0");
}

void doctor_check_quota(struct doctor *doctor, const struct doctor_in *in, const char *check)
{
    struct idset cpus = in->topo->online;
    if (in->limits->cpus_known)
        cpus = idset_and(&cpus, &in->limits->cpus);
    unsigned n = idset_count(&cpus);
    double quota = (double)in->limits->cpu_milli.value / 1000;
    if (!in->limits->cpu_milli.known || quota >= (double)n)
        doctor_say(doctor, check, DOCTOR_OK, "%u CPUs, no quota below that", n);
    else
        doctor_repair(doctor_say(doctor, check, DOCTOR_WARN,
                                 "%u CPUs, but %.150s allows the time of %.1f: threads will be stopped in "
                                 "the middle of a slice",
                                 n, in->limits->cpu_milli.file, quota),
                      "raise the CPU limit, or give a cpuset (Kubernetes: static CPU manager, Guaranteed class)");
}
