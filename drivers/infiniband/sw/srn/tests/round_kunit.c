// SPDX-License-Identifier: GPL-2.0-only
/* The QP's turn between the packet that is executed and the round that answers it. */
#include "../ack.h"
#include "../limits.h"
#include "../parse.h"
#include "../post_kernel.h"
#include "../qp.h"
#include "../react.h"
#include "../requester.h"
#include "../round.h"
#include "../stats.h"
#include "fake_round.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/kthread.h>
#include <rdma/ib_pack.h>

#define PSN	0xabcdef

static int own(void *arg)
{
	struct owner *o = arg;

	srn_turn_own(&o->qp.turn);
	complete(&o->has_it);
	return 0;
}

/* Until the other thread waits for the turn. */
static bool wait_wanted(struct srn_qp *qp)
{
	int i;

	for (i = 0; i < 1000 && !(atomic_read(&qp->turn.bits) & SRN_TURN_WANTED); i++)
		msleep(1);
	return i < 1000;
}

/* Packets of one receive batch: a gap, and the network's copy of the packet behind it. */
static void srn_round_one_nak_a_batch_test(struct kunit *test)
{
	struct owner *o = new_owner(test);

	local_bh_disable();
	srn_round_rx(&o->qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 1));
	srn_round_rx(&o->qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 1));
	srn_round_rx(&o->qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 2));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(&o->qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(o->qp.dev, SRN_CNT_OUT_OF_SEQ), 3);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(o->qp.dev, SRN_CNT_SENT_NAK), 1);
}

/* Whoever posts behind a request may have waited for it, but not behind an answer. */
static void srn_round_request_tells_test(struct kunit *test)
{
	struct owner *o = new_owner(test);

	o->qp.req.bell.gather.row = 5;
	local_bh_disable();
	srn_round_rx(&o->qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, 0));
	KUNIT_EXPECT_EQ(test, o->qp.req.bell.gather.row, 5);
	srn_round_rx(&o->qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 0));
	KUNIT_EXPECT_EQ(test, o->qp.req.bell.gather.row, 0);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(&o->qp));
}

/* As srn_round_rx() does it, with a program between its halves that saw the completion
 * and destroys the QP: the ACK leaves before the QP goes.
 */
static void srn_round_ack_before_owner_test(struct kunit *test)
{
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;

	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_ack_done(qp, PSN, true);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(own, o, "srn_kunit_own")));
	KUNIT_EXPECT_TRUE(test, wait_wanted(qp));
	local_bh_disable();
	srn_turn_run(&qp->turn);
	local_bh_enable();
	wait_for_completion(&o->has_it);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_ACK), 1);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_NO_ROUTE), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->turn.bits), (int)SRN_TURN_OWNED);
}

/* A QP that owes the peer nothing says nothing when it is owned. */
static void srn_round_owner_silent_test(struct kunit *test)
{
	struct owner *o = new_owner(test);

	srn_turn_own(&o->qp.turn);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(o->qp.dev, SRN_CNT_SENT_ACK), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&o->qp.turn.bits), (int)SRN_TURN_OWNED);
}

/* The QP begins anew with another peer while a packet of the first one is on its way. */
static void srn_round_peer_of_old_path_test(struct kunit *test)
{
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;

	give_cq(test, qp);
	qp->rq.open = true;
	srn_turn_own(&qp->turn);
	local_bh_disable();
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 0));
	local_bh_enable();
	qp->path.v4.daddr = htonl(OTHER);
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RX_BAD_ADDR), 1);
	KUNIT_EXPECT_TRUE(test, qp->rq.open);
	KUNIT_EXPECT_EQ(test, qp->rcq->prod, 0);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 0);
}

/* What is of no message waited while the QP left the state in which it takes that, or goes with
 * what waits when it is reset: each is counted.
 */
static void srn_round_state_changed_test(struct kunit *test)
{
	static const enum ib_qp_state states[] = { IB_QPS_RESET, IB_QPS_INIT, IB_QPS_ERR };
	struct srn_qp *qp = &new_owner(test)->qp;
	u32 i;

	give_cq(test, qp);
	qp->scq = qp->rcq;
	qp->page = fake_page(test);
	qp->cc = SRN_CC_DCQCN;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		qp->state = IB_QPS_RTR;
		srn_turn_own(&qp->turn);
		local_bh_disable();
		srn_round_rx(qp, new_packet(test, SRN_OPCODE_CNP, 0));
		srn_round_rx(qp, new_packet(test, SRN_OPCODE_SACK, 0));
		local_bh_enable();
		qp->state = states[i];
		srn_turn_disown(&qp->turn);
		KUNIT_EXPECT_TRUE(test, wait_idle(qp));
		KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RX_BAD_STATE), 2 * i + 2);
	}
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_HANDLED), 0);
	srn_turn_own(&qp->turn);
	local_bh_disable();
	srn_round_rx(qp, new_packet(test, SRN_OPCODE_CNP, 0));
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 0));
	local_bh_enable();
	srn_rxq_purge(qp);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RX_BAD_STATE), 2 * i + 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);
}

