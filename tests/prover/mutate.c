#include "tests/prover/mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/math/fe.h"

const char *const mutant_ending[MUTANT_KINDS] = {"zkey", "wtns", "r1cs"};

#define Z     MUTANT_ZKEY
#define W     MUTANT_WTNS
#define C     MUTANT_R1CS
#define NO    MUTANT_REFUSED
#define OPENS MUTANT_OPENS
#define GOOD  MUTANT_PROVES

/* Places in a key's header: nVars, nPublic, domainSize and alpha follow the primes. Offsets and deltas are those of the
 * circuit poseidon1 (520 wires, 2 public, domain 1024), the same on both curves. */
const struct mutant mutants[] = {
    {"zkey_empty", Z, OP_KEEP, 0, 0, 0, NO, "is empty"},
    {"zkey_header_only", Z, OP_KEEP, 0, 0, 12, NO, "section table: says 10 sections"},
    {"zkey_half_a_header", Z, OP_KEEP, 0, 0, 11, NO, "header: 11 bytes, too short"},
    {"zkey_trunc_1byte", Z, OP_KEEP, 0, 0, -1, NO, "section 10 at byte"},
    {"zkey_trailing", Z, OP_TAIL, 0, 0, 37, GOOD, NULL},
    {"zkey_is_wtns", Z, OP_PARTNER, 0, 0, 0, NO, "is a .wtns file, expected a proving key (.zkey)"},
    {"zkey_version99", Z, OP_PUT32, 0, 4, 99, NO, "version 99 is not supported, expected 1"},
    {"zkey_nsections_lie_less", Z, OP_PUT32, 0, 8, 9, GOOD, NULL},
    {"zkey_nsections_3", Z, OP_PUT32, 0, 8, 3, NO, "section 5 (A): missing"},
    {"zkey_nsections_11", Z, OP_PUT32, 0, 8, 11, NO, "section table: ends at byte"},
    {"zkey_nsections_huge", Z, OP_PUT32, 0, 8, 0xffffffff, NO, "section table: says 4294967295 sections"},
    {"zkey_secsize_huge", Z, OP_PUT64, 5, MUTANT_LENGTH, -16, NO, "says 18446744073709551600 bytes"},
    {"zkey_secsize_wrap", Z, OP_PUT64, 5, MUTANT_LENGTH, -12, NO, "says 18446744073709551604 bytes"},
    {"zkey_A_short", Z, OP_CUT, 5, 0, 64, NO, "section 5 (A): "},
    {"zkey_H_short", Z, OP_CUT, 9, 0, 64, NO, "section 9 (H): "},
    {"zkey_no_H", Z, OP_DROP, 9, 0, 0, NO, "section 9 (H): missing"},
    {"zkey_no_header", Z, OP_DROP, 2, 0, 0, NO, "section 2 (header): missing"},
    {"zkey_no_coefs", Z, OP_DROP, 4, 0, 0, NO, "section 4 (coefficients): missing"},
    {"zkey_dup_section", Z, OP_REPEAT, 3, 0, 0, NO, "section 3 (IC): is there 2 times"},
    {"zkey_unknown_section", Z, OP_UNKNOWN, 0, 0, 77, GOOD, NULL},
    {"zkey_proto_plonk_id", Z, OP_PUT32, 1, 0, 2, NO, "2 (PLONK), expected 1 (Groth16)"},
    {"zkey_proto_short", Z, OP_CUT, 1, 0, 1, NO, "section 1 (protocol): 3 bytes, expected 4"},
    {"zkey_n8q_huge", Z, OP_PUT32, 2, 0, 0xffffffff, NO, "field q has elements of 4294967295 bytes"},
    {"zkey_n8q_0", Z, OP_PUT32, 2, 0, 0, NO, "field q has elements of 0 bytes"},
    {"zkey_wrong_q", Z, OP_FLIP, 2, 10, 0, NO, "prime q is that of no known curve"},
    {"zkey_wrong_r", Z, OP_ADD32, 2, MUTANT_R, 2, NO, "prime r does not match the curve of q"},
    {"zkey_nvars_huge", Z, OP_PUT32, 2, MUTANT_COUNTS, 0xfffffff0, NO, "expected nVars = 4294967280 points"},
    {"zkey_npublic_gt_nvars", Z, OP_PUT32, 2, MUTANT_COUNTS + 4, 525, NO, "expected less than nVars (520)"},
    {"zkey_npublic_eq_nvars", Z, OP_PUT32, 2, MUTANT_COUNTS + 4, 520, NO, "expected less than nVars (520)"},
    {"zkey_npublic_plus_1", Z, OP_ADD32, 2, MUTANT_COUNTS + 4, 1, NO, "section 3 (IC): "},
    {"zkey_domain_not_pow2", Z, OP_PUT32, 2, MUTANT_COUNTS + 8, 1023, NO, "expected a power of two"},
    {"zkey_domain_0", Z, OP_PUT32, 2, MUTANT_COUNTS + 8, 0, NO, "expected a power of two"},
    {"zkey_domain_2e31", Z, OP_PUT32, 2, MUTANT_COUNTS + 8, 0x80000000, NO, "domainSize"},
    {"zkey_domain_half", Z, OP_PUT32, 2, MUTANT_COUNTS + 8, 512, NO, "expected domainSize = 512 points"},
    {"zkey_header_short", Z, OP_CUT, 2, 0, 1, NO, "section 2 (header): too short for its points"},
    {"zkey_header_tiny", Z, OP_CUT, 2, 0, 640, NO, "section 2 (header): too short"},
    {"zkey_coef_count_less", Z, OP_ADD32, 4, 0, -1, NO, "says 488 terms, its size holds 489"},
    {"zkey_coef_ragged", Z, OP_CUT, 4, 0, 3, NO, "expected 4 + 44 n"},
    {"zkey_coef_matrix_2", Z, OP_PUT32, 4, 4, 2, NO, "term 0 is for matrix 2"},
    {"zkey_coef_row_oob", Z, OP_PUT32, 4, 8, 0x0fffffff, NO, "term 0 is in row 268435455"},
    {"zkey_coef_row_at_end", Z, OP_PUT32, 4, 8 + 44 * 7, 1024, NO, "term 7 is in row 1024"},
    {"zkey_coef_signal_oob", Z, OP_PUT32, 4, 12, 0x07ffffff, NO, "term 0 is for signal 134217727"},
    {"zkey_coef_signal_at_end", Z, OP_PUT32, 4, 12 + 44 * 488, 520, NO, "term 488 is for signal 520"},
    {"zkey_coef_ge_r", Z, OP_ADD_R, 4, 16 + 44 * 3, 0, NO, "the value of term 3 is not below the prime r"},
    {"zkey_A_notoncurve", Z, OP_FLIP, 5, 32, 0, OPENS, NULL},
    {"zkey_A_coord_ge_q", Z, OP_PUT_Q, 5, 0, 0, OPENS, NULL},
    {"zkey_H_notoncurve", Z, OP_FLIP, 9, 3 * 64 + 32, 0, OPENS, NULL},
    {"zkey_A_all_inf", Z, OP_ZERO, 5, 0, 0, OPENS, NULL},
    {"zkey_alpha_notoncurve", Z, OP_FLIP, 2, MUTANT_COUNTS + 12 + 32, 0, NO, "alpha1 is not on the curve"},
    {"zkey_alpha_ge_q", Z, OP_PUT_Q, 2, MUTANT_COUNTS + 12, 0, NO, "alpha1 has a coordinate that is not below"},
    {"wtns_empty", W, OP_KEEP, 0, 0, 0, NO, "is empty"},
    {"wtns_bad_magic", W, OP_ADD32, 0, 3, 5, NO, "begins with bytes 77 74 6e 78"},
    {"wtns_version3", W, OP_PUT32, 0, 4, 3, NO, "version 3 is not supported, expected 2"},
    {"wtns_raw", W, OP_PARTNER, 2, 0, 0, NO, "raw 32-byte elements without the .wtns container"},
    {"wtns_swapped_prime", W, OP_SWAP_R, 1, 4, 0, MUTANT_MATCH, "the key"},
    {"wtns_wrong_prime", W, OP_FLIP, 1, 4, 0, NO, "prime is the scalar field of no known curve"},
    {"wtns_n8_48", W, OP_PUT32, 1, 0, 48, NO, "elements of 48 bytes, expected 32"},
    {"wtns_count_lie_section", W, OP_CUT, 2, 0, 32, NO, "section 2 (values): 16608 bytes, expected nWitness = 520"},
    {"wtns_count_lie_header", W, OP_PUT32, 1, 36, 519, NO, "section 2 (values): 16640 bytes, expected nWitness = 519"},
    {"wtns_w0_not_one", W, OP_SET, 2, 0, 2, NO, "element 0 must be 1"},
    {"wtns_unsat_private", W, OP_SET, 2, 260 * 32, 12345, MUTANT_MATCH, "does not satisfy row "},
    {"wtns_ge_r", W, OP_ADD_R, 2, 5 * 32, 0, NO, "element 5 is not below the prime r"},
    {"wtns_public_ge_r", W, OP_ADD_R, 2, 32, 0, NO, "element 1 is not below the prime r"},
    {"wtns_last_ge_r", W, OP_ADD_R, 2, 519 * 32, 0, NO, "element 519 is not below the prime r"},
    {"wtns_all_zero", W, OP_ZERO, 2, 0, 0, NO, "element 0 must be 1"},
    {"wtns_secsize_huge", W, OP_PUT64, 2, MUTANT_LENGTH, INT64_MIN + 5, NO, "says 9223372036854775813 bytes"},
    {"wtns_is_zkey", W, OP_PARTNER, 0, 0, 0, NO, "is a .zkey file, expected a witness (.wtns)"},
    {"wtns_trailing", W, OP_TAIL, 0, 0, 1, GOOD, NULL},
    {"r1cs_empty", C, OP_KEEP, 0, 0, 0, NO, "is empty"},
    {"r1cs_truncated", C, OP_KEEP, 0, 0, -1, NO, "truncated?"},
    {"r1cs_no_constraints", C, OP_DROP, 2, 0, 0, NO, "section 2 (constraints): missing"},
    {"r1cs_short", C, OP_CUT, 2, 0, 1, NO, "section 2 (constraints): ends inside"},
    {"r1cs_terms_huge", C, OP_PUT32, 2, 0, 0xffffffff, NO, "ends inside A of row 0"},
    {"r1cs_wire_oob", C, OP_PUT32, 2, 4, 520, NO, "term 0 of A in row 0 is for wire 520"},
    {"r1cs_coef_ge_r", C, OP_ADD_R, 2, 8, 0, NO, "the coefficient of term 0 of A in row 0 is not below"},
    {"r1cs_rows_less", C, OP_ADD32, 1, 60, -1, NO, "bytes follow the last of"},
    {"r1cs_rows_more", C, OP_ADD32, 1, 60, 1, NO, "ends inside A of row"},
    {"r1cs_rows_huge", C, OP_PUT32, 1, 60, 0xffffffff, NO, "ends inside A of row"},
    {"r1cs_outputs_huge", C, OP_PUT32, 1, 40, 0xffffffff, NO, "inputs and outputs, expected less than nWires"},
    {"r1cs_wrong_prime", C, OP_FLIP, 1, 5, 0, NO, "prime is the scalar field of no known curve"},
    {"r1cs_labels_short", C, OP_CUT, 3, 0, 8, NO, "section 3 (labels): "},
    {"r1cs_gates", C, OP_UNKNOWN, 0, 0, 4, NO, "custom gates"},
};
const size_t n_mutants = sizeof mutants / sizeof *mutants;

