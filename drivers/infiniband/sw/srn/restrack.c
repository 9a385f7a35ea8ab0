// SPDX-License-Identifier: GPL-2.0-only
/* `rdma resource show -dd`: how far each object is. The values are read while
 * others write them: a snapshot for humans, each number right, no two of them
 * of quite the same moment.
 */
#include "restrack.h"

#include <kunit/visibility.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "cq.h"
#include "dcqcn.h"
#include "mr.h"
#include "note.h"
#include "psn.h"
#include "qp.h"
#include "rate.h"
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
	       rdma_nl_put_driver_u32(msg, "rx-queued", skb_queue_len_lockless(&qp->rxq) +
							skb_queue_len_lockless(&qp->noticeq));
}

/* In 32 bits: the rdma program ends at the padding in front of a longer number. */
static u32 micros(u64 ns)
{
	return min_t(u64, div_u64(ns, NSEC_PER_USEC), U32_MAX);
}

/* What the path and the window have become. */
static int put_path(struct sk_buff *msg, struct srn_qp *qp)
{
	const struct srn_window *w = &qp->window;

	return rdma_nl_put_driver_u32(msg, "srtt-us", micros(READ_ONCE(qp->rtt.srtt_ns))) ||
	       rdma_nl_put_driver_u32(msg, "rttvar-us", micros(READ_ONCE(qp->rtt.var_ns))) ||
	       rdma_nl_put_driver_u32(msg, "window-threshold", READ_ONCE(w->ssthresh)) ||
	       rdma_nl_put_driver_u32(msg, "window-most", READ_ONCE(w->most)) ||
	       rdma_nl_put_driver_u32(msg, "probes", READ_ONCE(qp->retry.probes)) ||
	       rdma_nl_put_driver_u32(msg, "rnr-wait", READ_ONCE(qp->retry.rnr_wait)) ||
	       rdma_nl_put_driver_u32(msg, "held-pkts", READ_ONCE(qp->resp.hold.num)) ||
	       rdma_nl_put_driver_u32(msg, "held-bytes", READ_ONCE(qp->resp.hold.bytes)) ||
	       rdma_nl_put_driver_u32(msg, "peer-sacks", READ_ONCE(qp->peer.sacks));
}

/* Nothing where nobody set a limit: the least of them, and the program's own. */
static int put_rate(struct sk_buff *msg, struct srn_qp *qp)
{
	u32 kbps = srn_rate_to_kbps(READ_ONCE(qp->pace.rate)), limit = READ_ONCE(qp->rate_limit);

	if (kbps && rdma_nl_put_driver_u32(msg, "rate-kbps", kbps))
		return -EMSGSIZE;
	return limit ? rdma_nl_put_driver_u32(msg, "rate-limit-kbps", limit) : 0;
}

/* Nothing where congestion sets no limit. */
static int put_congestion(struct sk_buff *msg, struct srn_qp *qp)
{
	u32 kbps = srn_rate_to_kbps(READ_ONCE(qp->dcqcn.rate));

	if (!kbps)
		return 0;
	return rdma_nl_put_driver_u32(msg, "cc-rate-kbps", kbps) ||
	       rdma_nl_put_driver_u32(msg, "cc-target-kbps",
				      srn_rate_to_kbps(READ_ONCE(qp->dcqcn.target))) ||
	       rdma_nl_put_driver_u32(msg, "cc-alpha", srn_dcqcn_alpha(&qp->dcqcn));
}

/* What was written since @now_ns was read is 0 ms old. */
static u32 ms_ago(u64 now_ns, u64 at_ns)
{
	u64 ms = at_ns < now_ns ? div_u64(now_ns - at_ns, NSEC_PER_MSEC) : 0;

	return min_t(u64, ms, U32_MAX);
}

static int put_nak(struct sk_buff *msg, const struct srn_note_nak *nak, u64 now_ns,
		   const char * const names[3])
{
	u64 at_ns = READ_ONCE(nak->at_ns);
	const char *reason;

	if (!at_ns)
		return 0;
	/* Pairs with the barrier in note.c's write_nak(). */
	smp_rmb();
	reason = srn_note_reason(READ_ONCE(nak->syndrome));
	return rdma_nl_put_driver_string(msg, names[0], reason) ||
	       rdma_nl_put_driver_u32_hex(msg, names[1], READ_ONCE(nak->psn)) ||
	       rdma_nl_put_driver_u32(msg, names[2], ms_ago(now_ns, at_ns));
}

/* The last of each kind; nothing of what never happened. */
static int put_notes(struct sk_buff *msg, struct srn_qp *qp)
{
	static const char * const sent[] = { "nak-sent", "nak-sent-psn", "nak-sent-ms-ago" };
	static const char * const rcvd[] = { "nak-rcvd", "nak-rcvd-psn", "nak-rcvd-ms-ago" };
	u64 now_ns = ktime_get_ns(), timeout_ns = READ_ONCE(qp->notes.timeout_ns);

	if (put_nak(msg, &qp->notes.sent, now_ns, sent) ||
	    put_nak(msg, &qp->notes.rcvd, now_ns, rcvd))
		return -EMSGSIZE;
	if (timeout_ns)
		return rdma_nl_put_driver_u32(msg, "timeout-ms-ago", ms_ago(now_ns, timeout_ns));
	return 0;
}

static int put_qp(struct sk_buff *msg, struct srn_qp *qp)
{
	enum srn_verdict v = READ_ONCE(qp->last_error);

	if (put_requester(msg, qp) || put_responder(msg, qp) || put_rate(msg, qp))
		return -EMSGSIZE;
	if (qp->svc->reliable &&
	    (put_path(msg, qp) || put_congestion(msg, qp) || put_notes(msg, qp)))
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

/* With these a CQ that is armed, and has completions, is no event that was lost. */
static int put_moderation(struct sk_buff *msg, const struct srn_moderation *m)
{
	if (!srn_moderation_is_on(m))
		return 0;
	return rdma_nl_put_driver_u32(msg, "event-count", m->count) ||
	       rdma_nl_put_driver_u32(msg, "event-us", m->period_ns / NSEC_PER_USEC) ||
	       rdma_nl_put_driver_u32(msg, "untold", m->untold);
}

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
	       rdma_nl_put_driver_u32(msg, "overrun", READ_ONCE(cq->overrun)) ||
	       put_moderation(msg, &cq->moderation);
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
EXPORT_SYMBOL_IF_KUNIT(srn_fill_res_mr);

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
