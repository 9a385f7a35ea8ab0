// SPDX-License-Identifier: GPL-2.0-only
/* How much a peer is believed to keep, and when it is asked for that again. */
#include "../lost.h"
#include "../score.h"
#include "fake_hello.h"
#include "fake_sack.h"
#include "fake_rx.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>

#define PATH_NS	(100 * (u64)NSEC_PER_MSEC)

/* On a long path, to a peer that keeps @ahead, and knows us. */
static struct srn_qp *start_long(struct kunit *test, u32 ahead)
{
	struct srn_qp *qp = start(test, 6);
	struct sk_buff *skb;

	run(qp, 1);
	ack(test, qp, SRN_PSN_MASK);
	run(qp, 1);
	skb = new_word(test, SRN_SACK_ANSWER, srn_psn_add(SRN_PSN_MASK, -1), ahead);
	srn_hello_rx_answer(qp, skb);
	kfree_skb(skb);
	run(qp, 3);
	srn_window_time(&qp->window, qp->window.una, 0, false);
	srn_window_delay(&qp->window, PATH_NS, PATH_NS);
	KUNIT_ASSERT_TRUE(test, qp->peer.knows);
	KUNIT_ASSERT_EQ(test, qp->window.reach, ahead);
	KUNIT_ASSERT_FALSE(test, qp->peer.due);
	return qp;
}

/* It has what is in @map behind the oldest, which it misses, and room for @ahead. */
static void sack_map(struct kunit *test, struct srn_qp *qp, u32 ahead, u32 map)
{
	struct sk_buff *skb = new_word(test, SRN_SACK_HELD, qp->window.una, ahead);

	put_unaligned_be32(map, skb_put(skb, sizeof(u32)));
	srn_pkt(skb)->len += sizeof(u32);
	rx_answer(qp, skb);
}

static void sack(struct kunit *test, struct srn_qp *qp, u32 ahead)
{
	sack_map(test, qp, ahead, 1);
}

/* As look_at_delay() does where an answer was timed. */
static bool asks_again(struct srn_qp *qp)
{
	if (srn_window_wants_reach(&qp->window))
		srn_hello_again(&qp->peer);
	return qp->peer.due;
}

/* A NAK of a gap, of who was to say that otherwise: so it may never have known us. It can say that it does. */
static void srn_reach_nak_test(struct kunit *test)
{
	struct srn_qp *qp = start_long(test, SRN_HOLD_WIDE);
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, qp->window.una);
	struct srn_aeth *aeth = (void *)srn_pkt_aeth(skb);

	KUNIT_EXPECT_FALSE(test, asks_again(qp));
	aeth->smsn = be32_encode_bits(SRN_SYN_NAK_SEQ, SRN_AETH_SYNDROME);
	rx_answer(qp, skb);
	KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_HOLD_AHEAD);
	qp->peer.asked = (u32)jiffies;
	KUNIT_EXPECT_FALSE(test, asks_again(qp));
	qp->peer.asked -= SRN_HELLO_PAUSE;
	KUNIT_EXPECT_TRUE(test, asks_again(qp));
	qp->peer.asked += SRN_HELLO_PAUSE;
	skb = new_word(test, SRN_SACK_ANSWER, srn_psn_add(qp->window.una, -1), SRN_HOLD_WIDE);
	srn_hello_rx_answer(qp, skb);
	kfree_skb(skb);
	stop();
	KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_HOLD_WIDE);
	KUNIT_EXPECT_FALSE(test, asks_again(qp));
}

/* That it has little room is so while it holds much, and over with that. */
static void srn_reach_little_test(struct kunit *test)
{
	struct srn_qp *qp = start_long(test, 2000);

	sack(test, qp, 300);
	KUNIT_EXPECT_EQ(test, qp->window.reach, 300);
	ack(test, qp, srn_psn_add(qp->window.at.psn, -1));
	KUNIT_EXPECT_NULL(test, qp->score);
	stop();
	KUNIT_EXPECT_EQ(test, qp->window.reach, 2000);
	KUNIT_EXPECT_FALSE(test, asks_again(qp));
}

