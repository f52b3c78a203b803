#define GROUP_NAME    gpu_bn254_g2
#define GROUP_FIELD   Fe2<Bn254Fq>
#define GROUP_THREADS 128
#define GROUP_BLOCKS  2
#include "cuda/gpu/group.cuh"
