// SPDX-License-Identifier: GPL-2.0-only
/* What `rdma resource show` is told: each number under its own name. */
#include "../cq.h"
#include "../mr.h"
#include "../note.h"
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
static u64 shown(struct kunit *test, const struct sk_buff *msg, const char *name)
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

/* The attribute with @name, or NULL. */
static const struct nlattr *named(const struct sk_buff *msg, const char *name)
{
	const struct nlattr *table = (const struct nlattr *)msg->data, *attr;
	int rem;

	nla_for_each_nested(attr, table, rem) {
		if (nla_type(attr) == RDMA_NLDEV_ATTR_DRIVER_STRING &&
		    !strcmp(nla_data(attr), name))
			return attr;
	}
	return NULL;
}

/* The string that stands behind @name. */
static const char *shown_string(struct kunit *test, const struct sk_buff *msg, const char *name)
{
	const struct nlattr *attr = named(msg, name);

	KUNIT_ASSERT_NOT_NULL_MSG(test, attr, "no %s", name);
	attr = (const void *)attr + NLA_ALIGN(attr->nla_len);
	KUNIT_ASSERT_EQ(test, nla_type(attr), RDMA_NLDEV_ATTR_DRIVER_STRING);
	return nla_data(attr);
}

static void srn_restrack_qp_test(struct kunit *test)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct sk_buff *msg = new_msg(test);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	skb_queue_head_init(&qp->rxq);
	qp->svc = srn_service_of(IB_QPT_UC);
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
	KUNIT_EXPECT_NULL(test, named(msg, "srtt-us"));	/* UC */
	KUNIT_EXPECT_NULL(test, named(msg, "rate-kbps"));
	KUNIT_EXPECT_NULL(test, named(msg, "rate-limit-kbps"));
}

static struct srn_qp *rc_qp(struct kunit *test)
{
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	skb_queue_head_init(&qp->rxq);
	qp->svc = srn_service_of(IB_QPT_RC);
	return qp;
}

static void srn_restrack_path_test(struct kunit *test)
{
	struct srn_qp *qp = rc_qp(test);
	struct sk_buff *msg = new_msg(test);

	qp->pace.rate = 5ull * NSEC_PER_SEC;
	qp->rate_limit = 77000;
	qp->dcqcn = (struct srn_dcqcn){ .rate = 125000, .target = 250000, .alpha = 512 << 10 };
	qp->rtt = (struct srn_rtt){ .srtt_ns = 5000000000, .var_ns = 1ull << 62 };
	qp->window.ssthresh = 88;
	qp->window.most = 99;
	qp->retry.probes = 4;
	qp->retry.rnr_wait = true;
	qp->resp.hold.num = 12;
	qp->resp.hold.bytes = 34567;
	qp->peer.sacks = true;
	KUNIT_ASSERT_EQ(test, srn_fill_res_qp(msg, &qp->ibqp), 0);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "rate-kbps"), 40000000);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "rate-limit-kbps"), 77000);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "cc-rate-kbps"), 1000);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "cc-target-kbps"), 2000);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "cc-alpha"), 512);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "srtt-us"), 5000000);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "rttvar-us"), U32_MAX);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "window-threshold"), 88);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "window-most"), 99);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "probes"), 4);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "rnr-wait"), 1);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "held-pkts"), 12);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "held-bytes"), 34567);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "peer-sacks"), 1);
	KUNIT_EXPECT_NULL(test, named(msg, "nak-sent"));
	KUNIT_EXPECT_NULL(test, named(msg, "nak-rcvd"));
	KUNIT_EXPECT_NULL(test, named(msg, "timeout-ms-ago"));
}

