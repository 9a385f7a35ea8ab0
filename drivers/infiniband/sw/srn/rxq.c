// SPDX-License-Identifier: GPL-2.0-only
/* What waits for a QP's turn: how much of it, and what is too much. */
#include "rxq.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>

#include "convoy.h"
#include "run.h"
#include "trace.h"

/* How much of a QP's packets may wait. */
static const struct srn_share rxq_share = {
	.all = SRN_DEV_RXQ_BYTES,
	.full = SRN_RXQ_BYTES,
	.scarce = SRN_RXQ_SCARCE_BYTES,
	.most = SRN_RXQ_OWN_MAX_BYTES,
	.least = SRN_RXQ_OWN_MIN_BYTES,
};

/* Who has answers that wait for its rate may keep what comes behind them waiting for as long as it
 * likes: a peer chooses the rate, by its CNPs, and how much it reads.
 */
static long share_of(const struct srn_qp *qp, long all)
{
	long share = srn_dev_share(qp->dev, &rxq_share, all);

	return unlikely(READ_ONCE(qp->parked)) ? min(share, rxq_share.most) : share;
}

/* What waits is counted in the memory that it holds, for the QP and for its device. False: there is no
 * room, and @full counts that.
 */
static bool charge(struct srn_qp *qp, const struct sk_buff *skb, enum srn_counter *full)
{
	long own = atomic_add_return(skb->truesize, &qp->rxq_bytes);
	long all = atomic_long_add_return(skb->truesize, &qp->dev->rxq_bytes);

	if (likely(own <= share_of(qp, all)))
		return true;
	srn_rxq_uncharge(qp, skb);
	*full = own > SRN_RXQ_BYTES ? SRN_CNT_RX_OVERFLOW : SRN_CNT_RX_DEV_FULL;
	return false;
}

/* What was let in already waits on, whatever else does by now. */
static void charge_again(struct srn_qp *qp, const struct sk_buff *skb)
{
	atomic_add(skb->truesize, &qp->rxq_bytes);
	atomic_long_add(skb->truesize, &qp->dev->rxq_bytes);
}

/* To its place. */
void srn_rxq_put_back(struct srn_qp *qp, struct sk_buff *skb)
{
	charge_again(qp, skb);
	skb_queue_head(&qp->rxq, skb);
}

void srn_rxq_refuse(struct srn_qp *qp, struct sk_buff *skb, enum srn_counter cause)
{
	srn_count_add(qp->dev, cause, srn_pkt_num(skb));
	trace_srn_drop(qp->dev, cause);
	kfree_skb(skb);
}

static void purge(struct srn_qp *qp, struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(queue))) {
		srn_rxq_uncharge(qp, skb);
		srn_rxq_refuse(qp, skb, SRN_CNT_RX_BAD_STATE);
	}
}

void srn_rxq_purge(struct srn_qp *qp)
{
	purge(qp, &qp->noticeq);
	purge(qp, &qp->rxq);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rxq_purge);

/* A run that can't be taken as one is as many packets, which are charged as what waits. */
void srn_rxq_split(struct srn_qp *qp, struct sk_buff *skb, struct sk_buff_head *parts)
{
	struct sk_buff *part;

	__skb_queue_head_init(parts);
	if (srn_pkt_is_joined(skb)) {
		srn_count(qp->dev, SRN_CNT_SPLIT_CONVOYS);
		srn_convoy_split(skb, parts);
	} else {
		srn_count(qp->dev, SRN_CNT_SPLIT_RUNS);
		srn_count_add(qp->dev, SRN_CNT_RX_NOMEM, srn_run_split(skb, parts));
		consume_skb(skb);
	}
	skb_queue_walk(parts, part)
		charge_again(qp, part);
}

/* In its place. */
void srn_rxq_split_back(struct srn_qp *qp, struct sk_buff *skb)
{
	struct sk_buff_head parts;

	srn_rxq_split(qp, skb, &parts);
	spin_lock_irq(&qp->rxq.lock);
	skb_queue_splice(&parts, &qp->rxq);
	spin_unlock_irq(&qp->rxq.lock);
}

/* From BTH to ICRC, which one of a convoy has not any more. */
static u32 packet_bytes(struct sk_buff *skb)
{
	return srn_pkt(skb)->hdr_len + ALIGN(srn_pkt(skb)->len, 4) + SRN_ICRC_SIZE;
}

void srn_rxq_count(struct srn_qp *qp, struct sk_buff *skb)
{
	srn_count_packets(qp->dev, SRN_CNT_RCVD_PKTS, srn_pkt_num(skb),
			  srn_pkt_is_run(skb) ? srn_run_bytes(skb) : packet_bytes(skb));
}

static bool add_last(struct srn_qp *qp, struct sk_buff *skb, enum srn_counter *full)
{
	if (unlikely(!charge(qp, skb, full)))
		return false;
	srn_rxq_count(qp, skb);
	skb_queue_tail(unlikely(srn_rxq_is_notice(skb)) ? &qp->noticeq : &qp->rxq, skb);
	return true;
}

/* Packets that were joined are let in as far as there is room: all of them might never have it. */
static void enqueue_each(struct srn_qp *qp, struct sk_buff *skb)
{
	struct sk_buff_head parts;
	enum srn_counter full;

	__skb_queue_head_init(&parts);
	srn_count(qp->dev, SRN_CNT_SPLIT_CONVOYS);
	srn_convoy_split(skb, &parts);
	while ((skb = __skb_dequeue(&parts)))
		if (!add_last(qp, skb, &full))
			srn_rxq_refuse(qp, skb, full);
}

/* As the network would: a queue that grows without bound is a gift to whoever floods us. */
void srn_rxq_add(struct srn_qp *qp, struct sk_buff *skb)
{
	enum srn_counter full;

	if (likely(add_last(qp, skb, &full)))
		return;
	if (srn_pkt_is_joined(skb))
		enqueue_each(qp, skb);
	else
		srn_rxq_refuse(qp, skb, full);
}
