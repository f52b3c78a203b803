/* A one-line progress bar on standard error, only where that is a terminal. */
#ifndef ENGINE_CLI_PROGRESS_H
#define ENGINE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress_bar {
    bool shown, on;
    uint64_t last_ns;
};

/* A bar that stays silent with quiet or json, with NO_COLOR's cousin TERM=dumb, and where stderr is not a terminal. */
struct progress_bar progress_begin(bool silent);
/* A groth16_progress: at most five lines a second. */
void progress_step(void *bar, const char *step, double done);
/* Clear the line. */
void progress_end(struct progress_bar *bar);

#endif
