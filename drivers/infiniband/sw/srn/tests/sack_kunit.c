// SPDX-License-Identifier: GPL-2.0-only
/* SACKs: what follows from one, what they cost, and what is left of them. */
#include "../completer.h"
#include "../gaps.h"
#include "../retry.h"
#include "../score.h"
#include "fake_listener.h"
#include "fake_rx.h"

#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/unaligned.h>
#include <rdma/ib_pack.h>

static long charged(const struct srn_qp *qp)
{
	return atomic_long_read(&qp->dev->hold_bytes);
}

/* What is known of a peer is charged while something is missing. */
static void srn_sack_charge_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	DECLARE_BITMAP(map, 32) = { 0x5 };

	fly(qp, 8);
	KUNIT_EXPECT_TRUE(test, hear(test, qp, 0, map, 32));
	KUNIT_EXPECT_EQ(test, charged(qp), sizeof(struct srn_score));
	KUNIT_EXPECT_FALSE(test, hear(test, qp, 0, map, 32));
	KUNIT_EXPECT_EQ(test, charged(qp), sizeof(struct srn_score));
	srn_lost_stop(qp);
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_EQ(test, charged(qp), 0);
	KUNIT_EXPECT_TRUE(test, hear(test, qp, 0, map, 32));
	srn_window_acked(&qp->window, 4);
	srn_lost_acked(qp);
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_EQ(test, charged(qp), 0);
}

/* How far ahead the peer holds is in 24 bits: what the upper ones say is something else. */
static void srn_sack_ahead_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	DECLARE_BITMAP(map, 32) = { 0x5 };
	struct sk_buff *skb = new_sack(test, 0, map, 32);
	struct srn_sack_fields *fields = (void *)skb->data + srn_pkt_payload(skb);

	fly(qp, 8);
	put_unaligned_be32(0xff000000 | (SRN_WINDOW + 1), &fields->ahead);
	KUNIT_EXPECT_TRUE(test, srn_lost_heard(qp, 0, skb));
	KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_WINDOW + 1);
	kfree_skb(skb);
	srn_lost_stop(qp);
}

/* @num words, each another, and none of them symmetric. */
static unsigned long *new_map(struct kunit *test, u32 num)
{
	unsigned long *map = kunit_kzalloc(test, BITS_TO_LONGS(32 * num) * sizeof(*map), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, map);
	for (i = 0; i < 32 * num; i++)
		if (i % 32 == i / 32 % 31 || i % 7 == 3)
			__set_bit(i, map);
	return map;
}

/* Word by word, wherever the packet was cut; what is more than a map has is not looked at. */
static void srn_sack_read_map_test(struct kunit *test)
{
	static const u32 rows[] = { 0, 1, 31, 32, 33, 64, 240, 253, 256, 257, 300 };
	struct srn_sack_map *map = kunit_kzalloc(test, sizeof(*map), GFP_KERNEL);
	unsigned long *said = new_map(test, 300);
	struct sk_buff *skb;
	u32 i, num;

	KUNIT_ASSERT_NOT_NULL(test, map);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(map, 0x5a, sizeof(*map));
		skb = new_sack(test, 0, said, 32 * rows[i]);
		num = min(32 * rows[i], (u32)SRN_PSNS);
		KUNIT_EXPECT_TRUE(test, srn_sack_read_map(skb, map));
		KUNIT_EXPECT_EQ_MSG(test, map->num, num, "%u words", rows[i]);
		KUNIT_EXPECT_TRUE_MSG(test, bitmap_equal(map->bits, said, num), "%u words", rows[i]);
		kfree_skb(skb);
	}
}

/* What a map says beyond what is in flight is nothing: to a peer that holds 3584 no more are. */
static void srn_sack_beyond_test(struct kunit *test)
{
	unsigned long *map = kunit_kzalloc(test, SRN_PSNS / 8, GFP_KERNEL);
	const u32 out = SRN_HOLD_WIDE_EACH_PSNS;
	struct srn_qp *qp = new_qp(test);

	KUNIT_ASSERT_NOT_NULL(test, map);
	bitmap_fill(map, SRN_PSNS);
	__clear_bit(out - 3, map);
	fly(qp, out);
	KUNIT_EXPECT_TRUE(test, hear(test, qp, 0, map, SRN_PSNS));
	KUNIT_EXPECT_EQ(test, qp->score->has.num, out - 2);
	KUNIT_EXPECT_EQ(test, qp->score->high, out);
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), 0);
	srn_lost_stop(qp);
}

/* Where the device has no room it is as if the SACK were lost. */
static void srn_sack_full_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	DECLARE_BITMAP(map, 32) = { 0x5 };
	long full = 2l * SRN_DEV_HOLD_BYTES + 1;

	fly(qp, 8);
	atomic_long_set(&qp->dev->hold_bytes, full);
	KUNIT_EXPECT_FALSE(test, hear(test, qp, 0, map, 32));
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_EQ(test, charged(qp), full);
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), 8);
}

