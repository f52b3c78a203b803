/* A key's (or any sectioned file's) bytes in leased memory: the source (prover/source.h) behind which a loader reads
 * ahead.
 *
 *     key_source_open --> zkey_open_source (headers only, milliseconds) --> key_source_plan: the sections begin to
 *     arrive in the order of their use --> groth16_key_open, groth16_compute take and finish them
 *
 * The leases lie in arenas that are registered with the device, so a GPU copies or streams from them at full speed. */
#ifndef ENGINE_KEY_SOURCE_H
#define ENGINE_KEY_SOURCE_H

#include "alloc/loader.h"
#include "cuda/device.h"
#include "prover/source.h"
#include "prover/zkey.h"

struct key_source_opts {
    struct device *device; /* arenas are registered with it; NULL: with none */
    bool keep;             /* sections stay after their last use (a circuit of an engine); else their memory goes back */
    bool ahead;            /* read ahead all there is; else no more than the witness's sums need at once */
    enum page_tier tier;   /* best tier; 0: 1 GiB */
    bool strict;
    struct budget *budget;   /* may be NULL */
    struct span_list *spans; /* may be NULL */
};

/* Open the file; nothing but headers is read before key_source_plan. What is not a regular file is read whole. */
int key_source_open(struct byte_source **out, const char *path, const struct key_source_opts *opts);

/* Start reading the sections of the key that was opened on this source, in the order of their use. `witness` (its
 * bytes; 0: none) says how large the file is that key_source_witness will ask for. */
int key_source_plan(struct byte_source *s, const struct zkey *zkey, uint64_t witness_bytes);

/* The loader, once planned: for witness files (load_ask with offset 0) and reports. */
struct loader *key_source_loader(struct byte_source *s);

#endif
