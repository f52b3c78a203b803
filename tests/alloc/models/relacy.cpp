/* The orders of alloc/arena.c, pool.c and queue.c under the C11 memory model, by random schedules (Relacy).
 *   relacy [SCHEDULES]        exit 0: none finds a fault in the program's orders, and every planted one is found
 * arena: two users and the reclaimer on one word, published through a directory slot; read sections cover what they
 * cover in the program, not the whole lease. wake: a giver and a waiter around word, sleepers and returns. (The order
 * of the last step to dead is not among the planted faults: relaxed would do, since the giver's fetch_and before it
 * acquires what earlier givers released.) */
#include <relacy/relacy.hpp>
#include <stdio.h>
#include <stdlib.h>

enum fault { NONE, TAKE_RELAXED, GIVE_RELAXED, NO_GRACE, PUBLISH_RELAXED, LOOK_RELAXED, ANNOUNCE_RELAXED, FAULTS };
static int fault;

static rl::memory_order but(int which, rl::memory_order wrong, rl::memory_order right)
{
    return fault == which ? wrong : right;
}
#define TAKE     but(TAKE_RELAXED, rl::mo_relaxed, rl::mo_acquire)
#define GIVE     but(GIVE_RELAXED, rl::mo_relaxed, rl::mo_seq_cst)
#define PUBLISH  but(PUBLISH_RELAXED, rl::mo_relaxed, rl::mo_release)
#define LOOK     but(LOOK_RELAXED, rl::mo_acquire, rl::mo_seq_cst)
#define ANNOUNCE but(ANNOUNCE_RELAXED, rl::mo_acq_rel, rl::mo_seq_cst)
#define RECHECK  but(ANNOUNCE_RELAXED, rl::mo_acquire, rl::mo_seq_cst)

enum { UNITS = 3, DRAINING = 4, DEAD = 8, STATES = 12 };

struct arena_suite : rl::test_suite<arena_suite, 3> {
    rl::atomic<unsigned> word, slot; /* slot: the directory's, 1 = the arena */
    rl::atomic<unsigned> reading[2];
    rl::atomic<unsigned> buried;
    VAR_T(int) page[2];
    VAR_T(int) record; /* the arena's plain fields */

    void before()
    {
        word($) = 0;
        slot($) = 0;
        buried($) = 0;
        reading[0]($) = 0;
        reading[1]($) = 0;
        VAR(page[0]) = 0;
        VAR(page[1]) = 0;
        VAR(record) = 0;
    }

    /* Draining and empty -> dead, by one caller only. */
    bool finish(unsigned w)
    {
        while ((w & STATES) == DRAINING && !(w & UNITS))
            if (word($).compare_exchange_weak(w, DEAD, rl::mo_acq_rel, rl::mo_acquire))
                return true;
        return false;
    }

    void user(unsigned me)
    {
        reading[me]($).store(1, rl::mo_seq_cst);
        unsigned bit = 0;
        if (slot($).load(rl::mo_seq_cst)) { /* acquire in the program: the grace period's membarrier does the rest */
            RL_ASSERT(VAR(record) == 1);
            unsigned w = word($).load(rl::mo_seq_cst);
            while (!(w & STATES) && (w & UNITS) != UNITS) {
                bit = w & 1 ? 2 : 1;
                if (word($).compare_exchange_weak(w, w | bit, TAKE, rl::mo_acquire))
                    break;
                bit = 0;
            }
        }
        reading[me]($).store(0, rl::mo_seq_cst);
        if (!bit)
            return;
        VAR(page[bit - 1]) = VAR(page[bit - 1]) + 1; /* a lease outlives its read section */
        reading[me]($).store(1, rl::mo_seq_cst);
        unsigned w = word($).fetch_and(~bit, GIVE);
        bool died = finish(w & ~bit);
        reading[me]($).store(0, rl::mo_seq_cst);
        if (died)
            buried($).store(1, rl::mo_release);
    }

    void reclaimer()
    {
        VAR(record) = 1;
        slot($).store(1, PUBLISH);
        for (int again = 0; again < 2; again++) {
            unsigned w = word($).load(rl::mo_acquire);
            while (!(w & STATES) && !word($).compare_exchange_weak(w, w | DRAINING, rl::mo_acq_rel, rl::mo_acquire))
                ;
            bool died = (w & STATES) == 0 && finish(w | DRAINING);
            for (int i = 0; i < 6 && !died; i++) {
                died = buried($).load(rl::mo_acquire) != 0;
                rl::yield(1, $);
            }
            if (!died && again == 0) { /* not in time: reactivate */
                w = word($).load(rl::mo_acquire);
                while ((w & STATES) == DRAINING &&
                       !word($).compare_exchange_weak(w, w & ~(unsigned)DRAINING, rl::mo_acq_rel, rl::mo_acquire))
                    ;
                if ((w & STATES) == DRAINING)
                    continue;
            }
            if (!died)
                return; /* this schedule ends with a lease out: nothing is unmapped */
            slot($).store(0, rl::mo_seq_cst);
            int first = fault == NO_GRACE ? 2 : 0;
            for (int r = first; r < 2; r++)
                while (reading[r]($).load(rl::mo_seq_cst))
                    rl::yield(1, $);
            VAR(record) = -1; /* free */
            VAR(page[0]) = -1;
            VAR(page[1]) = -1; /* unmap */
            return;
        }
    }

    void thread(unsigned i)
    {
        if (i < 2)
            user(i);
        else
            reclaimer();
    }
};

struct wake_suite : rl::test_suite<wake_suite, 2> {
    rl::atomic<unsigned> word, sleepers, returns;
    bool got;
    unsigned seen;

    void before()
    {
        word($) = 1;
        sleepers($) = 0;
        returns($) = 0;
        got = false;
    }

    void thread(unsigned i)
    {
        if (i == 0) {
            word($).fetch_and(~1u, GIVE);
            if (sleepers($).load(LOOK))
                returns($).fetch_add(1, rl::mo_seq_cst);
        } else {
            sleepers($).fetch_add(1, ANNOUNCE);
            seen = returns($).load(rl::mo_seq_cst);
            got = word($).load(RECHECK) == 0;
        }
    }

    void after() { RL_ASSERT(got || returns($).load(rl::mo_seq_cst) != seen); /* else it sleeps for ever */ }
};

static bool clean(unsigned long schedules)
{
    rl::test_params p, q;
    p.iteration_count = q.iteration_count = schedules;
    return rl::simulate<arena_suite>(p) && rl::simulate<wake_suite>(q);
}

int main(int argc, char **argv)
{
    unsigned long schedules = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000;
    int bad = 0;
    for (fault = NONE; fault < FAULTS; fault++) {
        bool ok = clean(fault ? 100000 : schedules) == (fault == NONE);
        printf("%s: fault %d %s\n", ok ? "right" : "WRONG", fault, fault ? "planted" : "(none)");
        bad |= !ok;
    }
    return bad;
}
