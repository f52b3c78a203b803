/* Key and witness of one proof, in leases: opened, on their way, closed. */
#ifndef ENGINE_PROVE_INPUT_H
#define ENGINE_PROVE_INPUT_H

#include "engine/key_source.h"
#include "engine/prove_job.h"
#include "prover/wtns.h"
#include "prover/zkey.h"

struct prove_input {
    struct budget *budget;
    struct byte_source *source; /* the zkey's */
    struct zkey *zkey;
    struct load *load; /* of the witness; NULL: it was read at once (a pipe) */
    struct wtns *wtns;
};

/* Open both, check that they belong together, start reading the key. After a failure there is nothing to close.
 * -EBADMSG, -ENOMEM, or what opening says. */
int prove_input_open(struct prove_input *in, struct device *device, const struct prove_request *request);

/* Also one that is zeroed. How the reading went goes to the report. */
void prove_input_close(struct prove_input *in, struct prove_report *report);

#endif
