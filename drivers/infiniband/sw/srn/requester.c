// SPDX-License-Identifier: GPL-2.0-only
/* The send queue's cursor: which WQE goes next, may it, and send it. */
#include "requester.h"

#include <rdma/ib_verbs.h>

#include "ah.h"
#include "build.h"
#include "completer.h"
#include "opcode.h"
#include "psn.h"
#include "qp.h"
#include "build_request.h"
#include "segment.h"
#include "sq.h"
#include "xmit.h"

/* WQEs that are copied ahead of the one being sent: enough to see whether a
 * packet is the last for now, few enough to keep a round short.
 */
#define LOOKAHEAD	64
/* Without an ACK asked for this many packets, ask: keeps the window open. */
#define ACKREQ_EVERY	32

u32 srn_requester_inflight(const struct srn_qp *qp)
{
	return srn_psn_diff(qp->req.psn, qp->req.una_psn);
}

static u32 rd_inflight(const struct srn_requester *req)
{
	return req->rd_tail - req->rd_head;
}

static bool is_rd_atomic(u8 opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_ATOMIC_WRITE:
		return true;
	default:
		return false;
	}
}

static bool is_local(u8 opcode)
{
	return opcode == IB_WR_LOCAL_INV || opcode == IB_WR_BIND_MW || opcode == IB_WR_REG_MR;
}

static enum srn_verdict run_local(struct srn_qp *qp, struct srn_wqe *wqe)
{
	struct srn_mw_bind bind;

	switch (wqe->opcode) {
	case IB_WR_LOCAL_INV:
		return srn_mem_invalidate(qp->dev, qp->ibqp.pd, qp->ibqp.qp_num, wqe->inv_rkey,
					  false);
	case IB_WR_REG_MR:
		return srn_mem_fast_reg(qp->dev, qp->ibqp.pd, wqe->reg.mr, wqe->reg.key,
					wqe->reg.access);
	default:
		bind.addr = wqe->bind.addr;
		bind.length = wqe->bind.length;
		bind.mr_lkey = wqe->bind.mr_lkey;
		bind.mw_rkey = wqe->bind.mw_rkey;
		bind.new_rkey = wqe->bind.new_rkey;
		bind.access = wqe->bind.access;
		return srn_mem_bind(qp->dev, qp->ibqp.pd, qp->ibqp.qp_num, &bind);
	}
}

/* What a WQE waits for before it starts. */
static bool may_start(struct srn_qp *qp, struct srn_wqe *wqe)
{
	struct srn_requester *req = &qp->req;

	if (qp->state == IB_QPS_SQD)
		return false;
	if ((wqe->flags & IB_SEND_FENCE) && rd_inflight(req))
		return false;
	/* Earlier WQEs may have to be sent again, out of memory that this
	 * invalidates.
	 */
	if (wqe->opcode == IB_WR_LOCAL_INV && req->una != req->nxt)
		return false;
	return true;
}

/* PSNs that may be in flight. */
static u32 window(const struct srn_qp *qp)
{
	return min_t(u32, SRN_WINDOW, SRN_WINDOW_BYTES / qp->mtu);
}

/* UD packets have no path MTU of their own: the port's. */
static u32 wqe_mtu(struct srn_qp *qp)
{
	if (qp->ibqp.qp_type == IB_QPT_RC || qp->ibqp.qp_type == IB_QPT_UC)
		return qp->mtu;
	return ib_mtu_enum_to_int(srn_dev_mtu(qp->dev->ndev));
}

static void start(struct srn_qp *qp, struct srn_wqe *wqe, u32 mtu)
{
	struct srn_requester *req = &qp->req;
	bool datagram = qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;

	if (datagram && wqe->length > mtu) {
		wqe->status = SRN_V_LOC_LEN;
		return;
	}
	if (is_rd_atomic(wqe->opcode) && !qp->max_rd_atomic) {
		wqe->status = SRN_V_LOC_QP_OP;	/* it could never go */
		return;
	}
	wqe->first_psn = req->psn;
	wqe->last_psn = srn_psn_add(req->psn, srn_wqe_npsn(wqe, mtu) - 1);
	wqe->done_psn = req->psn;
	wqe->started = true;
}

/* Whether the packet after a message's last one can go at once, so that its ACK
 * will serve for both.
 */
static bool next_follows(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;
	struct srn_wqe *next;

	if (req->nxt + 1 == req->fetched)
		return false;
	next = srn_sq_wqe(qp, req->nxt + 1);
	return !next->status && !(next->flags & IB_SEND_FENCE) && !is_rd_atomic(next->opcode) &&
	       !is_local(next->opcode) && qp->state != IB_QPS_SQD;
}

