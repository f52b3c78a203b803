/* CRC-32C (Castagnoli, reflected 0x82f63b78): with the SSE 4.2 instruction, in three interleaved streams, since one
 * instruction takes 3 cycles and the next can start in 1; else by a table. */
#include "alloc/keep.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"

enum { POLY = (int)0x82f63b78u, BLOCK = 64 << 20, LANE = 4096 };

static uint32_t table[256];
static uint32_t lane_shift[4][256]; /* what LANE zero bytes do to each byte of a CRC */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t table_crc(uint32_t crc, const unsigned char *p, size_t n)
{
    while (n--)
        crc = table[(crc ^ *p++) & 255] ^ crc >> 8;
    return crc;
}

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? (uint32_t)POLY ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    static const unsigned char zeros[LANE];
    for (int byte = 0; byte < 4; byte++)
        for (uint32_t i = 0; i < 256; i++)
            lane_shift[byte][i] = table_crc(i << 8 * byte, zeros, LANE);
}

/* The CRC is linear: a register followed by LANE zero bytes. */
static uint32_t shift(uint32_t c)
{
    return lane_shift[0][c & 255] ^ lane_shift[1][c >> 8 & 255] ^ lane_shift[2][c >> 16 & 255] ^ lane_shift[3][c >> 24];
}

#if defined(__x86_64__)
static uint64_t word_at(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

__attribute__((target("sse4.2"))) static uint32_t fast_crc(uint32_t crc, const unsigned char *p, size_t n)
{
    for (; n >= 3 * LANE; p += 3 * LANE, n -= 3 * LANE) {
        uint64_t a = crc, b = 0, c = 0;
        for (size_t i = 0; i < LANE; i += 8) {
            a = __builtin_ia32_crc32di(a, word_at(p + i));
            b = __builtin_ia32_crc32di(b, word_at(p + LANE + i));
            c = __builtin_ia32_crc32di(c, word_at(p + 2 * LANE + i));
        }
        crc = shift(shift((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
    }
    uint64_t a = crc;
    for (; n >= 8; p += 8, n -= 8)
        a = __builtin_ia32_crc32di(a, word_at(p));
    return table_crc((uint32_t)a, p, n);
}
#endif

uint32_t crc32c(uint32_t crc, const unsigned char *data, size_t bytes)
{
    pthread_once(&once, make_tables);
    crc = ~crc;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~fast_crc(crc, data, bytes);
#endif
    return ~table_crc(crc, data, bytes);
}

uint64_t keep_sum(const unsigned char *data, uint64_t bytes)
{
    uint32_t list = 0;
    for (uint64_t at = 0; at < bytes; at += BLOCK) {
        uint64_t n = bytes - at < BLOCK ? bytes - at : BLOCK;
        uint32_t one = crc32c(0, data + at, (size_t)n);
        unsigned char le[4] = {(unsigned char)one, (unsigned char)(one >> 8), (unsigned char)(one >> 16),
                               (unsigned char)(one >> 24)};
        list = crc32c(list, le, sizeof le);
    }
    return (uint64_t)list << 32 | (bytes & UINT32_MAX);
}
