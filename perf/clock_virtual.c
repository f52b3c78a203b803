#include "perf/clock_virtual.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf/err.h"

enum actor_state { ACTOR_READY, ACTOR_RUNNING, ACTOR_WAITING, ACTOR_ENDED };

struct actor {
    struct actor *next;
    pthread_t thread;
    pthread_cond_t turn;
    enum actor_state state;
    uint64_t order; /* of becoming ready or of beginning to wait */
    pthread_cond_t *on;
    uint64_t until_ns;
    bool timed_out;
    pthread_cond_t ended;
    struct clock_virtual *clock;
    void *(*run)(void *);
    void *arg;
};

struct clock_virtual {
    struct clock_source source;
    pthread_mutex_t lock; /* recursive: a join waits with it */
    uint64_t now_ns, seed, order, switches;
    struct actor *actors;
    struct clock_timer *timers;
    void (*stuck)(void *ctx);
    void *stuck_ctx;
};

static _Thread_local struct actor *self;

static uint64_t rand_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The next to run; NULL when all wait. */
static struct actor *ready_pick(struct clock_virtual *c)
{
    struct actor *best = NULL;
    uint64_t n = 0;
    for (struct actor *a = c->actors; a; a = a->next) {
        if (a->state != ACTOR_READY)
            continue;
        n++;
        if (!best || (c->seed ? rand_next(&c->seed) % n == 0 : a->order < best->order))
            best = a;
    }
    return best;
}

static void actor_ready(struct clock_virtual *c, struct actor *a, bool timed_out)
{
    a->state = ACTOR_READY;
    a->timed_out = timed_out;
    a->order = ++c->order;
}

/* Who has waited longest: on `cond`, or with a deadline that has come. */
static struct actor *waiting_first(struct clock_virtual *c, const pthread_cond_t *cond, uint64_t due_ns)
{
    struct actor *first = NULL;
    for (struct actor *a = c->actors; a; a = a->next) {
        bool meant = a->state == ACTOR_WAITING && (cond ? a->on == cond : a->until_ns <= due_ns);
        if (meant && (!first || a->order < first->order))
            first = a;
    }
    return first;
}

static _Noreturn void report_stuck(struct clock_virtual *c)
{
    if (c->stuck)
        c->stuck(c->stuck_ctx);
    fprintf(stderr, "virtual time %llu ns: every thread waits and nothing is due\n", (unsigned long long)c->now_ns);
    abort();
}

/* Timers have locks of their own, under which they may ask for the time: they are called without ours. Nobody runs
 * meanwhile. */
static uint64_t timers_next(struct clock_virtual *c)
{
    uint64_t due_ns = CLOCK_NEVER;
    pthread_mutex_unlock(&c->lock);
    for (struct clock_timer *t = c->timers; t; t = t->next) {
        uint64_t next_ns = t->next_ns(t->ctx);
        due_ns = next_ns < due_ns ? next_ns : due_ns;
    }
    pthread_mutex_lock(&c->lock);
    return due_ns;
}

static void timers_fire(struct clock_virtual *c)
{
    uint64_t now_ns = c->now_ns;
    pthread_mutex_unlock(&c->lock);
    for (struct clock_timer *t = c->timers; t; t = t->next) {
        if (t->next_ns(t->ctx) <= now_ns)
            t->fire(t->ctx, now_ns);
    }
    pthread_mutex_lock(&c->lock);
}

/* Nobody can run: let time pass until somebody can. */
static void time_pass(struct clock_virtual *c)
{
    uint64_t due_ns = CLOCK_NEVER;
    for (struct actor *a = c->actors; a; a = a->next) {
        if (a->state == ACTOR_WAITING && a->until_ns < due_ns)
            due_ns = a->until_ns;
    }
    uint64_t timer_ns = timers_next(c);
    due_ns = timer_ns < due_ns ? timer_ns : due_ns;
    if (due_ns == CLOCK_NEVER)
        report_stuck(c);
    if (due_ns > c->now_ns)
        c->now_ns = due_ns;
    timers_fire(c);
    for (struct actor *a; (a = waiting_first(c, NULL, c->now_ns)) != NULL;)
        actor_ready(c, a, true);
}

/* Give the turn away. The caller holds the lock and is no longer RUNNING. */
static void turn_pass(struct clock_virtual *c)
{
    struct actor *next;
    while (!(next = ready_pick(c)))
        time_pass(c);
    next->state = ACTOR_RUNNING;
    c->switches++;
    if (next != self)
        pthread_cond_signal(&next->turn);
}

static void turn_await(struct clock_virtual *c, struct actor *a)
{
    while (a->state != ACTOR_RUNNING)
        pthread_cond_wait(&a->turn, &c->lock);
}

static uint64_t virtual_now(void *ctx)
{
    struct clock_virtual *c = ctx;
    pthread_mutex_lock(&c->lock);
    uint64_t now_ns = c->now_ns;
    pthread_mutex_unlock(&c->lock);
    return now_ns;
}

bool clock_virtual_outside(void)
{
    return clock_source && clock_source->now_ns == virtual_now && !self;
}

