// SPDX-License-Identifier: GPL-2.0-only
/* What a request waits for when others before it are not done. */
#include "../gate.h"
#include "../limits.h"
#include "../qp.h"
#include "fake_window.h"

#include <kunit/test.h>

static struct srn_wqe *new_wqe(struct kunit *test, u8 opcode)
{
	struct srn_wqe *wqe = kunit_kzalloc(test, srn_wqe_size(1, 0), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, wqe);
	wqe->opcode = opcode;
	return wqe;
}

/* Of RC, with nothing in flight; it may send, and have two READs out. */
static struct srn_qp *new_qp(struct kunit *test, u32 psn)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->svc = srn_service_of(IB_QPT_RC);
	qp->state = IB_QPS_RTS;
	qp->max_rd_atomic = 2;
	srn_window_start(&qp->window, psn, 1024);
	fake_reads_room(test, &qp->window);
	return qp;
}

struct order_row {
	const char *desc;
	u8 opcode;
	u32 before;		/* WQEs that were begun and are not done */
	enum srn_gate gate;
};

static const struct order_row order_rows[] = {
	{ "SEND", IB_WR_SEND, 1, SRN_GATE_OPEN },
	{ "LOCAL_INV, nothing before it", IB_WR_LOCAL_INV, 0, SRN_GATE_OPEN },
	{ "LOCAL_INV of what may have to be sent again", IB_WR_LOCAL_INV, 1, SRN_GATE_ORDER },
	{ "a bind", IB_WR_BIND_MW, 1, SRN_GATE_OPEN },
	{ "a registration", IB_WR_REG_MR, 1, SRN_GATE_OPEN },
	{ "the last registration that may be done", IB_WR_REG_MR, SRN_WINDOW - 1, SRN_GATE_OPEN },
	{ "one more than a packet may complete", IB_WR_REG_MR, SRN_WINDOW, SRN_GATE_ORDER },
	{ "the last SEND that may begin", IB_WR_SEND, SRN_WINDOW_WQES - 1, SRN_GATE_OPEN },
	{ "one more SEND", IB_WR_SEND, SRN_WINDOW_WQES, SRN_GATE_ORDER },
};

KUNIT_ARRAY_PARAM_DESC(order, order_rows, desc);

static void srn_gate_order_test(struct kunit *test)
{
	const struct order_row *row = test->param_value;
	struct srn_wqe *wqe = new_wqe(test, row->opcode);
	struct srn_qp *qp = new_qp(test, 0);

	qp->sq.una = U32_MAX;	/* indices run over */
	qp->window.at.index = qp->sq.una + row->before;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), row->gate);
}

/* As many READs are out as the peer takes: one more waits, and nothing else does. */
static void srn_gate_reads_test(struct kunit *test)
{
	struct srn_wqe *wqe = new_wqe(test, IB_WR_RDMA_READ);
	struct srn_qp *qp = new_qp(test, 0);

	srn_window_sent(&qp->window, 1, true, true);
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
	srn_window_sent(&qp->window, 1, true, true);
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_READS);
	wqe->opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_READS);
	wqe->opcode = IB_WR_SEND;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
	wqe->opcode = IB_WR_RDMA_WRITE;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
}

struct fence_row {
	const char *desc;
	u8 opcode;
	bool fence, hello;
	enum srn_gate gate;
};

static const struct fence_row fence_rows[] = {
	{ "SEND", IB_WR_SEND, false, false, SRN_GATE_OPEN },
	{ "fenced SEND", IB_WR_SEND, true, false, SRN_GATE_FENCE },
	{ "fenced READ", IB_WR_RDMA_READ, true, false, SRN_GATE_FENCE },
	{ "SEND beside a hello's READs", IB_WR_SEND, false, true, SRN_GATE_FENCE },
	{ "WRITE beside them", IB_WR_RDMA_WRITE, false, true, SRN_GATE_FENCE },
	{ "READ beside them", IB_WR_RDMA_READ, false, true, SRN_GATE_OPEN },
	{ "atomic beside them", IB_WR_ATOMIC_FETCH_AND_ADD, false, true, SRN_GATE_OPEN },
	{ "a registration beside them", IB_WR_REG_MR, false, true, SRN_GATE_OPEN },
};

