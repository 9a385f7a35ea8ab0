// SPDX-License-Identifier: GPL-2.0-only
/* Hellos of who has only been asked to READ: when one leaves, and that no answer of nonsense
 * completes anything.
 */
#include "fake_hello.h"
#include "fake_rx.h"

#include <kunit/test.h>

static void answer_read(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	rx_answer(qp, new_packet(test, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, psn));
}

/* READs, and a SEND behind them. */
static struct srn_qp *start_reads(struct kunit *test, u32 num)
{
	struct srn_qp *qp = start(test, num + 1);
	u32 i;

	qp->max_rd_atomic = 4;
	for (i = 0; i < num; i++)
		srn_sq_wqe(&qp->sq, i)->opcode = IB_WR_RDMA_READ;
	return qp;
}

/* With the PSN in front of the first, which no READ has; not with what leaves first. */
static void srn_hello_reader_test(struct kunit *test)
{
	struct srn_qp *qp = start_reads(test, 4);

	run(qp, 2);
	KUNIT_EXPECT_EQ(test, left.num, 2);
	answer_read(test, qp, SRN_PSN_MASK);
	run(qp, 2);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 5);
	expect_left(test, 2, IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_PSN_MASK - 1);
	KUNIT_EXPECT_EQ(test, be32_get_bits(left.bths[2].apsn, SRN_BTH_ACKREQ), 0);
	expect_left(test, 3, IB_OPCODE_RC_RDMA_READ_REQUEST, 1);
	expect_left(test, 4, IB_OPCODE_RC_RDMA_READ_REQUEST, 2);
	KUNIT_EXPECT_FALSE(test, qp->peer.due);
}

/* A peer that has executed nothing else may answer it with any PSN, as rxe does: of READs no ACK
 * says anything, and until they are answered nothing leaves that one would complete.
 */
static void srn_hello_nonsense_test(struct kunit *test)
{
	struct srn_qp *qp = start_reads(test, 2);

	run(qp, 1);
	answer_read(test, qp, SRN_PSN_MASK);
	run(qp, 2);
	KUNIT_EXPECT_EQ(test, left.num, 3);
	expect_left(test, 1, IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_PSN_MASK - 1);
	expect_left(test, 2, IB_OPCODE_RC_RDMA_READ_REQUEST, 0);
	ack(test, qp, 0);
	KUNIT_EXPECT_EQ(test, qp->window.una, 0);
	answer_read(test, qp, 0);
	KUNIT_EXPECT_EQ(test, qp->window.una, 1);
	run(qp, 1);
	stop();
	expect_left(test, left.num - 1, IB_OPCODE_RC_SEND_ONLY, 1);
	KUNIT_EXPECT_FALSE(test, qp->peer.fence);
}

/* Who has met us answers with sense. */
static void srn_hello_met_reader_test(struct kunit *test)
{
	struct srn_qp *qp = start_reads(test, 2);
	struct sk_buff *skb;

	run(qp, 1);
	answer_read(test, qp, SRN_PSN_MASK);
	run(qp, 1);
	KUNIT_EXPECT_TRUE(test, qp->peer.fence);
	skb = new_word(test, SRN_SACK_ANSWER, SRN_PSN_MASK - 1, SRN_HOLD_WIDE);
	srn_hello_rx_answer(qp, skb);
	kfree_skb(skb);
	KUNIT_EXPECT_TRUE(test, qp->peer.sacks);
	run(qp, 1);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 4);
	expect_left(test, 3, IB_OPCODE_RC_SEND_ONLY, 1);
}

/* Of a peer that said hello it is not known that it has heard the answer: where that is of use it is asked all the
 * same, with its own answer or a SACK it shows that it has, and then no more.
 */
