/* A synthetic circuit with its witness, of any size, from a seed: keys too large to carry are made where they are used.
 *
 *     make_circuit [--curve bn128|bls12381] [--seed N] [--bits] LOG OUT.r1cs OUT.wtns
 *
 * The domain is exactly 2^LOG: 2^LOG - 2 rows and one public wire. Every row makes one wire:
 *     field rows   (w_a + k w_b) w_c = w_new        a, b, c any earlier wires
 *     bit rows     w_new (w_new - 1) = 0            w_new 0 or 1
 * --bits: 98 of 100 rows are bit rows; else all are field rows, and hardly a witness element is small.
 * 2^24 rows: 2.6 GB of .r1cs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/math/curve.h"

struct maker {
    const struct curve *curve;
    uint64_t state;
    bool bits;
    uint32_t rows, wires;
    struct fr *w, small[16]; /* wire values; 0..15 */
    struct scalar minus_one;
};

struct file {
    FILE *f;
    const char *path;
};

static uint64_t next(struct maker *m)
{
    uint64_t z = m->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void put(struct file *o, const void *data, size_t n)
{
    if (fwrite(data, 1, n, o->f) != n) {
        perror(o->path);
        exit(1);
    }
}

static void put_u32(struct file *o, uint32_t x)
{
    put(o, &x, sizeof x);
}

static void put_u64(struct file *o, uint64_t x)
{
    put(o, &x, sizeof x);
}

static struct file file_create(const char *path)
{
    struct file o = {fopen(path, "wb"), path};
    if (!o.f) {
        perror(path);
        exit(1);
    }
    setvbuf(o.f, NULL, _IOFBF, 4 << 20);
    return o;
}

static void file_end(struct file *o)
{
    if (fclose(o->f)) {
        perror(o->path);
        exit(1);
    }
}

/* A row is put together in one buffer: one call of fwrite each. */
struct row {
    uint8_t data[3 * 4 + 4 * 36];
    size_t n;
};

static void row_count(struct row *r, uint32_t terms)
{
    memcpy(r->data + r->n, &terms, 4);
    r->n += 4;
}

static void row_term(struct row *r, uint32_t wire, const struct scalar *coef)
{
    memcpy(r->data + r->n, &wire, 4);
    memcpy(r->data + r->n + 4, coef, 32);
    r->n += 36;
}

static const struct scalar one = {{1}};

static void field_row(struct maker *m, struct row *r, uint32_t new)
{
    uint64_t pick = next(m), more = next(m);
    uint32_t a = (uint32_t)((pick & 0xffffffff) * new >> 32), b = (uint32_t)((pick >> 32) * new >> 32),
             c = (uint32_t)((more & 0xffffffff) * new >> 32), k = 2 + (uint32_t)(more >> 32) % 14;
    struct scalar coef = {{k}};
    struct fr t;
    if (c == 0) /* times one would make small wires */
        c = new - 1;
    m->curve->fr_mul(&t, &m->small[k], &m->w[b]);
    m->curve->fr_add(&t, &t, &m->w[a]);
    m->curve->fr_mul(&m->w[new], &t, &m->w[c]);
    row_count(r, a == b ? 1 : 2);
    if (a == b)
        coef.l[0]++;
    else
        row_term(r, a, &one);
    row_term(r, b, &coef);
    row_count(r, 1);
    row_term(r, c, &one);
    row_count(r, 1);
    row_term(r, new, &one);
}

static void bit_row(struct maker *m, struct row *r, uint32_t new)
{
    m->w[new] = m->small[next(m) >> 63];
    row_count(r, 1);
    row_term(r, new, &one);
    row_count(r, 2);
    row_term(r, 0, &m->minus_one);
    row_term(r, new, &one);
    row_count(r, 0);
}

/* The constraints' length is known only behind them. */
static void put_rows(struct maker *m, struct file *o)
{
    put_u32(o, 2);
    long at = ftell(o->f);
    uint64_t bytes = 0;
    put_u64(o, 0);
    for (uint32_t i = 0; i < m->rows; i++) {
        struct row r = {.n = 0};
        if (m->bits && next(m) % 100 < 98)
            bit_row(m, &r, 2 + i);
        else
            field_row(m, &r, 2 + i);
        put(o, r.data, r.n);
        bytes += r.n;
    }
    fseek(o->f, at, SEEK_SET);
    put_u64(o, bytes);
    fseek(o->f, 0, SEEK_END);
}

static void put_r1cs(struct maker *m, const char *path)
{
    struct file o = file_create(path);
    put(&o, "r1cs", 4);
    put_u32(&o, 1);
    put_u32(&o, 2);
    put_rows(m, &o);
    put_u32(&o, 1);
    put_u64(&o, 4 + 32 + 4 * 4 + 8 + 4);
    put_u32(&o, 32);
    put(&o, m->curve->fr->p, 32);
    put_u32(&o, m->wires);
    put_u32(&o, 1); /* one public output */
    put_u32(&o, 0);
    put_u32(&o, 0);
    put_u64(&o, m->wires);
    put_u32(&o, m->rows);
    file_end(&o);
}

static void put_wtns(struct maker *m, const char *path)
{
    struct file o = file_create(path);
    put(&o, "wtns", 4);
    put_u32(&o, 2);
    put_u32(&o, 2);
    put_u32(&o, 1);
    put_u64(&o, 4 + 32 + 4);
    put_u32(&o, 32);
    put(&o, m->curve->fr->p, 32);
    put_u32(&o, m->wires);
    put_u32(&o, 2);
    put_u64(&o, 32 * (uint64_t)m->wires);
    for (uint32_t i = 0; i < m->wires; i++) {
        struct scalar s;
        m->curve->fr_to_scalar(&s, &m->w[i]);
        put(&o, &s, sizeof s);
    }
    file_end(&o);
}

static int usage(void)
{
    fprintf(stderr, "usage: make_circuit [--curve bn128|bls12381] [--seed N] [--bits] LOG OUT.r1cs OUT.wtns\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct maker m = {.curve = curve_get(CURVE_BN254), .state = 1};
    const char *arg[3];
    int args = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bits") == 0)
            m.bits = true;
        else if (strcmp(argv[i], "--curve") == 0 && i + 1 < argc)
            m.curve = curve_by_name(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            m.state = strtoull(argv[++i], NULL, 0);
        else if (args < 3 && argv[i][0] != '-')
            arg[args++] = argv[i];
        else
            return usage();
    }
    int log = args == 3 ? atoi(arg[0]) : 0;
    if (!m.curve || log < 2 || log > 28)
        return usage();
    m.rows = (1u << log) - 2;
    m.wires = m.rows + 2;
    m.w = malloc(m.wires * sizeof *m.w);
    if (!m.w) {
        fprintf(stderr, "make_circuit: no memory for %u wires\n", m.wires);
        return 1;
    }
    for (uint64_t i = 0; i < 16; i++)
        m.curve->fr_from_u64(&m.small[i], i);
    struct fr minus;
    m.curve->fr_sub(&minus, &m.small[0], &m.small[1]);
    m.curve->fr_to_scalar(&m.minus_one, &minus);
    m.w[0] = m.small[1];
    m.curve->fr_from_u64(&m.w[1], next(&m));
    m.curve->fr_pow(&m.w[1], &m.w[1], 12345);
    put_r1cs(&m, arg[1]);
    put_wtns(&m, arg[2]);
    free(m.w);
    return 0;
}
