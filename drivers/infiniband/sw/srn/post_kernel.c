// SPDX-License-Identifier: GPL-2.0-only
/* Kernel users' posts. Programs post through their mappings and never come here. */
#include "post_kernel.h"

#include <kunit/visibility.h>
#include <linux/bottom_half.h>
#include <linux/preempt.h>

#include "qp.h"
#include "sq.h"

/* Engines never run in a post: its caller may hold a lock that the completion handler
 * takes, which they may call (Documentation/infiniband/core_locking.rst). Nor may they run
 * in each context in which posts are legal.
 */
static void kick(struct srn_qp *qp, unsigned int bits)
{
	bool atomic = irqs_disabled() || in_hardirq();

	if (!atomic)
		local_bh_disable();
	srn_turn_defer(&qp->turn, bits);
	if (!atomic)
		local_bh_enable();	/* here the NAPI runs, if the caller has softirqs on */
}

static bool may_post_send(enum ib_qp_state state)
{
	return state == IB_QPS_RTS || state == IB_QPS_SQD || state == IB_QPS_SQE ||
	       state == IB_QPS_ERR;
}

static int post_one_send(struct srn_qp *qp, const struct ib_send_wr *wr)
{
	struct srn_sq *sq = &qp->sq;
	int err;

	lockdep_assert_held(&sq->lock);
	/* Pairs with the release in publish_head(): the slot is ours again. */
	if (sq->tail - smp_load_acquire(&sq->head) >= sq->max_wr)
		return -ENOMEM;
	err = srn_wqe_from_wr(wr, &sq->lim, srn_sq_wqe(sq, sq->tail));
	if (err)
		return err;
	smp_store_release(&sq->tail, sq->tail + 1);
	return 0;
}

int srn_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct srn_qp *qp = to_srn_qp(ibqp);
	unsigned long flags;
	int err = 0;

	if (!qp->who.kernel || !may_post_send(READ_ONCE(qp->state))) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->sq.lock, flags);
	for (; wr; wr = wr->next) {
		err = post_one_send(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	kick(qp, SRN_TURN_SQ);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_post_send);

static int post_one_recv(struct srn_qp *qp, const struct ib_recv_wr *wr)
{
	struct srn_rq *rq = &qp->rq;
	int err;

	lockdep_assert_held(&rq->lock);
	if (rq->tail - smp_load_acquire(&qp->page->rq_head) >= rq->max_wr)
		return -ENOMEM;
	err = srn_rwqe_store(wr, rq->max_sge,
			     rq->slots + (size_t)(rq->tail & (rq->entries - 1)) * rq->stride);
	if (err)
		return err;
	smp_store_release(&rq->tail, rq->tail + 1);
	return 0;
}

int srn_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct srn_qp *qp = to_srn_qp(ibqp);
	unsigned long flags;
	int err = 0;

	if (!qp->who.kernel || qp->srq || READ_ONCE(qp->state) == IB_QPS_RESET) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->rq.lock, flags);
	for (; wr; wr = wr->next) {
		err = post_one_recv(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->rq.lock, flags);
	/* Pairs with the barrier in srn_qp_set_state(): one of both flushes. */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		kick(qp, SRN_TURN_FLUSH);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_post_recv);
