/* A soak: clients come and go for SECONDS (20; the long run is `soak 1800`), each with its own mix of files, memory and
 * producers, priorities, idempotency keys and deadlines; they cancel at random, and some walk away from their jobs
 * without a word. Circuits are dropped and loaded again meanwhile. Claims: every proof that comes out verifies, nothing
 * fails but what was asked to, resident memory and open files do not grow after the first quarter, and at the end no
 * input, no job and no byte of the queue is left.
 *
 *     soak [SECONDS [SEED]]        prints a line a minute */
#include <errno.h>
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "penstock/engine.h"
#include "penstock/verify.h"
#include "perf/clock.h"

#define DATA PENSTOCK_TEST_DATA
static const char *const names[] = {"bn128/mult", "bn128/linear", "bn128/poseidon1", "bls12381/mult", "bls12381/nopub"};
enum { CIRCUITS = sizeof names / sizeof *names, CLIENTS = 4, HELD = 12, SPARE = CIRCUITS - 1 /* dropped and loaded */ };

struct file {
    char *data;
    size_t bytes;
};
static struct file wtns[CIRCUITS], vk[CIRCUITS], publics[CIRCUITS];
static struct pen_engine *engine;
static _Atomic uint64_t proofs, cancelled, late, left_alone, refused;
static _Atomic bool stop, broken;

static void breaks(const char *what, const char *why)
{
    fprintf(stderr, "soak: %s: %s\n", what, why);
    broken = true;
    stop = true;
}

