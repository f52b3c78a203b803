/* What cudaHostRegister enforces, so that a caller that is wrong on a GPU is wrong here too: ranges count in whole
 * pages, an overlap is an error, and only the exact base unregisters. */
#include <stdlib.h>
#include <unistd.h>

#include "cuda/host/host.h"

struct host_range {
    uintptr_t base, first, end; /* as given; rounded out to pages */
    struct host_range *link;
};

int host_register(struct device *base, void *at, size_t bytes)
{
    struct host_device *d = (struct host_device *)base;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), a = (uintptr_t)at;
    if (!at || bytes == 0 || a + bytes < a || a + bytes > UINTPTR_MAX - page)
        return err_fail(-EINVAL, "register: %zu bytes at %p are not a range", bytes, at);
    struct host_range *r = malloc(sizeof *r);
    if (!r)
        return err_fail(-ENOMEM, "no memory to note a registered range");
    *r = (struct host_range){.base = a, .first = a / page * page, .end = (a + bytes + page - 1) / page * page};
    pthread_mutex_lock(&d->lock);
    const struct host_range *other = d->ranges;
    while (other && (other->end <= r->first || r->end <= other->first))
        other = other->link;
    uintptr_t clash = other ? other->base : 0;
    if (!other) {
        r->link = d->ranges;
        d->ranges = r;
    }
    pthread_mutex_unlock(&d->lock);
    if (clash) {
        free(r);
        return err_fail(-EINVAL, "register: %zu bytes at %p share a page with the range registered at %p", bytes, at,
                        (void *)clash);
    }
    return 0;
}

int host_unregister(struct device *base, void *at)
{
    struct host_device *d = (struct host_device *)base;
    pthread_mutex_lock(&d->lock);
    struct host_range **p = &d->ranges;
    while (*p && (*p)->base != (uintptr_t)at)
        p = &(*p)->link;
    struct host_range *r = *p;
    if (r)
        *p = r->link;
    pthread_mutex_unlock(&d->lock);
    if (!r)
        return err_fail(-EINVAL, "unregister: %p is not the base of a registered range", at);
    free(r);
    return 0;
}

void host_ranges_close(struct host_device *d)
{
    for (struct host_range *r = d->ranges, *next; r; r = next) {
        next = r->link;
        free(r);
    }
    d->ranges = NULL;
}
