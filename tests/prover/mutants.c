/* Writes the mutants of one circuit for tests that need them as files:
 *     mutants DIR NAME OUT        DIR/NAME.zkey .wtns .r1cs -> OUT/zkey_trailing.zkey, ...
 * and prints a line for each: its file name and what `prove` exits with, given it and the good partner. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/prover/mutate.h"

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: mutants DIR NAME OUT\n");
        return 2;
    }
    struct blob good[MUTANT_KINDS];
    blobs_load(good, argv[1], argv[2]);
    for (size_t i = 0; i < n_mutants; i++) {
        const struct mutant *m = &mutants[i];
        struct blob b = mutant_make(m, good);
        char path[1000];
        snprintf(path, sizeof path, "%s/%s.%s", argv[3], m->name, mutant_ending[m->kind]);
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(b.data, 1, b.bytes, f) != b.bytes || fclose(f) != 0) {
            perror(path);
            return 1;
        }
        printf("%s.%s %d\n", m->name, mutant_ending[m->kind], mutant_exit(m));
        free(b.data);
    }
    blobs_free(good);
    return 0;
}
