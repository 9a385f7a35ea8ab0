// SPDX-License-Identifier: GPL-2.0-only
/* What is flushed of a QP in error, in whose time, and who asks for that. */
#include "../limits.h"
#include "../post_kernel.h"
#include "../qp.h"
#include "../round.h"
#include "../stats.h"
#include "fake_round.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <rdma/ib_pack.h>

static void on_comp(struct ib_cq *cq, void *called)
{
	if (called)
		++*(int *)called;
}

static void free_cq(void *cq)
{
	srn_destroy_cq(&((struct srn_cq *)cq)->ibcq, NULL);
}

/* A QP in error, of a kernel user. Its one CQ counts in @called how often it tells. */
static struct srn_qp *new_failed(struct kunit *test, u32 entries, int *called)
{
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	const struct ib_cq_init_attr attr = { .cqe = 4 * entries };
	struct srn_qp *qp = &new_owner(test)->qp;

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ibcq.device = &qp->dev->ibdev;
	cq->ibcq.comp_handler = on_comp;
	cq->ibcq.cq_context = called;
	KUNIT_ASSERT_EQ(test, srn_create_cq(&cq->ibcq, &attr, NULL), 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_cq, cq));
	qp->state = IB_QPS_ERR;
	qp->scq = cq;
	qp->rcq = cq;
	qp->page = fake_page(test);
	qp->rq = (struct srn_rq){ .entries = entries, .max_wr = entries };
	qp->rq.wqe = fake_rwqe(test);
	qp->rq.max_sge = 1;
	qp->rq.stride = srn_recv_stride(1);
	qp->rq.slots = kunit_kcalloc(test, entries, qp->rq.stride, GFP_KERNEL);
	qp->sq = (struct srn_sq){ .entries = entries, .max_wr = entries };
	qp->sq.wqe_size = srn_wqe_size(1, 0);
	qp->sq.wqes = kunit_kcalloc(test, entries, qp->sq.wqe_size, GFP_KERNEL);
	qp->sq.lim = (struct srn_wqe_limits){ .who = &qp->who, .svc = qp->svc };
	KUNIT_ASSERT_NOT_NULL(test, qp->rq.slots);
	KUNIT_ASSERT_NOT_NULL(test, qp->sq.wqes);
	spin_lock_init(&qp->rq.lock);
	spin_lock_init(&qp->sq.lock);
	return qp;
}

/* A user may hold a lock that its completion handler takes: no post calls it. */
static void srn_round_post_calls_no_handler_test(struct kunit *test)
{
	struct ib_send_wr send = { .wr_id = 2, .opcode = IB_WR_SEND };
	struct ib_recv_wr recv = { .wr_id = 1 };
	const struct ib_send_wr *bad_send;
	const struct ib_recv_wr *bad_recv;
	struct srn_qp *qp;
	int called = 0;

	qp = new_failed(test, 8, &called);
	srn_req_notify_cq(&qp->rcq->ibcq, IB_CQ_NEXT_COMP);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, srn_post_recv(&qp->ibqp, &recv, &bad_recv), 0);
	KUNIT_EXPECT_EQ(test, called, 0);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, called, 1);

	srn_req_notify_cq(&qp->rcq->ibcq, IB_CQ_NEXT_COMP);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, srn_post_send(&qp->ibqp, &send, &bad_send), 0);
	KUNIT_EXPECT_EQ(test, called, 1);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, called, 2);
}

/* However much was posted, a round flushes a part of it, and the rest can wait. */
static void srn_round_flush_bounded_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 2 * SRN_ROUND_BUDGET, NULL);
	int round;

	qp->sq.tail = SRN_ROUND_BUDGET + 10;
	qp->rq.tail = 2 * SRN_ROUND_BUDGET - 10;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_FLUSH));
	for (round = 1; round <= 3; round++) {
		enum srn_left left;

		local_bh_disable();
		left = qp->turn.run(&qp->turn, SRN_TURN_FLUSH);
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, left, round < 3 ? SRN_LEFT_LATER : SRN_LEFT_NOTHING);
		KUNIT_EXPECT_EQ(test, qp->scq->prod, round * SRN_ROUND_BUDGET);
	}
	srn_turn_disown(&qp->turn);
}

/* A program's index that says more than the ring holds is believed once. */
static void srn_round_flush_garbage_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 8, NULL);
	int i;

	qp->who.kernel = false;
	qp->flush_left = 16;
	qp->page->rq_tail = 1000;
	for (i = 0; i < 3; i++) {
		srn_turn_kick(&qp->turn, SRN_TURN_FLUSH);
		KUNIT_EXPECT_TRUE(test, wait_idle(qp));
		KUNIT_EXPECT_EQ(test, qp->rcq->prod, 8);
		KUNIT_EXPECT_EQ(test, qp->page->rq_head, 1000);
	}
}

/* A kernel user's are counted by nobody. */
static void srn_round_flush_kernel_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 4, NULL);

	qp->flush_left = 7;
	qp->rq.tail = 2;
	srn_turn_kick(&qp->turn, SRN_TURN_FLUSH);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 2);
	KUNIT_EXPECT_EQ(test, qp->flush_left, 7);
}

