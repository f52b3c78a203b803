/* Drives a fuzz target without libFuzzer: every seed, every file found before, and for each of them a fixed number of
 * random changes, so that an ordinary test run walks the same code. Usage: TARGET DATA FOUND [CHANGES] */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/prover/random.h"
#include "tests/slower.h"

static int changes_per_file = 300;
static long inputs;
static int all_files;

static void run_exact(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1); /* no byte to spare, so that the sanitizer sees one read too many */
    memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    inputs++;
}

static void change_some(uint8_t *data, size_t *n)
{
    static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff, '"', '[', ']', '-', '9'};
    for (uint64_t k = 1 + random_below(4); k > 0 && *n > 0; k--) {
        size_t at = random_below(*n);
        switch (random_below(5)) {
        case 0:
            data[at] ^= (uint8_t)(1u << random_below(8));
            break;
        case 1:
            data[at] = special[random_below(sizeof special)];
            break;
        case 2:
            data[at] = (uint8_t)random_next();
            break;
        case 3: { /* a piece goes */
            size_t gone = 1 + random_below(*n - at < 40 ? *n - at : 40);
            memmove(data + at, data + at + gone, *n - at - gone);
            *n -= gone;
            break;
        }
        default: /* the end goes */
            if (random_below(4) == 0)
                *n = at;
        }
    }
}

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    static uint8_t file[1 << 20], changed[1 << 20];
    size_t bytes = fread(file, 1, sizeof file, f);
    fclose(f);
    run_exact(file, bytes);
    for (int i = 0; i < changes_per_file; i++) {
        size_t n = bytes;
        memcpy(changed, file, bytes);
        change_some(changed, &n);
        run_exact(changed, n);
    }
    return 0;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F || st->st_size > 100000) /* large seeds add time, not paths */
        return 0;
    for (const char *const *ending = fuzz_seed_endings; *ending; ending++) {
        size_t a = strlen(path), b = strlen(*ending);
        if (all_files || (a >= b && strcmp(path + a - b, *ending) == 0))
            return run_file(path);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    changes_per_file = argc > 3 ? atoi(argv[3]) : changes_per_file;
    changes_per_file = (int)rounds((unsigned)changes_per_file);
    seed_begin(argv[0]);
    nftw(argv[1], visit, 8, FTW_PHYS);
    long seeds = inputs;
    all_files = 1;
    nftw(argv[2], visit, 8, FTW_PHYS);
    printf("%ld inputs from seeds, %ld from findings\n", seeds, inputs - seeds);
    return seeds ? 0 : 1;
}
