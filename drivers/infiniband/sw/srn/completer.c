// SPDX-License-Identifier: GPL-2.0-only
/* What the peer answers, and what it completes. */
#include "completer.h"

#include <rdma/ib_verbs.h>

#include "parse.h"
#include "psn.h"
#include "qp.h"
#include "sq.h"
#include "trace.h"

static struct srn_wqe *oldest(struct srn_qp *qp)
{
	return srn_sq_wqe(qp, qp->req.una);
}

static bool is_read_like(const struct srn_wqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_ATOMIC_WRITE:
		return true;
	default:
		return false;
	}
}

static void post_cqe(struct srn_qp *qp, const struct srn_wqe *wqe)
{
	struct srn_cqe cqe = {
		.wr_id = wqe->wr_id,
		.status = srn_verdicts[wqe->status].wc,
		.opcode = srn_wc_opcode(wqe->opcode),
		.byte_len = wqe->length,
		.qp_num = qp->ibqp.qp_num,
		.vendor_err = wqe->status,
		.port_num = qp->port_num,
	};

	trace_srn_complete(qp, &cqe);
	/* A CQE that finds no room is a lost completion: the QP can't go on. */
	if (!srn_cq_post(qp->scq, &cqe, wqe->status, &qp->ibqp) && qp->state != IB_QPS_ERR) {
		srn_qp_event(qp, IB_EVENT_QP_FATAL);
		srn_qp_error(qp, SRN_V_LOC_QP_OP);
	}
}

static void publish_head(struct srn_qp *qp)
{
	/* The slots may be written again: pairs with the poster's acquire. */
	if (qp->kernel)
		smp_store_release(&qp->sq.head, qp->req.una);
	else
		smp_store_release(&qp->page->sq_head, qp->req.una);
}

/* A request that is to be sent again is not in flight, and yet not over. */
static bool is_busy(struct srn_qp *qp)
{
	return qp->req.una != qp->req.fetched && oldest(qp)->started;
}

