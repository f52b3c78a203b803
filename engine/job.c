#include "engine/job.h"

const char *const job_state_names[JOB_STATES] = {"queued",  "reading", "copying", "computing",
                                                 "folding", "done",    "failed",  "cancelled"};
const char *const job_class_names[JOB_CLASSES] = {"critical", "high", "normal", "low"};

bool job_may(enum job_state from, enum job_state to)
{
#define TO(s) (1u << JOB_##s)
    static const unsigned table[JOB_STATES] = {
        [JOB_QUEUED] = TO(READING) | TO(FAILED) | TO(CANCELLED),
        [JOB_READING] = TO(COPYING) | TO(QUEUED) | TO(FAILED) | TO(CANCELLED),
        [JOB_COPYING] = TO(COMPUTING) | TO(QUEUED) | TO(FAILED) | TO(CANCELLED),
        [JOB_COMPUTING] = TO(FOLDING) | TO(QUEUED) | TO(FAILED) | TO(CANCELLED),
        [JOB_FOLDING] = TO(DONE) | TO(QUEUED) | TO(FAILED) | TO(CANCELLED),
    };
#undef TO
    return table[from] >> to & 1;
}
