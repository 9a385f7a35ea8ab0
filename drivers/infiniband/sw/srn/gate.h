/* SPDX-License-Identifier: GPL-2.0-only */
/* What the WQE at the requester's cursor, or its next packet, waits for: all, in one place. */
#ifndef SRN_GATE_H
#define SRN_GATE_H

/* For srn_gate_qp(), which is asked before each request, and twice by a doorbell: a call would cost
 * more than what it asks. qp.h has no use for this.
 */
#include "qp.h"

enum srn_gate {
	SRN_GATE_OPEN,
	SRN_GATE_STATE,		/* the QP does not send, or flushes first; SQD: begins nothing */
	SRN_GATE_RNR,		/* the peer asked for time */
	SRN_GATE_FENCE,		/* READs and atomics before it */
	SRN_GATE_ORDER,		/* WQEs before it, which may be sent again: all, or some of many */
	SRN_GATE_SHIFT,		/* others, of whom too many have data out (shift.c); one of them, or an answer */
	SRN_GATE_WINDOW,	/* answers to what is in flight */
	SRN_GATE_PROBE,		/* the answer to one packet */
	SRN_GATE_CREDIT,	/* receives of the peer */
	SRN_GATE_READS,		/* the peer's resources for READs and atomics */
	SRN_GATE_ROOM,		/* room in the queues of this host; an alarm looks again */
	SRN_GATE_PACE,		/* its time, at the rate of the QP; an alarm ends it */
	SRN_GATE_SPREAD,	/* its time, on a very long path; likewise */
};

/** srn_gate_qp() - what all that the QP sends as requester waits for: STATE, RNR or nothing */
static inline enum srn_gate srn_gate_qp(const struct srn_qp *qp)
{
	if ((qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) || qp->sq.stale)
		return SRN_GATE_STATE;
	return qp->retry.rnr_wait ? SRN_GATE_RNR : SRN_GATE_OPEN;
}

/**
 * srn_gate_wqe() - what @wqe, or its next packet, waits for, where srn_gate_qp() is open
 *
 * Where a rate limits the QP this is more than a question: steps of DCQCN that are due are taken,
 * and a pace whose time has come is open from then on. For who sends at once if he may.
 */
enum srn_gate srn_gate_wqe(struct srn_qp *qp, const struct srn_wqe *wqe);

#endif
