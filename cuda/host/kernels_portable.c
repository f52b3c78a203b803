/* Kernels in plain C, for any 64-bit CPU. */
#include <stdbool.h>

#include "cuda/math/isa.h"

static bool usable(void)
{
    return true;
}

#define KERNELS        kernels_portable
#define KERNELS_NAME   "portable"
#define KERNELS_ISA    ISA_ID_PORTABLE
#define KERNELS_USABLE usable
#include "cuda/host/kernels_scalar.h"
