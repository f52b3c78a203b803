/* A job's life, and what every part of the engine knows about one. */
#ifndef ENGINE_JOB_H
#define ENGINE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*   queued -> reading -> copying -> computing -> folding -> done
 *      ^         |          |           |           |
 *      +---------+----------+-----------+-----------+        a device failed: elsewhere, once more
 *   each of them -> failed, cancelled */
enum job_state {
    JOB_QUEUED,
    JOB_READING,
    JOB_COPYING,
    JOB_COMPUTING,
    JOB_FOLDING,
    JOB_DONE,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_STATES
};
extern const char *const job_state_names[JOB_STATES];

/* The one table of transitions. */
bool job_may(enum job_state from, enum job_state to);
static inline bool job_over(enum job_state s)
{
    return s >= JOB_DONE;
}

enum job_class { CLASS_CRITICAL, CLASS_HIGH, CLASS_NORMAL, CLASS_LOW, JOB_CLASSES };
extern const char *const job_class_names[JOB_CLASSES];

enum { JOB_KEY = 64, JOB_WHY = 256, JOB_NO_DEVICE = -1 };

struct job_set;

struct job {
    uint64_t id; /* 1, 2, 3, ...: never used again */
    enum job_state state;
    enum job_class class;
    unsigned circuit;
    uint64_t bytes;        /* what its input takes of the host */
    uint64_t deadline_ns;  /* CLOCK_NEVER: none */
    char key[JOB_KEY + 1]; /* idempotency key, "" */
    uint64_t fingerprint;  /* of the request that has this key */
    unsigned holders;      /* submissions that share this job */
    struct job_set *set;   /* partitions of one proof, or NULL */
    unsigned part;
    bool stop; /* end at the next boundary, in state stop_as for reason stop_rc */
    enum job_state stop_as;
    int rc; /* of FAILED, CANCELLED */
    char why[JOB_WHY];
    uint64_t submit_ns, begin_ns, end_ns; /* begin: left the queue for the first time */
    void *owner;                          /* the submitter's data */

    /* the scheduler's */
    int device;
    unsigned tries, steps_done;
    uint64_t chunk_issued, chunk_done; /* bytes of the input */
    unsigned in_flight;                /* actions under way */
    bool has_host, has_slot;
    bool back;          /* its device failed: to the queue when nothing is under way */
    uint32_t failed_on; /* devices, as bits */

    /* the queue's */
    struct job *next, *prev; /* in its class, or among the ended ones */
    struct job *next_id, *next_key;
    unsigned passed_by; /* times that a later one was taken before it */
};

#endif
