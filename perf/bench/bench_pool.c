/* bench_pool: lease and return of a triple of 12 units: uncontended, then with many threads on few
 * CPUs, beside a mutex with a free list doing the same in the same run, both in turns. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/pool.h"
#include "perf/bench/bench.h"
#include "perf/clock.h"
#include "perf/err.h"

enum { UNIT = 2 << 20, ARENAS = 8, LEASES = 2 * ARENAS, THREADS_MAX = 64, SUB = 16, OCTAVES = 40 };

/* The rival: what a pool usually is. Intrusive list of free triples, one mutex. */
struct triple {
    struct triple *next;
    void *base;
};
static struct {
    pthread_mutex_t lock;
    struct triple *first;
} rival = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct triple triples[LEASES];

static struct triple *rival_take(void)
{
    pthread_mutex_lock(&rival.lock);
    struct triple *t = rival.first;
    if (t)
        rival.first = t->next;
    pthread_mutex_unlock(&rival.lock);
    return t;
}

static void rival_give(struct triple *t)
{
    pthread_mutex_lock(&rival.lock);
    t->next = rival.first;
    rival.first = t;
    pthread_mutex_unlock(&rival.lock);
}

static struct pool *pool;
static const struct pool_want want = {.size = {4 * UNIT, 4 * UNIT, 4 * UNIT}, .buffers = 3};

/* Latencies: 16 steps per octave of nanoseconds. */
struct latency {
    uint64_t count[OCTAVES * SUB], n, max;
};

static void latency_add(struct latency *h, uint64_t ns)
{
    unsigned octave = ns < SUB ? 0 : 63u - (unsigned)__builtin_clzll(ns) - 3u;
    unsigned i = octave == 0 ? (unsigned)ns : octave * SUB + (unsigned)(ns >> (octave - 1) & (SUB - 1));
    h->count[i < OCTAVES * SUB ? i : OCTAVES * SUB - 1]++;
    h->n++;
    h->max = ns > h->max ? ns : h->max;
}

static double latency_at(const struct latency *h, double share)
{
    uint64_t seen = 0, goal = (uint64_t)((double)h->n * share);
    for (unsigned i = 0; i < OCTAVES * SUB; i++) {
        seen += h->count[i];
        if (seen > goal)
            return i < SUB ? i : (double)((uint64_t)(SUB + i % SUB) << (i / SUB - 1));
    }
    return (double)h->max;
}

static _Atomic int phase; /* 0 wait, 1 pool, 2 rival, 3 end */
struct thread {
    pthread_t id;
    struct latency pool, rival;
    uint64_t missed;
};

static void once_pool(struct thread *t)
{
    struct lease l;
    uint64_t t0 = clock_now_ns();
    int rc = pool_take(pool, &l, &want);
    uint64_t t1 = clock_now_ns();
    if (rc) {
        t->missed++;
        return;
    }
    l.base[0]++; /* use it */
    uint64_t t2 = clock_now_ns();
    pool_give(pool, &l);
    latency_add(&t->pool, t1 - t0 + clock_now_ns() - t2);
}

static void once_rival(struct thread *t)
{
    uint64_t t0 = clock_now_ns();
    struct triple *l = rival_take();
    uint64_t t1 = clock_now_ns();
    if (!l) {
        t->missed++;
        return;
    }
    ++*(unsigned char *)l->base;
    uint64_t t2 = clock_now_ns();
    rival_give(l);
    latency_add(&t->rival, t1 - t0 + clock_now_ns() - t2);
}

static void *run(void *arg)
{
    struct thread *t = arg;
    for (;;) {
        switch (atomic_load_explicit(&phase, memory_order_relaxed)) {
        case 0:
            usleep(100);
            break;
        case 1:
            once_pool(t);
            break;
        case 2:
            once_rival(t);
            break;
        default:
            return NULL;
        }
    }
}

static double uncontended(bool ours)
{
    enum { N = 1000000 };
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        uint64_t t0 = clock_now_ns();
        for (int i = 0; i < N; i++) {
            if (ours) {
                struct lease l;
                if (pool_take(pool, &l, &want) || pool_give(pool, &l))
                    return -1;
            } else {
                rival_give(rival_take());
            }
        }
        double ns = (double)(clock_now_ns() - t0) / N;
        best = ns < best ? ns : best;
    }
    return best;
}

