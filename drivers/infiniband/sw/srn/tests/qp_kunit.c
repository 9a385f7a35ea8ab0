// SPDX-License-Identifier: GPL-2.0-only
#include "../board.h"
#include "../cq.h"
#include "../post_kernel.h"
#include "../qp.h"
#include "../qp_create.h"
#include "fake.h"

#include <kunit/test.h>

/* A QP that has states and nothing else. */
static struct srn_qp *fake_qp(struct kunit *test, enum ib_qp_type type, enum ib_qp_state state)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->page = kunit_kzalloc(test, sizeof(*qp->page), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->page);
	qp->ibqp.qp_type = type;
	qp->svc = srn_service_of(type);
	qp->state = state;
	qp->page->state = state;
	return qp;
}

struct fail_row {
	const char *desc;
	enum ib_qp_type type;
	enum ib_qp_state from;
	bool sq_only;		/* srn_qp_sq_error(), else srn_qp_error() */
	enum ib_qp_state want;
};

static const struct fail_row fail_rows[] = {
	{ "RC fails as a whole", IB_QPT_RC, IB_QPS_RTS, false, IB_QPS_ERR },
	{ "RC has no SQE", IB_QPT_RC, IB_QPS_RTS, true, IB_QPS_ERR },
	{ "RC fails while it drains", IB_QPT_RC, IB_QPS_SQD, true, IB_QPS_ERR },
	{ "RC fails before it sends", IB_QPT_RC, IB_QPS_RTR, false, IB_QPS_ERR },
	{ "UC keeps receiving", IB_QPT_UC, IB_QPS_RTS, true, IB_QPS_SQE },
	{ "UD keeps receiving", IB_QPT_UD, IB_QPS_RTS, true, IB_QPS_SQE },
	{ "UD receive side fails as a whole", IB_QPT_UD, IB_QPS_RTS, false, IB_QPS_ERR },
	{ "SQE becomes ERR", IB_QPT_UD, IB_QPS_SQE, false, IB_QPS_ERR },
	{ "SQE stays SQE", IB_QPT_UD, IB_QPS_SQE, true, IB_QPS_SQE },
	{ "ERR stays ERR", IB_QPT_UD, IB_QPS_ERR, true, IB_QPS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(fail, fail_rows, desc);

static void srn_qp_state_fail_test(struct kunit *test)
{
	const struct fail_row *row = test->param_value;
	struct srn_qp *qp = fake_qp(test, row->type, row->from);
	bool changes = row->from != row->want;

	if (row->sq_only)
		srn_qp_sq_error(qp, SRN_V_LOC_PROT);
	else
		srn_qp_error(qp, SRN_V_LOC_PROT);
	KUNIT_EXPECT_EQ(test, qp->state, row->want);
	KUNIT_EXPECT_EQ(test, qp->page->state, (u32)row->want);
	/* The first reason is the one that is kept, and a flush follows. */
	KUNIT_EXPECT_EQ(test, qp->last_error == SRN_V_LOC_PROT, changes);
	KUNIT_EXPECT_EQ(test, !!(atomic_read(&qp->turn.bits) & SRN_TURN_FLUSH), changes);
}

static void free_cq(void *cq)
{
	srn_destroy_cq(cq, NULL);
}

static struct srn_cq *new_cq(struct kunit *test, struct srn_dev *dev, int entries)
{
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	const struct ib_cq_init_attr attr = { .cqe = entries };

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ibcq.device = &dev->ibdev;
	KUNIT_ASSERT_EQ(test, srn_create_cq(&cq->ibcq, &attr, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_cq, &cq->ibcq), 0);
	cq->kernel = false;
	return cq;
}

/* As a program's, with @posted receive requests. */
static struct srn_qp *new_user_qp(struct kunit *test, struct srn_dev *dev, struct srn_cq *cq,
				  u32 posted)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC, .send_cq = &cq->ibcq, .recv_cq = &cq->ibcq,
		.cap = { .max_recv_wr = posted },
	};

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->ibqp.device = &dev->ibdev;
	qp->ibqp.qp_type = IB_QPT_RC;
	KUNIT_ASSERT_EQ(test, srn_create_qp(&qp->ibqp, &attr, NULL), 0);
	qp->who.kernel = false;
	qp->state = IB_QPS_INIT;
	qp->page->rq_tail = posted;
	return qp;
}

/* The core holds the device's lock then. */
static void destroy_while_device_goes(struct kunit *test, struct srn_dev *dev, struct srn_qp *qp)
{
	mutex_init(&dev->ibdev.unregistration_lock);
	mutex_lock(&dev->ibdev.unregistration_lock);
	KUNIT_EXPECT_EQ(test, srn_destroy_qp(&qp->ibqp, NULL), 0);
	mutex_unlock(&dev->ibdev.unregistration_lock);
}

