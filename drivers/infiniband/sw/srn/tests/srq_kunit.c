// SPDX-License-Identifier: GPL-2.0-only
/* Shared receive rings: indices that wrap, programs that lie about them, the limit. */
#include "../restrack.h"
#include "../srq.h"
#include "../wqe.h"
#include "fake.h"

#include <net/netlink.h>

#define ENTRIES	8

struct ctx {
	struct srn_dev *dev;
	struct srn_srq *srq;
	unsigned int events;
	enum ib_event_type last_event;
};

static void on_event(struct ib_event *event, void *arg)
{
	struct ctx *c = arg;

	c->events++;
	c->last_event = event->event;
}

static void make_srq(struct kunit *test, struct ctx *c)
{
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, srq);
	srq->max_sge = 1;
	srq->stride = srn_recv_stride(1);
	srq->entries = ENTRIES;
	srq->mem.addr = kunit_kzalloc(test, SRN_QUEUE_OFFSET + ENTRIES * srq->stride, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, srq->mem.addr);
	srq->page = srq->mem.addr;
	srq->who.kernel = true;
	spin_lock_init(&srq->lock);
	srq->ibsrq.device = &c->dev->ibdev;
	srq->ibsrq.event_handler = on_event;
	srq->ibsrq.srq_context = c;
	c->srq = srq;
}

static int srq_test_init(struct kunit *test)
{
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->dev = fake_dev(test);
	make_srq(test, c);
	test->priv = c;
	return 0;
}

static const u32 starts[] = { 0, U32_MAX - 3, 0x7ffffffc, U32_MAX };

static void post_srq(struct kunit *test, struct ctx *c, u64 wr_id)
{
	struct ib_sge sge = { .addr = wr_id, .length = 10, .lkey = 1 };
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(test, srn_post_srq_recv(&c->srq->ibsrq, &wr, &bad), 0);
}

static void srn_srq_wrap_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_rwqe *r = fake_rwqe(test);
	u32 s, i;

	for (s = 0; s < ARRAY_SIZE(starts); s++) {
		c->srq->head = starts[s];
		c->srq->page->tail = starts[s];
		KUNIT_EXPECT_EQ(test, srn_srq_fetch(c->srq, r), SRN_V_RNR);
		for (i = 0; i < 3 * ENTRIES; i++) {
			post_srq(test, c, i);
			KUNIT_ASSERT_EQ(test, srn_srq_fetch(c->srq, r), SRN_OK);
			KUNIT_ASSERT_EQ(test, r->wr_id, i);
			KUNIT_ASSERT_EQ(test, r->length, 10);
			KUNIT_ASSERT_EQ(test, c->srq->page->head, starts[s] + i + 1);
		}
		KUNIT_EXPECT_EQ(test, srn_srq_fetch(c->srq, r), SRN_V_RNR);
	}
	KUNIT_EXPECT_EQ(test, c->events, 0);
}

static void srn_srq_full_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_recv_wr wr[2] = { { .wr_id = 1, .next = &wr[1] }, { .wr_id = 2 } };
	const struct ib_recv_wr *bad = NULL;
	u32 i;

	c->srq->head = U32_MAX - 1;
	c->srq->page->tail = U32_MAX - 1;
	for (i = 0; i < ENTRIES - 1; i++)
		post_srq(test, c, i);
	KUNIT_EXPECT_EQ(test, srn_post_srq_recv(&c->srq->ibsrq, wr, &bad), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, bad, &wr[1]);
	KUNIT_EXPECT_EQ(test, c->srq->page->tail, U32_MAX - 1 + ENTRIES);
}

static void srn_srq_limit_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_rwqe *r = fake_rwqe(test);
	u32 i;

	c->srq->limit = 3;
	for (i = 0; i < 5; i++)
		post_srq(test, c, i);
	KUNIT_ASSERT_EQ(test, srn_srq_fetch(c->srq, r), SRN_OK);
	KUNIT_ASSERT_EQ(test, srn_srq_fetch(c->srq, r), SRN_OK);
	KUNIT_EXPECT_EQ(test, c->events, 0);	/* 3 are left: not below */
	KUNIT_ASSERT_EQ(test, srn_srq_fetch(c->srq, r), SRN_OK);
	KUNIT_EXPECT_EQ(test, c->events, 1);
	KUNIT_EXPECT_EQ(test, c->last_event, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_EQ(test, c->srq->limit, 0);
	KUNIT_ASSERT_EQ(test, srn_srq_fetch(c->srq, r), SRN_OK);
	KUNIT_EXPECT_EQ(test, c->events, 1);
}

