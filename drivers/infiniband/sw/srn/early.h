/* SPDX-License-Identifier: GPL-2.0-only */
/* What was heard before its turn, since a part of a READ's answer in front of it is missing: which
 * packets of answers were taken, and what is known of requests behind them, which nobody says a
 * second time. Pure.
 */
#ifndef SRN_EARLY_H
#define SRN_EARLY_H

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/gfp.h>
#include <linux/types.h>

#include "psn.h"

/* PSNs from the oldest that is not answered on. */
#define SRN_EARLY	1024

/* Owner of the turn only. */
struct srn_early {
	unsigned long *got;	/* a bit for each answer that was taken; NULL: none was yet */
	bool any;		/* since srn_early_reset() */
	bool reached_any;	/* everything up to @reached has reached the peer */
	bool named_any;		/* the peer misses @named */
	u32 reached;
	u32 named;
};

/** srn_early_reset() - nothing is in flight */
static inline void srn_early_reset(struct srn_early *early)
{
	if (early->any)
		bitmap_zero(early->got, SRN_EARLY);
	early->any = false;
	early->reached_any = false;
	early->named_any = false;
}

/** srn_early_reached() - everything up to @psn has reached the peer */
static inline void srn_early_reached(struct srn_early *early, u32 psn)
{
	if (!early->reached_any || srn_psn_diff(psn, early->reached) > 0)
		early->reached = psn;
	early->reached_any = true;
}

/** srn_early_named() - the peer misses @psn; the last one counts */
static inline void srn_early_named(struct srn_early *early, u32 psn)
{
	early->named_any = true;
	early->named = psn;
}

/** srn_early_fits() - whether @psn can be remembered while @una is the oldest not answered */
static inline bool srn_early_fits(u32 psn, u32 una)
{
	s32 ahead = srn_psn_diff(psn, una);

	return ahead > 0 && ahead < SRN_EARLY;
}

/**
 * srn_early_make_room() - before one is taken; most connections never lose an answer
 *
 * Any context. Return: false without memory: it can't be taken, and comes again.
 */
static inline bool srn_early_make_room(struct srn_early *early)
{
	if (!early->got)
		early->got = bitmap_zalloc(SRN_EARLY, GFP_ATOMIC | __GFP_NOWARN);
	return early->got;
}

/** srn_early_free() - none is taken any more */
static inline void srn_early_free(struct srn_early *early)
{
	bitmap_free(early->got);
	*early = (struct srn_early){};
}

/**
 * srn_early_add() - the answer with @psn, which fits, was taken; there is room
 *
 * Return: false if it had been.
 */
static inline bool srn_early_add(struct srn_early *early, u32 psn)
{
	early->any = true;
	return !__test_and_set_bit(psn % SRN_EARLY, early->got);
}

/** srn_early_holds() - whether one is here of which those in front of it are missing */
static inline bool srn_early_holds(const struct srn_early *early)
{
	return early->any && !bitmap_empty(early->got, SRN_EARLY);
}

/** srn_early_has() - whether it was; any was */
static inline bool srn_early_has(const struct srn_early *early, u32 psn)
{
	return test_bit(psn % SRN_EARLY, early->got);
}

/** srn_early_take() - whether the answer with @psn was taken early; forgets it */
static inline bool srn_early_take(struct srn_early *early, u32 psn)
{
	return early->any && __test_and_clear_bit(psn % SRN_EARLY, early->got);
}

#endif
