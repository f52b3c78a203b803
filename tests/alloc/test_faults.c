/* Claim: for every k, the k-th system or device call of a whole scenario may fail, and afterwards the books are equal,
 * no page is lost, no registration is left, no rule is broken, and one sentence says what happened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc/pool.h"
#include "fake.h"
#include "perf/err.h"

enum { UNIT_SMALL = 1 << 17, UNIT_HUGE = 2 << 20 };

static size_t unit;
static enum page_tier tier;

struct result {
    int errors;      /* calls of the scenario that failed */
    bool said;       /* each with a sentence */
    bool unverified; /* the view told of a lower promise */
};

static void note(struct result *r, int rc)
{
    if (rc == 0)
        return;
    r->errors++;
    r->said = r->said && pen_last_error()[0];
    err_set("");
}

static void use_pool(struct pool *p, struct result *r)
{
    struct lease l[4] = {0};
    const struct pool_want want[4] = {
        {.size = {2 * unit, unit, unit}, .buffers = 3},
        {.size = {5000, 100}, .buffers = 2},
        {.size = {8 * unit}, .buffers = 1, .wait_ns = 30000000}, /* grows on demand, or gives up */
        {.size = {unit}, .buffers = 1, .place = 1},
    };
    for (int i = 0; i < 4; i++) {
        note(r, pool_take(p, &l[i], &want[i]));
        if (l[i].base)
            memset(l[i].base, i, l[i].bytes);
        lease_pass(&l[i]);
    }
    note(r, pool_grow(p, 1, 4));
    note(r, pool_shrink(p, 1, 4 * unit, 0, NULL));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pool_give(p, &l[i]), 0); /* giving back cannot fail */
    note(r, pool_shrink(p, 0, UINT64_MAX, 0, NULL));
    struct pool_view v;
    pool_read(p, &v);
    r->unverified = !v.verified || v.why[0] || v.quarantined_bytes;
    assert_int_equal(v.leased_bytes, 0);
}

/* Returns false when the scenario needed fewer than k calls. */
static bool scenario(unsigned long k)
{
    fake_begin();
    atomic_store(&fake.fail_at, k);
    struct result r = {.said = true};
    struct budget *b = NULL;
    struct pool *p = NULL;
    static const struct pool_node_opts node[2] = {{.id = 0, .start_units = 8, .max_units = 16},
                                                  {.id = 0, .start_units = 4, .max_units = 12}};
    struct pool_opts o = {.node = node, .n_nodes = 2, .unit_bytes = unit, .arena_units = 8, .tier = tier};
    o.registrar = fake_registrar;
    int rc = budget_open(&b, &(struct budget_opts){.limit_bytes = 64 * unit});
    note(&r, rc);
    if (rc == 0) {
        o.budget = b;
        rc = pool_open(&p, &o);
        note(&r, rc);
    }
    if (p) {
        use_pool(p, &r);
        note(&r, pool_close(p));
    }
    if (b)
        assert_int_equal(budget_close(b), 0); /* not a byte is still counted */
    bool failed = atomic_load(&fake.failed) > 0;
    fake_end();
    if (atomic_load(&fake.mapped_bytes) || atomic_load(&fake.registered) || atomic_load(&fake.violations) ||
        atomic_load(&fake.open_files) || !r.said || (!failed && r.errors))
        fail_msg("call %lu (%s) failed: %ld bytes mapped, %d registered, %d rules broken, %d files, %d errors%s", k,
                 fake.failed_name, atomic_load(&fake.mapped_bytes), atomic_load(&fake.registered),
                 atomic_load(&fake.violations), atomic_load(&fake.open_files), r.errors,
                 r.said ? "" : " without a word");
    return failed;
}

static void test_every_call(void **state)
{
    (void)state;
    unit = UNIT_SMALL;
    tier = TIER_THP;
    unsigned long k = 1;
    while (scenario(k))
        k++;
    assert_true(k > 40); /* else the scenario does not do what it says */
    print_message("%lu calls, each failed once\n", k - 1);
}

static long pool_file(const char *name, long set)
{
    char path[96];
    long n = -1;
    snprintf(path, sizeof path, "/sys/kernel/mm/hugepages/hugepages-2048kB/%s", name);
    FILE *f = fopen(path, set >= 0 ? "w" : "r");
    if (f && set >= 0)
        fprintf(f, "%ld\n", set);
    else if (f && fscanf(f, "%ld", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

static long pages_before = -1;

/* Also after a failed assertion. */
static int give_pages_back(void **state)
{
    (void)state;
    if (pages_before >= 0)
        pool_file("nr_hugepages", pages_before);
    pages_before = -1;
    return 0;
}

/* The same on real huge pages, counted against the kernel's free ones: our books alone would not see a page that stays
 * taken behind an unmapped registration. */
static void test_every_call_on_huge_pages(void **state)
{
    (void)state;
    unit = UNIT_HUGE;
    tier = TIER_2M;
    long before = pool_file("nr_hugepages", -1);
    if (geteuid() != 0 || before < 0)
        skip();
    pages_before = before;
    pool_file("nr_hugepages", before + 36);
    long have = pool_file("free_hugepages", -1), lost = 0;
    unsigned long k = 1;
    while (have >= 36 && scenario(k)) {
        for (int i = 0; i < 50 && (lost = have - pool_file("free_hugepages", -1)) > 0; i++)
            usleep(20000); /* another process may hold some for a moment */
        if (lost > 0)
            break;
        k++;
    }
    if (have < 36)
        skip();
    if (lost > 0)
        fail_msg("call %lu: %ld pages are lost", k, lost);
    assert_true(k > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_call),
                                       cmocka_unit_test_teardown(test_every_call_on_huge_pages, give_pages_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
