// SPDX-License-Identifier: GPL-2.0-only
/* `rdma resource show -dd`: how far each object is. The values are read while
 * others write them: a snapshot for humans, each number right, no two of them
 * of quite the same moment.
 */
#include "restrack.h"

#include <kunit/visibility.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "cq.h"
#include "mr.h"
#include "psn.h"
#include "qp.h"
#include "srq.h"

static int put_requester(struct sk_buff *msg, struct srn_qp *qp)
{
	const struct srn_window *w = &qp->window;

	return rdma_nl_put_driver_u32_hex(msg, "una-psn", READ_ONCE(w->una)) ||
	       rdma_nl_put_driver_u32_hex(msg, "next-psn", READ_ONCE(w->at.psn)) ||
	       rdma_nl_put_driver_u32(msg, "in-flight",
				      srn_psn_diff(READ_ONCE(w->end), READ_ONCE(w->una))) ||
	       rdma_nl_put_driver_u32(msg, "window", READ_ONCE(w->cwnd)) ||
	       rdma_nl_put_driver_u32(msg, "sq-pending",
				      READ_ONCE(qp->sq.fetched) - READ_ONCE(qp->sq.una)) ||
	       rdma_nl_put_driver_u32(msg, "rd-atomic",
				      READ_ONCE(w->rd_tail) - READ_ONCE(w->rd_head)) ||
	       rdma_nl_put_driver_u32(msg, "retries-left", READ_ONCE(qp->retry.retries)) ||
	       rdma_nl_put_driver_u32(msg, "rnr-retries-left", READ_ONCE(qp->retry.rnr_retries));
}

static int put_responder(struct sk_buff *msg, struct srn_qp *qp)
{
	const struct srn_message *peer = &qp->resp.msg;

	return rdma_nl_put_driver_u32_hex(msg, "expected-psn", READ_ONCE(peer->psn)) ||
	       rdma_nl_put_driver_u32(msg, "msn", READ_ONCE(peer->msn)) ||
	       rdma_nl_put_driver_u32(msg, "rx-queued", skb_queue_len_lockless(&qp->rxq));
}

static int put_qp(struct sk_buff *msg, struct srn_qp *qp)
{
	enum srn_verdict v = READ_ONCE(qp->last_error);

	if (put_requester(msg, qp) || put_responder(msg, qp))
		return -EMSGSIZE;
	if (v != SRN_OK && v < SRN_V_MAX)
		return rdma_nl_put_driver_string(msg, "error", srn_verdict_name(v));
	return 0;
}

int srn_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	if (put_qp(msg, to_srn_qp(ibqp))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_fill_res_qp);

static int put_cq(struct sk_buff *msg, struct srn_cq *cq)
{
	u32 cons;

	lockdep_assert_held(&cq->lock);
	if (!cq->page)
		return 0;	/* it is just going */
	cons = cq->kernel ? cq->cons : READ_ONCE(cq->page->cons);
	return rdma_nl_put_driver_u32(msg, "entries", READ_ONCE(cq->entries)) ||
	       rdma_nl_put_driver_u32_hex(msg, "prod", READ_ONCE(cq->prod)) ||
	       rdma_nl_put_driver_u32_hex(msg, "cons", cons) ||
	       rdma_nl_put_driver_u32(msg, "armed", READ_ONCE(cq->page->arm)) ||
	       rdma_nl_put_driver_u32(msg, "overrun", READ_ONCE(cq->overrun));
}

int srn_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct srn_cq *cq = to_srn_cq(ibcq);
	unsigned long flags;
	int err;

	if (!table)
		return -EMSGSIZE;
	spin_lock_irqsave(&cq->lock, flags);	/* a resize swaps the pages */
	err = put_cq(msg, cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (err) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_fill_res_cq);

static const char * const mem_types[] = {
	[SRN_MEM_USER]	= "user",
	[SRN_MEM_DMA]	= "dma",
	[SRN_MEM_FRMR]	= "fast-reg",
	[SRN_MEM_MW]	= "window",
};

static const char * const mem_states[] = {
	[SRN_MEM_INVALID]	= "invalid",
	[SRN_MEM_FREE]		= "free",
	[SRN_MEM_VALID]		= "valid",
};

static int put_mem(struct sk_buff *msg, const struct srn_mem *mem)
{
	return rdma_nl_put_driver_string(msg, "type", mem_types[mem->type]) ||
	       rdma_nl_put_driver_string(msg, "state", mem_states[READ_ONCE(mem->state)]) ||
	       rdma_nl_put_driver_u32_hex(msg, "access", READ_ONCE(mem->access)) ||
	       rdma_nl_put_driver_u32(msg, "blocks", READ_ONCE(mem->map.nblocks)) ||
	       rdma_nl_put_driver_u32(msg, "block-shift", READ_ONCE(mem->map.block_shift)) ||
	       rdma_nl_put_driver_u32(msg, "windows", atomic_read(&mem->windows));
}

int srn_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	if (put_mem(msg, &container_of(ibmr, struct srn_mr, ibmr)->mem)) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

static int put_srq(struct sk_buff *msg, const struct srn_srq *srq)
{
	lockdep_assert_held(&srq->lock);
	if (!srq->page)
		return 0;
	return rdma_nl_put_driver_u32(msg, "entries", srq->entries) ||
	       rdma_nl_put_driver_u32_hex(msg, "head", READ_ONCE(srq->head)) ||
	       rdma_nl_put_driver_u32_hex(msg, "tail", READ_ONCE(srq->page->tail)) ||
	       rdma_nl_put_driver_u32(msg, "limit", READ_ONCE(srq->limit));
}

int srn_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct srn_srq *srq = to_srn_srq(ibsrq);
	unsigned long flags;
	int err;

	if (!table)
		return -EMSGSIZE;
	spin_lock_irqsave(&srq->lock, flags);
	err = put_srq(msg, srq);
	spin_unlock_irqrestore(&srq->lock, flags);
	if (err) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_fill_res_srq);
