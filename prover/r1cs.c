#include "prover/r1cs.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "perf/err.h"
#include "prover/binfile.h"
#include "prover/packed.h"
#include "prover/wtns.h"

enum { SECTION_HEADER = 1, SECTION_CONSTRAINTS = 2, SECTION_LABELS = 3, SECTION_GATES = 4, SECTION_GATE_USES = 5 };

static int read_header(struct r1cs *c, const struct binfile *bin)
{
    const char *path = c->map.path;
    struct binfile_section s;
    int rc = binfile_section(bin, &s, SECTION_HEADER, "header");
    if (rc)
        return rc;
    struct bytes_reader r = {s.data, s.bytes, false};
    uint32_t n8 = bytes_u32(&r);
    if (!r.short_read && n8 != 32)
        return err_fail(-EBADMSG, "%s: section 1 (header): elements of %" PRIu32 " bytes, expected 32", path, n8);
    const uint8_t *prime = bytes_take(&r, 32);
    c->n_wires = bytes_u32(&r);
    c->n_pub_out = bytes_u32(&r);
    c->n_pub_in = bytes_u32(&r);
    c->n_prv_in = bytes_u32(&r);
    c->n_labels = bytes_u64(&r);
    c->n_constraints = bytes_u32(&r);
    if (r.short_read || r.left)
        return err_fail(-EBADMSG, "%s: section 1 (header): %zu bytes, expected 64", path, s.bytes);
    c->curve = curve_by_r(prime);
    if (!c->curve)
        return err_fail(-EBADMSG,
                        "%s: section 1 (header): prime is the scalar field of no known curve (BN254, BLS12-381)", path);
    uint64_t named = (uint64_t)c->n_pub_out + c->n_pub_in + c->n_prv_in;
    if (named >= c->n_wires)
        return err_fail(-EBADMSG,
                        "%s: section 1 (header): %" PRIu64 " inputs and outputs, expected less than nWires = %" PRIu32,
                        path, named, c->n_wires);
    c->n_public = c->n_pub_out + c->n_pub_in;
    return 0;
}

/* One linear combination: its terms lie in the section, wires exist, coefficients are below r. */
static int check_lc(struct r1cs *c, struct bytes_reader *r, uint32_t row, int which)
{
    const char *path = c->map.path;
    uint32_t n = bytes_u32(r);
    if (r->short_read || n > r->left / R1CS_TERM_BYTES)
        return err_fail(-EBADMSG, "%s: section 2 (constraints): ends inside %c of row %" PRIu32 " of %" PRIu32, path,
                        'A' + which, row, c->n_constraints);
    const uint8_t *terms = bytes_take(r, (size_t)n * R1CS_TERM_BYTES);
    for (uint32_t i = 0; i < n; i++, terms += R1CS_TERM_BYTES) {
        uint32_t wire = load_u32(terms);
        if (wire >= c->n_wires)
            return err_fail(-EBADMSG,
                            "%s: section 2 (constraints): term %" PRIu32 " of %c in row %" PRIu32
                            " is for wire %" PRIu32 ", expected less than nWires = %" PRIu32,
                            path, i, 'A' + which, row, wire, c->n_wires);
        if (!packed_is_below(terms + 4, c->curve->fr->p))
            return err_fail(-EBADMSG,
                            "%s: section 2 (constraints): the coefficient of term %" PRIu32 " of %c in row %" PRIu32
                            " is not below the prime r of %s",
                            path, i, 'A' + which, row, c->curve->title);
    }
    c->n_terms[which] += n;
    return 0;
}

static int read_constraints(struct r1cs *c, const struct binfile *bin)
{
    struct binfile_section s;
    int rc = binfile_section(bin, &s, SECTION_CONSTRAINTS, "constraints");
    if (rc)
        return rc;
    struct bytes_reader r = {s.data, s.bytes, false};
    for (uint32_t row = 0; row < c->n_constraints; row++)
        for (int which = 0; which < 3; which++)
            if ((rc = check_lc(c, &r, row, which)))
                return rc;
    if (r.left)
        return err_fail(-EBADMSG, "%s: section 2 (constraints): %zu bytes follow the last of %" PRIu32 " rows",
                        c->map.path, r.left, c->n_constraints);
    c->constraints = s.data;
    c->constraints_bytes = s.bytes;
    return 0;
}

/* A snarkjs header may announce gates and list none. */
static int refuse_custom_gates(const struct r1cs *c, const struct binfile *bin)
{
    for (uint32_t id = SECTION_GATES; id <= SECTION_GATE_USES; id++)
        if (binfile_has(bin, id) && bin->first[id].bytes >= 4 && load_u32(bin->first[id].data) != 0)
            return err_fail(-EBADMSG, "%s: section %" PRIu32 ": custom gates: a PLONK circuit, Groth16 has none",
                            c->map.path, id);
    return 0;
}

