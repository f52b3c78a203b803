/* Faults in the CUDA calls of a test program, without a hook in the product: the program is linked with --wrap for each
 * call below (penstock_faults() in CMakeLists.txt), so every launch, copy, allocation and event of the device passes
 * here, whoever wrote the call.
 *
 * A refused call fails the way CUDA fails it: the real call gets an argument that it must refuse. */
#ifndef TESTS_CUDA_GPU_FAULT_WRAP_H
#define TESTS_CUDA_GPU_FAULT_WRAP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The k-th call from now on (1 = the next), or the k-th launch, is refused; 0: none. Counting starts anew. */
void fault_refuse(size_t k, bool launches_only);
/* Before the next launch of that kernel the GPU writes out of bounds, so that the error is met later and sticks. */
void fault_poison(const char *kernel);
void fault_none(void);

size_t fault_calls(void); /* since fault_refuse */
bool fault_hit(void);     /* the planted fault was met */
/* "cudaMalloc", or the kernel's plain name when it was a launch */
const char *fault_place(void);
bool fault_was_launch(void);

/* Every allocation of device memory is filled with 0xa5. */
void fault_fill_allocations(bool on);

/* Kernels of this program: plain names, each once; launched: at least once since the start. */
size_t fault_kernels(void);
const char *fault_kernel_name(size_t i);
bool fault_kernel_launched(size_t i);

#ifdef __cplusplus
}
#endif

#endif
