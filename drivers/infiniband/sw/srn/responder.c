// SPDX-License-Identifier: GPL-2.0-only
/* RC and UC requests: what follows from the verdict on each, which is where RC
 * (answers) and UC (silence) part. The checks are in arrival_check.c, what they permit is
 * done in arrival_execute.c.
 */
#include "responder.h"

#include "ack.h"
#include "arrival.h"
#include "mem.h"
#include "psn.h"
#include "qp.h"
#include "rq.h"
#include "stats.h"
#include "trace.h"

static enum srn_verdict check_psn(struct srn_arrival *a)
{
	s32 ahead = srn_psn_diff(a->pkt->psn, a->resp->psn);

	if (ahead)
		return ahead > 0 ? SRN_V_SEQ : SRN_V_DUP;
	a->ack_owed = srn_ack_expected(a->qp);
	return SRN_OK;
}

static enum srn_verdict serve(struct srn_arrival *a)
{
	enum srn_verdict v = srn_arrival_check(a) ?: srn_arrival_execute(a);

	if (a->mem)
		srn_mem_put(a->mem);
	return v;
}

static enum ib_event_type event_of(enum srn_verdict v)
{
	switch (v) {
	case SRN_V_INV_REQ:
		return IB_EVENT_QP_REQ_ERR;
	case SRN_V_REM_ACCESS:
		return IB_EVENT_QP_ACCESS_ERR;
	default:
		return IB_EVENT_QP_FATAL;
	}
}

/* The event is for errors that no completion tells of. */
void srn_responder_fail(struct srn_qp *qp, enum srn_verdict v, u32 psn)
{
	bool told = qp->resp.has_rwqe;

	if (told)
		srn_rq_fail(qp, v == SRN_V_INV_REQ ? SRN_V_INV_REQ_RESP : v);
	if (qp->ibqp.qp_type == IB_QPT_RC)
		srn_ack_fatal(qp, srn_verdicts[v].nak, psn);
	srn_qp_error(qp, v);
	if (!told)
		srn_qp_event(qp, event_of(v));
}

/* Answered again, never executed again. */
static void answer_again(struct srn_arrival *a)
{
	srn_count(a->qp->dev, SRN_CNT_DUP_REQUEST);
	switch (a->info->op) {
	case SRN_OP_SEND:
	case SRN_OP_WRITE:
		/* Not each packet of a burst that is sent again for nothing. */
		if (a->pkt->flags & SRN_PKT_ACKREQ)
			srn_ack_again(a->qp);
		break;
	case SRN_OP_READ_REQ:
		srn_replay_again_read(a->qp, a->pkt->psn, a->va, a->rkey, a->total);
		break;
	case SRN_OP_CMP_SWAP:
	case SRN_OP_FETCH_ADD:
	case SRN_OP_ATOMIC_WRITE:
		srn_replay_again_atomic(a->qp, a->info->op, a->pkt->psn);
		break;
	}
}

static enum srn_verdict rc_request(struct srn_arrival *a)
{
	enum srn_verdict v = check_psn(a) ?: serve(a);

	switch (v) {
	case SRN_OK:
		break;
	case SRN_V_DUP:
		answer_again(a);
		break;
	case SRN_V_SEQ:
		srn_count(a->qp->dev, SRN_CNT_OUT_OF_SEQ);
		srn_ack_gap(a->qp, a->pkt->psn);
		break;
	case SRN_V_RNR:
		srn_ack_rnr(a->qp);
		break;
	default:
		srn_responder_fail(a->qp, v, a->resp->psn);
	}
	return v;
}

/* Whatever is amiss with a packet, only the message that it is part of is lost.
 * The receive WQE, if one was taken, serves the next.
 */
static void uc_drop_message(struct srn_arrival *a)
{
	a->resp->cur_op = SRN_OP_NONE;
	a->resp->received = 0;
	a->resp->uc_drop = !a->end;
}

/* Any PSN is accepted at the start of a message; elsewhere it has to be the next. */
static enum srn_verdict uc_resync(struct srn_arrival *a)
{
	struct srn_responder *resp = a->resp;
	bool gap = a->pkt->psn != resp->psn;

