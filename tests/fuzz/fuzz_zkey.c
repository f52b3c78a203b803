/* Claim: a key that opens has sections of exactly the sizes that its counts ask for, all inside the file; its matrices
 * stay inside their bounds. */
#include "tests/fuzz/fuzz.h"

#include "prover/csr.h"
#include "prover/proof.h"
#include "prover/zkey.h"

const char *const fuzz_seed_endings[] = {".zkey", NULL};

static void inside(size_t size, uint64_t offset, uint64_t bytes)
{
    FUZZ_CLAIM(offset <= size && bytes <= size - offset);
}

static void check_csr(const struct zkey *z)
{
    struct csr *csr;
    if (csr_open(&csr, z))
        return;
    FUZZ_CLAIM(csr->rows <= z->domain_size);
    size_t terms = 0;
    for (int m = 0; m < CSR_MATRICES; m++) {
        const struct csr_matrix *x = &csr->matrix[m];
        FUZZ_CLAIM(x->row[csr->rows] == x->n_terms);
        for (size_t i = 0; i < x->n_terms; i++)
            FUZZ_CLAIM(x->col[i] < csr->cols && x->coef[i] < csr->n_dict);
        terms += x->n_terms;
    }
    FUZZ_CLAIM(terms == z->n_coefs);
    csr_close(csr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zkey *z;
    if (zkey_open_memory(&z, "zkey", data, size))
        return 0;
    FUZZ_CLAIM(z->n_public < z->n_vars && z->domain_size == 1u << z->log_domain);
    for (int i = 0; i < ZKEY_SETS; i++)
        inside(size, z->points[i].offset, zkey_points_bytes(z, (enum zkey_set)i));
    inside(size, z->coefs_offset, z->n_coefs * ZKEY_COEF_BYTES);
    check_csr(z);
    struct vk vk;
    if (vk_from_zkey(&vk, z) == 0)
        vk_close(&vk);
    zkey_close(z);
    return 0;
}
