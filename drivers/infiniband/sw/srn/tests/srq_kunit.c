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

static void srn_srq_modify_test(struct kunit *test)
{
	struct ib_srq_attr attr = { .max_wr = ENTRIES, .srq_limit = 3 };
	struct ctx *c = test->priv;
	struct ib_srq *srq = &c->srq->ibsrq;

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

static void destroy(void *srq)
{
	srn_destroy_srq(srq, NULL);
}

/* One with a ring that can be changed for another, in place of that of make_srq(). */
static void create_srq(struct kunit *test, struct ctx *c, u32 max_wr, u32 start)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = max_wr, .max_sge = 1 } };
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, srq);
	srq->ibsrq.device = &c->dev->ibdev;
	srq->ibsrq.event_handler = on_event;
	srq->ibsrq.srq_context = c;
	KUNIT_ASSERT_EQ(test, srn_create_srq(&srq->ibsrq, &attr, NULL), 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy, &srq->ibsrq));
	srq->head = start;
	srq->page->head = start;
	srq->page->tail = start;
	c->srq = srq;
}

static int resize(struct ctx *c, u32 max_wr)
{
	struct ib_srq_attr attr = { .max_wr = max_wr };

	return srn_modify_srq(&c->srq->ibsrq, &attr, IB_SRQ_MAX_WR, NULL);
}

/* Those from @first to before @end are what it has, in this order. */
static void expect_srq(struct kunit *test, struct ctx *c, u64 first, u64 end)
{
	struct srn_rwqe *r = fake_rwqe(test);

	for (; first < end; first++) {
		KUNIT_ASSERT_EQ(test, srn_srq_fetch(c->srq, r), SRN_OK);
		KUNIT_ASSERT_EQ(test, r->wr_id, first);
		KUNIT_ASSERT_EQ(test, r->length, 10);
	}
	KUNIT_EXPECT_EQ(test, srn_srq_fetch(c->srq, r), SRN_V_RNR);
}

static void take_srq(struct kunit *test, struct ctx *c, u64 wr_id)
{
	struct srn_rwqe *r = fake_rwqe(test);

	KUNIT_ASSERT_EQ(test, srn_srq_fetch(c->srq, r), SRN_OK);
	KUNIT_ASSERT_EQ(test, r->wr_id, wr_id);
}

static const u32 sizes[] = { 6, 8, 9, 64, 5 };	/* as asked for; 5 are inside */

/* What is posted stays, in its order, wherever the indices stand; and the new size is the size. */
static void srn_srq_resize_keeps_test(struct kunit *test)
{
	struct ib_srq_attr attr;
	struct ctx *c = test->priv;
	u32 s, i, to;

	for (s = 0; s < ARRAY_SIZE(starts) * ARRAY_SIZE(sizes); s++) {
		create_srq(test, c, ENTRIES, starts[s / ARRAY_SIZE(sizes)]);
		for (i = 0; i < 7; i++)
			post_srq(test, c, i);
		take_srq(test, c, 0);
		take_srq(test, c, 1);
		attr.max_wr = sizes[s % ARRAY_SIZE(sizes)];
		to = roundup_pow_of_two(attr.max_wr);
		KUNIT_ASSERT_EQ(test, srn_modify_srq(&c->srq->ibsrq, &attr, IB_SRQ_MAX_WR, NULL), 0);
		KUNIT_EXPECT_EQ(test, attr.max_wr, to);
		KUNIT_EXPECT_EQ(test, c->srq->page->head, c->srq->head);
		KUNIT_EXPECT_EQ(test, srn_query_srq(&c->srq->ibsrq, &attr), 0);
		KUNIT_EXPECT_EQ(test, attr.max_wr, to);
		for (; i < to + 2; i++)
			post_srq(test, c, i);
		KUNIT_EXPECT_EQ(test, c->srq->page->tail, c->srq->head + to);
		expect_srq(test, c, 2, i);
	}
	KUNIT_EXPECT_EQ(test, c->events, 0);
}

