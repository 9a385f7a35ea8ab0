/* SPDX-License-Identifier: GPL-2.0-only */
/* A round: what a QP's turn runs, in which order, and the ways to start one. */
#ifndef SRN_ROUND_H
#define SRN_ROUND_H

#include <linux/types.h>

struct sk_buff;
struct srn_qp;

/** srn_round_init() - a new QP's turn and packet queue; it runs nothing in RESET */
void srn_round_init(struct srn_qp *qp);

/**
 * srn_round_rx() - queue a packet for a QP and run it; consumes @skb
 *
 * Where executing it sets qp->answer_later, its answer leaves from the NAPI of this CPU,
 * behind the packets that the CPU is just receiving: they share it, or change it.
 * Softirq; the caller holds a reference.
 */
void srn_round_rx(struct srn_qp *qp, struct sk_buff *skb);

/** srn_round_purge() - drop the packets that wait; owner of the turn */
void srn_round_purge(struct srn_qp *qp);

/**
 * srn_round_doorbell() - a program posted
 *
 * Process context, may sleep; the caller holds a reference.
 *
 * Return: false if the QP is in error and another context is busy with it: ring again.
 */
bool srn_round_doorbell(struct srn_qp *qp);

#endif
