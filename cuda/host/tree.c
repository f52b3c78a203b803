#include "cuda/host/tree.h"

#include <stdlib.h>

#include "cuda/host/memory.h"

/* A group fills 1 MiB of sums: they stay in L2 between the levels, and a level is long enough for its inversion (2 us)
 * not to show. */
enum { ARENA_BYTES = 1 << 20 };

struct part {
    size_t bucket;
    uint32_t len;
};

struct tree {
    const struct group_kernels *k;
    size_t capacity;                /* points in a group */
    point_ref *list, *next, *a, *b; /* elements of the level, of the one after, pairs */
    struct part *parts;             /* buckets of the group */
    size_t n_list, n_parts;
    point_ref *result; /* per part */
    size_t *active;    /* parts with more than one element */
    unsigned char *arena;
    void *scratch;
};

struct tree *tree_open(const struct group_kernels *k)
{
    struct tree *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->k = k;
    t->capacity = ARENA_BYTES / k->point_bytes;
    size_t n = t->capacity;
    t->list = memory_alloc(n * sizeof *t->list);
    t->next = memory_alloc(n * sizeof *t->next);
    t->a = memory_alloc(n / 2 * sizeof *t->a);
    t->b = memory_alloc(n / 2 * sizeof *t->b);
    t->parts = memory_alloc(n * sizeof *t->parts);
    t->result = memory_alloc(n * sizeof *t->result);
    t->active = memory_alloc(n * sizeof *t->active);
    t->arena = memory_alloc(ARENA_BYTES);
    t->scratch = memory_alloc(k->scratch_bytes);
    if (!t->list || !t->next || !t->a || !t->b || !t->parts || !t->result || !t->active || !t->arena || !t->scratch) {
        tree_close(t);
        return NULL;
    }
    return t;
}

void tree_close(struct tree *t)
{
    if (!t)
        return;
    memory_free(t->list);
    memory_free(t->next);
    memory_free(t->a);
    memory_free(t->b);
    memory_free(t->parts);
    memory_free(t->result);
    memory_free(t->active);
    memory_free(t->arena);
    memory_free(t->scratch);
    free(t);
}

static point_ref ref_of(const void *p)
{
    return (point_ref)(uintptr_t)p;
}

/* Halve every active part: pairs into a, b; their sums (from *arena on) and odd elements into next. */
static size_t level_pairs(struct tree *t, unsigned char *arena, size_t *n_active)
{
    const size_t bytes = t->k->point_bytes;
    size_t pairs = 0, from = 0, to = 0, kept = 0;
    for (size_t i = 0; i < *n_active; i++) {
        struct part *p = &t->parts[t->active[i]];
        size_t half = p->len / 2, odd = p->len % 2, first = to;
        for (size_t j = 0; j < half; j++) {
            t->a[pairs] = t->list[from + 2 * j];
            t->b[pairs] = t->list[from + 2 * j + 1];
            t->next[to++] = ref_of(arena + pairs++ * bytes);
        }
        if (odd)
            t->next[to++] = t->list[from + p->len - 1];
        from += p->len;
        p->len = (uint32_t)(half + odd);
        if (p->len == 1) {
            t->result[t->active[i]] = t->next[first];
            to = first;
        } else {
            t->active[kept++] = t->active[i];
        }
    }
    *n_active = kept;
    return pairs;
}

static void group_run(struct tree *t, unsigned char *sums, uint8_t *used)
{
    size_t n_active = 0, bytes = t->k->point_bytes;
    unsigned char *arena = t->arena;
    for (size_t i = 0; i < t->n_parts; i++)
        t->active[n_active++] = i; /* every part has two elements or more */
    while (n_active > 0) {
        size_t pairs = level_pairs(t, arena, &n_active);
        t->k->add_pairs(arena, t->a, t->b, pairs, t->scratch);
        arena += pairs * bytes;
        point_ref *swap = t->list;
        t->list = t->next;
        t->next = swap;
    }
    for (size_t i = 0; i < t->n_parts; i++) {
        size_t bucket = t->parts[i].bucket;
        t->k->resolve(sums + bucket * bytes, t->result[i]);
        used[bucket] = 1;
    }
    t->n_list = t->n_parts = 0;
}

static point_ref entry_ref(const struct tree_input *in, size_t bytes, uint32_t e)
{
    const unsigned char *p = in->points + (size_t)(e & ~((uint32_t)1 << TREE_NEGATIVE)) * bytes;
    return ref_of(p) | (point_ref)(e >> TREE_NEGATIVE) << 63;
}

void tree_add(struct tree *t, unsigned char *sums, uint8_t *used, const struct tree_input *in)
{
    const size_t bytes = t->k->point_bytes;
    uint32_t at = 0;
    for (size_t bucket = 0; bucket < in->buckets;) {
        uint32_t left = in->end[bucket] - at;
        if (left == 0) {
            bucket++;
            continue;
        }
        if (left == 1 && !used[bucket]) {
            t->k->resolve(sums + bucket * bytes, entry_ref(in, bytes, in->entry[at++]));
            used[bucket++] = 1;
            continue;
        }
        if (t->capacity - t->n_list < 2) {
            group_run(t, sums, used);
            continue; /* this bucket may have a sum now */
        }
        struct part *p = &t->parts[t->n_parts++];
        *p = (struct part){.bucket = bucket, .len = 0};
        if (used[bucket]) {
            t->list[t->n_list++] = ref_of(sums + bucket * bytes);
            p->len++;
        }
        for (; at < in->end[bucket] && t->n_list < t->capacity; p->len++)
            t->list[t->n_list++] = entry_ref(in, bytes, in->entry[at++]);
        if (at == in->end[bucket])
            bucket++;
        else
            group_run(t, sums, used);
    }
    if (t->n_parts > 0)
        group_run(t, sums, used);
}
