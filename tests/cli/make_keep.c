/* make_keep DIR NAME [hold]: keep 300001 bytes there; with "hold" print a line and stay until stdin ends. */
#include <stdio.h>
#include <string.h>

#include "alloc/keep.h"
#include "perf/err.h"

int main(int argc, char **argv)
{
    struct keep *k;
    if (argc < 3)
        return 2;
    struct keep_opts o = {.dir = argv[1], .name = argv[2], .bytes = 300001, .node = -1};
    memset(o.identity, 0xa5, sizeof o.identity);
    int rc = keep_open(&k, &o);
    if (!rc && !keep_ready(k)) {
        memset(keep_data(k), 7, 300001);
        rc = keep_seal(k);
    }
    if (!rc && argc > 3) {
        puts("held");
        fflush(stdout);
        getchar();
    }
    if (!rc)
        rc = keep_close(k);
    if (rc)
        fprintf(stderr, "%s\n", pen_last_error());
    return rc ? 1 : 0;
}
