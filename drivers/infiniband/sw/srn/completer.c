// SPDX-License-Identifier: GPL-2.0-only
/* What the peer answers, and what it completes. */
#include "completer.h"

#include <rdma/ib_verbs.h>

#include "parse.h"
#include "psn.h"
#include "qp.h"
#include "retry.h"
#include "sq.h"
#include "stats.h"
#include "trace.h"
#include "turn.h"
#include "window.h"
#include "wr_op.h"

static struct srn_wqe *oldest(struct srn_qp *qp)
{
	return srn_sq_oldest(&qp->sq);
}

/* Everything before @una was answered. */
static void progress(struct srn_qp *qp, u32 una)
{
	srn_window_acked(&qp->window, una);
	srn_sq_retire(qp);
	srn_retry_progress(qp);
}

/* Everything up to and including @psn has reached the peer. Stops in front of a
 * READ or atomic that was not answered. Returns false then.
 */
static bool acknowledge(struct srn_qp *qp, u32 psn)
{
	u32 una = qp->window.una;
	bool whole = srn_sq_acked(&qp->sq, psn, &una);

	if (una != qp->window.una)
		progress(qp, una);
	if (!whole)
		srn_retry_implied_nak(qp, una);
	return whole;
}

/* Everything before @psn arrived, @psn did not. */
static void rx_nak_seq(struct srn_qp *qp, u32 psn)
{
	srn_count(qp->dev, SRN_CNT_RCVD_SEQ_ERR);
	if (acknowledge(qp, srn_psn_add(psn, -1)) && qp->window.una == psn)
		srn_retry_nak(qp);
}

static void rx_rnr(struct srn_qp *qp, u32 psn, u8 code)
{
	srn_count(qp->dev, SRN_CNT_RCVD_RNR);
	if (acknowledge(qp, srn_psn_add(psn, -1)) && qp->window.una == psn)
		srn_retry_rnr(qp, code);
}

static void rx_fatal_nak(struct srn_qp *qp, u32 psn, u8 syndrome)
{
	enum srn_verdict v;

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
	default:	/* reserved */
		srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
		return;
	}
	srn_count(qp->dev, SRN_CNT_RCVD_NAK);
	/* A READ is refused at the PSN of one of its responses: what comes before
	 * that in the same READ has been answered, so it is the oldest one then.
	 */
	if (srn_psn_diff(psn, qp->window.una) > 0 &&
	    !(srn_wqe_is_answered(oldest(qp)) && srn_psn_diff(psn, oldest(qp)->last_psn) <= 0) &&
	    !acknowledge(qp, srn_psn_add(psn, -1)))
		return;
	srn_sq_fail(qp, oldest(qp), v);
}

static u8 syndrome_of(struct sk_buff *skb)
{
	return be32_get_bits(srn_pkt_aeth(skb)->smsn, SRN_AETH_SYNDROME);
}

static void rx_aeth(struct srn_qp *qp, struct sk_buff *skb)
{
	u8 syndrome = syndrome_of(skb);
	u32 psn = srn_pkt(skb)->psn;

	switch (u8_get_bits(syndrome, SRN_SYN_CLASS)) {
	case SRN_SYN_ACK:
		acknowledge(qp, psn);
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
	struct srn_wqe *wqe = oldest(qp);

	if (wqe->started && !srn_wqe_is_answered(wqe)) {
		/* Writes before it are acknowledged implicitly (9.7.5.1.2); with
		 * unanswered READs in between that stops there, as it must.
		 */
		if (srn_psn_diff(psn, wqe->last_psn) <= 0 ||
		    !acknowledge(qp, srn_psn_add(psn, -1)) || qp->sq.una == qp->sq.fetched)
			return NULL;
		wqe = oldest(qp);
	}
	if (!wqe->started || !srn_wqe_is_answered(wqe))
		return NULL;
	if (srn_psn_diff(psn, wqe->done_psn) > 0) {
		srn_retry_implied_nak(qp, wqe->done_psn);
		return NULL;
	}
	return psn == wqe->done_psn ? wqe : NULL;
}

static void advance(struct srn_qp *qp, struct srn_wqe *wqe)
{
	progress(qp, srn_sq_answered(wqe));
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

	if (ends != (psn == wqe->last_psn || (index + 1) % wqe->chunk == 0))
		return false;
	return starts || index % wqe->chunk;
}

/* Data with a NAK is no answer. MIDDLE has no AETH. */
static bool says_ack(struct sk_buff *skb)
{
	return !(srn_pkt_info(skb)->hdrs & SRN_HDR_AETH) ||
	       u8_get_bits(syndrome_of(skb), SRN_SYN_CLASS) == SRN_SYN_ACK;
}

static void bad_response(struct srn_qp *qp, struct srn_wqe *wqe)
{
	srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
	srn_sq_fail(qp, wqe, SRN_V_BAD_RESP);
}

static void rx_read_response(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_wqe *wqe = answered(qp, pkt->psn);
	enum srn_verdict v;
	struct srn_sgl sgl;
	u32 offset, len;
	u16 what;

	if (!wqe)
		return;
	what = srn_wr_ops[wqe->opcode].what;
	/* An atomic write is answered by READ RESPONSE ONLY, empty (annex A19). */
	if (what & SRN_WR_WORD) {
		if (pkt->len || !says_ack(skb))
			bad_response(qp, wqe);
		else
			advance(qp, wqe);
		return;
	}
	offset = srn_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	len = min(qp->mtu, wqe->length - offset);
	if (what & SRN_WR_FETCH || pkt->len != len ||
	    !fits_position(wqe, pkt->psn, srn_pkt_info(skb)->pos) || !says_ack(skb)) {
		bad_response(qp, wqe);
		return;
	}
	sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);
	v = srn_sgl_write_skb(&sgl, offset, skb, srn_pkt_payload(skb), len);
	if (v)
		srn_sq_fail(qp, wqe, v);
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
	if (!(srn_wr_ops[wqe->opcode].what & SRN_WR_FETCH) || !says_ack(skb)) {
		bad_response(qp, wqe);
		return;
	}
	orig = be64_to_cpu(srn_pkt_atomic_ack(skb)->orig);
	sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);
	v = srn_sgl_write(&sgl, 0, &orig, sizeof(orig));
	if (v)
		srn_sq_fail(qp, wqe, v);
	else
		advance(qp, wqe);
}

void srn_completer_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_opcode *info = srn_pkt_info(skb);

	srn_turn_assert_owned(&qp->turn);
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
		goto drop;
	/* Late answers to what was answered are legal and of no interest; an
	 * answer to what was never sent is neither.
	 */
	if (!srn_window_has(&qp->window, srn_pkt(skb)->psn)) {
		if (srn_psn_diff(srn_pkt(skb)->psn, qp->window.end) >= 0)
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
