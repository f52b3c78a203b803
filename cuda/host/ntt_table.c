#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/host/memory.h"
#include "cuda/host/ntt.h"
#include "perf/err.h"

enum { TABLES_KEPT_BYTES = 256 << 20, CHUNK = 4096 };

struct ntt_table {
    const struct fr_kernels *kernels;
    enum curve_id curve;
    unsigned log_n, users;
    struct fr root;
    uint64_t used; /* tick of the last use */
    size_t bytes;
    struct fr *tw;
    struct ntt_table *link;
};

struct ntt_tables {
    pthread_mutex_t lock;
    struct ntt_table *list;
    uint64_t tick;
};

int ntt_tables_open(struct ntt_tables **out)
{
    struct ntt_tables *t = calloc(1, sizeof *t);
    if (!t)
        return err_fail(-ENOMEM, "no memory for the list of twiddle tables");
    pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return 0;
}

static void table_free(struct ntt_table *e)
{
    memory_free(e->tw);
    free(e);
}

void ntt_tables_close(struct ntt_tables *t)
{
    if (!t)
        return;
    for (struct ntt_table *e = t->list, *next; e; e = next) {
        next = e->link;
        table_free(e);
    }
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static bool fr_same(const struct fr *a, const struct fr *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* A table of root R for 2^L begins with the table of R^2 for 2^(L - 1). */
static bool table_serves(const struct ntt_table *e, const struct curve *c, const struct fr_kernels *k, unsigned log_n,
                         const struct fr *root)
{
    if (e->kernels != k || e->curve != c->id || e->log_n < log_n)
        return false;
    struct fr r = e->root;
    for (unsigned i = log_n; i < e->log_n; i++)
        c->fr_mul(&r, &r, &r);
    return fr_same(&r, root);
}

/* Drop unused tables, least recently used first, until the rest is within bounds. */
static void tables_trim(struct ntt_tables *t)
{
    for (;;) {
        size_t sum = 0;
        struct ntt_table **oldest = NULL;
        for (struct ntt_table **p = &t->list; *p; p = &(*p)->link) {
            sum += (*p)->bytes;
            if ((*p)->users == 0 && (!oldest || (*p)->used < (*oldest)->used))
                oldest = p;
        }
        if (sum <= TABLES_KEPT_BYTES || !oldest)
            return;
        struct ntt_table *e = *oldest;
        *oldest = e->link;
        table_free(e);
    }
}

struct fill {
    const struct fr_kernels *kernels;
    struct fr *tw;
    struct fr root;
    size_t octave;
};

static void fill_task(void *arg, size_t task, unsigned slot)
{
    (void)slot;
    struct fill *f = arg;
    size_t at = task * CHUNK, n = f->octave - at < CHUNK ? f->octave - at : CHUNK;
    f->kernels->pointwise(POINTWISE_SCALE, false, f->tw + f->octave + at, f->tw + at, NULL, NULL, &f->root, n);
}

/* tw[2^s + j] = tw[j] root^(n / 2^(s + 2)) */
static void table_fill(const struct ntt_env *env, struct ntt_table *e, const struct curve *c)
{
    if (e->log_n == 0)
        return;
    struct fr roots[64];
    roots[e->log_n] = e->root;
    for (unsigned i = e->log_n; i > 1; i--)
        c->fr_mul(&roots[i - 1], &roots[i], &roots[i]);
    e->tw[0] = e->kernels->tw_one;
    for (unsigned s = 0; s + 2 <= e->log_n; s++) {
        struct fill f = {.kernels = e->kernels, .tw = e->tw, .root = roots[s + 2], .octave = (size_t)1 << s};
        threads_run(env->threads, fill_task, &f, (f.octave + CHUNK - 1) / CHUNK);
    }
}

static int table_make(const struct ntt_env *env, struct ntt_table **out, const struct curve *c,
                      const struct fr_kernels *k, unsigned log_n, const struct fr *root)
{
    struct ntt_table *e = calloc(1, sizeof *e);
    if (!e)
        return err_fail(-ENOMEM, "no memory for a twiddle table");
    e->kernels = k;
    e->curve = c->id;
    e->log_n = log_n;
    e->root = *root;
    e->bytes = sizeof(struct fr) << (log_n ? log_n - 1 : 0);
    e->tw = memory_alloc(e->bytes);
    if (!e->tw) {
        free(e);
        return err_fail(-ENOMEM, "no memory for the twiddles of a transform of 2^%u", log_n);
    }
    table_fill(env, e, c);
    *out = e;
    return 0;
}

int ntt_table_take(const struct ntt_env *env, struct ntt_table **out, const struct curve *c, const struct fr_kernels *k,
                   unsigned log_n, const struct fr *root)
{
    struct ntt_tables *t = env->tables;
    pthread_mutex_lock(&t->lock);
    struct ntt_table *e = t->list;
    while (e && !table_serves(e, c, k, log_n, root))
        e = e->link;
    int rc = 0;
    if (!e) {
        rc = table_make(env, &e, c, k, log_n, root);
        if (rc == 0) {
            e->link = t->list;
            t->list = e;
        }
    }
    if (rc == 0) {
        e->users++;
        e->used = ++t->tick;
        tables_trim(t);
        *out = e;
    }
    pthread_mutex_unlock(&t->lock);
    return rc;
}

void ntt_table_give(struct ntt_tables *t, struct ntt_table *table)
{
    pthread_mutex_lock(&t->lock);
    table->users--;
    tables_trim(t);
    pthread_mutex_unlock(&t->lock);
}

const struct fr *ntt_table_at(const struct ntt_table *table)
{
    return table->tw;
}

static size_t bit_reverse(size_t x, unsigned bits)
{
    size_t r = 0;
    for (unsigned i = 0; i < bits; i++)
        r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}

/* out[p] = first * base^p, or base^bitrev(p) */
static void powers_fill(const struct curve *c, struct fr *out, unsigned bits, const struct fr *first,
                        const struct fr *base, bool reversed)
{
    struct fr x = *first;
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        out[reversed ? bit_reverse(i, bits) : i] = x;
        c->fr_mul(&x, &x, base);
    }
}

int ntt_powers_open(struct ntt_powers *out, const struct curve *c, const struct fr_kernels *k, unsigned log_n,
                    const struct fr *base, const struct fr *scale, bool reversed)
{
    unsigned bits = log_n < 10 ? log_n : log_n > 20 ? log_n / 2 : 10;
    size_t low = (size_t)1 << bits, high = (size_t)1 << (log_n - bits);
    struct fr *mem = memory_alloc((low + high) * sizeof *mem);
    if (!mem)
        return err_fail(-ENOMEM, "no memory for the powers of a shift");
    struct ntt_powers p = {.low = mem, .high = mem + low, .bits = bits};
    struct fr far = *base, first;
    /* natural: position = high * 2^bits + low. Reversed: index = bitrev(low) * 2^(log_n - bits) + bitrev(high). */
    for (unsigned i = 0; i < (reversed ? log_n - bits : bits); i++)
        c->fr_mul(&far, &far, &far);
    c->fr_mul(&first, &k->tw_one, scale);
    powers_fill(c, p.low, bits, &k->tw_one, reversed ? &far : base, reversed);
    powers_fill(c, p.high, log_n - bits, &first, reversed ? base : &far, reversed);
    *out = p;
    return 0;
}

void ntt_powers_close(struct ntt_powers *p)
{
    memory_free(p->low);
    p->low = NULL;
}
