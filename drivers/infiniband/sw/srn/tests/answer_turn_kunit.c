// SPDX-License-Identifier: GPL-2.0-only
/* Answers to a peer's READs and to this side's own requests, in one round: whose turn it is, and what
 * is not kept behind what.
 */
#include "../ack.h"
#include "../limits.h"
#include "../requester.h"
#include "../stats.h"
#include "fake_reads.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <rdma/ib_pack.h>

#define WAITING		(40 * SRN_ROUND_BUDGET)	/* packets of an answer that takes many rounds */

/* A message of four packets, all of them in flight, whose answer is due soon. */
static void give_in_flight(struct kunit *test, struct srn_qp *qp)
{
	struct srn_wqe *wqe;

	give_sends(test, qp, 1);
	qp->sq.fetched = 1;
	wqe = srn_sq_wqe(&qp->sq, 0);
	wqe->started = true;
	wqe->last_psn = 3;
	srn_window_start(&qp->window, 0, MTU);
	qp->window.at = (struct srn_cursor){ .index = 1, .psn = 4 };
	qp->window.end = 4;
	qp->timeout = 20;
	srn_turn_own(&qp->turn);
	srn_clock_set(&qp->clock, SRN_ALARM_ACK, 10 * NSEC_PER_MSEC);
	srn_turn_disown(&qp->turn);
}

/* What waits goes with its QP, and its bytes are nobody's then. */
static void end_waiting(struct kunit *test, struct srn_qp *qp)
{
	srn_turn_own(&qp->turn);
	srn_clock_stop(&qp->clock);
	srn_rxq_purge(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);
	/* Else what is freed below makes room for more of them, on another CPU. */
	srn_replay_clear(&qp->resp.replay);
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	skb_queue_purge(&held);
}

/* What an answer needs that this host's queues do not take, and what waits for it. */
static struct srn_mem *give_waiting(struct kunit *test, struct srn_qp *qp)
{
	skb_queue_head_init(&held);
	give_payer(test, qp);
	give_cq(test, qp);
	qp->rq.open = true;
	return give_memory(test, qp, WAITING * MTU);
}

/* A READ, and a SEND that invalidates what is read. */
static void ask_and_wait(struct kunit *test, struct srn_qp *qp, struct srn_mem *mem)
{
	srn_round_rx(qp, new_read(test, 0, mem, WAITING * MTU));
	srn_round_rx(qp, new_send_inv(test, WAITING, mem));
}

/* A packet that waits for answers which this host's queues do not take: it keeps no CPU busy,
 * and what answers this side's own requests is heard behind it before they are called lost.
 */
static void srn_answer_held_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_waiting(test, qp);
	int i;

	qp->state = IB_QPS_RTS;
	give_in_flight(test, qp);
	migrate_disable();
	fake_route(test, &qp->path, hold);
	local_bh_disable();
	ask_and_wait(test, qp, mem);
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, 1));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	for (i = 0; i < 1000 && READ_ONCE(qp->window.una) != 2; i++)
		msleep(1);
	KUNIT_EXPECT_LT(test, i, 1000);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, qp->window.at.psn, 4);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 1);
	/* What waits is counted, after it was looked at and put back, too. */
	KUNIT_EXPECT_GT(test, atomic_read(&qp->rxq_bytes), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), atomic_long_read(&qp->dev->rxq_bytes));
	KUNIT_EXPECT_EQ(test, mem->state, SRN_MEM_VALID);
	migrate_enable();
	end_waiting(test, qp);
}

/* A peer's congestion notifications do not wait behind what waits for the answers that they slow
 * down: not where they come, nor where somebody else has the turn.
 */
static void srn_answer_notice_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_waiting(test, qp);
	int i;

	qp->cc = SRN_CC_DCQCN;
	migrate_disable();
	fake_route(test, &qp->path, hold);
	local_bh_disable();
	ask_and_wait(test, qp, mem);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 1);
	local_bh_disable();
	srn_round_rx(qp, new_packet(test, SRN_OPCODE_CNP, 0));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_HANDLED), 1);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	/* More than a round takes are there when the turn is given back. */
	srn_turn_own(&qp->turn);
	local_bh_disable();
	for (i = 0; i < 2 * SRN_ROUND_BUDGET; i++)
		srn_round_rx(qp, new_packet(test, SRN_OPCODE_CNP, 0));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_HANDLED), 1);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->noticeq), 2 * SRN_ROUND_BUDGET);
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_HANDLED), 2 * SRN_ROUND_BUDGET + 1);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 1);
	KUNIT_EXPECT_EQ(test, mem->state, SRN_MEM_VALID);
	migrate_enable();
	end_waiting(test, qp);
}

/* In RTS, with requests in flight; the test has its turn. */
static struct srn_qp *new_asking(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->state = IB_QPS_RTS;
	qp->resp.msg.psn = 1000;
	give_cq(test, qp);
	give_clock(test, qp);
	give_in_flight(test, qp);
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	return qp;
}

/* More requests than a round takes stand before the answer. They are of the past, so that each
 * is looked at and nothing comes of it; their order stays.
 */
