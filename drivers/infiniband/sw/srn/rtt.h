/* SPDX-License-Identifier: GPL-2.0-only */
/* How long answers take on a connection (RFC 6298), and from that, when it is time to ask
 * (RFC 8985, 7.2). Pure.
 */
#ifndef SRN_RTT_H
#define SRN_RTT_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Nothing is known yet but the timeout that was asked for: a quarter of it, within these. */
#define SRN_RTT_UNKNOWN_MIN_NS	(10 * NSEC_PER_MSEC)
#define SRN_RTT_UNKNOWN_MAX_NS	(250 * NSEC_PER_MSEC)
/* A peer's CPU may be elsewhere for this long. */
#define SRN_RTT_SLACK_NS	(1 * NSEC_PER_MSEC)
/* A sample in so many answers that are asked for is enough to follow a path. */
#define SRN_RTT_EVERY		32

struct srn_rtt {
	u64 srtt_ns;		/* 0: unknown */
	u64 var_ns;
	u32 wait;		/* answers to be asked for before the next sample */
};

/** srn_rtt_sample() - an answer, to a packet that was sent once or by a first probe too, took @ns */
static inline void srn_rtt_sample(struct srn_rtt *rtt, u64 ns)
{
	u64 off = ns > rtt->srtt_ns ? ns - rtt->srtt_ns : rtt->srtt_ns - ns;

	ns = max_t(u64, ns, 1);
	if (!rtt->srtt_ns) {
		rtt->srtt_ns = ns;
		rtt->var_ns = ns / 2;
		return;
	}
	rtt->var_ns = (3 * rtt->var_ns + off) / 4;
	rtt->srtt_ns = (7 * rtt->srtt_ns + ns) / 8;
}

/** srn_rtt_probe_ns() - without an answer for so long, ask; a timeout comes after @timeout_ns */
static inline u64 srn_rtt_probe_ns(const struct srn_rtt *rtt, u64 timeout_ns)
{
	if (!rtt->srtt_ns)
		return clamp_t(u64, timeout_ns / 4, SRN_RTT_UNKNOWN_MIN_NS,
			       SRN_RTT_UNKNOWN_MAX_NS);
	return 2 * rtt->srtt_ns + max_t(u64, 4 * rtt->var_ns, SRN_RTT_SLACK_NS);
}

/** srn_rtt_again_ns() - what was sent again, and not heard of for so long, is lost again */
static inline u64 srn_rtt_again_ns(const struct srn_rtt *rtt)
{
	/* While nothing was timed the probes find it. */
	if (!rtt->srtt_ns)
		return NSEC_PER_SEC;
	return rtt->srtt_ns + max3(4 * rtt->var_ns, rtt->srtt_ns / 4, (u64)SRN_RTT_SLACK_NS);
}

/** srn_rtt_wants() - whether the answer to the packet that leaves is to be a sample */
static inline bool srn_rtt_wants(struct srn_rtt *rtt)
{
	if (rtt->srtt_ns && rtt->wait) {
		rtt->wait--;
		return false;
	}
	rtt->wait = SRN_RTT_EVERY - 1;
	return true;
}

#endif
