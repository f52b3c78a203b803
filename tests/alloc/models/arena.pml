/* The life of one arena as alloc/arena.c and alloc/reclaim.c have it: takers and givers work on the word inside read
 * sections; the reclaimer drains, changes its mind (reactivates) or not, and after death unlists, waits out a grace
 * period, unregisters, unmaps. 4 units; a lease is a run of 2.
 *
 * Without a flag: no error. Each flag plants one bug, and each must be found:
 *   BUG_GIVE_OUTSIDE   the last giver finishes the drain after it has left its read section
 *   BUG_NO_GRACE       unmap at once after death
 *   BUG_STATE_APART    the taker checks the state first and swaps only the bits
 *   BUG_TWO_FINISH     draining and empty -> dead by look and store instead of compare and swap
 *   BUG_REVIVE         reactivation by a plain store: it can hit a dead arena
 *   BUG_UNMAP_FIRST    unmap before unregister */
#ifndef W
#define W 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
mtype = { ACTIVE, DRAINING, DEAD };

mtype st = ACTIVE;
byte bits = 0;
bool listed = true, registered = true, mapped = true;
bool reading[W + 1];
byte deaths = 0, buried = 0, gone = 0;
byte owner[4]; /* ghost: who holds the unit */

/* Any access to the record: it must still be there. */
inline alive() { assert(mapped) }

/* Draining and empty -> dead; won = this caller did it. */
inline finish(won) {
	alive();
#ifdef BUG_TWO_FINISH
	d_step { won = (st == DRAINING && bits == 0) };
	if :: won -> alive(); d_step { st = DEAD; deaths++ } :: else -> skip fi
#else
	d_step { won = (st == DRAINING && bits == 0); if :: won -> st = DEAD; deaths++ :: else -> skip fi }
#endif
}

proctype user(byte me)
{
	byte round = 0, seen, m;
	mtype seen_st;
	bool took, won;
again:
	took = false; won = false; m = 0;
	reading[me] = true;
	if
	:: listed ->
		do
		:: alive(); d_step { seen = bits; seen_st = st };
		   if
		   :: seen_st != ACTIVE -> break
		   :: else -> skip
		   fi;
		   if
		   :: (seen & 3) == 0 -> m = 3
		   :: (seen & 3) != 0 && (seen & 12) == 0 -> m = 12
		   :: else -> break
		   fi;
		   alive();
#ifdef BUG_STATE_APART
		   d_step { took = (bits == seen); if :: took -> bits = bits | m :: else -> skip fi };
#else
		   d_step { took = (bits == seen && st == seen_st); if :: took -> bits = bits | m :: else -> skip fi };
#endif
		   if :: took -> break :: else -> skip fi
		od
	:: else -> skip
	fi;
	reading[me] = false;
	if
	:: took ->
		d_step {
			if :: m == 3 -> assert(!owner[0] && !owner[1]); owner[0] = me; owner[1] = me
			   :: else -> assert(!owner[2] && !owner[3]); owner[2] = me; owner[3] = me fi
		};
		assert(mapped && registered); /* filled, read by DMA */
		d_step {
			if :: m == 3 -> assert(owner[0] == me && owner[1] == me); owner[0] = 0; owner[1] = 0
			   :: else -> assert(owner[2] == me && owner[3] == me); owner[2] = 0; owner[3] = 0 fi
		};
		reading[me] = true;
		alive();
		d_step { bits = bits & ~m };
#ifdef BUG_GIVE_OUTSIDE
		reading[me] = false;
#endif
		finish(won);
		reading[me] = false;
		if :: won -> buried++ :: else -> skip fi
	:: else -> skip
	fi;
	round++;
	if :: round < ROUNDS -> goto again :: else -> skip fi
}

proctype reclaimer()
{
	bool won;
	byte r, tries = 0;
again:
	won = false;
	alive();
	d_step { if :: st == ACTIVE -> st = DRAINING :: else -> skip fi };
	finish(won);
	if :: won -> buried++ :: else -> skip fi;
	do
	:: buried > 0 -> break
	:: tries < 2 -> /* the leases did not end in time */
		tries++;
		alive();
#ifdef BUG_REVIVE
		if :: st != ACTIVE -> st = ACTIVE; goto again :: else -> skip fi
#else
		d_step { if :: st == DRAINING -> st = ACTIVE; won = true :: else -> won = false fi };
		if :: won -> goto again :: else -> (buried > 0) fi /* dead this moment: it is about to be handed over */
#endif
	od;
	listed = false;
#ifndef BUG_NO_GRACE
	r = 1;
	do
	:: r <= W -> (!reading[r]); r++
	:: else -> break
	od;
#endif
	assert(st == DEAD && bits == 0);
#ifdef BUG_UNMAP_FIRST
	assert(mapped); mapped = false; assert(!registered); registered = false;
#else
	registered = false;
	assert(!registered); mapped = false;
#endif
	gone++
}

init {
	byte i;
	atomic { i = 1; do :: i <= W -> run user(i); i++ :: else -> break od; run reclaimer() };
	(_nr_pr == 1);
	assert(deaths == 1 && buried == 1 && gone == 1 && st == DEAD && bits == 0)
}
