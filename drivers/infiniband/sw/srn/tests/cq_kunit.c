// SPDX-License-Identifier: GPL-2.0-only
/* Completion rings: indices that wrap, programs that lie about them, notification. */
#include "../cq.h"
#include "../restrack.h"
#include "fake.h"

#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <net/netlink.h>

#define ENTRIES	8

struct ctx {
	struct srn_dev *dev;
	struct srn_cq *cq;
	unsigned int comps, events;
	enum ib_event_type last_event;
	unsigned int rearm;	/* times that the handler posts another completion */
	unsigned long busy_until;	/* jiffies; until then it does so each time */
	unsigned int depth, max_depth;
};

static void on_event(struct ib_event *event, void *arg)
{
	struct ctx *c = arg;

	c->events++;
	c->last_event = event->event;
}

static void on_comp(struct ib_cq *cq, void *arg)
{
	struct ctx *c = arg;
	bool busy = time_before(jiffies, READ_ONCE(c->busy_until));
	struct srn_cqe cqe = {};
	struct ib_wc wc;

	c->comps++;
	c->depth++;
	c->max_depth = max(c->max_depth, c->depth);
	if (busy)
		srn_poll_cq(cq, 1, &wc);
	if (busy || c->rearm) {
		c->rearm -= !busy;
		srn_req_notify_cq(cq, IB_CQ_NEXT_COMP);
		srn_cq_post(to_srn_cq(cq), &cqe, false, NULL);
	}
	c->depth--;
}

static void make_cq(struct kunit *test, struct ctx *c)
{
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	void *ring = kunit_kzalloc(test, SRN_QUEUE_OFFSET + ENTRIES * sizeof(struct srn_cqe),
				   GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cq);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	spin_lock_init(&cq->lock);
	cq->ibcq.device = &c->dev->ibdev;
	cq->ibcq.comp_handler = on_comp;
	cq->ibcq.event_handler = on_event;
	cq->ibcq.cq_context = c;
	cq->entries = ENTRIES;
	cq->page = ring;
	cq->cqes = ring + SRN_QUEUE_OFFSET;
	cq->qps = kunit_kcalloc(test, ENTRIES, sizeof(*cq->qps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cq->qps);
	c->cq = cq;
}

static int cq_test_init(struct kunit *test)
{
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->dev = fake_dev(test);
	c->busy_until = jiffies;
	make_cq(test, c);
	test->priv = c;
	return 0;
}

static void start_at(struct srn_cq *cq, u32 index)
{
	cq->prod = index;
	cq->cons = index;
	cq->page->prod = index;
	cq->page->cons = index;
}

static bool post(struct ctx *c, u64 wr_id)
{
	struct srn_cqe cqe = { .wr_id = wr_id };

	return srn_cq_post(c->cq, &cqe, false, NULL);
}

static const u32 starts[] = { 0, U32_MAX - 3, 0x7ffffffc, U32_MAX };

/* A program that consumes as it should, across both wraps of the index. */
static void srn_cq_user_wrap_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_cq_page *page = c->cq->page;
	u32 s, i;

	for (s = 0; s < ARRAY_SIZE(starts); s++) {
		start_at(c->cq, starts[s]);
		for (i = 0; i < 3 * ENTRIES; i++) {
			KUNIT_ASSERT_TRUE(test, post(c, i));
			KUNIT_ASSERT_EQ(test, page->prod, starts[s] + i + 1);
			KUNIT_ASSERT_EQ(test, c->cq->cqes[page->cons % ENTRIES].wr_id, i);
			page->cons++;
		}
	}
	KUNIT_EXPECT_EQ(test, c->events, 0);
}

static void srn_cq_full_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u32 i;

	start_at(c->cq, U32_MAX - 2);
	for (i = 0; i < ENTRIES; i++)
		KUNIT_ASSERT_TRUE(test, post(c, i));
	KUNIT_EXPECT_EQ(test, c->cq->page->dead, 0);
	KUNIT_EXPECT_FALSE(test, post(c, 99));
	KUNIT_EXPECT_EQ(test, c->events, 1);
	KUNIT_EXPECT_EQ(test, c->last_event, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, c->cq->page->dead, SRN_CQ_OVERRUN);
	/* What was there is untouched; the CQ is dead, and said so once. */
	KUNIT_EXPECT_EQ(test, c->cq->cqes[(U32_MAX - 2) % ENTRIES].wr_id, 0);
	c->cq->page->cons = c->cq->page->prod;
	KUNIT_EXPECT_FALSE(test, post(c, 100));
	KUNIT_EXPECT_EQ(test, c->events, 1);
	/* The counter knows each that was lost, once. */
	KUNIT_EXPECT_EQ(test, srn_stats_sum(c->dev, SRN_CNT_CQ_OVERRUN), 2);
	KUNIT_EXPECT_EQ(test, c->cq->page->prod, U32_MAX - 2 + ENTRIES);
}

