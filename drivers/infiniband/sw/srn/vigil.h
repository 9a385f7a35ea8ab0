/* SPDX-License-Identifier: GPL-2.0-only */
/* How long a poller looks in vain before it sleeps. That is halved each time it slept long, and
 * doubled each time it was woken soon, when to look on would have cost less. Knows neither clock
 * nor thread.
 */
#ifndef SRN_VIGIL_H
#define SRN_VIGIL_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* What counts of a look in which others had the CPU, too: how much of it was theirs is not known. */
#define SRN_VIGIL_LOOK_NS	(20 * NSEC_PER_USEC)
/* The shortest vigil is this part of the longest. */
#define SRN_VIGIL_LEAST		16

/* Of the thread only. */
struct srn_vigil {
	u64 last_ns;	/* when it looked last, or fell asleep */
	u32 vain_ns;	/* spent on looks that found nothing since one did */
	u32 limit_ns;	/* it sleeps behind so much */
};

static inline u32 srn_vigil_least(u32 most_ns)
{
	return most_ns / SRN_VIGIL_LEAST;
}

/** srn_vigil_begin() - it looks from @now on, and, at first, for @most_ns in vain */
static inline void srn_vigil_begin(struct srn_vigil *v, u64 now, u32 most_ns)
{
	*v = (struct srn_vigil){ .last_ns = now, .limit_ns = most_ns };
}

/** srn_vigil_found() - a look found something */
static inline void srn_vigil_found(struct srn_vigil *v, u64 now)
{
	v->last_ns = now;
	v->vain_ns = 0;
}

/**
 * srn_vigil_is_over() - a look found nothing
 * @shared: others had the CPU, too, since the last look
 * @most_ns: the longest that it may look in vain; may change at any time
 *
 * Return: true if it is time to sleep.
 */
static inline bool srn_vigil_is_over(struct srn_vigil *v, u64 now, bool shared, u32 most_ns)
{
	u64 look = now - v->last_ns;

	if (shared)
		look = min(look, SRN_VIGIL_LOOK_NS);
	/* Not beyond what it is compared to: it may go on though it is over. */
	v->vain_ns = min(v->vain_ns + look, (u64)most_ns);
	v->last_ns = now;
	return v->vain_ns >= min(v->limit_ns, most_ns);
}

/** srn_vigil_woken() - it slept since the last look; to look for @most_ns would have been the most */
static inline void srn_vigil_woken(struct srn_vigil *v, u64 now, u32 most_ns)
{
	u64 limit = now - v->last_ns <= most_ns ? 2ULL * v->limit_ns : v->limit_ns / 2;

	v->limit_ns = clamp(limit, (u64)srn_vigil_least(most_ns), (u64)most_ns);
	srn_vigil_found(v, now);
}

#endif
