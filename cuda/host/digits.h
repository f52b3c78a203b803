/* Scalars of one call, sorted by kind once for all its sets: zeros are dropped, ones (and r - 1) become a list, short
 * and full ones become signed digits of `bits` bits. A scalar above r/2 counts as its negative. */
#ifndef CUDA_HOST_DIGITS_H
#define CUDA_HOST_DIGITS_H

#include "cuda/host/kernels.h"
#include "cuda/host/threads.h"

/* index of the scalar | DIGITS_NEGATIVE */
#define DIGITS_NEGATIVE ((uint32_t)1 << 31)

struct digit_list {
    uint32_t *index; /* ascending */
    int16_t *digit;  /* digit w of element i at [w * n + i], -2^(bits - 1) .. 2^(bits - 1) - 1 */
    size_t n;
    unsigned windows;
};

enum { DIGITS_SHORT_BITS = 62, DIGITS_BITS_MAX = 16 };

struct digits {
    unsigned bits;
    uint32_t *one;
    size_t n_one;
    struct digit_list small, full;
    void *memory;
};

/* How many of each kind there are; the caller chooses the digit size from it. */
struct digit_counts {
    size_t one, small, full;
};

/* First look: counts per chunk and in all. n < 2^31. -ENOMEM. Close with digits_close also if only this was called. */
struct digit_chunk;
struct digit_plan {
    const struct curve *curve;
    const struct scalar *scalars;
    size_t n, n_chunks;
    struct digit_counts total;
    struct digit_chunk *chunk;
};
int digit_plan_open(struct digit_plan *out, struct threads *t, const struct curve *c, const struct scalar *scalars,
                    size_t n);
void digit_plan_close(struct digit_plan *p);

unsigned digits_windows(const struct curve *c, unsigned bits);
int digits_open(struct digits *out, struct threads *t, const struct digit_plan *plan, unsigned bits);
void digits_close(struct digits *d);

#endif
