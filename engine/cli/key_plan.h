/* What of a key would live where, for each device of a machine: residency's answer with the key's own numbers. */
#ifndef ENGINE_CLI_KEY_PLAN_H
#define ENGINE_CLI_KEY_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "numa/plan.h"
#include "numa/topology.h"

struct key_plan_opts {
    const char *path;
    unsigned gpus;         /* equal ones in place of a machine's; 0: the machine's */
    uint64_t device_bytes; /* free on each; 0: ask */
    uint64_t pinned_bytes; /* for each, when pinned_given; else what the plan gives it */
    bool pinned_given, kept;
    bool count;        /* read the key whole: points that are not infinity, distinct coefficients */
    double full_share; /* of the witness; 0: all */
};

struct key_plan;

/* topo and plan may be NULL with opts->gpus. -ENODEV: no GPU, or none that can be asked for its memory. -ENOMEM: too
 * small a device; the sentence names it. -EBADMSG: the key. Close with key_plan_close. */
int key_plan_make(struct key_plan **out, const struct key_plan_opts *opts, const struct topology *topo,
                  const struct plan *plan);
void key_plan_close(struct key_plan *key);

/* NULL: no memory. The caller owns it. */
json_t *key_plan_to_json(const struct key_plan *key);
/* Equal devices are told of once. -EIO. */
int key_plan_write_text(const struct key_plan *key, FILE *out);

#endif
