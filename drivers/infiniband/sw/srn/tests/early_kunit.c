// SPDX-License-Identifier: GPL-2.0-only
/* Which answers were taken early, over the end of the PSN space. */
#include "../early.h"

#include <kunit/test.h>

#define FIRST	0xfffff0u

static u32 psn(int n)
{
	return srn_psn_add(FIRST, n);
}

static void srn_early_test(struct kunit *test)
{
	struct srn_early *early = kunit_kzalloc(test, sizeof(*early), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, early);
	KUNIT_EXPECT_FALSE(test, srn_early_fits(psn(0), psn(0)));
	KUNIT_EXPECT_FALSE(test, srn_early_fits(psn(0), psn(1)));
	KUNIT_EXPECT_TRUE(test, srn_early_fits(psn(SRN_EARLY - 1), psn(0)));
	KUNIT_EXPECT_FALSE(test, srn_early_fits(psn(SRN_EARLY), psn(0)));
	KUNIT_EXPECT_FALSE(test, srn_early_take(early, psn(20)));
	KUNIT_ASSERT_TRUE(test, srn_early_make_room(early));
	KUNIT_EXPECT_TRUE(test, srn_early_add(early, psn(20)));
	KUNIT_EXPECT_FALSE(test, srn_early_add(early, psn(20)));
	KUNIT_EXPECT_FALSE(test, srn_early_take(early, psn(19)));
	KUNIT_EXPECT_TRUE(test, srn_early_take(early, psn(20)));
	KUNIT_EXPECT_FALSE(test, srn_early_take(early, psn(20)));
	srn_early_add(early, psn(21));
	/* The room stays as it is: what was taken is known. */
	KUNIT_ASSERT_TRUE(test, srn_early_make_room(early));
	KUNIT_EXPECT_TRUE(test, srn_early_has(early, psn(21)));
	srn_early_reset(early);
	KUNIT_EXPECT_FALSE(test, srn_early_take(early, psn(21)));
	srn_early_free(early);
}

static struct kunit_case srn_early_cases[] = {
	KUNIT_CASE(srn_early_test),
	{}
};

static struct kunit_suite srn_early_suite = {
	.name = "srn_early",
	.test_cases = srn_early_cases,
};

kunit_test_suite(srn_early_suite);
