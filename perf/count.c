#include "perf/count.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One per live thread, on a list; an ending thread folds its own into `ended` and leaves. */
struct shard {
    _Atomic uint64_t value[COUNT_KINDS];
    struct shard *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shard *shards;
static uint64_t ended[COUNT_KINDS];
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local struct shard *mine;

static void shard_end(void *arg)
{
    struct shard *s = arg;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < COUNT_KINDS; i++)
        ended[i] += atomic_load_explicit(&s->value[i], memory_order_relaxed);
    for (struct shard **p = &shards; *p; p = &(*p)->next) {
        if (*p == s) {
            *p = s->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    free(s);
}

static void key_make(void)
{
    if (pthread_key_create(&key, shard_end) != 0)
        abort(); /* only at start-up, with no key left in the process */
}

static struct shard *shard_begin(void)
{
    pthread_once(&once, key_make);
    struct shard *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    if (!s)
        return NULL;
    for (int i = 0; i < COUNT_KINDS; i++)
        atomic_init(&s->value[i], 0);
    pthread_setspecific(key, s);
    pthread_mutex_lock(&lock);
    s->next = shards;
    shards = s;
    pthread_mutex_unlock(&lock);
    return mine = s;
}

void count_add(enum counter which, uint64_t n)
{
    struct shard *s = mine ? mine : shard_begin();
    if (!s)
        return; /* out of memory: a lost count, not a lost proof */
    uint64_t now = atomic_load_explicit(&s->value[which], memory_order_relaxed);
    atomic_store_explicit(&s->value[which], now + n, memory_order_relaxed);
}

uint64_t count_read(enum counter which)
{
    pthread_mutex_lock(&lock);
    uint64_t sum = ended[which];
    for (struct shard *s = shards; s; s = s->next)
        sum += atomic_load_explicit(&s->value[which], memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return sum;
}

#define COUNTER_NAME(id, name, help) [id] = (name),
#define COUNTER_HELP(id, name, help) [id] = (help),

const char *count_name(enum counter which)
{
    static const char *const names[] = {COUNTERS(COUNTER_NAME)};
    return names[which];
}

const char *count_help(enum counter which)
{
    static const char *const helps[] = {COUNTERS(COUNTER_HELP)};
    return helps[which];
}
