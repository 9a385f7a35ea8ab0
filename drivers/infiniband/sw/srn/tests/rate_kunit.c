// SPDX-License-Identifier: GPL-2.0-only
/* Rates of verbs, one by one. */
#include "../rate.h"

#include <kunit/test.h>
#include <linux/limits.h>
#include <rdma/ib_verbs.h>

struct static_row {
	const char *desc;
	u8 code;
	u32 link_mbps;
	u64 mbps;	/* 0: no limit */
};

static const struct static_row static_rows[] = {
	{ "none, as most programs have it", IB_RATE_PORT_CURRENT, 1000, 0 },
	{ "the least, on a fast link", IB_RATE_2_5_GBPS, 10000, 2500 },
	{ "the least, on a link that is slower", IB_RATE_2_5_GBPS, 1000, 0 },
	{ "on a link of unknown speed", IB_RATE_10_GBPS, 0, 10000 },
	{ "the link's", IB_RATE_10_GBPS, 10000, 0 },
	{ "more than the link's", IB_RATE_40_GBPS, 10000, 0 },
	{ "a bit less than the link's", IB_RATE_40_GBPS, 50000, 40000 },
	{ "less than that of a fast link", IB_RATE_40_GBPS, 100000, 40000 },
	{ "of a fast link", IB_RATE_100_GBPS, 100000, 0 },
	{ "the greatest there is", IB_RATE_800_GBPS, 0, 850000 },
};

KUNIT_ARRAY_PARAM_DESC(static, static_rows, desc);

static void srn_rate_static_test(struct kunit *test)
{
	const struct static_row *row = test->param_value;

	KUNIT_EXPECT_TRUE(test, srn_rate_is_static(row->code));
	KUNIT_EXPECT_EQ(test, srn_rate_of_static(row->code, row->link_mbps), row->mbps * 125000);
}

static void srn_rate_unknown_test(struct kunit *test)
{
	static const u8 codes[] = { 1, IB_RATE_800_GBPS + 1, U8_MAX };
	int i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		KUNIT_EXPECT_FALSE(test, srn_rate_is_static(codes[i]));
		KUNIT_EXPECT_EQ(test, srn_rate_of_static(codes[i], 0), 0);
	}
}

static void srn_rate_kbps_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, srn_rate_of_kbps(0), 0);
	KUNIT_EXPECT_EQ(test, srn_rate_of_kbps(100000), 12500000);
	KUNIT_EXPECT_EQ(test, srn_rate_to_kbps(12500000), 100000);
	KUNIT_EXPECT_EQ(test, srn_rate_to_kbps(srn_rate_of_kbps(U32_MAX)), U32_MAX);
	KUNIT_EXPECT_EQ(test, srn_rate_to_kbps(U64_MAX), U32_MAX);
}

static struct kunit_case srn_rate_cases[] = {
	KUNIT_CASE_PARAM(srn_rate_static_test, static_gen_params),
	KUNIT_CASE(srn_rate_unknown_test),
	KUNIT_CASE(srn_rate_kbps_test),
	{}
};

static struct kunit_suite srn_rate_suite = {
	.name = "srn_rate",
	.test_cases = srn_rate_cases,
};

kunit_test_suite(srn_rate_suite);
