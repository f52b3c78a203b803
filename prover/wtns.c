#include "prover/wtns.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "perf/err.h"
#include "prover/binfile.h"
#include "prover/packed.h"
#include "prover/zkey.h"

/* The top limb alone decides for all but 2^-62 of the values: blocks of 64 are judged by their largest top limb without
 * a branch (2^24 elements in 25-35 ms of one core, the speed of memory), and only a block with a doubt is looked at
 * again. */
size_t scalars_find_bad(const struct curve *curve, const void *packed, size_t n)
{
    enum { BLOCK = 64 };
    const uint8_t *p = packed;
    const uint64_t *r = curve->fr->p;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t m = n - first < BLOCK ? n - first : BLOCK;
        uint64_t top = 0;
        for (size_t i = first; i < first + m; i++) {
            uint64_t x = load_u64(p + 32 * i + 24);
            top = x > top ? x : top;
        }
        if (__builtin_expect(top < r[3], 1))
            continue;
        for (size_t i = first; i < first + m; i++)
            if (!packed_is_below(p + 32 * i, r))
                return i;
    }
    return n;
}

/* Some tools write the elements alone. The constant one in front gives them away. */
static int refuse_raw(const struct file_map *map)
{
    static const uint8_t one[32] = {1};
    if (map->bytes < 32 || map->bytes % 32 || memcmp(map->data, one, 32) != 0)
        return 0;
    return err_fail(-EBADMSG,
                    "%s: holds raw 32-byte elements without the .wtns container, expected the output of a circom "
                    "witness generator (\"wtns\" header)",
                    map->path);
}

static int read_header(struct wtns *w, uint32_t *count, const struct binfile *bin)
{
    const char *path = w->map.path;
    struct binfile_section s;
    int rc = binfile_section(bin, &s, 1, "header");
    if (rc)
        return rc;
    struct bytes_reader r = {s.data, s.bytes, false};
    uint32_t n8 = bytes_u32(&r);
    if (!r.short_read && n8 != 32)
        return err_fail(-EBADMSG, "%s: section 1 (header): elements of %" PRIu32 " bytes, expected 32", path, n8);
    const uint8_t *prime = bytes_take(&r, 32);
    *count = bytes_u32(&r);
    if (r.short_read || r.left)
        return err_fail(-EBADMSG, "%s: section 1 (header): %zu bytes, expected 40", path, s.bytes);
    w->curve = curve_by_r(prime);
    if (!w->curve)
        return err_fail(-EBADMSG,
                        "%s: section 1 (header): prime is the scalar field of no known curve (BN254, BLS12-381)", path);
    return 0;
}

static int read_values(struct wtns *w, uint32_t count, const struct binfile *bin)
{
    const char *path = w->map.path;
    struct binfile_section s;
    int rc = binfile_section(bin, &s, 2, "values");
    if (rc)
        return rc;
    if (s.bytes != (uint64_t)count * 32)
        return err_fail(-EBADMSG, "%s: section 2 (values): %zu bytes, expected nWitness = %" PRIu32 " elements of 32",
                        path, s.bytes, count);
    if (count == 0)
        return err_fail(-EBADMSG, "%s: section 2 (values): no elements, expected at least the constant one", path);
    w->values = s.data;
    w->n = count;
    struct scalar one = wtns_value(w, 0);
    if (one.l[0] != 1 || (one.l[1] | one.l[2] | one.l[3]))
        return err_fail(-EBADMSG, "%s: section 2 (values): element 0 must be 1", path);
    size_t bad = scalars_find_bad(w->curve, w->values, w->n);
    if (bad < w->n)
        return err_fail(-EBADMSG, "%s: section 2 (values): element %zu is not below the prime r of %s", path, bad,
                        w->curve->title);
    return 0;
}

static int read_wtns(void *object, const struct binfile *bin)
{
    struct wtns *w = object;
    uint32_t count = 0;
    int rc = read_header(w, &count, bin);
    if (rc || (rc = read_values(w, count, bin)))
        return rc;
    w->trailing_bytes = bin->trailing_bytes;
    return 0;
}

static_assert(offsetof(struct wtns, map) == 0, "binfile_open writes the map there");
static const struct binfile_kind kind = {.magic = "wtns",
                                         .title = "a witness (.wtns)",
                                         .min_version = 1,
                                         .max_version = 2,
                                         .object_bytes = sizeof(struct wtns),
                                         .refuse = refuse_raw,
                                         .read = read_wtns};

int wtns_open(struct wtns **wtns_p, const char *path)
{
    void *w = NULL;
    int rc = binfile_open(&w, &kind, path);
    if (rc == 0)
        *wtns_p = w;
    return rc;
}

int wtns_open_memory(struct wtns **wtns_p, const char *name, const void *data, size_t bytes)
{
    void *w = NULL;
    int rc = binfile_open_memory(&w, &kind, name, data, bytes);
    if (rc == 0)
        *wtns_p = w;
    return rc;
}

void wtns_close(struct wtns *w)
{
    binfile_close(w);
}

int wtns_match_zkey(const struct wtns *w, const struct zkey *z)
{
    if (w->curve != z->curve)
        return err_fail(-EBADMSG, "%s: witness over the field of %s, the key %s is for %s", w->map.path,
                        w->curve->title, z->map.path, z->curve->title);
    if (w->n != z->n_vars)
        return err_fail(-EBADMSG, "%s: %zu elements, the key %s has %" PRIu32 " wires: another circuit?", w->map.path,
                        w->n, z->map.path, z->n_vars);
    return 0;
}