struct blob blob_read(const char *path)
{
    struct blob b = {0};
    FILE *f = fopen(path, "rb");
    if (!f)
        return b;
    fseek(f, 0, SEEK_END);
    b.bytes = (size_t)ftell(f);
    rewind(f);
    b.data = malloc(b.bytes + 1);
    if (!b.data || fread(b.data, 1, b.bytes, f) != b.bytes)
        abort();
    b.data[b.bytes] = 0;
    fclose(f);
    return b;
}

void blobs_load(struct blob good[MUTANT_KINDS], const char *dir, const char *name)
{
    for (int kind = 0; kind < MUTANT_KINDS; kind++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.%s", dir, name, mutant_ending[kind]);
        good[kind] = blob_read(path);
        if (!good[kind].data) {
            fprintf(stderr, "missing: %s\n", path);
            abort();
        }
    }
}

void blobs_free(struct blob good[MUTANT_KINDS])
{
    for (int kind = 0; kind < MUTANT_KINDS; kind++)
        free(good[kind].data);
}

int mutant_exit(const struct mutant *m)
{
    return m->fate == MUTANT_PROVES ? 0 : 65;
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, 4);
    return x;
}

static void put32(uint8_t *p, uint32_t x)
{
    memcpy(p, &x, 4);
}

/* Payload of a section of a good file; section 0 is the file itself. */
static uint8_t *payload(const struct blob *b, int section, uint64_t *bytes)
{
    *bytes = b->bytes;
    if (section == 0)
        return b->data;
    for (uint8_t *p = b->data + 12; p < b->data + b->bytes; p += 12 + *bytes) {
        memcpy(bytes, p + 4, 8);
        if (get32(p) == (uint32_t)section)
            return p + 12;
    }
    abort();
}

