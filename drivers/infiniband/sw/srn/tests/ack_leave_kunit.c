// SPDX-License-Identifier: GPL-2.0-only
/* The last word of a responder: of what was executed, and of nothing else. */
#include "../ack.h"
#include "../responder.h"
#include "fake_sender.h"
#include "fake_rx.h"

#include <rdma/ib_pack.h>

#define MTU	1024
/* Of a peer that has sent a WRITE with each PSN from here on. */
#define FIRST	0xfffffe

static void free_slots(void *qp)
{
	srn_replay_resize(&((struct srn_qp *)qp)->resp.replay, 0);
}

static u32 psn(int n)
{
	return srn_psn_add(FIRST, n);
}

/* With answers to at most four READs. */
static struct srn_qp *new_leaver(struct kunit *test)
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_sender(test, 1);
	memset(&left, 0, sizeof(left));
	KUNIT_ASSERT_EQ(test, 0, srn_replay_resize(&qp->resp.replay, 4));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_slots, qp));
	qp->resp.msg.psn = FIRST;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

static void took_write(struct srn_qp *qp, bool asked)
{
	u32 psn = qp->resp.msg.psn;

	qp->resp.msg.psn = srn_psn_add(psn, 1);
	srn_ack_done(qp, psn, asked);
}

static struct srn_replay_slot *took_read(struct srn_qp *qp)
{
	struct srn_range range = { .len = MTU };
	u32 psn = qp->resp.msg.psn;

	qp->resp.msg.psn = srn_psn_add(psn, 1);
	srn_replay_add_read(&qp->resp.replay, psn, 1, 0, &range);
	return srn_replay_find(&qp->resp.replay, psn);
}

static void nothing(struct srn_qp *qp)
{
}

static void a_write(struct srn_qp *qp)
{
	took_write(qp, false);
}

static void one_that_asks(struct srn_qp *qp)
{
	took_write(qp, true);
}

static void a_gap(struct srn_qp *qp)
{
	took_write(qp, false);
	srn_ack_gap(qp, psn(2), SRN_HELD_NOT);
}

static void a_gap_at_once(struct srn_qp *qp)
{
	srn_ack_gap(qp, psn(2), SRN_HELD_NOT);
}

static void a_read(struct srn_qp *qp)
{
	took_read(qp);
}

static void a_read_behind(struct srn_qp *qp)
{
	took_write(qp, false);
	took_read(qp);
}

static void a_read_between(struct srn_qp *qp)
{
	took_write(qp, false);
	took_read(qp);
	took_write(qp, false);
}

static void a_read_that_was_answered(struct srn_qp *qp)
{
	took_write(qp, false);
	srn_replay_done(&qp->resp.replay, took_read(qp));
	took_write(qp, false);
}

static void one_that_was_answered_and_one(struct srn_qp *qp)
{
	a_read_that_was_answered(qp);
	took_read(qp);
}

static void an_answer_again(struct srn_qp *qp)
{
	struct srn_replay_slot *slot = took_read(qp);

	srn_replay_done(&qp->resp.replay, slot);
	took_write(qp, false);
	srn_replay_again(&qp->resp.replay, slot, slot->first_psn, MTU);
}

static void a_part_again(struct srn_qp *qp)
{
	struct srn_replay_slot *slot = took_read(qp);

	srn_replay_done(&qp->resp.replay, slot);
	took_write(qp, false);
	srn_replay_add_part(&qp->resp.replay, slot, slot->first_psn, MTU, MTU);
}

struct row {
	const char *desc;
	void (*took)(struct srn_qp *qp);
	int acked;	/* the PSN behind FIRST; -1: it says nothing */
};

static const struct row rows[] = {
	{ "nothing", nothing, -1 },
	{ "a WRITE", a_write, 0 },
	{ "a WRITE that asks", one_that_asks, 0 },
	{ "a WRITE and a gap", a_gap, 0 },
	{ "a gap", a_gap_at_once, -1 },
	{ "a READ", a_read, -1 },
	{ "a READ behind", a_read_behind, 0 },
	{ "a READ between", a_read_between, -1 },
	{ "a READ that was answered", a_read_that_was_answered, 2 },
	{ "and one behind that was not", one_that_was_answered_and_one, 2 },
	{ "an answer that is to go again", an_answer_again, -1 },
	{ "a part of one", a_part_again, -1 },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, desc);

static void expect_said(struct kunit *test, const struct row *row)
{
	KUNIT_EXPECT_EQ(test, left.packets, row->acked >= 0);
	if (row->acked < 0)
		return;
	KUNIT_EXPECT_EQ(test, left.opcode, IB_OPCODE_RC_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(test, left.psn, psn(row->acked));
}

/* Who goes; and who says it a second time. */
static void srn_ack_leave_goes_test(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct srn_qp *qp = new_leaver(test);

	row->took(qp);
	srn_responder_leave(qp);
	srn_responder_leave(qp);
	migrate_enable();
	expect_said(test, row);
}

/* Who fails by itself. */
static void srn_ack_leave_fails_test(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct srn_qp *qp = new_leaver(test);
	int i, budget = SRN_ROUND_BUDGET;

	row->took(qp);
	srn_qp_error(qp, SRN_V_LOC_PROT);
	local_bh_disable();
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_FALSE(test, srn_responder_send(qp, &budget));
	local_bh_enable();
	migrate_enable();
	expect_said(test, row);
}

/* Who fails by what the peer sent tells of it by a NAK, and of all before it. */
static void srn_ack_leave_refuses_test(struct kunit *test)
{
	struct srn_qp *qp = new_leaver(test);
	int budget = SRN_ROUND_BUDGET;

	took_write(qp, false);
	qp->rq.open = false;
	srn_responder_fail(qp, SRN_V_INV_REQ, psn(1));
	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, srn_responder_send(qp, &budget));
	KUNIT_EXPECT_FALSE(test, srn_responder_send(qp, &budget));
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, left.packets, 1);
	KUNIT_EXPECT_EQ(test, left.psn, psn(1));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_NAK), 1);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_SENT_ACK), 0);
}

/* Nor is a message acknowledged for whose completion the CQ had no room: the program does not know of it. */
static void srn_ack_leave_full_cq_test(struct kunit *test)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_SEND_ONLY, psn(1));
	struct srn_qp *qp = new_leaver(test);
	int budget = SRN_ROUND_BUDGET;

	took_write(qp, false);
	qp->rcq = new_cq(test, qp, 1);
	qp->rcq->prod = 1;
	qp->rq.open = true;
	local_bh_disable();
	rx_request(qp, skb);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp->resp.msg.msn, 0);	/* which the last word has */
	srn_responder_send(qp, &budget);
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, left.packets, 1);
	KUNIT_EXPECT_EQ(test, left.psn, psn(0));
}

static struct kunit_case srn_ack_leave_cases[] = {
	KUNIT_CASE_PARAM(srn_ack_leave_goes_test, row_gen_params),
	KUNIT_CASE_PARAM(srn_ack_leave_fails_test, row_gen_params),
	KUNIT_CASE(srn_ack_leave_refuses_test),
	KUNIT_CASE(srn_ack_leave_full_cq_test),
	{}
};

static struct kunit_suite srn_ack_leave_suite = {
	.name = "srn_ack_leave",
	.test_cases = srn_ack_leave_cases,
};
kunit_test_suite(srn_ack_leave_suite);