/* An index that cannot be counts as full, whichever way it lies. */
static void srn_cq_liar_test(struct kunit *test)
{
	static const s32 lies[] = { 1, 2, ENTRIES, 0x7fffffff, -ENTRIES - 1, -0x7fffffff };
	struct ctx *c = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		c->cq->overrun = false;
		start_at(c->cq, 5);
		c->cq->page->cons = 5 + lies[i];
		KUNIT_EXPECT_FALSE(test, post(c, 1));
		KUNIT_EXPECT_EQ(test, c->cq->page->prod, 5);
	}
}

/* What a QP flushes that is being destroyed takes the room that there is, and no more: others go on. */
static void srn_cq_spare_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_cqe cqes[3] = {};
	u32 i;

	start_at(c->cq, U32_MAX - 2);
	for (i = 0; i < ENTRIES - 2; i++)
		KUNIT_ASSERT_TRUE(test, post(c, 99));
	KUNIT_EXPECT_EQ(test, srn_cq_post_spare(c->cq, cqes, ARRAY_SIZE(cqes), NULL), 2);
	KUNIT_EXPECT_EQ(test, srn_cq_post_spare(c->cq, cqes, 1, NULL), 0);
	KUNIT_EXPECT_FALSE(test, c->cq->overrun);
	KUNIT_EXPECT_EQ(test, c->cq->page->dead, 0);
	KUNIT_EXPECT_EQ(test, c->events, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(c->dev, SRN_CNT_CQ_OVERRUN), 0);
	c->cq->page->cons++;
	KUNIT_EXPECT_TRUE(test, post(c, 1));
}

/* Of several that come at once as many are there as there is room for, and the CQ is dead if that is not
 * all; across the wrap.
 */
static void srn_cq_many_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_cqe cqes[5] = {};
	u32 i, taken;

	for (i = 0; i < ARRAY_SIZE(cqes); i++)
		cqes[i].wr_id = i;
	for (taken = 0; taken <= ENTRIES; taken++) {
		u32 fits = min_t(u32, ENTRIES - taken, ARRAY_SIZE(cqes)), lost = ARRAY_SIZE(cqes) - fits;
		u64 was = srn_stats_sum(c->dev, SRN_CNT_CQ_OVERRUN);

		start_at(c->cq, U32_MAX - 2);
		c->cq->overrun = false;
		c->cq->page->dead = 0;
		c->events = 0;
		for (i = 0; i < taken; i++)
			KUNIT_ASSERT_TRUE(test, post(c, 99));
		KUNIT_EXPECT_EQ(test, fits, srn_cq_post_many(c->cq, cqes, ARRAY_SIZE(cqes), false, NULL));
		KUNIT_EXPECT_EQ(test, c->cq->page->prod, U32_MAX - 2 + taken + fits);
		for (i = 0; i < fits; i++)
			KUNIT_EXPECT_EQ(test, c->cq->cqes[(U32_MAX - 2 + taken + i) % ENTRIES].wr_id, i);
		KUNIT_EXPECT_EQ(test, c->events, !!lost);
		KUNIT_EXPECT_EQ(test, c->cq->page->dead, lost ? SRN_CQ_OVERRUN : 0);
		KUNIT_EXPECT_EQ(test, srn_stats_sum(c->dev, SRN_CNT_CQ_OVERRUN), was + lost);
		/* Unpolled when the newest was added. */
		KUNIT_EXPECT_EQ(test, c->cq->waiting, lost ? ENTRIES : taken + fits - 1);
	}
}

