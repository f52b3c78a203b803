#include "prover/zkey_write.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/workers.h"
#include "perf/err.h"

/* The hash takes as long as everything else of a large key, so it runs on a thread of its own, one batch of points
 * behind the file. */
struct hash_lane {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct workers *workers;
    EVP_MD_CTX *ctx; /* whoever has seen `due` false under the lock may use it */
    uint8_t *points;
    size_t n, room; /* points, bytes */
    enum group group;
    bool started, due, stop, failed;
};

struct zkey_writer {
    FILE *out;
    const struct curve *curve;
    struct hash_lane hash;
    uint64_t bytes;
    int error; /* errno of the first failure */
};

/* Both coordinates out of Montgomery form, each reversed as a whole: for Fq2 that puts c1 before c0. */
static void uncompressed(const struct curve *cv, enum group g, uint8_t *out, const uint8_t *lem)
{
    size_t coord = cv->point_bytes[g] / 2, parts = coord / cv->fq_bytes;
    for (size_t c = 0; c < 2; c++) {
        uint8_t plain[96];
        for (size_t k = 0; k < parts; k++)
            cv->fq_to_plain(plain + k * cv->fq_bytes, lem + c * coord + k * cv->fq_bytes);
        for (size_t i = 0; i < coord; i++)
            out[c * coord + i] = plain[coord - 1 - i];
    }
}

enum { FLAT_PIECE = 1 << 10, FLAT_THREADS = 4 };

static int flat_piece(void *ctx, size_t i, unsigned thread)
{
    struct zkey_writer *w = ctx;
    struct hash_lane *h = &w->hash;
    size_t size = w->curve->point_bytes[h->group], from = i * FLAT_PIECE;
    size_t to = from + FLAT_PIECE < h->n ? from + FLAT_PIECE : h->n;
    (void)thread;
    for (size_t k = from; k < to; k++) {
        uint8_t lem[192];
        memcpy(lem, h->points + k * size, size);
        uncompressed(w->curve, h->group, h->points + k * size, lem);
    }
    return 0;
}

/* Leaving Montgomery form costs as much as the hash, and has no order: so on several threads, in place. */
static bool hash_points(struct zkey_writer *w)
{
    struct hash_lane *h = &w->hash;
    int rc = workers_run(h->workers, flat_piece, w, (h->n + FLAT_PIECE - 1) / FLAT_PIECE);
    return !rc && EVP_DigestUpdate(h->ctx, h->points, h->n * w->curve->point_bytes[h->group]);
}

