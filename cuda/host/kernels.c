#include "cuda/host/kernels.h"

#include <string.h>

/* fastest first */
static const struct kernels *const all[] = {
#ifdef __x86_64__
    &kernels_ifma,
    &kernels_adx,
#endif
    &kernels_portable,
};

enum { ALL = sizeof all / sizeof *all };

const struct kernels *kernels_best(void)
{
    int i = 0;
    while (all[i]->isa > isa_best() || !all[i]->usable())
        i++;
    return all[i];
}

const struct kernels *kernels_by_name(const char *name)
{
    for (int i = 0; i < ALL; i++) {
        if (strcmp(all[i]->name, name) == 0 && all[i]->usable())
            return all[i];
    }
    return NULL;
}
