/* SPDX-License-Identifier: GPL-2.0-only */
/* Moderation of a CQ's events: several completions make one, when there are enough of them, or
 * when the first has waited for long enough. Pure arithmetic: completions and times in, events out.
 */
#ifndef SRN_MODERATION_H
#define SRN_MODERATION_H

#include <linux/types.h>

/* All 0: off. */
struct srn_moderation {
	u32 count;		/* completions that make an event; 0: each does, it is off */
	u32 period_ns;		/* how long the first of them waits at most */
	u32 untold;		/* completions that wait */
	u64 due_ns;		/* when these are told of at the latest, if there are some */
};

/**
 * srn_moderation_set() - what a program wants; of at most one completion, or of no time: off
 *
 * Those that wait go on waiting, for as long as was said when the first of them came.
 *
 * Return: -EINVAL beyond what the device promises, and all is as before.
 */
int srn_moderation_set(struct srn_moderation *m, u16 count, u16 period_us);

/** srn_moderation_is_on() - whether srn_moderation_add() is to be asked before an event is raised */
static inline bool srn_moderation_is_on(const struct srn_moderation *m)
{
	return m->count;
}

/**
 * srn_moderation_add() - @num completions have come that would make an event, were it off
 * @most: so many do not wait, whatever the program wants: they take the room of others
 * @now_ns: ktime_get_ns()
 *
 * Return: true if all that wait are to be told of now; none waits then. Else they are to be at
 * due_ns, if not before.
 */
bool srn_moderation_add(struct srn_moderation *m, u32 num, u32 most, u64 now_ns);

/** srn_moderation_waits() - whether there are completions that have not been told of */
static inline bool srn_moderation_waits(const struct srn_moderation *m)
{
	return m->untold;
}

/** srn_moderation_is_due() - whether some wait that are to be told of by now */
static inline bool srn_moderation_is_due(const struct srn_moderation *m, u64 now_ns)
{
	return m->untold && now_ns >= m->due_ns;
}

/** srn_moderation_take() - whether some wait; who asks tells of them, and none waits then */
static inline bool srn_moderation_take(struct srn_moderation *m)
{
	bool waited = srn_moderation_waits(m);

	m->untold = 0;
	return waited;
}

#endif
