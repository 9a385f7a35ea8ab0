// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel's own users ask of an address handle. */
#include "../ah.h"
#include "fake.h"

/* What it was made of; and the vector stays, with no reference more than before. */
static void srn_ah_query_test(struct kunit *test)
{
	struct srn_av *av = kunit_kzalloc(test, sizeof(*av), GFP_KERNEL);
	struct rdma_ah_attr attr = {};
	struct srn_ah ah = { .av = av };

	KUNIT_ASSERT_NOT_NULL(test, av);
	refcount_set(&av->refs, 1);
	av->attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	av->attr.sl = 5;
	av->attr.grh.hop_limit = 9;
	av->attr.grh.dgid.global.interface_id = cpu_to_be64(0x1234);
	KUNIT_ASSERT_EQ(test, srn_query_ah(&ah.ibah, &attr), 0);
	KUNIT_EXPECT_EQ(test, (int)attr.type, (int)RDMA_AH_ATTR_TYPE_ROCE);
	KUNIT_EXPECT_EQ(test, attr.sl, 5);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 9);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(attr.grh.dgid.global.interface_id), 0x1234);
	KUNIT_EXPECT_EQ(test, refcount_read(&av->refs), 1);
}

static struct kunit_case srn_ah_cases[] = {
	KUNIT_CASE(srn_ah_query_test),
	{}
};

static struct kunit_suite srn_ah_suite = {
	.name = "srn_ah",
	.test_cases = srn_ah_cases,
};

kunit_test_suite(srn_ah_suite);
