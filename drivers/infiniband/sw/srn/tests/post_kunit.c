// SPDX-License-Identifier: GPL-2.0-only
/* Kernel users' posts: how many a queue takes, in which states, and who is blamed. */
#include "../post_kernel.h"
#include "fake_round.h"

#include <kunit/test.h>

#define QUEUE	3

/* A kernel user's QP that nobody runs: its turn is taken. */
static struct srn_qp *new_poster(struct kunit *test, enum ib_qp_state state)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	give_sends(test, qp, 0);
	qp->sq.entries = 4;
	qp->sq.max_wr = QUEUE;
	qp->sq.lim.max_sge = 1;
	qp->sq.wqes = kunit_kcalloc(test, qp->sq.entries, qp->sq.wqe_size, GFP_KERNEL);
	qp->rq = (struct srn_rq){ .entries = 4, .max_wr = QUEUE, .max_sge = 1 };
	qp->rq.stride = srn_recv_stride(1);
	qp->rq.slots = kunit_kcalloc(test, qp->rq.entries, qp->rq.stride, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->sq.wqes);
	KUNIT_ASSERT_NOT_NULL(test, qp->rq.slots);
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	qp->page = fake_page(test);
	qp->state = state;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, 0));
	return qp;
}

/* The first that does not fit is blamed, and those before it are posted. */
static void srn_post_full_test(struct kunit *test)
{
	struct srn_qp *qp = new_poster(test, IB_QPS_RTS);
	struct ib_send_wr sends[QUEUE + 2] = {};
	struct ib_recv_wr recvs[QUEUE + 2] = {};
	const struct ib_send_wr *bad_send = NULL;
	const struct ib_recv_wr *bad_recv = NULL;
	int i;

	for (i = 0; i < QUEUE + 2; i++) {
		sends[i].opcode = IB_WR_SEND;
		sends[i].next = i < QUEUE + 1 ? &sends[i + 1] : NULL;
		recvs[i].next = i < QUEUE + 1 ? &recvs[i + 1] : NULL;
	}
	KUNIT_EXPECT_EQ(test, srn_post_send(&qp->ibqp, sends, &bad_send), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, bad_send, (const struct ib_send_wr *)&sends[QUEUE]);
	KUNIT_EXPECT_EQ(test, qp->sq.tail, QUEUE);
	KUNIT_EXPECT_EQ(test, srn_post_recv(&qp->ibqp, recvs, &bad_recv), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, bad_recv, (const struct ib_recv_wr *)&recvs[QUEUE]);
	KUNIT_EXPECT_EQ(test, qp->rq.tail, QUEUE);
	/* A slot that is given back takes another. */
	qp->sq.head = 1;
	qp->page->rq_head = 1;
	KUNIT_EXPECT_EQ(test, srn_post_send(&qp->ibqp, &sends[QUEUE + 1], &bad_send), 0);
	KUNIT_EXPECT_EQ(test, srn_post_recv(&qp->ibqp, &recvs[QUEUE + 1], &bad_recv), 0);
}

struct state_row {
	const char *desc;
	enum ib_qp_state state;
	bool send, recv;
};

static const struct state_row state_rows[] = {
	{ "RESET", IB_QPS_RESET, false, false },
	{ "INIT", IB_QPS_INIT, false, true },
	{ "RTR", IB_QPS_RTR, false, true },
	{ "RTS", IB_QPS_RTS, true, true },
	{ "SQD", IB_QPS_SQD, true, true },
	{ "SQE", IB_QPS_SQE, true, true },
	{ "ERR", IB_QPS_ERR, true, true },
};

KUNIT_ARRAY_PARAM_DESC(state, state_rows, desc);

static void srn_post_state_test(struct kunit *test)
{
	const struct state_row *row = test->param_value;
	struct srn_qp *qp = new_poster(test, row->state);
	struct ib_send_wr send = { .opcode = IB_WR_SEND };
	const struct ib_send_wr *bad_send = NULL;
	const struct ib_recv_wr *bad_recv = NULL;
	struct ib_recv_wr recv = {};
	int bits;

	KUNIT_EXPECT_EQ(test, srn_post_send(&qp->ibqp, &send, &bad_send), row->send ? 0 : -EINVAL);
	KUNIT_EXPECT_EQ(test, !bad_send, row->send);
	bits = atomic_read(&qp->turn.bits);
	KUNIT_EXPECT_EQ(test, !!(bits & SRN_TURN_SQ), row->send);
	KUNIT_EXPECT_EQ(test, srn_post_recv(&qp->ibqp, &recv, &bad_recv), row->recv ? 0 : -EINVAL);
	KUNIT_EXPECT_EQ(test, !bad_recv, row->recv);
	/* Nobody else would flush it. */
	bits = atomic_read(&qp->turn.bits);
	KUNIT_EXPECT_EQ(test, !!(bits & SRN_TURN_FLUSH), row->state == IB_QPS_ERR);
}

static void srn_post_wrong_test(struct kunit *test)
{
	struct srn_qp *qp = new_poster(test, IB_QPS_RTS);
	struct ib_send_wr bad = { .opcode = IB_WR_SEND, .num_sge = 2 };
	struct ib_send_wr good = { .opcode = IB_WR_SEND, .next = &bad };
	const struct ib_send_wr *bad_send = NULL;
	const struct ib_recv_wr *bad_recv = NULL;
	struct ib_recv_wr recv = { .num_sge = 2 };

	KUNIT_EXPECT_EQ(test, srn_post_send(&qp->ibqp, &good, &bad_send), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad_send, (const struct ib_send_wr *)&bad);
	KUNIT_EXPECT_EQ(test, qp->sq.tail, 1);
	KUNIT_EXPECT_EQ(test, srn_post_recv(&qp->ibqp, &recv, &bad_recv), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad_recv, (const struct ib_recv_wr *)&recv);
	KUNIT_EXPECT_EQ(test, qp->rq.tail, 0);
}

static struct kunit_case srn_post_cases[] = {
	KUNIT_CASE(srn_post_full_test),
	KUNIT_CASE_PARAM(srn_post_state_test, state_gen_params),
	KUNIT_CASE(srn_post_wrong_test),
	{}
};

static struct kunit_suite srn_post_suite = {
	.name = "srn_post",
	.test_cases = srn_post_cases,
};

kunit_test_suite(srn_post_suite);
