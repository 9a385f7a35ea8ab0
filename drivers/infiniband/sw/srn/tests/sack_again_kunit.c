// SPDX-License-Identifier: GPL-2.0-only
/* What goes again since SACKs miss it: when, how much, and what is learned of it. */
#include "../board.h"
#include "../requester.h"
#include "../score.h"
#include "fake_listener.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/unaligned.h>

/* The oldest ones go again twice, and then they come. */
static void send_twice(struct kunit *test, struct srn_qp *qp)
{
	u32 una = qp->window.una, psn, i;
	DECLARE_BITMAP(map, 32) = { 2 };
	u64 now = ktime_get_ns();

	KUNIT_EXPECT_TRUE(test, hear(test, qp, una, map, 32));
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, srn_lost_next(qp, now + 2 * i * RTT_NS, &psn), 2);
		KUNIT_EXPECT_EQ(test, psn, una);
		srn_lost_sent(qp, now + 2 * i * RTT_NS, psn, 2);
	}
	srn_window_acked(&qp->window, una + 3);
	srn_lost_acked(qp);
}

/* The peer has seen one of them twice. */
static void hear_of_twice(struct kunit *test, struct srn_qp *qp)
{
	DECLARE_BITMAP(map, 32) = { 2 };
	struct sk_buff *skb = new_sack(test, qp->window.una, map, 32);
	struct srn_sack_fields *fields = (void *)skb->data + srn_pkt_payload(skb);

	put_unaligned_be32(1, &fields->twice);
	srn_lost_heard(qp, qp->window.una, skb);
	kfree_skb(skb);
	srn_lost_stop(qp);
}

/* What goes again and again, while nothing is timed, tells that answers take longer, if some of it had come. */
static void srn_sack_took_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	DECLARE_BITMAP(map, 32) = { 2 };

	fly(qp, 20);
	send_twice(test, qp);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 0);
	hear_of_twice(test, qp);
	send_twice(test, qp);
	KUNIT_EXPECT_GT(test, qp->rtt.bound_ns, 0);
	/* As soon as it is heard of, and no longer than four timeouts. */
	qp->timeout = 8;
	qp->rtt.bound_ns = 0;
	hear(test, qp, 6, map, 32);
	KUNIT_ASSERT_NOT_NULL(test, qp->score);
	qp->score->watches = true;
	qp->score->watched = 10;
	__set_bit(3, map);
	hear(test, qp, 6, map, 32);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 4u * (4096 << 8));
	srn_lost_stop(qp);
}

/* Of OUT in flight every second one is lost, and all that goes again for them the first time. The
 * window is much smaller by now. Returns the round trips until all is here.
 */
static u32 count_rounds(struct kunit *test, struct srn_qp *qp)
{
	u64 now = ktime_get_ns();
	DECLARE_BITMAP(has, OUT);
	u32 round, psn, i, sent;

	bitmap_zero(has, OUT);
	for (i = 1; i < OUT; i += 2)
		__set_bit(i, has);
	for (round = 0; round < 1000; round++, now += 2 * RTT_NS) {
		DECLARE_BITMAP(map, OUT);
		u32 una = find_first_zero_bit(has, OUT);

		srn_window_acked(&qp->window, una);
		srn_lost_acked(qp);
		if (una == OUT)
			return round;
		bitmap_shift_right(map, has, una + 1, OUT);
		hear(test, qp, una, map, OUT - una - 1);
		qp->window.cwnd = FEW;
		for (sent = 0; srn_lost_next(qp, now, &psn); sent++) {
			srn_lost_sent(qp, now, psn, 1);
			if (round)
				__set_bit(psn, has);
		}
		KUNIT_EXPECT_LE(test, sent, SRN_SCORE_OWED + SRN_SCORE_EASE);
		srn_board_watch(qp, now);
		KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_GAP));
	}
	return round;
}

/* What is lost twice takes no room; and where all takes room, it still goes, more each time. */
static void srn_sack_lost_twice_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);

	fly(qp, OUT);
	KUNIT_EXPECT_LE(test, count_rounds(test, qp), 6);
	KUNIT_EXPECT_NULL(test, qp->score);
}

static void srn_sack_lost_twice_beside_read_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);

	fly(qp, OUT - 1);
	srn_window_sent(&qp->window, 1, true, true);
	KUNIT_EXPECT_LE(test, count_rounds(test, qp), 10);
	KUNIT_EXPECT_NULL(test, qp->score);
}

/* The last answer found a full queue, of which OUT packets are part. */
static struct srn_qp *new_crowded(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	struct srn_crowd *c = &qp->window.crowd;

	qp->window.cwnd = OUT;
	c->look_ns = U64_MAX;
	srn_crowd_sample(c, 9 * NSEC_PER_MSEC, NSEC_PER_MSEC, ktime_get_ns(), OUT, false);
	fly(qp, OUT);
	return qp;
}

/* All that goes again now. */
static u32 go_again(struct srn_qp *qp, u64 now)
{
	u32 psn, num = 0;

	for (; srn_lost_next(qp, now, &psn); num++)
		srn_lost_sent(qp, now, psn, 1);
	return num;
}

