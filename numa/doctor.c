#include "numa/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "numa/doctor_check.h"
#include "perf/err.h"

static const struct {
    const char *name;
    doctor_check_fn *run;
} checks[] = {
    {"driver", doctor_check_driver},
    {"persistence", doctor_check_persistence},
    {"link", doctor_check_link},
    {"gpu-node", doctor_check_node},
    {"iommu", doctor_check_iommu},
    {"acs", doctor_check_acs},
    {"pages", doctor_check_pages},
    {"share", doctor_check_share},
    {"cgroup", doctor_check_cgroup},
    {"memlock", doctor_check_memlock},
    {"calls", doctor_check_calls},
    {"thp", doctor_check_thp},
    {"cma", doctor_check_cma},
    {"swap", doctor_check_swap},
    {"kernel", doctor_check_kernel},
    {"governor", doctor_check_governor},
    {"numa-balancing", doctor_check_balancing},
    {"zone-reclaim", doctor_check_reclaim},
    {"cpu-quota", doctor_check_quota},
};

const char *doctor_grade_name(enum doctor_grade grade)
{
    static const char *const names[] = {"ok", "unknown", "warn", "fail"};
    return names[grade];
}

struct doctor_finding *doctor_say(struct doctor *doctor, const char *check, enum doctor_grade grade, const char *fmt,
                                  ...)
{
    static _Thread_local struct doctor_finding nowhere;
    struct doctor_finding *finding = &nowhere;
    if (doctor->findings == doctor->room) {
        size_t room = doctor->room ? 2 * doctor->room : 32;
        struct doctor_finding *more = realloc(doctor->finding, room * sizeof *more);
        if (more) {
            doctor->finding = more;
            doctor->room = room;
        }
    }
    if (doctor->findings < doctor->room)
        finding = &doctor->finding[doctor->findings++];
    else
        doctor->failed = true;
    *finding = (struct doctor_finding){.check = check, .grade = grade};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(finding->said, sizeof finding->said, fmt, ap);
    va_end(ap);
    if (grade > doctor->worst)
        doctor->worst = grade;
    return finding;
}

void doctor_repair(struct doctor_finding *finding, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(finding->repair, sizeof finding->repair, fmt, ap);
    va_end(ap);
}

int doctor_run(struct doctor **doctor_p, const struct doctor_in *in)
{
    struct doctor *doctor = calloc(1, sizeof *doctor);
    if (!doctor)
        return err_fail(-ENOMEM, "no memory for the findings");
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        checks[i].run(doctor, in, checks[i].name);
    if (doctor->failed) {
        doctor_close(doctor);
        return err_fail(-ENOMEM, "no memory for the findings");
    }
    *doctor_p = doctor;
    return 0;
}

void doctor_close(struct doctor *doctor)
{
    if (!doctor)
        return;
    free(doctor->finding);
    free(doctor);
}

json_t *doctor_to_json(const struct doctor *doctor)
{
    json_t *findings = json_array();
    for (size_t i = 0; i < doctor->findings; i++) {
        const struct doctor_finding *f = &doctor->finding[i];
        json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:o}", "check", f->check, "grade",
                                                  doctor_grade_name(f->grade), "said", f->said, "repair",
                                                  f->repair[0] ? json_string(f->repair) : json_null()));
    }
    return json_pack("{s:i, s:s, s:o}", "schema", 1, "worst", doctor_grade_name(doctor->worst), "findings", findings);
}

int doctor_write_text(const struct doctor *doctor, FILE *out, bool quiet)
{
    for (size_t i = 0; i < doctor->findings; i++) {
        const struct doctor_finding *f = &doctor->finding[i];
        if (quiet && f->grade == DOCTOR_OK)
            continue;
        fprintf(out, "%-8s %-15s %s\n", doctor_grade_name(f->grade), f->check, f->said);
        if (f->repair[0])
            fprintf(out, "%-8s %-15s -> %s\n", "", "", f->repair);
    }
    return ferror(out) ? err_fail(-EIO, "the findings could not be written") : 0;
}
