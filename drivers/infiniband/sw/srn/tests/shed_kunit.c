// SPDX-License-Identifier: GPL-2.0-only
/* Who is asked for memory, what it lets go of, and when it asks its peer for that. */
#include "../ack.h"
#include "../hold.h"
#include "../shed.h"
#include "../stats.h"
#include "fake_round.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <rdma/ib_pack.h>

#define ALL	1024ul	/* pages; more than anybody holds here */

static void purge(void *arg)
{
	struct srn_qp *qp = arg;

	wait_idle(qp);
	srn_hold_purge(qp->dev, &qp->resp.hold);
}

/* Holds PSNs 1 to @num. */
static struct srn_qp *new_holder(struct kunit *test, u32 num)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	u32 psn;

	qp->recovery = SRN_RECOVERY_HOLD;
	qp->mtu = 1024;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, purge, qp));
	local_bh_disable();
	for (psn = 1; psn <= num; psn++)
		srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_WRITE_ONLY, psn));
	local_bh_enable();
	KUNIT_ASSERT_TRUE(test, wait_idle(qp));
	KUNIT_ASSERT_EQ(test, qp->resp.hold.num, num);
	return qp;
}

static u64 shed(const struct srn_qp *qp)
{
	return srn_stats_sum(qp->dev, SRN_CNT_HOLD_SHED);
}

static void expect_rest(struct kunit *test, struct srn_qp *qp, u32 rest, u64 gone)
{
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.hold.num, rest);
	KUNIT_EXPECT_EQ(test, shed(qp), gone);
}

/* The one that has held something for longest is asked first, and all of it is given back. */
static void srn_shed_order_test(struct kunit *test)
{
	struct srn_qp *old = new_holder(test, 4), *young = new_holder(test, 4);

	KUNIT_EXPECT_EQ(test, srn_shed_ask(1), 1);
	expect_rest(test, young, 4, 0);
	KUNIT_EXPECT_TRUE(test, wait_idle(old));
	KUNIT_EXPECT_GT(test, shed(old), 0);
	KUNIT_EXPECT_GT(test, srn_shed_ask(ALL), 0);
	expect_rest(test, old, 0, 4);
	expect_rest(test, young, 0, 4);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&old->dev->hold_bytes), 0);
	KUNIT_EXPECT_EQ(test, srn_shed_ask(ALL), 0);
}

/* Who was asked stands behind the others: one that can give little is not asked again and again. */
static void srn_shed_rotates_test(struct kunit *test)
{
	struct srn_qp *qps[] = { new_holder(test, 20), new_holder(test, 20), new_holder(test, 20) };
	int i;

	for (i = 0; i < ARRAY_SIZE(qps); i++) {
		KUNIT_EXPECT_EQ(test, srn_shed_ask(1), 1);
		KUNIT_EXPECT_TRUE(test, wait_idle(qps[i]));
		KUNIT_EXPECT_GT(test, shed(qps[i]), 0);
		KUNIT_EXPECT_GT(test, qps[i]->resp.hold.num, 0);
	}
}

/* A turn that somebody has is not waited for, and not asked twice; what was asked for is given then. */
static void srn_shed_owned_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder(test, 4);

	srn_turn_own(&qp->turn);
	KUNIT_EXPECT_GT(test, srn_shed_ask(ALL), 0);
	KUNIT_EXPECT_EQ(test, srn_shed_ask(ALL), 0);
	KUNIT_EXPECT_EQ(test, qp->resp.hold.num, 4);
	srn_turn_disown(&qp->turn);
	expect_rest(test, qp, 0, 4);
}

/* Nor is it there for who asks when it has ended meanwhile. */
static void srn_shed_gone_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder(test, 4);

	srn_turn_own(&qp->turn);
	KUNIT_EXPECT_GT(test, srn_shed_ask(ALL), 0);
	srn_hold_purge(qp->dev, &qp->resp.hold);
	KUNIT_EXPECT_EQ(test, srn_shed_ask(ALL), 0);
	srn_turn_disown(&qp->turn);
	expect_rest(test, qp, 0, 0);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.dropped);
}

/* Of all devices, and nothing that can't be let go of. */
static void srn_shed_sum_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);

	KUNIT_EXPECT_TRUE(test, srn_hold_take_room(dev, 100));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dev->hold_bytes), 100);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dev->known_bytes), 100);
	srn_hold_give_back(dev, 100);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dev->known_bytes), 0);
}

/* As srn_responder_rx() does with the request that is missing: whether a NAK of the next one follows. */
static bool names_next(struct srn_qp *qp)
{
	u64 naks = srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK);

	srn_turn_own(&qp->turn);
	if (srn_ack_expected(qp))
		srn_ack_done(qp, qp->resp.msg.psn, true);
	qp->resp.msg.psn++;
	local_bh_disable();
	srn_ack_send(qp);
	local_bh_enable();
	srn_turn_disown(&qp->turn);
	return srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK) > naks;
}

/* Once, and only a peer that was told that it was here. */
static void srn_shed_asks_peer_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder(test, 4);

	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 4);
	KUNIT_EXPECT_FALSE(test, names_next(qp));
	qp = new_holder(test, 4);
	qp->peer.sacks = true;
	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 4);
	KUNIT_EXPECT_TRUE(test, names_next(qp));
	KUNIT_EXPECT_FALSE(test, names_next(qp));
}

/* Nor one that waits since there was no receive: it goes back by itself. */
static void srn_shed_behind_rnr_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder(test, 4);

	qp->peer.sacks = true;
	qp->resp.ack.nak_sent = SRN_SYN_RNR_NAK | 1;
	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 4);
	KUNIT_EXPECT_FALSE(test, names_next(qp));
}

static struct kunit_case srn_shed_cases[] = {
	KUNIT_CASE(srn_shed_order_test),
	KUNIT_CASE(srn_shed_rotates_test),
	KUNIT_CASE(srn_shed_owned_test),
	KUNIT_CASE(srn_shed_gone_test),
	KUNIT_CASE(srn_shed_sum_test),
	KUNIT_CASE(srn_shed_asks_peer_test),
	KUNIT_CASE(srn_shed_behind_rnr_test),
	{}
};

static struct kunit_suite srn_shed_suite = {
	.name = "srn_shed",
	.test_cases = srn_shed_cases,
};

kunit_test_suite(srn_shed_suite);
