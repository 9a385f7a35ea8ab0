/* SPDX-License-Identifier: GPL-2.0-only */
/* What a packet of the requester waits for: everything, in one place. */
#ifndef SRN_GATE_H
#define SRN_GATE_H

struct srn_qp;
struct srn_wqe;

enum srn_gate {
	SRN_GATE_OPEN,
	SRN_GATE_STATE,		/* the QP does not send; SQD: nothing new is begun */
	SRN_GATE_RNR,		/* the peer asked for time */
	SRN_GATE_FENCE,		/* READs and atomics before it */
	SRN_GATE_ORDER,		/* all before it, which may be sent again */
	SRN_GATE_WINDOW,	/* answers to what is in flight */
	SRN_GATE_PROBE,		/* the answer to one packet */
	SRN_GATE_CREDIT,	/* receives of the peer */
	SRN_GATE_READS,		/* the peer's resources for READs and atomics */
	SRN_GATE_ROOM,		/* room in the queues of this host */
	SRN_GATE_PACE,		/* its time, at the rate of the QP; an alarm ends it */
};

/** srn_gate_qp() - what any packet of the QP waits for: STATE, RNR or nothing */
enum srn_gate srn_gate_qp(const struct srn_qp *qp);

/**
 * srn_gate_wqe() - what the next packet of @wqe waits for, on a QP that may send
 *
 * Where a rate limits the QP this is more than a question: steps of DCQCN that are due are taken,
 * and a pace whose time has come is open from then on. For who sends at once if he may.
 */
enum srn_gate srn_gate_wqe(struct srn_qp *qp, const struct srn_wqe *wqe);

#endif
