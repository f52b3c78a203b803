/* Kernels with mulx, adcx and adox. */
#include <stdbool.h>

#include "cuda/math/isa.h"

#define ISA_ADX

static bool usable(void)
{
    return isa_of_cpu() >= ISA_ID_ADX;
}

#define KERNELS        kernels_adx
#define KERNELS_NAME   "adx"
#define KERNELS_ISA    ISA_ID_ADX
#define KERNELS_USABLE usable
#include "cuda/host/kernels_scalar.h"
