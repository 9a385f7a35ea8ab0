// SPDX-License-Identifier: GPL-2.0-only
/* WRITEs that follow each other in a pack, and of which nothing is to be told here: all that is said of
 * one is said of all, and of each is proven what differs. What is in any way amiss is left to the list
 * of checks (arrival_check.c), which says how; so is the last message, whose end is that of the pack.
 */
#include "arrival.h"

#include <rdma/ib_pack.h>

#include "ack.h"
#include "limits.h"
#include "mem.h"
#include "qp.h"
#include "run.h"
#include "sgl.h"

/* Whether a peer may write, and the next message neither interrupts another nor fills a gap. */
static bool may_begin(const struct srn_qp *qp)
{
	return qp->access & IB_ACCESS_REMOTE_WRITE && qp->resp.msg.op == SRN_OP_NONE &&
	       srn_ack_is_calm(&qp->resp.ack);
}

/* Of no bytes it has no key, either. */
static bool is_write(const struct srn_qp *qp, const struct srn_pkt *pkt)
{
	static_assert(SRN_PACK_PAYLOAD <= SRN_MAX_MSG_SIZE);
	return pkt->opcode == IB_OPCODE_RC_RDMA_WRITE_ONLY && pkt->len && pkt->len <= qp->mtu;
}

/* The message that the pack has come to. False: it was not executed. */
static bool execute(struct srn_qp *qp, struct sk_buff *skb, struct srn_mem **held)
{
	const struct srn_reth *reth = srn_pkt_reth(skb);
	u32 len = srn_pkt(skb)->len;
	u64 va = be64_to_cpu(reth->va);

	if (be32_to_cpu(reth->len) != len ||
	    srn_mem_hold_remote(&qp->who, be32_to_cpu(reth->rkey), va, len, IB_ACCESS_REMOTE_WRITE,
				held))
		return false;
	/* Programs poll on memory: what the WRITE before this one brought is seen first. */
	smp_wmb();
	/* What was proven of a pack is linear. */
	srn_mem_write(*held, va, skb->data + srn_pkt_payload(skb), len);
	return true;
}

void srn_arrival_writes(struct srn_qp *qp, struct sk_buff *skb)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	struct srn_mem *held = NULL;
	u32 num = 0, asked = 0;

	if (!may_begin(qp))
		return;
	while (srn_pkt_is_pack(skb) && is_write(qp, pkt) && execute(qp, skb, &held)) {
		asked += !!(pkt->flags & SRN_PKT_ACKREQ);
		num++;
		srn_run_advance(skb);
	}
	srn_mem_let_go(&held);
	if (!num)
		return;
	srn_message_pass(&qp->resp.msg, num);
	srn_ack_done(qp, srn_psn_add(pkt->psn, -1), asked);
}
