/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes to struct srn_pkt. After srn_parse() every length is proven: the
 * headers that the opcode names are linear, pad and ICRC fit.
 */
#ifndef SRN_PARSE_H
#define SRN_PARSE_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/ipv6.h>

#include "opcode.h"
#include "psn.h"
#include "wire.h"

/* Kept in skb->cb while the packet is ours. */
struct srn_pkt {
	u8 opcode;
	u8 flags;		/* SRN_PKT_* */
	u8 hdr_len;		/* BTH to payload, bytes */
	u8 more;		/* packets: a run (run.h), whose first has opcode and psn */
	u8 behind;		/* messages, of a pack (pack.h), behind the one that this says all of */
	u8 last;		/* run: opcode of the last packet */
	u16 bth;		/* offset of the BTH from skb->data */
	u16 pkey;
	u16 each;		/* run: payload of each packet but the last */
	u32 qpn;
	u32 psn;
	u32 len;		/* payload without pad and ICRC, bytes */
	__be32 word;		/* run: what stands behind the BTH of the last packet */
};

#define SRN_PKT_SE		BIT(0)	/* solicited event */
#define SRN_PKT_ACKREQ		BIT(1)
#define SRN_PKT_V6		BIT(2)
#define SRN_PKT_LENT		BIT(3)	/* run: its payload is leased (lease.h) */
#define SRN_PKT_CE		BIT(4)	/* a router marked it, and nobody was told yet */
#define SRN_PKT_JOINED		BIT(5)	/* run: it came in packets (convoy.h) */
#define SRN_PKT_DAMAGED		BIT(6)	/* its ICRC is wrong: srn_parse_icrcs() */
#define SRN_PKT_BARE		BIT(7)	/* run, or of one: it has no payload, which is placed (straight.h) */

/* What a RETH or AtomicETH names in the responder's memory. */
struct srn_range {
	u64 va;
	u32 rkey;
	u32 len;
};

/* The srn_pkt_*() helpers hold between srn_parse(), or srn_run_parse(), and the next change of
 * skb->data: bth is an offset from there.
 */
static inline struct srn_pkt *srn_pkt(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct srn_pkt) > sizeof(skb->cb));
	return (struct srn_pkt *)skb->cb;
}

static inline const struct srn_opcode *srn_pkt_info(struct sk_buff *skb)
{
	return &srn_opcodes[srn_pkt(skb)->opcode];
}

static inline void *srn_pkt_bth(struct sk_buff *skb)
{
	return skb->data + srn_pkt(skb)->bth;
}

/* Offset of the payload from skb->data. */
static inline unsigned int srn_pkt_payload(struct sk_buff *skb)
{
	return srn_pkt(skb)->bth + srn_pkt(skb)->hdr_len;
}

/* Extension headers. Call only for opcodes whose row has the SRN_HDR_* bit:
 * they are linear then. Where two headers follow the BTH, the first is of fixed
 * size (AETH) or the second is the last of all (immediate, IETH).
 */
static inline void *srn_pkt_ext(struct sk_buff *skb)
{
	return srn_pkt_bth(skb) + sizeof(struct srn_bth);
}

static inline const struct srn_deth *srn_pkt_deth(struct sk_buff *skb)
{
	return srn_pkt_ext(skb);
}

static inline const struct srn_reth *srn_pkt_reth(struct sk_buff *skb)
{
	return srn_pkt_ext(skb);
}

static inline const struct srn_atomic_eth *srn_pkt_atomic(struct sk_buff *skb)
{
	return srn_pkt_ext(skb);
}

static inline const struct srn_aeth *srn_pkt_aeth(struct sk_buff *skb)
{
	return srn_pkt_ext(skb);
}

static inline u8 srn_pkt_syndrome(struct sk_buff *skb)
{
	return be32_get_bits(srn_pkt_aeth(skb)->smsn, SRN_AETH_SYNDROME);
}

static inline u32 srn_pkt_msn(struct sk_buff *skb)
{
	return be32_get_bits(srn_pkt_aeth(skb)->smsn, SRN_AETH_MSN);
}

static inline const struct srn_atomic_ack_eth *srn_pkt_atomic_ack(struct sk_buff *skb)
{
	return srn_pkt_ext(skb) + sizeof(struct srn_aeth);
}

