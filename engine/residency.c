#include "engine/residency.h"

#include <math.h>
#include <string.h>

#include "perf/err.h"
#include "perf/units.h"

enum { WHY_MATRICES = GROTH16_PARTS, WHY_MULTIPLES, WHY_PASSES };
enum { CHUNK_BYTES = 64 << 20, CHUNKS = 4 }; /* the ring of a pass */

static const char *const host_names[] = {"nowhere", "pinned pages", "kept pages", "the disk"};

struct work {
    const struct key_sizes *key;
    const struct residency_limits *limits;
    struct residency_rates rates;
};

static double or_else(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

/* What an H200 took at 2^24 on 2026-12-01 (bench gpu): points without multiples, bits beside 2 % of full scalars, a
 * transform of the chain. Other devices are planned with the same until they are measured. */
static struct residency_rates rates_fill(const struct residency_rates *given, const struct curve *curve)
{
    static const struct residency_rates none;
    const struct residency_rates *r = given ? given : &none;
    bool wide = curve->id == CURVE_BLS12_381;
    return (struct residency_rates){
        .link_bytes_per_s = or_else(r->link_bytes_per_s, 55.4e9),
        .pageable_bytes_per_s = or_else(r->pageable_bytes_per_s, 7.6e9),
        .disk_bytes_per_s = or_else(r->disk_bytes_per_s, 6e9),
        .msm_ns = {or_else(r->msm_ns[GROUP_G1], wide ? 6.72 : 3.31),
                   or_else(r->msm_ns[GROUP_G2], wide ? 20.9 : 10.1)},
        .multiples_gain = or_else(r->multiples_gain, 0.13),
        .bit_ns = {or_else(r->bit_ns[GROUP_G1], wide ? 0.67 : 0.41), or_else(r->bit_ns[GROUP_G2], wide ? 1.82 : 0.89)},
        .ntt_ns = or_else(r->ntt_ns, wide ? 0.238 : 0.254),
        .spmv_ns = or_else(r->spmv_ns, 0.06),
    };
}

static enum group part_group(int part)
{
    return part == PART_B2 ? GROUP_G2 : GROUP_G1;
}

static uint64_t part_bytes(const struct key_sizes *key, int part)
{
    return key->points[part] * key->curve->point_bytes[part_group(part)];
}

static uint64_t matrices_bytes(const struct key_sizes *key)
{
    return key->nonzeros * 8 + key->n_dict * 32 + 2 * (key->domain_size + 1) * 8;
}

static uint64_t slot_bytes(const struct key_sizes *key)
{
    return key->n_vars * 32;
}

static uint64_t transform_bytes(const struct key_sizes *key)
{
    return 3 * key->domain_size * 32;
}

/* Copies of bases pay where scalars are full: the quotient's always are. */
static bool part_multiplied(const struct key_sizes *key, const struct residency_plan *p, int part)
{
    return p->part[part] == PLACE_DEVICE && part_group(part) == GROUP_G1 &&
           (part == PART_H || or_else(key->full_share, 1) >= 0.5);
}

unsigned residency_multiples(const struct residency_plan *p, const struct key_sizes *key, int part)
{
    return part_multiplied(key, p, part) ? p->multiples : 1;
}

double residency_score(const struct residency_plan *p)
{
    return p->proof_s + 0.05 * p->link_s;
}

/* Kernels of one proof. Copies of the bases save additions: half of the gain with 4, all of it with 12. */
static double compute_time(const struct work *w, const struct residency_plan *p)
{
    double ns = 0;
    for (int i = 0; i < GROTH16_PARTS; i++) {
        double gain = part_multiplied(w->key, p, i)
                          ? w->rates.multiples_gain * log2(p->multiples) / log2(RESIDENCY_MULTIPLES)
                          : 0;
        double full = i == PART_H ? 1 : or_else(w->key->full_share, 1); /* the quotient has no bits */
        ns += (double)w->key->points[i] *
              (full * w->rates.msm_ns[part_group(i)] * (1 - gain) + (1 - full) * w->rates.bit_ns[part_group(i)]);
    }
    ns += 6 * (double)w->key->domain_size * w->rates.ntt_ns + (double)w->key->nonzeros * w->rates.spmv_ns;
    return ns * 1e-9;
}

/* Fill in what follows from the decisions. False: does not fit. */
static bool plan_cost(const struct work *w, struct residency_plan *p)
{
    const struct key_sizes *key = w->key;
    bool streams = !p->matrices_on_device;
    p->device_bytes = transform_bytes(key) + w->limits->scratch_bytes;
    p->streamed_bytes = p->matrices_on_device ? 0 : matrices_bytes(key);
    p->device_bytes += p->matrices_on_device ? matrices_bytes(key) : 0;
    for (int i = 0; i < GROTH16_PARTS; i++) {
        unsigned copies = part_multiplied(key, p, i) ? p->multiples : 1;
        if (p->part[i] == PLACE_DEVICE) {
            p->device_bytes += part_bytes(key, i) * copies;
        } else {
            streams = true;
            p->streamed_bytes += part_bytes(key, i);
        }
    }
    /* a shared pass holds all its witnesses and quotients at once; with two slots the next pass's come meanwhile */
    p->device_bytes += (uint64_t)p->slots * p->per_pass * slot_bytes(key) + (p->per_pass - 1) * key->domain_size * 32;
    p->device_bytes += streams ? (uint64_t)CHUNKS * CHUNK_BYTES : 0;
    p->host = !streams                                       ? HOST_NONE
              : w->limits->pinned_bytes >= p->streamed_bytes ? (w->limits->keep ? HOST_KEPT : HOST_PINNED)
                                                             : HOST_DISK;
    double rate = p->host != HOST_DISK                                        ? w->rates.link_bytes_per_s
                  : w->rates.disk_bytes_per_s < w->rates.pageable_bytes_per_s ? w->rates.disk_bytes_per_s
                                                                              : w->rates.pageable_bytes_per_s;
    uint64_t witness = key->witness_bytes ? key->witness_bytes : slot_bytes(key);
    p->link_bytes = witness + p->streamed_bytes / p->per_pass;
    p->link_s = (double)witness / w->rates.link_bytes_per_s + (double)p->streamed_bytes / p->per_pass / rate;
    p->compute_s = compute_time(w, p);
    p->proof_s = p->link_s > p->compute_s ? p->link_s : p->compute_s;
    if (p->slots == 1) /* its copy and its kernels take turns */
        p->proof_s += (double)witness / w->rates.link_bytes_per_s;
    uint64_t resident = 0;
    for (int i = 0; i < GROTH16_PARTS; i++)
        resident += p->part[i] == PLACE_DEVICE ? part_bytes(key, i) : 0;
    uint64_t from_disk = resident + (p->matrices_on_device ? matrices_bytes(key) : 0) +
                         (p->host == HOST_PINNED || p->host == HOST_KEPT ? p->streamed_bytes : 0);
    p->load_s = (double)from_disk / w->rates.disk_bytes_per_s;
    return p->device_bytes <= w->limits->device_bytes;
}

/* The lower score wins, then less memory. */
static bool better(const struct residency_plan *a, const struct residency_plan *b)
{
    double sa = residency_score(a), sb = residency_score(b);
    return sa != sb ? sa < sb : a->device_bytes < b->device_bytes;
}

/* The best number of multiples, slots and proofs per pass for one set of resident parts. */
static bool set_search(const struct work *w, unsigned set, struct residency_plan *best, bool found)
{
    static const unsigned multiples[] = {1, 2, 3, 4, 6, 8, 12};
    unsigned most = w->limits->per_pass ? w->limits->per_pass : RESIDENCY_PASS;
    for (size_t m = 0; m < sizeof multiples / sizeof *multiples; m++) {
        for (unsigned slots = 1; slots <= 3; slots++) {
            for (unsigned per_pass = 1; per_pass <= most; per_pass++) {
                struct residency_plan p = {.multiples = multiples[m], .slots = slots, .per_pass = per_pass};
                p.matrices_on_device = set >> GROTH16_PARTS & 1;
                for (int i = 0; i < GROTH16_PARTS; i++)
                    p.part[i] = set >> i & 1 ? PLACE_DEVICE : PLACE_STREAMED;
                if (!plan_cost(w, &p))
                    break; /* more proofs in a pass need more */
                if (!found || better(&p, best))
                    *best = p;
                found = true;
                if (p.streamed_bytes == 0)
                    break;
            }
        }
    }
    return found;
}

/* All sets: 2^5 of parts, with and without matrices; some ten thousand sums. */
static bool plan_search(const struct work *w, struct residency_plan *best)
{
    bool found = false;
    for (unsigned set = 0; set < 2u << GROTH16_PARTS; set++)
        found = set_search(w, set, best, found);
    return found;
}

static void explain(const struct work *w, struct residency_plan *p)
{
    char bytes[UNITS_TEXT], more[UNITS_TEXT], time[UNITS_TEXT], other[UNITS_TEXT];
    for (int i = 0; i < GROTH16_PARTS; i++) {
        units_bytes(bytes, part_bytes(w->key, i));
        if (p->part[i] == PLACE_DEVICE)
            snprintf(p->why[i], RESIDENCY_WHY, "%s on the device", bytes);
        else if (p->link_s <= p->compute_s)
            snprintf(p->why[i], RESIDENCY_WHY, "%s streamed from %s: the kernels hide it", bytes, host_names[p->host]);
        else
            snprintf(p->why[i], RESIDENCY_WHY, "%s streamed from %s: the device has no room for it", bytes,
                     host_names[p->host]);
    }
    units_bytes(bytes, matrices_bytes(w->key));
    snprintf(p->why[WHY_MATRICES], RESIDENCY_WHY, "%s %s", bytes,
             p->matrices_on_device ? "on the device" : "streamed for each pass");
    if (p->multiples > 1)
        snprintf(p->why[WHY_MULTIPLES], RESIDENCY_WHY,
                 "%u copies of resident bases with full scalars: %s of kernels instead of %s", p->multiples,
                 units_seconds(time, p->compute_s),
                 units_seconds(other, compute_time(w, &(struct residency_plan){.multiples = 1})));
    else
        snprintf(p->why[WHY_MULTIPLES], RESIDENCY_WHY, "no copies of bases: no room, or the link decides");
    if (p->streamed_bytes)
        snprintf(p->why[WHY_PASSES], RESIDENCY_WHY, "%u proofs share each pass over %s: %s over the link for each",
                 p->per_pass, units_bytes(bytes, p->streamed_bytes), units_bytes(more, p->link_bytes));
    else
        snprintf(p->why[WHY_PASSES], RESIDENCY_WHY, "nothing is streamed: %s over the link for each proof",
                 units_bytes(bytes, p->link_bytes));
}

uint64_t residency_scratch(const struct key_sizes *key, uint64_t device_bytes)
{
    enum { WINDOWS = 12, SLICE = 1 << 26, BUCKETS = 1 << 21, FIXED = 256 << 20 };
    uint64_t most = key->domain_size;
    for (int i = 0; i < GROTH16_PARTS; i++)
        most = key->points[i] > most ? key->points[i] : most;
    uint64_t digits = (most < SLICE ? most : SLICE) * WINDOWS * 8;
    uint64_t sums = 2 * (3 * key->curve->point_bytes[GROUP_G1] + key->curve->point_bytes[GROUP_G2]);
    uint64_t buckets = WINDOWS * (most / 32 < BUCKETS ? most / 32 : BUCKETS) * sums;
    uint64_t all = digits + buckets + FIXED, share = device_bytes / 4;
    return all < share ? all : share;
}

int residency_make(struct residency_plan *plan, const struct key_sizes *key, const struct residency_limits *limits,
                   const struct residency_rates *rates)
{
    struct work w = {key, limits, rates_fill(rates, key->curve)};
    struct residency_plan best = {0};
    if (!plan_search(&w, &best)) {
        struct residency_plan least = {.multiples = 1, .slots = 1, .per_pass = 1};
        for (int i = 0; i < GROTH16_PARTS; i++)
            least.part[i] = PLACE_STREAMED;
        char need[UNITS_TEXT], have[UNITS_TEXT];
        (void)plan_cost(&w, &least);
        return err_fail(-ENOMEM, "the device has %s free; with all points streamed this key needs %s",
                        units_bytes(have, limits->device_bytes), units_bytes(need, least.device_bytes));
    }
    explain(&w, &best);
    *plan = best;
    return 0;
}

int residency_write(const struct residency_plan *p, FILE *out)
{
    char a[UNITS_TEXT], b[UNITS_TEXT], c[UNITS_TEXT];
    for (int i = 0; i < GROTH16_PARTS; i++)
        fprintf(out, "%-9s %s\n", groth16_part_names[i], p->why[i]);
    fprintf(out, "%-9s %s\n%-9s %s\n%-9s %s\n", "matrices", p->why[WHY_MATRICES], "copies", p->why[WHY_MULTIPLES],
            "passes", p->why[WHY_PASSES]);
    fprintf(out, "%-9s %s\n%-9s %s\n", "device", units_bytes(a, p->device_bytes), "load", units_seconds(b, p->load_s));
    fprintf(out, "%-9s %s (kernels %s, link %s)\n", "proof", units_seconds(a, p->proof_s),
            units_seconds(b, p->compute_s), units_seconds(c, p->link_s));
    return ferror(out) ? err_fail(-EIO, "cannot write the plan") : 0;
}
