/* Multi-scalar multiplication: signed windows, buckets summed by trees of affine additions.
 *
 * A task is one window of one set over one range of the scalars; it sums its buckets and folds them into one point. Its
 * range is walked in blocks whose points and sorted entries stay in cache. The ones of a set are tasks of their own.
 *
 *   results = sum over windows w of 2^(bits w) (sum over ranges of the task's point) + ones */
#include <stdlib.h>
#include <string.h>

#include "cuda/host/digits.h"
#include "cuda/host/host.h"
#include "cuda/host/tree.h"
#include "cuda/math/limbs.h"

/* Entries sorted at a time: 512 KiB of entries stay in L2, their points in L3. */
enum { BLOCK = 1 << 17, POINT_BYTES_MAX = 192 };

struct slot {
    struct tree *tree[GROUPS];
    uint32_t *entry, *end; /* BLOCK entries; per bucket */
    unsigned char *sums;
    uint8_t *used;
};

struct msm_task {
    const struct msm_set *set;
    unsigned window; /* or ONES */
    unsigned range;  /* of `ranges` */
    double cost;
};
enum { ONES = ~0u };

struct msm_job {
    struct host_device *device;
    const struct curve *curve;
    struct digits digits;
    size_t buckets; /* 2^(bits - 1), the largest digit */
    unsigned ranges;
    struct msm_task *tasks;
    size_t n_tasks;
    unsigned char *partial; /* per set: (windows + 1) x ranges points of POINT_BYTES_MAX */
    struct slot *slots;
    const struct msm_set *sets;
};

static unsigned char *partial_at(const struct msm_job *j, const struct msm_set *set, unsigned window, unsigned range)
{
    unsigned row = window == ONES ? j->digits.full.windows : window;
    size_t per_set = (size_t)(j->digits.full.windows + 1) * j->ranges;
    return j->partial + ((size_t)(set - j->sets) * per_set + (size_t)row * j->ranges + range) * POINT_BYTES_MAX;
}