static uint64_t rnd(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static void path_of(char out[512], int c, const char *ext)
{
    const char *name = strrchr(names[c], '/') + 1;
    snprintf(out, 512, DATA "/%s/%s%s", names[c], ext[0] == '.' ? name : "", ext);
}

static bool slurp(struct file *f, int c, const char *ext)
{
    char path[512];
    path_of(path, c, ext);
    FILE *in = fopen(path, "rb");
    f->data = in ? malloc(1 << 20) : NULL;
    f->bytes = f->data ? fread(f->data, 1, 1 << 20, in) : 0;
    if (in)
        fclose(in);
    return f->bytes > 0;
}

static int load(int c)
{
    char path[512];
    path_of(path, c, ".zkey");
    return pen_circuit_load(engine, names[c], path);
}

/* The witness's scalars, after 76 bytes of headers; now and then the synthesis fails. */
struct production {
    int circuit;
    bool fails;
};
static struct production productions[CIRCUITS][2];

static int produce(void *ctx, void *scalars, size_t n)
{
    const struct production *p = ctx;
    if (p->fails)
        return -EIO;
    memcpy(scalars, wtns[p->circuit].data + 76, n * 32);
    return 0;
}

struct held {
    uint64_t job;
    int circuit;
    bool may_fail;
};

static int submit_one(struct held *h, uint64_t *r)
{
    char key[32], path[512];
    struct pen_job_opts opts = {.priority = (enum pen_priority)(rnd(r) % 4)};
    *h = (struct held){.circuit = (int)(rnd(r) % CIRCUITS)};
    if (rnd(r) % 8 == 0)
        opts.timeout_ms = 1 + rnd(r) % 20;
    if (rnd(r) % 4 == 0) {
        snprintf(key, sizeof key, "%s-%d", "again", h->circuit * 100 + (int)(rnd(r) % 20));
        opts.key = key;
    }
    h->may_fail = opts.timeout_ms || h->circuit == SPARE; /* late, or dropped under it */
    switch (opts.key ? 0 : rnd(r) % 3) {
    case 0:
        path_of(path, h->circuit, ".wtns");
        return pen_submit_file(engine, &h->job, names[h->circuit], path, &opts);
    case 1:
        return pen_submit_memory(engine, &h->job, names[h->circuit], wtns[h->circuit].data, wtns[h->circuit].bytes,
                                 &opts);
    default: {
        bool fails = rnd(r) % 16 == 0;
        h->may_fail |= fails;
        return pen_submit_producer(engine, &h->job, names[h->circuit], produce, &productions[h->circuit][fails], &opts);
    }
    }
}

static void judge(const struct held *h, struct pen_result *r)
{
    if (r->state != PEN_DONE) {
        (r->state == PEN_CANCELLED ? &cancelled : &late)[0]++;
        if (r->state == PEN_FAILED && !h->may_fail && r->error != -ETIMEDOUT)
            breaks(names[h->circuit], r->why);
        return;
    }
    enum pen_verdict verdict = PEN_FALSE;
    const struct file *v = &vk[h->circuit], *p = &publics[h->circuit];
    int rc = pen_verify(&verdict, v->data, v->bytes, r->public_json, strlen(r->public_json), r->proof_json,
                        strlen(r->proof_json));
    if (rc || verdict != PEN_VALID || strlen(r->public_json) != p->bytes ||
        memcmp(r->public_json, p->data, p->bytes) != 0)
        breaks(names[h->circuit], "a proof that came out does not verify");
    proofs++;
}

/* One visit: some jobs, some cancels, and in one of eight the client is gone before its results. */
static void visit(uint64_t *r)
{
    struct held held[HELD];
    unsigned n = 1 + (unsigned)(rnd(r) % HELD), have = 0;
    for (unsigned i = 0; i < n; i++) {
        int rc = submit_one(&held[have], r);
        if (rc == 0)
            have++;
        else if (rc == -EAGAIN || (rc == -ENOENT && held[have].circuit == SPARE))
            refused++;
        else
            breaks("submit", pen_last_error());
    }
    for (unsigned i = 0; i < have; i++) {
        if (rnd(r) % 5 == 0) {
            held[i].may_fail = true;
            (void)pen_cancel(engine, held[i].job);
        }
    }
    if (rnd(r) % 8 == 0) {
        left_alone += have;
        return;
    }
    for (unsigned i = 0; i < have && !broken; i++) {
        struct pen_result result;
        int rc = pen_wait(engine, &result, held[i].job, PEN_FOREVER);
        if (rc && rc != -ENOENT) /* dropped: kept long enough */
            breaks("wait", pen_last_error());
        if (rc)
            continue;
        judge(&held[i], &result);
        pen_result_close(&result);
    }
}

static void *client(void *arg)
{
    uint64_t r = *(uint64_t *)arg;
    while (!stop)
        visit(&r);
    return NULL;
}

static size_t rss_kib(void)
{
    size_t pages = 0, total;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%zu %zu", &total, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static unsigned files_open(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

struct level {
    size_t rss;
    unsigned files;
};

static struct level look(void)
{
    return (struct level){rss_kib(), files_open()};
}

static void say(double at, struct level l)
{
    printf(
        "%6.0f s: %llu proofs, %llu cancelled, %llu late or failed as asked, %llu left alone, %llu refused; %zu KiB, "
        "%u files\n",
        at, (unsigned long long)proofs, (unsigned long long)cancelled, (unsigned long long)late,
        (unsigned long long)left_alone, (unsigned long long)refused, l.rss, l.files);
    fflush(stdout);
}

/* AddressSanitizer keeps up to 256 MiB of freed blocks; whether any is lost its own leak check tells. */
#ifdef __SANITIZE_ADDRESS__
enum { SLACK_KIB = 300 << 10 };
#else
enum { SLACK_KIB = 2 << 10 };
#endif

/* Time goes by; a circuit is dropped when nobody needs it, and comes back. Peaks of the second quarter are the measure
 * for the last one. */
static bool run(double seconds)
{
    struct level before = {0, 0}, after = {0, 0};
    uint64_t begin_ns = clock_now_ns(), minute = 1;
    bool loaded = true;
    for (double at = 0; at < seconds && !stop; at = (double)(clock_now_ns() - begin_ns) * 1e-9) {
        clock_sleep(50000000);
        int rc = loaded ? pen_circuit_drop(engine, names[SPARE]) : load(SPARE);
        if (rc == 0)
            loaded = !loaded;
        else if (rc != -EBUSY)
            breaks("drop and load", pen_last_error());
        struct level now = look();
        struct level *of = at > 0.75 * seconds ? &after : at > 0.25 * seconds && at < 0.5 * seconds ? &before : NULL;
        if (of && now.rss > of->rss)
            of->rss = now.rss;
        if (of && now.files > of->files)
            of->files = now.files;
        if (at > (double)minute * 60) {
            say(at, now);
            minute++;
        }
    }
    stop = true;
    say(seconds, look());
    printf("peaks of the second and the last quarter: %zu and %zu KiB, %u and %u files\n", before.rss, after.rss,
           before.files, after.files);
    if (after.rss > before.rss + before.rss / 16 + SLACK_KIB || after.files > before.files + 16)
        breaks("memory or files", "they grow");
    return !broken;
}

static bool nothing_left(void)
{
    struct pen_stats s;
    if (pen_engine_drain(engine, 60000) || pen_engine_stats(engine, &s))
        return false;
    printf("at the end: %u waiting, %u running, %llu bytes of inputs, %llu bytes queued\n", s.waiting, s.running,
           (unsigned long long)s.input_bytes, (unsigned long long)s.queue_bytes);
    return s.waiting + s.running + s.input_bytes + s.queue_bytes == 0;
}

int main(int argc, char **argv)
{
    static const char *const host[] = {"host", "host"};
    double seconds = argc > 1 ? atof(argv[1]) : 20;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, seeds[CLIENTS];
    struct pen_engine_opts opts = {
        .devices = host, .n_devices = 2, .threads = 1, .max_jobs = 48, .keep_ms = 300, .input_bytes = 1 << 20};
    if (pen_engine_open(&engine, &opts))
        return fprintf(stderr, "soak: %s\n", pen_last_error()), 1;
    for (int c = 0; c < CIRCUITS; c++) {
        productions[c][0] = (struct production){c, false};
        productions[c][1] = (struct production){c, true};
        if (!slurp(&wtns[c], c, ".wtns") || !slurp(&vk[c], c, "verification_key.json") ||
            !slurp(&publics[c], c, "public.json") || load(c))
            return fprintf(stderr, "soak: %s: %s\n", names[c], pen_last_error()), 1;
    }
    printf("soak: %.0f s, seed %llu\n", seconds, (unsigned long long)seed);
    pthread_t thread[CLIENTS];
    for (unsigned i = 0; i < CLIENTS; i++) {
        seeds[i] = (seed * CLIENTS + i + 1) * 0x9e3779b97f4a7c15u;
        if (pthread_create(&thread[i], NULL, client, &seeds[i]))
            return fprintf(stderr, "soak: no thread\n"), 1;
    }
    bool good = run(seconds);
    for (unsigned i = 0; i < CLIENTS; i++)
        pthread_join(thread[i], NULL);
    good = nothing_left() && good && !broken;
    pen_engine_close(engine);
    for (int c = 0; c < CIRCUITS; c++) {
        free(wtns[c].data);
        free(vk[c].data);
        free(publics[c].data);
    }
    return good && proofs > 0 ? 0 : 1;
}