static void srn_srq_liar_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_rwqe *r = fake_rwqe(test);

	c->srq->page->tail = ENTRIES + 1;
	r->wr_id = 99;	/* of the last one that was taken */
	KUNIT_EXPECT_EQ(test, srn_srq_fetch(c->srq, r), SRN_V_LOC_QP_OP);
	KUNIT_EXPECT_EQ(test, r->wr_id, 0);
	KUNIT_EXPECT_EQ(test, c->events, 1);
	KUNIT_EXPECT_EQ(test, c->last_event, IB_EVENT_SRQ_ERR);
	c->srq->page->tail = U32_MAX;
	KUNIT_EXPECT_EQ(test, srn_srq_fetch(c->srq, r), SRN_V_LOC_QP_OP);
	KUNIT_EXPECT_EQ(test, c->events, 1);
	KUNIT_EXPECT_EQ(test, c->srq->head, 0);
	/* And what it writes to the kernel's index is not read back. */
	c->srq->page->tail = 1;
	c->srq->page->head = 77;
	KUNIT_EXPECT_EQ(test, srn_srq_fetch(c->srq, r), SRN_OK);
	KUNIT_EXPECT_EQ(test, c->srq->page->head, 1);
}

/* As a CQ: see srn_cq_shown_when_gone_test(). */
static void srn_srq_shown_when_gone_test(struct kunit *test)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = ENTRIES, .max_sge = 1 } };
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct sk_buff *msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct ctx *c = test->priv;
	unsigned int len;

	KUNIT_ASSERT_NOT_NULL(test, srq);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	srq->ibsrq.device = &c->dev->ibdev;
	KUNIT_ASSERT_EQ(test, srn_create_srq(&srq->ibsrq, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, srn_fill_res_srq(msg, &srq->ibsrq), 0);
	KUNIT_EXPECT_GT(test, msg->len, nla_total_size(0));
	len = msg->len;
	srn_destroy_srq(&srq->ibsrq, NULL);
	KUNIT_EXPECT_EQ(test, srn_fill_res_srq(msg, &srq->ibsrq), 0);
	KUNIT_EXPECT_EQ(test, msg->len, len + nla_total_size(0));
	nlmsg_free(msg);
}

/* All of a change or nothing of it; the size is not one that can be changed. */
static void srn_srq_modify_test(struct kunit *test)
{
	struct ib_srq_attr attr = { .max_wr = ENTRIES, .srq_limit = 3 };
	struct ctx *c = test->priv;
	struct ib_srq *srq = &c->srq->ibsrq;

	c->srq->max_wr = ENTRIES;
	KUNIT_EXPECT_EQ(test, srn_modify_srq(srq, &attr, IB_SRQ_MAX_WR | IB_SRQ_LIMIT, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, srn_modify_srq(srq, &attr, IB_SRQ_LIMIT << 1, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, srn_modify_srq(srq, &attr, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, c->srq->limit, 0);
	KUNIT_EXPECT_EQ(test, srn_modify_srq(srq, &attr, IB_SRQ_LIMIT, NULL), 0);
	KUNIT_EXPECT_EQ(test, c->srq->limit, 3);
	attr.srq_limit = ENTRIES + 1;
	KUNIT_EXPECT_EQ(test, srn_modify_srq(srq, &attr, IB_SRQ_LIMIT, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, c->srq->limit, 3);
}

/* Who creates it is told how much it holds, and who keeps the mapping, when it is gone. */
static void srn_srq_created_test(struct kunit *test)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = ENTRIES - 3, .max_sge = 0 } };
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	struct ctx *c = test->priv;
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, srq);
	srq->ibsrq.device = &c->dev->ibdev;
	KUNIT_EXPECT_EQ(test, srn_create_srq(&srq->ibsrq, &attr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->dev->num_srqs), 0);
	attr.attr.max_sge = 1;
	KUNIT_ASSERT_EQ(test, srn_create_srq(&srq->ibsrq, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, attr.attr.max_wr, ENTRIES);
	page = vmalloc_to_page(srq->page);
	get_page(page);
	srn_destroy_srq(&srq->ibsrq, NULL);
	KUNIT_EXPECT_EQ(test, ((struct srn_srq_page *)page_address(page))->gone, 1);
	put_page(page);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(srn_srq_wrap_test),
	KUNIT_CASE(srn_srq_full_test),
	KUNIT_CASE(srn_srq_limit_test),
	KUNIT_CASE(srn_srq_liar_test),
	KUNIT_CASE(srn_srq_shown_when_gone_test),
	KUNIT_CASE(srn_srq_modify_test),
	KUNIT_CASE(srn_srq_created_test),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "srn_srq",
	.init = srq_test_init,
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);
