/* SPDX-License-Identifier: GPL-2.0-only */
/* The notification point of DCQCN: routers' marks are told to who sent the packets. */
#ifndef SRN_NOTIFY_H
#define SRN_NOTIFY_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct srn_qp;

/**
 * srn_notify_is_time() - whether a CNP may leave at @now, ktime_get_ns()
 * @next_ns: when the next one may; moved on if so, by @pause_ns
 */
static inline bool srn_notify_is_time(u64 *next_ns, u64 now, u64 pause_ns)
{
	if (now < *next_ns)
		return false;
	*next_ns = now + pause_ns;
	return true;
}

/**
 * srn_notify_is_much() - whether a mark is to be told, on a packet of @bytes
 * @full: bytes of the largest packet of the connection
 * @random: any number
 *
 * A queue marks packets, however short they are. Who sends short ones would be told more often for
 * the same bytes, and have less of the path: so each mark on a full packet is told of, and on others
 * as many as bytes make full ones (RFC 7141, 2.2), by lot. Counted out they would be evenly spaced:
 * never so close that two are one cut for who is told, which those on full packets often are, and
 * short packets would have less again (so it is in a model).
 */
static inline bool srn_notify_is_much(u32 bytes, u32 full, u32 random)
{
	return bytes >= full || ((u64)random * full) >> 32 < bytes;
}

/**
 * srn_notify_mark() - a packet has come with a mark (CE)
 * @skb: with SRN_PKT_CE, which is taken off: a request that has to wait comes again
 *
 * Counts it. Sends the peer of a connection a CNP, if it brought data, the lot falls on it (or none was sent
 * for 50 ms), and none was sent a short time ago, unless "cc" is off. Owner of the turn, BH disabled.
 */
void srn_notify_mark(struct srn_qp *qp, struct sk_buff *skb);

#endif
