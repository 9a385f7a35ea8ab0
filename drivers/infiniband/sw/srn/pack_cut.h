/* SPDX-License-Identifier: GPL-2.0-only */
/* A pack message by message: proven, and made packets. */
#ifndef SRN_PACK_CUT_H
#define SRN_PACK_CUT_H

#include <linux/skbuff.h>

#include "pack.h"

/* One message of it. */
struct srn_pack_msg {
	u8 opcode;
	u8 flags;		/* SRN_PKT_SE, SRN_PKT_ACKREQ */
	u16 len;		/* of its payload */
	u32 at;			/* offset from skb->data of what stands behind its BTH, or in its place */
};

struct srn_pack_cut {
	const struct sk_buff *skb;
	struct srn_pack_tail tail;
	struct srn_bth bth;	/* of the first message */
	u32 end;		/* offset of the tail */
	struct srn_pack_msg first;
	struct srn_pack_msg msg;	/* the one that it is at */
};

/**
 * srn_pack_cut_begin() - prove a pack whose first BTH is @start bytes behind skb->data; be at that one
 * @skb: linear, in pages, or both
 *
 * Any context. Return: false if it is none; @cut says nothing then.
 */
bool srn_pack_cut_begin(struct srn_pack_cut *cut, const struct sk_buff *skb, u32 start);

/** srn_pack_cut_next() - on to the next message; false: it was the last */
bool srn_pack_cut_next(struct srn_pack_cut *cut);

/**
 * srn_pack_cut_packet() - the packet of the message that it is at, from the BTH to its payload
 * @psn: its PSN
 * @headroom: in front of the BTH
 *
 * Linear, with room for pad and ICRC. Any context. NULL without memory.
 */
struct sk_buff *srn_pack_cut_packet(const struct srn_pack_cut *cut, u32 psn, u32 headroom);

#endif