/* More than is copied with the lock held. */
static void srn_srq_resize_many_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u64 i;

	create_srq(test, c, 16384, U32_MAX - 5000);
	for (i = 0; i < 9000; i++)
		post_srq(test, c, i);
	take_srq(test, c, 0);
	KUNIT_ASSERT_EQ(test, resize(c, SRN_MAX_SRQ_WR), 0);
	KUNIT_ASSERT_EQ(test, resize(c, 9000), 0);
	expect_srq(test, c, 1, 9000);
}

/* What fails leaves all as it was. */
static void srn_srq_resize_refused_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_srq_page *page;
	u64 i;

	create_srq(test, c, 16, 100);
	page = c->srq->page;
	for (i = 0; i < 9; i++)
		post_srq(test, c, i);
	KUNIT_EXPECT_EQ(test, resize(c, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, resize(c, SRN_MAX_SRQ_WR + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, resize(c, 8), -EINVAL);	/* 9 are inside */
	/* An index that is garbage is not taken over. */
	page->tail = 117;
	KUNIT_EXPECT_EQ(test, resize(c, 64), -EINVAL);
	page->tail = 99;
	KUNIT_EXPECT_EQ(test, resize(c, 64), -EINVAL);
	page->tail = 109;
	KUNIT_EXPECT_PTR_EQ(test, c->srq->page, page);
	KUNIT_EXPECT_EQ(test, page->gone, 0);
	KUNIT_EXPECT_EQ(test, c->srq->entries, 16);
	expect_srq(test, c, 0, 9);
}

/* Size and limit together, or neither; a limit that is armed is not cut off. */
static void srn_srq_resize_limit_test(struct kunit *test)
{
	struct ib_srq_attr attr = { .max_wr = 8, .srq_limit = 9 };
	struct ctx *c = test->priv;
	struct ib_srq *srq;

	create_srq(test, c, 16, 0);
	srq = &c->srq->ibsrq;
	c->srq->limit = 3;
	KUNIT_EXPECT_EQ(test, srn_modify_srq(srq, &attr, IB_SRQ_MAX_WR | IB_SRQ_LIMIT, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, c->srq->entries, 16);
	KUNIT_EXPECT_EQ(test, c->srq->limit, 3);
	attr.srq_limit = 8;
	KUNIT_EXPECT_EQ(test, srn_modify_srq(srq, &attr, IB_SRQ_MAX_WR | IB_SRQ_LIMIT, NULL), 0);
	KUNIT_EXPECT_EQ(test, c->srq->entries, 8);
	KUNIT_EXPECT_EQ(test, c->srq->limit, 8);
	KUNIT_EXPECT_EQ(test, resize(c, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, resize(c, 32), 0);
	KUNIT_EXPECT_EQ(test, c->srq->limit, 8);
	attr.srq_limit = 32;
	KUNIT_EXPECT_EQ(test, srn_modify_srq(srq, &attr, IB_SRQ_LIMIT, NULL), 0);
	/* It is looked at with what the new ring has. */
	post_srq(test, c, 0);
	take_srq(test, c, 0);
	KUNIT_EXPECT_EQ(test, c->events, 1);
	KUNIT_EXPECT_EQ(test, c->last_event, IB_EVENT_SRQ_LIMIT_REACHED);
}

/* Who still has the old ring mapped sees that nobody takes what is posted there. */
static void srn_srq_resize_leaves_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct page *page;

	create_srq(test, c, ENTRIES, 0);
	page = vmalloc_to_page(c->srq->page);	/* as in srn_srq_created_test() */
	get_page(page);
	KUNIT_ASSERT_EQ(test, resize(c, 1), 0);
	KUNIT_EXPECT_EQ(test, ((struct srn_srq_page *)page_address(page))->gone, 1);
	KUNIT_EXPECT_EQ(test, c->srq->page->gone, 0);
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
	KUNIT_CASE(srn_srq_resize_keeps_test),
	KUNIT_CASE(srn_srq_resize_many_test),
	KUNIT_CASE(srn_srq_resize_refused_test),
	KUNIT_CASE(srn_srq_resize_limit_test),
	KUNIT_CASE(srn_srq_resize_leaves_test),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "srn_srq",
	.init = srq_test_init,
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);