/* One event for all of them, of which one is enough to be solicited; none where none fits. */
static void srn_cq_many_armed_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_cqe cqes[4] = {};

	c->cq->page->arm = SRN_CQ_ARM_SOLICITED;
	KUNIT_EXPECT_EQ(test, 4, srn_cq_post_many(c->cq, cqes, 4, false, NULL));
	KUNIT_EXPECT_EQ(test, c->comps, 0);
	KUNIT_EXPECT_EQ(test, 3, srn_cq_post_many(c->cq, cqes, 3, true, NULL));
	KUNIT_EXPECT_EQ(test, c->comps, 1);
	KUNIT_EXPECT_EQ(test, c->cq->page->arm, SRN_CQ_DISARMED);
	c->cq->page->arm = SRN_CQ_ARM_NEXT;
	KUNIT_EXPECT_EQ(test, 1, srn_cq_post_many(c->cq, cqes, 2, false, NULL));
	KUNIT_EXPECT_EQ(test, c->comps, 2);
	c->cq->page->arm = SRN_CQ_ARM_NEXT;
	KUNIT_EXPECT_EQ(test, 0, srn_cq_post_many(c->cq, cqes, 2, true, NULL));
	KUNIT_EXPECT_EQ(test, c->comps, 2);
}

/* What the program writes to the kernel's index changes nothing. */
static void srn_cq_prod_is_private_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	KUNIT_ASSERT_TRUE(test, post(c, 1));
	c->cq->page->prod = 0xdeadbeef;
	KUNIT_ASSERT_TRUE(test, post(c, 2));
	KUNIT_EXPECT_EQ(test, c->cq->page->prod, 2);
	KUNIT_EXPECT_EQ(test, c->cq->cqes[1].wr_id, 2);
}

static void srn_cq_kernel_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct srn_cqe cqe = {
		.status = IB_WC_REM_ACCESS_ERR, .opcode = IB_WC_RECV, .byte_len = 44,
		.inv_rkey = 0x1234, .src_qp = 7, .pkey_index = 1, .sl = 3, .port_num = 1,
		.wc_flags = SRN_WC_WITH_INV | SRN_WC_GRH,
		.network_hdr_type = RDMA_NETWORK_IPV6, .vendor_err = 5,
	};
	struct ib_wc wc[ENTRIES];
	u32 i, round;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	c->cq->kernel = true;
	start_at(c->cq, U32_MAX - 4);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 5; i++) {
			cqe.wr_id = round * 5 + i;
			KUNIT_ASSERT_TRUE(test, srn_cq_post(c->cq, &cqe, false, qp));
		}
		KUNIT_ASSERT_EQ(test, srn_poll_cq(&c->cq->ibcq, 2, wc), 2);
		KUNIT_ASSERT_EQ(test, srn_poll_cq(&c->cq->ibcq, ENTRIES, wc + 2), 3);
		KUNIT_ASSERT_EQ(test, srn_poll_cq(&c->cq->ibcq, ENTRIES, wc + 5), 0);
		for (i = 0; i < 5; i++)
			KUNIT_ASSERT_EQ(test, wc[i].wr_id, round * 5 + i);
	}
	KUNIT_EXPECT_EQ(test, wc[0].status, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, wc[0].opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc[0].byte_len, 44);
	KUNIT_EXPECT_EQ(test, wc[0].ex.invalidate_rkey, 0x1234);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, qp);
	KUNIT_EXPECT_EQ(test, wc[0].src_qp, 7);
	KUNIT_EXPECT_EQ(test, wc[0].wc_flags, IB_WC_WITH_INVALIDATE | IB_WC_GRH |
			IB_WC_WITH_NETWORK_HDR_TYPE);
	KUNIT_EXPECT_EQ(test, wc[0].network_hdr_type, RDMA_NETWORK_IPV6);
	KUNIT_EXPECT_EQ(test, wc[0].vendor_err, 5);
}

static void srn_cq_forget_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_qp *gone = kunit_kzalloc(test, sizeof(*gone), GFP_KERNEL);
	struct ib_qp *stays = kunit_kzalloc(test, sizeof(*stays), GFP_KERNEL);
	struct srn_cqe cqe = {};
	struct ib_wc wc[ENTRIES];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, gone);
	KUNIT_ASSERT_NOT_NULL(test, stays);
	c->cq->kernel = true;
	start_at(c->cq, U32_MAX - 3);
	for (i = 0; i < ENTRIES; i++) {
		cqe.wr_id = i;
		KUNIT_ASSERT_TRUE(test, srn_cq_post(c->cq, &cqe, false,
						    i == 2 || i == 5 ? stays : gone));
	}
	srn_cq_forget_qp(c->cq, gone);
	KUNIT_ASSERT_EQ(test, srn_poll_cq(&c->cq->ibcq, ENTRIES, wc), 2);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 2);
	KUNIT_EXPECT_EQ(test, wc[1].wr_id, 5);
	KUNIT_EXPECT_PTR_EQ(test, wc[1].qp, stays);
	/* The freed slots can be used. */
	for (i = 0; i < ENTRIES; i++)
		KUNIT_EXPECT_TRUE(test, srn_cq_post(c->cq, &cqe, false, stays));
}