static struct sk_buff *new_big_packet(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(1000, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put(skb, 1000);
	return skb;
}

/* As from the network. */
static void rx(struct srn_qp *qp, struct sk_buff *skb)
{
	local_bh_disable();
	srn_round_rx(qp, skb);
	local_bh_enable();
}

/* What waits is counted by the memory that it holds, for a QP and for all of a device. */
static void srn_round_rxq_bounded_test(struct kunit *test)
{
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;
	unsigned int size = 0;
	int i;

	srn_turn_own(&qp->turn);
	for (i = 0; i < 20000 && !srn_stats_sum(qp->dev, SRN_CNT_RX_OVERFLOW); i++) {
		struct sk_buff *skb = new_big_packet(test);

		size = skb->truesize;
		rx(qp, skb);
	}
	KUNIT_EXPECT_LE(test, (u64)atomic_read(&qp->rxq_bytes), (u64)SRN_RXQ_BYTES);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), SRN_RXQ_BYTES / size);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&qp->dev->rxq_bytes), atomic_read(&qp->rxq_bytes));
	srn_rxq_purge(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);

}

struct scarce_row {
	const char *desc;
	int num_qps;
	long others, left;	/* bytes that wait for others, and that may wait for this one */
	bool parked;
};

static const struct scarce_row scarce_rows[] = {
	{ "half", 17, SRN_DEV_RXQ_BYTES / 2, SRN_RXQ_SCARCE_BYTES },
	{ "all, few QPs", 17, SRN_DEV_RXQ_BYTES, SRN_RXQ_OWN_MAX_BYTES },
	{ "all, 1024 QPs", 1024, SRN_DEV_RXQ_BYTES, SRN_DEV_RXQ_BYTES / 1024 },
	{ "all, 65536 QPs", 65536, SRN_DEV_RXQ_BYTES, SRN_RXQ_OWN_MIN_BYTES },
	{ "all, and more", 17, 2L * SRN_DEV_RXQ_BYTES, SRN_RXQ_OWN_MAX_BYTES },
	{ "none, behind answers at a rate", 17, 0, SRN_RXQ_OWN_MAX_BYTES, true },
};

static void scarce_desc(const struct scarce_row *row, char *desc)
{
	strscpy(desc, row->desc, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(scarce, scarce_rows, scarce_desc);

/* What others have waiting takes from a QP, but never all. */
static void srn_round_rxq_scarce_test(struct kunit *test)
{
	const struct scarce_row *row = test->param_value;
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;
	struct sk_buff *skb = new_big_packet(test);
	unsigned int size = skb->truesize;
	int i;

	srn_turn_own(&qp->turn);
	atomic_set(&qp->dev->num_qps, row->num_qps);
	atomic_long_set(&qp->dev->rxq_bytes, row->others);
	qp->parked = row->parked;
	for (i = 0; i < 20000 && !srn_stats_sum(qp->dev, SRN_CNT_RX_DEV_FULL); i++) {
		rx(qp, skb);
		skb = new_big_packet(test);
	}
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), row->left / size);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RX_OVERFLOW), 0);
	srn_rxq_purge(qp);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&qp->dev->rxq_bytes), row->others);
}

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

/* A pace whose end was put off while it was closed opens by itself, though nobody asks. */
static void srn_round_pace_opens_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	int i;

	give_clock(test, qp);
	srn_pace_reset(&qp->pace);
	srn_pace_limit(&qp->pace, SRN_PACE_USER, 125000);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_react_ask(qp, SRN_PACE_ANSWERS, ktime_get_ns());
	srn_pace_wait(&qp->pace, SRN_PACE_ANSWERS, ktime_get_ns());
	srn_clock_set(&qp->clock, SRN_ALARM_PACE, 0);
	srn_pace_sent(&qp->pace, 1250);
	local_bh_disable();
	qp->turn.run(&qp->turn, SRN_TURN_TIMER);
	local_bh_enable();
	srn_turn_disown(&qp->turn);
	for (i = 0; i < 1000 && srn_pace_is_closed(&qp->pace); i++)
		msleep(1);
	KUNIT_EXPECT_FALSE(test, srn_pace_is_closed(&qp->pace));
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
}

static struct kunit_case srn_round_cases[] = {
	KUNIT_CASE(srn_round_rxq_bounded_test),
	KUNIT_CASE_PARAM(srn_round_rxq_scarce_test, scarce_gen_params),
	KUNIT_CASE(srn_round_post_calls_no_handler_test),
	KUNIT_CASE(srn_round_flush_bounded_test),
	KUNIT_CASE(srn_round_flush_garbage_test),
	KUNIT_CASE(srn_round_moving_tail_test),
	KUNIT_CASE(srn_round_doorbell_parts_test),
	KUNIT_CASE(srn_round_go_on_again_test),
	KUNIT_CASE(srn_round_doorbell_again_test),
	KUNIT_CASE(srn_round_hushed_is_watched_test),
	KUNIT_CASE(srn_round_pace_opens_test),
	KUNIT_CASE(srn_round_state_changed_test),
	KUNIT_CASE(srn_round_ack_before_owner_test),
	KUNIT_CASE(srn_round_owner_silent_test),
	KUNIT_CASE(srn_round_one_nak_a_batch_test),
	KUNIT_CASE(srn_round_request_tells_test),
	KUNIT_CASE(srn_round_peer_of_old_path_test),
	KUNIT_CASE(srn_round_receive_garbage_test),
	{}
};

static struct kunit_suite srn_round_suite = {
	.name = "srn_round",
	.test_cases = srn_round_cases,
};

kunit_test_suite(srn_round_suite);
