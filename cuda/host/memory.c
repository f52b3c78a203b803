#include "cuda/host/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20 };

void *memory_alloc(size_t bytes)
{
    size_t align = bytes >= 2 * (size_t)HUGE_BYTES ? HUGE_BYTES : 64;
    if (bytes > SIZE_MAX - align)
        return NULL;
    size_t rounded = bytes == 0 ? align : (bytes + align - 1) / align * align;
    void *p = aligned_alloc(align, rounded);
    if (p && align == HUGE_BYTES)
        madvise(p, rounded, MADV_HUGEPAGE); /* only advice: without it everything still works */
    return p;
}

void memory_free(void *p)
{
    free(p);
}