struct arm_row {
	const char *desc;
	u32 arm;
	bool solicited;
	unsigned int comps;
	u32 left;
};

static const struct arm_row arm_rows[] = {
	{ "not armed", SRN_CQ_DISARMED, true, 0, SRN_CQ_DISARMED },
	{ "next, any completion", SRN_CQ_ARM_NEXT, false, 1, SRN_CQ_DISARMED },
	{ "next, solicited", SRN_CQ_ARM_NEXT, true, 1, SRN_CQ_DISARMED },
	{ "solicited only, other", SRN_CQ_ARM_SOLICITED, false, 0, SRN_CQ_ARM_SOLICITED },
	{ "solicited only, solicited", SRN_CQ_ARM_SOLICITED, true, 1, SRN_CQ_DISARMED },
	{ "nonsense arms for any", 0xffffffff, false, 1, SRN_CQ_DISARMED },
};

KUNIT_ARRAY_PARAM_DESC(arm, arm_rows, desc);

static void srn_cq_arm_test(struct kunit *test)
{
	const struct arm_row *row = test->param_value;
	struct ctx *c = test->priv;
	struct srn_cqe cqe = {};

	c->cq->page->arm = row->arm;
	KUNIT_EXPECT_TRUE(test, srn_cq_post(c->cq, &cqe, row->solicited, NULL));
	KUNIT_EXPECT_EQ(test, c->comps, row->comps);
	KUNIT_EXPECT_EQ(test, c->cq->page->arm, row->left);
	/* One event for each arming. */
	if (row->comps) {
		KUNIT_EXPECT_TRUE(test, srn_cq_post(c->cq, &cqe, row->solicited, NULL));
		KUNIT_EXPECT_EQ(test, c->comps, row->comps);
	}
}

static void srn_cq_req_notify_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_cq *cq = &c->cq->ibcq;
	struct ib_wc wc;

	c->cq->kernel = true;
	KUNIT_EXPECT_EQ(test, srn_req_notify_cq(cq, IB_CQ_SOLICITED |
						IB_CQ_REPORT_MISSED_EVENTS), 0);
	KUNIT_ASSERT_TRUE(test, post(c, 1));
	KUNIT_EXPECT_EQ(test, c->comps, 0);
	KUNIT_EXPECT_EQ(test, srn_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
	KUNIT_EXPECT_EQ(test, srn_req_notify_cq(cq, IB_CQ_NEXT_COMP |
						IB_CQ_REPORT_MISSED_EVENTS), 1);
	/* The narrower request does not take the wider one back. */
	srn_req_notify_cq(cq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_TRUE(test, srn_cq_is_armed(to_srn_cq(cq)));
	KUNIT_EXPECT_TRUE(test, srn_cq_is_left(to_srn_cq(cq), 1));
	KUNIT_ASSERT_TRUE(test, post(c, 2));
	KUNIT_EXPECT_FALSE(test, srn_cq_is_armed(to_srn_cq(cq)));
	KUNIT_EXPECT_TRUE(test, srn_cq_is_left(to_srn_cq(cq), 2));
	KUNIT_EXPECT_FALSE(test, srn_cq_is_left(to_srn_cq(cq), 3));
	KUNIT_EXPECT_EQ(test, c->comps, 1);
	KUNIT_EXPECT_EQ(test, srn_poll_cq(cq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, srn_poll_cq(cq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, srn_req_notify_cq(cq, IB_CQ_NEXT_COMP |
						IB_CQ_REPORT_MISSED_EVENTS), 0);
}

/* A handler whose own posting completes is called again, not within itself. */
static void srn_cq_handler_nests_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	c->cq->kernel = true;
	c->rearm = 1;
	srn_req_notify_cq(&c->cq->ibcq, IB_CQ_NEXT_COMP);
	KUNIT_ASSERT_TRUE(test, post(c, 1));
	KUNIT_EXPECT_EQ(test, c->comps, 2);
	KUNIT_EXPECT_EQ(test, c->max_depth, 1);
	KUNIT_EXPECT_FALSE(test, c->cq->notifying);
}

static struct srn_cq *create_cq(struct kunit *test, struct ctx *c, int cqe)
{
	const struct ib_cq_init_attr attr = { .cqe = cqe };
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ibcq.device = &c->dev->ibdev;
	cq->ibcq.comp_handler = on_comp;
	cq->ibcq.cq_context = c;
	KUNIT_ASSERT_EQ(test, srn_create_cq(&cq->ibcq, &attr, NULL), 0);
	return cq;
}

/* A handler that has itself called without end gives its caller's softirq back. */
static void srn_cq_handler_bounded_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_cq *cq = create_cq(test, c, 256);
	struct srn_cqe cqe = {};
	unsigned int at_once;
	int i;

	c->rearm = 200;
	srn_req_notify_cq(&cq->ibcq, IB_CQ_NEXT_COMP);
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, srn_cq_post(cq, &cqe, false, NULL));
	at_once = c->comps;
	local_bh_enable();
	KUNIT_EXPECT_LT(test, at_once, 20);
	for (i = 0; i < 1000 && READ_ONCE(c->comps) < 201; i++)
		msleep(1);
	KUNIT_EXPECT_EQ(test, c->comps, 201);
	KUNIT_EXPECT_EQ(test, c->max_depth, 1);
	srn_destroy_cq(&cq->ibcq, NULL);
}