	resp->psn = srn_psn_add(a->pkt->psn, 1);
	if (!gap && !resp->uc_drop &&
	    srn_responder_may_follow(resp->cur_op, a->info->op, a->info->pos))
		return SRN_OK;
	if (!resp->uc_drop && (gap || resp->cur_op != SRN_OP_NONE))
		srn_count(a->qp->dev, SRN_CNT_UC_LOST);
	resp->cur_op = SRN_OP_NONE;
	resp->received = 0;
	resp->uc_drop = !a->start && !a->end;
	return a->start ? SRN_OK : SRN_V_DROP;
}

static enum srn_verdict uc_request(struct srn_arrival *a)
{
	enum srn_verdict v = uc_resync(a) ?: serve(a);

	switch (v) {
	case SRN_OK:
	case SRN_V_DROP:
		break;
	case SRN_V_REM_OP:
	case SRN_V_RESP_PROT:
		/* Our own receive WQE is at fault, not the peer. */
		srn_responder_fail(a->qp, v, a->pkt->psn);
		break;
	case SRN_V_RNR:
		srn_count(a->qp->dev, SRN_CNT_RX_NO_RECV);
		uc_drop_message(a);
		break;
	default:
		srn_count(a->qp->dev, SRN_CNT_UC_REFUSED);
		uc_drop_message(a);
	}
	return v;
}

static void note_established(struct srn_qp *qp)
{
	if (qp->state != IB_QPS_RTR || qp->resp.comm_est)
		return;
	qp->resp.comm_est = true;
	srn_qp_event(qp, IB_EVENT_COMM_EST);
}

/* The packet may have waited while the QP left the state that demux saw. */
bool srn_responder_receives(const struct srn_qp *qp)
{
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
	       qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE;
}

void srn_responder_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	enum srn_verdict v;
	struct srn_arrival a;

	if (!srn_responder_receives(qp)) {
		srn_count(qp->dev, SRN_CNT_RX_BAD_STATE);
		kfree_skb(skb);
		return;
	}
	note_established(qp);
	srn_arrival_init(&a, qp, skb);
	v = qp->ibqp.qp_type == IB_QPT_RC ? rc_request(&a) : uc_request(&a);
	if (likely(!v)) {
		consume_skb(skb);
		return;
	}
	trace_srn_verdict(qp, a.pkt->opcode, a.pkt->psn, v);
	kfree_skb(skb);
}

/* In the error state only the way to a NAK is finished: what the peer asked for
 * before the request that failed, then the NAK.
 */
bool srn_responder_send(struct srn_qp *qp, int *budget)
{
	struct srn_responder *resp = &qp->resp;

	if (!resp->replay.open && !resp->ack_pending)
		return false;
	if (!srn_responder_receives(qp) && !resp->fatal) {
		srn_replay_abandon(&resp->replay);
		resp->ack_pending = false;
		return false;
	}
	if (resp->replay.open && srn_replay_send(qp, budget))
		return true;
	srn_ack_send(qp);
	return false;
}

/* What RESET leaves: nothing but the memory of the slots. */
void srn_responder_reset(struct srn_qp *qp)
{
	const u32 *tail = qp->kernel ? &qp->rq.tail : &qp->page->rq_tail;
	struct srn_replay replay = qp->resp.replay;

	srn_replay_clear(&replay);
	memset(&qp->resp, 0, sizeof(qp->resp));
	qp->resp.replay = replay;
	/* What was posted is forgotten; the poster goes on from here. */
	qp->resp.rq_head = READ_ONCE(*tail);
	/* As in rq.c: these slots are not read any more. */
	smp_store_release(&qp->page->rq_head, qp->resp.rq_head);
}

int srn_responder_alloc(struct srn_qp *qp, u32 num)
{
	return num == qp->resp.replay.num ? 0 : srn_replay_resize(&qp->resp.replay, num);
}

void srn_responder_free(struct srn_qp *qp)
{
	srn_replay_resize(&qp->resp.replay, 0);	/* to nothing: cannot fail */
}
