#include "engine/cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/clock.h"

struct progress_bar progress_begin(bool silent)
{
    const char *term = getenv("TERM");
    bool on = !silent && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    return (struct progress_bar){.on = on};
}

void progress_step(void *arg, const char *step, double done)
{
    struct progress_bar *bar = arg;
    uint64_t now = clock_now_ns();
    if (!bar->on || (bar->shown && now - bar->last_ns < 200000000u))
        return;
    bar->shown = true;
    bar->last_ns = now;
    char line[31];
    int full = (int)(done * 30);
    memset(line, '.', 30);
    memset(line, '=', (size_t)(full < 0 ? 0 : full > 30 ? 30 : full));
    line[30] = 0;
    fprintf(stderr, "\r\033[K[%s] %3.0f %% %s", line, done * 100, step);
    fflush(stderr);
}

void progress_end(struct progress_bar *bar)
{
    if (bar->shown)
        fputs("\r\033[K", stderr);
    bar->shown = false;
}
