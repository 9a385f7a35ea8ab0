// SPDX-License-Identifier: GPL-2.0-only
/* SACKs that leave: when, and what they say; and what is held, when it has been passed. */
#include "../ack.h"
#include "../responder.h"
#include "fake_listener.h"
#include "fake_route.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <rdma/ib_pack.h>

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

/* Misses a packet, and has told so. Until stop() this CPU is the test's. */
static struct srn_qp *start(struct kunit *test)
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_qp(test);
	srn_hold_widen(qp->dev, &qp->resp.hold, MTU);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, purge, qp));
	fake_route(test, &qp->path, leave);
	local_bh_disable();
	keep(test, qp, 1);
	return qp;
}

static void stop(void)
{
	local_bh_enable();
	migrate_enable();
}

static u64 sent(const struct srn_qp *qp, enum srn_counter counter)
{
	return srn_stats_sum(qp->dev, counter);
}

/* Between two of them is time, and an alarm in the end of it. */
static void srn_sack_in_time_test(struct kunit *test)
{
	struct srn_qp *qp = start(test);

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
	stop();
}

/* After a long one more time passes: on a long path each has a map of hundreds of bytes. */
static void srn_sack_long_is_rare_test(struct kunit *test)
{
	static const struct { u32 psn; u64 us; } rows[] = { { 256, 50 }, { 512, 100 }, { 7680, 800 } };
	struct srn_qp *qp = start(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		qp->resp.ack.tells_ns = 0;
		qp->resp.ack.sacks = 0;
		keep(test, qp, rows[i].psn);
		KUNIT_EXPECT_EQ_MSG(test, qp->resp.ack.tells_ns - qp->resp.ack.sacks_ns,
				    rows[i].us * NSEC_PER_USEC, "%d", i);
	}
	stop();
}

/* All that is held, as far as a packet of the path has room, and what needs no memory of its own. */
static void srn_sack_told_test(struct kunit *test)
{
	static const struct { u32 mtu, psn, words; bool read; } rows[] = {
		{ 1024, 32, 1 }, { 1024, 33, 2 }, { 1024, 1025, 33 }, { 1024, SRN_HOLD_WIDE, 240 },
		{ 512, SRN_HOLD_WIDE, 125 }, { 256, SRN_HOLD_WIDE, 61 },
		{ 1024, SRN_HOLD_WIDE, 253, true }, { 4096, SRN_HOLD_WIDE, 253, true },
	};
	struct srn_qp *qp = start(test);
	struct sk_buff *skb;
	u32 i, n;

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
	stop();
}

/* Many SACKs are no proof that nobody listens, on a long path; much time between them is. */
static void srn_sack_in_vain_test(struct kunit *test)
{
	struct srn_qp *qp = start(test);
	u32 psn;

	for (psn = 2; psn < 40; psn++) {
		qp->resp.ack.tells_ns = 0;
		if (psn == 20)
			qp->resp.ack.sacks_ns -= 250 * NSEC_PER_MSEC;
		keep(test, qp, psn);
		KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_NAK), psn >= 20);
	}
	KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_SACK), 39);
	stop();
}

#define MANY	(3 * SRN_ROUND_BUDGET)

/* As rounds do. */
static bool drain(struct srn_qp *qp)
{
	int budget = SRN_ROUND_BUDGET;
	bool done = srn_responder_drain(qp, &budget);

	srn_responder_send(qp, &budget);
	return done;
}

static void keep_many(struct kunit *test, struct srn_qp *qp)
{
	u32 psn;

	for (psn = 2; psn <= MANY; psn++)
		keep(test, qp, psn);
	KUNIT_ASSERT_EQ(test, qp->resp.hold.num, MANY);
}

/* What one READ has used up goes in parts. Until it is gone the peer is not told what is held: a PSN that is behind
 * would stand for another.
 */
static void srn_sack_not_beside_passed_test(struct kunit *test)
{
	struct srn_qp *qp = start(test);
	u64 before;

	keep_many(test, qp);
	before = sent(qp, SRN_CNT_SENT_SACK);
	qp->resp.msg.psn = MANY - 1;
	qp->resp.ack.tells_ns = 0;
	srn_ack_gap(qp, MANY, SRN_HELD_AGAIN);
	KUNIT_EXPECT_FALSE(test, drain(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.hold.num, MANY - SRN_ROUND_BUDGET);
	KUNIT_EXPECT_FALSE(test, drain(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.hold.num, MANY - 2 * SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_SACK), before);
	qp->resp.msg.psn = 0;
	KUNIT_EXPECT_TRUE(test, drain(qp));
	KUNIT_EXPECT_EQ(test, sent(qp, SRN_CNT_SENT_SACK), before + 1);
	stop();
}

/* So does all of it in error, and nothing of it is executed. */
static void srn_hold_goes_in_error_test(struct kunit *test)
{
	struct srn_qp *qp = start(test);

	keep_many(test, qp);
	qp->resp.msg.psn = 1;
	qp->state = IB_QPS_ERR;
	KUNIT_EXPECT_FALSE(test, drain(qp));
	KUNIT_EXPECT_EQ(test, qp->resp.hold.num, MANY - SRN_ROUND_BUDGET);
	KUNIT_EXPECT_FALSE(test, drain(qp));
	KUNIT_EXPECT_TRUE(test, drain(qp));
	KUNIT_EXPECT_TRUE(test, srn_hold_is_empty(&qp->resp.hold));
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 1);
	stop();
}

static struct kunit_case srn_sack_leave_cases[] = {
	KUNIT_CASE(srn_sack_in_time_test),
	KUNIT_CASE(srn_sack_long_is_rare_test),
	KUNIT_CASE(srn_sack_told_test),
	KUNIT_CASE(srn_sack_in_vain_test),
	KUNIT_CASE(srn_sack_not_beside_passed_test),
	KUNIT_CASE(srn_hold_goes_in_error_test),
	{}
};

static struct kunit_suite srn_sack_leave_suite = {
	.name = "srn_sack_leave",
	.test_cases = srn_sack_leave_cases,
};

kunit_test_suite(srn_sack_leave_suite);
