/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that demux matched to this QP: one visible list of checks, then
 * execution. Runs only in the QP's turn, so nothing here takes a lock.
 */
#ifndef SRN_RESPONDER_H
#define SRN_RESPONDER_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "replay.h"
#include "train.h"
#include "verdict.h"
#include "wqe.h"

struct srn_qp;

struct srn_responder {
	u32 psn;		/* expected */
	u32 msn;		/* requests completed */
	u32 rq_head;		/* receive WQEs consumed (own RQ) */
	bool comm_est;		/* the event was raised */
	u8 nak_sent;		/* syndrome of the NAK out for this PSN, one per gap; or 0 */
	bool uc_drop;		/* UC: the message under way is lost, wait for the next */
	bool last_wqe_reached;
	/* Message under way. */
	u8 cur_op;		/* SRN_OP_SEND or SRN_OP_WRITE; SRN_OP_NONE between messages */
	bool has_rwqe;		/* rwqe is open; a dropped UC or UD message leaves it to the next */
	u32 received;		/* bytes */
	u64 va;			/* WRITE */
	u32 rkey;
	u32 dma_len;		/* WRITE: bytes its RETH announced */
	struct srn_rwqe rwqe;
	/* The answer that goes out at the end of the round (ack.c). */
	bool ack_pending;
	bool fatal;		/* it is a NAK and the QP's last word */
	bool done_any;
	u8 ack_syndrome;
	u32 ack_psn;
	u32 done_psn;		/* newest SEND or WRITE packet executed, if done_any */
	struct srn_replay replay;
	struct srn_train train;	/* answers; empty between rounds */
};

/** srn_responder_reset() - as in RESET */
void srn_responder_reset(struct srn_qp *qp);
/** srn_responder_alloc() - replay slots for @num requests; may sleep; 0 or -ENOMEM */
int srn_responder_alloc(struct srn_qp *qp, u32 num);
void srn_responder_free(struct srn_qp *qp);

/** srn_responder_receives() - whether the QP takes requests in its state */
bool srn_responder_receives(const struct srn_qp *qp);

/** srn_responder_rx() - a RC or UC request for this QP; consumes @skb */
void srn_responder_rx(struct srn_qp *qp, struct sk_buff *skb);
/** srn_ud_rx() - a UD (or GSI) message for this QP; consumes @skb (ud.c) */
void srn_ud_rx(struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_responder_fail() - refuse the request at @psn for good: NAK, error state, event
 *
 * Completes the open receive WQE, if any, with the status that @v has.
 */
void srn_responder_fail(struct srn_qp *qp, enum srn_verdict v, u32 psn);

/**
 * srn_responder_may_follow() - whether a packet continues the message under way rightly
 * @cur_op: SRN_OP_SEND, SRN_OP_WRITE or, between messages, SRN_OP_NONE
 * @op: operation of the packet
 * @pos: its position (enum srn_pos)
 */
bool srn_responder_may_follow(u8 cur_op, u8 op, u8 pos);

/** srn_responder_len_fits() - whether a SEND or WRITE packet at @pos may carry @len bytes */
bool srn_responder_len_fits(u8 pos, u32 len, u32 mtu);

/**
 * srn_responder_send() - answers: READ responses within @budget, then the ACK or NAK
 *
 * Called at the end of each round. Return: true if READ responses are left.
 */
bool srn_responder_send(struct srn_qp *qp, int *budget);

/** srn_responder_flush() - error state: complete all receive WQEs with FLUSH_ERR */
void srn_responder_flush(struct srn_qp *qp);

#endif