static const struct field_info *own_q(const struct blob good[MUTANT_KINDS])
{
    uint64_t bytes;
    return get32(payload(&good[MUTANT_ZKEY], 2, &bytes)) == 32 ? &bn254_fq_info : &bls12381_fq_info;
}

static const struct field_info *own_r(const struct blob good[MUTANT_KINDS], bool other)
{
    return (own_q(good) == &bn254_fq_info) != other ? &bn254_fr_info : &bls12381_fr_info;
}

static void add_words(uint8_t *p, const uint64_t *add)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t x;
        memcpy(&x, p + 8 * i, 8);
        carry += (unsigned __int128)x + add[i];
        x = (uint64_t)carry;
        memcpy(p + 8 * i, &x, 8);
        carry >>= 64;
    }
}

/* Remove bytes [at, at + n) of the file. */
static void cut(struct blob *b, uint8_t *at, size_t n)
{
    memmove(at, at + n, b->bytes - (size_t)(at - b->data) - n);
    b->bytes -= n;
}

static void append_section(struct blob *b, uint32_t id, const uint8_t *data, uint64_t bytes)
{
    uint8_t *end = b->data + b->bytes;
    put32(end, id);
    memcpy(end + 4, &bytes, 8);
    memcpy(end + 12, data, bytes);
    b->bytes += 12 + bytes;
    put32(b->data + 8, get32(b->data + 8) + 1);
}

