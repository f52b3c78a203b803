/* Who does what next. Four lanes for each device work beside each other:
 *
 *     read     file -> host lease              job k+2
 *     copy     host lease -> device slot       job k+1, in chunks, two under way, tokens for each shared uplink
 *     compute  on the device, step by step     job k
 *     fold     sums -> verified proof          job k-1
 *
 * Pure: no thread, no lock, no clock. A lane asks sched_next for an action, does it, and reports with sched_done;
 * threads (engine.c) and a simulation drive the same code. Rules: a job goes where its circuit is loaded, to the device
 * with the fewest jobs; at each boundary (chunk, step) the best class goes first, inside it the oldest; a critical job
 * overtakes between the steps of another circuit's job; what a device failed goes to another one; a job that stops
 * gives back its lease and slot when its last action under way is over. Leases are taken before slots and given back
 * before a compute ends, so nobody waits in a circle. */
#ifndef ENGINE_SCHED_H
#define ENGINE_SCHED_H

#include "engine/job_queue.h"

struct sched;

enum lane { LANE_READ, LANE_COPY, LANE_COMPUTE, LANE_FOLD, LANES };
extern const char *const lane_names[LANES];

enum { SCHED_DEVICES = 32, SCHED_AHEAD = 8, SCHED_NODES = 16 };

struct sched_device {
    int uplink;          /* number of its shared uplink below SCHED_DEVICES, or -1 */
    uint64_t slot_bytes; /* device memory for inputs; 0: no limit */
    unsigned node;       /* its home, below SCHED_NODES: inputs of its jobs wait there */
};

struct sched_opts {
    const struct sched_device *device;
    unsigned devices;
    uint64_t host_bytes;    /* of each node, for inputs that wait for their copy; 0: no limit */
    uint64_t reserve_bytes; /* of each host_bytes and of each slot_bytes: for critical jobs alone */
    uint64_t chunk_bytes;   /* 0: 64 MiB */
    unsigned copies;        /* under way on one device; 0: 2 */
    unsigned tokens;        /* under way on one shared uplink; 0: 2 */
    unsigned ahead;         /* jobs of one device at a time, up to SCHED_AHEAD; 0: 4; one more for critical ones */
    unsigned max_tries;     /* devices that a job is tried on; 0: 3 */
    bool hold_host;         /* leases are kept until the job ends (mapped inputs, needed for a second opinion) */
    unsigned max_faults;    /* in a row until a device is down; 0: 3 */
    /* Its lease or its slot is free again: give it back. Must not call the scheduler. */
    void (*release)(void *ctx, struct job *job, bool host, bool slot);
    void *ctx;
};

struct action {
    enum lane lane;
    unsigned device;
    struct job *job;
    unsigned step;         /* compute */
    uint64_t first, bytes; /* copy: this part of the input */
};

int sched_open(struct sched **s_p, struct job_queue *q, const struct sched_opts *opts);
void sched_close(struct sched *s);

/* A circuit is computed in `steps` steps and is loaded on the devices of the mask. -EINVAL. */
int sched_circuit(struct sched *s, unsigned circuit, unsigned steps, uint32_t devices);

/* At most n inputs of this circuit on this device at a time (0: as many as slot_bytes allow): the device has so many
 * buffers for it. */
void sched_slots(struct sched *s, unsigned circuit, unsigned device, unsigned n);

/* The next thing for this lane of this device to do; false: nothing now. */
bool sched_next(struct sched *s, unsigned device, enum lane lane, uint64_t now_ns, struct action *action);

/* It is over. rc -EIO, -ENOMEM, -ENODEV of copy or compute, and -EREMOTEIO of fold (wrong results): the device is at
 * fault and the job is tried elsewhere; any other failure ends the job, with this thread's sentence. */
void sched_done(struct sched *s, const struct action *action, int rc, uint64_t now_ns);

/* End what must stop and has nothing under way; after cancels and job_queue_expire. Also fails waiting jobs that no
 * device can do any more. */
void sched_reap(struct sched *s, uint64_t now_ns);

bool sched_device_down(const struct sched *s, unsigned device);
/* Nothing that needs the device is under way on it. */
bool sched_device_quiet(const struct sched *s, unsigned device);
/* Take it in again. */
void sched_device_up(struct sched *s, unsigned device);

/* Is there a copy with its source filled and its destination free, or under way? For measuring. */
bool sched_copy_due(const struct sched *s, unsigned device);

struct sched_view {
    uint64_t host_used, node_used[SCHED_NODES], slot_used[SCHED_DEVICES];
    unsigned jobs[SCHED_DEVICES], copies[SCHED_DEVICES];
    uint64_t retries, faults[SCHED_DEVICES], done[SCHED_DEVICES];
};
void sched_read(const struct sched *s, struct sched_view *view);

/* Every sum against its parts; NULL, or what does not agree. For tests. */
const char *sched_check(const struct sched *s);

#endif
