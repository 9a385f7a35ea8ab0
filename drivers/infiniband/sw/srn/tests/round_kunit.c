// SPDX-License-Identifier: GPL-2.0-only
/* The QP's turn between the packet that is executed and the round that answers it. */
#include "../ack.h"
#include "../parse.h"
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

static enum srn_left (*real_round)(struct srn_turn *turn, unsigned int bits);
static unsigned int num_rounds;

static enum srn_left count_round(struct srn_turn *turn, unsigned int bits)
{
	num_rounds++;
	return real_round(turn, bits);
}

/* An empty SEND, which asks for an ACK or not; returns how many rounds it took. */
static unsigned int rounds_of(struct kunit *test, struct srn_qp *qp, u8 flags)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_SEND_ONLY, qp->resp.msg.psn);

	srn_pkt(skb)->flags = flags;
	qp->rq.open = true;
	num_rounds = 0;
	local_bh_disable();
	srn_round_rx(qp, skb);
	local_bh_enable();
	return num_rounds;
}

/* A request that asks for nothing takes a round only where there is something else to do. */
static void srn_round_settled_test(struct kunit *test)
{
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;

	real_round = qp->turn.run;
	qp->turn.run = count_round;
	qp->rcq = new_cq(test, qp, 8);
	KUNIT_EXPECT_EQ(test, rounds_of(test, qp, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->turn.bits), 0);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 1);
	KUNIT_EXPECT_EQ(test, rounds_of(test, qp, SRN_PKT_ACKREQ), 1);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_ACK), 1);
	qp->parked = true;
	KUNIT_EXPECT_EQ(test, rounds_of(test, qp, 0), 1);
	KUNIT_EXPECT_FALSE(test, qp->parked);
	qp->answered = true;
	KUNIT_EXPECT_EQ(test, rounds_of(test, qp, 0), 1);
	KUNIT_EXPECT_FALSE(test, qp->answered);
	qp->sq.stale = true;
	KUNIT_EXPECT_EQ(test, rounds_of(test, qp, 0), 1);
	KUNIT_EXPECT_FALSE(test, qp->sq.stale);
	/* News, of another CPU say, whose packet is behind. */
	atomic_or(SRN_TURN_RX, &qp->turn.bits);
	KUNIT_EXPECT_EQ(test, rounds_of(test, qp, 0), 1);
	/* A packet before it, which came while another CPU had the turn. */
	atomic_set(&qp->turn.bits, SRN_TURN_OWNED);
	KUNIT_EXPECT_EQ(test, rounds_of(test, qp, 0), 0);
	atomic_set(&qp->turn.bits, 0);
	KUNIT_EXPECT_EQ(test, rounds_of(test, qp, 0), 1);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&qp->rxq));
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->turn.bits), 0);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 7);
}

static struct kunit_case srn_round_cases[] = {
	KUNIT_CASE(srn_round_settled_test),
	KUNIT_CASE(srn_round_one_nak_a_batch_test),
	KUNIT_CASE(srn_round_request_tells_test),
	KUNIT_CASE(srn_round_ack_before_owner_test),
	KUNIT_CASE(srn_round_owner_silent_test),
	KUNIT_CASE(srn_round_peer_of_old_path_test),
	KUNIT_CASE(srn_round_pace_opens_test),
	{}
};

static struct kunit_suite srn_round_suite = {
	.name = "srn_round",
	.test_cases = srn_round_cases,
};

kunit_test_suite(srn_round_suite);
