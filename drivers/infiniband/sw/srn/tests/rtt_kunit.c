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
	KUNIT_EXPECT_EQ(test, probe_ns(&rtt), 24000000 + SRN_RTT_PROBE_SLACK_NS);
	for (i = 1; i < SRN_RTT_EVERY; i++)
		KUNIT_EXPECT_FALSE_MSG(test, srn_rtt_wants(&rtt), "%d", i);
	KUNIT_EXPECT_TRUE(test, srn_rtt_wants(&rtt));
	for (i = 0; i < 100; i++)
		srn_rtt_sample(&rtt, 8000000);
	KUNIT_EXPECT_EQ(test, probe_ns(&rtt), 16000000 + SRN_RTT_PROBE_SLACK_NS);
	srn_rtt_sample(&rtt, 16000000);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 9000000);
	/* An answer within one tick of the clock is one. */
	rtt = (struct srn_rtt){};
	srn_rtt_sample(&rtt, 0);
	KUNIT_EXPECT_EQ(test, probe_ns(&rtt), 1 + SRN_RTT_SLACK_NS);
}

#define TIMEOUT	(68 * (u64)NSEC_PER_MSEC)

/* What was lost went in its time; if it had come it was not waited for long enough, until a sample tells how long. */
static void srn_rtt_longer_test(struct kunit *test)
{
	struct srn_rtt rtt = {};

	srn_rtt_sample(&rtt, 8000000);
	srn_rtt_longer(&rtt, 80000000, TIMEOUT);
	srn_rtt_longer(&rtt, 80000000, TIMEOUT);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 8000000);
	srn_rtt_vain(&rtt);
	srn_rtt_longer(&rtt, 80000000, TIMEOUT);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 80000000);
	srn_rtt_longer(&rtt, 5 * TIMEOUT, TIMEOUT);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 4 * TIMEOUT);
	srn_rtt_sample(&rtt, 8000000);
	srn_rtt_longer(&rtt, 80000000, TIMEOUT);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 8000000);
}

/* What nobody knows to be a sample makes waits longer, never shorter, and until there is one. */
static void srn_rtt_bound_test(struct kunit *test)
{
	struct srn_rtt rtt = {};

	srn_rtt_bound(&rtt, 0, TIMEOUT);
	KUNIT_EXPECT_EQ(test, rtt.bound_ns, 1);
	srn_rtt_bound(&rtt, 100000000, TIMEOUT);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 100000000);
	KUNIT_EXPECT_EQ(test, srn_rtt_again_ns(&rtt), 125000000);
	KUNIT_EXPECT_TRUE(test, srn_rtt_wants(&rtt));
	KUNIT_EXPECT_TRUE(test, srn_rtt_wants(&rtt));
	srn_rtt_sample(&rtt, 8000000);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 8000000);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 8000000);
	rtt.doubt = true;
	srn_rtt_bound(&rtt, 80000000, TIMEOUT);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 80000000);
	/* Though few are timed, the next is. */
	rtt.doubt = false;
	rtt.wait = 7;
	KUNIT_EXPECT_TRUE(test, srn_rtt_wants(&rtt));
	rtt.doubt = true;
	srn_rtt_bound(&rtt, 1000000, TIMEOUT);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 8000000);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 8000000);
	KUNIT_EXPECT_EQ(test, rtt.var_ns, 4000000);
}

/* Where the path is known one answer may be late since nothing came through for a while; two in a row are of a
 * path that is longer. The next one is timed, to know that.
 */
static void srn_rtt_doubt_test(struct kunit *test)
{
	struct srn_rtt rtt = {};
	int i;

	srn_rtt_sample(&rtt, 8000000);
	for (i = 0; i < 2; i++) {
		srn_rtt_bound(&rtt, 80000000, TIMEOUT);
		KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 8000000);
		rtt.wait = 7;
		KUNIT_EXPECT_TRUE(test, srn_rtt_wants(&rtt));
		srn_rtt_sample(&rtt, 8000000);
	}
	srn_rtt_bound(&rtt, 80000000, TIMEOUT);
	srn_rtt_bound(&rtt, 90000000, TIMEOUT);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&rtt), 90000000);
}

/* However long nothing came through, no path is as long. */
static void srn_rtt_bound_most_test(struct kunit *test)
{
	static const struct { u64 took, timeout, bound; } rows[] = {
		{ 4 * TIMEOUT, TIMEOUT, 4 * TIMEOUT },
		{ 60 * (u64)NSEC_PER_SEC, TIMEOUT, 4 * TIMEOUT },
		{ 60 * (u64)NSEC_PER_SEC, 64 * TIMEOUT, NSEC_PER_SEC },
		{ 60 * (u64)NSEC_PER_SEC, 0, NSEC_PER_SEC },
	};
	struct srn_rtt rtt;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rtt = (struct srn_rtt){};
		srn_rtt_bound(&rtt, rows[i].took, rows[i].timeout);
		KUNIT_EXPECT_EQ_MSG(test, rtt.bound_ns, rows[i].bound, "%d", i);
	}
}

/* As long as was asked for, or as two answers take, but not four times as long. */
static void srn_rtt_timeout_test(struct kunit *test)
{
	static const struct { u64 srtt, var, timeout; } rows[] = {
		{ 0, 0, TIMEOUT },
		{ 1000000, 500000, TIMEOUT },
		{ 20000000, 3500000, TIMEOUT },		/* again after 34 ms */
		{ 20000000, 4000000, 72000000 },
		{ 100000000, 0, 250000000 },
		{ 102000000, 0, TIMEOUT / 4 * 15 },
		{ 5000000000, 5000000000, TIMEOUT / 4 * 15 },
	};
	struct srn_rtt rtt;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rtt = (struct srn_rtt){ .srtt_ns = rows[i].srtt, .var_ns = rows[i].var };
		KUNIT_EXPECT_EQ_MSG(test, srn_rtt_timeout_ns(&rtt, TIMEOUT), rows[i].timeout, "%d", i);
	}
}

/* So early that its answer is in time, if there is time for that; not before one can be due. */
static void srn_rtt_probe_in_time_test(struct kunit *test)
{
	static const struct { u64 srtt, timeout, probe; } rows[] = {
		{ 20000000, 65750000, 40750000 },
		{ 20000000, 65749999, 25000000 },
		{ 100000000, 250000000, 125000000 },
		{ 500000000, 250000000, 625000000 },
		{ 1000000, 250000000, 2750000 },
		{ 1000000, U64_MAX, 2750000 },
		/* To wait for what makes it sure costs more. */
		{ 1000000, 1000000, 2000000 },
	};
	struct srn_rtt rtt;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rtt = (struct srn_rtt){ .srtt_ns = rows[i].srtt };
		KUNIT_EXPECT_EQ_MSG(test, srn_rtt_probe_ns(&rtt, rows[i].timeout), rows[i].probe, "%d", i);
	}
}

static struct kunit_case srn_rtt_cases[] = {
	KUNIT_CASE(srn_rtt_test),
	KUNIT_CASE(srn_rtt_longer_test),
	KUNIT_CASE(srn_rtt_bound_test),
	KUNIT_CASE(srn_rtt_doubt_test),
	KUNIT_CASE(srn_rtt_bound_most_test),
	KUNIT_CASE(srn_rtt_timeout_test),
	KUNIT_CASE(srn_rtt_probe_in_time_test),
	{}
};

static struct kunit_suite srn_rtt_suite = {
	.name = "srn_rtt",
	.test_cases = srn_rtt_cases,
};

kunit_test_suite(srn_rtt_suite);
