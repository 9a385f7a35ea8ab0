/* SPDX-License-Identifier: GPL-2.0-only */
/* A run as it is cut: where its parts are, and one packet of it at a time. */
#ifndef SRN_RUN_CUT_H
#define SRN_RUN_CUT_H

#include <linux/netdev_features.h>
#include <linux/skbuff.h>

#include "lease.h"
#include "opcode.h"
#include "pack_cut.h"
#include "run.h"
#include "wire.h"

#define SRN_RUN_MAGIC	0x53724e52	/* no proof of anything */

/* What a run is to the stack. */
#define SRN_RUN_GSO_TYPE	(SKB_GSO_UDP_TUNNEL | SKB_GSO_FRAGLIST)
/* And what it may be as well, when somebody has put it into a tunnel. */
#define SRN_RUN_GSO_OUTER	(SKB_GSO_IPXIP4 | SKB_GSO_IPXIP6)

/** srn_run_is_type() - whether an skb says that it is one; any context */
static inline bool srn_run_is_type(const struct sk_buff *skb)
{
	return (skb_shinfo(skb)->gso_type & ~SRN_RUN_GSO_OUTER) == SRN_RUN_GSO_TYPE;
}

struct srn_run_cut {
	const struct sk_buff *skb;
	struct srn_run run;	/* of a pack: how many packets, and the version of IP */
	bool packed;		/* it is a pack, and what follows */
	struct srn_pack_cut pack;
	u32 i;			/* the packet that it is at */
	struct srn_lease lease;	/* if it is lent */
	struct srn_mem *mem;	/* between srn_run_cut_hold() and _release() */
	struct srn_bth bth;	/* of the first packet */
	u32 psn;		/* likewise */
	/* Of what is no pack: */
	u32 start;		/* offset of the BTH from skb->data */
	u32 hdr_len;		/* of the first packet, from the BTH on */
	u32 payload;		/* offset of the payload from skb->data */
	u32 len;		/* of the payload */
};

/** srn_run_cut_bytes() - of @num packets with @len bytes of payload, from BTH to ICRC, on a wire */
static inline u32 srn_run_cut_bytes(u8 first, u8 last, u32 num, u32 len)
{
	return ALIGN(len, 4) + srn_opcode_hdr_len(first) + srn_opcode_hdr_len(last) +
	       (num - 2) * sizeof(struct srn_bth) + num * SRN_ICRC_SIZE;
}

/**
 * srn_run_cut_begin() - prove a run or a pack whose BTH is @start bytes behind skb->data
 * @skb: linear, in pages, or both
 *
 * Any context. It is at the first packet then. Return: false if it is none; @cut says nothing then.
 */
bool srn_run_cut_begin(struct srn_run_cut *cut, const struct sk_buff *skb, u32 start);

/** srn_run_cut_is_lent() - whether its payload is in pages of a region that may go any time */
static inline bool srn_run_cut_is_lent(const struct srn_run_cut *cut)
{
	return cut->run.flags & SRN_PKT_LENT;
}

/** srn_run_cut_is_bare() - whether it has no payload, whose length it says */
static inline bool srn_run_cut_is_bare(const struct srn_run_cut *cut)
{
	return cut->run.flags & SRN_PKT_BARE;
}

/**
 * srn_run_cut_hold() - before packets are made of it
 *
 * BH disabled until srn_run_cut_release(), which follows in any case. Return: false if nobody may
 * read its payload any more.
 */
bool srn_run_cut_hold(struct srn_run_cut *cut);
void srn_run_cut_release(struct srn_run_cut *cut);

/** srn_run_cut_next() - on to the next packet; false: it was the last */
bool srn_run_cut_next(struct srn_run_cut *cut);

/** srn_run_cut_opcode() - of the packet that it is at */
u8 srn_run_cut_opcode(const struct srn_run_cut *cut);

/** srn_run_cut_flags() - of it: SRN_PKT_SE, SRN_PKT_ACKREQ */
u8 srn_run_cut_flags(const struct srn_run_cut *cut);

/** srn_run_cut_len() - payload of it */
u32 srn_run_cut_len(const struct srn_run_cut *cut);

/** srn_run_cut_psn() - its PSN */
u32 srn_run_cut_psn(const struct srn_run_cut *cut);

/**
 * srn_run_cut_packet() - the packet that it is at, from the BTH to its payload
 * @headroom: in front of the BTH
 * @refs: by references to the run's pages, where it has its payload in pages; to pages of its own,
 * if that is lent
 *
 * Room for pad and ICRC is behind what is linear. Of a bare run it has no payload. BH disabled. NULL
 * without memory.
 */
struct sk_buff *srn_run_cut_packet(const struct srn_run_cut *cut, u32 headroom, bool refs);

/**
 * srn_run_segment() - what the stack calls to have a run or a pack cut (offload_callbacks.gso_segment)
 * @skb: at the BTH; stays the caller's
 * @features: of the netdev; without NETIF_F_SG the packets are linear
 *
 * Any context. Return: the packets, or ERR_PTR: -EINVAL where it is no run, -ESTALE where its memory
 * was taken back, -ENOMEM. Those behind one for which there is no memory are lost.
 */
struct sk_buff *srn_run_segment(struct sk_buff *skb, netdev_features_t features);

#endif
