/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that demux matched to this QP: one visible list of checks, then
 * execution. Runs only in the QP's turn, so nothing here takes a lock.
 */
#ifndef SRN_RESPONDER_H
#define SRN_RESPONDER_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "ack.h"
#include "arrival.h"
#include "hold.h"
#include "replay.h"
#include "train.h"
#include "verdict.h"

struct srn_qp;

/* The parts of the responder; each is written by the room that its header names. */
struct srn_responder {
	struct srn_message msg;
	struct srn_ack ack;
	struct srn_hold hold;
	struct srn_replay replay;
	struct srn_train train;		/* answers; empty between rounds */
	u32 carried_psn;		/* behind the last answer that left with its bytes (straight.h) */
	u16 doubt;			/* packets of answers that leave as no runs, after a loss */
	bool comm_est;			/* responder.c: the event was raised */
};

/** srn_responder_start() - INIT to RTR: the first PSN is known */
void srn_responder_start(struct srn_qp *qp, u32 psn);

/** srn_responder_reset() - as in RESET */
void srn_responder_reset(struct srn_qp *qp);
/**
 * srn_responder_alloc() - replay slots for @num requests or more, and who pays for answers
 *
 * Of RC, whose requests nobody pays for. May sleep. Return: 0 or -ENOMEM, or what srn_payer_open()
 * does.
 */
int srn_responder_alloc(struct srn_qp *qp, u32 num);
/** srn_responder_leave() - the last word, if there is one, of a QP that is to answer nothing any more; owner of the turn */
void srn_responder_leave(struct srn_qp *qp);

/** srn_responder_free() - the slots; nothing is sent any more; may sleep */
void srn_responder_free(struct srn_qp *qp);

/** srn_responder_receives() - whether the QP takes requests in its state */
bool srn_responder_receives(const struct srn_qp *qp);

/**
 * srn_responder_rx() - a RC or UC request for this QP
 *
 * Return: true if @skb was consumed. False: an answer that is under way goes first; the
 * caller keeps @skb and what came behind it, and tries again in the next round. Or, of what was
 * joined (convoy.h), none was taken, and its packets are to come one by one.
 */
bool srn_responder_rx(struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_responder_rx_pack() - the same with a pack: each of its messages in turn
 *
 * Return: true if @skb was consumed. False: srn_pkt() says all of the first message that was not
 * taken, which goes as packets, with those behind it.
 */
bool srn_responder_rx_pack(struct srn_qp *qp, struct sk_buff *skb);

/** srn_responder_takes_run() - whether these may be given a run or a pack; else its packets */
bool srn_responder_takes_run(struct srn_qp *qp, struct sk_buff *skb);

/**
 * srn_responder_drain() - execute what is held and has come to its turn
 * @budget: packets left in this round, decremented
 *
 * Return: false if some of it is left, for the budget or as in srn_responder_rx().
 */
bool srn_responder_drain(struct srn_qp *qp, int *budget);

/**
 * srn_responder_fail() - refuse the request at @psn for good: NAK, error state, event
 *
 * Completes the open receive WQE, if any, with the status that @v has.
 */
void srn_responder_fail(struct srn_qp *qp, enum srn_verdict v, u32 psn);

/**
 * srn_responder_owes() - whether srn_responder_send() may have something to do, but for a last ACK in the error state
 *
 * Owner of the turn.
 */
bool srn_responder_owes(const struct srn_qp *qp);

/**
 * srn_responder_send() - answers: READ responses within @budget, then the ACK or NAK
 *
 * Called at the end of each round. READ responses stop while SRN_UNSENT_BYTES of this QP's
 * wait in the queues of this host: a peer may ask for a GiB at once; and for the pace of the QP. An
 * alarm goes on.
 * Return: true if READ responses are left that may leave now.
 */
bool srn_responder_send(struct srn_qp *qp, int *budget);

#endif
