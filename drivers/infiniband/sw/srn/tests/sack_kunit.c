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
#include "fake_sack.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/unaligned.h>
#include <rdma/ib_pack.h>

#define MTU	1024
#define RTT_NS	(100 * NSEC_PER_MSEC)

/* The map of the last SACK that left. */
static struct {
	u32 words[SRN_PSNS / 32];
	u32 num;
} told;

static void note_told(const struct sk_buff *skb)
{
	u32 at = skb_transport_offset(skb) + sizeof(struct udphdr) + sizeof(struct srn_bth) +
		 sizeof(struct srn_aeth) + sizeof(struct srn_sack_fields);

	told.num = min_t(u32, (skb->len - at) / sizeof(u32) - 1, ARRAY_SIZE(told.words));
	skb_copy_bits(skb, at, told.words, told.num * sizeof(u32));
	be32_to_cpu_array(told.words, (__be32 *)told.words, told.num);
}

static int leave(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	const struct srn_bth *bth = (void *)(skb_transport_header(skb) + sizeof(struct udphdr));

	if (bth->opcode == SRN_OPCODE_SACK)
		note_told(skb);
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

static struct sk_buff *new_sack(struct kunit *test, u32 expected, const unsigned long *map, u32 num)
{
	return new_told(test, expected, SRN_HOLD_WIDE, map, num);
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

/* It comes, is kept, and the batch is over. */
static void keep_skb(struct kunit *test, struct srn_qp *qp, struct sk_buff *skb)
{
	u32 psn = srn_pkt(skb)->psn;

	KUNIT_EXPECT_EQ(test, srn_hold_add(qp->dev, &qp->resp.hold, skb, qp->resp.msg.psn),
			SRN_HELD_NEW);
	kfree_skb(skb);
	srn_ack_gap(qp, psn, SRN_HELD_NEW);
	srn_ack_send(qp);
}

static void keep(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	keep_skb(test, qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, psn));
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

/* After a long one more time passes: on a long path each has a map of hundreds of bytes. */
static void srn_sack_long_is_rare_test(struct kunit *test)
{
	static const struct { u32 psn; u64 us; } rows[] = { { 256, 50 }, { 512, 100 }, { 7680, 800 } };
	struct srn_qp *qp;
	int i;

	migrate_disable();
	qp = new_holder(test);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		qp->resp.ack.tells_ns = 0;
		qp->resp.ack.sacks = 0;
		keep(test, qp, rows[i].psn);
		KUNIT_EXPECT_EQ_MSG(test, qp->resp.ack.tells_ns - qp->resp.ack.sacks_ns,
				    rows[i].us * NSEC_PER_USEC, "%d", i);
	}
	local_bh_enable();
	migrate_enable();
}

/* All that is held, as far as a packet of the path has room, and what needs no memory of its own. */
static void srn_sack_told_test(struct kunit *test)
{
	static const struct { u32 mtu, psn, words; bool read; } rows[] = {
		{ 1024, 32, 1 }, { 1024, 33, 2 }, { 1024, 1025, 33 }, { 1024, SRN_HOLD_WIDE, 240 },
		{ 512, SRN_HOLD_WIDE, 125 }, { 256, SRN_HOLD_WIDE, 61 },
		{ 1024, SRN_HOLD_WIDE, 253, true }, { 4096, SRN_HOLD_WIDE, 253, true },
	};
	struct sk_buff *skb;
	struct srn_qp *qp;
	u32 i, n;

	migrate_disable();
	qp = new_holder(test);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_hold_purge(qp->dev, &qp->resp.hold);
		srn_hold_widen(qp->dev, &qp->resp.hold, rows[i].mtu);
		qp->mtu = rows[i].mtu;
		qp->resp.ack.tells_ns = 0;
		skb = new_packet(test, rows[i].read ? IB_OPCODE_RC_RDMA_READ_REQUEST :
						      IB_OPCODE_RC_SEND_ONLY, rows[i].psn);
		if (rows[i].read)
			((struct srn_reth *)srn_pkt_reth(skb))->len = cpu_to_be32(SRN_HOLD_AHEAD * qp->mtu);
		memset(&told, 0x5a, sizeof(told));
		keep_skb(test, qp, skb);
		KUNIT_ASSERT_EQ_MSG(test, told.num, rows[i].words, "row %u", i);
		for (n = 0; n < told.num; n++)
			KUNIT_EXPECT_EQ_MSG(test, told.words[n],
					    srn_psns_word(qp->resp.hold.held, 1 + 32 * n), "row %u", i);
	}
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
	KUNIT_CASE(srn_sack_took_test),
	KUNIT_CASE(srn_sack_ahead_test),
	KUNIT_CASE(srn_sack_read_map_test),
	KUNIT_CASE(srn_sack_beyond_test),
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
	KUNIT_CASE(srn_sack_long_is_rare_test),
	KUNIT_CASE(srn_sack_told_test),
	KUNIT_CASE(srn_sack_in_vain_test),
	{}
};

static struct kunit_suite srn_sack_suite = {
	.name = "srn_sack",
	.test_cases = srn_sack_cases,
};

kunit_test_suite(srn_sack_suite);
