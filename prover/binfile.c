#include "prover/binfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"
#include "prover/packed.h"

enum { FILE_HEADER_BYTES = 12, SECTION_HEADER_BYTES = 12 };

uint32_t bytes_u32(struct bytes_reader *r)
{
    const uint8_t *p = bytes_take(r, 4);
    return p ? load_u32(p) : 0;
}

uint64_t bytes_u64(struct bytes_reader *r)
{
    const uint8_t *p = bytes_take(r, 8);
    return p ? load_u64(p) : 0;
}

const uint8_t *bytes_take(struct bytes_reader *r, size_t n)
{
    if (n > r->left) {
        r->short_read = true;
        r->left = 0;
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at += n;
    r->left -= n;
    return p;
}

static const char *const known_magics[] = {"zkey", "wtns", "r1cs", "ptau"};

/* What a file with another magic is, in words. */
static int wrong_magic(const struct file_map *map, const struct binfile_kind *kind)
{
    for (size_t i = 0; i < sizeof known_magics / sizeof *known_magics; i++)
        if (memcmp(map->data, known_magics[i], 4) == 0)
            return err_fail(-EBADMSG, "%s: is a .%s file, expected %s", map->path, known_magics[i], kind->title);
    const uint8_t *m = map->data;
    return err_fail(-EBADMSG, "%s: begins with bytes %02x %02x %02x %02x, expected \"%s\": not %s", map->path, m[0],
                    m[1], m[2], m[3], kind->magic, kind->title);
}

static int parse_header(struct binfile *bin, struct bytes_reader *r, const struct binfile_kind *kind)
{
    const char *path = bin->map->path;
    if (r->left >= 4 && memcmp(r->at, kind->magic, 4) != 0)
        return wrong_magic(bin->map, kind);
    bytes_take(r, 4);
    bin->version = bytes_u32(r);
    bin->n_sections = bytes_u32(r);
    if (r->short_read)
        return err_fail(-EBADMSG, "%s: header: %zu bytes, too short for %s", path, bin->map->bytes, kind->title);
    if (bin->version < kind->min_version || bin->version > kind->max_version)
        return err_fail(-EBADMSG, "%s: header: version %" PRIu32 " is not supported, expected %" PRIu32, path,
                        bin->version, kind->max_version);
    if (bin->n_sections > r->left / SECTION_HEADER_BYTES)
        return err_fail(-EBADMSG, "%s: section table: says %" PRIu32 " sections, the file has room for %zu: truncated?",
                        path, bin->n_sections, r->left / SECTION_HEADER_BYTES);
    return 0;
}

static int parse(struct binfile *bin, const struct file_map *map, const struct binfile_kind *kind)
{
    *bin = (struct binfile){.map = map};
    struct bytes_reader r = {map->data, map->bytes, false};
    int rc = parse_header(bin, &r, kind);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < bin->n_sections; i++) {
        size_t at = map->bytes - r.left;
        uint32_t id = bytes_u32(&r);
        uint64_t bytes = bytes_u64(&r);
        if (r.short_read)
            return err_fail(-EBADMSG,
                            "%s: section table: ends at byte %zu in the header of section %" PRIu32 " of %" PRIu32,
                            map->path, map->bytes, i + 1, bin->n_sections);
        if (bytes > r.left) /* never pos + bytes: that wraps */
            return err_fail(-EBADMSG,
                            "%s: section %" PRIu32 " at byte %zu: says %" PRIu64
                            " bytes, the file has %zu left: truncated?",
                            map->path, id, at, bytes, r.left);
        const uint8_t *data = bytes_take(&r, (size_t)bytes);
        if (id < BINFILE_IDS && bin->seen[id]++ == 0)
            bin->first[id] = (struct binfile_section){data, (size_t)bytes};
    }
    bin->trailing_bytes = r.left;
    return 0;
}

static int read_object(void *object, const struct binfile_kind *kind)
{
    const struct file_map *map = object;
    int rc = kind->refuse ? kind->refuse(map) : 0;
    struct binfile bin;
    if (rc == 0)
        rc = parse(&bin, map, kind);
    return rc ? rc : kind->read(object, &bin);
}

/* `data` NULL: the file called `name`. */
static int open_any(void **object_p, const struct binfile_kind *kind, const char *name, const void *data, size_t bytes)
{
    void *object = calloc(1, kind->object_bytes);
    if (!object)
        return err_fail(-ENOMEM, "%s: no memory to open it", name);
    int rc = data ? file_map_wrap(object, name, data, bytes) : file_map_open(object, name);
    if (rc == 0)
        rc = read_object(object, kind);
    if (rc)
        binfile_close(object);
    else
        *object_p = object;
    return rc;
}

int binfile_open(void **object_p, const struct binfile_kind *kind, const char *path)
{
    return open_any(object_p, kind, path, NULL, 0);
}

int binfile_open_memory(void **object_p, const struct binfile_kind *kind, const char *name, const void *data,
                        size_t bytes)
{
    return open_any(object_p, kind, name, data ? data : "", bytes);
}

void binfile_close(void *object)
{
    if (!object)
        return;
    file_map_close(object);
    free(object);
}

bool binfile_has(const struct binfile *bin, uint32_t id)
{
    return id < BINFILE_IDS && bin->seen[id] > 0;
}

int binfile_section(const struct binfile *bin, struct binfile_section *section, uint32_t id, const char *what)
{
    if (!binfile_has(bin, id))
        return err_fail(-EBADMSG, "%s: section %" PRIu32 " (%s): missing%s", bin->map->path, id, what,
                        bin->trailing_bytes ? ", though bytes follow the last section: wrong section count?" : "");
    if (bin->seen[id] > 1)
        return err_fail(-EBADMSG, "%s: section %" PRIu32 " (%s): is there %" PRIu32 " times, expected once",
                        bin->map->path, id, what, bin->seen[id]);
    *section = bin->first[id];
    return 0;
}
