/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the posts of a program that streams are left until there are more of them: moderation,
 * as of interrupts. Decides by what it brought before; knows neither clock nor queue.
 */
#ifndef SRN_GATHER_H
#define SRN_GATHER_H

#include <linux/time64.h>
#include <linux/types.h>

/* How long a post may be left. A program that finds nothing to poll ends it sooner. */
#define SRN_GATHER_NS		(50 * NSEC_PER_USEC)
/* So many posts more in one go are worth the alarm, and the call more. */
#define SRN_GATHER_WORTH	4
/* Doorbells that are served at once after it was not: at first, and at most. */
#define SRN_GATHER_PAUSE	64
#define SRN_GATHER_PAUSE_MAX	8192

/* Owner of the turn only; all zeros at first. */
struct srn_gather {
	bool on;
	bool late;	/* the program did not end it: it waits for something, not for posts */
	u32 from;	/* behind the WQEs that it rang for */
	u16 pause;	/* doorbells to be served at once */
	u16 next_pause;	/* 0: SRN_GATHER_PAUSE */
};

/** Written by the parameter "gather", and by tests; read in any context */
extern bool srn_gather_enabled;

/**
 * srn_gather_begin() - a doorbell rang, for the WQEs from @from up to @tail, exclusive
 *
 * Return: true if what was posted is left until srn_gather_end(), for which the caller sets an alarm
 * of SRN_GATHER_NS. Not twice without that in between: who rings a second time is not put off. Nor if
 * it is SRN_ROUND_BUDGET (64) or more, which is all that a round sends: what is posted meanwhile would
 * leave with the next one, as it does where nobody waits.
 */
bool srn_gather_begin(struct srn_gather *g, u32 from, u32 tail);

/** srn_gather_is_late() - SRN_GATHER_NS have passed: it did not pay, however many came */
static inline void srn_gather_is_late(struct srn_gather *g)
{
	g->late = true;
}

/** srn_gather_end() - the WQEs before @to were taken; without srn_gather_begin() nothing */
void srn_gather_end(struct srn_gather *g, u32 to);

#endif
