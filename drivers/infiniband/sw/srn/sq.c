// SPDX-License-Identifier: GPL-2.0-only
/* The send queue: posted, fetched, done, completed, flushed, forgotten. */
#include "sq.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <rdma/ib_verbs.h>

#include "cq.h"
#include "gather.h"
#include "psn.h"
#include "qp.h"
#include "trace.h"
#include "turn.h"

bool srn_sq_posted(struct srn_qp *qp, u32 *tail)
{
	const struct srn_sq *sq = &qp->sq;

	if (qp->who.kernel) {
		*tail = smp_load_acquire(&sq->tail);
		return true;
	}
	/* Pairs with the provider's release: slots before the tail are complete. */
	*tail = smp_load_acquire(&qp->page->sq_tail);
	return *tail - sq->una <= sq->entries && *tail - sq->una >= sq->fetched - sq->una;
}

static void fetch_one(struct srn_qp *qp)
{
	struct srn_sq *sq = &qp->sq;
	struct srn_wqe *wqe = srn_sq_wqe(sq, sq->fetched);

	if (!qp->who.kernel)
		srn_wqe_fetch(sq->slots + (size_t)(sq->fetched & (sq->entries - 1)) * sq->stride,
			      &sq->lim, wqe);
	wqe->started = false;
	wqe->done = false;
	trace_srn_post(qp, wqe);
	sq->fetched++;
}

bool srn_sq_fetch(struct srn_qp *qp, u32 num)
{
	u32 tail;

	if (!srn_sq_posted(qp, &tail)) {
		srn_qp_error(qp, SRN_V_LOC_QP_OP);
		return false;
	}
	for (; num && qp->sq.fetched != tail; num--)
		fetch_one(qp);
	return true;
}

/* What comes behind has no PSN that is smaller; what has none yet counts as behind all. */
static bool ends_before(const struct srn_wqe *wqe, u32 psn)
{
	return (wqe->started || wqe->done) && srn_psn_diff(psn, wqe->last_psn) > 0;
}

/* Halves what is left: a peer has thousands of them looked for. */
u32 srn_sq_find(const struct srn_sq *sq, u32 psn)
{
	u32 first = sq->una, num = sq->fetched - sq->una, half;

	while (num) {
		half = num / 2;
		if (ends_before(srn_sq_wqe(sq, first + half), psn)) {
			first += half + 1;
			num -= half + 1;
		} else {
			num = half;
		}
	}
	while (first != sq->fetched && srn_sq_wqe(sq, first)->done)
		first++;
	return first;
}
EXPORT_SYMBOL_IF_KUNIT(srn_sq_find);

bool srn_sq_acked(struct srn_sq *sq, u32 psn, u32 *una)
{
	struct srn_wqe *wqe;
	u32 i;

	for (i = sq->una; i != sq->fetched; i++) {
		wqe = srn_sq_wqe(sq, i);
		if (wqe->done)
			continue;
		if (!wqe->started || srn_psn_diff(psn, wqe->first_psn) < 0)
			break;
		if (srn_wqe_is_answered(wqe))
			return false;
		if (srn_psn_diff(psn, wqe->last_psn) < 0) {
			*una = srn_psn_add(psn, 1);
			break;
		}
		wqe->done = true;
		*una = srn_psn_add(wqe->last_psn, 1);
	}
	return true;
}

u32 srn_sq_answered(struct srn_wqe *wqe)
{
	wqe->done_psn = srn_psn_add(wqe->done_psn, 1);
	wqe->done = srn_psn_diff(wqe->done_psn, wqe->last_psn) > 0;
	return wqe->done_psn;
}

/* Completions that are told of at once. They are put together on the stack. */
#define AT_ONCE	8

struct told {
	struct srn_cqe cqes[AT_ONCE];
	u32 num;
	bool failed;		/* one of them did */
};

static bool tells(const struct srn_qp *qp, const struct srn_wqe *wqe)
{
	return wqe->status || srn_qp_signals(qp, wqe);
}

static void add_cqe(const struct srn_qp *qp, const struct srn_wqe *wqe, struct told *told)
{
	told->cqes[told->num++] = (struct srn_cqe){
		.wr_id = wqe->wr_id,
		.status = srn_verdicts[wqe->status].wc,
		.opcode = srn_wr_ops[wqe->opcode].wc,
		.byte_len = wqe->length,
		.qp_num = qp->ibqp.qp_num,
		.vendor_err = wqe->status,
		.port_num = qp->port_num,
	};
	told->failed |= wqe->status;
}

static void post_cqes(struct srn_qp *qp, const struct told *told)
{
	u32 i;

	srn_gather_told(&qp->req.bell.gather);
	for (i = 0; i < told->num; i++)
		trace_srn_complete(qp, told->cqes + i);
	if (unlikely(srn_qp_is_gone(qp))) {
		srn_cq_post_spare(qp->scq, told->cqes, told->num, &qp->ibqp);
		return;
	}
	i = srn_cq_post_many(qp->scq, told->cqes, told->num, told->failed, &qp->ibqp);
	for (; i < told->num; i++)
		srn_qp_lost_cqe(qp, told->cqes[i].vendor_err);
}

