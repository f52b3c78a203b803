#define FR_NAME   gpu_bn254_fr
#define FR_PARAMS Bn254Fr
#include "cuda/gpu/fr.cuh"
