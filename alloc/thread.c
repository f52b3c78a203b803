#include "alloc/thread.h"

#include <pthread.h>

#include "alloc/sysops.h"
#include "perf/err.h"

#ifdef RCU_TSAN
char rcu_tsan_mark;
#endif

static _Atomic(struct thread_cell *) cells;
static _Atomic unsigned stripes;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static int key_rc;
static _Thread_local struct thread_cell *mine;

static void thread_leave(void *arg)
{
    struct thread_cell *cell = arg;
    mine = NULL;
    urcu_memb_unregister_thread();
    atomic_store_explicit(&cell->used, false, memory_order_release);
}

static void make_key(void)
{
    key_rc = pthread_key_create(&exit_key, thread_leave);
}

static struct thread_cell *cell_reuse(void)
{
    for (struct thread_cell *c = atomic_load_explicit(&cells, memory_order_acquire); c; c = c->next) {
        bool used = false;
        if (atomic_load(&c->held) || !atomic_compare_exchange_strong(&c->used, &used, true))
            continue;
        /* Looked at again, now that it is ours and can only fall: between the two, its last owner may have taken a
         * lease and died with it (seen once in 3.5 million takes). */
        if (atomic_load(&c->held) == 0)
            return c;
        atomic_store(&c->used, false);
    }
    return NULL;
}

static struct thread_cell *cell_new(void)
{
    /* One cell and its own cache lines: calloc aligns to 16 only. */
    char *room = sys->calloc(1, sizeof(struct thread_cell) + 64);
    if (!room)
        return NULL;
    struct thread_cell *c = (void *)(((uintptr_t)room + 63) & ~(uintptr_t)63);
    atomic_init(&c->used, true);
    c->stripe = atomic_fetch_add(&stripes, 1);
    c->next = atomic_load(&cells);
    while (!atomic_compare_exchange_weak(&cells, &c->next, c))
        ;
    return c;
}

static struct thread_cell *thread_first(void)
{
    pthread_once(&once, make_key);
    if (key_rc) {
        err_fail(-key_rc, "no thread key left for the pool's threads");
        return NULL;
    }
    struct thread_cell *c = cell_reuse();
    if (!c)
        c = cell_new();
    if (!c || pthread_setspecific(exit_key, c)) {
        if (c)
            atomic_store(&c->used, false);
        err_fail(-ENOMEM, "no memory for this thread's pool record");
        return NULL;
    }
    urcu_memb_register_thread();
    mine = c;
    return c;
}

struct thread_cell *thread_enter(void)
{
    return mine ? mine : thread_first();
}

unsigned thread_count(void)
{
    unsigned n = 0;
    for (struct thread_cell *c = atomic_load(&cells); c; c = c->next)
        n += atomic_load(&c->used);
    return n;
}
