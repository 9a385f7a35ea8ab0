// SPDX-License-Identifier: GPL-2.0-only
#include "../psn.h"

#include <kunit/test.h>
#include <linux/limits.h>

struct add_row {
	const char *desc;
	u32 psn;
	s32 n;
	u32 want;
};

static const struct add_row add_rows[] = {
	{ "last PSN is followed by 0", 0xffffff, 1, 0 },
	{ "0 is preceded by the last PSN", 0, -1, 0xffffff },
	{ "a step of two over the end", 0xfffffe, 3, 1 },
	{ "a step of two back over the end", 1, -3, 0xfffffe },
	{ "half the space forward", 0xc00000, 0x800000, 0x400000 },
	{ "half the space back", 0x400000, -0x800000, 0xc00000 },
	{ "once around", 0x123456, 0x1000000, 0x123456 },
	{ "once around back", 0x123456, -0x1000000, 0x123456 },
	{ "largest step", 0x000001, S32_MAX, 0x000000 },
	{ "largest step back", 0x000001, S32_MIN, 0x000001 },
	{ "no step", 0xabcdef, 0, 0xabcdef },
	{ "in the middle", 0x000100, 0x10, 0x000110 },
};

KUNIT_ARRAY_PARAM_DESC(add, add_rows, desc);

static void srn_psn_add_test(struct kunit *test)
{
	const struct add_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, srn_psn_add(row->psn, row->n), row->want);
}

struct diff_row {
	const char *desc;
	u32 a;
	u32 b;
	s32 want;
};

static const struct diff_row diff_rows[] = {
	{ "0 is newer than the last PSN", 0, 0xffffff, 1 },
	{ "the last PSN is older than 0", 0xffffff, 0, -1 },
	{ "a window over the end", 0x00007f, 0xffff80, 0xff },
	{ "a window over the end, seen from its end", 0xffff80, 0x00007f, -0xff },
	{ "furthest ahead", 0x7fffff, 0, 0x7fffff },
	{ "furthest ahead over the end", 0x7ffffe, 0xffffff, 0x7fffff },
	{ "half the space away counts as older", 0x800000, 0, -0x800000 },
	{ "and so it does from the other side", 0, 0x800000, -0x800000 },
	{ "furthest behind but one", 0x800001, 0, -0x7fffff },
	{ "equal", 0x555555, 0x555555, 0 },
	{ "equal at the end", 0xffffff, 0xffffff, 0 },
};

KUNIT_ARRAY_PARAM_DESC(diff, diff_rows, desc);

static void srn_psn_diff_test(struct kunit *test)
{
	const struct diff_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, srn_psn_diff(row->a, row->b), row->want);
}

/* The model counts on its fingers. */
static u32 slow_next(u32 psn)
{
	return psn == 0xffffff ? 0 : psn + 1;
}

/* Walks a thousand steps from places around every power of two and the end. */
static void srn_psn_walk_test(struct kunit *test)
{
	unsigned int bit;

	for (bit = 0; bit <= 24; bit++) {
		u32 start = (BIT(bit) - 500) & 0xffffff;
		u32 psn = start;
		s32 step;

		for (step = 0; step < 1000; step++) {
			KUNIT_ASSERT_EQ(test, srn_psn_add(start, step), psn);
			KUNIT_ASSERT_EQ(test, srn_psn_add(psn, -step), start);
			KUNIT_ASSERT_EQ(test, srn_psn_diff(psn, start), step);
			KUNIT_ASSERT_EQ(test, srn_psn_diff(start, psn), -step);
			psn = slow_next(psn);
		}
	}
}

static struct kunit_case srn_psn_cases[] = {
	KUNIT_CASE_PARAM(srn_psn_add_test, add_gen_params),
	KUNIT_CASE_PARAM(srn_psn_diff_test, diff_gen_params),
	KUNIT_CASE(srn_psn_walk_test),
	{}
};

static struct kunit_suite srn_psn_suite = {
	.name = "srn_psn",
	.test_cases = srn_psn_cases,
};

kunit_test_suite(srn_psn_suite);
