/* SPDX-License-Identifier: GPL-2.0-only */
/* On a very long path what is out, if it is much, is spread over the time that its answers take: what leaves at once is
 * lost where a queue is short, or a policer counts, and that says nothing of how much may be out. A short path needs none
 * of this: what fills it fits into its queues. Pure; times are ktime, and a path is as long as answers take, which are
 * known.
 */
#ifndef SRN_SPREAD_H
#define SRN_SPREAD_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "window.h"

/* So many leave at once, or what goes in so long, if that is fewer; and two. */
#define SRN_SPREAD_RUN		8u
#define SRN_SPREAD_RUN_NS	(1 * NSEC_PER_MSEC)
/* This part of what fills a short path is no burst: it goes as it comes. */
#define SRN_SPREAD_PART		8
/* An alarm that is late by more is not made up for. But who may have no more out than fills a short path, and had
 * nothing to send, sends as many at once as each connection may begin with.
 */
#define SRN_SPREAD_LATE_NS	(1 * NSEC_PER_MSEC)
/* Time in a word: what is further away than half of that, two minutes, is taken for what is to come, and waits once. */
#define SRN_SPREAD_TICK_SHIFT	6

/** srn_spread_is_on() - whether anything may have to wait: what is no burst does not; of one bit where none may */
static inline bool srn_spread_is_on(const struct srn_window *w)
{
	return srn_window_is_very_long(w) && w->cwnd > w->full / SRN_SPREAD_PART;
}

/**
 * srn_spread_gap() - from one PSN to the next, where it is on and answers take @srtt_ns: ticks
 *
 * A little less than the window says, so that it is that which says how much is out; half of it while it doubles.
 */
static inline u32 srn_spread_gap(const struct srn_window *w, u64 srtt_ns)
{
	u32 ticks = min_t(u64, srtt_ns, NSEC_PER_SEC) >> SRN_SPREAD_TICK_SHIFT;
	u32 num = w->cwnd < w->ssthresh ? 2 * w->cwnd : w->cwnd + w->cwnd / 8;

	return max(ticks / num, 1u);
}

/** srn_spread_run() - how many leave at once, by that gap */
static inline u32 srn_spread_run(u32 gap)
{
	return clamp_t(u32, (SRN_SPREAD_RUN_NS >> SRN_SPREAD_TICK_SHIFT) / gap, 2, SRN_SPREAD_RUN);
}

/** srn_spread_ask() - how many PSNs may go at @now_ns, where it is on */
static inline u32 srn_spread_ask(struct srn_window *w, u64 srtt_ns, u64 now_ns)
{
	u32 gap = srn_spread_gap(w, srtt_ns), run = srn_spread_run(gap) * gap;
	s32 most = run + (SRN_SPREAD_LATE_NS >> SRN_SPREAD_TICK_SHIFT);
	u32 now = now_ns >> SRN_SPREAD_TICK_SHIFT;
	s32 ahead = w->spread_at - now;

	if (w->cwnd < w->full)
		most = max_t(u32, most, SRN_WINDOW_FEW * gap);
	/* The gap may have become less, and there may have been nothing to go. */
	ahead = clamp_t(s32, ahead, -most, run);
	w->spread_at = now + ahead;
	return ahead > 0 ? 0 : -ahead / gap + 1;
}

/** srn_spread_sent() - @num PSNs went, where it is on */
static inline void srn_spread_sent(struct srn_window *w, u64 srtt_ns, u32 num)
{
	w->spread_at += num * srn_spread_gap(w, srtt_ns);
}

/** srn_spread_ends() - whether after @num more PSNs, where it is on, the next has to wait */
static inline bool srn_spread_ends(const struct srn_window *w, u64 srtt_ns, u64 now_ns, u32 num)
{
	u32 now = now_ns >> SRN_SPREAD_TICK_SHIFT;

	return (s32)(w->spread_at + num * srn_spread_gap(w, srtt_ns) - now) > 0;
}

/** srn_spread_wait() - after srn_spread_ask() gave none: in how many ns, from @now_ns on, a run may go */
static inline u64 srn_spread_wait(const struct srn_window *w, u64 srtt_ns, u64 now_ns)
{
	u32 gap = srn_spread_gap(w, srtt_ns), now = now_ns >> SRN_SPREAD_TICK_SHIFT;
	s32 ahead = w->spread_at + (srn_spread_run(gap) - 1) * gap - now;

	return (u64)max(ahead, 0) << SRN_SPREAD_TICK_SHIFT;
}

#endif
