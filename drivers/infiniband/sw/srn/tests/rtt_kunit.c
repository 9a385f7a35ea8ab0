// SPDX-License-Identifier: GPL-2.0-only
/* How long answers take, and when it is time to ask. */
#include "../rtt.h"

#include <kunit/test.h>

static u64 probe_ns(const struct srn_rtt *rtt)
{
	return srn_rtt_probe_ns(rtt, 68 * NSEC_PER_MSEC);
}

static void srn_rtt_test(struct kunit *test)
{
	struct srn_rtt rtt = {};
	int i;

	KUNIT_EXPECT_EQ(test, probe_ns(&rtt), 17 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, srn_rtt_probe_ns(&rtt, 1), SRN_RTT_UNKNOWN_MIN_NS);
	KUNIT_EXPECT_EQ(test, srn_rtt_probe_ns(&rtt, U64_MAX), SRN_RTT_UNKNOWN_MAX_NS);
	KUNIT_EXPECT_TRUE(test, srn_rtt_wants(&rtt));
	KUNIT_EXPECT_TRUE(test, srn_rtt_wants(&rtt));
	srn_rtt_sample(&rtt, 8000000);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 8000000);
	KUNIT_EXPECT_EQ(test, rtt.var_ns, 4000000);
	KUNIT_EXPECT_EQ(test, probe_ns(&rtt), 32000000);
	for (i = 1; i < SRN_RTT_EVERY; i++)
		KUNIT_EXPECT_FALSE_MSG(test, srn_rtt_wants(&rtt), "%d", i);
	KUNIT_EXPECT_TRUE(test, srn_rtt_wants(&rtt));
	for (i = 0; i < 100; i++)
		srn_rtt_sample(&rtt, 8000000);
	KUNIT_EXPECT_EQ(test, probe_ns(&rtt), 16000000 + SRN_RTT_SLACK_NS);
	srn_rtt_sample(&rtt, 16000000);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 9000000);
	/* An answer within one tick of the clock is one. */
	rtt = (struct srn_rtt){};
	srn_rtt_sample(&rtt, 0);
	KUNIT_EXPECT_EQ(test, probe_ns(&rtt), 2 + SRN_RTT_SLACK_NS);
}

static struct kunit_case srn_rtt_cases[] = {
	KUNIT_CASE(srn_rtt_test),
	{}
};

static struct kunit_suite srn_rtt_suite = {
	.name = "srn_rtt",
	.test_cases = srn_rtt_cases,
};

kunit_test_suite(srn_rtt_suite);
