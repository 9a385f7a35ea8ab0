/* SPDX-License-Identifier: GPL-2.0-only */
/* Trains: packets of one length that follow each other on one path cross the stack
 * as one skb. Each is a whole datagram, ICRC and all. The stack cuts the train where
 * something can't take it, at the latest in front of the receiving socket.
 */
#ifndef SRN_TRAIN_H
#define SRN_TRAIN_H

#include <linux/types.h>

struct dst_entry;
struct sk_buff;
struct srn_pace;
struct srn_path;
struct srn_payer;

/* As the route wants it. */
struct srn_train_limits {
	unsigned int gso_type;	/* 0: no trains */
	u16 packets;
	u16 bytes;
};

/* Owner of the turn only; empty between rounds. */
struct srn_train {
	struct sk_buff *head;	/* first packet; NULL: nothing waits */
	struct sk_buff *last;	/* of its frag_list */
	struct srn_train_limits limits;
	u16 len;		/* of each packet from BTH to ICRC; the last may have less */
	u16 num;
	u16 bytes;		/* less than a datagram has */
	struct srn_payer *payer;	/* set once; NULL: nobody is charged */
	struct srn_pace *pace;		/* of the QP, set once; NULL: it has none */
};

/**
 * srn_train_add() - send a packet, now or with those that follow
 * @skb: from srn_build(), payload complete; consumed
 * @follows: another packet on @path will be added in this round, before others are sent
 *
 * What goes wrong is loss, as in srn_xmit(). BH disabled.
 */
void srn_train_add(struct srn_train *train, struct srn_path *path, struct sk_buff *skb,
		   bool follows);

/** srn_train_charge() - @num packets, @bytes from BTH to ICRC, take their time at the QP's pace */
void srn_train_charge(struct srn_train *train, const struct srn_path *path, u32 num, u32 bytes);

/** srn_train_gso_type() - what a train is to the stack on this route: SKB_GSO_* */
unsigned int srn_train_gso_type(const struct dst_entry *dst);

/** srn_train_leave() - send what waits, at the end of a round; BH disabled */
void srn_train_leave(struct srn_train *train, struct srn_path *path);

#endif
