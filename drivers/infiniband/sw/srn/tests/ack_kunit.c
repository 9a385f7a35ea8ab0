// SPDX-License-Identifier: GPL-2.0-only
/* When the peer is told what. */
#include "../ack.h"
#include "../wire.h"
#include "fake_responder.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/delay.h>

static void expect_pending(struct kunit *test, const struct srn_qp *qp, u8 syndrome, u32 psn)
{
	KUNIT_EXPECT_TRUE(test, qp->resp.ack.pending);
	KUNIT_EXPECT_EQ(test, qp->resp.ack.syndrome, syndrome);
	KUNIT_EXPECT_EQ(test, qp->resp.ack.psn, psn);
}

static int num_left;

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	num_left++;
	kfree_skb(skb);
	return 0;
}

/* What is pending leaves. */
static void tell(struct kunit *test, struct srn_qp *qp)
{
	migrate_disable();
	qp->path.dev = qp->dev;
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	srn_ack_send(qp);
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
}

/* It has a request wait, for no time to speak of. */
static struct srn_qp *refusing_qp(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	qp->min_rnr_timer = 1;
	srn_ack_rnr(qp);
	return qp;
}

static void srn_ack_coalesce_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	srn_ack_done(qp, 0xfffffe, false);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	srn_ack_done(qp, 0xffffff, true);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 0xffffff);
	srn_ack_done(qp, 0, false);
	srn_ack_done(qp, 1, true);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 1);
	/* Two were asked for, and one goes out. */
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_ACK_DEFERRED), 1);
}

/* An ACK must not name the PSN of a READ: the last SEND or WRITE is meant. */
static void srn_ack_again_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);

	qp->resp.msg.psn = 0;
	srn_ack_again(qp, 0xffffff);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 0xffffff);
	qp->resp.ack.pending = false;

	srn_ack_done(qp, 0, false);
	add_read(qp, 1, MTU);
	qp->resp.msg.psn = 2;
	srn_ack_again(qp, 0);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
}

/* Nothing but a READ of one packet came, and then a packet from before all. */
static void srn_ack_again_reads_only_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);

	add_read(qp, 0, MTU);
	qp->resp.msg.psn = 1;
	srn_ack_again(qp, 0xffffff);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 0xffffff);
}

/* WRITE ffffff and 0, READ 1 and 2, WRITE 3 and 4: nothing says that the READ's answer is
 * lost unless the duplicate came after it.
 */
static void srn_ack_again_before_read_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2);

	add_read(qp, 1, 2 * MTU);
	srn_ack_done(qp, 4, false);
	qp->resp.msg.psn = 5;
	srn_ack_again(qp, 0xffffff);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
	qp->resp.ack.pending = false;
	srn_ack_again(qp, 3);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 4);
}

/* The same, and both duplicates in one round: the READ's answer must not take away what is owed for
 * the second.
 */
static void srn_ack_again_behind_read_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 2);

	add_read(qp, 1, 2 * MTU);
	srn_ack_done(qp, 4, false);
	qp->resp.msg.psn = 5;
	srn_ack_again(qp, 0xffffff);
	srn_ack_again(qp, 3);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 4);
	srn_ack_implied(qp, 2);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 4);
	srn_ack_again(qp, 0xffffff);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 4);
}

static void srn_ack_one_nak_per_gap_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	qp->resp.msg.psn = 0xfffffe;
	srn_ack_gap(qp, 0xffffff, SRN_HELD_NOT);
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 0xfffffe);
	qp->resp.ack.pending = false;	/* sent */
	srn_ack_gap(qp, 0, SRN_HELD_NOT);
	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);

	KUNIT_EXPECT_FALSE(test, srn_ack_expected(qp));
	qp->resp.msg.psn = 0xffffff;
	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 0xffffff);
}

static void srn_ack_lost_again_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	qp->resp.msg.psn = 0xffffff;
	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	qp->resp.ack.pending = false;
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	srn_ack_gap(qp, 0, SRN_HELD_NOT);
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 0xffffff);
}