static void srn_answer_behind_many_test(struct kunit *test)
{
	struct srn_qp *qp = new_asking(test);
	int i;

	local_bh_disable();
	for (i = 0; i < 2 * SRN_ROUND_BUDGET; i++)
		srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, i));
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, 1));
	srn_clock_set(&qp->clock, SRN_ALARM_ACK, 0);
	qp->turn.run(&qp->turn, SRN_TURN_RX | SRN_TURN_TIMER);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, qp->window.una, 2);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb_peek(&qp->rxq))->psn, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb_peek_tail(&qp->rxq))->psn, 2 * SRN_ROUND_BUDGET - 1);
	srn_rxq_purge(qp);
	srn_turn_disown(&qp->turn);
}

/* The way to a NAK is the NAPI's: who gives the turn of a QP in error back, or takes it from
 * there to ring, is not kept by what the peer has asked for.
 */
static void srn_answer_fatal_is_not_mine_test(struct kunit *test)
{
	const u32 npsn = 40 * SRN_ROUND_BUDGET;
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_memory(test, qp, npsn * MTU);

	give_cq(test, qp);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_round_rx(qp, new_read(test, 0, mem, npsn * MTU));
	/* The QP allows no atomics: a NAK, behind the answer. */
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_FETCH_ADD, npsn));
	KUNIT_EXPECT_FALSE(test, srn_turn_run_here(&qp->turn));
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_LE(test, qp->resp.replay.slots[0].psn, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, srn_round_doorbell(qp), SRN_HEARD);
	KUNIT_EXPECT_LE(test, qp->resp.replay.slots[0].psn, 2 * SRN_ROUND_BUDGET);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.replay.slots[0].psn, npsn);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK), 1);
}

/* A peer that reads without end leaves half of each round to this side's own requests (C10). */
static void srn_answer_half_a_round_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_memory(test, qp, 4 * SRN_ROUND_BUDGET * MTU);
	u32 answered, sent;

	give_cq(test, qp);
	give_clock(test, qp);
	give_sends(test, qp, 1);
	srn_window_start(&qp->window, 0, MTU);
	qp->state = IB_QPS_RTS;
	migrate_disable();
	memset(&left, 0, sizeof(left));
	left.mem = mem;
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_round_rx(qp, new_read(test, 0, mem, 4 * SRN_ROUND_BUDGET * MTU));
	qp->turn.run(&qp->turn, SRN_TURN_RX | SRN_TURN_SQ);
	answered = qp->resp.replay.slots[0].psn;
	sent = qp->window.at.psn;
	srn_turn_run(&qp->turn);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, answered, SRN_ROUND_BUDGET / 2);
	KUNIT_EXPECT_EQ(test, sent, 1);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	migrate_enable();
}

/* A WRITE that asks, and a READ behind it, both at hand: the answer is the ACK. */
static void srn_answer_says_it_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_mem *mem = give_memory(test, qp, MTU);

	memset(&left, 0, sizeof(left));
	left.mem = mem;
	qp->resp.msg.psn = 1;
	migrate_disable();
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_RX));
	srn_ack_done(qp, 0, true);
	srn_round_rx(qp, new_read(test, 1, mem, MTU));
	srn_turn_run(&qp->turn);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	migrate_enable();
	KUNIT_EXPECT_EQ(test, left.packets, 1);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_ACK), 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_ACK_DEFERRED), 1);
}

/* More answers than are taken before their time stand between requests: what is behind them
 * keeps its place.
 */
static void srn_answer_many_between_test(struct kunit *test)
{
	struct srn_qp *qp = new_asking(test);
	int i;

	local_bh_disable();
	/* One more than a round looks at, before. */
	for (i = 0; i <= SRN_ROUND_BUDGET; i++)
		srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, i));
	for (i = 0; i <= SRN_ROUND_BUDGET; i++)
		srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, 1));
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, SRN_ROUND_BUDGET + 1));
	srn_clock_set(&qp->clock, SRN_ALARM_ACK, 0);
	qp->turn.run(&qp->turn, SRN_TURN_RX | SRN_TURN_TIMER);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, qp->window.una, 2);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 3);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb_peek(&qp->rxq))->psn, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb_peek_tail(&qp->rxq))->psn, SRN_ROUND_BUDGET + 1);
	srn_rxq_purge(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);
	srn_turn_disown(&qp->turn);
}

static struct kunit_case srn_answer_turn_cases[] = {
	KUNIT_CASE(srn_answer_half_a_round_test),
	KUNIT_CASE(srn_answer_held_test),
	KUNIT_CASE(srn_answer_notice_test),
	KUNIT_CASE(srn_answer_behind_many_test),
	KUNIT_CASE(srn_answer_fatal_is_not_mine_test),
	KUNIT_CASE(srn_answer_says_it_test),
	KUNIT_CASE(srn_answer_many_between_test),
	{}
};

static struct kunit_suite srn_answer_turn_suite = {
	.name = "srn_answer_turn",
	.test_cases = srn_answer_turn_cases,
};

kunit_test_suite(srn_answer_turn_suite);
