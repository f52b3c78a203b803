/* Kept arenas: named files on a hugetlbfs (or tmpfs) mount whose pages outlive the process, so that a restarted daemon
 * finds its key in memory, in the time that registration takes.
 *
 *   file penstock-NAME.keep:   | header, 4 KiB | unused | data, from 2 MiB on ... | unused to a whole page |
 *
 * Locks (flock on the file) say who may do what: exclusive = filling, shared = using. They vanish with their process,
 * the header's state does not: whoever finds "filling" without a lock holder has found a crash, and fills again. */
#ifndef ALLOC_KEEP_H
#define ALLOC_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "alloc/arena.h"

struct keep;

enum { KEEP_NAME = 64, KEEP_IDENTITY = 32 };
enum keep_state { KEEP_EMPTY, KEEP_FILLING, KEEP_READY, KEEP_DAMAGED /* header unreadable */ };

struct keep_opts {
    const char *dir;                       /* NULL: the system's mount for page_bytes, as libhugetlbfs finds it */
    const char *name;                      /* letters, digits, - _ . */
    unsigned char identity[KEEP_IDENTITY]; /* of the contents: hash of the source; others are replaced */
    uint64_t bytes;                        /* of data */
    size_t page_bytes;                     /* to choose the mount when dir is NULL; 0: 1 GiB */
    int node;                              /* -1: anywhere */
    unsigned threads;
    const cpu_set_t *cpus;
    struct registrar registrar;
    uint64_t wait_ns; /* while somebody else fills the same thing; 0: do not wait */
};

/* Open or create. Afterwards keep_ready says whether the contents are there (shared lock held, read only by agreement)
 * or must be filled (exclusive lock held, then keep_seal). -ENOTSUP: no mount, or one of another kind; kept keys are
 * off. -EBUSY: another process fills it, or uses it with other contents. -ENOMEM: pages. */
int keep_open(struct keep **out, const struct keep_opts *opts);
bool keep_ready(const struct keep *k);
unsigned char *keep_data(const struct keep *k); /* 2 MiB aligned */
uint64_t keep_bytes(const struct keep *k);
uint64_t keep_generation(const struct keep *k); /* one more with each filling */
bool keep_verified(const struct keep *k);       /* node of every page */

/* The data is complete: store its checksum, mark it ready, keep it shared. -ESTALE: another process took it over at
 * that moment, with other contents; close, and open again. */
int keep_seal(struct keep *k);

/* Compare the data with the checksum (10 GB/s a core; may run behind the first proofs). -EBADMSG: damaged; it is
 * marked, and the next open fills again. */
int keep_check(struct keep *k);

/* Unregister, unmap, unlock; the pages stay. An error leaves the memory mapped for ever (registrar). */
int keep_close(struct keep *k);

struct keep_entry {
    char name[KEEP_NAME];
    enum keep_state state;
    bool in_use; /* by any process, this one too */
    pid_t owner; /* who filled it, or fills it */
    uint64_t bytes, file_bytes, generation;
    unsigned char identity[KEEP_IDENTITY];
};

/* Call `each` for every kept arena of dir (NULL: of both huge page mounts). Stops when it returns non-zero, and returns
 * that. -ENOTSUP without a mount. */
int keep_list(const char *dir, int (*each)(void *ctx, const struct keep_entry *e), void *ctx);

/* Remove one: its pages go back when nobody maps it. -EBUSY while in use, -ENOENT. */
int keep_drop(const char *dir, const char *name);

const char *keep_state_name(enum keep_state state);

/* CRC-32C of blocks of 64 MiB, and of the list of those: the parts can be computed apart. */
uint64_t keep_sum(const unsigned char *data, uint64_t bytes);
uint32_t crc32c(uint32_t crc, const unsigned char *data, size_t bytes);

#endif