static void *hash_main(void *arg)
{
    struct zkey_writer *w = arg;
    struct hash_lane *h = &w->hash;
    pthread_mutex_lock(&h->lock);
    while (!h->stop) {
        if (!h->due) {
            pthread_cond_wait(&h->changed, &h->lock);
            continue;
        }
        pthread_mutex_unlock(&h->lock);
        bool good = hash_points(w);
        pthread_mutex_lock(&h->lock);
        h->failed |= !good;
        h->due = false;
        pthread_cond_broadcast(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* Wait for the batch on the thread; its failure becomes the writer's. */
static void hash_wait(struct zkey_writer *w)
{
    struct hash_lane *h = &w->hash;
    pthread_mutex_lock(&h->lock);
    while (h->due)
        pthread_cond_wait(&h->changed, &h->lock);
    if (h->failed && !w->error)
        w->error = EIO;
    pthread_mutex_unlock(&h->lock);
}

static void hash_post(struct zkey_writer *w, enum group g, const void *packed, size_t n)
{
    struct hash_lane *h = &w->hash;
    size_t bytes = n * w->curve->point_bytes[g];
    hash_wait(w);
    if (bytes > h->room) {
        free(h->points);
        h->points = malloc(bytes);
        h->room = h->points ? bytes : 0;
    }
    if (!h->points) {
        w->error = w->error ? w->error : ENOMEM;
        return;
    }
    memcpy(h->points, packed, bytes);
    pthread_mutex_lock(&h->lock);
    h->group = g;
    h->n = n;
    h->due = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

static int hash_open(struct zkey_writer *w)
{
    struct hash_lane *h = &w->hash;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    h->ctx = EVP_MD_CTX_new();
    if (!h->ctx || !EVP_DigestInit_ex(h->ctx, EVP_blake2b512(), NULL))
        return err_fail(-EIO, "libcrypto cannot compute BLAKE2b-512");
    int rc = workers_open(&h->workers, &(struct workers_opts){.threads = FLAT_THREADS, .name = "setup hash"});
    if (rc)
        return rc;
    rc = pthread_create(&h->thread, NULL, hash_main, w);
    if (rc)
        return err_fail(-rc, "cannot start a thread for the circuit hash: %s", strerror(rc));
    h->started = true;
    return 0;
}

static void hash_close(struct hash_lane *h)
{
    pthread_mutex_lock(&h->lock);
    h->stop = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    if (h->started)
        pthread_join(h->thread, NULL);
    if (h->workers)
        workers_close(h->workers);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    EVP_MD_CTX_free(h->ctx);
    free(h->points);
}

int zkey_writer_open(struct zkey_writer **writer_p, FILE *out, const struct curve *curve, uint32_t n_sections)
{
    struct zkey_writer *w = calloc(1, sizeof *w);
    if (!w)
        return err_fail(-ENOMEM, "no memory for a key writer");
    w->out = out;
    w->curve = curve;
    int rc = hash_open(w);
    if (rc) {
        zkey_writer_close(w);
        return rc;
    }
    zkey_writer_put(w, "zkey", 4);
    zkey_writer_u32(w, 1);
    zkey_writer_u32(w, n_sections);
    *writer_p = w;
    return 0;
}

void zkey_writer_close(struct zkey_writer *w)
{
    if (!w)
        return;
    hash_close(&w->hash);
    free(w);
}

void zkey_writer_put(struct zkey_writer *w, const void *data, size_t bytes)
{
    if (w->error)
        return;
    if (fwrite(data, 1, bytes, w->out) != bytes)
        w->error = errno ? errno : EIO;
    w->bytes += bytes;
}

void zkey_writer_u32(struct zkey_writer *w, uint32_t x)
{
    zkey_writer_put(w, &x, sizeof x);
}

void zkey_writer_begin(struct zkey_writer *w, uint32_t id, uint64_t bytes)
{
    zkey_writer_u32(w, id);
    zkey_writer_put(w, &bytes, sizeof bytes);
}

void zkey_writer_points(struct zkey_writer *w, enum group g, const void *packed, size_t n, unsigned to)
{
    size_t size = w->curve->point_bytes[g];
    if (to & ZKEY_TO_FILE)
        zkey_writer_put(w, packed, n * size);
    if ((to & ZKEY_TO_HASH) && n)
        hash_post(w, g, packed, n);
}

void zkey_writer_hash_u32(struct zkey_writer *w, uint32_t x)
{
    uint8_t be[4] = {(uint8_t)(x >> 24), (uint8_t)(x >> 16), (uint8_t)(x >> 8), (uint8_t)x};
    hash_wait(w);
    if (!EVP_DigestUpdate(w->hash.ctx, be, sizeof be) && !w->error)
        w->error = EIO;
}

int zkey_writer_hash(struct zkey_writer *w, unsigned char digest[64])
{
    hash_wait(w);
    if (!EVP_DigestFinal_ex(w->hash.ctx, digest, NULL))
        return err_fail(-EIO, "libcrypto cannot finish BLAKE2b-512");
    return 0;
}

int zkey_writer_status(const struct zkey_writer *w)
{
    return w->error ? err_fail(w->error == ENOSPC ? -ENOSPC : -EIO, "cannot write the key: %s", strerror(w->error)) : 0;
}

uint64_t zkey_writer_bytes(const struct zkey_writer *w)
{
    return w->bytes;
}
