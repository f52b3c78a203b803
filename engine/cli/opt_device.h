/* --device, --device-memory and --threads, as every command that computes takes them, and what `auto' takes. */
#ifndef ENGINE_CLI_OPT_DEVICE_H
#define ENGINE_CLI_OPT_DEVICE_H

#include <argp.h>
#include <stdint.h>

#include "cuda/device.h"

/* From how many rows for each thread of the host on `auto' takes a GPU. Opening the CUDA driver costs 0.35 s, which a
 * small circuit does not win back: on an H200 with a host of 16 threads a whole process took 0.41 s on the GPU and 0.16 on
 * the host at 2^17 rows, 0.53 and 0.47 at 2^19, 0.65 and 0.85 at 2^20, 1.57 and 3.36 at 2^22 (2026-12-01). They meet at
 * about 640,000. The one place where it is written. */
enum { DEVICE_AUTO_ROWS_PER_THREAD = 40000 };

struct device_choice {
    const char *name; /* NULL = auto */
    struct device_opts opts;
};
extern const struct argp device_argp; /* input: struct device_choice * */

static inline bool device_choice_is_auto(const struct device_choice *choice)
{
    return !choice->name || choice->name[0] == 'a';
}

/* A job of unknown size that is worth a GPU. */
#define DEVICE_ROWS_MANY UINT64_MAX

enum { DEVICE_WHY = 160 };
/* Does `auto' take a GPU for `rows' rows? `count' tells how many there are; it opens the driver, so it is asked last.
 * `why' is the reason of either answer. */
bool device_auto_is_gpu(char why[DEVICE_WHY], uint64_t rows, unsigned threads, int cuda_built, unsigned (*count)(void));

/* Open what was chosen for a job of `rows' constraint rows; with auto the choice and its reason are logged. Never
 * another device than the one that was named or chosen. -ENODEV, -ENOMEM. */
int device_choice_open(struct device **device_p, const struct device_choice *choice, uint64_t rows);

#endif
