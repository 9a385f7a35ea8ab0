// SPDX-License-Identifier: GPL-2.0-only
/* A QP's turn: what runs, in which order, and how it is woken. */
#include "qp.h"

#include "completer.h"
#include "parse.h"
#include "trace.h"

static bool is_datagram(const struct srn_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;
}

static void rx_one(struct srn_qp *qp, struct sk_buff *skb)
{
	trace_srn_rx(qp, skb);
	if (is_datagram(qp))
		srn_ud_rx(qp, skb);
	else if (srn_pkt_info(skb)->is_request || srn_pkt_info(skb)->op == SRN_OP_NONE)
		srn_responder_rx(qp, skb);
	else
		srn_completer_rx(qp, skb);
}

/* Returns true if packets are left. */
static bool run_rx(struct srn_qp *qp, int *budget)
{
	struct sk_buff *skb;

	while (*budget > 0) {
		skb = skb_dequeue(&qp->rxq);
		if (!skb)
			return false;
		rx_one(qp, skb);
		--*budget;
	}
	return !skb_queue_empty_lockless(&qp->rxq);
}

static bool is_error(const struct srn_qp *qp)
{
	return qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE;
}

static void run_flush(struct srn_qp *qp)
{
	srn_requester_flush(qp);
	if (qp->state == IB_QPS_ERR)
		srn_responder_flush(qp);
}

/* The order is that of urgency: what arrived decides what may be sent; answers
 * go before requests, since a peer waits for them.
 */
static bool qp_round(struct srn_turn *turn, unsigned int bits)
{
	struct srn_qp *qp = container_of(turn, struct srn_qp, turn);
	int rx = SRN_RUN_BUDGET, tx = SRN_RUN_BUDGET;
	bool more;

	more = run_rx(qp, &rx);
	/* After the packets: an answer that is here already is in time. */
	if (bits & SRN_TURN_TIMER)
		srn_retry_expired(qp);
	more |= srn_responder_send(qp, &tx);
	more |= srn_requester_run(qp, &tx);
	if (is_error(qp))
		run_flush(qp);
	if (!more)
		more = srn_requester_idle(qp);
	return more;
}

void srn_qp_turn_init(struct srn_qp *qp)
{
	srn_turn_init(&qp->turn, qp_round);
	skb_queue_head_init(&qp->rxq);
}

void srn_qp_rx(struct srn_qp *qp, struct sk_buff *skb)
{
	/* As the network would: a queue that grows without bound is a gift to
	 * whoever floods us.
	 */
	if (skb_queue_len_lockless(&qp->rxq) >= SRN_RXQ_MAX) {
		srn_count(qp->dev, SRN_CNT_RX_OVERFLOW);
		kfree_skb(skb);
		return;
	}
	srn_count(qp->dev, SRN_CNT_RCVD_PKTS);
	srn_count_add(qp->dev, SRN_CNT_RCVD_BYTES, skb->len - srn_pkt(skb)->bth);
	skb_queue_tail(&qp->rxq, skb);
	srn_turn_kick(&qp->turn, SRN_TURN_RX);
}

void srn_qp_doorbell(struct srn_qp *qp)
{
	srn_turn_kick(&qp->turn, SRN_TURN_SQ);
}
