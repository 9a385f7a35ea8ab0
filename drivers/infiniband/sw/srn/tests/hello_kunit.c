// SPDX-License-Identifier: GPL-2.0-only
/* Hellos: when one leaves, and what follows from its answer. */
#include "../build.h"
#include "../stats.h"
#include "fake_hello.h"
#include "fake_rx.h"

#include <kunit/test.h>

/* In front of the first packet that leaves behind an ACK. */
static void srn_hello_behind_ack_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 4);

	run(qp, 1);
	KUNIT_EXPECT_EQ(test, left.num, 1);
	ack(test, qp, SRN_PSN_MASK);
	KUNIT_EXPECT_EQ(test, left.num, 1);
	run(qp, 2);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 4);
	expect_left(test, 1, IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_PSN_MASK);
	KUNIT_EXPECT_EQ(test, be32_get_bits(left.bths[1].apsn, SRN_BTH_ACKREQ), 0);
	expect_left(test, 2, IB_OPCODE_RC_SEND_ONLY, 0);
	expect_left(test, 3, IB_OPCODE_RC_SEND_ONLY, 1);
	/* It takes no place in the window. */
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 2);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), 0);
}

/* Behind the answer of a READ none may leave, nor with what goes a second time. */
static void srn_hello_waits_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 4);

	run(qp, 2);
	/* As of a READ: no ACK said it. */
	srn_window_acked(&qp->window, 0);
	run(qp, 1);
	KUNIT_EXPECT_EQ(test, left.num, 3);
	srn_hello_after_ack(&qp->peer, 0);
	qp->window.at = (struct srn_cursor){ .index = 1, .psn = 0 };
	run(qp, 2);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 5);
	expect_left(test, 3, IB_OPCODE_RC_SEND_ONLY, 0);
	expect_left(test, 4, IB_OPCODE_RC_SEND_ONLY, 1);
	KUNIT_EXPECT_TRUE(test, qp->peer.due);
}

/* Nor where an ACK came all PSNs ago. */
static void srn_hello_behind_read_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 2);

	srn_sq_wqe(&qp->sq, 0)->opcode = IB_WR_RDMA_READ;
	qp->max_rd_atomic = 1;
	srn_hello_after_ack(&qp->peer, 0);
	run(qp, 1);
	rx_answer(qp, new_packet(test, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, SRN_PSN_MASK));
	KUNIT_EXPECT_EQ(test, qp->window.una, 0);
	run(qp, 1);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 2);
	expect_left(test, 0, IB_OPCODE_RC_RDMA_READ_REQUEST, SRN_PSN_MASK);
	expect_left(test, 1, IB_OPCODE_RC_SEND_ONLY, 0);
	KUNIT_EXPECT_TRUE(test, qp->peer.due);
}

/* What it has no use for is 0, and not how many packets came twice. */
static void srn_hello_says_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 1);

	qp->resp.ack.twice = 5;
	qp->cc = SRN_CC_DCQCN;
	srn_hello_after_ack(&qp->peer, qp->window.una);
	srn_hello_send(qp);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(left.hello.ahead), BIT(31) | BIT(30) | SRN_HOLD_WIDE);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(left.hello.zero), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(left.hello.what), HELLO);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(left.hello.len), 0);
}

#ifdef CONFIG_FAILSLAB
/* More than a CPU has at hand. */
#define AT_HAND	1000

/* One allocation of @qp's requester fails: all that is at hand is taken before. */
static void send_poorly(struct kunit *test, struct srn_qp *qp)
{
	struct sk_buff_head taken;
	struct sk_buff *skb;

	__skb_queue_head_init(&taken);
	do {
		current->fail_nth = 1;
		skb = srn_build(IB_OPCODE_RC_SEND_ONLY, SRN_BUILD_ALONE, 0, 0, 0);
		if (skb)
			__skb_queue_tail(&taken, skb);
	} while (skb && skb_queue_len(&taken) < AT_HAND);
	current->fail_nth = 1;
	srn_hello_send(qp);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	current->fail_nth = 0;
	while ((skb = __skb_dequeue(&taken)))
		kfree_skb(skb);
}

