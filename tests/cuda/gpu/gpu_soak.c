/* N proofs of mixed circuits on one handle of the CUDA device, each one verified: nothing may be left behind.
 *
 *     gpu_soak [N] [KEY.zkey WITNESS.wtns ...]       N: 200
 *
 * Circuits of both curves are made from a seed (PENSTOCK_SEED), keys of them by the device's own setup; more can be
 * named. A proof opens its key (resident or streamed in turn), computes one or two witnesses, and closes it. Free
 * device memory, by the driver, is compared after the first proof and after the last: the kernels are loaded and the
 * device's tables made before, by one proof of each circuit and kind. Skipped (77) without a GPU. */
#include <cuda_runtime_api.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "penstock/error.h"
#include "perf/clock.h"
#include "prover/groth16.h"
#include "prover/scalar_random.h"
#include "prover/setup.h"
#include "prover/verify.h"
#include "tests/engine/circuit.h"

struct work {
    struct circuit made;
    char *key_bytes;
    struct wtns *wtns;
    struct zkey *zkey;
    struct vk vk;
    struct publics publics;
};
enum { WORKS = 64, MADE = 10 };
static struct work works[WORKS];
static size_t n_works;
static struct device *device;

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != 0) {                                                                                             \
            fprintf(stderr, "gpu_soak: %s: %s\n", #call, pen_last_error());                                                \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void work_fill(struct work *w)
{
    MUST(wtns_match_zkey(w->wtns, w->zkey));
    MUST(vk_from_zkey(&w->vk, w->zkey));
    w->publics.n = w->zkey->n_public;
    w->publics.values = malloc((w->publics.n + 1) * sizeof *w->publics.values);
    if (!w->publics.values)
        exit(1);
    for (size_t i = 0; i < w->publics.n; i++)
        w->publics.values[i] = wtns_value(w->wtns, 1 + i);
    n_works++;
}

static void work_make(const struct curve *c, enum circuit_shape shape, uint32_t rows, uint64_t seed)
{
    struct work *w = &works[n_works];
    struct r1cs *r1cs;
    struct trapdoor t;
    char *vk_text;
    size_t key_bytes, vk_bytes;
    circuit_make(&w->made, c, shape, rows, 3, seed);
    MUST(r1cs_open_memory(&r1cs, "made.r1cs", w->made.r1cs, w->made.r1cs_bytes));
    MUST(wtns_open_memory(&w->wtns, "made.wtns", w->made.wtns, w->made.wtns_bytes));
    MUST(trapdoor_derive(c, &t, seed));
    FILE *z = open_memstream(&w->key_bytes, &key_bytes), *v = open_memstream(&vk_text, &vk_bytes);
    MUST(setup_write(z, v, device, r1cs, &t, NULL, NULL, NULL));
    fclose(z);
    fclose(v);
    free(vk_text);
    r1cs_close(r1cs);
    MUST(zkey_open_memory(&w->zkey, "made.zkey", w->key_bytes, key_bytes));
    work_fill(w);
}

static void work_open(const char *zkey, const char *wtns)
{
    struct work *w = &works[n_works];
    MUST(zkey_open(&w->zkey, zkey));
    MUST(wtns_open(&w->wtns, wtns));
    work_fill(w);
}

static void prove(struct work *w, bool resident, unsigned times)
{
    struct groth16_key *key;
    MUST(groth16_key_open(&key, device, w->zkey, &(struct groth16_key_opts){.resident = resident}));
    for (unsigned i = 0; i < times; i++) {
        struct groth16_sums sums;
        struct scalar r, s;
        struct proof proof;
        enum pen_verdict verdict = PEN_FALSE;
        MUST(groth16_compute(key, &sums, w->wtns, NULL, NULL));
        MUST(scalar_random(w->zkey->curve, &r));
        MUST(scalar_random(w->zkey->curve, &s));
        groth16_fold(&proof, w->zkey, &sums, &r, &s);
        MUST(verify_groth16(&verdict, &w->vk, &proof, &w->publics));
        if (verdict != PEN_VALID) {
            fprintf(stderr, "soak: a proof of %s, %u wires, does not verify\n", w->zkey->curve->title, w->zkey->n_vars);
            exit(1);
        }
    }
    groth16_key_close(key);
}

static size_t free_memory(void)
{
    size_t room = 0, total;
    if (cudaMemGetInfo(&room, &total))
        exit(1);
    return room;
}

static size_t resident_set(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*s %zu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4096;
}

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
    const char *env = getenv("PENSTOCK_SEED");
    uint64_t seed = env ? strtoull(env, NULL, 0) : 0x5eed;
    static const uint32_t rows[MADE / 2] = {20, 700, 1500, 4000, 12000};
    static const enum circuit_shape shapes[MADE / 2] = {SHAPE_MIXED, SHAPE_BITS, SHAPE_LINEAR, SHAPE_MIXED, SHAPE_BITS};
    if (device_cuda_count() == 0)
        return 77;
    printf("soak: %lu proofs, rerun: PENSTOCK_SEED=0x%llx\n", n, (unsigned long long)seed);
    MUST(device_cuda_open(&device, 0, NULL));
    for (unsigned i = 0; i < MADE; i++)
        work_make(curve_get((enum curve_id)(i % 2)), shapes[i / 2], rows[i / 2], seed + i);
    for (int i = 2; i + 1 < argc && n_works < WORKS; i += 2)
        work_open(argv[i], argv[i + 1]);
    for (size_t i = 0; i < 2 * n_works; i++)
        prove(&works[i / 2], i & 1, 2);
    size_t first = 0, first_host = 0;
    uint64_t begin = clock_now_ns();
    for (unsigned long i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        prove(&works[(seed >> 33) % n_works], seed >> 62 & 1, 1 + (unsigned)(seed >> 61 & 1));
        if (i == 0) {
            first = free_memory();
            first_host = resident_set();
        }
    }
    size_t last = free_memory();
    printf("soak: all verified, %.1f ms a key and proof; device memory free after the first %zu bytes, after the last "
           "%zu; "
           "host memory %+lld bytes\n",
           (double)(clock_now_ns() - begin) * 1e-6 / (double)(n ? n : 1), first, last,
           (long long)resident_set() - (long long)first_host);
    for (size_t i = 0; i < n_works; i++) {
        struct work *w = &works[i];
        publics_close(&w->publics);
        vk_close(&w->vk);
        zkey_close(w->zkey);
        wtns_close(w->wtns);
        circuit_free(&w->made);
        free(w->key_bytes);
    }
    device->ops->close(device);
    if (n && first != last)
        fprintf(stderr, "soak: %lld bytes of device memory are lost\n", (long long)first - (long long)last);
    return n && first != last;
}