static void show(struct bench *b, const char *name, const struct latency *h, double seconds)
{
    double p50 = latency_at(h, 0.5), p99 = latency_at(h, 0.99), p999 = latency_at(h, 0.999),
           p9999 = latency_at(h, 0.9999);
    bench_row(b,
              json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "contended", name, "per_second", (double)h->n / seconds,
                        "p50_ns", p50, "p99_ns", p99, "p99.9_ns", p999, "p99.99_ns", p9999, "max_ns", (double)h->max),
              "  %-18s %10.0f op/s   p50 %6.0f  p99 %7.0f  p99.9 %8.0f  p99.99 %9.0f  max %9.0f ns", name,
              (double)h->n / seconds, p50, p99, p999, p9999, (double)h->max);
}

static void sum(struct latency *to, const struct latency *from)
{
    for (unsigned i = 0; i < OCTAVES * SUB; i++)
        to->count[i] += from->count[i];
    to->n += from->n;
    to->max = from->max > to->max ? from->max : to->max;
}

static void contended(struct bench *b, double seconds, unsigned threads)
{
    static struct thread t[THREADS_MAX];
    static struct latency ours, theirs;
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&t[i].id, NULL, run, &t[i]);
    for (int i = 0; i < 10; i++) { /* turns, so that a busy machine disturbs both alike */
        atomic_store(&phase, 1 + i % 2);
        usleep((useconds_t)(seconds * 1e5));
    }
    atomic_store(&phase, 3);
    uint64_t missed = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(t[i].id, NULL);
        sum(&ours, &t[i].pool);
        sum(&theirs, &t[i].rival);
        missed += t[i].missed;
    }
    bench_say(b, "take + give, %u threads on %ld CPUs (clock reads included, %lu found nothing):", threads,
              sysconf(_SC_NPROCESSORS_ONLN), missed);
    show(b, "pool", &ours, seconds / 2);
    show(b, "mutex + free list", &theirs, seconds / 2);
}

static const char doc[] =
    "Take and give a lease of three buffers, 12 units of 2 MiB: one thread alone, then many on few "
    "CPUs, beside a mutex with a free list doing the same in turns.\v"
    "Examples:\n"
    "  penstock bench pool\n"
    "  penstock bench pool --seconds 10 --threads 32 --json";

enum { OPT_SECONDS = 256, OPT_THREADS };
static const struct argp_option options[] = {
    {"seconds", OPT_SECONDS, "N", 0, "Length of the contended part; default: 2", 1},
    {"threads", OPT_THREADS, "N", 0, "Threads of the contended part, up to 64; default: 16", 1},
    {0},
};

struct pool_bench {
    struct bench bench;
    unsigned seconds, threads;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct pool_bench *p = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &p->bench;
        return 0;
    case OPT_SECONDS:
        p->seconds = (unsigned)bench_number(state, "--seconds", arg, 1, 3600);
        return 0;
    case OPT_THREADS:
        p->threads = (unsigned)bench_number(state, "--threads", arg, 1, THREADS_MAX);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "too many arguments: \"%s\"", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&bench_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "", doc, children, NULL, NULL};

int main(int argc, char **argv)
{
    struct pool_bench p = {.bench = {.name = "pool"}, .seconds = 2, .threads = 16};
    bench_options(&parser, argc, argv, &p);
    struct pool_node_opts node = {.id = -1, .start_units = 24 * ARENAS};
    struct pool_opts o = {.node = &node, .n_nodes = 1, .unit_bytes = UNIT, .tier = TIER_2M};
    bench_must(&p.bench, pool_open(&pool, &o));
    struct lease l[LEASES];
    for (int i = 0; i < LEASES; i++) {
        bench_must(&p.bench, pool_take(pool, &l[i], &want));
        triples[i].base = l[i].base;
        rival_give(&triples[i]);
    }
    for (int i = 0; i < LEASES; i++)
        pool_give(pool, &l[i]);
    struct pool_view v;
    pool_read(pool, &v);
    bench_say(&p.bench, "%u arenas of 24 units of 2 MiB, %s", v.arenas, hugepage_tier_name(v.lowest));
    double ours = uncontended(true), theirs = uncontended(false);
    bench_row(&p.bench,
              json_pack("{s:s, s:f, s:f, s:s}", "alone", "take + give of 12 units", "pool_ns", ours, "mutex_ns", theirs,
                        "memory", hugepage_tier_name(v.lowest)),
              "take + give of 12 units, one thread: pool %.1f ns, mutex + free list %.1f ns", ours, theirs);
    contended(&p.bench, p.seconds, p.threads);
    bench_must(&p.bench, pool_close(pool));
    return bench_end(&p.bench);
}
