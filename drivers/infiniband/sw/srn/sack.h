/* SPDX-License-Identifier: GPL-2.0-only */
/* What two devices of this kind say to each other beyond the standard (wire.rst, "Between peers
 * that understand it"): who they are, and what a responder holds. Written and read here; what
 * follows from it others know. Before it is known that the peer understands it, it is only what
 * any peer takes for a WRITE that came a second time.
 */
#ifndef SRN_SACK_H
#define SRN_SACK_H

#include <linux/types.h>

#include "psns.h"

struct sk_buff;
struct srn_qp;

enum srn_sack_kind {
	SRN_SACK_HELLO = 1,	/* I understand this; do you? */
	SRN_SACK_ANSWER,	/* so do I */
	SRN_SACK_HELD,		/* what the BTH names is missing; this is here */
};

/* One that was received. */
struct srn_sack {
	u8 kind;		/* enum srn_sack_kind */
	bool tells;		/* who sent it sends CNPs for marks */
	bool parts;		/* and answers all that is asked for again, in order */
	u32 ahead;		/* PSNs that can be held, from the expected one on */
	u32 twice;		/* request packets of the connection that came a second time; a
				 * hello does not say
				 */
};

/* What it says of packets: 1 KiB, on the stack of who looks at it, and not of others. */
struct srn_sack_map {
	u32 num;		/* of @bits */
	DECLARE_BITMAP(bits, SRN_PSNS);	/* held, from the PSN behind that of the BTH on */
};

/**
 * srn_sack_hello() - a WRITE of no bytes that asks for no ACK, and says who sent it
 * @psn: of a SEND or WRITE that the peer has acknowledged, or the one in front of the first: any peer
 *	is past it
 *
 * BH disabled. Return: false if there was no memory, and none left.
 */
bool srn_sack_hello(struct srn_qp *qp, u32 psn);

/** srn_sack_answer() - to the hello with @psn */
void srn_sack_answer(struct srn_qp *qp, u32 psn);

/**
 * srn_sack_held() - the NAK of the expected PSN, and what is held behind it; owner of the turn
 *
 * Return: words of its map.
 */
u32 srn_sack_held(struct srn_qp *qp, u8 syndrome);

/**
 * srn_sack_read() - what a packet says, but for its map; all of @sack is set
 * @skb: parsed, its opcode is SRN_OPCODE_SACK
 *
 * Return: false if it is none of ours.
 */
bool srn_sack_read(struct sk_buff *skb, struct srn_sack *sack);

/** srn_sack_read_map() - the map of what srn_sack_read() took; returns false if it can't be read */
bool srn_sack_read_map(struct sk_buff *skb, struct srn_sack_map *map);

/**
 * srn_sack_read_hello() - the same of a request that may be a hello
 * @skb: parsed, its opcode is RC RDMA WRITE ONLY
 *
 * Return: false if it is none, but a WRITE.
 */
bool srn_sack_read_hello(struct sk_buff *skb, struct srn_sack *sack);

/** srn_sack_kind() - its kind only; 0: none of ours */
unsigned int srn_sack_kind(struct sk_buff *skb);

#endif
