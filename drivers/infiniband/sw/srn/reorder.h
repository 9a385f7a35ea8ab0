/* SPDX-License-Identifier: GPL-2.0-only */
/* For how long a packet that was overtaken is not taken for lost (RFC 8985, 6.2.4): not at all,
 * until what was sent again turns out to have come twice, or a gap closes by itself. Pure.
 */
#ifndef SRN_REORDER_H
#define SRN_REORDER_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Quarters of a round trip, at most; it may be that of an idle path, much shorter than a queue. */
#define SRN_REORDER_STEPS	8
#define SRN_REORDER_RTT_MIN_NS	(100 * NSEC_PER_USEC)
/* Gaps in a row that were losses, after which a path is taken for one that keeps the order. */
#define SRN_REORDER_CALM	16

struct srn_reorder {
	u8 steps;
	u8 calm;
	u32 twice;		/* packets that the peer has seen twice */
	u32 resent;		/* since they were last seen twice, PSNs that were taken for lost */
};

/** srn_reorder_ns() - how long, where answers take @srtt_ns */
static inline u64 srn_reorder_ns(const struct srn_reorder *o, u64 srtt_ns)
{
	return o->steps * max_t(u64, srtt_ns, SRN_REORDER_RTT_MIN_NS) / 4;
}

/** srn_reorder_seen() - a gap closed, and nothing was sent again for it */
static inline void srn_reorder_seen(struct srn_reorder *o)
{
	o->steps = max_t(u8, o->steps, 1);
	o->calm = 0;
}

/**
 * srn_reorder_twice() - the peer has seen @twice packets twice, of a connection
 *
 * Return: how many more than it had said. A count that goes back is of a packet that is late.
 */
static inline u32 srn_reorder_twice(struct srn_reorder *o, u32 twice)
{
	u32 more = twice - o->twice;

	if ((s32)more <= 0)
		return 0;
	o->twice = twice;
	return more;
}

/** srn_reorder_vain() - packets were sent again for nothing */
static inline void srn_reorder_vain(struct srn_reorder *o)
{
	o->steps = min_t(u8, o->steps + 1, SRN_REORDER_STEPS);
	o->calm = 0;
}

/** srn_reorder_lost() - a gap closed by what was sent again, and by nothing else */
static inline void srn_reorder_lost(struct srn_reorder *o)
{
	if (o->steps && ++o->calm >= SRN_REORDER_CALM) {
		o->steps = 0;
		o->calm = 0;
	}
}

#endif
