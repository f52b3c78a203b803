#include "cuda/host/digits.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/host/memory.h"
#include "cuda/math/limbs.h"
#include "perf/err.h"

enum { CHUNK = 16384 };
enum kind { KIND_ZERO, KIND_ONE, KIND_SMALL, KIND_FULL };

struct digit_chunk {
    struct digit_counts count, first; /* own; before this chunk */
};

static bool is_small(const uint64_t m[4])
{
    return (m[1] | m[2] | m[3]) == 0 && m[0] >> DIGITS_SHORT_BITS == 0;
}

/* m = the smaller one of s and r - s; *negative when it is the latter */
static enum kind scalar_kind(uint64_t m[4], bool *negative, const struct scalar *s, const uint64_t *r)
{
    uint64_t other[4], t[4];
    memcpy(m, s->l, sizeof s->l);
    *negative = false;
    if (!is_small(m)) {
        limbs_sub(other, r, m, 4);
        if (limbs_sub(t, m, other, 4) == 0) {
            memcpy(m, other, sizeof other);
            *negative = true;
        }
        if (!is_small(m))
            return KIND_FULL;
    }
    return m[0] == 0 ? KIND_ZERO : m[0] == 1 ? KIND_ONE : KIND_SMALL;
}

static void count_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    struct digit_plan *p = arg;
    size_t end = (task + 1) * CHUNK < p->n ? (task + 1) * CHUNK : p->n;
    struct digit_counts c = {0};
    for (size_t i = task * CHUNK; i < end; i++) {
        uint64_t m[4];
        bool negative;
        enum kind k = scalar_kind(m, &negative, &p->scalars[i], p->curve->fr->p);
        c.one += k == KIND_ONE;
        c.small += k == KIND_SMALL;
        c.full += k == KIND_FULL;
    }
    p->chunk[task].count = c;
}

int digit_plan_open(struct digit_plan *out, struct threads *t, const struct curve *c, const struct scalar *scalars,
                    size_t n)
{
    struct digit_plan p = {.curve = c, .scalars = scalars, .n = n, .n_chunks = (n + CHUNK - 1) / CHUNK};
    if (n >= DIGITS_NEGATIVE)
        return err_fail(-EINVAL, "msm: %zu scalars are more than 2^31 - 1", n);
    p.chunk = calloc(p.n_chunks + 1, sizeof *p.chunk);
    if (!p.chunk)
        return err_fail(-ENOMEM, "msm: no memory for the counts of %zu scalars", n);
    threads_run(t, count_task, &p, p.n_chunks);
    for (size_t i = 0; i < p.n_chunks; i++) {
        p.chunk[i].first = p.total;
        p.total.one += p.chunk[i].count.one;
        p.total.small += p.chunk[i].count.small;
        p.total.full += p.chunk[i].count.full;
    }
    *out = p;
    return 0;
}

void digit_plan_close(struct digit_plan *p)
{
    free(p->chunk);
    p->chunk = NULL;
}

/* Digits are made independent of each other by adding half a window to every window first; the sum must stay below
 * 2^(windows * bits), which two spare bits ensure. */
static unsigned windows_for(unsigned value_bits, unsigned bits)
{
    return (value_bits + 2 + bits - 1) / bits;
}

unsigned digits_windows(const struct curve *c, unsigned bits)
{
    return windows_for(c->fr_bits - 1, bits);
}

struct fill {
    const struct digit_plan *plan;
    struct digits *d;
    uint64_t bias_small[5], bias_full[5];
};

static void bias_make(uint64_t bias[5], unsigned bits, unsigned windows)
{
    memset(bias, 0, 5 * sizeof *bias);
    for (unsigned w = 0; w < windows; w++) {
        unsigned at = w * bits + bits - 1;
        bias[at / 64] |= (uint64_t)1 << at % 64;
    }
}

static void put(struct digit_list *l, size_t at, uint32_t index, const uint64_t m[4], const uint64_t bias[5],
                unsigned bits)
{
    uint64_t v[6] = {m[0], m[1], m[2], m[3], 0, 0};
    limbs_add(v, v, bias, 5);
    l->index[at] = index;
    for (unsigned w = 0; w < l->windows; w++) {
        unsigned from = w * bits, word = from / 64, shift = from % 64;
        uint64_t x = v[word] >> shift;
        if (shift)
            x |= v[word + 1] << (64 - shift);
        l->digit[w * l->n + at] = (int16_t)((int32_t)(x & (((uint64_t)1 << bits) - 1)) - (1 << (bits - 1)));
    }
}

static void fill_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    const struct fill *f = arg;
    const struct digit_plan *p = f->plan;
    struct digits *d = f->d;
    struct digit_counts at = p->chunk[task].first;
    size_t end = (task + 1) * CHUNK < p->n ? (task + 1) * CHUNK : p->n;
    for (size_t i = task * CHUNK; i < end; i++) {
        uint64_t m[4];
        bool negative;
        enum kind k = scalar_kind(m, &negative, &p->scalars[i], p->curve->fr->p);
        uint32_t index = (uint32_t)i | (negative ? DIGITS_NEGATIVE : 0);
        if (k == KIND_ONE)
            d->one[at.one++] = index;
        else if (k == KIND_SMALL)
            put(&d->small, at.small++, index, m, f->bias_small, d->bits);
        else if (k == KIND_FULL)
            put(&d->full, at.full++, index, m, f->bias_full, d->bits);
    }
}

int digits_open(struct digits *out, struct threads *t, const struct digit_plan *plan, unsigned bits)
{
    struct digits d = {.bits = bits, .n_one = plan->total.one};
    d.small.n = plan->total.small;
    d.full.n = plan->total.full;
    d.small.windows = windows_for(DIGITS_SHORT_BITS, bits);
    d.full.windows = digits_windows(plan->curve, bits);
    size_t index = d.n_one + d.small.n + d.full.n;
    size_t digit = d.small.n * d.small.windows + d.full.n * d.full.windows;
    unsigned char *memory = memory_alloc(index * sizeof(uint32_t) + digit * sizeof(int16_t));
    if (!memory)
        return err_fail(-ENOMEM, "msm: no memory for the digits of %zu scalars", index);
    d.memory = memory;
    d.one = (uint32_t *)memory;
    d.small.index = d.one + d.n_one;
    d.full.index = d.small.index + d.small.n;
    d.small.digit = (int16_t *)(d.full.index + d.full.n);
    d.full.digit = d.small.digit + d.small.n * d.small.windows;
    struct fill f = {.plan = plan, .d = &d};
    bias_make(f.bias_small, bits, d.small.windows);
    bias_make(f.bias_full, bits, d.full.windows);
    threads_run(t, fill_task, &f, plan->n_chunks);
    *out = d;
    return 0;
}

void digits_close(struct digits *d)
{
    memory_free(d->memory);
    d->memory = NULL;
}
