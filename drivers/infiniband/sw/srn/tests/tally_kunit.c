// SPDX-License-Identifier: GPL-2.0-only
/* Counters of QPs, and what the device says beside them. */
#include "../tally.h"
#include "fake_round.h"

#include <rdma/ib_pack.h>
#include <rdma/rdma_counter.h>

struct bound {
	struct owner *o;
	struct rdma_counter counter;
	struct rdma_hw_stats *port;
};

static void free_stats(void *stats)
{
	rdma_free_hw_stats_struct(stats);
}

static void dealloc(void *counter)
{
	srn_tally_dealloc(counter);
}

/* As the core makes one. */
static void init_counter(struct kunit *test, struct rdma_counter *counter, struct srn_dev *dev)
{
	*counter = (struct rdma_counter){ .device = &dev->ibdev, .port = 1 };
	mutex_init(&counter->lock);
	counter->stats = srn_tally_alloc_stats(counter);
	KUNIT_ASSERT_NOT_NULL(test, counter->stats);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_stats, counter->stats));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dealloc, counter));
}

static int bind(struct rdma_counter *counter, struct srn_qp *qp)
{
	int err;

	qp->ibqp.device = &qp->dev->ibdev;
	mutex_lock(&counter->lock);
	err = srn_tally_bind(counter, &qp->ibqp);
	mutex_unlock(&counter->lock);
	return err;
}

static int unbind(struct rdma_counter *counter, struct srn_qp *qp)
{
	int err;

	mutex_lock(&counter->lock);
	err = srn_tally_unbind(&qp->ibqp);
	mutex_unlock(&counter->lock);
	return err;
}

/* A QP, a counter, and what the port shows. */
static struct bound *new_bound(struct kunit *test)
{
	struct bound *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->o = new_owner(test);
	init_counter(test, &b->counter, b->o->qp.dev);
	b->port = srn_stats_alloc(&b->o->qp.dev->ibdev, 1);
	KUNIT_ASSERT_NOT_NULL(test, b->port);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_stats, b->port));
	return b;
}

/* @num packets of a gap: each is out of sequence, the first draws a NAK. */
static void rx_early(struct kunit *test, struct srn_qp *qp, int num)
{
	local_bh_disable();
	while (num--)
		srn_round_rx(qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 5));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
}

static u64 of_counter(struct kunit *test, struct rdma_counter *counter, enum srn_counter c)
{
	mutex_lock(&counter->lock);
	KUNIT_EXPECT_EQ(test, srn_tally_update(counter), 0);
	mutex_unlock(&counter->lock);
	return counter->stats->value[c];
}

static u64 of_port(struct kunit *test, struct bound *b, enum srn_counter c)
{
	KUNIT_EXPECT_EQ(test, srn_stats_get(&b->o->qp.dev->ibdev, b->port, 1, 0),
			(int)SRN_CNT_MAX);
	return b->port->value[c];
}

/* What is counted while it is bound, in the counter; what was before and comes later, not. The
 * port's own part and the counter's are all that there was.
 */
static void srn_tally_while_bound_test(struct kunit *test)
{
	struct bound *b = new_bound(test);
	struct srn_qp *qp = &b->o->qp;

	rx_early(test, qp, 2);
	KUNIT_ASSERT_EQ(test, bind(&b->counter, qp), 0);
	KUNIT_EXPECT_NE(test, b->counter.id, 0);
	KUNIT_EXPECT_PTR_EQ(test, qp->ibqp.counter, &b->counter);
	rx_early(test, qp, 3);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, qp), 0);
	KUNIT_EXPECT_NULL(test, qp->ibqp.counter);
	rx_early(test, qp, 4);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_OUT_OF_SEQ), 3);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_RCVD_PKTS), 3);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_OUT_OF_SEQ), 2 + 4);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_RCVD_PKTS), 2 + 4);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_OUT_OF_SEQ), 2 + 3 + 4);
}

/* What a round sends later, by the NAPI or a timer, is the QP's as well. */
static void srn_tally_round_test(struct kunit *test)
{
	struct bound *b = new_bound(test);

	KUNIT_ASSERT_EQ(test, bind(&b->counter, &b->o->qp), 0);
	rx_early(test, &b->o->qp, 1);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_SENT_NAK), 1);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_SENT_NAK), 0);
	/* Not of those that counters have: the port's, whole. */
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_NO_ROUTE), 0);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_NO_ROUTE), 1);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), 0);
}