/* The peer has [@from, @to), and nothing else. */
static bool hear_of(struct kunit *test, struct srn_qp *qp, u32 from, u32 to)
{
	DECLARE_BITMAP(map, OUT);

	bitmap_zero(map, OUT);
	bitmap_set(map, from - 1, to - from);
	return hear(test, qp, 0, map, OUT - 1);
}

/* What comes of a queue that was full makes room for nothing until no more is out than may be. */
static void srn_sack_tight_test(struct kunit *test)
{
	struct srn_qp *qp = new_crowded(test);
	u64 now = ktime_get_ns();
	u32 was;

	KUNIT_EXPECT_TRUE(test, hear_of(test, qp, 5, 10));
	was = qp->window.cwnd;
	/* The first of them says so. */
	KUNIT_EXPECT_EQ(test, go_again(qp, now), 1);
	KUNIT_EXPECT_EQ(test, qp->window.cwnd, was - DIV_ROUND_UP(was, 4));
	KUNIT_EXPECT_TRUE(test, srn_crowd_is(&qp->window.crowd));
	KUNIT_EXPECT_TRUE(test, hear_of(test, qp, 5, 20));
	KUNIT_EXPECT_EQ(test, go_again(qp, now), 0);
	KUNIT_EXPECT_TRUE(test, hear_of(test, qp, 5, 40));
	KUNIT_EXPECT_EQ(test, go_again(qp, now), 4);
	srn_lost_stop(qp);
}

/* What was out then, and was not heard of in time, is lost: nothing else would show it. */
static void srn_sack_drained_test(struct kunit *test)
{
	struct srn_qp *qp = new_crowded(test);
	const u64 now = ktime_get_ns();
	const u64 had = srn_board_wait(qp).again + 2 * qp->window.crowd.delay_ns;

	KUNIT_EXPECT_TRUE(test, hear_of(test, qp, 1, 90));
	KUNIT_EXPECT_EQ(test, go_again(qp, now), 1);
	srn_board_watch(qp, now);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_GAP));
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), 11);
	srn_score_sent(qp->score, 0, 1, OUT, now + had - 1);
	KUNIT_EXPECT_EQ(test, go_again(qp, now + had - 1), 0);
	KUNIT_EXPECT_EQ(test, go_again(qp, now + had), 10);
	srn_lost_stop(qp);
}

/* The window grows by what SACKs tell, and not a second time when that is acknowledged. */
static void srn_sack_grows_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);

	fly(qp, OUT);
	qp->window.cwnd = FEW;
	KUNIT_EXPECT_TRUE(test, hear_of(test, qp, 1, 31));
	KUNIT_EXPECT_EQ(test, qp->window.cwnd, FEW + 30);
	KUNIT_EXPECT_FALSE(test, hear_of(test, qp, 1, 31));
	KUNIT_EXPECT_EQ(test, qp->window.cwnd, FEW + 30);
	srn_window_acked(&qp->window, 31);
	KUNIT_EXPECT_EQ(test, qp->window.cwnd, FEW + 31);
	srn_lost_stop(qp);
}

/* With more out than fills a short path not all that a filled gap makes room for leaves at once. */
static void srn_sack_refilled_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);

	fly(qp, OUT);
	qp->window.cwnd = 2 * SRN_WINDOW;
	KUNIT_EXPECT_TRUE(test, hear_of(test, qp, 1, 31));
	srn_window_acked(&qp->window, 32);
	srn_lost_acked(qp);
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_LT(test, qp->window.cwnd, SRN_WINDOW);
	KUNIT_EXPECT_GT(test, qp->window.cwnd, OUT - 32);
}

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

/* Each new PSN goes in place of one that came, as one that goes again does. */
static void srn_sack_new_ones_count_test(struct kunit *test)
{
	int budget = SRN_ROUND_BUDGET;
	struct srn_qp *qp;

	migrate_disable();
	qp = new_qp(test);
	give_sends(test, qp, 3);
	fake_route(test, &qp->path, leave);
	qp->score = kunit_kzalloc(test, sizeof(*qp->score), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->score);
	qp->score->owed = 5;
	local_bh_disable();
	srn_requester_run(qp, &budget);
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 3);
	KUNIT_EXPECT_EQ(test, qp->score->owed, 2);
	qp->score = NULL;
}

static struct kunit_case srn_sack_again_cases[] = {
	KUNIT_CASE(srn_sack_took_test),
	KUNIT_CASE(srn_sack_lost_twice_test),
	KUNIT_CASE(srn_sack_lost_twice_beside_read_test),
	KUNIT_CASE(srn_sack_tight_test),
	KUNIT_CASE(srn_sack_drained_test),
	KUNIT_CASE(srn_sack_grows_test),
	KUNIT_CASE(srn_sack_refilled_test),
	KUNIT_CASE(srn_sack_new_ones_count_test),
	{}
};

static struct kunit_suite srn_sack_again_suite = {
	.name = "srn_sack_again",
	.test_cases = srn_sack_again_cases,
};

kunit_test_suite(srn_sack_again_suite);