static void expect_quiet(struct kunit *test, const struct srn_cq *cq)
{
	unsigned long end = jiffies + 10 * HZ;

	while (READ_ONCE(cq->notifying) && time_before(jiffies, end))
		msleep(1);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(cq->notifying));
}

struct settler {
	struct work_struct work;
	struct srn_cq *cq;
};

/* With more calls left than a softirq makes before it gives its CPU back. */
static void settle(struct work_struct *work)
{
	struct srn_cq *cq = container_of(work, struct settler, work)->cq;
	struct srn_cqe cqe = {};

	srn_cq_post(cq, &cqe, false, NULL);
	srn_cq_settle(cq);
}

/* Who reclaims memory may wait for the handlers: the kernel warns of a queue that it is
 * not to wait for.
 */
static void srn_cq_settle_in_reclaim_test(struct kunit *test)
{
	struct workqueue_struct *wq = alloc_workqueue("srn_kunit", WQ_MEM_RECLAIM, 1);
	struct ctx *c = test->priv;
	struct settler s = { .cq = create_cq(test, c, 8192) };

	KUNIT_ASSERT_NOT_NULL(test, wq);
	c->rearm = 5000;
	srn_req_notify_cq(&s.cq->ibcq, IB_CQ_NEXT_COMP);
	INIT_WORK_ONSTACK(&s.work, settle);
	queue_work(wq, &s.work);
	flush_work(&s.work);
	KUNIT_EXPECT_GE(test, READ_ONCE(c->comps), 2);
	expect_quiet(test, s.cq);
	KUNIT_EXPECT_EQ(test, c->comps, 5001);
	KUNIT_EXPECT_EQ(test, c->max_depth, 1);
	destroy_work_on_stack(&s.work);
	destroy_workqueue(wq);
	srn_destroy_cq(&s.cq->ibcq, NULL);
}

/* But not for others, whose completions have the handler called without end. */
static void srn_cq_settle_beside_others_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_cq *cq = create_cq(test, c, 256);
	struct srn_cqe cqe = {};
	unsigned int was;

	WRITE_ONCE(c->busy_until, jiffies + 3 * HZ);
	srn_req_notify_cq(&cq->ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_TRUE(test, srn_cq_post(cq, &cqe, false, NULL));
	was = READ_ONCE(c->comps);
	srn_cq_settle(cq);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, c->busy_until));
	/* One may have been under way, and the next is behind what came before. */
	KUNIT_EXPECT_GE(test, READ_ONCE(c->comps) - was, 2);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(cq->notifying));
	WRITE_ONCE(c->busy_until, jiffies);
	expect_quiet(test, cq);
	srn_destroy_cq(&cq->ibcq, NULL);
}

/* A CQ may be shown while it is destroyed, and after: its ring, which is gone, is not read. */
static void srn_cq_shown_when_gone_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_cq *cq = create_cq(test, c, 16);
	struct sk_buff *msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	unsigned int len;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_EXPECT_EQ(test, srn_fill_res_cq(msg, &cq->ibcq), 0);
	KUNIT_EXPECT_GT(test, msg->len, nla_total_size(0));
	len = msg->len;
	srn_destroy_cq(&cq->ibcq, NULL);
	KUNIT_EXPECT_EQ(test, srn_fill_res_cq(msg, &cq->ibcq), 0);
	KUNIT_EXPECT_EQ(test, msg->len, len + nla_total_size(0));
	nlmsg_free(msg);
}

