/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the posts of a program that streams are left until there are more of them: moderation,
 * as of interrupts. Decides by what it brought before, and by what the program posted though it was
 * told of nothing; knows neither clock nor queue.
 */
#ifndef SRN_GATHER_H
#define SRN_GATHER_H

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "limits.h"

/* How long posts may be left before it is looked whether more came, which may be left as long once more.
 * A program that finds nothing to poll ends it sooner.
 */
#define SRN_GATHER_NS		(50 * NSEC_PER_USEC)
/* So many posts more in one go are worth the alarm, and the call more. */
#define SRN_GATHER_WORTH	4
/* Who rings so often though he is told of nothing waits for none of what he posts, */
#define SRN_GATHER_ROW		16
/* nor does who has left so many completions unpolled. */
#define SRN_GATHER_CQES		8
/* What was longer ago, in jiffies, says nothing of who posts now. */
#define SRN_GATHER_OLD		max(HZ / 100, 1)
/* PSNs, of a window of so many, that are worth a doorbell of their own, and messages that are longer. */
#define SRN_GATHER_PSNS		(SRN_WINDOW / 2)
/* Doorbells that are served at once after it was not: at first, and at most. */
#define SRN_GATHER_PAUSE	64
#define SRN_GATHER_PAUSE_MAX	8192

/* Owner of the turn only; all zeros at first. Few bytes: struct srn_qp has no more. */
struct srn_gather {
	u8 on : 1;
	u8 late : 1;	/* the program did not end it: it waits for something, not for posts */
	u8 grew : 1;	/* enough came in the first SRN_GATHER_NS, and it goes on once more */
	u8 pays : 1;	/* it was worth it when it was tried last, not long ago */
	u8 row;		/* doorbells since the program was told of something, up to SRN_GATHER_ROW */
	u16 rang;	/* jiffies, at the last one, or when what was gathered was done */
	u16 pause;	/* doorbells to be served at once */
	u16 next_pause;	/* 0: SRN_GATHER_PAUSE */
	u32 from;	/* behind the WQEs that it rang for, or that were there when it was looked */
};

/** Written by the parameter "gather", and by tests; read in any context */
extern bool srn_gather_enabled;

/**
 * srn_gather_told() - something came that the program may have waited for before it posts more: a
 * completion, or a request of the peer
 */
static inline void srn_gather_told(struct srn_gather *g)
{
	g->row = 0;
}

/**
 * srn_gather_rang() - a doorbell rang
 * @now: jiffies
 *
 * Return: true if its program waits for nothing of what it posts: it rang SRN_GATHER_ROW times before, none of
 * them long before the next, though it was told of nothing meanwhile; or to leave its posts paid when that was
 * tried last, not long ago.
 */
static inline bool srn_gather_rang(struct srn_gather *g, u16 now)
{
	if ((u16)(now - g->rang) > SRN_GATHER_OLD) {
		g->pays = false;
		g->row = 0;
	}
	g->rang = now;
	if (g->pays || g->row >= SRN_GATHER_ROW)
		return true;
	g->row++;
	return false;
}

/**
 * srn_gather_pauses() - a doorbell rang, and is one of those that are served at once
 *
 * Before all that is asked of whether it may be put off, which costs more than this.
 */
static inline bool srn_gather_pauses(struct srn_gather *g)
{
	if (!g->pause)
		return false;
	g->pause--;
	return true;
}

/**
 * srn_gather_begin() - a doorbell rang, not one of srn_gather_pauses(), for the WQEs from @from up to @tail, exclusive
 * @psns: PSNs that each of them may take, of a window of SRN_WINDOW
 *
 * Return: true if what was posted is left until srn_gather_end(), for which the caller sets an alarm
 * of SRN_GATHER_NS. Not twice without that in between: who rings a second time is not put off. Nor if
 * it is SRN_ROUND_BUDGET (64) or more, which is all that a round sends: what is posted meanwhile would
 * leave with the next one, as it does where nobody waits. Nor if they take SRN_GATHER_PSNS or more, of
 * which each takes so long to send that its doorbell is nothing beside it.
 */
bool srn_gather_begin(struct srn_gather *g, u32 from, u32 tail, u32 psns);

/**
 * srn_gather_look() - SRN_GATHER_NS have passed, and the WQEs before @tail are posted
 *
 * Return: true if the program was posting, and goes on once: the caller sets the alarm again. False: it
 * is to end, and if it posted little lately it waits for something, however many came before.
 */
bool srn_gather_look(struct srn_gather *g, u32 tail);

/**
 * srn_gather_end() - the WQEs before @to were taken; without srn_gather_begin() nothing
 * @now: jiffies: to send much takes long, and then what was before that is not long ago
 */
void srn_gather_end(struct srn_gather *g, u32 to, u16 now);

#endif
