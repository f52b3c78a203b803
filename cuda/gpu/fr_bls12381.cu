#define FR_NAME   gpu_bls12381_fr
#define FR_PARAMS Bls381Fr
#include "cuda/gpu/fr.cuh"