/* First position of `list` whose scalar index is at least `index`. */
static size_t lower_bound(const uint32_t *list, size_t n, size_t index)
{
    size_t low = 0;
    while (n > 0) {
        size_t half = n / 2;
        if ((list[low + half] & ~DIGITS_NEGATIVE) < index) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

struct span_of {
    size_t begin, end;
};

/* Positions of `list` that belong to the set, and of these the task's range. */
static struct span_of task_span(const struct msm_job *j, const struct msm_task *t, const uint32_t *list, size_t n)
{
    size_t begin = lower_bound(list, n, t->set->first);
    size_t len = lower_bound(list, n, t->set->first + t->set->bases->n) - begin;
    return (struct span_of){begin + len * t->range / j->ranges, begin + len * (t->range + 1) / j->ranges};
}

static bool is_finite(const struct bases *b, size_t i)
{
    return b->finite[i / 64] >> (i % 64) & 1;
}

/* Sort one block of digits by bucket (counting sort) and add it to the bucket sums. */
static void block_add(const struct msm_job *j, struct slot *s, const struct msm_task *t, const uint32_t *index,
                      const int16_t *digit, size_t n)
{
    const struct bases *b = t->set->bases;
    const uint32_t first = (uint32_t)t->set->first;
    const bool all = b->n_finite == b->n;
    memset(s->end, 0, (j->buckets + 1) * sizeof *s->end);
    for (size_t i = 0; i < n; i++) {
        int d = digit[i];
        if (d != 0 && (all || is_finite(b, (index[i] & ~DIGITS_NEGATIVE) - first)))
            s->end[d < 0 ? -d : d]++;
    }
    uint32_t sum = 0; /* end[d] becomes the start of bucket d, and by placing its end */
    for (size_t d = 0; d <= j->buckets; d++) {
        uint32_t here = s->end[d];
        s->end[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++) {
        int d = digit[i];
        uint32_t base = (index[i] & ~DIGITS_NEGATIVE) - first;
        if (d != 0 && (all || is_finite(b, base)))
            s->entry[s->end[d < 0 ? -d : d]++] = base | ((index[i] & DIGITS_NEGATIVE) ^ (d < 0 ? DIGITS_NEGATIVE : 0));
    }
    struct tree_input in = {.points = b->points, .entry = s->entry, .end = s->end, .buckets = j->buckets + 1};
    tree_add(s->tree[b->group], s->sums, s->used, &in);
}

static void list_add(const struct msm_job *j, struct slot *s, const struct msm_task *t, const struct digit_list *l)
{
    if (t->window >= l->windows)
        return;
    struct span_of r = task_span(j, t, l->index, l->n);
    const int16_t *digit = l->digit + t->window * l->n;
    for (size_t at = r.begin; at < r.end; at += BLOCK) {
        size_t n = r.end - at < BLOCK ? r.end - at : BLOCK;
        block_add(j, s, t, l->index + at, digit + at, n);
    }
}

/* Sums of the used buckets along one half of their index: entries by row (d >> half) or by column (d mod 2^half). */
static void fold_half(const struct msm_job *j, struct slot *s, enum group g, unsigned half, bool rows,
                      unsigned char *out, uint8_t *out_used)
{
    size_t low = (size_t)1 << half, high = (j->buckets >> half) + 1;
    size_t outer = rows ? high : low, inner = rows ? low : high;
    uint32_t n = 0;
    for (size_t o = 0; o < outer; o++) {
        for (size_t i = 0; i < inner; i++) {
            size_t d = rows ? o * low + i : i * low + o;
            if (d <= j->buckets && s->used[d])
                s->entry[n++] = (uint32_t)d;
        }
        s->end[o] = n;
    }
    struct tree_input in = {.points = s->sums, .entry = s->entry, .end = s->end, .buckets = outer};
    memset(out_used, 0, outer);
    tree_add(s->tree[g], out, out_used, &in);
    size_t bytes = host_group(j->device, j->curve, g)->point_bytes;
    for (size_t o = 0; o < outer; o++) {
        if (!out_used[o])
            memset(out + o * bytes, 0, bytes);
    }
}

/* sum of d * bucket[d]. With d = high 2^half + low it is 2^half sum(high * row) + sum(low * column): two more tree
 * passes over the buckets (2 x 6 products each) instead of a running sum in XYZZ (24 products, one after the other). */
static void buckets_fold(const struct msm_job *j, struct slot *s, enum group g, unsigned char *out)
{
    const struct group_kernels *k = host_group(j->device, j->curve, g);
    size_t bytes = k->point_bytes;
    unsigned half = (j->digits.bits - 1) / 2;
    size_t low = (size_t)1 << half, high = (j->buckets >> half) + 1;
    /* behind the bucket sums */
    unsigned char *sums = s->sums + (j->buckets + 1) * bytes;
    uint8_t *used = s->used + j->buckets + 1;
    unsigned char two[2 * POINT_BYTES_MAX];
    fold_half(j, s, g, half, false, sums, used);
    memset(two, 0, sizeof two);
    if (low > 1)
        k->weighted_sum(two, sums + bytes, low - 1);
    fold_half(j, s, g, half, true, sums, used);
    k->weighted_sum(two + bytes, sums + bytes, high - 1);
    k->horner(out, two, 2, half);
}

static void ones_add(const struct msm_job *j, struct slot *s, const struct msm_task *t, unsigned char *out)
{
    const struct bases *b = t->set->bases;
    struct span_of r = task_span(j, t, j->digits.one, j->digits.n_one);
    size_t bytes = host_group(j->device, j->curve, b->group)->point_bytes;
    s->used[0] = 0;
    for (size_t at = r.begin; at < r.end;) {
        uint32_t n = 0;
        for (; at < r.end && n < BLOCK; at++) {
            uint32_t e = j->digits.one[at] - (uint32_t)t->set->first; /* the sign bit stays */
            if (is_finite(b, e & ~DIGITS_NEGATIVE))
                s->entry[n++] = e;
        }
        struct tree_input in = {.points = b->points, .entry = s->entry, .end = &n, .buckets = 1};
        tree_add(s->tree[b->group], s->sums, s->used, &in);
    }
    if (s->used[0])
        memcpy(out, s->sums, bytes);
    else
        memset(out, 0, bytes);
}

static void msm_task_run(void *arg, size_t task, unsigned slot)
{
    const struct msm_job *j = arg;
    const struct msm_task *t = &j->tasks[task];
    struct slot *s = &j->slots[slot];
    unsigned char *out = partial_at(j, t->set, t->window, t->range);
    if (t->window == ONES) {
        ones_add(j, s, t, out);
        return;
    }
    memset(s->used, 0, j->buckets + 1);
    list_add(j, s, t, &j->digits.full);
    list_add(j, s, t, &j->digits.small);
    buckets_fold(j, s, t->set->bases->group, out);
}

/* Additions for `points` full scalars: each window adds them to buckets and folds the buckets twice. Sorting counts
 * like a quarter of an addition. */
static double window_cost(const struct curve *c, double points, unsigned bits)
{
    double buckets = (double)((size_t)1 << (bits - 1));
    double filled = points < buckets ? points : buckets;
    return (double)digits_windows(c, bits) * (1.25 * points + filled + 0.02 * buckets + 60);
}

static unsigned bits_choose(const struct msm_args *a, const struct digit_counts *n)
{
    double scalars = (double)n->full + (double)n->small / 4, weight = 0, finite = 0;
    for (size_t i = 0; i < a->n_sets; i++) {
        double w = a->sets[i].bases->group == GROUP_G2 ? 3 : 1;
        weight += w;
        if (a->n > 0)
            finite += w * (double)a->sets[i].bases->n_finite / (double)a->n;
    }
    double points = weight > 0 ? scalars * finite / weight : 0;
    unsigned best = 2;
    for (unsigned bits = 3; bits <= DIGITS_BITS_MAX; bits++) {
        if (window_cost(a->curve, points, bits) < window_cost(a->curve, points, best))
            best = bits;
    }
    return best;
}

static int task_order(const void *a, const void *b)
{
    double x = ((const struct msm_task *)a)->cost, y = ((const struct msm_task *)b)->cost;
    return (x < y) - (x > y);
}

static int tasks_make(struct msm_job *j, const struct msm_args *a)
{
    unsigned windows = j->digits.full.n ? j->digits.full.windows : j->digits.small.n ? j->digits.small.windows : 0;
    size_t rows = (size_t)windows + (j->digits.n_one > 0);
    /* about four tasks a thread, so that the last ones to end are short; each range folds its buckets again, so not
     * more ranges than leave 8 entries for a bucket */
    size_t wanted = 4 * (size_t)threads_count(j->device->threads);
    size_t most = 1 + (j->digits.full.n + j->digits.small.n + j->digits.n_one) / (8 * j->buckets + 1024);
    size_t one_range = rows * a->n_sets;
    size_t ranges = one_range > 0 ? (wanted + one_range - 1) / one_range : 1;
    j->ranges = (unsigned)(ranges < most ? ranges : most);
    j->tasks = calloc(rows * j->ranges * a->n_sets + 1, sizeof *j->tasks);
    j->partial = calloc((size_t)(j->digits.full.windows + 1) * j->ranges * a->n_sets + 1, POINT_BYTES_MAX);
    if (!j->tasks || !j->partial)
        return err_fail(-ENOMEM, "msm: no memory for %zu tasks", rows * j->ranges * a->n_sets);
    for (size_t i = 0; i < a->n_sets; i++) {
        double unit = (double)a->sets[i].bases->n_finite * (a->sets[i].bases->group == GROUP_G2 ? 3 : 1);
        for (size_t row = 0; row < rows * j->ranges; row++) {
            size_t w = row / j->ranges;
            struct msm_task t = {.set = &a->sets[i],
                                 .window = w < windows ? (unsigned)w : ONES,
                                 .range = (unsigned)(row % j->ranges),
                                 .cost = w < windows ? unit : unit / 4};
            j->tasks[j->n_tasks++] = t;
        }
    }
    qsort(j->tasks, j->n_tasks, sizeof *j->tasks, task_order);
    return 0;
}

static size_t slots_wanted(const struct msm_job *j)
{
    size_t n = threads_count(j->device->threads);
    return n < j->n_tasks ? n : j->n_tasks;
}

static int slots_open(struct msm_job *j, const struct msm_args *a)
{
    size_t bytes = 0, n = threads_count(j->device->threads);
    bool want[GROUPS] = {false};
    for (size_t i = 0; i < a->n_sets; i++) {
        enum group g = a->sets[i].bases->group;
        want[g] = true;
        size_t own = host_group(j->device, a->curve, g)->point_bytes;
        bytes = own > bytes ? own : bytes;
    }
    size_t sums = (j->buckets + 1) + 2 * (((size_t)1 << (j->digits.bits / 2)) + 2);
    size_t entries = sums > BLOCK ? sums : BLOCK;
    j->slots = calloc(n, sizeof *j->slots);
    if (!j->slots)
        return err_fail(-ENOMEM, "msm: no memory for the scratch of %zu threads", n);
    for (size_t i = 0; i < slots_wanted(j); i++) {
        struct slot *s = &j->slots[i];
        s->entry = memory_alloc(entries * sizeof *s->entry);
        s->end = memory_alloc(sums * sizeof *s->end);
        s->sums = memory_alloc(sums * bytes);
        s->used = memory_alloc(sums);
        bool ok = s->entry && s->end && s->sums && s->used;
        for (int g = 0; ok && g < GROUPS; g++) {
            if (want[g])
                ok = (s->tree[g] = tree_open(host_group(j->device, a->curve, (enum group)g))) != NULL;
        }
        if (!ok)
            return err_fail(-ENOMEM, "msm: no memory for the buckets of %zu threads", n);
    }
    return 0;
}

static void slots_close(struct msm_job *j)
{
    for (size_t i = 0; j->slots && i < threads_count(j->device->threads); i++) {
        struct slot *s = &j->slots[i];
        memory_free(s->entry);
        memory_free(s->end);
        memory_free(s->sums);
        memory_free(s->used);
        for (int g = 0; g < GROUPS; g++)
            tree_close(s->tree[g]);
    }
    free(j->slots);
}

static void set_finish(const struct msm_job *j, const struct msm_set *set)
{
    enum group g = set->bases->group;
    const struct group_kernels *k = host_group(j->device, j->curve, g);
    size_t bytes = k->point_bytes;
    unsigned windows = j->digits.full.windows;
    unsigned char row[(256 + 2) * POINT_BYTES_MAX], two[2 * POINT_BYTES_MAX];
    for (unsigned w = 0; w <= windows; w++) {
        /* ranges lie POINT_BYTES_MAX apart: pack, then add */
        unsigned char *first = partial_at(j, set, w == windows ? ONES : w, 0);
        for (unsigned r = 1; r < j->ranges; r++)
            memmove(first + r * bytes, first + (size_t)r * POINT_BYTES_MAX, bytes);
        k->horner(row + w * bytes, first, j->ranges, 0);
    }
    k->horner(two, row, windows, j->digits.bits);
    memcpy(two + bytes, row + windows * bytes, bytes);
    struct point result = {{0}};
    k->horner(&result, two, 2, 0);
    *set->result = result;
}

static int args_check(const struct host_device *d, const struct msm_args *a)
{
    if (a->n > a->scalars.bytes / sizeof(struct scalar))
        return err_fail(-EINVAL, "msm: %zu bytes do not hold %zu scalars", a->scalars.bytes, a->n);
    for (size_t i = 0; i < a->n_sets; i++) {
        const struct bases *b = a->sets[i].bases;
        if (b->curve != a->curve || b->device != d)
            return err_fail(-EINVAL, "msm: set %zu has bases of another curve or device", i);
        if (a->sets[i].first > a->n || b->n > a->n - a->sets[i].first)
            return err_fail(-EINVAL, "msm: set %zu has %zu bases from scalar %zu on, there are %zu scalars", i, b->n,
                            a->sets[i].first, a->n);
    }
    return 0;
}

int host_msm(struct host_device *d, const struct msm_args *a)
{
    struct digit_plan plan;
    struct msm_job j = {.device = d, .curve = a->curve, .sets = a->sets};
    int rc = args_check(d, a);
    if (rc)
        return rc;
    rc = digit_plan_open(&plan, d->threads, a->curve, dbuf_ptr(a->scalars), a->n);
    if (rc)
        return rc;
    unsigned bits = bits_choose(a, &plan.total);
    rc = digits_open(&j.digits, d->threads, &plan, bits);
    if (rc)
        goto close_plan;
    j.buckets = (size_t)1 << (bits - 1);
    rc = tasks_make(&j, a);
    if (rc)
        goto close_digits;
    rc = slots_open(&j, a);
    if (rc)
        goto close_digits;
    threads_run(d->threads, msm_task_run, &j, j.n_tasks);
    for (size_t i = 0; i < a->n_sets; i++)
        set_finish(&j, &a->sets[i]);
close_digits:
    slots_close(&j);
    free(j.tasks);
    free(j.partial);
    digits_close(&j.digits);
close_plan:
    digit_plan_close(&plan);
    return rc;
}
