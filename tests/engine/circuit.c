#include "tests/engine/circuit.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
    uint8_t *data;
    size_t n, room;
};

struct maker {
    const struct curve *curve;
    uint64_t state;
    struct fr *w; /* wire values so far */
    uint32_t n_wires;
    struct bytes rows;
};

static void put(struct bytes *b, const void *data, size_t n)
{
    if (b->n + n > b->room) {
        b->room = 2 * b->room + n + 256;
        b->data = realloc(b->data, b->room);
        if (!b->data)
            abort();
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

static void put_u32(struct bytes *b, uint32_t x)
{
    put(b, &x, sizeof x);
}

static void put_u64(struct bytes *b, uint64_t x)
{
    put(b, &x, sizeof x);
}

static uint64_t next(struct maker *m)
{
    uint64_t z = m->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A coefficient or a value: small, minus small, a power of two, or any. */
static struct fr draw(struct maker *m)
{
    struct fr x, t;
    switch (next(m) % 4) {
    case 0:
        m->curve->fr_from_u64(&x, next(m) % 5);
        return x;
    case 1:
        m->curve->fr_from_u64(&t, next(m) % 5);
        m->curve->fr_from_u64(&x, 0);
        m->curve->fr_sub(&x, &x, &t);
        return x;
    case 2:
        m->curve->fr_from_u64(&x, (uint64_t)1 << (next(m) % 64));
        return x;
    default:
        m->curve->fr_from_u64(&x, next(m));
        m->curve->fr_pow(&x, &x, 5 + next(m) % 1000);
        return x;
    }
}

static void put_term(struct maker *m, uint32_t wire, const struct fr *coef)
{
    struct scalar s;
    m->curve->fr_to_scalar(&s, coef);
    put_u32(&m->rows, wire);
    put(&m->rows, &s, sizeof s);
}

/* Write a random combination of existing wires; returns its value. */
static struct fr put_combination(struct maker *m, uint32_t terms)
{
    struct fr sum, t;
    m->curve->fr_from_u64(&sum, 0);
    put_u32(&m->rows, terms);
    for (uint32_t i = 0; i < terms; i++) {
        uint32_t wire = (uint32_t)(next(m) % m->n_wires);
        struct fr coef = draw(m);
        put_term(m, wire, &coef);
        m->curve->fr_mul(&t, &coef, &m->w[wire]);
        m->curve->fr_add(&sum, &sum, &t);
    }
    return sum;
}

static void put_empty(struct maker *m)
{
    put_u32(&m->rows, 0);
}

static void put_new_wire(struct maker *m, const struct fr *value)
{
    struct fr one;
    m->curve->fr_from_u64(&one, 1);
    put_u32(&m->rows, 1);
    put_term(m, m->n_wires, &one);
    m->w[m->n_wires++] = *value;
}

/* 0 = combination - new wire */
static void put_linear_c(struct maker *m)
{
    size_t at = m->rows.n;
    struct fr value = put_combination(m, 1 + (uint32_t)(next(m) % 3)), minus_one, one, zero;
    m->curve->fr_from_u64(&one, 1);
    m->curve->fr_from_u64(&zero, 0);
    m->curve->fr_sub(&minus_one, &zero, &one);
    uint32_t terms;
    memcpy(&terms, m->rows.data + at, 4);
    terms++;
    memcpy(m->rows.data + at, &terms, 4);
    put_term(m, m->n_wires, &minus_one);
    m->w[m->n_wires++] = value;
}

static void put_bit_row(struct maker *m)
{
    struct fr bit, one, minus_one, zero;
    m->curve->fr_from_u64(&one, 1);
    m->curve->fr_from_u64(&zero, 0);
    m->curve->fr_sub(&minus_one, &zero, &one);
    m->curve->fr_from_u64(&bit, next(m) & 1);
    put_u32(&m->rows, 1);
    put_term(m, m->n_wires, &one);
    put_u32(&m->rows, 2);
    put_term(m, 0, &minus_one);
    put_term(m, m->n_wires, &one);
    put_empty(m);
    m->w[m->n_wires++] = bit;
}

static void put_product_row(struct maker *m)
{
    struct fr a = put_combination(m, 1 + (uint32_t)(next(m) % 4)), b = put_combination(m, 1 + (uint32_t)(next(m) % 4)),
              c;
    m->curve->fr_mul(&c, &a, &b);
    put_new_wire(m, &c);
}

static void put_row(struct maker *m, enum circuit_shape shape)
{
    uint64_t pick = next(m) % 8;
    if (shape == SHAPE_ONE_WIRE) {
        struct fr one;
        m->curve->fr_from_u64(&one, 1);
        for (int i = 0; i < 3; i++) {
            put_u32(&m->rows, 1);
            put_term(m, 0, &one);
        }
    } else if (shape == SHAPE_LINEAR || (shape == SHAPE_MIXED && pick == 0)) {
        put_empty(m);
        put_empty(m);
        put_linear_c(m);
    } else if (shape == SHAPE_NO_A || (shape == SHAPE_MIXED && pick == 1)) {
        put_empty(m);
        put_combination(m, 2);
        put_linear_c(m);
    } else if (shape == SHAPE_NO_B || (shape == SHAPE_MIXED && pick == 2)) {
        put_combination(m, 2);
        put_empty(m);
        put_linear_c(m);
    } else if (shape == SHAPE_BITS && pick) {
        put_bit_row(m);
    } else {
        put_product_row(m);
    }
}

static void put_r1cs(struct bytes *out, const struct maker *m, uint32_t n_rows, uint32_t n_public)
{
    put(out, "r1cs", 4);
    put_u32(out, 1);
    put_u32(out, 3);
    put_u32(out, 2); /* circom's order: 2, 1, 3 */
    put_u64(out, m->rows.n);
    put(out, m->rows.data, m->rows.n);
    put_u32(out, 1);
    put_u64(out, 4 + 32 + 4 * 4 + 8 + 4);
    put_u32(out, 32);
    put(out, m->curve->fr->p, 32);
    put_u32(out, m->n_wires);
    put_u32(out, n_public / 2);
    put_u32(out, n_public - n_public / 2);
    put_u32(out, 0);
    put_u64(out, m->n_wires);
    put_u32(out, n_rows);
    put_u32(out, 3);
    put_u64(out, 8 * (uint64_t)m->n_wires);
    for (uint64_t i = 0; i < m->n_wires; i++)
        put_u64(out, i);
}

static void put_wtns(struct bytes *out, const struct maker *m)
{
    put(out, "wtns", 4);
    put_u32(out, 2);
    put_u32(out, 2);
    put_u32(out, 1);
    put_u64(out, 4 + 32 + 4);
    put_u32(out, 32);
    put(out, m->curve->fr->p, 32);
    put_u32(out, m->n_wires);
    put_u32(out, 2);
    put_u64(out, 32 * (uint64_t)m->n_wires);
    for (uint32_t i = 0; i < m->n_wires; i++) {
        struct scalar s;
        m->curve->fr_to_scalar(&s, &m->w[i]);
        put(out, &s, sizeof s);
    }
}

void circuit_make(struct circuit *c, const struct curve *curve, enum circuit_shape shape, uint32_t n_rows,
                  uint32_t n_public, uint64_t seed)
{
    struct maker m = {.curve = curve, .state = seed, .w = calloc(1 + n_public + n_rows, sizeof(struct fr))};
    if (!m.w)
        abort();
    curve->fr_from_u64(&m.w[0], 1);
    m.n_wires = 1;
    for (uint32_t i = 0; i < n_public; i++)
        m.w[m.n_wires++] = draw(&m);
    for (uint32_t i = 0; i < n_rows; i++)
        put_row(&m, shape);
    struct bytes r1cs = {0}, wtns = {0};
    put_r1cs(&r1cs, &m, n_rows, n_public);
    put_wtns(&wtns, &m);
    *c = (struct circuit){r1cs.data, wtns.data, r1cs.n, wtns.n, m.n_wires};
    free(m.rows.data);
    free(m.w);
}

void circuit_free(struct circuit *c)
{
    free(c->r1cs);
    free(c->wtns);
}