/* How long ago, whole milliseconds; what comes from another CPU just now is not of the future. */
static void srn_restrack_notes_test(struct kunit *test)
{
	struct srn_qp *qp = rc_qp(test);
	struct sk_buff *msg = new_msg(test);
	u64 now = ktime_get_ns(), ago;

	qp->notes.sent = (struct srn_note_nak){ now + NSEC_PER_SEC * 1000, 0xabc, 0x2e };
	qp->notes.rcvd = (struct srn_note_nak){ 1, 0xdef, 0x62 };
	qp->notes.timeout_ns = 2;
	KUNIT_ASSERT_EQ(test, srn_fill_res_qp(msg, &qp->ibqp), 0);
	KUNIT_EXPECT_STREQ(test, shown_string(test, msg, "nak-sent"), "rnr");
	KUNIT_EXPECT_EQ(test, shown(test, msg, "nak-sent-psn"), 0xabc);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "nak-sent-ms-ago"), 0);
	KUNIT_EXPECT_STREQ(test, shown_string(test, msg, "nak-rcvd"), "access");
	KUNIT_EXPECT_EQ(test, shown(test, msg, "nak-rcvd-psn"), 0xdef);
	ago = div_u64(now - 1, NSEC_PER_MSEC);
	KUNIT_EXPECT_GE(test, shown(test, msg, "nak-rcvd-ms-ago"), ago);
	KUNIT_EXPECT_LE(test, shown(test, msg, "nak-rcvd-ms-ago"), ago + 10000);
	KUNIT_EXPECT_GE(test, shown(test, msg, "timeout-ms-ago"), ago);
}

/* A message without room for all of it has none of it. */
static void srn_restrack_small_test(struct kunit *test)
{
	struct srn_qp *qp = rc_qp(test);
	struct sk_buff *msg = new_msg(test);
	unsigned int len;

	qp->notes.timeout_ns = 1;
	KUNIT_ASSERT_EQ(test, srn_fill_res_qp(msg, &qp->ibqp), 0);
	len = msg->len;
	nlmsg_trim(msg, msg->data);
	skb_put(msg, msg->end - msg->tail - len + 64);
	len = msg->len;
	KUNIT_EXPECT_EQ(test, srn_fill_res_qp(msg, &qp->ibqp), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, msg->len, len);
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

/* Nothing of it where it is off. */
static void srn_restrack_cq_moderation_test(struct kunit *test)
{
	const struct srn_moderation on = { .count = 8, .period_ns = 50000, .untold = 3 };
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct sk_buff *msg = new_msg(test);
	unsigned int len;

	KUNIT_ASSERT_NOT_NULL(test, cq);
	spin_lock_init(&cq->lock);
	cq->page = fake_page(test);
	KUNIT_ASSERT_EQ(test, srn_fill_res_cq(msg, &cq->ibcq), 0);
	len = msg->len;

	msg = new_msg(test);
	cq->moderation = on;
	KUNIT_ASSERT_EQ(test, srn_fill_res_cq(msg, &cq->ibcq), 0);
	KUNIT_EXPECT_GT(test, msg->len, len);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "event-count"), 8);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "event-us"), 50);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "untold"), 3);
}

static void srn_restrack_mr_test(struct kunit *test)
{
	struct srn_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);
	struct sk_buff *msg = new_msg(test);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	mr->mem.type = SRN_MEM_FRMR;
	mr->mem.state = SRN_MEM_FREE;
	mr->mem.access = 0x21;
	mr->mem.map.nblocks = 3;
	mr->mem.map.block_shift = 16;
	atomic_set(&mr->mem.windows, 5);
	KUNIT_ASSERT_EQ(test, srn_fill_res_mr(msg, &mr->ibmr), 0);
	KUNIT_EXPECT_STREQ(test, shown_string(test, msg, "type"), "fast-reg");
	KUNIT_EXPECT_STREQ(test, shown_string(test, msg, "state"), "free");
	KUNIT_EXPECT_EQ(test, shown(test, msg, "access"), 0x21);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "blocks"), 3);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "block-shift"), 16);
	KUNIT_EXPECT_EQ(test, shown(test, msg, "windows"), 5);
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
	KUNIT_CASE(srn_restrack_path_test),
	KUNIT_CASE(srn_restrack_notes_test),
	KUNIT_CASE(srn_restrack_small_test),
	KUNIT_CASE(srn_restrack_cq_test),
	KUNIT_CASE(srn_restrack_cq_moderation_test),
	KUNIT_CASE(srn_restrack_mr_test),
	KUNIT_CASE(srn_restrack_srq_test),
	{}
};

static struct kunit_suite srn_restrack_suite = {
	.name = "srn_restrack",
	.test_cases = srn_restrack_cases,
};

kunit_test_suite(srn_restrack_suite);
