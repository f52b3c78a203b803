#include "engine/key_source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/err.h"
#include "perf/log.h"
#include "prover/file_read.h"

/* Blocks of coefficients on their way: 8.7 MB, which stay in cache, 2 ms of the matrices' builder. */
enum { WINDOW = 6 };

struct piece {
    uint64_t offset, bytes;
    struct load *load; /* NULL: not asked for, or done with */
    unsigned users;
    bool keep;
};

/* An arena that the device would not register. */
struct refusal {
    struct refusal *next;
    void *base;
};

struct key_source {
    struct byte_source base;
    struct key_source_opts opts;
    int fd;         /* -1: all of it is in `whole` */
    uint8_t *whole; /* what is no regular file */
    struct loader *loader;
    pthread_mutex_t lock; /* the pieces */
    struct piece *piece;
    size_t n, room;
    uint64_t coefs_end;       /* offset of the last block of coefficients */
    struct refusal *refusals; /* of the pool's one thread that registers */
};

/* A device that refuses costs speed, not the key: copies from memory that is not registered are slower, and another
 * device, or the host, may do the work. */
static int device_register(void *ctx, void *base, size_t bytes)
{
    struct key_source *k = ctx;
    struct device *d = k->opts.device;
    if (d->ops->host_register(d, base, bytes) == 0)
        return 0;
    struct refusal *r = malloc(sizeof *r);
    if (!r)
        return err_fail(-ENOMEM, "%s: no memory to note a range that is not registered", k->base.path);
    *r = (struct refusal){k->refusals, base};
    k->refusals = r;
    log_line(LOG_WARN, "%s: %s; %zu bytes of it will be copied to the device more slowly", k->base.path,
             pen_last_error(), bytes);
    return 0;
}

static int device_unregister(void *ctx, void *base, size_t bytes)
{
    struct key_source *k = ctx;
    (void)bytes;
    for (struct refusal **at = &k->refusals; *at; at = &(*at)->next)
        if ((*at)->base == base) {
            struct refusal *r = *at;
            *at = r->next;
            free(r);
            return 0;
        }
    return k->opts.device->ops->host_unregister(k->opts.device, base);
}

static int source_head_read(struct byte_source *s, void *to, uint64_t offset, size_t bytes)
{
    const struct key_source *k = (const struct key_source *)s;
    if (offset > s->bytes || bytes > s->bytes - offset)
        return err_fail(-EBADMSG, "%s: has %lu bytes, expected %zu at %lu", s->path, s->bytes, bytes, offset);
    if (k->fd >= 0)
        return file_read_at(k->fd, s->path, to, offset, bytes);
    memcpy(to, k->whole + offset, bytes);
    return 0;
}

/* Lock held. */
static struct piece *piece_find(struct key_source *k, uint64_t offset)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->piece[i].offset == offset)
            return &k->piece[i];
    return NULL;
}

static int piece_add(struct key_source *k, struct piece **out, uint64_t offset, uint64_t bytes, bool keep)
{
    if (k->n == k->room) {
        size_t room = k->room ? 2 * k->room : 32;
        struct piece *more = realloc(k->piece, room * sizeof *more);
        if (!more)
            return err_fail(-ENOMEM, "%s: no memory to note its sections", k->base.path);
        k->piece = more;
        k->room = room;
    }
    *out = &k->piece[k->n++];
    **out = (struct piece){.offset = offset, .bytes = bytes, .keep = keep};
    return 0;
}

/* What a piece is asked for again: a second device, or the host that computes in a device's place. */
static int piece_hold(struct key_source *k, struct load **load, uint64_t offset, uint64_t bytes)
{
    pthread_mutex_lock(&k->lock);
    struct piece *p = piece_find(k, offset);
    int rc = p ? 0 : piece_add(k, &p, offset, bytes, false);
    if (!rc && !p->load)
        rc = load_ask(k->loader, &p->load, k->base.path, offset, bytes, NULL);
    if (!rc) {
        p->users++;
        *load = p->load;
    }
    pthread_mutex_unlock(&k->lock);
    return rc;
}

static void piece_release(struct key_source *k, uint64_t offset, bool failed)
{
    pthread_mutex_lock(&k->lock);
    struct piece *p = piece_find(k, offset);
    struct load *load = NULL;
    if (p && p->users && --p->users == 0 && (!p->keep || failed)) {
        load = p->load;
        p->load = NULL;
    }
    pthread_mutex_unlock(&k->lock);
    load_drop(load);
    if (load && offset == k->coefs_end && !k->opts.keep)
        loader_trim(k->loader); /* no section is small enough for the blocks' memory */
}

int key_source_budget_open(struct budget **out)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX / 2;
    return budget_open(out, &(struct budget_opts){.limit_bytes = bytes});
}

int key_source_error(int rc)
{
    return rc == -EIO || rc == -ENODATA ? -EBADMSG : rc == -EAGAIN ? -ENOMEM : rc;
}

static int source_take_piece(struct byte_source *s, const uint8_t **data, uint64_t offset, uint64_t bytes)
{
    struct key_source *k = (struct key_source *)s;
    struct load *load;
    if (k->fd < 0) {
        *data = k->whole + offset;
        return 0;
    }
    if (!k->loader)
        return err_fail(-EINVAL, "%s: taken before key_source_begin", s->path);
    int rc = piece_hold(k, &load, offset, bytes);
    if (rc)
        return rc;
    rc = load_wait(load, data);
    if (rc)
        piece_release(k, offset, true);
    return key_source_error(rc);
}

static void source_done_piece(struct byte_source *s, uint64_t offset)
{
    struct key_source *k = (struct key_source *)s;
    if (k->fd >= 0)
        piece_release(k, offset, false);
}

