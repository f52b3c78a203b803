/* bench_link: what a device's link carries: copies to it, from it and both at once, for each chunk size, with host
 * memory that is registered (pinned) and memory that is not. Through cuda/device.h, so on any device; on the host
 * device it is what memcpy does.
 *
 * All bytes of a measurement are queued in chunks of one size on one stream (both: one stream each way) and waited for;
 * least time of the runs, after one that is not counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/hugepage.h"
#include "cuda/device.h"
#include "engine/cli/opt_device.h"
#include "perf/bench/bench.h"
#include "perf/err.h"
#include "perf/units.h"

static const char doc[] = "Measure copies to and from a device, pinned and pageable, for each chunk size.\v"
                          "Examples:\n"
                          "  penstock bench link --device cuda:0\n"
                          "  penstock bench link --device host --bytes 256MiB --json";

enum { OPT_BYTES = 256, OPT_CHUNK, OPT_RUNS, OPT_NODE, CHUNKS = 16 };
static const struct argp_option options[] = {
    {"bytes", OPT_BYTES, "SIZE", 0, "Bytes of each measurement; default: 1GiB", 1},
    {"chunk", OPT_CHUNK, "SIZE", 0, "Chunk size; may be repeated; default: 1, 4, 16, 64 and 256 MiB", 1},
    {"runs", OPT_RUNS, "N", 0, "Runs of each; default: 3", 1},
    {"node", OPT_NODE, "N", 0, "NUMA node of the host memory; default: where the kernel likes", 1},
    {0},
};

enum way { WAY_TO, WAY_FROM, WAY_BOTH, WAYS };
static const char *const way_names[WAYS] = {"to device", "from device", "both"};

struct link {
    struct bench bench;
    struct device_choice choice;
    uint64_t bytes, chunk[CHUNKS];
    unsigned chunks, runs;
    int node;
    struct device *d;
    struct stream *s[2];
    struct dbuf buf[2];
    unsigned char *host[2];
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct link *l = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &l->choice;
        state->child_inputs[1] = &l->bench;
        return 0;
    case OPT_BYTES:
        l->bytes = bench_size(state, "--bytes", arg);
        return 0;
    case OPT_CHUNK:
        if (l->chunks == CHUNKS)
            argp_error(state, "--chunk may be given %d times", CHUNKS);
        l->chunk[l->chunks++] = bench_size(state, "--chunk", arg);
        return 0;
    case OPT_RUNS:
        l->runs = (unsigned)bench_number(state, "--runs", arg, 1, 1000);
        return 0;
    case OPT_NODE:
        l->node = (int)bench_number(state, "--node", arg, 0, 1023);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "too many arguments: \"%s\"", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&device_argp, 0, NULL, 0}, {&bench_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "", doc, children, NULL, NULL};

static int copy_chunk(struct link *l, unsigned way, uint64_t at, uint64_t n)
{
    struct dbuf device = dbuf_at(l->buf[way], at, n);
    return way == WAY_TO ? l->d->ops->copy_h2d(l->s[way], device, l->host[way] + at, n)
                         : l->d->ops->copy_d2h(l->s[way], l->host[way] + at, device, n);
}

static double run_once(struct link *l, enum way way, uint64_t chunk)
{
    double begin = bench_now_s();
    for (uint64_t at = 0; at < l->bytes; at += chunk) {
        uint64_t n = l->bytes - at < chunk ? l->bytes - at : chunk;
        for (unsigned k = 0; k < 2; k++)
            if (way == WAY_BOTH || way == (enum way)k)
                bench_must(&l->bench, copy_chunk(l, k, at, n));
    }
    for (unsigned k = 0; k < 2; k++)
        bench_must(&l->bench, l->d->ops->stream_sync(l->s[k]));
    return bench_now_s() - begin;
}

static void measure(struct link *l, const char *memory)
{
    for (unsigned c = 0; c < l->chunks; c++) {
        for (enum way way = 0; way < WAYS; way++) {
            double t[1000];
            run_once(l, way, l->chunk[c]);
            for (unsigned i = 0; i < l->runs; i++)
                t[i] = run_once(l, way, l->chunk[c]);
            struct bench_spread s = bench_spread(t, l->runs);
            double bytes = (double)l->bytes * (way == WAY_BOTH ? 2 : 1);
            char size[UNITS_TEXT];
            bench_row(&l->bench,
                      json_pack("{s:s, s:s, s:I, s:I, s:o, s:f}", "memory", memory, "way", way_names[way],
                                "chunk_bytes", (json_int_t)l->chunk[c], "bytes", (json_int_t)bytes, "seconds",
                                bench_spread_json(&s), "gb_per_s", bytes / s.least * 1e-9),
                      "%-9s %-12s chunks of %-10s %8.2f GB/s  (median %.2f)", memory, way_names[way],
                      units_bytes(size, l->chunk[c]), bytes / s.least * 1e-9, bytes / s.middle * 1e-9);
        }
    }
}

static void pinned(struct link *l)
{
    struct hugepage_map m[2];
    for (int k = 0; k < 2; k++) {
        uint64_t bytes = (l->bytes + (2u << 20) - 1) & ~((2ull << 20) - 1);
        bench_must(&l->bench, hugepage_map(&m[k], &(struct hugepage_opts){.bytes = bytes, .node = l->node}));
        bench_must(&l->bench, l->d->ops->host_register(l->d, m[k].base, m[k].bytes));
        l->host[k] = m[k].base;
    }
    bench_say(&l->bench, "pinned: %s", hugepage_tier_name(m[0].tier));
    measure(l, "pinned");
    for (int k = 0; k < 2; k++) {
        bench_must(&l->bench, l->d->ops->host_unregister(l->d, m[k].base));
        bench_must(&l->bench, hugepage_unmap(&m[k]));
    }
}

static void pageable(struct link *l)
{
    for (int k = 0; k < 2; k++) {
        l->host[k] = malloc(l->bytes);
        if (!l->host[k])
            bench_must(&l->bench, err_fail(-ENOMEM, "no memory for %lu bytes", l->bytes));
        memset(l->host[k], 1, l->bytes);
    }
    measure(l, "pageable");
    for (int k = 0; k < 2; k++)
        free(l->host[k]);
}

int main(int argc, char **argv)
{
    struct link l = {.bench = {.name = "link"}, .bytes = 1u << 30, .runs = 3, .node = -1};
    bench_options(&parser, argc, argv, &l);
    if (l.chunks == 0) {
        static const uint64_t usual[] = {1u << 20, 4u << 20, 16u << 20, 64u << 20, 256u << 20};
        memcpy(l.chunk, usual, sizeof usual);
        l.chunks = sizeof usual / sizeof *usual;
    }
    bench_must(&l.bench, device_choice_open(&l.d, &l.choice, DEVICE_ROWS_MANY));
    struct device_info info;
    bench_must(&l.bench, l.d->ops->info(l.d, &info));
    char size[UNITS_TEXT];
    bench_say(&l.bench, "%s, %s each way", info.name, units_bytes(size, l.bytes));
    for (int k = 0; k < 2; k++) {
        bench_must(&l.bench, l.d->ops->alloc(l.d, &l.buf[k], l.bytes));
        bench_must(&l.bench, l.d->ops->stream_open(l.d, &l.s[k], NULL));
        bench_must(&l.bench, l.d->ops->zero(l.s[k], l.buf[k], l.bytes));
    }
    pinned(&l);
    pageable(&l);
    for (int k = 0; k < 2; k++) {
        l.d->ops->stream_close(l.s[k]);
        l.d->ops->free(l.d, l.buf[k]);
    }
    l.d->ops->close(l.d);
    return bench_end(&l.bench);
}