static void drained(struct srn_qp *qp)
{
	if (qp->state != IB_QPS_SQD || !qp->sq_draining || is_busy(qp))
		return;
	qp->sq_draining = false;
	if (qp->sqd_notify)
		srn_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

void srn_completer_retire(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;
	struct srn_wqe *wqe;

	while (req->una != req->fetched) {
		wqe = oldest(qp);
		if (!wqe->done)
			break;
		/* The slot is free before the program can see that it is. */
		req->una++;
		publish_head(qp);
		if (wqe->status || qp->sig_all || (wqe->flags & IB_SEND_SIGNALED))
			post_cqe(qp, wqe);
		srn_wqe_release(&qp->sq.lim, wqe);
	}
	if ((s32)(req->nxt - req->una) < 0)
		req->nxt = req->una;
	drained(qp);
}

void srn_completer_fail(struct srn_qp *qp, struct srn_wqe *wqe, enum srn_verdict v)
{
	wqe->status = v;
	wqe->done = true;
	srn_completer_retire(qp);
	if (srn_verdicts[v].effect == SRN_EFF_SQ_ERROR)
		srn_qp_sq_error(qp, v);
	else
		srn_qp_error(qp, v);
}

/* A response is missing: ask again, once. If that is lost too, the timer asks. */
static void implied_nak(struct srn_qp *qp, u32 psn)
{
	struct srn_requester *req = &qp->req;

	if (req->rewound)
		return;
	srn_count(qp->dev, SRN_CNT_IMPLIED_NAK);
	req->rewound = true;
	srn_requester_seek(qp, psn);
}

/* Everything up to and including @psn has reached the peer. Stops in front of a
 * READ or atomic that was not answered: an acknowledgment beyond it says that
 * its answer was lost. Returns false then.
 */
static bool acknowledge(struct srn_qp *qp, u32 psn)
{
	struct srn_requester *req = &qp->req;
	u32 before = req->una_psn;
	bool whole = true;
	struct srn_wqe *wqe;
	u32 i;

	for (i = req->una; i != req->fetched; i++) {
		wqe = srn_sq_wqe(qp, i);
		if (wqe->done)
			continue;
		if (!wqe->started || srn_psn_diff(psn, wqe->first_psn) < 0)
			break;
		if (is_read_like(wqe)) {
			whole = false;
			break;
		}
		if (srn_psn_diff(psn, wqe->last_psn) < 0) {
			req->una_psn = srn_psn_add(psn, 1);
			break;
		}
		wqe->done = true;
		req->una_psn = srn_psn_add(wqe->last_psn, 1);
	}
	if (req->una_psn != before) {
		srn_requester_progress(qp);
		srn_completer_retire(qp);
	}
	/* una_psn is where the missing answer begins: all before it is done. */
	if (!whole)
		implied_nak(qp, req->una_psn);
	return whole;
}

static void rx_ack(struct srn_qp *qp, u32 psn)
{
	acknowledge(qp, psn);
}

/* Everything before @psn arrived, @psn did not. */
static void rx_nak_seq(struct srn_qp *qp, u32 psn)
{
	struct srn_requester *req = &qp->req;

	srn_count(qp->dev, SRN_CNT_RCVD_SEQ_ERR);
	if (!acknowledge(qp, srn_psn_add(psn, -1)))
		return;
	if (req->una_psn != psn)
		return;
	/* Peers send one NAK for a gap: a second one says that what was resent got
	 * lost too, and costs a retry as a timeout does.
	 */
	if (req->rewound)
		srn_retry_again(qp);
	else
		srn_requester_seek(qp, psn);
	req->rewound = true;
}

static void rx_rnr(struct srn_qp *qp, u32 psn, u8 code)
{
	struct srn_requester *req = &qp->req;

	srn_count(qp->dev, SRN_CNT_RCVD_RNR);
	if (!acknowledge(qp, srn_psn_add(psn, -1)) || req->una_psn != psn)
		return;
	if (!req->rnr_retries) {
		srn_count(qp->dev, SRN_CNT_RNR_EXCEEDED);
		srn_completer_fail(qp, oldest(qp), SRN_V_RNR_EXC);
		return;
	}
	if (qp->rnr_retry != 7)		/* 7: without end (9.7.5.2.8) */
		req->rnr_retries--;
	srn_requester_seek(qp, psn);
	req->rnr_wait = true;
	srn_retry_rnr_timer(qp, code);
}

static void rx_fatal_nak(struct srn_qp *qp, u32 psn, u8 syndrome)
{
	enum srn_verdict v;

	srn_count(qp->dev, SRN_CNT_RCVD_NAK);
	switch (syndrome) {
	case SRN_SYN_NAK_INV_REQ:
		v = SRN_V_NAK_INV_REQ;
		break;
	case SRN_SYN_NAK_ACCESS:
		v = SRN_V_NAK_ACCESS;
		break;
	case SRN_SYN_NAK_OP:
		v = SRN_V_NAK_OP;
		break;
	default:
		v = SRN_V_BAD_RESP;
		break;
	}
	/* A READ is refused at the PSN of one of its responses: what comes before
	 * that in the same READ has been answered, so it is the oldest one then.
	 */
	if (srn_psn_diff(psn, qp->req.una_psn) > 0 &&
	    !(is_read_like(oldest(qp)) && srn_psn_diff(psn, oldest(qp)->last_psn) <= 0) &&
	    !acknowledge(qp, srn_psn_add(psn, -1)))
		return;
	srn_completer_fail(qp, oldest(qp), v);
}

static void rx_aeth(struct srn_qp *qp, struct sk_buff *skb)
{
	u8 syndrome = be32_get_bits(srn_pkt_aeth(skb)->smsn, SRN_AETH_SYNDROME);
	u32 psn = srn_pkt(skb)->psn;

	switch (u8_get_bits(syndrome, SRN_SYN_CLASS)) {
	case SRN_SYN_ACK:
		rx_ack(qp, psn);
		break;
	case SRN_SYN_RNR:
		rx_rnr(qp, psn, u8_get_bits(syndrome, SRN_SYN_VALUE));
		break;
	case SRN_SYN_NAK:
		if (syndrome == SRN_SYN_NAK_SEQ)
			rx_nak_seq(qp, psn);
		else
			rx_fatal_nak(qp, psn, syndrome);
		break;
	default:	/* reserved */
		srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
	}
}

/* The READ-like WQE that a response with @psn belongs to, all before it being
 * acknowledged by it. NULL: the packet is of no use.
 */
static struct srn_wqe *answered(struct srn_qp *qp, u32 psn)
{
	struct srn_requester *req = &qp->req;
	struct srn_wqe *wqe;

	wqe = oldest(qp);
	if (wqe->started && !is_read_like(wqe)) {
		/* Writes before it are acknowledged implicitly (9.7.5.1.2); with
		 * unanswered READs in between that stops there, as it must.
		 */
		if (srn_psn_diff(psn, wqe->last_psn) <= 0 ||
		    !acknowledge(qp, srn_psn_add(psn, -1)) || req->una == req->fetched)
			return NULL;
		wqe = oldest(qp);
	}
	if (!wqe->started || !is_read_like(wqe))
		return NULL;
	if (srn_psn_diff(psn, wqe->done_psn) > 0) {
		implied_nak(qp, wqe->done_psn);
		return NULL;
	}
	return psn == wqe->done_psn ? wqe : NULL;
}

static void advance(struct srn_qp *qp, struct srn_wqe *wqe)
{
	wqe->done_psn = srn_psn_add(wqe->done_psn, 1);
	qp->req.una_psn = wqe->done_psn;
	wqe->done = srn_psn_diff(wqe->done_psn, wqe->last_psn) > 0;
	srn_requester_progress(qp);
	if (wqe->done)
		srn_completer_retire(qp);
}

/* A READ that was asked for again in the middle goes on with FIRST or ONLY, or, as
 * rxe does it, with MIDDLE or LAST; its start and the ends of its chunks are
 * unmistakable.
 */
static bool fits_position(const struct srn_wqe *wqe, u32 psn, u8 pos)
{
	u32 index = srn_psn_diff(psn, wqe->first_psn);
	bool ends = pos == SRN_POS_LAST || pos == SRN_POS_ONLY;
	bool starts = pos == SRN_POS_FIRST || pos == SRN_POS_ONLY;

	if (ends != (psn == wqe->last_psn || (index + 1) % SRN_READ_CHUNK == 0))
		return false;
	return starts || index % SRN_READ_CHUNK;
}

static void rx_read_response(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_wqe *wqe = answered(qp, pkt->psn);
	enum srn_verdict v;
	struct srn_sgl sgl;
	u32 offset, len;

	if (!wqe)
		return;
	if (wqe->opcode == IB_WR_ATOMIC_WRITE) {	/* annex A19: READ RESPONSE ONLY, empty */
		if (pkt->len)
			srn_completer_fail(qp, wqe, SRN_V_BAD_RESP);
		else
			advance(qp, wqe);
		return;
	}
	offset = srn_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	len = min(qp->mtu, wqe->length - offset);
	if (wqe->opcode != IB_WR_RDMA_READ || pkt->len != len ||
	    !fits_position(wqe, pkt->psn, srn_pkt_info(skb)->pos)) {
		srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
		srn_completer_fail(qp, wqe, SRN_V_BAD_RESP);
		return;
	}
	sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);
	v = srn_sgl_write_skb(&sgl, offset, skb, srn_pkt_payload(skb), len);
	if (v)
		srn_completer_fail(qp, wqe, v);
	else
		advance(qp, wqe);
}