static struct srn_qp *second_qp(struct kunit *test, struct srn_dev *dev)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	if (dev) {
		dev->net = &init_net;
		qp->dev = dev;
		qp->path.dev = dev;
	}
	return qp;
}

/* Two QPs of one counter, and one of none. */
static void srn_tally_shared_test(struct kunit *test)
{
	struct bound *b = new_bound(test);
	struct srn_qp *second = second_qp(test, b->o->qp.dev);
	struct srn_qp *third = second_qp(test, b->o->qp.dev);

	KUNIT_ASSERT_EQ(test, bind(&b->counter, &b->o->qp), 0);
	KUNIT_ASSERT_EQ(test, bind(&b->counter, second), 0);
	rx_early(test, &b->o->qp, 1);
	rx_early(test, second, 2);
	rx_early(test, third, 4);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_OUT_OF_SEQ), 3);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), 0);
	rx_early(test, second, 8);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_OUT_OF_SEQ), 11);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, second), 0);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_OUT_OF_SEQ), 4);
}

/* A counter whose last QP went, and was read, counts for the next one. */
static void srn_tally_bound_again_test(struct kunit *test)
{
	struct bound *b = new_bound(test);

	KUNIT_ASSERT_EQ(test, bind(&b->counter, &b->o->qp), 0);
	rx_early(test, &b->o->qp, 2);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), 0);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_OUT_OF_SEQ), 2);
	KUNIT_ASSERT_EQ(test, bind(&b->counter, &b->o->qp), 0);
	rx_early(test, &b->o->qp, 1);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_OUT_OF_SEQ), 3);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_OUT_OF_SEQ), 0);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), 0);
}

/* A QP has one counter; a counter that could not be bound leaves nothing behind. */
static void srn_tally_one_counter_test(struct kunit *test)
{
	struct bound *b = new_bound(test);
	struct rdma_counter *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	struct xarray *tallies = &b->o->qp.dev->tallies;

	KUNIT_ASSERT_NOT_NULL(test, other);
	init_counter(test, other, b->o->qp.dev);
	KUNIT_ASSERT_EQ(test, bind(&b->counter, &b->o->qp), 0);
	KUNIT_EXPECT_EQ(test, bind(other, &b->o->qp), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, b->o->qp.ibqp.counter, &b->counter);
	KUNIT_EXPECT_EQ(test, other->id, 0);
	KUNIT_EXPECT_NULL(test, xa_load(tallies, b->counter.id + 1));
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), 0);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), -EINVAL);
	KUNIT_EXPECT_EQ(test, srn_tally_dealloc(&b->counter), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(tallies));
}

/* A round within a round: each counts for its own QP, and for its own device. */
static void srn_tally_nested_test(struct kunit *test)
{
	struct bound *b = new_bound(test);
	struct srn_qp *second = second_qp(test, b->o->qp.dev), *foreign = second_qp(test, NULL);
	struct bound *other = new_bound(test);
	struct srn_tally *was;

	KUNIT_ASSERT_EQ(test, bind(&b->counter, &b->o->qp), 0);
	KUNIT_ASSERT_EQ(test, bind(&other->counter, &other->o->qp), 0);
	local_bh_disable();
	was = srn_tally_swap(rcu_dereference_bh(b->o->qp.tally));
	KUNIT_EXPECT_NULL(test, was);
	srn_round_rx(second, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 5));
	srn_round_rx(&other->o->qp, new_packet(test, IB_OPCODE_RC_SEND_ONLY, 5));
	srn_count(b->o->qp.dev, SRN_CNT_TIMEOUT);
	srn_count(foreign->dev, SRN_CNT_TIMEOUT);
	srn_tally_swap(was);
	srn_count(b->o->qp.dev, SRN_CNT_TIMEOUT);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_idle(second));
	KUNIT_EXPECT_TRUE(test, wait_idle(&other->o->qp));
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_OUT_OF_SEQ), 0);
	KUNIT_EXPECT_EQ(test, of_counter(test, &other->counter, SRN_CNT_OUT_OF_SEQ), 1);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_TIMEOUT), 1);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_TIMEOUT), 1);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(foreign->dev, SRN_CNT_TIMEOUT), 1);
	KUNIT_EXPECT_EQ(test, unbind(&other->counter, &other->o->qp), 0);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), 0);
}

