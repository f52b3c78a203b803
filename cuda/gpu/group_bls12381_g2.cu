#define GROUP_NAME    gpu_bls12381_g2
#define GROUP_FIELD   Fe2<Bls381Fq>
#define GROUP_THREADS 64
#define GROUP_BLOCKS  4
#include "cuda/gpu/group.cuh"
