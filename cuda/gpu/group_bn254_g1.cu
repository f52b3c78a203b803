#define GROUP_NAME    gpu_bn254_g1
#define GROUP_FIELD   Fe<Bn254Fq>
#define GROUP_THREADS 128
#define GROUP_BLOCKS  4
#include "cuda/gpu/group.cuh"
