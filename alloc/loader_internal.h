#ifndef ALLOC_LOADER_INTERNAL_H
#define ALLOC_LOADER_INTERNAL_H

#include <pthread.h>

#include "alloc/loader.h"

/* asked -> taking (a lease) -> filling -> ready | failed; dropped from any of them. */
enum load_state { LOAD_ASKED, LOAD_TAKING, LOAD_FILLING, LOAD_READY, LOAD_FAILED };

struct load {
    struct load *next; /* in the loader's list */
    struct loader *loader;
    const struct load *after;
    enum load_state state;
    bool dropped;
    bool must_grow; /* no free run is large enough */
    unsigned waiting;
    struct lease lease;
    struct fill *fill;
    struct fill_extent extent;
    int rc;
    char said[1024];
    char path[];
};

/* One thread may wait for a new arena to be populated (67 MiB: 10 ms and more) while the other hands free memory to the
 * ranges that use it again. */
enum { LOADER_THREADS = 2, LOADER_FILLS = 3 };

struct loader {
    struct loader_opts opts;
    struct pool *pool;
    size_t unit_bytes;
    struct filler *filler;
    _Atomic uint32_t events;   /* futex of the threads: a read ended, something was asked, dropped, given */
    pthread_mutex_t lock;      /* everything below, and the loads; taken before the filler's own */
    pthread_cond_t change;     /* of a load's state */
    struct load *first, **end; /* all loads, in order */
    unsigned filling;
    bool growing, trimming, quit;
    unsigned returning; /* leases on their way back to the pool */
    uint64_t returned;  /* and those that arrived */
    bool trim_asked; /* once nothing is asked for that might use the idle memory */
    bool trim_now;
    bool stalled; /* no memory for what nobody waits for; until some comes back */
    uint64_t held_bytes, peak_bytes, bytes, cached_bytes, wait_ns;
    bool buffered;
    char why[512];
    unsigned threads;
    pthread_t thread[LOADER_THREADS];
};

/* loader.c */
void *loader_run(void *loader);
void loader_event(void *loader); /* wake the threads; also from the filler, under its lock */

#endif
