#include "alloc/hints_internal.h"

#include <stdlib.h>
#include <string.h>

#include "alloc/sysops.h"
#include "perf/err.h"

enum { CAPACITY = 256 };

int hints_open(struct hints **out, unsigned capacity)
{
    unsigned n = capacity ? capacity : CAPACITY;
    struct hints *h = sys->calloc(1, sizeof *h + n * sizeof h->slot[0]);
    if (!h)
        return err_fail(-ENOMEM, "no memory for %u size hints", n);
    pthread_mutex_init(&h->lock, NULL);
    h->n = n;
    *out = h;
    return 0;
}

void hints_close(struct hints *h)
{
    pthread_mutex_destroy(&h->lock);
    free(h);
}

/* The circuit's slot, or the one to use for it. A scan: a prover knows a handful of circuits and asks once a job. */
static struct slot *find(struct hints *h, const unsigned char id[HINT_ID], bool *known)
{
    struct slot *oldest = &h->slot[0];
    for (unsigned i = 0; i < h->n; i++) {
        struct slot *s = &h->slot[i];
        if (s->used && memcmp(s->id, id, HINT_ID) == 0) {
            *known = true;
            return s;
        }
        if (s->used < oldest->used)
            oldest = s;
    }
    *known = false;
    return oldest;
}

bool hints_get(struct hints *h, const unsigned char id[HINT_ID], struct hint *out)
{
    bool known;
    pthread_mutex_lock(&h->lock);
    struct slot *s = find(h, id, &known);
    if (known) {
        *out = s->hint;
        s->used = ++h->clock;
    }
    pthread_mutex_unlock(&h->lock);
    return known;
}

void hints_put(struct hints *h, const unsigned char id[HINT_ID], const struct hint *hint)
{
    bool known;
    pthread_mutex_lock(&h->lock);
    struct slot *s = find(h, id, &known);
    memcpy(s->id, id, HINT_ID);
    s->hint = *hint;
    s->used = ++h->clock;
    pthread_mutex_unlock(&h->lock);
}