static size_t place(const struct mutant *m, const struct blob good[MUTANT_KINDS])
{
    size_t n8q = own_q(good)->limbs * 8;
    if (m->offset >= MUTANT_COUNTS)
        return (size_t)(m->offset - MUTANT_COUNTS) + 4 + n8q + 4 + 32;
    return m->offset >= MUTANT_R ? (size_t)(m->offset - MUTANT_R) + 4 + n8q + 4 : (size_t)m->offset;
}

/* Operations that change the length. */
static void reshape(struct blob *b, const struct mutant *m, uint8_t *section, uint64_t bytes)
{
    uint64_t less = bytes - (uint64_t)m->n;
    switch (m->op) {
    case OP_KEEP:
        b->bytes = m->n < 0 ? b->bytes - (size_t)-m->n : (size_t)m->n;
        break;
    case OP_TAIL:
        memset(b->data + b->bytes, 0, (size_t)m->n);
        b->bytes += (size_t)m->n;
        break;
    case OP_CUT:
        memcpy(section - 8, &less, 8);
        cut(b, section + less, (size_t)m->n);
        break;
    case OP_DROP:
        cut(b, section - 12, bytes + 12);
        put32(b->data + 8, get32(b->data + 8) - 1);
        break;
    case OP_REPEAT:
        append_section(b, (uint32_t)m->section, section, bytes);
        break;
    default:
        append_section(b, (uint32_t)m->n, (const uint8_t *)"hello", 5);
        break;
    }
}

/* Operations that write at one place. */
static void write_at(uint8_t *p, const struct mutant *m, const struct blob good[MUTANT_KINDS], uint64_t left)
{
    uint64_t wide[4] = {(uint64_t)m->n};
    switch (m->op) {
    case OP_PUT32:
        put32(p, (uint32_t)m->n);
        break;
    case OP_PUT64:
        memcpy(p, &m->n, 8);
        break;
    case OP_ADD32:
        put32(p, get32(p) + (uint32_t)m->n);
        break;
    case OP_FLIP:
        p[0] ^= 1;
        break;
    case OP_ZERO:
        memset(p, 0, m->n ? (size_t)m->n : left);
        break;
    case OP_PUT_Q:
        memcpy(p, own_q(good)->p, own_q(good)->limbs * 8);
        break;
    case OP_ADD_R:
        add_words(p, own_r(good, false)->p);
        break;
    case OP_SWAP_R:
        memcpy(p, own_r(good, true)->p, 32);
        break;
    default:
        memcpy(p, wide, sizeof wide);
        break;
    }
}

struct blob mutant_make(const struct mutant *m, const struct blob good[MUTANT_KINDS])
{
    uint64_t bytes;
    const struct blob *from = &good[m->kind];
    if (m->op == OP_PARTNER && m->section == 0)
        from = &good[m->kind == MUTANT_ZKEY ? MUTANT_WTNS : MUTANT_ZKEY];
    struct blob b = {malloc(2 * from->bytes + 64), from->bytes};
    if (!b.data)
        abort();
    memcpy(b.data, from->data, from->bytes);
    uint8_t *section = payload(&b, m->section, &bytes);
    if (m->op == OP_PARTNER) { /* a whole file, or one section alone */
        memmove(b.data, section, bytes);
        b.bytes = bytes;
    } else if (m->op == OP_KEEP || m->op == OP_TAIL || (m->op >= OP_CUT && m->op <= OP_UNKNOWN)) {
        reshape(&b, m, section, bytes);
    } else if (m->offset < 0) {
        write_at(section + m->offset, m, good, 8);
    } else {
        size_t at = place(m, good);
        write_at(section + at, m, good, bytes - at);
    }
    return b;
}