static void srn_ack_rnr_is_silence_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	qp->min_rnr_timer = 0;		/* the longest */
	srn_ack_rnr(qp);
	expect_pending(test, qp, SRN_SYN_RNR_NAK, 0);
	tell(test, qp);
	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	srn_ack_gap(qp, 3, SRN_HELD_NOT);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	KUNIT_EXPECT_FALSE(test, srn_ack_expected(qp));
	srn_ack_rnr(qp);
	KUNIT_EXPECT_TRUE(test, qp->resp.ack.pending);
}

/* The peer waited, sent the refused packet again, and it is lost. */
static void srn_ack_rnr_lost_again_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	srn_ack_rnr(qp);
	tell(test, qp);
	srn_ack_gap(qp, 1, SRN_HELD_NOT);		/* was in flight */
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 0);
}

/* Nothing was in flight behind it; what comes now the peer posted since. */
static void srn_ack_rnr_resumed_test(struct kunit *test)
{
	struct srn_qp *qp = refusing_qp(test);

	tell(test, qp);
	usleep_range(1000, 2000);
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 0);
}

/* The packets were only reordered: no NAK leaves, the peer gets its ACK. */
static void srn_ack_withdrawn_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	KUNIT_EXPECT_TRUE(test, srn_ack_expected(qp));
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	srn_ack_done(qp, 0, true);
	KUNIT_EXPECT_FALSE(test, srn_ack_expected(qp));
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
}

/* Packet 1 came before 0 and was dropped, and the round has ended. */
static struct srn_qp *new_swapped(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	KUNIT_EXPECT_TRUE(test, srn_ack_expected(qp));
	srn_ack_done(qp, 0, true);
	qp->resp.msg.psn = 1;
	srn_ack_conclude(qp);
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 1);
	return qp;
}

/* One came in time after all, the one behind it was dropped and does not come again. */
static void srn_ack_swapped_test(struct kunit *test)
{
	struct srn_qp *qp = new_swapped(test);

	/* It comes again: nothing is missing. */
	qp->resp.ack.pending = false;
	KUNIT_EXPECT_FALSE(test, srn_ack_expected(qp));
	srn_ack_done(qp, 1, true);
	qp->resp.msg.psn = 2;
	srn_ack_conclude(qp);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 1);
}

/* What the peer sent before the RNR NAK reached it comes late, and each for the first time. */
static void srn_ack_rnr_queued_test(struct kunit *test)
{
	struct srn_qp *qp = refusing_qp(test);

	tell(test, qp);
	qp->resp.ack.resumes_ns = U64_MAX;		/* however slow the machine is */
	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	qp->resp.ack.resumes_ns = 0;
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	srn_ack_gap(qp, 3, SRN_HELD_NOT);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	srn_ack_gap(qp, 2, SRN_HELD_NOT);		/* the peer has gone on, and lost the first */
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 0);
}

static void srn_ack_implied_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	srn_ack_done(qp, 0xffffff, true);
	srn_ack_implied(qp, 0xfffffe);
	KUNIT_EXPECT_TRUE(test, qp->resp.ack.pending);
	srn_ack_implied(qp, 0);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_ACK_DEFERRED), 1);

	qp->resp.msg.psn = 1;
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	srn_ack_implied(qp, 5);
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 1);
}

/* The last word of a QP is for a peer that still waits: not for one that was answered since. */
static void srn_ack_leave_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	num_left = 0;
	qp->path.dev = qp->dev;
	migrate_disable();
	fake_route(test, &qp->path, leave);
	srn_ack_done(qp, 0xffffff, false);
	srn_ack_implied(qp, 0);
	srn_ack_leave(qp);
	KUNIT_EXPECT_EQ(test, num_left, 0);
	srn_ack_done(qp, 1, false);
	srn_ack_implied(qp, 0);		/* once more, of the READ in front of it */
	srn_ack_leave(qp);
	KUNIT_EXPECT_EQ(test, num_left, 1);
	srn_ack_leave(qp);
	KUNIT_EXPECT_EQ(test, num_left, 1);
	migrate_enable();
}

