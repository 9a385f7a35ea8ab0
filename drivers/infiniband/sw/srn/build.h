/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets from BTH to payload. The caller appends headers in wire order, then
 * the payload, and hands the skb to srn_xmit(), which adds pad, ICRC, UDP, IP.
 */
#ifndef SRN_BUILD_H
#define SRN_BUILD_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "wire.h"

#define SRN_BUILD_SE		BIT(0)	/* solicited event */
#define SRN_BUILD_ACKREQ	BIT(1)
#define SRN_BUILD_ALONE		BIT(2)	/* does not ride in a train */
#define SRN_BUILD_PACK		BIT(3)	/* begins a pack: all that is linear, in the head */

/* Payload from this many bytes on is referenced, below it is copied: a copy is
 * cheaper than a page reference and a fragment.
 */
#define SRN_REF_MIN		512

/* Room in front of the IP header. A packet alone does without, the stack makes room where
 * there is none. But who cuts a train writes all headers that were put in front of it into each
 * packet behind the first, without a look at the room. Tunnels' netdevs take no trains (train.c),
 * but a router may encapsulate without one: Ethernet, two VLANs, IPv6 and SRv6 with 18 segments
 * are 358 bytes. Where routers put more than that in front, trains must be off (gso off).
 */
#define SRN_BUILD_LOWER	(LL_MAX_HEADER + 384)
/* More payload than this has a page of its own: the head is cut from a single page, which a
 * full packet with its headers does not fit.
 */
#define SRN_BUILD_LINEAR	1024

/**
 * srn_build() - a packet with its BTH, room for everything else reserved
 * @opcode: BTH opcode
 * @flags: SRN_BUILD_*
 * @dqpn: destination QP
 * @psn: PSN
 * @linear: payload bytes that will be copied in (srn_build_payload()); of a pack, all its bytes
 *
 * BH disabled. NULL without memory: as if the packet had been lost.
 */
struct sk_buff *srn_build(u8 opcode, unsigned int flags, u32 dqpn, u32 psn, u32 linear);

void srn_build_deth(struct sk_buff *skb, u32 qkey, u32 sqpn);

/** srn_reth_set() - fill in a RETH */
static inline void srn_reth_set(struct srn_reth *reth, u64 va, u32 rkey, u32 len)
{
	reth->va = cpu_to_be64(va);
	reth->rkey = cpu_to_be32(rkey);
	reth->len = cpu_to_be32(len);
}

void srn_build_reth(struct sk_buff *skb, u64 va, u32 rkey, u32 len);
void srn_build_atomic(struct sk_buff *skb, u64 va, u32 rkey, u64 swap_add, u64 compare);

/** srn_build_smsn() - an AETH's word */
static inline __be32 srn_build_smsn(u8 syndrome, u32 msn)
{
	return be32_encode_bits(syndrome, SRN_AETH_SYNDROME) |
	       be32_encode_bits(msn & SRN_AETH_MSN, SRN_AETH_MSN);
}

void srn_build_aeth(struct sk_buff *skb, u8 syndrome, u32 msn);
void srn_build_atomic_ack(struct sk_buff *skb, u64 orig);
void srn_build_imm(struct sk_buff *skb, __be32 imm);
void srn_build_ieth(struct sk_buff *skb, u32 rkey);
/**
 * srn_build_payload() - @len bytes of payload to be filled by the caller
 *
 * At most once for each packet. Return: NULL without memory.
 */
void *srn_build_payload(struct sk_buff *skb, u32 len);

#endif
