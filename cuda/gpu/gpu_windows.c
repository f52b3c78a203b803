/* Window width of the MSM: the fewest additions, those of the bucket reduction included. Pure arithmetic, tested on the
 * CPU. */
#include "cuda/gpu/gpu.h"

enum { C_MIN = 4, C_MAX = 23, C_MULTIPLES = 9 };

/* A full addition (12M + 2S) costs 1.45 mixed ones (8M + 2S, one reduction saved); a bucket takes two. */
static const double BUCKET_COST = 2.9;

static double windows_cost(struct gpu_windows w, size_t n)
{
    return (double)n * w.windows + BUCKET_COST * w.sets * (double)((size_t)1 << (w.c - 1));
}

/* `multiples`: 0 = as many as table_bytes hold */
struct gpu_windows gpu_windows_choose(unsigned fr_bits, size_t n, size_t table_bytes, size_t affine_bytes,
                                      unsigned multiples)
{
    struct gpu_windows best = {0};
    size_t most = n ? table_bytes / affine_bytes / n : 1;
    for (unsigned c = C_MIN; c <= C_MAX; c++) {
        struct gpu_windows w = {.c = c, .windows = (fr_bits + c - 1) / c};
        for (w.sets = 1; w.sets <= w.windows; w.sets++) {
            w.multiples = (w.windows + w.sets - 1) / w.sets;
            if (w.multiples > 1 && (c < C_MULTIPLES || w.multiples > (multiples ? multiples : most)))
                continue;
            if (w.multiples > 31)
                continue;
            double cost = windows_cost(w, n), least = best.c ? windows_cost(best, n) : 0;
            if (!best.c || cost < least * 0.995 || (cost <= least && w.multiples < best.multiples))
                best = w;
        }
    }
    return best;
}