/* Or when it has let go of that, and names what it had. */
static void srn_reach_let_go_test(struct kunit *test)
{
	struct srn_qp *qp = start_long(test, 2000);
	struct srn_aeth *aeth;
	struct sk_buff *skb;

	run(qp, 1);
	sack_map(test, qp, 300, 0b101);
	KUNIT_EXPECT_EQ(test, qp->window.reach, 300);
	skb = new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, srn_psn_add(qp->window.una, 1));
	aeth = (void *)srn_pkt_aeth(skb);
	aeth->smsn = be32_encode_bits(SRN_SYN_NAK_SEQ, SRN_AETH_SYNDROME);
	rx_answer(qp, skb);
	KUNIT_EXPECT_NULL(test, qp->score);
	stop();
	KUNIT_EXPECT_EQ(test, qp->window.reach, 2000);
	KUNIT_EXPECT_TRUE(test, qp->peer.knows);
}

/* Who had little from the beginning on is asked whether that is so still. */
static void srn_reach_ever_little_test(struct kunit *test)
{
	struct srn_qp *qp = start_long(test, 300);

	qp->peer.asked = (u32)jiffies;
	KUNIT_EXPECT_FALSE(test, asks_again(qp));
	sack(test, qp, 300);
	ack(test, qp, srn_psn_add(qp->window.at.psn, -1));
	KUNIT_EXPECT_EQ(test, qp->window.reach, 300);
	stop();
	KUNIT_EXPECT_TRUE(test, qp->peer.knows);
	qp->peer.asked = (u32)jiffies;
	KUNIT_EXPECT_FALSE(test, asks_again(qp));
	qp->peer.asked -= SRN_HELLO_PAUSE;
	KUNIT_EXPECT_TRUE(test, asks_again(qp));
}

/* Who is met by a SACK, since others introduced it, has no less room than any, whatever that said. */
static void srn_reach_met_by_sack_test(struct kunit *test)
{
	struct srn_qp *qp = start_long(test, 2000);

	srn_hello_start(qp);
	srn_hello_introduce(qp, true, true);
	KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_HOLD_AHEAD);
	sack_map(test, qp, 1, 0);
	KUNIT_EXPECT_TRUE(test, qp->peer.knows);
	KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_HOLD_AHEAD);
	stop();
}

/* Where nothing is known of what it holds, nothing tells when it has room again: such a one has room. */
static void srn_reach_little_for_nothing_test(struct kunit *test)
{
	struct srn_qp *qp = start_long(test, 2000);

	sack_map(test, qp, 300, 0);
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_EQ(test, qp->window.reach, 2000);
	sack(test, qp, 400);
	sack_map(test, qp, 300, 0);
	KUNIT_EXPECT_EQ(test, qp->window.reach, 300);
	ack(test, qp, srn_psn_add(qp->window.at.psn, -1));
	stop();
	KUNIT_EXPECT_EQ(test, qp->window.reach, 2000);
}

/* Who had little when it answered is asked later, too, though nothing was lost: but not at once. */
static void srn_reach_little_then_test(struct kunit *test)
{
	struct srn_qp *qp = start_long(test, 300);

	qp->peer.asked = (u32)jiffies;
	KUNIT_EXPECT_FALSE(test, asks_again(qp));
	stop();
	msleep(1050);
	KUNIT_EXPECT_TRUE(test, asks_again(qp));
}

/* Less than any peer keeps is little on a short path as well. */
static void srn_reach_less_than_any_test(struct kunit *test)
{
	struct srn_window *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	srn_window_start(w, 0, MTU);
	srn_window_time(w, 0, 0, false);
	srn_window_delay(w, NSEC_PER_MSEC, NSEC_PER_MSEC);
	KUNIT_EXPECT_FALSE(test, srn_window_wants_reach(w));
	srn_window_set_reach(w, SRN_HOLD_AHEAD);
	KUNIT_EXPECT_FALSE(test, srn_window_wants_reach(w));
	srn_window_set_reach(w, SRN_HOLD_AHEAD - 1);
	KUNIT_EXPECT_TRUE(test, srn_window_wants_reach(w));
}