static void expect_not_overrun(struct kunit *test, struct srn_dev *dev, const struct srn_cq *cq)
{
	KUNIT_EXPECT_EQ(test, cq->prod, 4);
	KUNIT_EXPECT_FALSE(test, cq->overrun);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(dev, SRN_CNT_CQ_OVERRUN), 0);
}

/* A QP that is destroyed while the core holds the device's lock, for whatever reason, tells of
 * as many requests as its CQ has room for; the CQ lives on for others.
 */
static void srn_qp_flush_for_good_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_cq(test, dev, 4);
	struct srn_qp *qp = new_user_qp(test, dev, cq, 8);

	destroy_while_device_goes(test, dev, qp);
	expect_not_overrun(test, dev, cq);
}

/* Its sends end as its receives do. */
static void srn_qp_flush_both_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_cq(test, dev, 4);
	struct srn_qp *qp = new_user_qp(test, dev, cq, 2);
	int i;

	qp->page->sq_tail = 1;
	destroy_while_device_goes(test, dev, qp);
	KUNIT_EXPECT_EQ(test, cq->prod, 3);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, cq->cqes[i].status, IB_WC_WR_FLUSH_ERR);
		KUNIT_EXPECT_EQ(test, cq->cqes[i].opcode, i ? IB_WC_RECV : IB_WC_RDMA_WRITE);
	}
}

/* Nor do its sends overrun a CQ that others have filled. */
static void srn_qp_flush_sends_for_good_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_cq(test, dev, 4);
	struct srn_qp *qp = new_user_qp(test, dev, cq, 2);
	struct srn_cqe cqe = {};
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_TRUE(test, srn_cq_post(cq, &cqe, false, NULL));
	qp->page->sq_tail = 1;
	destroy_while_device_goes(test, dev, qp);
	expect_not_overrun(test, dev, cq);
}

/* Something was missing, of requests and of answers: nothing of what was known of it is left. */
static void srn_qp_forgets_gaps_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_cq(test, dev, 4);
	struct srn_qp *qp = new_user_qp(test, dev, cq, 1);

	qp->state = IB_QPS_RESET;
	mutex_init(&dev->ibdev.unregistration_lock);
	KUNIT_EXPECT_NOT_NULL(test, srn_board_get(qp, &qp->score));
	KUNIT_EXPECT_NOT_NULL(test, srn_board_get(qp, &qp->gaps));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dev->hold_bytes), 2 * sizeof(struct srn_score));
	KUNIT_EXPECT_EQ(test, srn_destroy_qp(&qp->ibqp, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dev->hold_bytes), 0);
	KUNIT_EXPECT_NULL(test, qp->score);
	KUNIT_EXPECT_NULL(test, qp->gaps);
}

/* Who posts to what is left of it is told so, by the page that the program has mapped. */
static void srn_qp_gone_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_cq(test, dev, 4);
	struct srn_qp *qp = new_user_qp(test, dev, cq, 1);
	struct page *page = vmalloc_to_page(qp->page);

	get_page(page);
	qp->state = IB_QPS_RESET;
	destroy_while_device_goes(test, dev, qp);
	KUNIT_EXPECT_EQ(test, ((struct srn_qp_page *)page_address(page))->gone, 1);
	/* In RESET nothing is posted that could end. */
	KUNIT_EXPECT_EQ(test, cq->prod, 0);
	put_page(page);
}

/* What a kernel user polls names no QP that is gone, in either of its CQs. */
static void srn_qp_forgotten_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *scq = new_cq(test, dev, 4), *rcq = new_cq(test, dev, 4);
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC, .send_cq = &scq->ibcq, .recv_cq = &rcq->ibcq,
	};
	const struct srn_cqe cqe = {};
	struct ib_wc wc;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	scq->kernel = true;
	rcq->kernel = true;
	qp->ibqp.device = &dev->ibdev;
	qp->ibqp.qp_type = IB_QPT_RC;
	KUNIT_ASSERT_EQ(test, srn_create_qp(&qp->ibqp, &attr, NULL), 0);
	KUNIT_EXPECT_TRUE(test, srn_cq_post(scq, &cqe, false, &qp->ibqp));
	KUNIT_EXPECT_TRUE(test, srn_cq_post(rcq, &cqe, false, &qp->ibqp));
	KUNIT_EXPECT_EQ(test, srn_destroy_qp(&qp->ibqp, NULL), 0);
	KUNIT_EXPECT_EQ(test, srn_poll_cq(&scq->ibcq, 1, &wc), 0);
	KUNIT_EXPECT_EQ(test, srn_poll_cq(&rcq->ibcq, 1, &wc), 0);
}

struct refused_row {
	const char *desc;
	struct ib_qp_init_attr attr;
	bool scq, rcq;
	int err;
};

