/* "16GiB" <-> bytes, durations, counts: what people read and write. */
#ifndef PERF_UNITS_H
#define PERF_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum { UNITS_TEXT = 32 };

/* Parse a size: digits, optional fraction, optional unit out of B kB MB GB TB KiB MiB GiB TiB (case-insensitive; a bare
 * K, M, G or T is binary). -EINVAL with a sentence for anything else, also for what does not fit 64 bits. */
int units_parse_bytes(const char *text, uint64_t *bytes);

/* Write a size for people: "3.88 GiB", "512 B". Returns `text`. */
const char *units_bytes(char text[UNITS_TEXT], uint64_t bytes);

/* Write a duration for people: "1.20 s", "340 ms", "12 us". Returns `text`. */
const char *units_seconds(char text[UNITS_TEXT], double seconds);

#endif
