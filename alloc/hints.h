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

/* So that what was learned survives a restart. Written beside and renamed: a reader, or a crash at any moment, sees the
 * old file or the new one. -ENOSPC, -EACCES, ...: the old file stays. */
int hints_save(struct hints *h, const char *path);
/* Add what the file has; what is known already is newer and stays. No file is no hints: 0. -EBADMSG with a sentence: it
 * is damaged or another version's, and nothing is taken from it; to be said and otherwise ignored. */
int hints_load(struct hints *h, const char *path);

#endif
