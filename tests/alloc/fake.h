/* A system that can be told to fail, and a device registrar that enforces what was measured on a real driver: one call
 * per range, no overlap (712), unregister by the exact base only (1), nothing unmapped while registered. */
#ifndef TESTS_ALLOC_FAKE_H
#define TESTS_ALLOC_FAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc/arena.h"
#include "alloc/sysops.h"

struct fake {
    _Atomic unsigned long calls;   /* of the table and the registrar, in order */
    _Atomic unsigned long fail_at; /* 0: none; the call with that number fails, once */
    _Atomic int failed;            /* how many did */
    char failed_name[32];
    _Atomic long mapped_bytes; /* mmap minus munmap */
    _Atomic int open_files;
    _Atomic int registered;   /* ranges */
    _Atomic int violations;   /* rules broken */
    _Atomic bool no_populate; /* populate does nothing: huge pools cost no memory */
    _Atomic bool unregister_fails, register_fails;
    _Atomic int move_pages_errno, mbind_errno, populate_errno;
    _Atomic int wrong_node;                           /* > 0: move_pages says this node */
    _Atomic unsigned long read_eio_at, read_short_at; /* n-th read of data fails with EIO, or is cut short */
    _Atomic unsigned long reads;
    _Atomic int uring_errno, direct_errno;
    _Atomic long fstat_lies; /* files look that much longer */
    _Atomic int read_slow_us;
    _Atomic bool cached_nothing;       /* the page cache is said to hold nothing */
    _Atomic int direct_read_errno;     /* what reads on an O_DIRECT descriptor return */
    _Atomic unsigned long register_us; /* how long a registration takes */
};
extern struct fake fake;
extern const struct sysops fake_sys;
extern const struct registrar fake_registrar;

/* Zero the counts and use the table. */
void fake_begin(void);
/* The real table again. */
void fake_end(void);

#endif