static void source_close_all(struct byte_source *s)
{
    struct key_source *k = (struct key_source *)s;
    for (size_t i = 0; i < k->n; i++)
        load_drop(k->piece[i].load);
    if (k->loader && loader_close(k->loader))
        log_line(LOG_ERROR, "%s: %s", s->path, pen_last_error());
    if (k->whole)
        file_read_free(k->whole, (size_t)s->bytes);
    if (k->fd >= 0)
        close(k->fd);
    pthread_mutex_destroy(&k->lock);
    free(k->piece);
    free(s->path);
    free(k);
}

static const struct source_ops key_ops = {source_head_read, source_take_piece, source_done_piece, source_close_all};

int key_source_open(struct byte_source **out, const char *path, const struct key_source_opts *opts)
{
    struct key_source *k = calloc(1, sizeof *k);
    if (!k)
        return err_fail(-ENOMEM, "%s: no memory to open it", path);
    k->base = (struct byte_source){.ops = &key_ops, .path = strdup(path)};
    k->opts = *opts;
    k->fd = -1;
    pthread_mutex_init(&k->lock, NULL);
    int rc = k->base.path ? file_read_open(&k->fd, &k->base.bytes, path)
                          : err_fail(-ENOMEM, "%s: no memory for its name", path);
    if (rc == 0 && k->base.bytes == 0) {
        size_t n = 0;
        rc = file_read_stream(k->fd, path, &k->whole, &n);
        k->base.bytes = n;
        close(k->fd);
        k->fd = -1;
    }
    if (rc)
        source_close_all(&k->base);
    else
        *out = &k->base;
    return rc;
}

static uint64_t largest_piece(const struct zkey *z)
{
    uint64_t largest = z->n_coefs ? zkey_block_terms(z, 0) * ZKEY_COEF_BYTES : 1;
    for (int i = 0; i < ZKEY_SETS; i++)
        if (zkey_points_bytes(z, (enum zkey_set)i) > largest)
            largest = zkey_points_bytes(z, (enum zkey_set)i);
    return largest;
}

int key_source_begin(struct byte_source *s, const struct zkey *z, uint64_t other_bytes)
{
    struct key_source *k = (struct key_source *)s;
    if (k->loader)
        return 0;
    uint64_t largest = largest_piece(z);
    struct loader_opts o = {.largest_bytes = largest > other_bytes ? largest : other_bytes,
                            .trim = !k->opts.keep,
                            .tier = k->opts.tier,
                            .strict = k->opts.strict,
                            .node = -1,
                            .budget = k->opts.budget,
                            .first = k->opts.first,
                            .spans = k->opts.spans};
    uint64_t window = WINDOW * (zkey_block_terms(z, 0) * ZKEY_COEF_BYTES + 8192);
    if (z->n_coefs > WINDOW * ZKEY_BLOCK_TERMS)
        o.window_bytes = window;
    struct device_info info;
    struct device *d = k->opts.device;
    o.lazy = !d || (d->ops->info(d, &info) == 0 && info.flags & DEVICE_HOST_MEMORY);
    if (d)
        o.registrar = (struct registrar){device_register, device_unregister, k};
    return loader_open(&k->loader, &o);
}

static int plan_piece(struct key_source *k, uint64_t offset, uint64_t bytes, bool keep, const struct load *after)
{
    struct piece *p = NULL;
    if (bytes == 0)
        return 0;
    int rc = piece_add(k, &p, offset, bytes, keep);
    return rc ? rc : load_ask(k->loader, &p->load, k->base.path, offset, bytes, after);
}

static int plan_coefs(struct key_source *k, const struct zkey *z)
{
    size_t blocks = (z->n_coefs + ZKEY_BLOCK_TERMS - 1) / ZKEY_BLOCK_TERMS, first = k->n;
    int rc = 0;
    for (size_t b = 0; b < blocks && !rc; b++) {
        const struct load *after = b < WINDOW ? NULL : k->piece[first + b - WINDOW].load;
        k->coefs_end = zkey_block_offset(z, b);
        rc = plan_piece(k, k->coefs_end, zkey_block_terms(z, b) * ZKEY_COEF_BYTES, false, after);
    }
    return rc;
}

int key_source_plan(struct byte_source *s, const struct zkey *z)
{
    static const enum zkey_set order[] = {ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_C, ZKEY_H};
    struct key_source *k = (struct key_source *)s;
    if (k->fd < 0 || k->n)
        return 0;
    pthread_mutex_lock(&k->lock);
    const struct load *b2 = NULL;
    int rc = plan_piece(k, z->points[ZKEY_IC].offset, zkey_points_bytes(z, ZKEY_IC), false, NULL);
    if (!rc)
        rc = plan_coefs(k, z);
    for (size_t i = 0; i < sizeof order / sizeof *order && !rc; i++) {
        rc = plan_piece(k, z->points[order[i]].offset, zkey_points_bytes(z, order[i]), k->opts.keep,
                        order[i] == ZKEY_H && !k->opts.keep ? b2 : NULL);
        b2 = order[i] == ZKEY_B2 ? k->piece[k->n - 1].load : b2;
    }
    pthread_mutex_unlock(&k->lock);
    return rc;
}

void key_source_let_go(struct byte_source *s)
{
    struct key_source *k = (struct key_source *)s;
    if (k->fd < 0)
        return;
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->n; i++)
        if (k->piece[i].users == 0) {
            load_drop(k->piece[i].load);
            k->piece[i].load = NULL;
        }
    pthread_mutex_unlock(&k->lock);
    loader_trim(k->loader);
}

struct loader *key_source_loader(const struct byte_source *s)
{
    return ((const struct key_source *)s)->loader;
}