/* A QP may begin again in another mode while a SACK waits. */
static void srn_sack_of_another_life_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	DECLARE_BITMAP(map, 32) = { 0x5 };

	fly(qp, 8);
	qp->recovery = SRN_RECOVERY_HOLD;
	qp->peer.sacks = false;
	rx_answer(qp, new_sack(test, 0, map, 32));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_BAD_RESPONSE), 1);
	KUNIT_EXPECT_FALSE(test, qp->peer.sacks);
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_FALSE(test, srn_resend_any(&qp->resend));
}

/* Both of two SENDs are in flight, the first one's completion finds no room. */
static struct srn_qp *new_full(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	u32 i;

	give_sends(test, qp, 2);
	qp->sq.fetched = 2;
	for (i = 0; i < 2; i++) {
		srn_sq_wqe(&qp->sq, i)->flags = IB_SEND_SIGNALED;
		srn_sq_start(srn_sq_wqe(&qp->sq, i), i, 1, 1);
	}
	fly(qp, 2);
	qp->window.at.index = 2;
	qp->scq = new_cq(test, qp, 1);
	qp->scq->prod = 1;
	return qp;
}

struct overrun_row {
	const char *desc;
	u8 opcode;
	u8 syndrome;
};

static const struct overrun_row overrun_rows[] = {
	{ "SACK", SRN_OPCODE_SACK, SRN_SYN_NAK_SEQ },
	{ "NAK of a gap", IB_OPCODE_RC_ACKNOWLEDGE, SRN_SYN_NAK_SEQ },
	{ "RNR NAK", IB_OPCODE_RC_ACKNOWLEDGE, SRN_SYN_RNR_NAK | 1 },
};

KUNIT_ARRAY_PARAM_DESC(overrun, overrun_rows, desc);

/* What the peer misses does not matter to a QP that is in error by then. */
static void srn_sack_overrun_test(struct kunit *test)
{
	const struct overrun_row *row = test->param_value;
	struct srn_qp *qp = new_full(test);
	DECLARE_BITMAP(map, 32) = {};
	struct sk_buff *skb;

	if (row->opcode == SRN_OPCODE_SACK)
		skb = new_sack(test, 1, map, 32);
	else
		skb = new_packet(test, row->opcode, 1);
	put_unaligned_be32((u32)row->syndrome << 24,
			   skb->data + srn_pkt(skb)->bth + sizeof(struct srn_bth));
	rx_answer(qp, skb);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_FALSE(test, srn_resend_any(&qp->resend));
	KUNIT_EXPECT_FALSE(test, qp->retry.rnr_wait);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRY_EXCEEDED), 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RNR_EXCEEDED), 0);
}

/* All of OUT SENDs are in flight, and the peer has those behind the first two. */
static struct srn_qp *new_believer(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	DECLARE_BITMAP(map, OUT) = {};

	give_sends(test, qp, 1);
	qp->sq.fetched = 1;
	srn_sq_start(srn_sq_wqe(&qp->sq, 0), 0, OUT, 1);
	srn_resend_start(&qp->resend);
	qp->timeout = 20;
	qp->retry_cnt = 7;
	qp->retry.retries = 7;
	qp->window.at.index = 1;
	fly(qp, OUT);
	bitmap_set(map, 1, OUT - 2);
	KUNIT_ASSERT_TRUE(test, hear(test, qp, 0, map, OUT - 1));
	return qp;
}

static struct sk_buff *new_answer(struct kunit *test, u8 syndrome, u32 psn)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, psn);

	put_unaligned_be32((u32)syndrome << 24,
			   skb->data + srn_pkt(skb)->bth + sizeof(struct srn_bth));
	return skb;
}

static u32 num_lost(struct srn_qp *qp, u64 now)
{
	u32 psn, len, num = 0;

	while ((len = srn_lost_next(qp, now, &psn))) {
		srn_lost_sent(qp, now, psn, len);
		num += len;
	}
	return num;
}

/* A peer that was short of memory let go of what it had, and says of which PSNs: they are as lost as
 * others from then on.
 */
static void srn_sack_taken_back_test(struct kunit *test)
{
	struct srn_qp *qp = new_believer(test);
	DECLARE_BITMAP(map, OUT) = {};
	struct sk_buff *skb;

	KUNIT_EXPECT_EQ(test, num_lost(qp, ktime_get_ns()), 2);
	/* Both came, and of what is behind them 21 have gone. */
	bitmap_set(map, 0, OUT);
	bitmap_clear(map, 9, 20);
	skb = new_sack(test, 2, map, OUT - 3);
	put_unaligned_be32((u32)SRN_SYN_NAK_SEQ << 24,
			   skb->data + srn_pkt(skb)->bth + sizeof(struct srn_bth));
	rx_answer(qp, skb);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RCVD_SACK), 1);
	KUNIT_ASSERT_NOT_NULL(test, qp->score);
	KUNIT_EXPECT_EQ(test, qp->window.una, 2);
	KUNIT_EXPECT_EQ(test, num_lost(qp, ktime_get_ns()), 21);
	KUNIT_EXPECT_EQ(test, qp->retry.retries, 7);
	srn_lost_stop(qp);
}

