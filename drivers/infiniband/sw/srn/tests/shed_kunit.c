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

static void rx(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	local_bh_disable();
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_RDMA_WRITE_ONLY, psn));
	local_bh_enable();
}

/* Holds @num PSNs from @first on, and expects 0. */
static struct srn_qp *new_holder_from(struct kunit *test, u32 first, u32 num)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	u32 psn;

	qp->recovery = SRN_RECOVERY_HOLD;
	qp->mtu = 1024;
	qp->access = IB_ACCESS_REMOTE_WRITE;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, purge, qp));
	for (psn = first; psn < first + num; psn++)
		rx(test, qp, psn);
	KUNIT_ASSERT_TRUE(test, wait_idle(qp));
	KUNIT_ASSERT_EQ(test, qp->resp.hold.num, num);
	return qp;
}

static struct srn_qp *new_holder(struct kunit *test, u32 num)
{
	return new_holder_from(test, 1, num);
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

/* Whether the peer is told what is missing when it sends @psn, for which it wants no ACK. */
static bool names_next(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	u64 naks = srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK);

	rx(test, qp, psn);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	if (srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK) == naks)
		return false;
	KUNIT_EXPECT_EQ(test, qp->resp.ack.psn, qp->resp.msg.psn);
	return true;
}

/* Once, and only a peer that was told that it was here. */
static void srn_shed_asks_peer_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder(test, 4);

	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 4);
	KUNIT_EXPECT_FALSE(test, names_next(test, qp, 0));
	qp = new_holder(test, 4);
	qp->peer.sacks = true;
	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 4);
	KUNIT_EXPECT_TRUE(test, names_next(test, qp, 0));
	KUNIT_EXPECT_FALSE(test, names_next(test, qp, 1));
}

/* Not while what it sends by itself comes: of that it knows that it is missing. */
static void srn_shed_wide_gap_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder_from(test, 3, 4);

	qp->peer.sacks = true;
	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 4);
	KUNIT_EXPECT_FALSE(test, names_next(test, qp, 0));
	KUNIT_EXPECT_FALSE(test, names_next(test, qp, 1));
	KUNIT_EXPECT_TRUE(test, names_next(test, qp, 2));
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 3);
	KUNIT_EXPECT_FALSE(test, names_next(test, qp, 3));
}

/* The nearest of all, whatever was let go of first. */
static void srn_shed_twice_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder_from(test, 4, 2);

	qp->peer.sacks = true;
	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 2);
	rx(test, qp, 2);
	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 3);
	rx(test, qp, 6);
	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 4);
	KUNIT_EXPECT_FALSE(test, names_next(test, qp, 0));
	KUNIT_EXPECT_TRUE(test, names_next(test, qp, 1));
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 2);
}

/* What is left of it is executed, and then what is gone is asked for. */
static void srn_shed_part_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder_from(test, 2, 20);
	u32 left;

	qp->peer.sacks = true;
	KUNIT_EXPECT_EQ(test, srn_shed_ask(1), 1);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	left = qp->resp.hold.num;
	KUNIT_EXPECT_GT(test, left, 0);
	KUNIT_EXPECT_LT(test, left, 20);
	rx(test, qp, 0);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 1);
	KUNIT_EXPECT_TRUE(test, names_next(test, qp, 1));
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 2 + left);
	KUNIT_EXPECT_FALSE(test, names_next(test, qp, 2 + left));
}

/* What waits for its turn alone stays: the peer is not asked for it any more. */
static void srn_shed_due_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder(test, 2);

	rx(test, qp, 4);
	srn_turn_own(&qp->turn);
	qp->resp.msg.psn = 1;	/* as where the round ends behind 0 */
	KUNIT_EXPECT_GT(test, srn_shed_ask(ALL), 0);
	local_bh_disable();
	srn_shed_run(qp);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, shed(qp), 1);
	KUNIT_EXPECT_EQ(test, qp->resp.hold.num, 2);
	srn_turn_disown(&qp->turn);
	expect_rest(test, qp, 0, 1);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 3);
}

/* But not for the answers of READs, which may take as long as the peer likes. */
static void srn_shed_behind_read_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder(test, 2);
	u64 naks = srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK);

	qp->peer.sacks = true;
	srn_turn_own(&qp->turn);
	srn_ack_expected(qp);
	qp->resp.msg.psn = 1;	/* invalidates what a READ is of, say */
	qp->resp.replay.open = 1;
	KUNIT_EXPECT_GT(test, srn_shed_ask(ALL), 0);
	local_bh_disable();
	srn_shed_run(qp);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, shed(qp), 2);
	KUNIT_EXPECT_EQ(test, qp->resp.hold.num, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK), naks);
	qp->resp.replay.open = 0;
	srn_turn_disown(&qp->turn);
	expect_rest(test, qp, 0, 2);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 1);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK), naks + 1);
	KUNIT_EXPECT_EQ(test, qp->resp.ack.psn, 1);
}

/* Nor one that waits since there was no receive: it goes back by itself. */
static void srn_shed_behind_rnr_test(struct kunit *test)
{
	struct srn_qp *qp = new_holder(test, 4);

	qp->peer.sacks = true;
	qp->resp.ack.nak_sent = SRN_SYN_RNR_NAK | 1;
	srn_shed_ask(ALL);
	expect_rest(test, qp, 0, 4);
	KUNIT_EXPECT_FALSE(test, names_next(test, qp, 0));
}

static struct kunit_case srn_shed_cases[] = {
	KUNIT_CASE(srn_shed_order_test),
	KUNIT_CASE(srn_shed_rotates_test),
	KUNIT_CASE(srn_shed_owned_test),
	KUNIT_CASE(srn_shed_gone_test),
	KUNIT_CASE(srn_shed_sum_test),
	KUNIT_CASE(srn_shed_asks_peer_test),
	KUNIT_CASE(srn_shed_wide_gap_test),
	KUNIT_CASE(srn_shed_twice_test),
	KUNIT_CASE(srn_shed_part_test),
	KUNIT_CASE(srn_shed_due_test),
	KUNIT_CASE(srn_shed_behind_read_test),
	KUNIT_CASE(srn_shed_behind_rnr_test),
	{}
};

static struct kunit_suite srn_shed_suite = {
	.name = "srn_shed",
	.test_cases = srn_shed_cases,
};

kunit_test_suite(srn_shed_suite);