/* However often it lets go of all that it held: it answers, so that it may be asked, a while later. */
static void srn_reach_often_test(struct kunit *test)
{
	struct srn_qp *qp = start_long(test, SRN_HOLD_WIDE);
	int i;

	for (i = 0; i < 10; i++) {
		struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, qp->window.una);
		struct srn_aeth *aeth = (void *)srn_pkt_aeth(skb);

		aeth->smsn = be32_encode_bits(SRN_SYN_NAK_SEQ, SRN_AETH_SYNDROME);
		rx_answer(qp, skb);
		KUNIT_ASSERT_EQ(test, qp->window.reach, SRN_HOLD_AHEAD);
		qp->peer.asked = (u32)jiffies;
		KUNIT_EXPECT_FALSE_MSG(test, asks_again(qp), "%d", i);
		qp->peer.asked -= SRN_HELLO_PAUSE;
		KUNIT_ASSERT_TRUE_MSG(test, asks_again(qp), "%d", i);
		srn_hello_after_ack(&qp->peer, qp->window.una);
		srn_hello_send(qp);
		KUNIT_ASSERT_FALSE(test, qp->peer.due);
		skb = new_word(test, SRN_SACK_ANSWER, srn_psn_add(qp->window.una, -1), SRN_HOLD_WIDE);
		srn_hello_rx_answer(qp, skb);
		kfree_skb(skb);
		KUNIT_ASSERT_EQ(test, qp->window.reach, SRN_HOLD_WIDE);
	}
	stop();
}

/* A device of before holds 3584, as one does whose memory others take. However much of that has come, no more are in
 * flight.
 */
static void srn_reach_former_test(struct kunit *test)
{
	static const u32 aheads[] = { SRN_HOLD_WIDE_EACH_PSNS, SRN_HOLD_WIDE };
	unsigned long *map = kunit_kzalloc(test, BITS_TO_LONGS(SRN_PSNS) * sizeof(*map), GFP_KERNEL);
	struct srn_window *w;
	struct sk_buff *skb;
	struct srn_qp *qp;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, map);
	for (i = 0; i < ARRAY_SIZE(aheads); i++) {
		qp = start_long(test, aheads[i]);
		w = &qp->window;
		do {
			w->cwnd = w->most;
			while (!srn_window_is_full(w, 1))
				srn_window_sent(w, 1, true, false);
			/* All but the oldest have come. */
			bitmap_set(map, 0, srn_window_inflight(w) - 1);
			skb = new_told(test, w->una, aheads[i], map, SRN_PSNS);
			srn_lost_heard(qp, w->una, skb);
			kfree_skb(skb);
			KUNIT_ASSERT_NOT_NULL(test, qp->score);
			KUNIT_ASSERT_EQ(test, qp->score->has.num, srn_window_inflight(w) - 1);
			KUNIT_ASSERT_LE(test, srn_window_inflight(w), aheads[i]);
		} while (!srn_window_is_full(w, 1));
		KUNIT_EXPECT_EQ(test, srn_window_inflight(w), aheads[i]);
		bitmap_zero(map, SRN_PSNS);
		srn_lost_stop(qp);
		stop();
	}
}

static struct kunit_case srn_reach_cases[] = {
	KUNIT_CASE(srn_reach_nak_test),
	KUNIT_CASE(srn_reach_little_test),
	KUNIT_CASE(srn_reach_let_go_test),
	KUNIT_CASE(srn_reach_ever_little_test),
	KUNIT_CASE(srn_reach_met_by_sack_test),
	KUNIT_CASE(srn_reach_little_for_nothing_test),
	KUNIT_CASE(srn_reach_little_then_test),
	KUNIT_CASE(srn_reach_less_than_any_test),
	KUNIT_CASE(srn_reach_often_test),
	KUNIT_CASE(srn_reach_former_test),
	{}
};

static struct kunit_suite srn_reach_suite = {
	.name = "srn_reach",
	.test_cases = srn_reach_cases,
};
kunit_test_suite(srn_reach_suite);
