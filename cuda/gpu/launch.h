/* What the host code of the CUDA device (C) knows of the kernels (CUDA C++): one table of launchers per scalar field
 * and one per curve and group, and the arguments by value. Launchers return a cudaError_t as int, never wait, and leave
 * all allocation to the caller. */
#ifndef CUDA_GPU_LAUNCH_H
#define CUDA_GPU_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;
typedef struct CUstream_st *gpu_stream; /* cudaStream_t */

/* ---- scalar fields ---- */

struct gpu_fr {
    uint64_t l[4];
};

/* A factor as the transforms' tables hold it: w, not as a Montgomery residue, and floor(w 2^256 / r) (shoup.cuh) */
struct gpu_factor {
    struct gpu_fr w, wq;
};

/* Tables of one transform size and root, all in device memory (gpu_tables.c):
 *   local   w_1024^i (w_n^i for n < 1024): the butterflies inside a pass
 *   near    w_(2^near_bits)^i, all i: factors between passes whose span is at most 2^near_bits
 *   low     w_n^i, i < 2^14            factors of wider spans are low[e mod 2^14] * high[e / 2^14]
 *   high    w_n^(2^14 i)
 *   scaled  high[i] / n (the inverse transform's factor rides on it)
 */
enum { NTT_LOCAL_BITS = 10, NTT_NEAR_BITS = 18, NTT_LOW_BITS = 14 };
struct gpu_ntt_tables {
    const struct gpu_factor *local, *near, *low, *high, *scaled;
    unsigned near_bits;
};

/* A factor k^e for element e of the natural order: low[e mod 2^14] * high[e / 2^14]. NULL low = none. */
struct gpu_ntt_powers {
    const struct gpu_factor *low, *high;
};

enum gpu_ntt_kind { GPU_NTT_DIF, GPU_NTT_DIT, GPU_NTT_BOTH };
struct gpu_ntt_pass {
    enum gpu_ntt_kind kind; /* BOTH: the last DIF pass of one transform and the first DIT pass of the next */
    struct gpu_fr *data;
    unsigned log_n, low_bits, bits; /* this pass transforms bits low_bits .. low_bits + bits - 1 of the index */
    size_t batch;
    struct gpu_ntt_tables tables; /* DIF: of this transform; DIT: likewise */
    struct gpu_ntt_tables second; /* BOTH: of the DIT half */
    bool scale;                   /* use tables.scaled */
    bool powers_reversed;         /* exponent = bit-reversed index */
    struct gpu_ntt_powers before; /* applied when loading */
    struct gpu_ntt_powers after;  /* applied when storing (BOTH: between the halves) */
    struct gpu_fr constant;       /* applied when storing, if has_constant */
    bool has_constant;
};

enum gpu_pointwise { GPU_MUL, GPU_MUL_SUB, GPU_SCALE, GPU_SUB };

struct gpu_spmv {
    const uint64_t *row;
    const uint32_t *col, *coef;
    const struct gpu_fr *dict;
    const uint8_t *dict_kind; /* 0 general, 1: +1, 2: -1 */
    const struct gpu_fr *w;
    struct gpu_fr *out;
    size_t rows, out_rows;
    const uint32_t *long_rows; /* rows of more than GPU_SPMV_LONG entries, a block each */
    size_t n_long;
};
enum { GPU_SPMV_LONG = 64 };

struct gpu_field_ops {
    int (*ntt_pass)(gpu_stream s, const struct gpu_ntt_pass *p);
    int (*ntt_small)(gpu_stream s, const struct gpu_ntt_pass *p, struct gpu_fr root); /* log_n <= 2 */
    int (*ntt_reverse)(gpu_stream s, struct gpu_fr *data, unsigned log_n, size_t batch);
    /* out[i] = factor * base^(i << shift), i < n */
    int (*powers)(gpu_stream s, struct gpu_factor *out, size_t n, unsigned shift, struct gpu_fr base,
                  struct gpu_fr factor);
    int (*pointwise)(gpu_stream s, enum gpu_pointwise op, struct gpu_fr *out, const struct gpu_fr *a,
                     const struct gpu_fr *b, const struct gpu_fr *c, struct gpu_fr k, size_t n, bool plain);
    int (*spmv)(gpu_stream s, const struct gpu_spmv *m);
    /* microbenchmark: each of threads runs `steps` dependent products; returns through out */
    int (*mul_rate)(gpu_stream s, struct gpu_fr *out, unsigned blocks, unsigned steps);
};

extern const struct gpu_field_ops gpu_bn254_fr, gpu_bls12381_fr;

/* ---- MSM ---- */

