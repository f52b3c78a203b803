/* Claims: the simulated machine gives the measured figures to the nanosecond; who shares an uplink gets equal parts,
 * and what one cannot use the others get; random traffic moves every byte, never above a limit, and the same twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cuda/sim/world.h"
#include "tests/slower.h"

enum { MIB = 1 << 20 };

static struct world *open_world(unsigned devices, const int *uplink)
{
    struct world *w;
    assert_int_equal(world_open(&w, &(struct world_opts){.devices = devices, .uplink = uplink}), 0);
    return w;
}

struct mark {
    struct world *w;
    uint64_t at_ns;
};

static void mark(void *ctx)
{
    struct mark *m = ctx;
    m->at_ns = world_now_ns(m->w);
}

/* ns that `bytes` take at a rate, rounded up. */
static uint64_t takes(uint64_t bytes, uint64_t rate)
{
    return (uint64_t)(((unsigned __int128)bytes * 1000000000u + rate - 1) / rate);
}

static void test_link(void **state)
{
    (void)state;
    struct world *w = open_world(1, NULL);
    struct mark one = {w, 0}, both[2] = {{w, 0}, {w, 0}};
    world_copy(w, 0, WORLD_H2D, 64 * MIB, 0, mark, &one);
    world_run(w, WORLD_NEVER);
    assert_int_equal(one.at_ns, 2800 + takes(64 * MIB, 55400000000u));
    world_copy(w, 0, WORLD_H2D, 64 * MIB, 0, mark, &both[0]);
    world_copy(w, 0, WORLD_D2H, 64 * MIB, 0, mark, &both[1]);
    world_run(w, WORLD_NEVER);
    assert_int_equal(both[0].at_ns - one.at_ns, 2800 + takes(64 * MIB, 50600000000u));
    assert_int_equal(both[1].at_ns, both[0].at_ns);
    world_close(w);
}

/* The measured table: chunks one after the other (3 %: the setup is one number). */
static void test_chunks(void **state)
{
    (void)state;
    static const double gb_per_s[][2] = {{16, 54.9}, {4, 53.4}, {1, 48.3}};
    for (int i = 0; i < 3; i++) {
        struct world *w = open_world(1, NULL);
        uint64_t bytes = (uint64_t)gb_per_s[i][0] * MIB;
        for (int k = 0; k < 32; k++)
            world_copy(w, 0, WORLD_H2D, bytes, 0, NULL, NULL);
        world_run(w, WORLD_NEVER);
        double rate = (double)(32 * bytes) / (double)world_now_ns(w);
        assert_true(rate > gb_per_s[i][1] * 0.97 && rate < gb_per_s[i][1] * 1.03);
        world_close(w);
    }
}

static void test_uplink(void **state)
{
    (void)state;
    const int uplink[4] = {0, 0, 0, WORLD_ALONE};
    const uint64_t mib[4] = {76, 239, 239, 554}; /* 0 is slow by itself, 1 and 2 share the rest, 3 is alone */
    struct world *w = open_world(4, uplink);
    struct mark m[4];
    for (unsigned i = 0; i < 4; i++) {
        m[i].w = w;
        world_copy(w, i, WORLD_H2D, mib[i] * MIB, i ? 0 : 7600000000u, mark, &m[i]);
    }
    world_run(w, WORLD_NEVER);
    for (int i = 0; i < 4; i++)
        assert_int_equal(m[i].at_ns, 2800 + takes(76 * MIB, 7600000000u));
    world_close(w);
}

static void test_engines(void **state)
{
    (void)state;
    struct world *w = open_world(1, NULL);
    struct mark m[3] = {{w, 0}, {w, 0}, {w, 0}};
    world_compute(w, 0, 500, mark, &m[0]);
    world_compute(w, 0, 300, mark, &m[1]); /* behind the first */
    world_after(w, 600, mark, &m[2]);      /* beside them */
    world_run(w, 550);
    assert_int_equal(world_now_ns(w), 550);
    world_run(w, WORLD_NEVER);
    assert_int_equal(m[0].at_ns, 500);
    assert_int_equal(m[1].at_ns, 800);
    assert_int_equal(m[2].at_ns, 600);
    struct world_load load;
    world_read(w, 0, WORLD_COMPUTE, &load);
    assert_int_equal(load.busy_ns, 800);
    assert_int_equal(world_next_ns(w), WORLD_NEVER);
    world_close(w);
}

static uint64_t rnd(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static uint64_t traffic(uint64_t seed)
{
    unsigned n = 1 + (unsigned)(rnd(&seed) % 8);
    int uplink[8];
    uint64_t due[8][2] = {{0}}, shared[8] = {0};
    for (unsigned i = 0; i < n; i++)
        uplink[i] = rnd(&seed) % 3 ? (int)(rnd(&seed) % n) : WORLD_ALONE;
    struct world *w = open_world(n, uplink);
    for (int k = 0; k < 60; k++) {
        unsigned d = (unsigned)(rnd(&seed) % n);
        enum world_engine dir = rnd(&seed) % 3 ? WORLD_H2D : WORLD_D2H;
        uint64_t size = rnd(&seed) % (64 * MIB);
        world_copy(w, d, dir, size, 0, NULL, NULL);
        due[d][dir] += size;
        if (dir == WORLD_H2D && uplink[d] >= 0)
            shared[uplink[d]] += size;
        world_run(w, world_now_ns(w) + rnd(&seed) % 1000000);
    }
    world_run(w, WORLD_NEVER);
    for (unsigned i = 0; i < n; i++) {
        for (enum world_engine dir = WORLD_H2D; dir <= WORLD_D2H; dir++) {
            struct world_load load;
            world_read(w, i, dir, &load);
            assert_int_equal(load.bytes, due[i][dir]);
            assert_true(load.busy_ns >= takes(load.bytes, 55400000000u));
        }
        assert_true(world_now_ns(w) >= takes(shared[i], 55400000000u)); /* no uplink gave more than it has */
    }
    uint64_t end_ns = world_now_ns(w);
    world_close(w);
    return end_ns;
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rounds(300); seed++)
        assert_int_equal(traffic(seed * 0x9e3779b97f4a7c15u), traffic(seed * 0x9e3779b97f4a7c15u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_link), cmocka_unit_test(test_chunks),
                                       cmocka_unit_test(test_uplink), cmocka_unit_test(test_engines),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
