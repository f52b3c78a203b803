/* Malformed files made from a good one: each mutant is one lie told at one place. */
#ifndef TESTS_PROVER_MUTATE_H
#define TESTS_PROVER_MUTATE_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct blob {
    uint8_t *data; /* malloc */
    size_t bytes;
};

enum mutant_kind { MUTANT_ZKEY, MUTANT_WTNS, MUTANT_R1CS, MUTANT_KINDS };
extern const char *const mutant_ending[MUTANT_KINDS]; /* "zkey", ... */

/* What a reader of the format alone makes of it. */
enum mutant_fate {
    MUTANT_REFUSED, /* -EBADMSG, the sentence holds `sentence` */
    MUTANT_PROVES,  /* not even wrong: it opens, and makes a good proof */
    MUTANT_OPENS,   /* the format is right, the contents are not: the proof's own check and `key check` tell */
    MUTANT_MATCH,   /* opens, but is refused beside its partner file; `sentence` is then said */
};

enum mutant_op {
    OP_KEEP,    /* keep the first n bytes (n < 0: drop -n from the end) */
    OP_TAIL,    /* n zero bytes after the end */
    OP_PUT32,   /* the u32 at the place becomes n */
    OP_PUT64,   /* the u64 */
    OP_ADD32,   /* the u32 grows by n */
    OP_FLIP,    /* bit 0 of the byte at the place */
    OP_ZERO,    /* n zero bytes; 0: to the section's end */
    OP_CUT,     /* n bytes off the section's end, its length set right */
    OP_DROP,    /* the section goes, the count of sections set right */
    OP_REPEAT,  /* the section again at the end, the count set right */
    OP_UNKNOWN, /* a section of id n at the end, the count set right */
    OP_PUT_Q,   /* the prime q of the key's own curve */
    OP_ADD_R,   /* the 256-bit number grows by the prime r */
    OP_SWAP_R,  /* the prime r of the other curve */
    OP_SET,     /* the 256-bit number becomes n */
    OP_PARTNER, /* the witness that belongs to the key, under the key's name */
};

/* A place: byte `offset` of a section's payload; section 0: of the file; offset beyond MUTANT_AFTER_PRIMES counts from
 * the end of the two primes in a key's section 2 (their length depends on the curve). */
enum { MUTANT_LENGTH = -8, MUTANT_R = 100000, MUTANT_COUNTS = 200000 };

struct mutant {
    const char *name; /* "zkey_trailing" */
    enum mutant_kind kind;
    enum mutant_op op;
    int section, offset;
    int64_t n;
    enum mutant_fate fate;
    const char *sentence;
};

extern const struct mutant mutants[];
extern const size_t n_mutants;

/* The good files of one circuit: DIR/NAME.zkey, .wtns, .r1cs. Fails the test (abort) when one is missing. */
void blobs_load(struct blob good[MUTANT_KINDS], const char *dir, const char *name);
void blobs_free(struct blob good[MUTANT_KINDS]);
struct blob blob_read(const char *path); /* data NULL when there is none */

/* What `prove` exits with, given this file and the good partner: 0 or 65. */
int mutant_exit(const struct mutant *m);

/* Make one. Free its data. */
struct blob mutant_make(const struct mutant *m, const struct blob good[MUTANT_KINDS]);

#endif
