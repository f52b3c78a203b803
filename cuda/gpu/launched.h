/* After a launch, in place of cudaGetLastError: keeps the kernel's name for the sentence of a failure. */
#ifndef CUDA_GPU_LAUNCHED_H
#define CUDA_GPU_LAUNCHED_H

#ifdef __cplusplus
extern "C" {
#endif

/* kernel: static string. Returns the cudaError_t. */
int gpu_launched(const char *kernel);

#ifdef __cplusplus
}
#endif

#endif