/* WRITE 0, READ 1 and READ 2, of which the first one's slot is gone: its PSN is still a READ's. */
static void srn_ack_again_after_eviction_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 1);

	srn_ack_done(qp, 0, false);
	add_read(qp, 1, MTU);
	add_read(qp, 2, MTU);
	qp->resp.msg.psn = 3;
	srn_ack_again(qp, 0);
	expect_pending(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
}

/* The NAK in the end speaks for what was dropped before it: the packet behind the expected one
 * may come late, and for the first time. The second time the peer has gone back in vain.
 */
static void srn_ack_concluded_once_test(struct kunit *test)
{
	struct srn_qp *qp = new_swapped(test);

	qp->resp.ack.pending = false;
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	expect_pending(test, qp, SRN_SYN_NAK_SEQ, 1);
}

/* Who was told to wait long has not gone on after a short time: what comes was on its way. */
static void srn_ack_rnr_in_its_time_test(struct kunit *test)
{
	struct srn_qp *qp = fake_qp(test, 0);

	qp->min_rnr_timer = 0;		/* the longest */
	srn_ack_rnr(qp);
	tell(test, qp);
	usleep_range(1000, 2000);
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	KUNIT_EXPECT_FALSE(test, qp->resp.ack.pending);
}

/* The refusal has not left: who was not told to wait has not waited. */
static void srn_ack_rnr_untold_test(struct kunit *test)
{
	struct srn_qp *qp = refusing_qp(test);

	usleep_range(1000, 2000);
	srn_ack_gap(qp, 1, SRN_HELD_NOT);
	srn_ack_gap(qp, 2, SRN_HELD_NOT);
	srn_ack_gap(qp, 3, SRN_HELD_AGAIN);
	srn_ack_conclude(qp);
	expect_pending(test, qp, SRN_SYN_RNR_NAK | 1, 0);
}

/* What was in flight with the refused packet comes in its order, however late; who sends it again
 * begins anew.
 */
static void srn_ack_rnr_held_late_test(struct kunit *test)
{
	struct srn_qp *qp = refusing_qp(test);

	tell(test, qp);
	qp->resp.ack.resumes_ns = U64_MAX;
	srn_ack_gap(qp, 1, SRN_HELD_AGAIN);
	qp->resp.ack.resumes_ns = 0;
	srn_ack_gap(qp, 2, SRN_HELD_AGAIN);
	srn_ack_gap(qp, 4, SRN_HELD_AGAIN);
	KUNIT_EXPECT_EQ(test, qp->resp.ack.nak_sent, SRN_SYN_RNR_NAK | 1);
	srn_ack_gap(qp, 1, SRN_HELD_AGAIN);
	KUNIT_EXPECT_EQ(test, qp->resp.ack.nak_sent, 0);
}

static struct kunit_case srn_ack_cases[] = {
	KUNIT_CASE(srn_ack_coalesce_test),
	KUNIT_CASE(srn_ack_again_test),
	KUNIT_CASE(srn_ack_again_reads_only_test),
	KUNIT_CASE(srn_ack_again_before_read_test),
	KUNIT_CASE(srn_ack_again_behind_read_test),
	KUNIT_CASE(srn_ack_one_nak_per_gap_test),
	KUNIT_CASE(srn_ack_rnr_is_silence_test),
	KUNIT_CASE(srn_ack_rnr_lost_again_test),
	KUNIT_CASE(srn_ack_rnr_resumed_test),
	KUNIT_CASE(srn_ack_lost_again_test),
	KUNIT_CASE(srn_ack_withdrawn_test),
	KUNIT_CASE(srn_ack_swapped_test),
	KUNIT_CASE(srn_ack_rnr_queued_test),
	KUNIT_CASE(srn_ack_implied_test),
	KUNIT_CASE(srn_ack_leave_test),
	KUNIT_CASE(srn_ack_again_after_eviction_test),
	KUNIT_CASE(srn_ack_concluded_once_test),
	KUNIT_CASE(srn_ack_rnr_in_its_time_test),
	KUNIT_CASE(srn_ack_rnr_untold_test),
	KUNIT_CASE(srn_ack_rnr_held_late_test),
	{}
};

static struct kunit_suite srn_ack_suite = {
	.name = "srn_ack",
	.test_cases = srn_ack_cases,
};

kunit_test_suite(srn_ack_suite);
