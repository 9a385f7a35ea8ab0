// SPDX-License-Identifier: GPL-2.0-only
/* The send queue: posted, fetched, flushed, forgotten. */
#include "sq.h"

#include "completer.h"
#include "qp.h"
#include "trace.h"

struct srn_wqe *srn_sq_wqe(struct srn_qp *qp, u32 index)
{
	return qp->sq.wqes + (size_t)(index & (qp->sq.entries - 1)) * qp->sq.wqe_size;
}

bool srn_sq_posted(struct srn_qp *qp, u32 *tail)
{
	struct srn_requester *req = &qp->req;

	if (qp->kernel) {
		*tail = smp_load_acquire(&qp->sq.tail);
		return true;
	}
	/* Pairs with the provider's release: slots before the tail are complete. */
	*tail = smp_load_acquire(&qp->page->sq_tail);
	return *tail - req->una <= qp->sq.entries && *tail - req->una >= req->fetched - req->una;
}

static void fetch_one(struct srn_qp *qp, u32 index)
{
	struct srn_wqe *wqe = srn_sq_wqe(qp, index);

	if (!qp->kernel)
		srn_wqe_fetch(qp->sq.slots + (size_t)(index & (qp->sq.entries - 1)) * qp->sq.stride,
			      &qp->sq.lim, wqe);
	wqe->started = false;
	wqe->done = false;
	trace_srn_post(qp, wqe);
}

bool srn_sq_fetch(struct srn_qp *qp, u32 ahead)
{
	struct srn_requester *req = &qp->req;
	u32 tail;

	if (!srn_sq_posted(qp, &tail)) {
		srn_qp_error(qp, SRN_V_LOC_QP_OP);
		return false;
	}
	while (req->fetched != tail && req->fetched - req->nxt < ahead)
		fetch_one(qp, req->fetched++);
	return true;
}

void srn_sq_flush(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;
	struct srn_wqe *wqe;
	u32 tail;

	if (!srn_sq_posted(qp, &tail))
		tail = req->fetched;
	while (req->una != tail) {
		if (req->fetched == req->una)
			fetch_one(qp, req->fetched++);
		wqe = srn_sq_wqe(qp, req->una);
		/* What was done before the error stays done. */
		if (!wqe->done)
			wqe->status = SRN_V_FLUSH;
		wqe->done = true;
		srn_completer_retire(qp);
	}
	srn_requester_reset(qp);
}

void srn_sq_discard(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;
	u32 tail;

	for (; req->una != req->fetched; req->una++)
		srn_wqe_release(&qp->sq.lim, srn_sq_wqe(qp, req->una));
	if (qp->kernel) {
		/* Posted but never looked at: they may hold address vectors. */
		for (tail = smp_load_acquire(&qp->sq.tail); req->una != tail; req->una++)
			srn_wqe_release(&qp->sq.lim, srn_sq_wqe(qp, req->una));
		smp_store_release(&qp->sq.head, req->una);
	} else if (qp->page) {
		req->una = smp_load_acquire(&qp->page->sq_tail);
		smp_store_release(&qp->page->sq_head, req->una);
		WRITE_ONCE(qp->page->status, SRN_QP_NEED_DB);
	}
	req->fetched = req->una;
	srn_requester_reset(qp);
}
