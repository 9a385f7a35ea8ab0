// SPDX-License-Identifier: GPL-2.0-only
/* SACKs: when they leave, what follows from one, what they cost, and what is left of them. */
#include "../ack.h"
#include "../completer.h"
#include "../board.h"
#include "../gaps.h"
#include "../lost.h"
#include "../requester.h"
#include "../retry.h"
#include "../sack.h"
#include "../score.h"
#include "fake_round.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/unaligned.h>
#include <rdma/ib_pack.h>

#define MTU	1024
#define RTT_NS	(100 * NSEC_PER_MSEC)

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

/* Its turn is the test's, and its peer understands SACKs. */
static struct srn_qp *new_qp(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->state = IB_QPS_RTS;
	qp->mtu = MTU;
	qp->recovery = SRN_RECOVERY_SACK;
	qp->peer.sacks = true;
	give_clock(test, qp);
	know_path(qp);
	qp->rtt.srtt_ns = RTT_NS;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

/* The peer misses @expected, and of what is behind it has the first @num PSNs that are in @map. */
static struct sk_buff *new_sack(struct kunit *test, u32 expected, const unsigned long *map, u32 num)
{
	struct sk_buff *skb = new_packet(test, SRN_OPCODE_SACK, expected);
	struct srn_sack_fields fields = {
		.what = be32_encode_bits(SRN_SACK_MAGIC, SRN_SACK_WHAT_MAGIC) |
			be32_encode_bits(SRN_SACK_VERSION, SRN_SACK_WHAT_VERSION) |
			be32_encode_bits(SRN_SACK_HELD, SRN_SACK_WHAT_KIND),
		.ahead = cpu_to_be32(SRN_HOLD_WIDE),
	};
	u32 words[8] = {}, i;

	KUNIT_ASSERT_LE(test, num, 32 * ARRAY_SIZE(words));
	bitmap_to_arr32(words, map, num);
	skb_put_data(skb, &fields, sizeof(fields));
	for (i = 0; i < DIV_ROUND_UP(num, 32); i++)
		put_unaligned_be32(words[i], skb_put(skb, sizeof(u32)));
	srn_pkt(skb)->len = sizeof(fields) + i * sizeof(u32);
	return skb;
}

static bool hear(struct kunit *test, struct srn_qp *qp, u32 expected, const unsigned long *map,
		 u32 num)
{
	struct sk_buff *skb = new_sack(test, expected, map, num);
	bool news = srn_lost_heard(qp, expected, skb);

	kfree_skb(skb);
	return news;
}

static void fly(struct srn_qp *qp, u32 num)
{
	qp->window.at.psn = num;
	qp->window.end = num;
}

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
	srn_completer_rx(qp, new_sack(test, 0, map, 32));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_BAD_RESPONSE), 1);
	KUNIT_EXPECT_FALSE(test, qp->peer.sacks);
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_FALSE(test, srn_resend_any(&qp->resend));
}

#define OUT	100
#define FEW	16

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
	srn_completer_rx(qp, skb);
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
	srn_completer_rx(qp, skb);
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

	srn_completer_rx(qp, new_answer(test, SRN_SYN_NAK_SEQ, 0));
	/* It never had that one: it is a NAK of before. */
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	/* What was acknowledged ends in front of that. */
	qp->early.reached_any = true;
	qp->early.reached = 1;
	srn_completer_rx(qp, new_answer(test, SRN_SYN_NAK_SEQ, 2));
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

	srn_completer_rx(qp, new_answer(test, SRN_SYN_ACK_UNLIMITED, 1));
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

	srn_completer_rx(qp, new_answer(test, SRN_SYN_ACK_UNLIMITED, 1));
	qp->early.reached = qp->window.una;
	qp->early.reached_any = true;
	srn_completer_rx(qp, new_answer(test, SRN_SYN_NAK_SEQ, qp->window.una));
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
	srn_completer_rx(qp, new_sack(test, 1, map, 32));
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	wqe->done_psn = 1;
	srn_window_acked(&qp->window, 1);
	srn_retry_progress(qp);
	KUNIT_EXPECT_EQ(test, qp->window.una, 1);
	srn_completer_rx(qp, new_sack(test, 1, map, 32));
	KUNIT_EXPECT_NOT_NULL(test, qp->score);
	KUNIT_EXPECT_FALSE(test, qp->resend.ask);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_IMPLIED_NAK), 0);
	srn_gaps_stop(qp);
	srn_lost_stop(qp);
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

