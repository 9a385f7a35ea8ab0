// SPDX-License-Identifier: GPL-2.0-only
/* Hellos of the peer's: what is one, what follows from it, and when it is answered. */
#include "../stats.h"
#include "fake_hello.h"

#include <kunit/test.h>

/* A peer's, which holds so many PSNs. */
static struct sk_buff *new_hello(struct kunit *test, u32 psn, u32 ahead)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_RDMA_WRITE_ONLY, psn);
	struct srn_hello_fields *fields = srn_pkt_ext(skb);

	put_unaligned_be32(HELLO, &fields->what);
	put_unaligned_be32(ahead, &fields->ahead);
	return skb;
}

struct take_row {
	const char *desc;
	enum ib_qp_state state;
	enum srn_recovery recovery;
	u32 behind, what, len;
	u8 opcode;
	bool asks, taken;
	u32 zero;
};

#define ONLY	IB_OPCODE_RC_RDMA_WRITE_ONLY
#define IMM	IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE

static const struct take_row take_rows[] = {
	{ "hello", IB_QPS_RTS, SRN_RECOVERY_SACK, 1, HELLO, 0, ONLY, false, true },
	{ "in RTR", IB_QPS_RTR, SRN_RECOVERY_SACK, 1, HELLO, 0, ONLY, false, true },
	{ "near", IB_QPS_RTS, SRN_RECOVERY_SACK, FAR - 1, HELLO, 0, ONLY, false, true },
	{ "what means nothing", IB_QPS_RTS, SRN_RECOVERY_SACK, 1, HELLO, 0, ONLY, false, true, 7 },
	{ "asks for an ACK", IB_QPS_RTS, SRN_RECOVERY_SACK, 1, HELLO, 0, ONLY, true },
	{ "far", IB_QPS_RTS, SRN_RECOVERY_SACK, FAR, HELLO, 0, ONLY },
	{ "hold", IB_QPS_RTS, SRN_RECOVERY_HOLD, 1, HELLO, 0, ONLY },
	{ "an answer", IB_QPS_RTS, SRN_RECOVERY_SACK, 1, HELLO + 1, 0, ONLY },
	{ "version 2", IB_QPS_RTS, SRN_RECOVERY_SACK, 1, HELLO + 0x100, 0, ONLY },
	{ "a key", IB_QPS_RTS, SRN_RECOVERY_SACK, 1, HELLO + 0x10000, 0, ONLY },
	{ "bytes", IB_QPS_RTS, SRN_RECOVERY_SACK, 1, HELLO, 1, ONLY },
	{ "immediate data", IB_QPS_RTS, SRN_RECOVERY_SACK, 1, HELLO, 0, IMM },
};

static void take_desc(const struct take_row *row, char *desc)
{
	strscpy(desc, row->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(take, take_rows, take_desc);

/* What is none is a WRITE that came a second time. */
static void srn_hello_take_test(struct kunit *test)
{
	const struct take_row *row = test->param_value;
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_hello_fields *fields;
	struct sk_buff *skb;

	qp->state = row->state;
	qp->recovery = row->recovery;
	qp->mtu = MTU;
	srn_hello_start(qp);
	srn_window_start(&qp->window, 0, MTU);
	qp->resp.msg.psn = 3;
	skb = new_packet(test, row->opcode, srn_psn_add(3, -row->behind));
	fields = srn_pkt_ext(skb);
	put_unaligned_be32(row->what, &fields->what);
	put_unaligned_be32(row->zero, &fields->zero);
	put_unaligned_be32(row->len, &fields->len);
	srn_pkt(skb)->flags = row->asks ? SRN_PKT_ACKREQ : 0;
	local_bh_disable();
	srn_round_rx(qp, skb);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->peer.sacks, row->taken);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_DUP_REQUEST), !row->taken);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_ACK), row->asks);
	KUNIT_EXPECT_EQ(test, qp->resp.ack.twice, !row->taken);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.psn, 3);
}

/* With or without a route. */
static u64 answers(struct srn_qp *qp)
{
	return srn_stats_sum(qp->dev, SRN_CNT_SENT_PKTS) + srn_stats_sum(qp->dev, SRN_CNT_NO_ROUTE);
}

