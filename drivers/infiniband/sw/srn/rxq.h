/* SPDX-License-Identifier: GPL-2.0-only */
/* The packets that wait for a QP's turn, in order: so much memory of them and no more, of a QP and of its
 * device. Congestion notifications wait in a queue of their own, likewise counted.
 */
#ifndef SRN_RXQ_H
#define SRN_RXQ_H

#include <linux/skbuff.h>

#include "parse.h"
#include "qp.h"
#include "stats.h"

/* A congestion notification is of no message: no place in their order is its own, and behind a
 * request that waits it would be of a congestion that is over.
 */
static inline bool srn_rxq_is_notice(struct sk_buff *skb)
{
	return srn_pkt_info(skb)->op == SRN_OP_CNP;
}

/** srn_rxq_add() - behind all that waits; what there is no room for is refused; consumes @skb */
void srn_rxq_add(struct srn_qp *qp, struct sk_buff *skb);

/** srn_rxq_count() - it was received, and is let in */
void srn_rxq_count(struct srn_qp *qp, struct sk_buff *skb);

/** srn_rxq_uncharge() - it was taken out of its queue */
static inline void srn_rxq_uncharge(struct srn_qp *qp, const struct sk_buff *skb)
{
	atomic_long_sub(skb->truesize, &qp->dev->rxq_bytes);
	atomic_sub(skb->truesize, &qp->rxq_bytes);
}

/** srn_rxq_put_back() - what was taken out last has to wait; owner of the turn */
void srn_rxq_put_back(struct srn_qp *qp, struct sk_buff *skb);

/** srn_rxq_split() - @parts, of a run that was taken out, which are charged; consumes @skb */
void srn_rxq_split(struct srn_qp *qp, struct sk_buff *skb, struct sk_buff_head *parts);

/** srn_rxq_split_back() - likewise, and they are in its place; owner of the turn */
void srn_rxq_split_back(struct srn_qp *qp, struct sk_buff *skb);

/** srn_rxq_refuse() - drops what does not wait, and counts it */
void srn_rxq_refuse(struct srn_qp *qp, struct sk_buff *skb, enum srn_counter cause);

/** srn_rxq_purge() - drop the packets that wait; owner of the turn */
void srn_rxq_purge(struct srn_qp *qp);

#endif
