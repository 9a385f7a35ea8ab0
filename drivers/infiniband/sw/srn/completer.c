// SPDX-License-Identifier: GPL-2.0-only
/* What the peer answers, and what it completes. */
#include "completer.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <rdma/ib_verbs.h>

#include "credit.h"
#include "gaps.h"
#include "hello.h"
#include "lost.h"
#include "note.h"
#include "parse.h"
#include "psn.h"
#include "qp.h"
#include "response.h"
#include "retry.h"
#include "sq.h"
#include "stats.h"
#include "trace.h"
#include "turn.h"
#include "window.h"
#include "wr_op.h"

static_assert(SRN_WINDOW_READS <= SRN_EARLY);

static bool receives(const struct srn_qp *qp)
{
	return qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;
}

static struct srn_wqe *oldest(struct srn_qp *qp)
{
	return srn_sq_oldest(&qp->sq);
}

/* Everything before @una was answered. */
static void progress(struct srn_qp *qp, u32 una)
{
	struct srn_window *w = &qp->window;
	u32 was = w->cwnd;

	srn_window_acked(w, una);
	trace_srn_window(qp, was, w->cwnd < was ? SRN_WINDOW_SETTLED : SRN_WINDOW_GREW);
	srn_sq_retire(qp);
	srn_retry_progress(qp);
}

/* The same by an answer of the READ or atomic in front of it. */
static void progress_answered(struct srn_qp *qp, u32 una)
{
	srn_hello_after_answer(&qp->peer);
	progress(qp, una);
}

/* Returns the next PSN of the READ's answer that has not come: those that came early have. */
static u32 skip_early(struct srn_qp *qp, struct srn_wqe *wqe)
{
	while (!wqe->done && srn_early_take(&qp->early, wqe->done_psn))
		srn_sq_answered(wqe);
	return wqe->done_psn;
}

/* Answers to a READ that came when others in front of it were missing. False: none did. */
static bool take_early(struct srn_qp *qp)
{
	u32 una = qp->window.una;

	if (!srn_sq_is_busy(&qp->sq) || !srn_wqe_is_read(oldest(qp)))
		return false;
	if (skip_early(qp, oldest(qp)) == una)
		return false;
	progress_answered(qp, oldest(qp)->done_psn);
	return true;
}

/* In the other mode all behind the READ is sent again. */
static void note_reached(struct srn_qp *qp, u32 psn)
{
	if (srn_qp_holds(qp))
		srn_early_reached(&qp->early, psn);
}

static void note_named(struct srn_qp *qp, u32 psn)
{
	if (srn_qp_holds(qp))
		srn_early_named(&qp->early, psn);
}

/* The answer with @psn is missing, though all up to @reached was answered. */
static void miss(struct srn_qp *qp, u32 psn, u32 reached)
{
	if (!srn_gaps_reached(qp, reached))
		srn_retry_implied_nak(qp, psn);
}

/* Everything up to and including @psn has reached the peer. Stops in front of a
 * READ or atomic that was not answered. Returns false then. Who names the oldest one, in the middle
 * of a READ, says nothing of its answer: all in front of that was answered.
 */
static bool acknowledge(struct srn_qp *qp, u32 psn)
{
	bool whole;
	u32 una;

	while (srn_psn_diff(psn, qp->window.una) >= 0) {
		una = qp->window.una;
		whole = srn_sq_acked(&qp->sq, psn, &una);
		if (una != qp->window.una) {
			srn_hello_after_ack(&qp->peer, una);
			progress(qp, una);
		}
		if (whole)
			return true;
		if (!take_early(qp)) {
			note_reached(qp, psn);
			miss(qp, una, psn);
			return false;
		}
	}
	return true;
}

/* Whether @psn, which the peer misses, is the oldest one, all before it having been acknowledged.
 * If a completion found no room meanwhile, nothing is sent any more.
 */
static bool is_missed(const struct srn_qp *qp, u32 psn)
{
	return receives(qp) && qp->window.una == psn;
}

/* It names the oldest one, which it may have had and let go. */
static void rx_missed(struct srn_qp *qp)
{
	srn_lost_missed(qp);
	srn_retry_nak(qp);
}

/* What was known of what is behind a READ that has more of its answer now. */
static void catch_up(struct srn_qp *qp)
{
	struct srn_early *early = &qp->early;

	if (likely(!early->reached_any))
		return;
	early->reached_any = false;
	if (acknowledge(qp, early->reached))
		take_early(qp);
	if (early->named_any && srn_psn_diff(early->named, qp->window.una) <= 0) {
		early->named_any = false;
		if (is_missed(qp, early->named))
			rx_missed(qp);
	}
}

