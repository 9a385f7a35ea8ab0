/* SPDX-License-Identifier: GPL-2.0-only */
/* The notification point of DCQCN: routers' marks are told to who sent the packets. */
#ifndef SRN_NOTIFY_H
#define SRN_NOTIFY_H

#include <linux/minmax.h>
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
 * @spare: bytes of marked packets that need not be told any more
 * @whole: bytes of the largest packet of the connection
 *
 * A queue marks packets, however short they are. Who sends short ones would be told more often for the same
 * bytes, and have less of the path: so each mark on a whole packet is told of, and on others one for so many
 * bytes (RFC 7141, 2.2), the first one at once, as is the next where none was told of for 50 ms.
 */
static inline bool srn_notify_is_much(u16 *spare, u32 bytes, u32 whole)
{
	if (bytes <= *spare) {
		*spare -= bytes;
		return false;
	}
	bytes -= *spare;
	*spare = whole - min(whole, bytes);
	return true;
}

/**
 * srn_notify_mark() - a packet has come with a mark (CE)
 * @skb: with SRN_PKT_CE, which is taken off: a request that has to wait comes again
 *
 * Counts it. Sends the peer of a connection a CNP, if it brought data, enough of them since the last
 * one, and none was sent a short time ago, unless "cc" is off. Owner of the turn, BH disabled.
 */
void srn_notify_mark(struct srn_qp *qp, struct sk_buff *skb);

#endif
