#ifndef ALLOC_FILL_INTERNAL_H
#define ALLOC_FILL_INTERNAL_H

#include <pthread.h>

#include "alloc/fill.h"
#include "alloc/sysops.h"

enum { BLOCK = 4096, FILL_DEPTH_MAX = 256, PREAD_THREADS_MAX = 16 };

struct fill_file {
    const char *path;
    int fd, spare_fd; /* spare: the direct one, after the file turned out to refuse it */
    int cache_fd;     /* through the page cache; -1: not asked for */
    uint64_t bytes;   /* of the file when it was opened */
    bool direct;
};

/* What is still to be issued of an extent's superset. */
struct cursor {
    uint64_t at, end; /* multiples of BLOCK */
    unsigned file;
};

/* One read in flight, or waiting to be issued again. */
struct chunk {
    struct chunk *next;
    struct fill *job;
    unsigned extent;
    uint64_t at;
    size_t bytes;
    unsigned char *to;
    int fd;
    bool direct, cached;
};

struct fill {
    struct fill *next;
    struct filler *filler;
    struct fill_extent *extent;
    struct cursor *cursor;
    struct fill_file *file;
    unsigned n_extents, n_files, turn;
    unsigned in_flight; /* chunks out, retries included */
    unsigned unissued;  /* extents with bytes left to issue */
    int rc;
    bool done;
    uint64_t job, begin_ns, end_ns, bytes, cached_bytes;
    char said[1024], why[512];
};

struct filler {
    struct filler_opts opts;
    enum fill_method method;
    char why[256];
    pthread_mutex_t lock; /* everything below, and the jobs */
    pthread_cond_t work, finished;
    struct fill *jobs;   /* not closed; in turns */
    struct chunk *again; /* to issue again */
    struct chunk *idle;
    struct chunk chunks[FILL_DEPTH_MAX];
    bool quit;
    struct io_uring ring;
    unsigned threads;
    pthread_t thread[PREAD_THREADS_MAX];
};

/* fill.c; lock held. The next chunk to read, or NULL; it counts as in flight. */
struct chunk *fill_next(struct filler *f);
/* What a chunk's read returned: bytes or -errno. */
void fill_result(struct filler *f, struct chunk *c, long result);

/* fill_engine.c: threads that read. */
int engine_start(struct filler *f);
void engine_stop(struct filler *f);

#endif