static int read_labels(struct r1cs *c, const struct binfile *bin)
{
    if (!binfile_has(bin, SECTION_LABELS))
        return 0;
    struct binfile_section s;
    int rc = binfile_section(bin, &s, SECTION_LABELS, "labels");
    if (rc)
        return rc;
    if (s.bytes != (uint64_t)c->n_wires * 8)
        return err_fail(-EBADMSG, "%s: section 3 (labels): %zu bytes, expected nWires = %" PRIu32 " labels of 8",
                        c->map.path, s.bytes, c->n_wires);
    c->labels = s.data;
    return 0;
}

static int read_r1cs(void *object, const struct binfile *bin)
{
    struct r1cs *c = object;
    int rc = read_header(c, bin);
    if (rc || (rc = refuse_custom_gates(c, bin)) || (rc = read_labels(c, bin)) || (rc = read_constraints(c, bin)))
        return rc;
    c->trailing_bytes = bin->trailing_bytes;
    return 0;
}

static_assert(offsetof(struct r1cs, map) == 0, "binfile_open writes the map there");
static const struct binfile_kind kind = {.magic = "r1cs",
                                         .title = "a constraint system (.r1cs)",
                                         .min_version = 1,
                                         .max_version = 1,
                                         .object_bytes = sizeof(struct r1cs),
                                         .read = read_r1cs};

int r1cs_open(struct r1cs **r1cs_p, const char *path)
{
    void *c = NULL;
    int rc = binfile_open(&c, &kind, path);
    if (rc == 0)
        *r1cs_p = c;
    return rc;
}

int r1cs_open_memory(struct r1cs **r1cs_p, const char *name, const void *data, size_t bytes)
{
    void *c = NULL;
    int rc = binfile_open_memory(&c, &kind, name, data, bytes);
    if (rc == 0)
        *r1cs_p = c;
    return rc;
}

void r1cs_close(struct r1cs *c)
{
    binfile_close(c);
}

struct r1cs_cursor r1cs_begin(const struct r1cs *c)
{
    return (struct r1cs_cursor){c->constraints, c->n_constraints};
}

bool r1cs_next(struct r1cs_cursor *cursor, struct r1cs_row *row)
{
    if (cursor->left == 0)
        return false;
    cursor->left--;
    for (int which = 0; which < 3; which++) {
        uint32_t n = load_u32(cursor->at);
        row->lc[which] = (struct r1cs_lc){cursor->at + 4, n};
        cursor->at += 4 + (size_t)n * R1CS_TERM_BYTES;
    }
    return true;
}

/* sum of coefficient times wire, over R: the Montgomery product of two plain numbers is their product / R. */
static struct fr lc_over_r(const struct r1cs *c, const struct wtns *w, const struct r1cs_lc *lc)
{
    struct fr sum = {{0}};
    for (uint32_t i = 0; i < lc->n; i++) {
        struct scalar coef = r1cs_term_coef(lc, i), value = wtns_value(w, r1cs_term_wire(lc, i));
        struct fr a, b;
        memcpy(&a, &coef, sizeof a);
        memcpy(&b, &value, sizeof b);
        c->curve->fr_mul(&a, &a, &b);
        c->curve->fr_add(&sum, &sum, &a);
    }
    return sum;
}

/* (A / R)(B / R) / R against C / R^3, which takes two Montgomery products with the plain number one. */
static bool row_holds(const struct r1cs *c, const struct wtns *w, const struct r1cs_row *row)
{
    static const struct fr one = {{1}};
    struct fr a = lc_over_r(c, w, &row->lc[0]), b = lc_over_r(c, w, &row->lc[1]), d = lc_over_r(c, w, &row->lc[2]);
    c->curve->fr_mul(&a, &a, &b);
    c->curve->fr_mul(&d, &d, &one);
    c->curve->fr_mul(&d, &d, &one);
    return memcmp(&a, &d, sizeof a) == 0;
}

int r1cs_check_witness(const struct r1cs *c, const struct wtns *w, uint64_t *bad_row)
{
    if (w->curve != c->curve || w->n != c->n_wires)
        return err_fail(-EBADMSG, "%s: %zu elements over the field of %s, the circuit %s has %" PRIu32 " wires over %s",
                        w->map.path, w->n, w->curve->title, c->map.path, c->n_wires, c->curve->title);
    struct r1cs_cursor cursor = r1cs_begin(c);
    struct r1cs_row row;
    for (uint64_t i = 0; r1cs_next(&cursor, &row); i++)
        if (!row_holds(c, w, &row)) {
            if (bad_row)
                *bad_row = i;
            return err_fail(-EBADMSG, "%s: does not satisfy row %" PRIu64 " of %" PRIu32 " of %s", w->map.path, i,
                            c->n_constraints, c->map.path);
        }
    return 0;
}