static bool wants_ack(struct srn_qp *qp, const struct srn_plan *plan)
{
	if (qp->ibqp.qp_type != IB_QPT_RC)
		return false;
	if (qp->req.unasked + 1 >= ACKREQ_EVERY)
		return true;
	if (qp->req.probing || srn_requester_inflight(qp) + plan->npsn >= window(qp))
		return true;
	return plan->last && !next_follows(qp);
}

static bool is_solicited(const struct srn_wqe *wqe, const struct srn_plan *plan)
{
	return plan->last && (wqe->flags & IB_SEND_SOLICITED) &&
	       wqe->opcode != IB_WR_RDMA_WRITE && !is_rd_atomic(wqe->opcode);
}

static void account(struct srn_qp *qp, struct srn_wqe *wqe, const struct srn_plan *plan, bool asked)
{
	struct srn_requester *req = &qp->req;

	if (srn_psn_diff(plan->psn, req->max_psn) < 0)
		srn_count(qp->dev, SRN_CNT_RETRANS);
	req->psn = srn_psn_add(plan->psn, plan->npsn);
	if (srn_psn_diff(req->psn, req->max_psn) > 0)
		req->max_psn = req->psn;
	req->unasked = asked ? 0 : req->unasked + 1;
	if (is_rd_atomic(wqe->opcode))
		req->rd_last[req->rd_tail++ % SRN_MAX_RD_ATOMIC] = srn_psn_add(req->psn, -1);
	if (plan->last) {
		req->nxt++;
		if (srn_opcodes[plan->opcode].op == SRN_OP_SEND)
			srn_count(qp->dev, SRN_CNT_RDMA_SENDS);
	}
}

/* UC and UD are done when the last packet has left. */
static void sent_unreliable(struct srn_qp *qp, struct srn_wqe *wqe, const struct srn_plan *plan)
{
	qp->req.una_psn = qp->req.psn;
	if (!plan->last)
		return;
	wqe->done = true;
	srn_completer_retire(qp);
}

/* Whether the next packet takes the same path in this round, if the window lets it. */
static bool follows(struct srn_qp *qp, const struct srn_plan *plan)
{
	return !plan->last || next_follows(qp);
}

static void emit(struct srn_qp *qp, struct srn_wqe *wqe, const struct srn_plan *plan,
		 struct sk_buff *skb)
{
	if (srn_opcodes[plan->opcode].hdrs & SRN_HDR_DETH)
		srn_xmit(&wqe->ud.av->path, skb);
	else
		srn_train_add(&qp->req.train, &qp->path, skb, follows(qp, plan));
}

/* One packet of a started WQE. False: it can't go now. */
static bool send_packet(struct srn_qp *qp, struct srn_wqe *wqe, u32 mtu)
{
	struct srn_plan plan;
	enum srn_verdict v;
	struct sk_buff *skb;
	unsigned int flags;
	bool asked;

	srn_segment(wqe, qp->ibqp.qp_type, mtu, qp->req.psn, &plan);
	asked = wants_ack(qp, &plan);
	flags = (asked ? SRN_BUILD_ACKREQ : 0) | (is_solicited(wqe, &plan) ? SRN_BUILD_SE : 0);
	v = srn_build_request(qp, wqe, &plan, flags, &skb);
	if (v == SRN_V_AGAIN) {
		/* No memory is loss: the timer repeats what is not acknowledged. */
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
	} else if (v) {
		wqe->status = v;
		return true;
	} else {
		emit(qp, wqe, &plan, skb);
	}
	account(qp, wqe, &plan, asked);
	if (qp->ibqp.qp_type == IB_QPT_RC)
		srn_retry_ack_timer(qp);
	else
		sent_unreliable(qp, wqe, &plan);
	return true;
}

/* A WQE that is executed here, not sent. */
static void do_local(struct srn_qp *qp, struct srn_wqe *wqe)
{
	wqe->status = run_local(qp, wqe);
	if (wqe->status)
		return;
	wqe->done = true;
	qp->req.nxt++;
	srn_completer_retire(qp);
}

/* What has no window waits for room in the queues below. */
static bool has_room(struct srn_qp *qp, const struct srn_wqe *wqe)
{
	const struct srn_path *path = &qp->path;

	switch (qp->ibqp.qp_type) {
	case IB_QPT_RC:
		return true;
	case IB_QPT_UC:
		break;
	default:
		path = &wqe->ud.av->path;
	}
	if (srn_xmit_has_room(path))
		return true;
	srn_retry_room_timer(qp);
	return false;
}

