// SPDX-License-Identifier: GPL-2.0-only
/* What waits for a QP's turn: how much, and what becomes of it when it may not wait any more. */
#include "../limits.h"
#include "../rxq.h"
#include "../stats.h"
#include "fake_round.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <rdma/ib_pack.h>

/* What is of no message waited while the QP left the state in which it takes that, or goes with
 * what waits when it is reset: each is counted.
 */
static void srn_round_state_changed_test(struct kunit *test)
{
	static const enum ib_qp_state states[] = { IB_QPS_RESET, IB_QPS_INIT, IB_QPS_ERR };
	struct srn_qp *qp = &new_owner(test)->qp;
	u32 i;

	give_cq(test, qp);
	qp->scq = qp->rcq;
	qp->page = fake_page(test);
	qp->cc = SRN_CC_DCQCN;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		qp->state = IB_QPS_RTR;
		srn_turn_own(&qp->turn);
		local_bh_disable();
		srn_round_rx(qp, new_packet(test, SRN_OPCODE_CNP, 0));
		srn_round_rx(qp, new_packet(test, SRN_OPCODE_SACK, 0));
		local_bh_enable();
		qp->state = states[i];
		srn_turn_disown(&qp->turn);
		KUNIT_EXPECT_TRUE(test, wait_idle(qp));
		KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RX_BAD_STATE), 2 * i + 2);
	}
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_CNP_HANDLED), 0);
	srn_turn_own(&qp->turn);
	local_bh_disable();
	srn_round_rx(qp, new_packet(test, SRN_OPCODE_CNP, 0));
	srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 0));
	local_bh_enable();
	srn_rxq_purge(qp);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RX_BAD_STATE), 2 * i + 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);
}

static struct sk_buff *new_big_packet(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(1000, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put(skb, 1000);
	return skb;
}

/* As from the network. */
static void rx(struct srn_qp *qp, struct sk_buff *skb)
{
	local_bh_disable();
	srn_round_rx(qp, skb);
	local_bh_enable();
}

/* What waits is counted by the memory that it holds, for a QP and for all of a device. */
static void srn_round_rxq_bounded_test(struct kunit *test)
{
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;
	unsigned int size = 0;
	int i;

	srn_turn_own(&qp->turn);
	for (i = 0; i < 20000 && !srn_stats_sum(qp->dev, SRN_CNT_RX_OVERFLOW); i++) {
		struct sk_buff *skb = new_big_packet(test);

		size = skb->truesize;
		rx(qp, skb);
	}
	KUNIT_EXPECT_LE(test, (u64)atomic_read(&qp->rxq_bytes), (u64)SRN_RXQ_BYTES);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), SRN_RXQ_BYTES / size);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&qp->dev->rxq_bytes), atomic_read(&qp->rxq_bytes));
	srn_rxq_purge(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->rxq_bytes), 0);

}

struct scarce_row {
	const char *desc;
	int num_qps;
	long others, left;	/* bytes that wait for others, and that may wait for this one */
	bool parked;
};

static const struct scarce_row scarce_rows[] = {
	{ "half", 17, SRN_DEV_RXQ_BYTES / 2, SRN_RXQ_SCARCE_BYTES },
	{ "all, few QPs", 17, SRN_DEV_RXQ_BYTES, SRN_RXQ_OWN_MAX_BYTES },
	{ "all, 1024 QPs", 1024, SRN_DEV_RXQ_BYTES, SRN_DEV_RXQ_BYTES / 1024 },
	{ "all, 65536 QPs", 65536, SRN_DEV_RXQ_BYTES, SRN_RXQ_OWN_MIN_BYTES },
	{ "all, and more", 17, 2L * SRN_DEV_RXQ_BYTES, SRN_RXQ_OWN_MAX_BYTES },
	{ "none, behind answers at a rate", 17, 0, SRN_RXQ_OWN_MAX_BYTES, true },
};

static void scarce_desc(const struct scarce_row *row, char *desc)
{
	strscpy(desc, row->desc, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(scarce, scarce_rows, scarce_desc);

/* What others have waiting takes from a QP, but never all. */
static void srn_round_rxq_scarce_test(struct kunit *test)
{
	const struct scarce_row *row = test->param_value;
	struct owner *o = new_owner(test);
	struct srn_qp *qp = &o->qp;
	struct sk_buff *skb = new_big_packet(test);
	unsigned int size = skb->truesize;
	int i;

	srn_turn_own(&qp->turn);
	atomic_set(&qp->dev->num_qps, row->num_qps);
	atomic_long_set(&qp->dev->rxq_bytes, row->others);
	qp->parked = row->parked;
	for (i = 0; i < 20000 && !srn_stats_sum(qp->dev, SRN_CNT_RX_DEV_FULL); i++) {
		rx(qp, skb);
		skb = new_big_packet(test);
	}
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), row->left / size);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RX_OVERFLOW), 0);
	srn_rxq_purge(qp);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&qp->dev->rxq_bytes), row->others);
}

static struct kunit_case srn_rxq_cases[] = {
	KUNIT_CASE(srn_round_state_changed_test),
	KUNIT_CASE(srn_round_rxq_bounded_test),
	KUNIT_CASE_PARAM(srn_round_rxq_scarce_test, scarce_gen_params),
	{}
};

static struct kunit_suite srn_rxq_suite = {
	.name = "srn_rxq",
	.test_cases = srn_rxq_cases,
};

kunit_test_suite(srn_rxq_suite);