static const struct refused_row refused_rows[] = {
	{ "flag", { .create_flags = IB_QP_CREATE_NETIF_QP }, true, true, -EOPNOTSUPP },
	{ "no CQ for sends", {}, false, true, -EINVAL },
	{ "no CQ for receives", {}, true, false, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(refused, refused_rows, desc);

static void srn_qp_refused_test(struct kunit *test)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	const struct refused_row *row = test->param_value;
	struct ib_qp_init_attr attr = row->attr;
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_cq(test, dev, 4);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	attr.qp_type = IB_QPT_RC;
	attr.send_cq = row->scq ? &cq->ibcq : NULL;
	attr.recv_cq = row->rcq ? &cq->ibcq : NULL;
	qp->ibqp.device = &dev->ibdev;
	KUNIT_EXPECT_EQ(test, srn_create_qp(&qp->ibqp, &attr, NULL), row->err);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->num_qps), 0);
}

static int create_gsi(struct kunit *test, struct srn_dev *dev, struct srn_cq *cq, u32 port,
		      struct srn_qp **made)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_GSI, .port_num = port, .send_cq = &cq->ibcq, .recv_cq = &cq->ibcq,
	};

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->ibqp.device = &dev->ibdev;
	qp->ibqp.pd = fake_pd(test, dev);
	qp->ibqp.qp_type = IB_QPT_GSI;
	*made = qp;
	return srn_create_qp(&qp->ibqp, &attr, NULL);
}

/* QPN 1 is one QP's, and of port 1; when it is gone, another one's. */
static void srn_qp_one_gsi_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_cq(test, dev, 4);
	struct srn_qp *first, *next;

	KUNIT_EXPECT_EQ(test, create_gsi(test, dev, cq, 0, &next), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_gsi(test, dev, cq, 2, &next), -EINVAL);
	KUNIT_ASSERT_EQ(test, create_gsi(test, dev, cq, 1, &first), 0);
	KUNIT_EXPECT_EQ(test, first->ibqp.qp_num, 1);
	KUNIT_EXPECT_EQ(test, create_gsi(test, dev, cq, 1, &next), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->num_qps), 1);
	KUNIT_EXPECT_EQ(test, srn_destroy_qp(&first->ibqp, NULL), 0);
	KUNIT_ASSERT_EQ(test, create_gsi(test, dev, cq, 1, &next), 0);
	KUNIT_EXPECT_EQ(test, srn_destroy_qp(&next->ibqp, NULL), 0);
}

/* A program's send queue is its ring. A command would write past what is kept of it. */
static void srn_qp_post_is_the_kernels_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_cq *cq = new_cq(test, dev, 4);
	struct srn_qp *qp = new_user_qp(test, dev, cq, 1);
	const struct ib_send_wr send = { .wr_id = 1, .opcode = IB_WR_SEND };
	const struct ib_recv_wr recv = { .wr_id = 2 };
	const struct ib_send_wr *bad_send = NULL;
	const struct ib_recv_wr *bad_recv = NULL;

	mutex_init(&dev->ibdev.unregistration_lock);
	qp->page->rq_tail = 0;
	KUNIT_EXPECT_NE(test, srn_post_recv(&qp->ibqp, &recv, &bad_recv), 0);
	KUNIT_EXPECT_PTR_EQ(test, bad_recv, &recv);
	qp->state = IB_QPS_RTS;
	KUNIT_EXPECT_NE(test, srn_post_send(&qp->ibqp, &send, &bad_send), 0);
	KUNIT_EXPECT_PTR_EQ(test, bad_send, &send);
	KUNIT_EXPECT_EQ(test, qp->sq.tail, 0);
	qp->state = IB_QPS_INIT;
	KUNIT_EXPECT_EQ(test, srn_destroy_qp(&qp->ibqp, NULL), 0);
}

static struct kunit_case srn_qp_state_cases[] = {
	KUNIT_CASE_PARAM(srn_qp_state_fail_test, fail_gen_params),
	KUNIT_CASE(srn_qp_flush_for_good_test),
	KUNIT_CASE(srn_qp_flush_both_test),
	KUNIT_CASE(srn_qp_flush_sends_for_good_test),
	KUNIT_CASE(srn_qp_forgets_gaps_test),
	KUNIT_CASE(srn_qp_gone_test),
	KUNIT_CASE(srn_qp_forgotten_test),
	KUNIT_CASE_PARAM(srn_qp_refused_test, refused_gen_params),
	KUNIT_CASE(srn_qp_one_gsi_test),
	KUNIT_CASE(srn_qp_post_is_the_kernels_test),
	{}
};

static struct kunit_suite srn_qp_state_suite = {
	.name = "srn_qp",
	.test_cases = srn_qp_state_cases,
};

kunit_test_suite(srn_qp_state_suite);