/* A turn that goes on after its QP was unbound, and after the core has read the counter for the last
 * time: what it counts is the port's when the counter is gone, and nobody sees it twice.
 */
static void srn_tally_late_test(struct kunit *test)
{
	struct bound *b = new_bound(test);
	struct srn_dev *dev = b->o->qp.dev;
	struct srn_tally *was;

	KUNIT_ASSERT_EQ(test, bind(&b->counter, &b->o->qp), 0);
	rx_early(test, &b->o->qp, 3);
	migrate_disable();
	local_bh_disable();
	was = srn_tally_swap(rcu_dereference_bh(b->o->qp.tally));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), 0);
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_OUT_OF_SEQ), 3);
	local_bh_disable();
	srn_count(dev, SRN_CNT_OUT_OF_SEQ);
	srn_tally_swap(was);
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, of_counter(test, &b->counter, SRN_CNT_OUT_OF_SEQ), 3);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_OUT_OF_SEQ), 0);
	KUNIT_EXPECT_EQ(test, srn_tally_dealloc(&b->counter), 0);
	KUNIT_EXPECT_EQ(test, of_port(test, b, SRN_CNT_OUT_OF_SEQ), 1);
}

/* More QPs than the core can tell of are the port's alone. */
static void srn_tally_full_test(struct kunit *test)
{
	struct bound *b = new_bound(test);
	struct srn_qp *second = second_qp(test, b->o->qp.dev);
	struct srn_tally *tally;

	KUNIT_ASSERT_EQ(test, bind(&b->counter, &b->o->qp), 0);
	tally = rcu_dereference_protected(b->o->qp.tally, true);
	tally->num_qps = SRN_TALLY_QPS;
	KUNIT_EXPECT_EQ(test, bind(&b->counter, second), -ENOSPC);
	KUNIT_EXPECT_NULL(test, second->ibqp.counter);
	tally->num_qps--;
	KUNIT_EXPECT_EQ(test, bind(&b->counter, second), 0);
	tally->num_qps = 2;
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, second), 0);
	KUNIT_EXPECT_EQ(test, unbind(&b->counter, &b->o->qp), 0);
}

/* A counter's values have the places that the port's have, since the core adds them by place;
 * those that it does not have are not shown.
 */
static void srn_tally_stats_test(struct kunit *test)
{
	struct bound *b = new_bound(test);
	struct rdma_hw_stats *stats = b->counter.stats;
	unsigned int c;

	KUNIT_ASSERT_EQ(test, stats->num_counters, b->port->num_counters);
	for (c = 0; c < SRN_CNT_MAX; c++) {
		KUNIT_EXPECT_STREQ(test, stats->descs[c].name, b->port->descs[c].name);
		KUNIT_EXPECT_EQ(test, test_bit(c, stats->is_disabled), !srn_stats_of_qp(c));
		KUNIT_EXPECT_FALSE(test, test_bit(c, b->port->is_disabled));
	}
	KUNIT_EXPECT_TRUE(test, srn_stats_of_qp(SRN_CNT_RETRANS));
	KUNIT_EXPECT_FALSE(test, srn_stats_of_qp(SRN_CNT_DOORBELLS));
}

static struct kunit_case srn_tally_cases[] = {
	KUNIT_CASE(srn_tally_while_bound_test),
	KUNIT_CASE(srn_tally_round_test),
	KUNIT_CASE(srn_tally_shared_test),
	KUNIT_CASE(srn_tally_bound_again_test),
	KUNIT_CASE(srn_tally_one_counter_test),
	KUNIT_CASE(srn_tally_nested_test),
	KUNIT_CASE(srn_tally_late_test),
	KUNIT_CASE(srn_tally_full_test),
	KUNIT_CASE(srn_tally_stats_test),
	{}
};

static struct kunit_suite srn_tally_suite = {
	.name = "srn_tally",
	.test_cases = srn_tally_cases,
};

kunit_test_suite(srn_tally_suite);