/* Without memory it is not spent. */
static void srn_hello_without_memory_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 1);
	u8 few = qp->peer.left;

	srn_hello_after_ack(&qp->peer, qp->window.una);
	send_poorly(test, qp);
	KUNIT_EXPECT_EQ(test, left.num, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TX_NOMEM), 1);
	KUNIT_EXPECT_EQ(test, qp->peer.left, few);
	KUNIT_EXPECT_TRUE(test, qp->peer.due);
	srn_hello_send(qp);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 1);
	KUNIT_EXPECT_EQ(test, qp->peer.left, few - 1);
	KUNIT_EXPECT_FALSE(test, qp->peer.due);
}
#endif

/* A few, and none where nobody is asked. */
static void srn_hello_few_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 1);
	int i;

	for (i = 0; i < 10; i++) {
		srn_hello_later(&qp->peer);
		if (!qp->peer.due)
			break;
		srn_hello_after_ack(&qp->peer, qp->window.una);
		srn_hello_send(qp);
	}
	KUNIT_EXPECT_EQ(test, i, 4);
	KUNIT_EXPECT_EQ(test, left.num, 4);
	qp->recovery = SRN_RECOVERY_HOLD;
	srn_hello_start(qp);
	srn_hello_later(&qp->peer);
	KUNIT_EXPECT_FALSE(test, qp->peer.due);
	stop();
}

struct answer_row {
	const char *desc;
	enum ib_qp_state state;
	bool asked;
	s32 psn;		/* from the oldest on that is not acknowledged */
	bool believed;
	u8 other;		/* kind */
	bool holds;		/* and nobody is asked */
};

static const struct answer_row answer_rows[] = {
	{ "answer", IB_QPS_RTS, true, -1, true },
	{ "near", IB_QPS_RTS, true, 1 - SRN_PSNS, true },
	{ "far", IB_QPS_RTS, true, -SRN_PSNS },
	{ "not asked for", IB_QPS_RTS, false, -1 },
	{ "in RTR", IB_QPS_RTR, false, -1 },
	{ "the oldest", IB_QPS_RTS, true, 0 },
	{ "ahead of una", IB_QPS_RTS, true, 1 },
	{ "another kind", IB_QPS_RTS, true, -1, false, 7 },
	{ "another mode", IB_QPS_RTS, false, -1, false, 0, true },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_rows, desc);

/* A hello has a PSN that the peer is past, and so has its answer. */
static void srn_hello_believed_test(struct kunit *test)
{
	const struct answer_row *row = test->param_value;
	struct srn_qp *qp = &new_owner(test)->qp;
	u32 una = 5;

	qp->state = row->state;
	qp->recovery = row->holds ? SRN_RECOVERY_HOLD : SRN_RECOVERY_SACK;
	qp->mtu = MTU;
	srn_window_start(&qp->window, una, MTU);
	srn_hello_start(qp);
	qp->peer.left -= row->asked;
	local_bh_disable();
	srn_round_rx(qp, new_word(test, SRN_SACK_ANSWER + row->other, srn_psn_add(una, row->psn),
				  SRN_HOLD_WIDE));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
	KUNIT_EXPECT_EQ(test, qp->peer.sacks, row->believed);
	KUNIT_EXPECT_EQ(test, qp->window.reach == SRN_HOLD_WIDE, row->believed);
}

/* A SACK says whether marks are told, too: the answer may be lost. */
static void srn_hello_sack_tells_test(struct kunit *test)
{
	u32 tells;

	for (tells = 0; tells < 2; tells++) {
		struct srn_qp *qp = start(test, 1);

		qp->cc = SRN_CC_DCQCN;
		run(qp, 1);
		rx_answer(qp, new_word(test, SRN_SACK_HELD, SRN_PSN_MASK,
					      tells << 31 | SRN_HOLD_WIDE));
		stop();
		KUNIT_EXPECT_TRUE(test, qp->peer.sacks);
		KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_HOLD_WIDE);
		KUNIT_EXPECT_EQ(test, qp->notifies, tells);
	}
}

static struct kunit_case srn_hello_cases[] = {
	KUNIT_CASE(srn_hello_behind_ack_test),
	KUNIT_CASE(srn_hello_waits_test),
	KUNIT_CASE(srn_hello_behind_read_test),
	KUNIT_CASE(srn_hello_says_test),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(srn_hello_without_memory_test),
#endif
	KUNIT_CASE(srn_hello_few_test),
	KUNIT_CASE_PARAM(srn_hello_believed_test, answer_gen_params),
	KUNIT_CASE(srn_hello_sack_tells_test),
	{}
};

static struct kunit_suite srn_hello_suite = {
	.name = "srn_hello",
	.test_cases = srn_hello_cases,
};
kunit_test_suite(srn_hello_suite);