static void srn_hello_known_test(struct kunit *test)
{
	struct srn_qp *qp;
	struct sk_buff *skb;
	u32 sack;

	for (sack = 0; sack < 2; sack++) {
		qp = start_reads(test, 3);
		qp->peer.sacks = true;
		qp->peer.due = false;
		srn_window_set_reach(&qp->window, SRN_HOLD_AHEAD);
		srn_hello_later(&qp->peer);
		KUNIT_EXPECT_FALSE(test, qp->peer.due);
		run(qp, 1);
		answer_read(test, qp, SRN_PSN_MASK);
		srn_hello_again(&qp->peer);
		KUNIT_EXPECT_TRUE(test, qp->peer.due);
		run(qp, 1);
		expect_left(test, 1, IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_PSN_MASK - 1);
		/* Whoever said hello, this one may not answer with sense. */
		KUNIT_EXPECT_TRUE(test, qp->peer.fence);
		if (sack) {
			rx_answer(qp, new_word(test, SRN_SACK_HELD, 0, SRN_HOLD_WIDE));
		} else {
			skb = new_word(test, SRN_SACK_ANSWER, SRN_PSN_MASK - 1, SRN_HOLD_WIDE);
			srn_hello_rx_answer(qp, skb);
			kfree_skb(skb);
		}
		KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_HOLD_WIDE);
		KUNIT_EXPECT_FALSE(test, qp->peer.fence);
		srn_hello_again(&qp->peer);
		stop();
		KUNIT_EXPECT_FALSE(test, qp->peer.due);
	}
}

struct reader_row {
	const char *desc;
	u32 una, end;		/* PSNs from the first one on */
	bool read, asks;
};

static const struct reader_row reader_rows[] = {
	{ "nothing was answered", 0, 1, true },
	{ "a READ was", 1, 2, true, true },
	{ "something else has begun", 1, 2, false },
	{ "as far as the peer hears it", 1, FAR - 2, true, true },
	{ "farther", 1, FAR - 1, true },
};

KUNIT_ARRAY_PARAM_DESC(reader, reader_rows, desc);

static void srn_hello_when_reader_test(struct kunit *test)
{
	const struct reader_row *row = test->param_value;
	struct srn_qp *qp = start(test, 1);

	srn_hello_begin(&qp->peer, row->read);
	qp->window.una = srn_psn_add(qp->sq_psn, row->una);
	qp->window.end = srn_psn_add(qp->sq_psn, row->end);
	srn_hello_send(qp);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, row->asks);
	KUNIT_EXPECT_EQ(test, qp->peer.fence, row->asks);
	KUNIT_EXPECT_EQ(test, qp->peer.due, !row->asks);
}

/* Once the window was too far ahead, that PSN is a READ's when it comes round. */
static void srn_hello_of_reader_once_round_test(struct kunit *test)
{
	struct srn_qp *qp = start(test, 1);

	srn_hello_begin(&qp->peer, true);
	qp->window.una = srn_psn_add(qp->sq_psn, 1);
	qp->window.end = srn_psn_add(qp->sq_psn, FAR - 1);
	srn_hello_send(qp);
	qp->window.end = srn_psn_add(qp->sq_psn, 2);
	srn_hello_send(qp);
	KUNIT_EXPECT_EQ(test, left.num, 0);
	/* With that of a WRITE one may leave all the same. */
	srn_hello_after_ack(&qp->peer, qp->window.una);
	srn_hello_send(qp);
	stop();
	KUNIT_EXPECT_EQ(test, left.num, 1);
}

static struct kunit_case srn_hello_reader_cases[] = {
	KUNIT_CASE(srn_hello_reader_test),
	KUNIT_CASE(srn_hello_nonsense_test),
	KUNIT_CASE(srn_hello_met_reader_test),
	KUNIT_CASE(srn_hello_known_test),
	KUNIT_CASE_PARAM(srn_hello_when_reader_test, reader_gen_params),
	KUNIT_CASE(srn_hello_of_reader_once_round_test),
	{}
};

static struct kunit_suite srn_hello_reader_suite = {
	.name = "srn_hello_reader",
	.test_cases = srn_hello_reader_cases,
};
kunit_test_suite(srn_hello_reader_suite);
