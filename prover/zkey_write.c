#include "prover/zkey_write.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "perf/err.h"

struct zkey_writer {
    FILE *out;
    const struct curve *curve;
    EVP_MD_CTX *hash;
    uint64_t bytes;
    int error; /* errno of the first failure */
};

int zkey_writer_open(struct zkey_writer **writer_p, FILE *out, const struct curve *curve, uint32_t n_sections)
{
    struct zkey_writer *w = calloc(1, sizeof *w);
    if (!w)
        return err_fail(-ENOMEM, "no memory for a key writer");
    w->out = out;
    w->curve = curve;
    w->hash = EVP_MD_CTX_new();
    if (!w->hash || !EVP_DigestInit_ex(w->hash, EVP_blake2b512(), NULL)) {
        zkey_writer_close(w);
        return err_fail(-EIO, "libcrypto cannot compute BLAKE2b-512");
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
    EVP_MD_CTX_free(w->hash);
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

void zkey_writer_points(struct zkey_writer *w, enum group g, const void *packed, size_t n, unsigned to)
{
    size_t size = w->curve->point_bytes[g];
    if (to & ZKEY_TO_FILE)
        zkey_writer_put(w, packed, n * size);
    for (size_t i = 0; i < n && (to & ZKEY_TO_HASH) && !w->error; i++) {
        uint8_t lem[192], flat[192];
        memcpy(lem, (const uint8_t *)packed + i * size, size);
        uncompressed(w->curve, g, flat, lem);
        if (!EVP_DigestUpdate(w->hash, flat, size))
            w->error = EIO;
    }
}

void zkey_writer_hash_u32(struct zkey_writer *w, uint32_t x)
{
    uint8_t be[4] = {(uint8_t)(x >> 24), (uint8_t)(x >> 16), (uint8_t)(x >> 8), (uint8_t)x};
    if (!EVP_DigestUpdate(w->hash, be, sizeof be) && !w->error)
        w->error = EIO;
}

int zkey_writer_hash(struct zkey_writer *w, unsigned char digest[64])
{
    if (!EVP_DigestFinal_ex(w->hash, digest, NULL))
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