/* The scalars' signed digits: window j < windows, width c, belongs to bucket set j % sets and to window multiple
 * j / sets of its base. Bucket d - 1 of a set holds the bases with digit +-d. */
struct gpu_digits {
    const void *scalars; /* 32 bytes each */
    uint32_t n;          /* at most 2^GPU_INDEX_BITS */
    uint32_t c, windows, sets;
    uint32_t r[8]; /* the group's order */
};
enum { GPU_INDEX_BITS = 26 };
/* An entry: index of the scalar | multiple << 26 | negative << 31 */

int gpu_digits_count(gpu_stream s, const struct gpu_digits *d, uint32_t *count, uint32_t *rank);
int gpu_digits_scatter(gpu_stream s, const struct gpu_digits *d, const uint32_t *offset, const uint32_t *rank,
                       uint32_t *entries);
/* offset[i] = sum of count[0..i-1], i <= n; sums: scratch of gpu_scan_scratch(n) words */
size_t gpu_scan_scratch(size_t n);
int gpu_scan(gpu_stream s, const uint32_t *count, uint32_t *offset, size_t n, uint32_t *sums);
/* Bits as entries of one bucket: count[w] = popcount of word w, then the indices */
int gpu_bits_count(gpu_stream s, const uint64_t *bits, size_t n, uint32_t *count);
int gpu_bits_entries(gpu_stream s, const uint64_t *bits, size_t n, const uint32_t *offset, uint32_t *entries);
/* dst = the bytes of src + shift, bytes a multiple of 4, dst and src 16-byte aligned, 0 <= shift < 16 */
int gpu_realign(gpu_stream s, void *dst, const void *src, unsigned shift, size_t bytes);

struct gpu_accumulate {
    const void *bases;       /* affine points, multiple m of base i at m * stride + i */
    size_t stride;           /* points */
    uint32_t first, limit;   /* entries with first <= index < limit count; base index = index - first */
    const uint32_t *entries; /* by bucket */
    const uint32_t *offset;  /* of each bucket, and the total behind them */
    uint32_t buckets;        /* in all sets */
    bool add;                /* buckets already hold sums of earlier slices */
    void *bucket;            /* sums, xyzz points */
    void *scratch;           /* accumulate_scratch() bytes */
};

struct gpu_reduce {
    const void *bucket;
    uint32_t sets, buckets; /* per set */
    void *scratch;          /* reduce_scratch(sets, buckets) bytes */
};

/* Sum over a set = parts[planes - 1] + segment * sum_j 2^j parts[j], for `planes` points a set */
struct gpu_reduce_shape {
    uint32_t segment, segments, planes;
};

struct gpu_group_ops {
    size_t affine_bytes, xyzz_bytes;
    size_t (*accumulate_scratch)(void);
    int (*accumulate)(gpu_stream s, const struct gpu_accumulate *a);
    struct gpu_reduce_shape (*reduce_shape)(uint32_t sets, uint32_t buckets);
    size_t (*reduce_scratch)(uint32_t sets, uint32_t buckets);
    /* parts = sets * planes xyzz points (device) */
    int (*reduce)(gpu_stream s, const struct gpu_reduce *r, void *parts);
    /* host: the MSM from the parts of all sets; window width c between sets. out: affine bytes */
    void (*fold)(void *out, const void *parts, uint32_t sets, uint32_t c, struct gpu_reduce_shape shape);
    /* out[i] = 2^doublings * in[i], affine; scratch: normalize_scratch(n) */
    size_t (*normalize_scratch)(size_t n);
    int (*multiply)(gpu_stream s, void *out, const void *in, size_t n, uint32_t doublings, void *scratch);
    /* table[w * (2^bits - 1) + d - 1] = d 2^(bits w) base, w < 256 / bits; bits 8 or 16 */
    int (*base_table)(gpu_stream s, void *table, const void *base_host, uint32_t bits, void *scratch);
    int (*mul_base)(gpu_stream s, void *out, const void *table, uint32_t bits, const void *scalars, size_t n,
                    void *scratch);
    /* *bad = min(*bad, index << 2 | fault), index counted from `first` */
    int (*check)(gpu_stream s, const void *points, size_t n, size_t first, bool subgroup, const void *generator_host,
                 const uint32_t r[8], uint64_t *bad);
    int (*add_rate)(gpu_stream s, void *out, const void *points, unsigned blocks, unsigned steps);
};
extern const struct gpu_group_ops gpu_bn254_g1, gpu_bn254_g2, gpu_bls12381_g1, gpu_bls12381_g2;

#ifdef __cplusplus
}
#endif

#endif
