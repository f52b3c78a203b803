/* Eight numbers side by side in 512-bit registers: loads, transposes and the change between words of 64 and limbs of 52
 * bits. Only for units compiled with AVX-512 F, DQ, BW, VL, IFMA and VBMI2. */
#ifndef CUDA_HOST_IFMA_H
#define CUDA_HOST_IFMA_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define IFMA_INLINE static inline __attribute__((always_inline))
#define IFMA_UNROLL _Pragma("GCC unroll 16")
#define IFMA_MASK   _mm512_set1_epi64(((long long)1 << 52) - 1)

/* 8 x 8 words: row l in, column l out */
IFMA_INLINE void ifma_transpose8(__m512i r[8])
{
    __m512i t[8], u[8];
    IFMA_UNROLL
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    }
    /* t[2i + o] = words o, o + 2, o + 4, o + 6 of the rows 2i, 2i + 1 */
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    IFMA_UNROLL
    for (int h = 0; h < 2; h++) {
        IFMA_UNROLL
        for (int o = 0; o < 2; o++) {
            u[4 * h + o] = _mm512_permutex2var_epi64(t[4 * h + o], even, t[4 * h + 2 + o]);
            u[4 * h + 2 + o] = _mm512_permutex2var_epi64(t[4 * h + o], odd, t[4 * h + 2 + o]);
        }
    }
    /* u[4h + o]: words o (low half), o + 4 (high half) of the rows 4h .. 4h + 3 */
    IFMA_UNROLL
    for (int o = 0; o < 4; o++) {
        r[o] = _mm512_shuffle_i64x2(u[o], u[4 + o], 0x44);
        r[4 + o] = _mm512_shuffle_i64x2(u[o], u[4 + o], 0xee);
    }
}

/* Words 0..3 of eight rows (each a 256-bit load) -> w[0..3] */
IFMA_INLINE void ifma_load4(__m512i w[4], const void *const row[8])
{
    __m512i z[4], t[4];
    IFMA_UNROLL
    for (int i = 0; i < 4; i++)
        z[i] =
            _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(row[i])), _mm256_loadu_si256(row[i + 4]), 1);
    t[0] = _mm512_unpacklo_epi64(z[0], z[1]);
    t[1] = _mm512_unpackhi_epi64(z[0], z[1]);
    t[2] = _mm512_unpacklo_epi64(z[2], z[3]);
    t[3] = _mm512_unpackhi_epi64(z[2], z[3]);
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    w[0] = _mm512_permutex2var_epi64(t[0], even, t[2]);
    w[1] = _mm512_permutex2var_epi64(t[1], even, t[3]);
    w[2] = _mm512_permutex2var_epi64(t[0], odd, t[2]);
    w[3] = _mm512_permutex2var_epi64(t[1], odd, t[3]);
}

IFMA_INLINE void ifma_store4(void *const row[8], const __m512i w[4])
{
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i t[4], z[4];
    t[0] = _mm512_permutex2var_epi64(w[0], even, w[2]);
    t[2] = _mm512_permutex2var_epi64(w[0], odd, w[2]);
    t[1] = _mm512_permutex2var_epi64(w[1], even, w[3]);
    t[3] = _mm512_permutex2var_epi64(w[1], odd, w[3]);
    z[0] = _mm512_unpacklo_epi64(t[0], t[1]);
    z[1] = _mm512_unpackhi_epi64(t[0], t[1]);
    z[2] = _mm512_unpacklo_epi64(t[2], t[3]);
    z[3] = _mm512_unpackhi_epi64(t[2], t[3]);
    IFMA_UNROLL
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_si256(row[i], _mm512_castsi512_si256(z[i]));
        _mm256_storeu_si256(row[i + 4], _mm512_extracti64x4_epi64(z[i], 1));
    }
}