static void hold_back(struct srn_qp *qp)
{
	u32 was = qp->window.cwnd;

	if (srn_window_hold_back(&qp->window))
		srn_hello_doubt(&qp->peer);
	trace_srn_window(qp, was, SRN_WINDOW_LOST);
}

/* Everything before @psn arrived, @psn did not. So what was silent was no long path alone; and a peer that
 * keeps what comes early, and knows us, says so in another way.
 */
static void rx_nak_seq(struct srn_qp *qp, u32 psn)
{
	srn_count(qp->dev, SRN_CNT_RCVD_SEQ_ERR);
	srn_window_guilty(&qp->window);
	if (!qp->score)
		hold_back(qp);
	if (!acknowledge(qp, srn_psn_add(psn, -1)))
		note_named(qp, psn);
	else if (is_missed(qp, psn))
		rx_missed(qp);
}

static void rx_rnr(struct srn_qp *qp, u32 psn, u8 code)
{
	srn_count(qp->dev, SRN_CNT_RCVD_RNR);
	srn_window_guilty(&qp->window);
	if (!acknowledge(qp, srn_psn_add(psn, -1))) {
		note_named(qp, psn);	/* it will say so again */
		return;
	}
	if (is_missed(qp, psn))
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

static void hear_credit(struct srn_qp *qp, struct sk_buff *skb)
{
	srn_credit_heard(&qp->credit, u8_get_bits(srn_pkt_syndrome(skb), SRN_SYN_VALUE),
			 srn_pkt_msn(skb), qp->window.una);
}

static void rx_aeth(struct srn_qp *qp, struct sk_buff *skb)
{
	u8 syndrome = srn_pkt_syndrome(skb);
	u32 psn = srn_pkt(skb)->psn;
	u8 class = u8_get_bits(syndrome, SRN_SYN_CLASS);

	if (unlikely(class == SRN_SYN_RNR || class == SRN_SYN_NAK))
		srn_note_rcvd(qp, syndrome, psn);
	switch (class) {
	case SRN_SYN_ACK:
		if (acknowledge(qp, psn) && srn_resend_is_stalled(&qp->resend, qp->window.una) &&
		    receives(qp))
			srn_retry_nak(qp);
		if (unlikely(qp->credit.on))
			hear_credit(qp, skb);
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

/* As a NAK of a gap, with more in it. Where nobody is asked it says nothing. */
static void rx_sack(struct srn_qp *qp, struct sk_buff *skb)
{
	u32 psn = srn_pkt(skb)->psn;

	if (!srn_hello_heard(qp, skb)) {
		srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
		return;
	}
	srn_count(qp->dev, SRN_CNT_RCVD_SACK);
	srn_note_rcvd(qp, srn_pkt_syndrome(skb), psn);
	srn_window_guilty(&qp->window);
	if (!acknowledge(qp, srn_psn_add(psn, -1)))
		note_named(qp, psn);
	if (is_missed(qp, psn))
		srn_lost_missed(qp);
	if (receives(qp) && srn_lost_heard(qp, psn, skb))
		srn_retry_heard(qp);
	else if (is_missed(qp, psn))
		srn_retry_nak(qp);
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
		if (srn_psn_diff(psn, wqe->last_psn) > 0)
			note_reached(qp, psn);
		miss(qp, wqe->done_psn, srn_psn_add(psn, -1));
		return NULL;
	}
	return psn == wqe->done_psn ? wqe : NULL;
}

/* @num: packets; of those some may have come early. */
static void advance(struct srn_qp *qp, struct srn_wqe *wqe, u32 num)
{
	while (num--) {
		srn_early_take(&qp->early, wqe->done_psn);
		srn_sq_answered(wqe);
	}
	progress_answered(qp, skip_early(qp, wqe));
	catch_up(qp);
}

static void bad_response(struct srn_qp *qp, struct srn_wqe *wqe)
{
	srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
	srn_sq_fail(qp, wqe, SRN_V_BAD_RESP);
}

/* The WQE that a packet answers, though others in front of it are missing; or NULL. */
static struct srn_wqe *answered_early(struct srn_qp *qp, struct sk_buff *skb)
{
	u32 psn = srn_pkt(skb)->psn, index;
	struct srn_wqe *wqe;

	if (!srn_qp_holds(qp) || !srn_early_fits(psn, qp->window.una))
		return NULL;
	index = srn_sq_find(&qp->sq, psn);
	if (index == qp->sq.fetched)
		return NULL;
	wqe = srn_sq_wqe(&qp->sq, index);
	if (!wqe->started || srn_psn_diff(psn, wqe->done_psn) < 0 || !srn_response_fits(qp, wqe, skb))
		return NULL;
	return wqe;
}

/* A buffer's bytes mean nothing before the completion, so they may come in any order. What is
 * wrong with a packet is judged when its turn comes: it will not be marked, and come again.
 */
static void rx_early(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_wqe *wqe = answered_early(qp, skb);
	u32 psn = srn_pkt(skb)->psn;

	if (!wqe || !srn_early_make_room(&qp->early) || srn_response_place(qp, wqe, skb))
		return;
	/* One that was taken before the scoreboard began, behind the cursor then, comes twice, too. */
	srn_gaps_came(qp, psn);
	srn_lost_answered(qp, psn);
	if (!srn_early_add(&qp->early, psn)) {
		if (!srn_gaps_twice(qp))
			srn_retry_implied_again(qp, qp->window.una);
		return;
	}
	srn_count(qp->dev, SRN_CNT_EARLY);
	srn_retry_early(qp, psn);
}

static void rx_read_response(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_wqe *wqe = answered(qp, pkt->psn);
	enum srn_verdict v;
	u16 what;

	if (!wqe) {
		rx_early(qp, skb);
		return;
	}
	what = srn_wr_ops[wqe->opcode].what;
	/* An atomic write is answered by READ RESPONSE ONLY, empty (annex A19). */
	if (what & SRN_WR_WORD) {
		if (pkt->len || !srn_response_says_ack(skb))
			bad_response(qp, wqe);
		else
			advance(qp, wqe, 1);
		return;
	}
	if (!srn_response_fits(qp, wqe, skb)) {
		bad_response(qp, wqe);
		return;
	}
	v = srn_response_place(qp, wqe, skb);
	/* Its region has gone, or it says what is not so: as if it had been lost. */
	if (v == SRN_V_DROP)
		return;
	if (v)
		srn_sq_fail(qp, wqe, v);
	else
		advance(qp, wqe, srn_pkt_num(skb));
}

static void rx_atomic_ack(struct srn_qp *qp, struct sk_buff *skb)
{
	struct srn_wqe *wqe = answered(qp, srn_pkt(skb)->psn);
	enum srn_verdict v;
	struct srn_sgl sgl;
	u64 orig;

	if (!wqe)
		return;
	if (!(srn_wr_ops[wqe->opcode].what & SRN_WR_FETCH) || !srn_response_says_ack(skb)) {
		bad_response(qp, wqe);
		return;
	}
	orig = be64_to_cpu(srn_pkt_atomic_ack(skb)->orig);
	sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);
	v = srn_sgl_write(&sgl, 0, &orig, sizeof(orig));
	if (v)
		srn_sq_fail(qp, wqe, v);
	else
		advance(qp, wqe, 1);
}

/* What goes on where the answer to the oldest READ is can be taken as one. What is in front of that
 * is acknowledged by it; if that is something else, its packets will say so again.
 */
bool srn_completer_takes_run(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	const struct srn_wqe *wqe;

	if (!receives(qp) || srn_pkt_info(skb)->op != SRN_OP_READ_RESP || pkt->each != qp->mtu ||
	    !srn_window_has(&qp->window, pkt->psn))
		return false;
	wqe = answered(qp, pkt->psn);
	return wqe && srn_response_fits(qp, wqe, skb);
}

/* What was answered is so once more. An ACK of what was acknowledged last may also come unasked, to tell
 * of receives (9.7.7.2).
 */
static void rx_late(struct srn_qp *qp, struct sk_buff *skb)
{
	srn_retry_late(qp);
	if (likely(!qp->credit.on) || srn_pkt_info(skb)->op != SRN_OP_ACK ||
	    u8_get_bits(srn_pkt_syndrome(skb), SRN_SYN_CLASS) != SRN_SYN_ACK)
		return;
	if (srn_pkt(skb)->psn == srn_psn_add(qp->window.una, -1))
		hear_credit(qp, skb);
}

void srn_completer_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_opcode *info = srn_pkt_info(skb);

	srn_turn_assert_owned(&qp->turn);
	if (!receives(qp))
		goto drop;
	/* Late answers to what was answered are legal and of no interest; an
	 * answer to what was never sent is neither.
	 */
	if (!srn_window_has(&qp->window, srn_pkt(skb)->psn)) {
		if (srn_psn_diff(srn_pkt(skb)->psn, qp->window.end) < 0)
			rx_late(qp, skb);
		else if (info->op != SRN_OP_ACK || !srn_hello_draws_any(qp))
			srn_count(qp->dev, SRN_CNT_BAD_RESPONSE);
		goto drop;
	}
	switch (info->op) {
	case SRN_OP_ACK:
		rx_aeth(qp, skb);
		break;
	case SRN_OP_SACK:
		rx_sack(qp, skb);
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
	napi_consume_skb(skb, 1);
	return;
drop:
	kfree_skb(skb);
}
EXPORT_SYMBOL_IF_KUNIT(srn_completer_rx);