/* All of a round are answered once, with the PSN of the last. */
static void srn_hello_answered_once_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	u32 i;

	qp->recovery = SRN_RECOVERY_SACK;
	qp->mtu = MTU;
	srn_hello_start(qp);
	qp->resp.msg.psn = 9;
	srn_turn_own(&qp->turn);
	local_bh_disable();
	for (i = 3; i; i--)
		srn_round_rx(qp, new_hello(test, 9 - i, SRN_HOLD_WIDE));
	local_bh_enable();
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_TRUE(test, qp->peer.sacks);
	KUNIT_EXPECT_FALSE(test, qp->peer.owed);
	KUNIT_EXPECT_EQ(test, qp->peer.owed_psn, 8);
	KUNIT_EXPECT_EQ(test, answers(qp), 1);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_DUP_REQUEST), 0);
}

/* Behind a request of the same round that was refused, and ended the connection, comes no answer. */
static void srn_hello_of_refused_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->recovery = SRN_RECOVERY_SACK;
	qp->mtu = MTU;
	srn_hello_start(qp);
	local_bh_disable();
	qp->peer.owed = true;
	srn_hello_answer(qp, false);
	srn_hello_answer(qp, true);
	KUNIT_EXPECT_EQ(test, answers(qp), 0);
	qp->peer.owed = true;
	srn_hello_answer(qp, true);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, answers(qp), 1);
}

/* It may have waited while the QP left the state in which it takes one. */
static void srn_hello_late_test(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	give_cq(test, qp);
	qp->scq = qp->rcq;
	qp->page = fake_page(test);
	qp->recovery = SRN_RECOVERY_SACK;
	srn_hello_start(qp);
	srn_turn_own(&qp->turn);
	local_bh_disable();
	srn_round_rx(qp, new_hello(test, SRN_PSN_MASK, SRN_HOLD_WIDE));
	local_bh_enable();
	qp->state = IB_QPS_ERR;
	srn_turn_disown(&qp->turn);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_FALSE(test, qp->peer.sacks);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RX_BAD_STATE), 1);
}

/* However much or little it says that it holds; no more than any peer does, until it is known that it has heard of
 * this side. From then on it says so in answers, and SACKs, and whoever says hello again changes nothing.
 */
static void srn_hello_ahead_test(struct kunit *test)
{
	static const u32 aheads[][2] = {
		{ 0, SRN_WINDOW }, { SRN_WINDOW + 1, SRN_WINDOW + 1 },
		{ SRN_HOLD_WIDE, SRN_HOLD_AHEAD }, { 0x3fffffff, SRN_HOLD_AHEAD },
	};
	struct srn_qp *qp = &new_owner(test)->qp;
	u32 i;

	qp->state = IB_QPS_RTS;
	qp->recovery = SRN_RECOVERY_SACK;
	qp->mtu = MTU;
	srn_window_start(&qp->window, 0, MTU);
	for (i = 0; i < ARRAY_SIZE(aheads); i++) {
		srn_hello_start(qp);
		local_bh_disable();
		srn_round_rx(qp, new_hello(test, SRN_PSN_MASK, aheads[i][0]));
		local_bh_enable();
		KUNIT_EXPECT_TRUE(test, wait_idle(qp));
		KUNIT_EXPECT_TRUE(test, qp->peer.sacks);
		KUNIT_EXPECT_EQ(test, qp->window.reach, aheads[i][1]);
		KUNIT_EXPECT_EQ(test, qp->resp.hold.mtu, MTU);
	}
	qp->peer.knows = true;
	srn_window_set_reach(&qp->window, 1000);
	for (i = 0; i < ARRAY_SIZE(aheads); i++) {
		local_bh_disable();
		srn_round_rx(qp, new_hello(test, SRN_PSN_MASK, aheads[i][0]));
		local_bh_enable();
		KUNIT_EXPECT_TRUE(test, wait_idle(qp));
		KUNIT_EXPECT_EQ(test, qp->window.reach, 1000);
		KUNIT_EXPECT_EQ(test, qp->peer.ahead, SRN_HOLD_AHEAD);
	}
}

static struct kunit_case srn_hello_taken_cases[] = {
	KUNIT_CASE_PARAM(srn_hello_take_test, take_gen_params),
	KUNIT_CASE(srn_hello_answered_once_test),
	KUNIT_CASE(srn_hello_of_refused_test),
	KUNIT_CASE(srn_hello_late_test),
	KUNIT_CASE(srn_hello_ahead_test),
	{}
};

static struct kunit_suite srn_hello_taken_suite = {
	.name = "srn_hello_taken",
	.test_cases = srn_hello_taken_cases,
};
kunit_test_suite(srn_hello_taken_suite);
