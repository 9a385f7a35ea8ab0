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
 * srn_round_rx() - execute a packet, and run its QP if that is due; or queue it for who has the turn
 *
 * Consumes @skb.
 *
 * Where executing it sets qp->answer_later, its answer leaves from the NAPI of this CPU,
 * behind the packets that the CPU is just receiving: they share it, or change it.
 * Softirq; the caller holds a reference.
 */
void srn_round_rx(struct srn_qp *qp, struct sk_buff *skb);

/* What a doorbell has led to. */
enum srn_heard {
	SRN_HEARD,		/* it is done, or somebody does it */
	SRN_HEARD_MUCH,		/* likewise, and it was what was gathered, or a long message */
	SRN_HEARD_PART,		/* there is more to flush in the time of who rings */
	SRN_HEARD_NO_POST,	/* nobody posted */
	SRN_HEARD_BUSY,		/* the QP is in error and another context is busy with it: again */
};

/**
 * srn_round_doorbell() - a program posted
 *
 * BH disabled until the caller has put its reference, so that it keeps its CPU.
 *
 * Return: SRN_HEARD_PART: let others run, then srn_round_go_on() or srn_round_give_away();
 * SRN_HEARD_BUSY: ring again after a tick.
 */
enum srn_heard srn_round_doorbell(struct srn_qp *qp);
/**
 * srn_round_post() - as srn_round_doorbell(), but what was posted is neither put off nor sent away
 *
 * For a program with a poller, which rings when that sleeps: the next posts are the poller's.
 */
enum srn_heard srn_round_post(struct srn_qp *qp);
/**
 * srn_round_poll() - a program may have posted, and does not ring; its poller only
 *
 * Return: as srn_round_doorbell(), or SRN_HEARD_NO_POST. SRN_HEARD_BUSY: the next look finds it again.
 */
enum srn_heard srn_round_poll(struct srn_qp *qp);
/** srn_round_go_on() - the next part; as srn_round_doorbell() */
enum srn_heard srn_round_go_on(struct srn_qp *qp);
/** srn_round_give_away() - a worker does the rest, if any; BH disabled; returns SRN_HEARD */
enum srn_heard srn_round_give_away(struct srn_qp *qp);

#endif