/* The receive that a message has begun to fill is none of the queue's any more, and flushed besides. */
static void srn_round_flush_open_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 4, NULL);

	qp->who.kernel = false;
	qp->sq.entries = 0;
	qp->rq.open = true;
	qp->page->rq_tail = 4;
	srn_turn_own(&qp->turn);
	srn_qp_allow_flush(qp);
	srn_turn_disown(&qp->turn);
	srn_turn_kick(&qp->turn, SRN_TURN_FLUSH);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 5);
	KUNIT_EXPECT_EQ(test, qp->page->rq_head, 4);
}

/* Nor is such an index a receive request for who sends. */
static void srn_round_receive_garbage_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 8, NULL);

	qp->who.kernel = false;
	qp->state = IB_QPS_RTR;
	qp->page->rq_tail = 1000;
	local_bh_disable();
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 0));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp->last_error, SRN_V_REM_OP);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK), 1);
	KUNIT_EXPECT_NE(test, qp->rcq->cqes[0].status, IB_WC_SUCCESS);
}

static enum srn_heard ring(struct srn_qp *qp, enum srn_heard (*how)(struct srn_qp *qp))
{
	enum srn_heard heard;

	local_bh_disable();
	heard = how(qp);
	local_bh_enable();
	return heard;
}

/* A program's tail that moves without end: as much is flushed as the queues held, and then
 * what the program does in its own time.
 */
static void srn_round_moving_tail_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 8, NULL);
	int i;

	qp->who.kernel = false;
	qp->state = IB_QPS_RTR;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_qp_error(qp, SRN_V_FLUSH);
	srn_turn_disown(&qp->turn);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, qp->page->status & SRN_QP_NEED_DB);
		qp->page->rq_tail += 1000;
		srn_turn_kick(&qp->turn, SRN_TURN_FLUSH);
		KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	}
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 16);
	KUNIT_EXPECT_EQ(test, ring(qp, srn_round_doorbell), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 24);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->turn.bits), 0);
}

/* What a doorbell has to flush comes in parts, and between them others run; or a worker does
 * the rest for who does not come back.
 */
static void srn_round_doorbell_parts_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 4 * SRN_ROUND_BUDGET, NULL);

	qp->who.kernel = false;
	qp->page->rq_tail = 3 * SRN_ROUND_BUDGET;
	KUNIT_EXPECT_EQ(test, ring(qp, srn_round_doorbell), SRN_HEARD_PART);
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, ring(qp, srn_round_go_on), SRN_HEARD_PART);
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 2 * SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, ring(qp, srn_round_give_away), SRN_HEARD);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 3 * SRN_ROUND_BUDGET);
}

/* Who comes for the rest and finds another one at it asks again: he may put it down, too. */
static void srn_round_go_on_again_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 4 * SRN_ROUND_BUDGET, NULL);

	qp->who.kernel = false;
	qp->page->rq_tail = 3 * SRN_ROUND_BUDGET;
	KUNIT_EXPECT_EQ(test, ring(qp, srn_round_doorbell), SRN_HEARD_PART);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, 0));
	KUNIT_EXPECT_EQ(test, ring(qp, srn_round_go_on), SRN_HEARD_BUSY);
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 3 * SRN_ROUND_BUDGET);
}

/* A doorbell in vain comes again: who has the turn may not flush what it announced. */
static void srn_round_doorbell_again_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 8, NULL);

	qp->who.kernel = false;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_FLUSH));
	qp->page->rq_tail = 1;
	KUNIT_EXPECT_EQ(test, ring(qp, srn_round_doorbell), SRN_HEARD_BUSY);
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 0);
	KUNIT_EXPECT_EQ(test, ring(qp, srn_round_doorbell), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 1);
}

/* A program that is told not to ring, while no worker comes: an alarm looks after it. */
static void srn_round_hushed_is_watched_test(struct kunit *test)
{
	struct srn_qp *qp = new_failed(test, 8, NULL);

	give_clock(test, qp);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	srn_bell_hush(qp);
	KUNIT_EXPECT_FALSE(test, qp->page->status & SRN_QP_NEED_DB);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_QUIET));
	srn_turn_disown(&qp->turn);
	/* On a busy machine the alarm has come meanwhile, and the QP is in the NAPI's list. */
	srn_clock_stop(&qp->clock);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
}

static struct kunit_case srn_round_flush_cases[] = {
	KUNIT_CASE(srn_round_post_calls_no_handler_test),
	KUNIT_CASE(srn_round_flush_bounded_test),
	KUNIT_CASE(srn_round_flush_garbage_test),
	KUNIT_CASE(srn_round_flush_open_test),
	KUNIT_CASE(srn_round_flush_kernel_test),
	KUNIT_CASE(srn_round_receive_garbage_test),
	KUNIT_CASE(srn_round_moving_tail_test),
	KUNIT_CASE(srn_round_doorbell_parts_test),
	KUNIT_CASE(srn_round_go_on_again_test),
	KUNIT_CASE(srn_round_doorbell_again_test),
	KUNIT_CASE(srn_round_hushed_is_watched_test),
	{}
};

static struct kunit_suite srn_round_flush_suite = {
	.name = "srn_round_flush",
	.test_cases = srn_round_flush_cases,
};

kunit_test_suite(srn_round_flush_suite);
