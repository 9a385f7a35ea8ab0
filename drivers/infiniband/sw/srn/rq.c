// SPDX-License-Identifier: GPL-2.0-only
/* The receive queue: WQEs in, completions out. */
#include "rq.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>

#include "credit.h"
#include "qp.h"
#include "stats.h"
#include "trace.h"
#include "wire.h"

static const u32 *tail_of(const struct srn_qp *qp)
{
	return qp->who.kernel ? &qp->rq.tail : &qp->page->rq_tail;
}

/* WQEs posted since the last look; more than there are slots: the index, which a
 * program can write as it likes, is garbage.
 */
static u32 posted(const struct srn_qp *qp)
{
	/* Acquire: the slots were filled before. Pairs with the release in
	 * srn_post_recv(), and in the provider for a program's ring.
	 */
	return smp_load_acquire(tail_of(qp)) - qp->rq.head;
}

static const struct srn_recv_wqe *head_slot(const struct srn_qp *qp)
{
	u32 index = qp->rq.head & (qp->rq.entries - 1);

	return qp->rq.slots + (size_t)index * qp->rq.stride;
}

static void consume_head(struct srn_qp *qp)
{
	/* The slot was read before it may be overwritten. Pairs with the
	 * provider's acquire when it looks for room.
	 */
	smp_store_release(&qp->page->rq_head, ++qp->rq.head);
}

void srn_rq_reset(struct srn_qp *qp)
{
	qp->rq.bad = false;
	qp->rq.open = false;
	qp->rq.last_wqe_reached = false;
	qp->rq.head = READ_ONCE(*tail_of(qp));
	/* As in consume_head(): these slots are not read any more. */
	smp_store_release(&qp->page->rq_head, qp->rq.head);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rq_reset);

static enum srn_verdict fetch_own(struct srn_qp *qp)
{
	u32 n = posted(qp);
	enum srn_verdict v;

	if (!n)
		return SRN_V_RNR;
	if (n > qp->rq.entries)
		return SRN_V_REM_OP;
	v = srn_rwqe_fetch(head_slot(qp), qp->rq.max_sge, qp->rq.wqe);
	consume_head(qp);
	qp->rq.open = true;
	qp->rq.bad = v;
	return v ? SRN_V_REM_OP : SRN_OK;
}

static enum srn_verdict fetch_shared(struct srn_qp *qp)
{
	enum srn_verdict v = srn_srq_fetch(qp->srq, qp->rq.wqe);

	if (v && v != SRN_V_RNR) {
		qp->rq.bad = true;
		return SRN_V_REM_OP;
	}
	qp->rq.open = !v;
	return v;
}

enum srn_verdict srn_rq_open(struct srn_qp *qp)
{
	srn_turn_assert_owned(&qp->turn);
	/* Who was refused may ask once more: the first of what was joined is not always the one (responder.c). */
	if (unlikely(qp->rq.bad))
		return SRN_V_REM_OP;
	if (qp->rq.open)
		return SRN_OK;
	return qp->srq ? fetch_shared(qp) : fetch_own(qp);
}

bool srn_rq_is_empty(const struct srn_qp *qp)
{
	return qp->srq ? srn_srq_is_empty(qp->srq) : !posted(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rq_is_empty);

u8 srn_rq_syndrome(const struct srn_qp *qp)
{
	u32 n;

	if (qp->srq)
		return SRN_SYN_ACK_UNLIMITED;
	if (!qp->rq.entries)
		return srn_credit_code(0);
	n = posted(qp);
	if (n > qp->rq.entries)
		n = 0;
	return srn_credit_code(n + qp->rq.open);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rq_syndrome);

struct srn_sgl srn_rq_sgl(const struct srn_qp *qp)
{
	return (struct srn_sgl){
		.sge = qp->rq.wqe->sge,
		.num = qp->rq.wqe->num_sge,
		.who = qp->srq ? &qp->srq->who : &qp->who,
	};
}

void srn_rq_cqe(const struct srn_qp *qp, struct srn_cqe *cqe)
{
	*cqe = (struct srn_cqe) {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.qp_num = qp->ibqp.qp_num,
		.src_qp = qp->dest_qpn,
		.pkey_index = qp->pkey_index,
		.port_num = qp->port_num,
		.network_hdr_type = qp->path.is_v6 ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_IPV4,
	};
}

static void post(struct srn_qp *qp, const struct srn_cqe *cqe, bool solicited)
{
	trace_srn_complete(qp, cqe);
	if (unlikely(srn_qp_is_gone(qp)))
		srn_cq_post_spare(qp->rcq, cqe, 1, &qp->ibqp);
	else if (!srn_cq_post(qp->rcq, cqe, solicited, &qp->ibqp))
		srn_qp_lost_cqe(qp, cqe->vendor_err);
}

void srn_rq_complete(struct srn_qp *qp, struct srn_cqe *cqe, bool solicited)
{
	qp->rq.open = false;
	cqe->wr_id = qp->rq.wqe->wr_id;
	srn_count(qp->dev, SRN_CNT_RDMA_RECVS);
	post(qp, cqe, solicited);
}

static void post_failed(struct srn_qp *qp, u64 wr_id, enum srn_verdict v)
{
	struct srn_cqe cqe;

	srn_rq_cqe(qp, &cqe);
	cqe.wr_id = wr_id;
	cqe.status = srn_verdicts[v].wc;
	cqe.vendor_err = v;
	post(qp, &cqe, true);
}

void srn_rq_fail(struct srn_qp *qp, enum srn_verdict v)
{
	qp->rq.open = false;
	post_failed(qp, qp->rq.wqe->wr_id, v);
}

/* No more than the ring holds, whatever its index says: a program may write
 * garbage there, and then gets garbage, in bounded time.
 */
static bool flush_own(struct srn_qp *qp, int *budget)
{
	u32 n = posted(qp);

	/* What never was in the ring is passed over: the next round would find it again. */
	if (n > qp->rq.entries) {
		qp->rq.head += n - qp->rq.entries;
		n = qp->rq.entries;
	}
	for (; n && *budget > 0; n--, --*budget) {
		post_failed(qp, READ_ONCE(head_slot(qp)->wr_id), SRN_V_FLUSH);
		consume_head(qp);
	}
	return n;
}

/* A SRQ's WQEs belong to its other QPs too. What this QP took of them is
 * complete now, and its user may destroy it.
 */
static void flush_shared(struct srn_qp *qp)
{
	if (qp->rq.last_wqe_reached)
		return;
	qp->rq.last_wqe_reached = true;
	srn_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

bool srn_rq_flush(struct srn_qp *qp, int *budget)
{
	if (qp->rq.open) {
		if (*budget <= 0)
			return true;
		srn_rq_fail(qp, SRN_V_FLUSH);
		--*budget;
	}
	if (qp->rq.entries)
		return flush_own(qp, budget);
	if (qp->srq)
		flush_shared(qp);
	return false;
}