static void publish_head(struct srn_qp *qp)
{
	/* The slots may be written again: pairs with the poster's acquire. */
	if (qp->who.kernel)
		smp_store_release(&qp->sq.head, qp->sq.una);
	else
		smp_store_release(&qp->page->sq_head, qp->sq.una);
}

static void tell_drained(struct srn_qp *qp)
{
	if (qp->state != IB_QPS_SQD || !qp->sq.draining || srn_sq_is_busy(&qp->sq))
		return;
	qp->sq.draining = false;
	if (qp->sqd_notify)
		srn_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

static bool is_oldest_done(const struct srn_sq *sq)
{
	return sq->una != sq->fetched && srn_sq_oldest(sq)->done;
}

/* Slots are free before their poster can see the completions. From then on the WQEs are the
 * poster's, who may be writing the next ones: all that is needed of them is taken before.
 */
static void retire_some(struct srn_qp *qp)
{
	struct told told __uninitialized;
	struct srn_sq *sq = &qp->sq;
	struct srn_wqe *wqe;

	told.num = 0;
	told.failed = false;
	for (; told.num < AT_ONCE && is_oldest_done(sq); sq->una++) {
		wqe = srn_sq_oldest(sq);
		if (tells(qp, wqe))
			add_cqe(qp, wqe, &told);
		srn_wqe_release(&sq->lim, wqe);
	}
	publish_head(qp);
	if (told.num)
		post_cqes(qp, &told);
}

void srn_sq_retire(struct srn_qp *qp)
{
	while (is_oldest_done(&qp->sq))
		retire_some(qp);
	tell_drained(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_sq_retire);

void srn_sq_fail(struct srn_qp *qp, struct srn_wqe *wqe, enum srn_verdict v)
{
	wqe->status = v;
	wqe->done = true;
	/* First: who sees the completion may modify the QP at once, and out of SQE. */
	if (srn_verdicts[v].effect == SRN_EFF_SQ_ERROR)
		srn_qp_sq_error(qp, v);
	else
		srn_qp_error(qp, v);
	srn_sq_retire(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_sq_fail);

void srn_sq_drain(struct srn_qp *qp, bool wait)
{
	qp->sq.draining = wait;
}

static u32 posted_or_fetched(struct srn_qp *qp)
{
	u32 tail;

	return srn_sq_posted(qp, &tail) ? tail : qp->sq.fetched;
}

void srn_sq_end_error(struct srn_qp *qp)
{
	struct srn_sq *sq = &qp->sq;

	srn_turn_assert_owned(&qp->turn);
	sq->stale_end = posted_or_fetched(qp);
	WRITE_ONCE(sq->stale, sq->una != sq->stale_end);
}
EXPORT_SYMBOL_IF_KUNIT(srn_sq_end_error);

/* An error that comes meanwhile is one of all that is posted. */
static u32 flush_end(struct srn_qp *qp)
{
	if (qp->state == IB_QPS_ERR)
		WRITE_ONCE(qp->sq.stale, false);
	return qp->sq.stale ? qp->sq.stale_end : posted_or_fetched(qp);
}

bool srn_sq_flush(struct srn_qp *qp, int *budget)
{
	struct srn_sq *sq = &qp->sq;
	u32 tail = flush_end(qp);
	struct srn_wqe *wqe;

	for (; sq->una != tail && *budget > 0; --*budget) {
		if (sq->fetched == sq->una)
			fetch_one(qp);
		wqe = srn_sq_oldest(sq);
		/* What was done before the error stays done. */
		if (!wqe->done)
			wqe->status = SRN_V_FLUSH;
		wqe->done = true;
		srn_sq_retire(qp);
	}
	if (sq->una == tail)
		WRITE_ONCE(sq->stale, false);
	return sq->una != tail;
}
EXPORT_SYMBOL_IF_KUNIT(srn_sq_flush);

void srn_sq_discard(struct srn_qp *qp)
{
	struct srn_sq *sq = &qp->sq;
	u32 tail;

	for (; sq->una != sq->fetched; sq->una++)
		srn_wqe_release(&sq->lim, srn_sq_oldest(sq));
	if (qp->who.kernel) {
		/* Posted but never looked at: they may hold address vectors. */
		for (tail = smp_load_acquire(&sq->tail); sq->una != tail; sq->una++)
			srn_wqe_release(&sq->lim, srn_sq_oldest(sq));
		smp_store_release(&sq->head, sq->una);
	} else if (qp->page) {
		sq->una = smp_load_acquire(&qp->page->sq_tail);
		smp_store_release(&qp->page->sq_head, sq->una);
	}
	sq->fetched = sq->una;
	sq->draining = false;
	WRITE_ONCE(sq->stale, false);
}
EXPORT_SYMBOL_IF_KUNIT(srn_sq_discard);
