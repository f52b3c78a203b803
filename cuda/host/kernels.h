/* The inner loops of the host device, compiled once for each instruction set from the *_stamp.h headers. Everything
 * around them (plans, sorting, threads) is written once and calls through these tables. */
#ifndef CUDA_HOST_KERNELS_H
#define CUDA_HOST_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/device.h"
#include "cuda/math/isa.h"

/* A run of butterfly stages of one transform on 2^k rows at once. Row r of lane c is data[r * row + c * lane].
 *
 *   fan = false   the lanes are `cols` neighbouring columns of one block; the twiddles are the same for all of them.
 *   fan = true    the lanes are `cols` neighbouring blocks q, q + 1, ..: the last stages, where a block is one column.
 *
 * tw is the table of powers in bit-reversed order, tw[i] = root^bitrev(i), which has the property that stage s of block
 * q needs exactly tw[q 2^s + 0 .. 2^s - 1], whatever the size of the whole. */
struct ntt_pass {
    struct fr *data;
    size_t row, lane, cols; /* cols: a multiple of `lanes` */
    unsigned k;             /* 1..NTT_PASS_MAX */
    bool fan;
    bool last; /* leave canonical values; between passes anything below 2^256 will do */
    const struct fr *tw;
    size_t q;
};
enum { NTT_PASS_MAX = 6 };

struct fr_kernels {
    unsigned lanes;
    struct fr tw_one; /* 1 in the form of the twiddle table */
    /* decimate: natural order in, bit-reversed out; gather: bit-reversed in, natural out. Same table, same root. */
    void (*ntt_decimate)(const struct ntt_pass *p);
    void (*ntt_gather)(const struct ntt_pass *p);
    /* data[c] *= by[c] * k, c < n a multiple of `lanes`; `by` and k in the form of the twiddle table */
    void (*ntt_scale)(struct fr *data, const struct fr *by, const struct fr *k, size_t n);
    /* Whole transforms of 2^log_n, log_n < NTT_SMALL; table in the form of tw_one. */
    void (*ntt_small)(struct fr *data, unsigned log_n, const struct fr *tw, bool gather);

    void (*pointwise)(enum pointwise_op op, bool plain, struct fr *out, const struct fr *a, const struct fr *b,
                      const struct fr *c, const struct fr *k, size_t n);
    void (*spmv)(struct fr *out, const struct scalar *w, const struct matrix_args *m, const uint8_t *code, size_t first,
                 size_t end);
    /* How a dictionary entry is multiplied: SPMV_GENERAL, or a power of two with a sign. */
    uint8_t (*spmv_code)(const struct fr *dict);
};
enum { NTT_SMALL = 6 };
enum { SPMV_GENERAL = 0x80, SPMV_NEGATIVE = 0x40, SPMV_SHIFT = 0x3f };

/* A packed affine point anywhere in memory, and whether it counts negated. User-space addresses leave the top bit of a
 * pointer free. */
typedef uint64_t point_ref;
#define POINT_REF_NEGATIVE ((point_ref)1 << 63)

static inline const void *point_ref_at(point_ref r)
{
    return (const void *)(uintptr_t)(r & ~POINT_REF_NEGATIVE);
}

struct group_kernels {
    unsigned point_bytes;
    size_t scratch_bytes; /* what add_pairs needs, 64-byte aligned */
    size_t batch;         /* the number of pairs that shares one inversion */
    /* out[i] = a[i] + b[i], packed; all cases right (infinity, equal, opposite). out must not overlap an input. */
    void (*add_pairs)(void *out, const point_ref *a, const point_ref *b, size_t n, void *scratch);
    /* *out = the point, sign applied, packed */
    void (*resolve)(void *out, point_ref a);
    /* out = sum over i < n of (i + 1) * points[i] */
    void (*weighted_sum)(void *out, const void *points, size_t n);
    /* out = sum over i of 2^(bits * i) * points[i] */
    void (*horner)(void *out, const void *points, size_t n, unsigned bits);
    /* Bitmap of the finite ones of n packed points; n a multiple of 64 or the end. */
    void (*finite)(uint64_t *bits, const void *points, size_t n);
    /* POINT_OK, POINT_NOT_CANONICAL or POINT_NOT_ON_CURVE */
    enum point_fault (*on_curve)(const void *packed);
};

struct kernels {
    const char *name;
    enum isa isa;
    bool (*usable)(void); /* may this CPU run them? */
    struct fr_kernels fr[CURVES];
    struct group_kernels group[CURVES][GROUPS];
};

extern const struct kernels kernels_portable, kernels_adx, kernels_ifma;

/* The fastest that this CPU runs and that isa_best() allows. */
const struct kernels *kernels_best(void);
/* "portable", "adx", "ifma"; NULL if unknown or if this CPU cannot run it. */
const struct kernels *kernels_by_name(const char *name);

#endif
