/* The section container that .zkey, .wtns, .r1cs and .ptau share:
 *
 *     | char[4] magic | u32 version | u32 sections |  then per section  | u32 id | u64 length | payload |
 *
 * all little-endian, no alignment, any order. Every bound is checked here once, so that a section's pointer and length
 * can be trusted. Unknown ids are skipped. */
#ifndef PROVER_BINFILE_H
#define PROVER_BINFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prover/file_map.h"

enum { BINFILE_IDS = 32 }; /* ids below this are found by binfile_section */

/* Of a file that is read through a source, `data` has only the beginning of a section. */
enum { BINFILE_HEAD = 4096 };
struct binfile_section {
    const uint8_t *data; /* any alignment */
    size_t bytes;
    size_t at_hand;  /* that `data` has: all of them, or BINFILE_HEAD */
    uint64_t offset; /* in the file */
};

struct binfile {
    const struct file_map *map;
    uint32_t version, n_sections;
    size_t trailing_bytes; /* after the last section: tolerated, worth a warning */
    struct binfile_section first[BINFILE_IDS];
    uint32_t seen[BINFILE_IDS];
    uint8_t *heads; /* of sections, where the file is not in memory */
};

struct binfile_kind {
    const char *magic; /* "zkey" */
    const char *title; /* "a Groth16 key (.zkey)" */
    uint32_t min_version, max_version;
    size_t object_bytes; /* what opening makes: an object that begins with the struct file_map of its file */
    int (*refuse)(const struct file_map *map); /* NULL, or sees the bare bytes first: for a better sentence */
    bool by_range; /* the object takes its sections from map.source; else the file is read whole */
    int (*read)(void *object, const struct binfile *bin); /* fills in the object, zeroed but for its map */
};

/* Open a file of this kind, or the caller's memory, which must outlive the object; `name` is for sentences. Table of
 * sections first (a file of another kind is named in the sentence), then what kind->read says. -EBADMSG, -ENOMEM, or
 * what opening says. Close with binfile_close. */
int binfile_open(void **object_p, const struct binfile_kind *kind, const char *path);
int binfile_open_memory(void **object_p, const struct binfile_kind *kind, const char *name, const void *data,
                        size_t bytes);
/* The same through a source, for kinds that go by range; the source is the object's then, and closed when this fails.
 */
int binfile_open_source(void **object_p, const struct binfile_kind *kind, struct byte_source *source);
void binfile_close(void *object); /* NULL is allowed */

/* The one section with this id; `what` names it for people ("A points"). -EBADMSG when absent or there twice. */
int binfile_section(const struct binfile *bin, struct binfile_section *section, uint32_t id, const char *what);

bool binfile_has(const struct binfile *bin, uint32_t id);

/* Reading a payload front to back. The take functions return zeros past the end and set `short_read`, so that a fixed
 * header is read straight through and checked once. */
struct bytes_reader {
    const uint8_t *at;
    size_t left;
    bool short_read;
};
uint32_t bytes_u32(struct bytes_reader *r);
uint64_t bytes_u64(struct bytes_reader *r);
const uint8_t *bytes_take(struct bytes_reader *r, size_t n); /* NULL past the end */

#endif
