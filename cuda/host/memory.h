/* Scratch memory of the host device: 64-byte aligned, large pieces on transparent hugepages where the kernel gives
 * them (random access to points and buckets misses the TLB otherwise). */
#ifndef CUDA_HOST_MEMORY_H
#define CUDA_HOST_MEMORY_H

#include <stddef.h>

/* NULL when there is none. Contents undefined. Free with memory_free. */
void *memory_alloc(size_t bytes);
void memory_free(void *p);

#endif