static void rx_atomic_ack(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_wqe *wqe = answered(qp, srn_pkt(skb)->psn);
	enum srn_verdict v;
	struct srn_sgl sgl;
	u64 orig;

	if (!wqe)
		return;
	if (wqe->opcode != IB_WR_ATOMIC_CMP_AND_SWP && wqe->opcode != IB_WR_ATOMIC_FETCH_AND_ADD) {
		srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
		srn_completer_fail(qp, wqe, SRN_V_BAD_RESP);
		return;
	}
	orig = be64_to_cpu(srn_pkt_atomic_ack(skb)->orig);
	sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);
	v = srn_sgl_write(&sgl, 0, &orig, sizeof(orig));
	if (v)
		srn_completer_fail(qp, wqe, v);
	else
		advance(qp, wqe);
}

/* Whether the PSN answers something that is in flight or will be sent again. */
static bool in_window(const struct srn_qp *qp, u32 psn)
{
	return srn_psn_diff(psn, qp->req.una_psn) >= 0 && srn_psn_diff(psn, qp->req.max_psn) < 0;
}

void srn_completer_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_opcode *info = srn_pkt_info(skb);

	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
		goto drop;
	/* Late answers to what was answered are legal and of no interest; an
	 * answer to what was never sent is neither.
	 */
	if (!in_window(qp, srn_pkt(skb)->psn)) {
		if (srn_psn_diff(srn_pkt(skb)->psn, qp->req.max_psn) >= 0)
			srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
		goto drop;
	}
	switch (info->op) {
	case SRN_OP_ACK:
		rx_aeth(qp, skb);
		break;
	case SRN_OP_READ_RESP:
		rx_read_response(qp, skb);
		break;
	case SRN_OP_ATOMIC_ACK:
		rx_atomic_ack(qp, skb);
		break;
	default:
		break;
	}
	consume_skb(skb);
	return;
drop:
	kfree_skb(skb);
}
