/* A key's bytes in leased memory: the source (prover/source.h) behind which a loader reads ahead.
 *
 *     key_source_open -> zkey_open_source (headers only, milliseconds) -> key_source_begin: pool and reading threads
 *     -> key_source_plan: the sections arrive in the order of their use -> groth16_key_open, groth16_compute take them
 *
 * The leases lie in arenas that are registered with the device, so that a GPU copies or streams from them at the link's
 * full rate. */
#ifndef ENGINE_KEY_SOURCE_H
#define ENGINE_KEY_SOURCE_H

#include "alloc/loader.h"
#include "cuda/device.h"
#include "prover/source.h"
#include "prover/zkey.h"

struct key_source_opts {
    struct device *device; /* arenas are registered with it; NULL: with none */
    bool keep;             /* points stay after their last use (a circuit of an engine); else their memory goes back */
    enum page_tier tier;   /* best tier; 0: 1 GiB */
    bool strict;           /* no lower one */
    struct budget *budget; /* may be NULL */
    enum fill_method first;
    struct span_list *spans; /* may be NULL */
};

/* Open the file; nothing but headers is read before key_source_plan, and then whatever is taken. What is not a regular
 * file is read whole now, into memory that is not registered. -EBADMSG, -ENOMEM, or what open(2) says. */
int key_source_open(struct byte_source **out, const char *path, const struct key_source_opts *opts);

/* For the key that was opened on this source: a loader for its sections and for files of up to other_bytes (0: none).
 * -ENOMEM, -EAGAIN. Nothing happens the second time. */
int key_source_begin(struct byte_source *s, const struct zkey *zkey, uint64_t other_bytes);

/* Start reading the sections in the order of their use. Without `keep`, H waits for the memory of B2. */
int key_source_plan(struct byte_source *s, const struct zkey *zkey);

/* All devices are loaded: points that nobody has taken go back, `keep` or not, and are read again should somebody take
 * them after all (the host, in a device's place). */
void key_source_let_go(struct byte_source *s);

/* A budget of what the machine has: beyond that a sentence, not the kernel's killer. -ENOMEM. */
int key_source_budget_open(struct budget **out);

/* What an error of load_wait means to a job: a drive that fails or a file that ends early is a fault of the input (-EIO
 * is a device's), a budget without room is memory that is missing. */
int key_source_error(int rc);

/* Once begun: to load other files by, and for reports. */
struct loader *key_source_loader(const struct byte_source *s);

#endif
