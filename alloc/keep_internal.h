/* Shared by keep.c (contents) and keep_file.c (names, locks, headers, listing). */
#ifndef ALLOC_KEEP_INTERNAL_H
#define ALLOC_KEEP_INTERNAL_H

#include <stdatomic.h>

#include "alloc/keep.h"

enum { KEEP_PATH = 512, KEEP_VERSION = 1 };
#define KEEP_MAGIC "penkeep\n"

/* At offset 0 of the file, little endian, in the mapping itself: a store is all it takes to survive the process.
 * `state` is written last (release) on the way to ready and first on the way to filling. */
struct keep_header {
    char magic[8];
    uint32_t version;
    _Atomic uint32_t state;
    uint64_t bytes, generation;
    int64_t owner;
    unsigned char identity[KEEP_IDENTITY];
    uint64_t sum;        /* of the data */
    uint32_t header_sum; /* of bytes, generation, owner, identity, sum */
};

struct keep {
    int fd;
    char path[KEEP_PATH], name[KEEP_NAME];
    bool ready;
    struct hugepage_map map;
    struct keep_header *header;
    struct registrar registrar;
    uint64_t bytes, generation;
};

int keep_name_check(const char *name);
/* Open k->path and lock it (LOCK_SH, LOCK_EX) without waiting: -EBUSY. A file that was dropped between the two is
 * opened again. */
int keep_file_lock(struct keep *k, int operation, bool create);
void keep_file_unlock(struct keep *k);

/* Through read(2): no page is allocated and no fault taken; what was never written reads as zeros. */
int keep_header_read(int fd, const char *path, struct keep_header *h);
uint32_t keep_header_sum(const struct keep_header *h);
enum keep_state keep_header_state(const struct keep_header *h);

#endif
