/* The checks of doctor_run; private to numa/doctor*.c. */
#ifndef NUMA_DOCTOR_CHECK_H
#define NUMA_DOCTOR_CHECK_H

#include "numa/doctor.h"

/* Add a finding; returns it, to be given a repair. Never NULL: without memory the words go nowhere. */
struct doctor_finding *doctor_say(struct doctor *doctor, const char *check, enum doctor_grade grade, const char *fmt,
                                  ...) __attribute__((format(printf, 4, 5)));
void doctor_repair(struct doctor_finding *finding, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

typedef void doctor_check_fn(struct doctor *doctor, const struct doctor_in *in, const char *check);

/* doctor_memory.c */
doctor_check_fn doctor_check_pages, doctor_check_share, doctor_check_cgroup, doctor_check_memlock, doctor_check_calls,
    doctor_check_thp, doctor_check_cma, doctor_check_swap;
/* doctor_gpu.c */
doctor_check_fn doctor_check_driver, doctor_check_persistence, doctor_check_link, doctor_check_node, doctor_check_iommu,
    doctor_check_acs;
/* doctor_system.c */
doctor_check_fn doctor_check_kernel, doctor_check_governor, doctor_check_balancing, doctor_check_reclaim,
    doctor_check_quota;

#endif
