#define GROUP_NAME    gpu_bls12381_g1
#define GROUP_FIELD   Fe<Bls381Fq>
#define GROUP_THREADS 128
#define GROUP_BLOCKS  4
#include "cuda/gpu/group.cuh"
