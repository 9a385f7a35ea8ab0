/* SPDX-License-Identifier: GPL-2.0-only */
/* A RC or UC request packet on its way through checks and execution, and the message
 * that it is part of. Owner of the turn only.
 */
#ifndef SRN_ARRIVAL_H
#define SRN_ARRIVAL_H

#include <linux/skbuff.h>

#include "opcode.h"
#include "parse.h"
#include "verdict.h"

struct srn_mem;
struct srn_qp;

/* How far the peer's requests are. Written by arrival.c only. */
struct srn_message {
	u32 psn;		/* expected */
	u32 msn;		/* requests completed */
	u8 op;			/* SRN_OP_SEND or SRN_OP_WRITE; SRN_OP_NONE between messages */
	bool lost;		/* UC: the message under way is lost, wait for the next */
	u32 received;		/* bytes */
	struct srn_range range;	/* WRITE: what its RETH announced */
};

struct srn_arrival {
	struct srn_qp *qp;
	struct srn_message *msg;
	struct sk_buff *skb;
	const struct srn_pkt *pkt;
	const struct srn_opcode *info;
	const struct srn_opcode *last;	/* of the packet that ends it: its own, or a run's last one */
	bool start;		/* begins a message */
	bool end;		/* ends one */
	bool ack_owed;		/* a NAK was withdrawn for it */
	/* From the packet's header or the message's first one; SEND has none, and length 0. */
	struct srn_range range;
	u32 offset;		/* of this packet's payload in the message */
	struct srn_mem *mem;	/* proven and referenced, or NULL */
};

static inline bool srn_arrival_has_imm(const struct srn_arrival *a)
{
	return a->last->hdrs & SRN_HDR_IMM;
}

/** srn_message_start() - nothing is under way, @psn comes next, none was completed */
void srn_message_start(struct srn_message *msg, u32 psn);

/** srn_arrival_init() - from a packet that is next in its message, or begins one */
void srn_arrival_init(struct srn_arrival *a, struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_arrival_resync() - UC: any PSN is accepted at the start of a message
 *
 * Elsewhere it has to be the next. SRN_OK, or SRN_V_DROP where it is not.
 */
enum srn_verdict srn_arrival_resync(const struct srn_arrival *a);

/** srn_arrival_drop() - UC: the message is lost; the open receive WQE serves the next */
void srn_arrival_drop(const struct srn_arrival *a);

/** srn_arrival_done() - it was executed and took @npsn PSNs: on to the next packet */
void srn_arrival_done(const struct srn_arrival *a, u32 npsn);

/**
 * srn_arrival_check() - everything but the PSN; the first check that fails decides
 *
 * May open a receive WQE. a->mem is referenced in any case, if it is set.
 */
enum srn_verdict srn_arrival_check(struct srn_arrival *a);

/**
 * srn_arrival_execute() - do what was checked, and move PSN and MSN on
 *
 * SRN_OK, or a verdict that ends the QP: the peer's key to be invalidated, or a
 * local SGE, was bad.
 */
enum srn_verdict srn_arrival_execute(struct srn_arrival *a);

/** srn_message_pass() - @num messages of a packet each were executed, the expected one and those behind it */
void srn_message_pass(struct srn_message *msg, u32 num);

/**
 * srn_arrival_writes() - execute WRITEs of a pack, as long as nothing else is to be said of them
 * @skb: a pack whose next message is the expected one; comes to the first that was not executed
 *
 * As one by one, and all of them acknowledged or none: nothing is told of one alone. The last message of
 * a pack is never executed.
 */
void srn_arrival_writes(struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_arrival_may_follow() - whether a packet continues the message under way rightly
 * @cur_op: SRN_OP_SEND, SRN_OP_WRITE or, between messages, SRN_OP_NONE
 * @op: operation of the packet
 * @pos: its position (enum srn_pos)
 */
bool srn_arrival_may_follow(u8 cur_op, u8 op, u8 pos);

/** srn_arrival_len_fits() - whether a SEND or WRITE packet at @pos may carry @len bytes */
bool srn_arrival_len_fits(u8 pos, u32 len, u32 mtu);

#endif