/* One step of the WQE at the cursor. False: it waits for something. */
static bool step(struct srn_qp *qp, struct srn_wqe *wqe)
{
	struct srn_requester *req = &qp->req;
	u32 mtu = wqe_mtu(qp);

	if (wqe->done) {	/* a local operation, passed again after a rewind */
		req->nxt++;
		return true;
	}
	if (wqe->status) {	/* fails in its turn: after all before it are done */
		if (req->una != req->nxt)
			return false;
		srn_completer_fail(qp, wqe, wqe->status);
		return false;
	}
	if (!wqe->started) {
		if (!may_start(qp, wqe))
			return false;
		if (is_local(wqe->opcode)) {
			do_local(qp, wqe);
			return true;
		}
		start(qp, wqe, mtu);
		if (wqe->status)
			return true;
	}
	if (qp->ibqp.qp_type == IB_QPT_RC && srn_requester_inflight(qp) >= window(qp))
		return false;
	if (req->probing && srn_requester_inflight(qp))
		return false;
	if (!has_room(qp, wqe))
		return false;
	if (is_rd_atomic(wqe->opcode) && rd_inflight(req) >= qp->max_rd_atomic)
		return false;
	return send_packet(qp, wqe, mtu);
}

static bool may_send(const struct srn_qp *qp)
{
	return (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) && !qp->req.rnr_wait;
}

static bool run(struct srn_qp *qp, int *budget)
{
	struct srn_requester *req = &qp->req;

	while (may_send(qp)) {
		if (!srn_sq_fetch(qp, LOOKAHEAD))
			return false;
		if (req->nxt == req->fetched)
			return false;
		if (*budget <= 0)
			return true;
		if (!step(qp, srn_sq_wqe(qp, req->nxt)))
			return false;
		--*budget;
	}
	return false;
}

bool srn_requester_run(struct srn_qp *qp, int *budget)
{
	bool more = run(qp, budget);

	srn_train_leave(&qp->req.train, &qp->path);
	return more;
}

void srn_requester_seek(struct srn_qp *qp, u32 psn)
{
	struct srn_requester *req = &qp->req;
	struct srn_wqe *wqe;
	u32 i;

	for (i = req->una; i != req->fetched; i++) {
		wqe = srn_sq_wqe(qp, i);
		if (wqe->done)
			continue;
		if (!wqe->started || srn_psn_diff(psn, wqe->last_psn) <= 0)
			break;
	}
	req->nxt = i;
	req->psn = psn;
	req->unasked = 0;
	req->probing = false;
	/* What is asked again is in flight when it is sent again. */
	req->rd_head = req->rd_tail;
}

void srn_requester_progress(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;

	while (req->rd_head != req->rd_tail &&
	       srn_psn_diff(req->una_psn, req->rd_last[req->rd_head % SRN_MAX_RD_ATOMIC]) > 0)
		req->rd_head++;
	req->rewound = false;
	req->probing = false;
	req->rnr_wait = false;	/* the peer took what it had refused */
	req->retries = qp->retry_cnt;
	req->rnr_retries = qp->rnr_retry;
	/* The peer is ahead of what we have sent again: skip. */
	if (srn_psn_diff(req->una_psn, req->psn) > 0)
		srn_requester_seek(qp, req->una_psn);
	srn_retry_clear(qp);
	if (srn_requester_inflight(qp))
		srn_retry_ack_timer(qp);
}

void srn_requester_hush(struct srn_qp *qp)
{
	WRITE_ONCE(qp->page->status, 0);
}

bool srn_requester_idle(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;
	u32 tail;

	if (qp->kernel)
		return false;
	/* Answers will bring us back, and what is posted meanwhile goes in one burst. */
	if (may_send(qp) && (srn_requester_inflight(qp) >= SRN_DB_INFLIGHT ||
			     req->nxt != req->fetched)) {
		WRITE_ONCE(qp->page->status, 0);
		return false;
	}
	WRITE_ONCE(qp->page->status, SRN_QP_NEED_DB);
	/* Pairs with the provider's barrier between sq_tail and status. */
	smp_mb();
	if (!srn_sq_posted(qp, &tail))
		return false;
	/* Without a doorbell nobody else would flush what came after the flush. */
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE)
		return tail != req->una;
	if (!may_send(qp) || tail == req->fetched)
		return false;
	WRITE_ONCE(qp->page->status, 0);
	return true;
}

void srn_requester_reset(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;

	req->nxt = req->una;
	req->psn = req->una_psn;
	req->rd_head = req->rd_tail;
	req->unasked = 0;
	req->rnr_wait = false;
	req->rewound = false;
	req->probing = false;
	srn_retry_clear(qp);
}

void srn_requester_start(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;

	req->psn = qp->sq_psn;
	req->max_psn = qp->sq_psn;
	req->una_psn = qp->sq_psn;
	req->retries = qp->retry_cnt;
	req->rnr_retries = qp->rnr_retry;
}
