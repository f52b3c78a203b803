/* What is wrong with this machine, and the command that repairs it. Checks are data: a table of names and functions;
 * each leaves one finding or more. Nothing is changed here. */
#ifndef NUMA_DOCTOR_H
#define NUMA_DOCTOR_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "numa/gpu_nvml.h"
#include "numa/limits.h"
#include "numa/plan.h"
#include "numa/topology.h"

enum { DOCTOR_TEXT = 320 };

/* In order of badness; UNKNOWN: could not look, and says why. */
enum doctor_grade { DOCTOR_OK, DOCTOR_UNKNOWN, DOCTOR_WARN, DOCTOR_FAIL };
const char *doctor_grade_name(enum doctor_grade grade); /* "ok", "unknown", "warn", "fail" */

struct doctor_finding {
    const char *check;
    enum doctor_grade grade;
    char said[DOCTOR_TEXT];
    char repair[DOCTOR_TEXT]; /* a command or a setting; "" when there is nothing to do */
};

struct doctor {
    struct doctor_finding *finding;
    size_t findings, room;
    enum doctor_grade worst;
    bool failed; /* memory ran out */
};

struct doctor_in {
    const struct topology *topo;
    const struct limits *limits;
    const struct plan *plan;
    const char *root;            /* of /proc and /sys: "" this machine, a recorded tree, NULL: none (an XML file) */
    const struct gpu_nvml *nvml; /* NULL: none */
    int cuda_built; /* CUDA version that the program was built with, 1000 * major + 10 * minor; 0: without */
};

/* Run every check. Close with doctor_close. -ENOMEM. */
int doctor_run(struct doctor **doctor_p, const struct doctor_in *in);
void doctor_close(struct doctor *doctor);

/* As JSON ("schema": 1, "worst", "findings"). NULL: no memory. The caller owns it. */
json_t *doctor_to_json(const struct doctor *doctor);

/* As a list for people; `quiet` leaves out what is ok. -EIO. */
int doctor_write_text(const struct doctor *doctor, FILE *out, bool quiet);

#endif
