/* SPDX-License-Identifier: GPL-2.0-only */
/* What a peer said that it has beyond the oldest PSN that it misses, and what follows from that:
 * which PSNs are lost, and of what was sent again, what was lost again. In the manner of RACK (RFC
 * 8985): a packet is lost if one that left later has come, and that has been known for a while.
 * Pure.
 */
#ifndef SRN_SCORE_H
#define SRN_SCORE_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "psns.h"

#define SRN_SCORE_MARKS	8
/* Runs that were sent again and not heard of; and for holes that are new. Of a long path with 2300 packets
 * in flight that loses one in 20, 115 are lost in each round trip.
 */
#define SRN_SCORE_TRIES	256
#define SRN_SCORE_NEW	224
/* Beyond those for new holes: pieces of what is lost again. */
#define SRN_SCORE_PIECES	(SRN_SCORE_TRIES - SRN_SCORE_NEW)
/* What may go again at once though the window is full; and where nothing comes that makes room. */
#define SRN_SCORE_OWED	32
#define SRN_SCORE_EASE	2

/* It was known at @ns that the peer has something in front of @psn. */
struct srn_score_mark {
	u32 psn;
	u64 ns;
};

/* A run that went again. */
struct srn_score_try {
	u32 psn;
	u32 len;
	u32 fresh;		/* went next as new */
	u32 first;		/* when its PSNs went again first, in 1024 ns; no more than an hour ago */
	u64 ns;
};

/* una <= next, ripe <= high. */
struct srn_score {
	struct srn_psns has;	/* PSNs that the peer has, from una on */
	u32 una;
	u32 high;		/* behind the highest of them */
	u32 ripe;		/* what is missing in front of it is lost; behind it, marks[] say when */
	u32 next;		/* what was missing in front of it went again */
	u32 out;		/* PSNs that went again and that nothing is known of */
	u32 owed;		/* PSNs that came, and for which none went yet */
	bool blocked;		/* what was picked found no room */
	u64 eased_ns;		/* when it did first, or was last let go without; 0: never */
	bool resent;		/* anything went again since srn_score_start() */
	bool vain;		/* and what came of it had come by itself: whose board it is sets it */
	u32 most;		/* runs not heard of with which no new hole goes, and with SRN_SCORE_PIECES
				 * more no other; whose board it is may lower it
				 */
	u32 num_marks;
	struct srn_score_mark marks[SRN_SCORE_MARKS];
	bool watches;
	u32 watched;		/* a PSN that went again more than once, */
	u32 watched_first;	/* and when it did first, as above */
	u32 first_try;
	u32 num_tries;
	u32 num_again;		/* of them, the oldest, are lost again: they are not out any more */
	struct srn_score_try tries[SRN_SCORE_TRIES];	/* in the order in which they left */
};

/* When something is lost, ns. */
struct srn_score_wait {
	u64 reorder;		/* after a later one was heard of */
	u64 again;		/* after it was sent again, if nothing later was heard of */
	u64 soon;		/* before that no answer to what was sent can be here */
};

/** srn_score_start() - nothing is known of @una and what follows; all of @s is set that is looked at */
void srn_score_start(struct srn_score *s, u32 una);

/**
 * srn_score_heard() - the peer has all before @expected, and the PSNs behind it whose bits are set
 * @expected: una or behind it
 * @map: its first bit is the PSN behind @expected
 * @num: of its bits, the last of which is less than SRN_PSNS behind una
 *
 * The time that it takes does not depend on what @map says, but on what went again: of up to SRN_SCORE_TRIES
 * runs, which together have no more than SRN_PSNS, what is missing is counted.
 * Return: how many of them are news.
 */
u32 srn_score_heard(struct srn_score *s, u32 expected, const unsigned long *map, u32 num,
		    const struct srn_score_wait *wait, u64 now);

/**
 * srn_score_acked() - everything before @una was acknowledged
 *
 * Return: true if a packet among it was overtaken and came by itself.
 */
bool srn_score_acked(struct srn_score *s, u32 una);

/** srn_score_came() - @psn, less than SRN_PSNS behind una, which is not before it, is here */
void srn_score_came(struct srn_score *s, u32 psn, const struct srn_score_wait *wait, u64 now);

/** srn_score_reached() - what is in front of @end, likewise, and is not here was overtaken */
void srn_score_reached(struct srn_score *s, u32 end, const struct srn_score_wait *wait, u64 now);

/** srn_score_skip() - @len PSNs from @psn on, of what srn_score_pick() gave, are not missed */
void srn_score_skip(struct srn_score *s, u32 psn, u32 len);

/** srn_score_is_over() - nothing is missing in front of anything */
static inline bool srn_score_is_over(const struct srn_score *s)
{
	return s->una == s->high;
}

/**
 * srn_score_pick() - the next run that is lost: @psn and the length, which is returned, or 0
 *
 * What went again and is lost is not counted as out from here on.
 */
u32 srn_score_pick(struct srn_score *s, const struct srn_score_wait *wait, u64 now, u32 *psn);

/**
 * srn_score_may_go() - whether what was picked goes, the window having @room for one or not
 * @tight: what came makes no room
 *
 * Where it has none, one that came makes room for one. And a few go in any case, each time that
 * answers to those before could be here: what was let go for all that came may be lost, too.
 */
bool srn_score_may_go(struct srn_score *s, const struct srn_score_wait *wait, u64 now, bool room,
		      bool tight);

/** srn_score_used() - @len PSNs went, again or as new: in place of as many that came */
static inline void srn_score_used(struct srn_score *s, u32 len)
{
	s->owed -= min(s->owed, len);
}

/** srn_score_sent() - of what was picked @len PSNs went again; @fresh goes next as new */
void srn_score_sent(struct srn_score *s, u32 psn, u32 len, u32 fresh, u64 now);

/** srn_score_tried_ns() - when what was picked, from @psn on, went again; 0: it went but once */
u64 srn_score_tried_ns(const struct srn_score *s, u32 psn);

/**
 * srn_score_took() - whether a PSN has come that went again more than once
 *
 * Seen of one at a time. Nobody knows which copy it was. Return: how long ago it went again first, ns, up to 1 us more;
 * or 0.
 */
u64 srn_score_took(struct srn_score *s, u64 now);

/** srn_score_due() - nothing goes now: in how many ns that may change by itself; U64_MAX: never */
u64 srn_score_due(const struct srn_score *s, const struct srn_score_wait *wait, u64 now);

/** srn_score_out() - PSNs on their way, @nxt being the one that goes next as new */
static inline u32 srn_score_out(const struct srn_score *s, u32 nxt)
{
	return srn_psn_diff(nxt, s->high) + s->out;
}

#endif
