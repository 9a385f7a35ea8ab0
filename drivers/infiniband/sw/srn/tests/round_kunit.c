// SPDX-License-Identifier: GPL-2.0-only
/* The QP's turn between the packet that is executed and the round that answers it. */
#include "../ack.h"
#include "../qp.h"
#include "../round.h"
#include "../stats.h"
#include "fake.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#define PSN	0xabcdef

struct owner {
	struct srn_qp qp;
	struct completion has_it;
};

/* Ready to receive. Its address is nobody's: answers are counted and end there. */
static struct owner *new_owner(struct kunit *test)
{
	struct owner *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);
	struct srn_qp *qp;

	KUNIT_ASSERT_NOT_NULL(test, o);
	init_completion(&o->has_it);
	qp = &o->qp;
	qp->dev = fake_dev(test);
	qp->dev->net = &init_net;
	qp->ibqp.qp_type = IB_QPT_RC;
	qp->svc = srn_service_of(IB_QPT_RC);
	qp->kernel = true;
	qp->state = IB_QPS_RTR;
	qp->path.dev = qp->dev;
	qp->path.v4.saddr = htonl(0xc0000201);	/* 192.0.2.1 and .2 (RFC 5737) */
	qp->path.v4.daddr = htonl(0xc0000202);
	srn_round_init(qp);
	return o;
}

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

static struct kunit_case srn_round_cases[] = {
	KUNIT_CASE(srn_round_ack_before_owner_test),
	KUNIT_CASE(srn_round_owner_silent_test),
	{}
};

static struct kunit_suite srn_round_suite = {
	.name = "srn_round",
	.test_cases = srn_round_cases,
};

kunit_test_suite(srn_round_suite);
