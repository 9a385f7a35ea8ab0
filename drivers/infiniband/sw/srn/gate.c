// SPDX-License-Identifier: GPL-2.0-only
/* May it go. */
#include "gate.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>

#include "credit.h"
#include "pace.h"
#include "payer.h"
#include "react.h"
#include "shift.h"
#include "spread.h"
#include "sq.h"
#include "window.h"

/* Beside READs that a hello went with (hello.c) nothing goes that an ACK would complete: the peer's
 * answer to the hello may be one that means nothing.
 */
static bool fences(const struct srn_qp *qp, const struct srn_wqe *wqe)
{
	return wqe->flags & IB_SEND_FENCE ||
	       (unlikely(qp->peer.fence) && !srn_wqe_is_answered(wqe) && !srn_wqe_is_local(wqe));
}

/* WQEs that may have begun before it. */
static u32 most_begun(const struct srn_wqe *wqe)
{
	return srn_wqe_is_local(wqe) ? SRN_WINDOW : SRN_WINDOW_WQES;
}

/* What a WQE waits for before it starts. */
static enum srn_gate start_gate(const struct srn_qp *qp, const struct srn_wqe *wqe)
{
	if (qp->state == IB_QPS_SQD)
		return SRN_GATE_STATE;
	if (fences(qp, wqe) && srn_window_reads(&qp->window))
		return SRN_GATE_FENCE;
	if (srn_wr_ops[wqe->opcode].what & SRN_WR_ORDER && qp->sq.una != qp->window.at.index)
		return SRN_GATE_ORDER;
	/* What completes in its turn, behind an answer: no more of them than one packet may bring about. */
	if (qp->window.at.index - qp->sq.una >= most_begun(wqe))
		return SRN_GATE_ORDER;
	if (unlikely(srn_credit_waits(&qp->credit, srn_wqe_takes_recv(wqe),
				      srn_window_inflight(&qp->window))))
		return SRN_GATE_CREDIT;
	return SRN_GATE_OPEN;
}

/* What is reliable has a window. What has none waits for room in the queues below. */
static enum srn_gate flow_gate(struct srn_qp *qp, const struct srn_wqe *wqe)
{
	const struct srn_window *w = &qp->window;

	if (qp->svc->reliable) {
		/* First: with a place comes how much may be out. */
		if (unlikely(!srn_shift_may(qp, wqe)))
			return SRN_GATE_SHIFT;
		if (srn_window_is_full(w, 1))
			return SRN_GATE_WINDOW;
		if (qp->retry.probing && srn_window_inflight(w))
			return SRN_GATE_PROBE;
		if (unlikely(srn_credit_stops(&qp->credit, w->at.psn, w->una)))
			return SRN_GATE_CREDIT;
		return SRN_GATE_OPEN;
	}
	return srn_payer_has_room(&qp->payer) ? SRN_GATE_OPEN : SRN_GATE_ROOM;
}

static enum srn_gate reads_gate(const struct srn_qp *qp, const struct srn_wqe *wqe)
{
	u32 reads = srn_window_reads(&qp->window);

	if (!srn_wqe_is_answered(wqe))
		return SRN_GATE_OPEN;
	/* Where none are allowed it fails when it starts. */
	if (reads && reads >= qp->max_rd_atomic)
		return SRN_GATE_READS;
	return srn_window_takes_read(&qp->window) ? SRN_GATE_OPEN : SRN_GATE_WINDOW;
}

/* It and the next are asked last: what waits for something else needs no alarm. */
static enum srn_gate pace_gate(struct srn_qp *qp)
{
	if (likely(!srn_pace_is_on(&qp->pace)))
		return SRN_GATE_OPEN;
	return srn_react_ask(qp, SRN_PACE_REQUESTS, ktime_get_ns()) ? SRN_GATE_OPEN : SRN_GATE_PACE;
}

/* Apart: hardly anybody does. */
static noinline enum srn_gate ask_spread(struct srn_qp *qp)
{
	return srn_spread_ask(&qp->window, qp->rtt.srtt_ns, ktime_get_ns()) ? SRN_GATE_OPEN : SRN_GATE_SPREAD;
}

/* What a READ or an atomic asks for the peer sends. */
static enum srn_gate spread_gate(struct srn_qp *qp, const struct srn_wqe *wqe)
{
	if (!srn_spread_is_on(&qp->window) || srn_wqe_is_answered(wqe))
		return SRN_GATE_OPEN;
	return ask_spread(qp);
}

enum srn_gate srn_gate_wqe(struct srn_qp *qp, const struct srn_wqe *wqe)
{
	enum srn_gate gate = wqe->started ? SRN_GATE_OPEN : start_gate(qp, wqe);

	if (gate || srn_wqe_is_local(wqe))
		return gate;
	return flow_gate(qp, wqe) ?: reads_gate(qp, wqe) ?: pace_gate(qp) ?: spread_gate(qp, wqe);
}
EXPORT_SYMBOL_IF_KUNIT(srn_gate_wqe);