/* @psn comes, is kept, and the batch is over. */
static void keep(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_SEND_ONLY, psn);

	KUNIT_EXPECT_EQ(test, srn_hold_add(qp->dev, &qp->resp.hold, skb, qp->resp.msg.psn),
			SRN_HELD_NEW);
	kfree_skb(skb);
	srn_ack_gap(qp, psn, SRN_HELD_NEW);
	srn_ack_send(qp);
}

static void purge(void *arg)
{
	struct srn_qp *qp = arg;

	srn_hold_purge(qp->dev, &qp->resp.hold);
}

/* Misses a packet, and has told so. */
static struct srn_qp *new_holder(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);

	srn_hold_widen(qp->dev, &qp->resp.hold, MTU);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, purge, qp));
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	keep(test, qp, 1);
	return qp;
}

static u64 sent(const struct srn_qp *qp, enum srn_counter counter)
{
	return srn_stats_sum(qp->dev, counter);
}

/* Between two of them is time, and an alarm in the end of it. */
static void srn_sack_in_time_test(struct kunit *test)
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_holder(test);
	KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_SACK), 1);
	KUNIT_EXPECT_EQ(test, qp->resp.ack.tells_ns, qp->resp.ack.sacks_ns + 50 * NSEC_PER_USEC);
	qp->resp.ack.tells_ns = ktime_get_ns() + NSEC_PER_SEC;
	keep(test, qp, 2);
	keep(test, qp, 3);
	KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_SACK), 1);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_TELL));
	qp->resp.ack.tells_ns = 0;
	srn_ack_send(qp);
	KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_SACK), 2);
	srn_ack_send(qp);
	KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_SACK), 2);
	local_bh_enable();
	migrate_enable();
}

/* Many SACKs are no proof that nobody listens, on a long path; much time between them is. */
static void srn_sack_in_vain_test(struct kunit *test)
{
	struct srn_qp *qp;
	u32 psn;

	migrate_disable();
	qp = new_holder(test);
	for (psn = 2; psn < 40; psn++) {
		qp->resp.ack.tells_ns = 0;
		if (psn == 20)
			qp->resp.ack.sacks_ns -= 250 * NSEC_PER_MSEC;
		keep(test, qp, psn);
		KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_NAK), psn >= 20);
	}
	KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_SACK), 39);
	local_bh_enable();
	migrate_enable();
}

static struct kunit_case srn_sack_cases[] = {
	KUNIT_CASE(srn_sack_charge_test),
	KUNIT_CASE(srn_sack_ahead_test),
	KUNIT_CASE(srn_sack_full_test),
	KUNIT_CASE(srn_sack_of_another_life_test),
	KUNIT_CASE(srn_sack_lost_twice_test),
	KUNIT_CASE(srn_sack_lost_twice_beside_read_test),
	KUNIT_CASE(srn_sack_tight_test),
	KUNIT_CASE(srn_sack_drained_test),
	KUNIT_CASE(srn_sack_grows_test),
	KUNIT_CASE(srn_sack_refilled_test),
	KUNIT_CASE_PARAM(srn_sack_overrun_test, overrun_gen_params),
	KUNIT_CASE(srn_sack_taken_back_test),
	KUNIT_CASE(srn_sack_taken_back_by_nak_test),
	KUNIT_CASE(srn_sack_taken_back_in_silence_test),
	KUNIT_CASE(srn_sack_answer_missing_test),
	KUNIT_CASE(srn_sack_in_read_test),
	KUNIT_CASE(srn_sack_new_ones_count_test),
	KUNIT_CASE(srn_sack_in_time_test),
	KUNIT_CASE(srn_sack_in_vain_test),
	{}
};

static struct kunit_suite srn_sack_suite = {
	.name = "srn_sack",
	.test_cases = srn_sack_cases,
};

kunit_test_suite(srn_sack_suite);
