/* SPDX-License-Identifier: GPL-2.0-only */
/* The least of what was measured lately: over one span of time at least, and two at most. What is
 * older says nothing of the path that is there now. Pure.
 */
#ifndef SRN_LATELY_H
#define SRN_LATELY_H

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#define SRN_LATELY_NS	(8 * (u64)NSEC_PER_SEC)

struct srn_lately {
	u64 since_ns;		/* least_ns[0] is of what came since then, */
	u64 least_ns[2];	/* and [1] of the span before; U64_MAX: nothing came */
};

/** srn_lately_start() - nothing is known, at @now_ns */
static inline void srn_lately_start(struct srn_lately *l, u64 now_ns)
{
	*l = (struct srn_lately){ .since_ns = now_ns, .least_ns = { U64_MAX, U64_MAX } };
}

/** srn_lately_least() - @ns was measured at @now_ns. Return: the least lately */
static inline u64 srn_lately_least(struct srn_lately *l, u64 ns, u64 now_ns)
{
	/* Of two CPUs the one that was later may be here first. */
	u64 age = now_ns > l->since_ns ? now_ns - l->since_ns : 0, last = l->least_ns[0];

	if (age >= SRN_LATELY_NS) {
		srn_lately_start(l, now_ns);
		if (age < 2 * SRN_LATELY_NS) {
			l->since_ns = now_ns - age + SRN_LATELY_NS;
			l->least_ns[1] = last;
		}
	}
	l->least_ns[0] = min(l->least_ns[0], ns);
	return min(l->least_ns[0], l->least_ns[1]);
}

#endif