static int virtual_wait(void *ctx, pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ns)
{
    struct clock_virtual *c = ctx;
    if (!self || self->clock != c)
        abort(); /* a thread that was not started through clock_thread_open */
    pthread_mutex_lock(&c->lock);
    self->state = ACTOR_WAITING;
    self->on = cond;
    self->until_ns = until_ns;
    self->order = ++c->order;
    pthread_mutex_unlock(mutex);
    turn_pass(c);
    turn_await(c, self);
    bool timed_out = self->timed_out;
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_lock(mutex);
    return timed_out ? -ETIMEDOUT : 0;
}

static void virtual_wake(void *ctx, pthread_cond_t *cond, bool all)
{
    struct clock_virtual *c = ctx;
    pthread_mutex_lock(&c->lock);
    for (struct actor *a; (a = waiting_first(c, cond, 0)) != NULL;) {
        actor_ready(c, a, false);
        if (!all)
            break;
    }
    pthread_mutex_unlock(&c->lock);
}

static void *actor_main(void *arg)
{
    struct actor *a = arg;
    struct clock_virtual *c = a->clock;
    self = a;
    pthread_mutex_lock(&c->lock);
    turn_await(c, a);
    pthread_mutex_unlock(&c->lock);
    void *result = a->run(a->arg);
    pthread_mutex_lock(&c->lock);
    a->state = ACTOR_ENDED;
    virtual_wake(c, &a->ended, true);
    turn_pass(c);
    pthread_mutex_unlock(&c->lock);
    return result;
}

static struct actor *actor_add(struct clock_virtual *c)
{
    struct actor *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    pthread_cond_init(&a->turn, NULL);
    pthread_cond_init(&a->ended, NULL);
    a->clock = c;
    a->next = c->actors;
    c->actors = a;
    return a;
}

static void actor_drop(struct clock_virtual *c, struct actor *a)
{
    for (struct actor **p = &c->actors; *p; p = &(*p)->next) {
        if (*p == a) {
            *p = a->next;
            break;
        }
    }
    pthread_cond_destroy(&a->turn);
    pthread_cond_destroy(&a->ended);
    free(a);
}

static int virtual_thread_open(void *ctx, pthread_t *thread, void *(*run)(void *), void *arg)
{
    struct clock_virtual *c = ctx;
    pthread_mutex_lock(&c->lock);
    struct actor *a = actor_add(c);
    int rc = a ? 0 : -ENOMEM;
    if (a) {
        a->run = run;
        a->arg = arg;
        actor_ready(c, a, false);
        rc = -pthread_create(&a->thread, NULL, actor_main, a);
        if (rc)
            actor_drop(c, a);
        else
            *thread = a->thread;
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static int virtual_thread_join(void *ctx, pthread_t thread)
{
    struct clock_virtual *c = ctx;
    pthread_mutex_lock(&c->lock);
    struct actor *a = c->actors;
    while (a && (a == self || a->state == ACTOR_RUNNING || !pthread_equal(a->thread, thread)))
        a = a->next;
    if (!a) {
        pthread_mutex_unlock(&c->lock);
        return -ESRCH;
    }
    while (a->state != ACTOR_ENDED)
        (void)virtual_wait(c, &a->ended, &c->lock, CLOCK_NEVER);
    pthread_mutex_unlock(&c->lock);
    int rc = -pthread_join(thread, NULL);
    pthread_mutex_lock(&c->lock);
    actor_drop(c, a);
    pthread_mutex_unlock(&c->lock);
    return rc;
}

int clock_virtual_open(struct clock_virtual **clock_p, uint64_t seed)
{
    struct clock_virtual *c = calloc(1, sizeof *c);
    if (!c)
        return err_fail(-ENOMEM, "no memory for a virtual clock");
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&c->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    c->seed = seed;
    c->source = (struct clock_source){
        virtual_now, virtual_wait, virtual_wake, virtual_thread_open, virtual_thread_join, c,
    };
    self = actor_add(c);
    if (!self) {
        pthread_mutex_destroy(&c->lock);
        free(c);
        return err_fail(-ENOMEM, "no memory for a virtual clock");
    }
    self->thread = pthread_self();
    self->state = ACTOR_RUNNING;
    clock_use(&c->source);
    *clock_p = c;
    return 0;
}

void clock_virtual_close(struct clock_virtual *c)
{
    clock_use(NULL);
    while (c->actors)
        actor_drop(c, c->actors);
    self = NULL;
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void clock_virtual_on_stuck(struct clock_virtual *c, void (*stuck)(void *ctx), void *ctx)
{
    c->stuck = stuck;
    c->stuck_ctx = ctx;
}

void clock_timer_add(struct clock_virtual *c, struct clock_timer *timer)
{
    pthread_mutex_lock(&c->lock);
    timer->next = c->timers;
    c->timers = timer;
    pthread_mutex_unlock(&c->lock);
}

void clock_timer_remove(struct clock_virtual *c, struct clock_timer *timer)
{
    pthread_mutex_lock(&c->lock);
    for (struct clock_timer **p = &c->timers; *p; p = &(*p)->next) {
        if (*p == timer) {
            *p = timer->next;
            break;
        }
    }
    pthread_mutex_unlock(&c->lock);
}

uint64_t clock_virtual_switches(const struct clock_virtual *c)
{
    return c->switches;
}
