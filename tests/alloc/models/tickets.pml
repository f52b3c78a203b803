/* Waiting in line as alloc/queue.c and node_take have it. 3 units; one big request needs 2 adjacent ones and waits; small
 * ones (1 unit) come without end and may pass it a bounded number of times, outside the window it will get first.
 *
 * Claim (weak fairness): the big one is served. With FINITE the small ones end, and nobody may be bear asleep.
 *   BUG_NO_BOUND     smaller requests may pass as often as they like, anywhere
 *   BUG_LATE_ANNOUNCE (with FINITE) the waiter announces itself after it has looked: a return in between wakes nobody
 *   BUG_LATE_SEQ     (with FINITE) the waiter reads the return sequence after it has looked
 *   BUG_WAKE_FIRST   (with FINITE) the giver looks for waiters before it clears its bits */
#define BYPASSES 2
byte bits = 0;
bool front = false; /* the big one waits */
byte bear = 0;      /* bypasses it will still bear */
byte sleepers = 0;
bool moved = false; /* the return sequence differs from what the waiter saw (32 bits: it never wraps back in time) */
bool asleep = false, served = false;

inline wake() { atomic { moved = true; asleep = false } }

proctype small()
{
	byte m, avoid, seen, rounds = 0;
	bool passing, woke;
again:
	m = 0; avoid = 0; passing = false;
#ifndef BUG_NO_BOUND
	if
	:: front ->
		atomic { if :: !front -> passing = false
			    :: front && bear > 0 -> bear--; passing = true
			    :: else -> goto out fi };
		if
		:: passing -> /* the window with the fewest leased units */
			d_step { seen = bits;
			if :: ((seen & 1) + (seen >> 1 & 1)) <= ((seen >> 1 & 1) + (seen >> 2 & 1)) -> avoid = 3
			   :: else -> avoid = 6 fi }
		:: else -> skip
		fi
	:: else -> skip
	fi;
#endif
	atomic {
		seen = bits | avoid;
		if
		:: !(seen & 1) -> m = 1
		:: !(seen & 2) -> m = 2
		:: !(seen & 4) -> m = 4
		:: else -> skip
		fi;
		bits = bits | m
	};
	if
	:: m == 0 ->
		if :: passing -> atomic { if :: front -> bear++ :: else -> skip fi } :: else -> skip fi
	:: else ->
#ifdef BUG_WAKE_FIRST
		woke = (sleepers > 0);
		bits = bits & ~m;
#else
		bits = bits & ~m;
		woke = (sleepers > 0);
#endif
		if :: woke -> wake() :: else -> skip fi
	fi;
out:
#ifdef FINITE
	rounds++;
	if :: rounds < 2 -> goto again :: else -> skip fi
#else
	goto again
#endif
}

proctype big()
{
	bool got = false;
#ifndef BUG_LATE_ANNOUNCE
	sleepers++;
#endif
	atomic { front = true; bear = BYPASSES };
	do
	::
#ifndef BUG_LATE_SEQ
	   moved = false;
#endif
	   atomic {
		if
		:: (bits & 3) == 0 -> bits = bits | 3; got = true
		:: (bits & 3) != 0 && (bits & 6) == 0 -> bits = bits | 6; got = true
		:: else -> skip
		fi
	   };
	   if :: got -> break :: else -> skip fi;
#ifdef BUG_LATE_SEQ
	   moved = false;
#endif
#ifdef BUG_LATE_ANNOUNCE
	   if :: sleepers == 0 -> sleepers++ :: else -> skip fi;
#endif
	   atomic { if :: !moved -> asleep = true :: else -> skip fi }; /* futex */
	   (!asleep)
	od;
	atomic { front = false; bear = 0 };
	served = true
}

init { atomic { run small(); run small(); run big() } }

#ifndef FINITE
ltl comes { <> served }
#endif
