// SPDX-License-Identifier: GPL-2.0-only
/* What programs leave to the kernel's own users, however many objects they make. */
#include "../ah.h"
#include "../cq.h"
#include "../limits.h"
#include "../qp.h"
#include "../qp_create.h"
#include "../srq.h"
#include "fake.h"

#include <net/net_namespace.h>
#include <rdma/uverbs_ioctl.h>

/* Makes one more object, for a program or for the kernel, and takes it away again. */
struct object_row {
	const char *desc;
	int (*make)(struct kunit *test, struct srn_dev *dev, struct uverbs_attr_bundle *attrs);
	atomic_t *(*count)(struct srn_dev *dev);
	int max;
	bool user;	/* a program's limit is looked at; QPs want more of a program first */
};

static int make_cq(struct kunit *test, struct srn_dev *dev, struct uverbs_attr_bundle *attrs)
{
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	const struct ib_cq_init_attr attr = { .cqe = 1 };
	int err;

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ibcq.device = &dev->ibdev;
	err = srn_create_cq(&cq->ibcq, &attr, attrs);
	if (!err)
		srn_destroy_cq(&cq->ibcq, NULL);
	return err;
}

static int make_srq(struct kunit *test, struct srn_dev *dev, struct uverbs_attr_bundle *attrs)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct srn_srq *srq = kunit_kzalloc(test, sizeof(*srq), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, srq);
	srq->ibsrq.device = &dev->ibdev;
	srq->ibsrq.pd = fake_pd(test, dev);
	err = srn_create_srq(&srq->ibsrq, &attr, attrs ? &attrs->driver_udata : NULL);
	if (!err)
		srn_destroy_srq(&srq->ibsrq, NULL);
	return err;
}

static int make_qp(struct kunit *test, struct srn_dev *dev, struct uverbs_attr_bundle *attrs)
{
	struct srn_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	const struct ib_cq_init_attr cq_attr = { .cqe = 1 };
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_RC, .port_num = 1 };
	int err;

	KUNIT_ASSERT_NOT_NULL(test, cq);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	cq->ibcq.device = &dev->ibdev;
	KUNIT_ASSERT_EQ(test, srn_create_cq(&cq->ibcq, &cq_attr, NULL), 0);
	attr.send_cq = &cq->ibcq;
	attr.recv_cq = &cq->ibcq;
	qp->ibqp.device = &dev->ibdev;
	qp->ibqp.pd = fake_pd(test, dev);
	err = srn_create_qp(&qp->ibqp, &attr, attrs ? &attrs->driver_udata : NULL);
	if (!err)
		srn_destroy_qp(&qp->ibqp, NULL);
	srn_destroy_cq(&cq->ibcq, NULL);
	return err;
}

static atomic_t *num_cqs(struct srn_dev *dev)
{
	return &dev->num_cqs;
}

static atomic_t *num_srqs(struct srn_dev *dev)
{
	return &dev->num_srqs;
}

static atomic_t *num_qps(struct srn_dev *dev)
{
	return &dev->num_qps;
}

static const struct object_row object_rows[] = {
	{ "CQ", make_cq, num_cqs, SRN_MAX_CQ, true },
	{ "SRQ", make_srq, num_srqs, SRN_MAX_SRQ, true },
	{ "QP", make_qp, num_qps, SRN_MAX_QP, false },
};

KUNIT_ARRAY_PARAM_DESC(object, object_rows, desc);

static void srn_reserve_objects_test(struct kunit *test)
{
	struct uverbs_attr_bundle *user = kunit_kzalloc(test, sizeof(*user), GFP_KERNEL);
	const struct object_row *row = test->param_value;
	struct srn_dev *dev = fake_dev(test);
	atomic_t *count = row->count(dev);

	KUNIT_ASSERT_NOT_NULL(test, user);
	dev->net = &init_net;
	atomic_set(count, row->max);
	if (row->user)
		KUNIT_EXPECT_EQ(test, row->make(test, dev, user), -ENOMEM);
	KUNIT_EXPECT_EQ(test, row->make(test, dev, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(count), row->max);
	/* Of those there is an end, too. */
	atomic_set(count, row->max + SRN_KERNEL_OBJECTS);
	KUNIT_EXPECT_EQ(test, row->make(test, dev, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(count), row->max + SRN_KERNEL_OBJECTS);
	atomic_set(count, 0);
}

static void free_numbers(void *avs)
{
	xa_destroy(avs);
}

static void take_numbers(struct kunit *test, struct srn_dev *dev, u32 from, u32 to)
{
	u32 i;

	for (i = from; i <= to; i++)
		KUNIT_ASSERT_EQ(test, xa_insert(&dev->avs, i, dev, GFP_KERNEL), 0);
}

/* Address handles have numbers, not a count. */
static void srn_reserve_address_handles_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_av av;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_numbers, &dev->avs), 0);
	take_numbers(test, dev, 1, SRN_MAX_AH);
	KUNIT_EXPECT_EQ(test, srn_av_number(dev, &av, true, GFP_KERNEL), -ENOMEM);
	KUNIT_ASSERT_EQ(test, srn_av_number(dev, &av, false, GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, av.index, SRN_MAX_AH + 1);
	/* Of those there is an end, too. */
	take_numbers(test, dev, av.index + 1, SRN_AH_INDICES);
	KUNIT_EXPECT_EQ(test, srn_av_number(dev, &av, false, GFP_KERNEL), -ENOMEM);
}

/* A request that names a dead handle does not find its successor; numbers begin anew when all
 * had their turn.
 */
static void srn_reserve_numbers_go_round_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	struct srn_av av;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_numbers, &dev->avs), 0);
	KUNIT_ASSERT_EQ(test, srn_av_number(dev, &av, true, GFP_ATOMIC), 0);
	KUNIT_EXPECT_EQ(test, av.index, 1);
	xa_erase(&dev->avs, 1);
	KUNIT_ASSERT_EQ(test, srn_av_number(dev, &av, true, GFP_ATOMIC), 0);
	KUNIT_EXPECT_EQ(test, av.index, 2);
	dev->av_next[true] = SRN_MAX_AH + 1;
	KUNIT_EXPECT_EQ(test, srn_av_number(dev, &av, true, GFP_ATOMIC), 0);
	KUNIT_EXPECT_EQ(test, av.index, 1);
}

static struct kunit_case srn_reserve_cases[] = {
	KUNIT_CASE(srn_reserve_address_handles_test),
	KUNIT_CASE(srn_reserve_numbers_go_round_test),
	KUNIT_CASE_PARAM(srn_reserve_objects_test, object_gen_params),
	{}
};

static struct kunit_suite srn_reserve_suite = {
	.name = "srn_reserve",
	.test_cases = srn_reserve_cases,
};

kunit_test_suite(srn_reserve_suite);
