/* Sizes of circuits seen before, so that only the first synthesis of a circuit is staged (and none whose key has told
 * its sizes). Keyed by the circuit's full identity: circuits that merely look alike do not share a slot. Bounded; the
 * one not asked for longest leaves. */
#ifndef ALLOC_HINTS_H
#define ALLOC_HINTS_H

#include <stdbool.h>
#include <stdint.h>

struct hints;

enum { HINT_ID = 32 };
struct hint {
    uint64_t rows, aux, inputs;
};

/* capacity 0: 256. -ENOMEM. */
int hints_open(struct hints **out, unsigned capacity);
void hints_close(struct hints *h);

/* False: not known. Any thread. */
bool hints_get(struct hints *h, const unsigned char id[HINT_ID], struct hint *out);
/* Remember; a different value replaces the old one (the newest run is right). Any thread. */
void hints_put(struct hints *h, const unsigned char id[HINT_ID], const struct hint *hint);

#endif