/* Immediate data or the IETH's rkey, as on the wire. */
static inline __be32 srn_pkt_imm(struct sk_buff *skb)
{
	const struct srn_imm *imm = (void *)skb->data + srn_pkt_payload(skb) - sizeof(*imm);

	return srn_pkt(skb)->more ? srn_pkt(skb)->word : imm->data;
}

/** srn_pkt_is_pack() - whether messages of a pack are behind the one that srn_pkt() says all of */
static inline bool srn_pkt_is_pack(struct sk_buff *skb)
{
	return srn_pkt(skb)->behind;
}

/** srn_pkt_is_run() - whether it is several packets, uncut: a run or a pack */
static inline bool srn_pkt_is_run(struct sk_buff *skb)
{
	return srn_pkt(skb)->more || srn_pkt_is_pack(skb);
}

/** srn_pkt_num() - how many packets it is; of a pack, with those behind */
static inline u32 srn_pkt_num(struct sk_buff *skb)
{
	return srn_pkt(skb)->more + srn_pkt(skb)->behind + 1;
}

/** srn_pkt_last() - the facts of the packet that ends the run, or the packet's own */
static inline const struct srn_opcode *srn_pkt_last(struct sk_buff *skb)
{
	return &srn_opcodes[srn_pkt(skb)->more ? srn_pkt(skb)->last : srn_pkt(skb)->opcode];
}

/** srn_pkt_last_psn() - that packet's PSN */
static inline u32 srn_pkt_last_psn(struct sk_buff *skb)
{
	return srn_psn_add(srn_pkt(skb)->psn, srn_pkt(skb)->more);
}

/* Where the packet was sent to; IPv4 as a GID holds it, mapped. */
static inline void srn_pkt_daddr(struct sk_buff *skb, struct in6_addr *addr)
{
	if (srn_pkt(skb)->flags & SRN_PKT_V6)
		*addr = ipv6_hdr(skb)->daddr;
	else
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, addr);
}

/* Why a packet was refused; each has a counter of its own. */
enum srn_parse_result {
	SRN_PARSE_OK,
	SRN_PARSE_SHORT,	/* shorter than the headers its opcode names */
	SRN_PARSE_LENGTH,	/* IP, UDP, skb disagree; IP options; payload where none may be */
	SRN_PARSE_TVER,		/* header version is not 0 */
	SRN_PARSE_OPCODE,	/* no such opcode */
	SRN_PARSE_PAD,		/* pad longer than the payload, or pad without need */
	SRN_PARSE_ICRC,
	SRN_PARSE_NOMEM,	/* could not pull the headers */
	SRN_PARSE_MAX,
};

/**
 * srn_parse_lengths() - whether IP, UDP and skb agree, and it is RoCEv2's IP; sets
 * SRN_PKT_V6 and SRN_PKT_CE
 */
bool srn_parse_lengths(struct sk_buff *skb);

/**
 * srn_parse() - prove the lengths of a RoCEv2 packet and fill srn_pkt(skb)
 * @skb: skb->data at the UDP header, network header set, IP trimmed to its length
 *
 * Overwrites skb->cb. Does not check the ICRC: srn_parse_icrc() does. Softirq;
 * may reallocate the head (pskb_may_pull).
 *
 * Return: SRN_PARSE_OK or the reason to drop. With SRN_PARSE_OPCODE (a reserved
 * opcode) everything else about the packet is proven and filled, with hdr_len
 * that of the BTH alone, so that srn_parse_icrc() may be called and a RC
 * responder can NAK it. After any other refusal srn_pkt(skb) says nothing.
 */
enum srn_parse_result srn_parse(struct sk_buff *skb);

/**
 * srn_parse_icrc() - verify the trailer of a packet
 * @skb: what srn_parse() answered with SRN_PARSE_OK or SRN_PARSE_OPCODE
 *
 * Return: SRN_PARSE_OK, or SRN_PARSE_ICRC where the trailer is wrong.
 */
enum srn_parse_result srn_parse_icrc(struct sk_buff *skb);

/**
 * srn_parse_icrcs() - the same for several at once, for less; sets SRN_PKT_DAMAGED where the trailer is wrong
 * @packets: as srn_parse_icrc(), one at least, of about one length; 64 KiB in all, no more
 */
void srn_parse_icrcs(struct sk_buff_head *packets);

#endif
