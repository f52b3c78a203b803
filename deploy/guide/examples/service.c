/* A small service: two circuits stay loaded, requests come as lines "NAME WITNESS.wtns", urgent ones as "!NAME ...".
 *
 *     service a=first.zkey b=second.zkey <requests
 *
 * It shows back-pressure (-EAGAIN: wait for a result and try again), priorities, idempotency keys, and an orderly end:
 * at end of input, or on SIGTERM or SIGINT, no request is taken any more, what was taken is finished within DRAIN_MS,
 * and what is not is cancelled. A second signal kills as usual. */
#include <errno.h>
#include <penstock/engine.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { WAITING = 256, DRAIN_MS = 30000 };

static volatile sig_atomic_t stopping;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stopping = 1;
}

static struct pen_engine *engine;
static uint64_t waiting[WAITING];
static unsigned first, n, failures;

/* Collect the oldest result. */
static void collect(void)
{
    struct pen_result r;
    uint64_t job = waiting[first];
    first = (first + 1) % WAITING;
    n--;
    if (pen_wait(engine, &r, job, PEN_FOREVER)) {
        fprintf(stderr, "%s\n", pen_last_error());
        failures++;
        return;
    }
    printf("job %llu: %s after %.3f s%s%s\n", (unsigned long long)job, pen_state_name(r.state), r.queued_s + r.run_s,
           r.why[0] ? ": " : "", r.why);
    failures += r.state != PEN_DONE;
    pen_result_close(&r);
}

static int submit(const char *name, const char *path)
{
    /* the key joins a request that comes twice to its first job */
    char key[65];
    snprintf(key, sizeof key, "%.60s", path + (strlen(path) > 60 ? strlen(path) - 60 : 0));
    struct pen_job_opts opts = {.priority = name[0] == '!' ? PEN_CRITICAL : PEN_NORMAL, .key = key};
    uint64_t job;
    int rc;
    while ((rc = pen_submit_file(engine, &job, name + (name[0] == '!'), path, &opts)) == -EAGAIN && n)
        collect();
    if (rc)
        return rc;
    if (n == WAITING)
        collect();
    waiting[(first + n++) % WAITING] = job;
    return 0;
}

int main(int argc, char **argv)
{
    struct pen_engine_opts opts = {.max_jobs = 16};
    if (argc < 2)
        return fprintf(stderr, "usage: service NAME=KEY.zkey ... <requests\n"), 2;
    if (pen_engine_open(&engine, &opts))
        return fprintf(stderr, "%s\n", pen_last_error()), 1;
    for (int i = 1; i < argc; i++) {
        char *path = strchr(argv[i], '=');
        if (!path)
            return fprintf(stderr, "%s: NAME=KEY.zkey is expected\n", argv[i]), 2;
        *path++ = 0;
        if (pen_circuit_load(engine, argv[i], path))
            return fprintf(stderr, "%s\n", pen_last_error()), 1;
    }
    /* without SA_RESTART: the read ends */
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    char line[4096], name[64], path[4000];
    while (!stopping && fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%63s %3999[^\n]", name, path) == 2 && submit(name, path)) {
            fprintf(stderr, "%s\n", pen_last_error());
            failures++;
        }
    }
    struct pen_stats s;
    if (pen_engine_drain(engine, DRAIN_MS)) {
        fprintf(stderr, "%s; they are cancelled\n", pen_last_error());
        for (unsigned i = 0; i < n; i++)
            (void)pen_cancel(engine, waiting[(first + i) % WAITING]);
    }
    while (n)
        collect();
    if (pen_engine_stats(engine, &s) == 0)
        printf("%llu done, %llu failed, %llu joined\n", (unsigned long long)s.done, (unsigned long long)s.failed,
               (unsigned long long)s.joined);
    pen_engine_close(engine);
    return failures != 0;
}