KUNIT_ARRAY_PARAM_DESC(fence, fence_rows, desc);

/* What may not overtake READs waits for them, and for nothing when there are none. */
static void srn_gate_fence_test(struct kunit *test)
{
	const struct fence_row *row = test->param_value;
	struct srn_wqe *wqe = new_wqe(test, row->opcode);
	struct srn_qp *qp = new_qp(test, 0);

	wqe->flags = row->fence ? IB_SEND_FENCE : 0;
	qp->peer.fence = row->hello;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
	srn_window_sent(&qp->window, 1, true, true);
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), row->gate);
	wqe->started = true;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
}

/* Beyond what the peer has told of, while an answer may tell more: what takes a receive of it. */
static void srn_gate_credit_test(struct kunit *test)
{
	static const struct {
		u8 opcode;
		enum srn_gate gate;
	} rows[] = {
		{ IB_WR_SEND, SRN_GATE_CREDIT },
		{ IB_WR_SEND_WITH_IMM, SRN_GATE_CREDIT },
		{ IB_WR_SEND_WITH_INV, SRN_GATE_CREDIT },
		{ IB_WR_RDMA_WRITE_WITH_IMM, SRN_GATE_CREDIT },
		{ IB_WR_RDMA_WRITE, SRN_GATE_OPEN },
		{ IB_WR_RDMA_READ, SRN_GATE_OPEN },
		{ IB_WR_ATOMIC_CMP_AND_SWP, SRN_GATE_OPEN },
	};
	struct srn_wqe *wqe = new_wqe(test, IB_WR_SEND);
	struct srn_qp *qp = new_qp(test, 0);
	u32 i;

	qp->credit = (struct srn_credit){ .on = true, .ssn = 2, .lsn = 1 };
	srn_window_sent(&qp->window, 1, true, false);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		wqe->opcode = rows[i].opcode;
		KUNIT_EXPECT_EQ_MSG(test, srn_gate_wqe(qp, wqe), rows[i].gate, "%u", i);
	}
	/* What was begun goes on, also when it is sent again. */
	wqe->opcode = IB_WR_SEND;
	wqe->started = true;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
}

/* Beyond the quantum of its rate it waits, unless it waits for something else first. */
static void srn_gate_pace_test(struct kunit *test)
{
	struct srn_wqe *wqe = new_wqe(test, IB_WR_SEND);
	struct srn_qp *qp = new_qp(test, 0);

	srn_pace_reset(&qp->pace);
	srn_pace_set_mtu(&qp->pace, 1024);
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
	srn_pace_limit(&qp->pace, SRN_PACE_USER, 1);
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
	srn_pace_sent(&qp->pace, 2000);
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_PACE);
	wqe->opcode = IB_WR_REG_MR;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
	wqe->opcode = IB_WR_SEND;
	qp->window.cwnd = 0;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_WINDOW);
}

/* With holes in front of them thousands may be in flight; a READ waits until all that is, and
 * itself, is as much as is known of early answers.
 */
static void srn_gate_read_behind_many_test(struct kunit *test)
{
	struct srn_wqe *wqe = new_wqe(test, IB_WR_RDMA_WRITE);
	struct srn_qp *qp = new_qp(test, 0xffff00);

	srn_window_sent(&qp->window, SRN_WINDOW_READS - SRN_WINDOW + 1, true, false);
	srn_window_set_out(&qp->window, 1);
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
	wqe->opcode = IB_WR_RDMA_READ;
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_WINDOW);
	srn_window_acked(&qp->window, 0xffff01);
	KUNIT_EXPECT_EQ(test, srn_gate_wqe(qp, wqe), SRN_GATE_OPEN);
}

static struct kunit_case srn_gate_cases[] = {
	KUNIT_CASE_PARAM(srn_gate_order_test, order_gen_params),
	KUNIT_CASE(srn_gate_reads_test),
	KUNIT_CASE_PARAM(srn_gate_fence_test, fence_gen_params),
	KUNIT_CASE(srn_gate_credit_test),
	KUNIT_CASE(srn_gate_pace_test),
	KUNIT_CASE(srn_gate_read_behind_many_test),
	{}
};

static struct kunit_suite srn_gate_suite = {
	.name = "srn_gate",
	.test_cases = srn_gate_cases,
};

kunit_test_suite(srn_gate_suite);
