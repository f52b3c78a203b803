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
static int wrong_magic(const struct file_map *map, const uint8_t *m, const struct binfile_kind *kind)
{
    for (size_t i = 0; i < sizeof known_magics / sizeof *known_magics; i++)
        if (memcmp(m, known_magics[i], 4) == 0)
            return err_fail(-EBADMSG, "%s: is a .%s file, expected %s", map->path, known_magics[i], kind->title);
    return err_fail(-EBADMSG, "%s: begins with bytes %02x %02x %02x %02x, expected \"%s\": not %s", map->path, m[0],
                    m[1], m[2], m[3], kind->magic, kind->title);
}

static int parse_header(struct binfile *bin, struct bytes_reader *r, const struct binfile_kind *kind)
{
    const char *path = bin->map->path;
    if (r->left >= 4 && memcmp(r->at, kind->magic, 4) != 0)
        return wrong_magic(bin->map, r->at, kind);
    bytes_take(r, 4);
    bin->version = bytes_u32(r);
    bin->n_sections = bytes_u32(r);
    if (r->short_read)
        return err_fail(-EBADMSG, "%s: header: %zu bytes, too short for %s", path, bin->map->bytes, kind->title);
    if (bin->version < kind->min_version || bin->version > kind->max_version)
        return err_fail(-EBADMSG, "%s: header: version %" PRIu32 " is not supported, expected %" PRIu32, path,
                        bin->version, kind->max_version);
    size_t room = (bin->map->bytes - FILE_HEADER_BYTES) / SECTION_HEADER_BYTES;
    if (bin->n_sections > room)
        return err_fail(-EBADMSG, "%s: section table: says %" PRIu32 " sections, the file has room for %zu: truncated?",
                        path, bin->n_sections, room);
    return 0;
}

/* The next `n` bytes of the table, wherever the file is. */
static int table_bytes(const struct file_map *map, uint8_t *to, uint64_t at, size_t n)
{
    if (map->data) {
        memcpy(to, map->data + at, n);
        return 0;
    }
    return source_head(map->source, to, at, n);
}

static int section_note(struct binfile *bin, uint32_t id, uint64_t at, uint64_t bytes)
{
    const struct file_map *map = bin->map;
    if (id >= BINFILE_IDS || bin->seen[id]++)
        return 0;
    struct binfile_section *s = &bin->first[id];
    *s = (struct binfile_section){.bytes = (size_t)bytes, .at_hand = (size_t)bytes, .offset = at};
    if (map->data) {
        s->data = map->data + at;
        return 0;
    }
    s->at_hand = bytes < BINFILE_HEAD ? (size_t)bytes : BINFILE_HEAD;
    s->data = bin->heads + (size_t)id * BINFILE_HEAD;
    return source_head(map->source, bin->heads + (size_t)id * BINFILE_HEAD, at, s->at_hand);
}

static int parse(struct binfile *bin, const struct file_map *map, const struct binfile_kind *kind)
{
    uint8_t head[FILE_HEADER_BYTES];
    size_t have = map->bytes < sizeof head ? map->bytes : sizeof head;
    bin->map = map;
    int rc = table_bytes(map, head, 0, have);
    struct bytes_reader r = {head, have, false};
    if (rc || (rc = parse_header(bin, &r, kind)))
        return rc;
    uint64_t at = FILE_HEADER_BYTES;
    for (uint32_t i = 0; i < bin->n_sections; i++) {
        if (map->bytes - at < SECTION_HEADER_BYTES)
            return err_fail(-EBADMSG,
                            "%s: section table: ends at byte %zu in the header of section %" PRIu32 " of %" PRIu32,
                            map->path, map->bytes, i + 1, bin->n_sections);
        if ((rc = table_bytes(map, head, at, SECTION_HEADER_BYTES)))
            return rc;
        r = (struct bytes_reader){head, SECTION_HEADER_BYTES, false};
        uint32_t id = bytes_u32(&r);
        uint64_t bytes = bytes_u64(&r), left = map->bytes - at - SECTION_HEADER_BYTES;
        if (bytes > left) /* never at + bytes: that wraps */
            return err_fail(-EBADMSG,
                            "%s: section %" PRIu32 " at byte %" PRIu64 ": says %" PRIu64 " bytes, the file has %" PRIu64
                            " left: truncated?",
                            map->path, id, at, bytes, left);
        rc = section_note(bin, id, at + SECTION_HEADER_BYTES, bytes);
        if (rc)
            return rc;
        at += SECTION_HEADER_BYTES + bytes;
    }
    bin->trailing_bytes = (size_t)(map->bytes - at);
    return 0;
}

static int read_object(void *object, const struct binfile_kind *kind)
{
    const struct file_map *map = object;
    int rc = kind->refuse ? kind->refuse(map) : 0;
    struct binfile bin = {0};
    if (rc == 0 && !map->data && !(bin.heads = calloc(BINFILE_IDS, BINFILE_HEAD)))
        rc = err_fail(-ENOMEM, "%s: no memory to open it", map->path);
    if (rc == 0)
        rc = parse(&bin, map, kind);
    if (rc == 0)
        rc = kind->read(object, &bin);
    free(bin.heads);
    return rc;
}

static int finish_open(void **object_p, const struct binfile_kind *kind, void *object, int rc)
{
    if (rc == 0)
        rc = read_object(object, kind);
    if (rc)
        binfile_close(object);
    else
        *object_p = object;
    return rc;
}

int binfile_open_source(void **object_p, const struct binfile_kind *kind, struct byte_source *source)
{
    void *object = calloc(1, kind->object_bytes);
    if (!object) {
        int rc = err_fail(-ENOMEM, "%s: no memory to open it", source->path);
        source_close(source);
        return rc;
    }
    return finish_open(object_p, kind, object, file_map_source(object, source));
}

/* `data` NULL: the file called `name`. */
static int open_any(void **object_p, const struct binfile_kind *kind, const char *name, const void *data, size_t bytes)
{
    if (!data && kind->by_range) {
        struct byte_source *source;
        int rc = source_file_open(&source, name);
        return rc ? rc : binfile_open_source(object_p, kind, source);
    }
    void *object = calloc(1, kind->object_bytes);
    if (!object)
        return err_fail(-ENOMEM, "%s: no memory to open it", name);
    return finish_open(object_p, kind, object,
                       data ? file_map_wrap(object, name, data, bytes) : file_map_open(object, name));
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
