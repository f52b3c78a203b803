#include "perf/bench/shape.h"

#include <string.h>

#include "perf/err.h"

/* Sources: the circuits' own synthesis, where every count that upstream asserts agrees. Booleans of WindowPoSt and
 * WinningPoSt are the challenge bits alone; the rest of their witness is Poseidon states. */
static const struct shape shapes[] = {
    {"porep32", "PoRep 32 GiB", 10, 328, 130169893, 130278541, 309405051, 130327340, 129753292, 33112281, 1692209, 27,
     10},
    {"snap32", "SnapDeals 32 GiB", 16, 5, 80978488, 81049499, 190374912, 81118127, 80743581, 20983607, 1214677, 27, 10},
    {"wpost32", "WindowPoSt 32 GiB", 1, 25840, 126902376, 125279217, 2349u * 367131, 2349u * 54235, 96179805, 91925766,
     125785635, 27, 300},
    {"winning", "WinningPoSt 32 GiB", 1, 133, 375210, 370590, 2549185, 376662, 284196, 272184, 371910, 19, 300},
};

const struct shape *shape_find(const char *name)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (strcmp(shapes[i].name, name) == 0)
            return &shapes[i];
    }
    return NULL;
}

static size_t scaled(size_t n, uint64_t num, uint64_t den)
{
    return (size_t)((unsigned __int128)n * num / den);
}

int shape_scale(struct shape *out, const struct shape *shape, uint64_t num, uint64_t den)
{
    if (num == 0 || den == 0 || num > den)
        return err_fail(-EINVAL, "scale %llu/%llu: from above 0 to 1", (unsigned long long)num,
                        (unsigned long long)den);
    struct shape s = *shape;
    s.inputs = scaled(s.inputs, num, den);
    s.inputs = s.inputs < 2 ? 2 : s.inputs;
    size_t *const counts[] = {&s.aux, &s.rows, &s.terms_a, &s.terms_b, &s.dense_a, &s.dense_b, &s.full};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = scaled(*counts[i], num, den);
    if (s.dense_b < 8 || s.rows < s.dense_a || s.aux < s.dense_a || s.terms_b < s.rows || s.terms_a < s.rows + s.inputs)
        return err_fail(-EINVAL, "scale %llu/%llu leaves %zu rows of %s: too few", (unsigned long long)num,
                        (unsigned long long)den, s.rows, shape->name);
    for (s.log_domain = 1; (size_t)1 << s.log_domain < s.rows + s.inputs;)
        s.log_domain++;
    *out = s;
    return 0;
}