/* By a NAK it says that it holds nothing. */
static void srn_sack_taken_back_by_nak_test(struct kunit *test)
{
	struct srn_qp *qp = new_believer(test);

	rx_answer(qp, new_answer(test, SRN_SYN_NAK_SEQ, 0));
	/* It never had that one: it is a NAK of before. */
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	/* What was acknowledged ends in front of that. */
	qp->early.reached_any = true;
	qp->early.reached = 1;
	rx_answer(qp, new_answer(test, SRN_SYN_NAK_SEQ, 2));
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_EQ(test, qp->window.una, 2);
	KUNIT_EXPECT_TRUE(test, srn_resend_any(&qp->resend));
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), OUT - 2);
	KUNIT_EXPECT_EQ(test, qp->retry.retries, 7);
}

/* And by silence, behind the ACK of the last one that was missing: then it is asked. */
static void srn_sack_taken_back_in_silence_test(struct kunit *test)
{
	struct srn_qp *qp = new_believer(test);

	rx_answer(qp, new_answer(test, SRN_SYN_ACK_UNLIMITED, 1));
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	KUNIT_EXPECT_EQ(test, num_lost(qp, ktime_get_ns()), 0);
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_TRUE(test, srn_resend_any(&qp->resend));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 0);
}

/* A READ was acknowledged, and its answer is missing: nothing was let go, whoever says so, and nothing
 * behind it goes again for that.
 */
static void srn_sack_answer_missing_test(struct kunit *test)
{
	struct srn_qp *qp = new_believer(test);

	rx_answer(qp, new_answer(test, SRN_SYN_ACK_UNLIMITED, 1));
	qp->early.reached = qp->window.una;
	qp->early.reached_any = true;
	rx_answer(qp, new_answer(test, SRN_SYN_NAK_SEQ, qp->window.una));
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	srn_lost_stop(qp);
}

/* A READ of several requests, of which the second was lost: it is the oldest when the peer names it once
 * more, which does not say that its answer was lost.
 */
static void srn_sack_in_read_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	DECLARE_BITMAP(map, 32) = { 0x1 };
	struct srn_wqe *wqe;

	qp->peer.parts = true;
	give_sends(test, qp, 1);
	qp->sq.fetched = 1;
	wqe = srn_sq_wqe(&qp->sq, 0);
	wqe->opcode = IB_WR_RDMA_READ;
	wqe->length = 4 * MTU;
	srn_sq_start(wqe, 0, 4, 1);
	srn_window_sent(&qp->window, 4, true, true);
	rx_answer(qp, new_sack(test, 1, map, 32));
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	wqe->done_psn = 1;
	srn_window_acked(&qp->window, 1);
	srn_retry_progress(qp);
	KUNIT_EXPECT_EQ(test, qp->window.una, 1);
	rx_answer(qp, new_sack(test, 1, map, 32));
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	KUNIT_EXPECT_FALSE(test, qp->resend.ask);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_IMPLIED_NAK), 0);
	srn_gaps_stop(qp);
	srn_lost_stop(qp);
}

/* SENDs behind READs of one's own: a SACK says that a READ's request is there, and nothing of its answer. */
static void srn_sack_names_read_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	struct srn_window *w = &qp->window;
	DECLARE_BITMAP(map, 32) = { 0x1 };
	u64 now = ktime_get_ns();

	fly(qp, 8);
	w->crowd.left = 2;
	srn_known_least(qp->known->path, 0, now);
	srn_window_time(w, 0, now - NSEC_PER_SEC, true);
	w->timed_rest = 3;
	KUNIT_EXPECT_TRUE(test, hear(test, qp, 5, map, 32));
	srn_retry_heard(qp);
	KUNIT_EXPECT_GE(test, w->crowd.delay_ns, NSEC_PER_SEC);
	KUNIT_EXPECT_FALSE(test, w->timed);
	srn_window_time(w, 3, now, true);
	w->timed_last = true;
	srn_retry_heard(qp);
	KUNIT_EXPECT_TRUE(test, w->timed);
	srn_lost_stop(qp);
}

static struct kunit_case srn_sack_cases[] = {
	KUNIT_CASE(srn_sack_charge_test),
	KUNIT_CASE(srn_sack_ahead_test),
	KUNIT_CASE(srn_sack_read_map_test),
	KUNIT_CASE(srn_sack_beyond_test),
	KUNIT_CASE(srn_sack_full_test),
	KUNIT_CASE(srn_sack_of_another_life_test),
	KUNIT_CASE_PARAM(srn_sack_overrun_test, overrun_gen_params),
	KUNIT_CASE(srn_sack_taken_back_test),
	KUNIT_CASE(srn_sack_taken_back_by_nak_test),
	KUNIT_CASE(srn_sack_taken_back_in_silence_test),
	KUNIT_CASE(srn_sack_answer_missing_test),
	KUNIT_CASE(srn_sack_in_read_test),
	KUNIT_CASE(srn_sack_names_read_test),
	{}
};

static struct kunit_suite srn_sack_suite = {
	.name = "srn_sack",
	.test_cases = srn_sack_cases,
};

kunit_test_suite(srn_sack_suite);
