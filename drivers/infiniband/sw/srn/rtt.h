/* SPDX-License-Identifier: GPL-2.0-only */
/* How long answers take on a connection (RFC 6298), and from that, when it is time to ask
 * (RFC 8985, 7.2), and how long to wait in all. Pure.
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
/* What a probe waits for beside two round trips: it takes another one, and the ends their time, and all of that
 * is to be three and a millisecond.
 */
#define SRN_RTT_PROBE_SLACK_NS	(SRN_RTT_SLACK_NS * 3 / 4)
/* A sample in so many answers that are asked for is enough to follow a path. */
#define SRN_RTT_EVERY		32
/* No path is taken to be longer than this, or than as many local ACK timeouts, before an answer was timed. */
#define SRN_RTT_BOUND_MAX_NS	NSEC_PER_SEC
#define SRN_RTT_BOUND_TIMEOUTS	4

struct srn_rtt {
	u64 srtt_ns;		/* 0: unknown */
	u64 var_ns;
	u32 bound_ns;		/* no answer takes longer than this, by the last one since the last sample
				 * that was to a packet which went more than once; 0: there was none
				 */
	u16 wait;		/* answers to be asked for before the next sample */
	bool doubt;		/* one was, and is not believed yet */
	bool vain;		/* since the last sample, what went again had come: perhaps it was not waited for long enough */
};

/** srn_rtt_sample() - an answer, to a packet that was sent once or by a first probe too, took @ns */
static inline void srn_rtt_sample(struct srn_rtt *rtt, u64 ns)
{
	u64 off = ns > rtt->srtt_ns ? ns - rtt->srtt_ns : rtt->srtt_ns - ns;

	ns = max_t(u64, ns, 1);
	rtt->bound_ns = 0;
	rtt->doubt = false;
	rtt->vain = false;
	if (!rtt->srtt_ns) {
		rtt->srtt_ns = ns;
		rtt->var_ns = ns / 2;
		return;
	}
	rtt->var_ns = (3 * rtt->var_ns + off) / 4;
	rtt->srtt_ns = (7 * rtt->srtt_ns + ns) / 8;
}

/* Up to four timeouts. */
static inline void srn_rtt_believe(struct srn_rtt *rtt, u64 ns, u64 timeout_ns)
{
	u64 most = SRN_RTT_BOUND_MAX_NS;

	if (timeout_ns)
		most = min_t(u64, most, SRN_RTT_BOUND_TIMEOUTS * timeout_ns);
	rtt->bound_ns = clamp_t(u64, ns, 1, most);
}

/**
 * srn_rtt_bound() - an answer to a packet that went again in silence came @ns after it went first
 * @timeout_ns: the local ACK timeout that was asked for; 0: none
 *
 * Nobody knows which of them was answered, so it is no sample (Karn). But it took no longer than that,
 * and a path that has become longer than one waits is never sampled else: until there is a sample,
 * waits are as if it had been one, or as long as they were, if that is longer (RFC 6298, 5.5 - 5.7). Where
 * the path is known it may have been gone for a while, and not be longer: that is seen the second time in a row.
 */
static inline void srn_rtt_bound(struct srn_rtt *rtt, u64 ns, u64 timeout_ns)
{
	if (rtt->srtt_ns && !rtt->doubt)
		rtt->doubt = true;
	else
		srn_rtt_believe(rtt, ns, timeout_ns);
}

/** srn_rtt_vain() - the peer says that what went again had come */
static inline void srn_rtt_vain(struct srn_rtt *rtt)
{
	rtt->vain = true;
}

/**
 * srn_rtt_longer() - what was lost, and went again more than once, is heard of @ns after it went again first
 *
 * As srn_rtt_bound(), if what went again had come. Else it was lost, and went in its time.
 */
static inline void srn_rtt_longer(struct srn_rtt *rtt, u64 ns, u64 timeout_ns)
{
	if (rtt->vain)
		srn_rtt_believe(rtt, ns, timeout_ns);
}

/** srn_rtt_asked_ns() - a local ACK timeout as verbs tell it; 0: none */
static inline u64 srn_rtt_asked_ns(u8 timeout)
{
	return timeout ? 4096ull << timeout : 0;
}

/** srn_rtt_ns() - what an answer is to be waited for at least; 0: unknown */
static inline u64 srn_rtt_ns(const struct srn_rtt *rtt)
{
	return max_t(u64, rtt->srtt_ns, rtt->bound_ns);
}

/** srn_rtt_again_ns() - what was sent again, and not heard of for so long, is lost again */
static inline u64 srn_rtt_again_ns(const struct srn_rtt *rtt)
{
	u64 path = srn_rtt_ns(rtt);

	/* While nothing was timed the probes find it. */
	if (!path)
		return NSEC_PER_SEC;
	return path + max3(4 * rtt->var_ns, path / 4, (u64)SRN_RTT_SLACK_NS);
}

/**
 * srn_rtt_probe_ns() - without an answer for so long, ask; a timeout comes after @timeout_ns
 *
 * Sooner where that would leave no time for the answer, but not before one to what was sent is due.
 */
static inline u64 srn_rtt_probe_ns(const struct srn_rtt *rtt, u64 timeout_ns)
{
	u64 path = srn_rtt_ns(rtt), again = srn_rtt_again_ns(rtt), probe;

	if (!path)
		return clamp_t(u64, timeout_ns / 4, SRN_RTT_UNKNOWN_MIN_NS,
			       SRN_RTT_UNKNOWN_MAX_NS);
	probe = max(path + max_t(u64, 4 * rtt->var_ns, path) + SRN_RTT_PROBE_SLACK_NS, again);
	return probe + again > timeout_ns ? min(probe, again) : probe;
}

/**
 * srn_rtt_timeout_ns() - how long to wait in all, where a local ACK timeout of @least_ns was asked for
 *
 * A requester may wait for up to four of these (IBTA vol. 1, 9.7.6.1.3). Where answers take longer than
 * one that is done, so that they come, and those to a probe, too: else all would be sent before them once
 * more. A little less than four: what is late must not make it more.
 */
static inline u64 srn_rtt_timeout_ns(const struct srn_rtt *rtt, u64 least_ns)
{
	if (!srn_rtt_ns(rtt))
		return least_ns;
	return clamp_t(u64, 2 * srn_rtt_again_ns(rtt), least_ns, 4 * least_ns - least_ns / 4);
}

/**
 * srn_rtt_patience_ns() - how long silence is before all goes again, after @used retries without progress
 *
 * The first loss is repaired after a local ACK timeout of @least_ns, or as much as the path takes; a peer that
 * still does not answer is short of time, and gets it before the retries are used up.
 */
static inline u64 srn_rtt_patience_ns(const struct srn_rtt *rtt, u64 least_ns, u32 used)
{
	return min_t(u64, srn_rtt_timeout_ns(rtt, least_ns) << min_t(u32, used, 2), 4 * least_ns);
}

/** srn_rtt_wants() - whether the answer to the packet that leaves is to be a sample */
static inline bool srn_rtt_wants(struct srn_rtt *rtt)
{
	if (rtt->srtt_ns && !rtt->bound_ns && !rtt->doubt && rtt->wait) {
		rtt->wait--;
		return false;
	}
	rtt->wait = SRN_RTT_EVERY - 1;
	return true;
}

#endif
