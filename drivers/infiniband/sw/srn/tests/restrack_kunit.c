// SPDX-License-Identifier: GPL-2.0-only
/* What `rdma resource show` is told: each number under its own name. */
#include "../cq.h"
#include "../qp.h"
#include "../restrack.h"
#include "../srq.h"
#include "fake.h"

#include <net/netlink.h>
#include <rdma/rdma_netlink.h>

static void free_msg(void *msg)
{
	nlmsg_free(msg);
}

static struct sk_buff *new_msg(struct kunit *test)
{
	struct sk_buff *msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_msg, msg));
	return msg;
}

/* The number that stands behind @name. */
static u32 shown(struct kunit *test, const struct sk_buff *msg, const char *name)
{
	const struct nlattr *table = (const struct nlattr *)msg->data, *attr;
	bool found = false;
	int rem;

	nla_for_each_nested(attr, table, rem) {
		if (nla_type(attr) == RDMA_NLDEV_ATTR_DRIVER_STRING)
			found = !strcmp(nla_data(attr), name);
		else if (found && nla_type(attr) == RDMA_NLDEV_ATTR_DRIVER_U32)
			return nla_get_u32(attr);
	}
	KUNIT_FAIL(test, "no %s", name);
	return 0;
}

static void srn_restrack_qp_test(struct kunit *test)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct sk_buff *msg = new_msg(test);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	skb_queue_head_init(&qp->rxq);
	qp->window = (struct srn_window){
		.una = 0xfffffe, .at.psn = 0x10, .end = 0x20, .cwnd = 77,
		.rd_head = 4, .rd_tail = 9,
	};
	qp->sq.una = 23;
	qp->sq.fetched = 30;
	qp->retry.retries = 3;
	qp->retry.rnr_retries = 6;
	qp->resp.msg.psn = 0x200;
	qp->resp.msg.msn = 0x30;
	KUNIT_ASSERT_EQ(test, srn_fill_res_qp(msg, &qp->ibqp), 0);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "una-psn"), 0xfffffe);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "next-psn"), 0x10);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "in-flight"), 0x22);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "window"), 77);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "sq-pending"), 7);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "rd-atomic"), 5);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "retries-left"), 3);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "rnr-retries-left"), 6);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "expected-psn"), 0x200);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "msn"), 0x30);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "rx-queued"), 0);
}

/* Where a kernel user has read to stands beside the ring, where a program has, in it. */
static void srn_restrack_cq_test(struct kunit *test)
{
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	int kernel;

	KUNIT_ASSERT_NOT_NULL(test, cq);
	spin_lock_init(&cq->lock);
	cq->page = fake_page(test);
	cq->page->cons = 5;
	cq->page->arm = SRN_CQ_ARM_NEXT;
	cq->entries = 16;
	cq->prod = 9;
	cq->cons = 8;
	cq->overrun = true;
	for (kernel = 0; kernel < 2; kernel++) {
		struct sk_buff *msg = new_msg(test);

		cq->kernel = kernel;
		KUNIT_ASSERT_EQ(test, srn_fill_res_cq(msg, &cq->ibcq), 0);
		KUNIT_EXPECT_EQ(test, shown(test, msg, "entries"), 16);
		KUNIT_EXPECT_EQ(test, shown(test, msg, "prod"), 9);
		KUNIT_EXPECT_EQ(test, shown(test, msg, "cons"), kernel ? 8 : 5);
		KUNIT_EXPECT_EQ(test, shown(test, msg, "armed"), SRN_CQ_ARM_NEXT);
		KUNIT_EXPECT_EQ(test, shown(test, msg, "overrun"), 1);
	}
}

static void srn_restrack_srq_test(struct kunit *test)
{
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct sk_buff *msg = new_msg(test);

	KUNIT_ASSERT_NOT_NULL(test, srq);
	spin_lock_init(&srq->lock);
	srq->page = fake_page(test);
	srq->page->head = 77;	/* is not read back */
	srq->page->tail = 12;
	srq->entries = 32;
	srq->head = 10;
	srq->limit = 2;
	KUNIT_ASSERT_EQ(test, srn_fill_res_srq(msg, &srq->ibsrq), 0);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "entries"), 32);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "head"), 10);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "tail"), 12);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "limit"), 2);
}

static struct kunit_case srn_restrack_cases[] = {
	KUNIT_CASE(srn_restrack_qp_test),
	KUNIT_CASE(srn_restrack_cq_test),
	KUNIT_CASE(srn_restrack_srq_test),
	{}
};

static struct kunit_suite srn_restrack_suite = {
	.name = "srn_restrack",
	.test_cases = srn_restrack_cases,
};

kunit_test_suite(srn_restrack_suite);
