#include "prover/scalar_random.h"

#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>

#include "perf/err.h"

/* Cut to the bit length of the order; at least one draw in two is then below it. */
static bool scalar_fits(const struct curve *curve, struct scalar *s)
{
    s->l[3] &= ~(uint64_t)0 >> (256 - curve->fr_bits);
    return scalar_is_canonical(curve, s);
}

int scalar_random(const struct curve *curve, struct scalar *s)
{
    struct scalar draw;
    do {
        ssize_t got = getrandom(&draw, sizeof draw, 0);
        if (got != (ssize_t)sizeof draw)
            return err_fail(-EIO, "getrandom gave %zd of %zu bytes", got, sizeof draw);
    } while (!scalar_fits(curve, &draw));
    *s = draw;
    return 0;
}

int scalar_derive(const struct curve *curve, struct scalar *s, uint64_t seed, const char *label)
{
    struct scalar draw;
    uint64_t head[2] = {0, seed};
    do {
        unsigned char digest[64];
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        bool done = ctx && EVP_DigestInit_ex(ctx, EVP_blake2b512(), NULL) && EVP_DigestUpdate(ctx, head, sizeof head) &&
                    EVP_DigestUpdate(ctx, label, strlen(label)) && EVP_DigestFinal_ex(ctx, digest, NULL);
        EVP_MD_CTX_free(ctx);
        if (!done)
            return err_fail(-EIO, "libcrypto cannot compute BLAKE2b-512");
        memcpy(&draw, digest, sizeof draw);
        head[0]++;
    } while (!scalar_fits(curve, &draw));
    *s = draw;
    return 0;
}