/* As the GSI QP's user sees it: the VLAN that a MAD came by, and what came with it. */
static void srn_cq_kernel_immediate_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	const struct srn_cqe cqe = {
		.opcode = IB_WC_RECV, .imm = cpu_to_be32(0x12345678), .vlan_id = 42, .src_qp = 1,
		.pkey_index = 1, .sl = 3, .port_num = 1,
		.wc_flags = SRN_WC_WITH_IMM | SRN_WC_WITH_VLAN | SRN_WC_GRH,
		.network_hdr_type = RDMA_NETWORK_IPV4,
	};
	struct ib_wc wc;

	c->cq->kernel = true;
	KUNIT_ASSERT_TRUE(test, srn_cq_post(c->cq, &cqe, false, NULL));
	KUNIT_ASSERT_EQ(test, srn_poll_cq(&c->cq->ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_IMM | IB_WC_WITH_VLAN | IB_WC_GRH |
			IB_WC_WITH_NETWORK_HDR_TYPE);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x12345678);
	KUNIT_EXPECT_EQ(test, wc.vlan_id, 42);
	KUNIT_EXPECT_EQ(test, wc.pkey_index, 1);
	KUNIT_EXPECT_EQ(test, wc.sl, 3);
	KUNIT_EXPECT_EQ(test, wc.port_num, 1);
	KUNIT_EXPECT_EQ(test, wc.network_hdr_type, RDMA_NETWORK_IPV4);
}

/* A program's completions are in its mapping, and no command takes them out. */
static void srn_cq_poll_is_the_kernels_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_wc wc;

	KUNIT_ASSERT_TRUE(test, post(c, 1));
	KUNIT_EXPECT_EQ(test, srn_poll_cq(&c->cq->ibcq, 1, &wc), -EOPNOTSUPP);
}

struct refused_row {
	const char *desc;
	struct ib_cq_init_attr attr;
	int err;
};

static const struct refused_row refused_rows[] = {
	{ "flag", { .cqe = 1, .flags = IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN }, -EOPNOTSUPP },
	{ "no entries", { .cqe = 0 }, -EINVAL },
	{ "too many entries", { .cqe = SRN_MAX_CQE + 1 }, -EINVAL },
	{ "vector", { .cqe = 1, .comp_vector = 1 }, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(refused, refused_rows, desc);

static void srn_cq_refused_test(struct kunit *test)
{
	const struct refused_row *row = test->param_value;
	struct ctx *c = test->priv;

	KUNIT_EXPECT_EQ(test, srn_create_cq(&c->cq->ibcq, &row->attr, NULL), row->err);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->dev->num_cqs), 0);
}

/* A program keeps the mapping, and reads there that nothing comes any more. */
static void srn_cq_gone_test(struct kunit *test)
{
	struct srn_cq *cq = create_cq(test, test->priv, 4);
	struct page *page = vmalloc_to_page(cq->page);

	get_page(page);
	srn_destroy_cq(&cq->ibcq, NULL);
	KUNIT_EXPECT_EQ(test, ((struct srn_cq_page *)page_address(page))->dead, SRN_CQ_GONE);
	put_page(page);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(srn_cq_user_wrap_test),
	KUNIT_CASE(srn_cq_full_test),
	KUNIT_CASE(srn_cq_many_test),
	KUNIT_CASE(srn_cq_spare_test),
	KUNIT_CASE(srn_cq_many_armed_test),
	KUNIT_CASE(srn_cq_liar_test),
	KUNIT_CASE(srn_cq_prod_is_private_test),
	KUNIT_CASE(srn_cq_kernel_test),
	KUNIT_CASE(srn_cq_forget_test),
	KUNIT_CASE_PARAM(srn_cq_arm_test, arm_gen_params),
	KUNIT_CASE(srn_cq_req_notify_test),
	KUNIT_CASE(srn_cq_handler_nests_test),
	KUNIT_CASE(srn_cq_handler_bounded_test),
	KUNIT_CASE(srn_cq_settle_in_reclaim_test),
	KUNIT_CASE(srn_cq_settle_beside_others_test),
	KUNIT_CASE(srn_cq_shown_when_gone_test),
	KUNIT_CASE(srn_cq_kernel_immediate_test),
	KUNIT_CASE(srn_cq_poll_is_the_kernels_test),
	KUNIT_CASE_PARAM(srn_cq_refused_test, refused_gen_params),
	KUNIT_CASE(srn_cq_gone_test),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "srn_cq",
	.init = cq_test_init,
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);
