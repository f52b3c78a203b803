#ifndef ALLOC_HINTS_INTERNAL_H
#define ALLOC_HINTS_INTERNAL_H

#include <pthread.h>

#include "alloc/hints.h"

struct slot {
    unsigned char id[HINT_ID];
    struct hint hint;
    uint64_t used; /* 0: empty */
};

struct hints {
    pthread_mutex_t lock;
    uint64_t clock;
    unsigned n;
    struct slot slot[];
};

#endif