/* `words` words (4, 6, or multiples of 4 from 8 on) of eight rows <-> word vectors */
IFMA_INLINE void ifma_load(__m512i *w, const void *const row[8], int words)
{
    int at = 0;
    IFMA_UNROLL
    for (; at + 8 <= words; at += 8) {
        IFMA_UNROLL
        for (int i = 0; i < 8; i++)
            w[at + i] = _mm512_loadu_si512((const uint64_t *)row[i] + at);
        ifma_transpose8(w + at);
    }
    if (words - at == 6) {
        __m512i t[8];
        IFMA_UNROLL
        for (int i = 0; i < 8; i++)
            t[i] = _mm512_maskz_loadu_epi64(0x3f, (const uint64_t *)row[i] + at);
        ifma_transpose8(t);
        IFMA_UNROLL
        for (int i = 0; i < 6; i++)
            w[at + i] = t[i];
    } else if (at < words) {
        const void *rest[8];
        IFMA_UNROLL
        for (int i = 0; i < 8; i++)
            rest[i] = (const uint64_t *)row[i] + at;
        ifma_load4(w + at, rest);
    }
}

IFMA_INLINE void ifma_store(void *const row[8], const __m512i *w, int words)
{
    int at = 0;
    IFMA_UNROLL
    for (; at + 8 <= words; at += 8) {
        __m512i t[8];
        for (int i = 0; i < 8; i++)
            t[i] = w[at + i];
        ifma_transpose8(t);
        for (int i = 0; i < 8; i++)
            _mm512_storeu_si512((uint64_t *)row[i] + at, t[i]);
    }
    if (words - at == 6) {
        __m512i t[8];
        IFMA_UNROLL
        for (int i = 0; i < 8; i++)
            t[i] = i < 6 ? w[at + i] : _mm512_setzero_si512();
        ifma_transpose8(t);
        IFMA_UNROLL
        for (int i = 0; i < 8; i++)
            _mm512_mask_storeu_epi64((uint64_t *)row[i] + at, 0x3f, t[i]);
    } else if (at < words) {
        void *rest[8];
        IFMA_UNROLL
        for (int i = 0; i < 8; i++)
            rest[i] = (uint64_t *)row[i] + at;
        ifma_store4(rest, w + at);
    }
}

/* 4 words -> 5 limbs, 6 words -> 8 limbs */
IFMA_INLINE void ifma_split(__m512i *l, const __m512i *w, int words)
{
    const __m512i m = IFMA_MASK;
    l[0] = _mm512_and_si512(w[0], m);
    l[1] = _mm512_and_si512(_mm512_shrdi_epi64(w[0], w[1], 52), m);
    l[2] = _mm512_and_si512(_mm512_shrdi_epi64(w[1], w[2], 40), m);
    l[3] = _mm512_and_si512(_mm512_shrdi_epi64(w[2], w[3], 28), m);
    if (words == 4) {
        l[4] = _mm512_srli_epi64(w[3], 16);
        return;
    }
    l[4] = _mm512_and_si512(_mm512_shrdi_epi64(w[3], w[4], 16), m);
    l[5] = _mm512_and_si512(_mm512_srli_epi64(w[4], 4), m);
    l[6] = _mm512_and_si512(_mm512_shrdi_epi64(w[4], w[5], 56), m);
    l[7] = _mm512_srli_epi64(w[5], 44);
}

/* tight limbs -> words */
IFMA_INLINE void ifma_join(__m512i *w, const __m512i *l, int words)
{
    w[0] = _mm512_or_si512(l[0], _mm512_slli_epi64(l[1], 52));
    w[1] = _mm512_or_si512(_mm512_srli_epi64(l[1], 12), _mm512_slli_epi64(l[2], 40));
    w[2] = _mm512_or_si512(_mm512_srli_epi64(l[2], 24), _mm512_slli_epi64(l[3], 28));
    w[3] = _mm512_or_si512(_mm512_srli_epi64(l[3], 36), _mm512_slli_epi64(l[4], 16));
    if (words == 4)
        return;
    w[4] = _mm512_or_si512(_mm512_srli_epi64(l[4], 48),
                           _mm512_or_si512(_mm512_slli_epi64(l[5], 4), _mm512_slli_epi64(l[6], 56)));
    w[5] = _mm512_or_si512(_mm512_srli_epi64(l[6], 8), _mm512_slli_epi64(l[7], 44));
}

#endif
