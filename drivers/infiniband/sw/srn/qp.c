// SPDX-License-Identifier: GPL-2.0-only
/* Changes of state that the engines cause, and their events. */
#include "qp.h"

#include <kunit/visibility.h>

#include "trace.h"

void srn_qp_set_state(struct srn_qp *qp, enum ib_qp_state state)
{
	srn_turn_assert_owned(&qp->turn);
	trace_srn_qp_state(qp, qp->state, state);
	/* Pairs with the acquire in demux: a state's attributes are set before it. */
	smp_store_release(&qp->state, state);
	if (!qp->page)
		return;
	WRITE_ONCE(qp->page->state, state);
	/* Pairs with the provider's barrier between rq_tail and state: either
	 * it sees the error and rings, or the flush sees its WQE.
	 */
	smp_mb();
}

static void fail(struct srn_qp *qp, enum ib_qp_state state, enum srn_verdict v)
{
	qp->last_error = v;
	srn_qp_set_state(qp, state);
	/* What is held goes with the rounds (srn_responder_drain()): it may be thousands. */
	srn_qp_allow_flush(qp);
	/* This round, or the next, flushes. */
	atomic_or(SRN_TURN_FLUSH, &qp->turn.bits);
}

void srn_qp_error(struct srn_qp *qp, enum srn_verdict v)
{
	if (qp->state != IB_QPS_ERR)
		fail(qp, IB_QPS_ERR, v);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_error);

void srn_qp_sq_error(struct srn_qp *qp, enum srn_verdict v)
{
	if (qp->svc->reliable)
		srn_qp_error(qp, v);
	else if (qp->state != IB_QPS_ERR && qp->state != IB_QPS_SQE)
		fail(qp, IB_QPS_SQE, v);
}
EXPORT_SYMBOL_IF_KUNIT(srn_qp_sq_error);

/* Of what had been done before the error, or is flushed after it, no event tells but that
 * of the CQ.
 */
void srn_qp_lost_cqe(struct srn_qp *qp, enum srn_verdict v)
{
	if (qp->state == IB_QPS_ERR && (!v || v == SRN_V_FLUSH))
		return;
	srn_qp_error(qp, SRN_V_LOC_QP_OP);
	srn_qp_event(qp, IB_EVENT_QP_FATAL);
}

void srn_qp_event(struct srn_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}
