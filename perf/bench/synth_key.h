/* The points of a synthetic key: made on a device, put where they shall live. */
#ifndef PERF_BENCH_SYNTH_KEY_H
#define PERF_BENCH_SYNTH_KEY_H

#include "engine/residency.h"
#include "perf/bench/synth.h"

struct synth_key {
    struct device *device;
    struct groth16_parts parts;
    struct zkey *zkey; /* sizes and the six points; no file behind it */
    struct vk vk;
    void *host[GROTH16_PARTS]; /* points that are streamed, registered */
    size_t host_bytes[GROTH16_PARTS];
    uint64_t streamed_bytes; /* for each proof, matrices included */
    double make_s, load_s;
};

struct key_sizes synth_sizes(const struct synth *s);

/* Make all points and open them as the plan says. Scalars of parts are freed as they have become points. rows: no
 * matrices. -ENOMEM, what the device says. */
int synth_key_make(struct synth_key *k, struct synth *s, struct device *device, const struct residency_plan *plan,
                   bool rows);
/* What synth_key_make left: host memory, and parts that nobody took over. The device must still be open. */
void synth_key_close(struct synth_key *k);

#endif
