// SPDX-License-Identifier: GPL-2.0-only
#include "../rnr.h"

#include <kunit/test.h>
#include <linux/time64.h>

/* IBTA vol. 1, table 45, as it stands there: milliseconds and hundredths. */
static const struct {
	u16 ms, hundredths;
} table[32] = {
	{ 655, 36 }, { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 }, { 0, 6 }, { 0, 8 }, { 0, 12 },
	{ 0, 16 }, { 0, 24 }, { 0, 32 }, { 0, 48 }, { 0, 64 }, { 0, 96 }, { 1, 28 }, { 1, 92 },
	{ 2, 56 }, { 3, 84 }, { 5, 12 }, { 7, 68 }, { 10, 24 }, { 15, 36 }, { 20, 48 }, { 30, 72 },
	{ 40, 96 }, { 61, 44 }, { 81, 92 }, { 122, 88 }, { 163, 84 }, { 245, 76 }, { 327, 68 },
	{ 491, 52 },
};

static void srn_rnr_table_test(struct kunit *test)
{
	int code;

	for (code = 0; code < 32; code++) {
		u64 ns = table[code].ms * (u64)NSEC_PER_MSEC +
			 table[code].hundredths * 10 * (u64)NSEC_PER_USEC;

		KUNIT_EXPECT_EQ_MSG(test, srn_rnr_ns(code), ns, "code %d", code);
	}
}

static struct kunit_case srn_rnr_cases[] = {
	KUNIT_CASE(srn_rnr_table_test),
	{}
};

static struct kunit_suite srn_rnr_suite = {
	.name = "srn_rnr",
	.test_cases = srn_rnr_cases,
};

kunit_test_suite(srn_rnr_suite);
