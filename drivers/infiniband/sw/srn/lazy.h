/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a request that nobody waits for, and behind which nothing is posted, asks for no ACK: one of many will,
 * and if that does not come, whoever finds silence. Decides by what it brought before; knows neither window nor
 * queue.
 */
#ifndef SRN_LAZY_H
#define SRN_LAZY_H

#include <linux/minmax.h>
#include <linux/types.h>

/* PSNs of which one ACK tells. Who sends a request for each answer of his own, in some tens of us, has sent as many
 * before silence is noticed (rtt.h).
 */
#define SRN_LAZY_PSNS		16
/* So many ACKs less are worth that silence is asked about: a packet that goes twice, its ACK, and an alarm. */
#define SRN_LAZY_WORTH		4
/* Requests that ask, each, after it was not: at first, and twice as many so many times. */
#define SRN_LAZY_PAUSE		64
#define SRN_LAZY_DOUBLES	7

/* Owner of the turn only; all zeros at first. */
struct srn_lazy {
	u32 end;	/* behind the last one that did not ask */
	u16 pause;	/* requests that are to ask */
	u8 doubles;	/* of the next pause */
	u8 skipped : 7;	/* requests that did not ask since one did */
	u8 awaited : 1;	/* something is done behind them, and completes with their ACK */
};

/** srn_lazy_spares() - whether a request that need not ask does not */
static inline bool srn_lazy_spares(const struct srn_lazy *l)
{
	return !l->pause;
}

/** srn_lazy_spared() - one did not; @end: the PSN behind it */
static inline void srn_lazy_spared(struct srn_lazy *l, u32 end)
{
	l->skipped++;
	l->end = end;
}

/** srn_lazy_paused() - one did all the same */
static inline void srn_lazy_paused(struct srn_lazy *l)
{
	l->pause--;
}

/** srn_lazy_rests() - whether what left last, before @end, was not to ask, and nothing waits for that */
static inline bool srn_lazy_rests(const struct srn_lazy *l, u32 end)
{
	return l->end == end && !l->awaited;
}

/** srn_lazy_await() - what completes behind them was done */
static inline void srn_lazy_await(struct srn_lazy *l)
{
	l->awaited = true;
}

/** srn_lazy_asked() - a request asks, for all before it */
static inline void srn_lazy_asked(struct srn_lazy *l)
{
	if (l->skipped >= SRN_LAZY_WORTH)
		l->doubles = 0;
	l->skipped = 0;
	l->awaited = false;
}

/** srn_lazy_silent() - it is asked what became of the last one, which did not */
static inline void srn_lazy_silent(struct srn_lazy *l)
{
	if (l->skipped < SRN_LAZY_WORTH) {
		l->pause = SRN_LAZY_PAUSE << l->doubles;
		l->doubles = min(l->doubles + 1, SRN_LAZY_DOUBLES);
	}
	l->skipped = 0;
}

#endif
