// SPDX-License-Identifier: GPL-2.0-only
/* How many completions make an event, and when: no more wait, and none longer, than was asked for. */
#include "../limits.h"
#include "../moderation.h"

#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#define US	((u64)NSEC_PER_USEC)
#define ANY	U32_MAX		/* the ring is large */

struct set_row {
	const char *desc;
	u16 count, period_us;
	int err;
	bool on;
};

static const struct set_row set_rows[] = {
	{ "nothing", 0, 0, 0, false },
	{ "each completion", 1, 100, 0, false },
	{ "none", 0, 100, 0, false },
	{ "no time", 16, 0, 0, false },
	{ "two", 2, 1, 0, true },
	{ "most", SRN_MAX_MODERATE_COUNT, SRN_MAX_MODERATE_US, 0, true },
	{ "too long", 2, SRN_MAX_MODERATE_US + 1, -EINVAL, false },
	{ "too long, and off", 0, U16_MAX, -EINVAL, false },
};

KUNIT_ARRAY_PARAM_DESC(set, set_rows, desc);

static void srn_moderation_set_test(struct kunit *test)
{
	const struct set_row *row = test->param_value;
	struct srn_moderation m = {};

	KUNIT_EXPECT_FALSE(test, srn_moderation_is_on(&m));
	KUNIT_EXPECT_EQ(test, srn_moderation_set(&m, row->count, row->period_us), row->err);
	KUNIT_EXPECT_EQ(test, srn_moderation_is_on(&m), row->on);
	/* What is refused changes nothing. */
	KUNIT_EXPECT_EQ(test, srn_moderation_set(&m, 3, 7), 0);
	KUNIT_EXPECT_EQ(test, srn_moderation_set(&m, 9, SRN_MAX_MODERATE_US + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, m.count, 3);
	KUNIT_EXPECT_EQ(test, m.period_ns, 7 * US);
}

struct add_row {
	const char *desc;
	u16 count;
	u32 most;
	u32 num[4];		/* that come, one after the other; 0: no more */
	u16 at_us[4];		/* when, beginning with any time; the period has 100 */
	unsigned int told;	/* by which of them, a bit each */
	u32 waits;		/* in the end */
};

static const struct add_row add_rows[] = {
	{ "the last of them tells", 3, ANY, { 1, 1, 1 }, { 0, 1, 2 }, 0b100, 0 },
	{ "then it begins anew", 2, ANY, { 1, 1, 1, 1 }, { 0, 1, 2, 3 }, 0b1010, 0 },
	{ "several at once", 4, ANY, { 3, 3, 3 }, { 0, 0, 0 }, 0b010, 3 },
	{ "more at once than that", 4, ANY, { 8, 1 }, { 0, 0 }, 0b01, 1 },
	{ "before the time is over", 9, ANY, { 1, 1 }, { 0, 99 }, 0, 2 },
	{ "when it is over", 9, ANY, { 1, 1 }, { 0, 100 }, 0b10, 0 },
	{ "the first one's time counts", 9, ANY, { 1, 1, 1, 1 }, { 0, 60, 99, 120 }, 0b1000, 0 },
	{ "a new first one's", 9, ANY, { 1, 1, 1, 1 }, { 0, 100, 110, 205 }, 0b0010, 2 },
	{ "half of the ring", 9, 4, { 1, 1, 1, 1 }, { 0, 0, 0, 0 }, 0b1000, 0 },
	{ "a ring of two", 9, 1, { 1, 1 }, { 0, 0 }, 0b11, 0 },
	{ "a ring of one", 9, 0, { 1, 1 }, { 0, 0 }, 0b11, 0 },
	{ "as many as can be said", U16_MAX, ANY, { U16_MAX - 1, 1 }, { 0, 0 }, 0b10, 0 },
};

KUNIT_ARRAY_PARAM_DESC(add, add_rows, desc);

static const u64 begins[] = { 0, 1, U32_MAX - 50 * US, 1ULL << 62 };

static void srn_moderation_add_test(struct kunit *test)
{
	const struct add_row *row = test->param_value;
	unsigned int i, begin;

	for (begin = 0; begin < ARRAY_SIZE(begins); begin++) {
		struct srn_moderation m = {};
		unsigned int told = 0;

		KUNIT_ASSERT_EQ(test, srn_moderation_set(&m, row->count, 100), 0);
		for (i = 0; i < ARRAY_SIZE(row->num) && row->num[i]; i++) {
			u64 now = begins[begin] + row->at_us[i] * US;

			if (srn_moderation_add(&m, row->num[i], row->most, now))
				told |= BIT(i);
		}
		KUNIT_EXPECT_EQ(test, told, row->told);
		KUNIT_EXPECT_EQ(test, m.untold, row->waits);
		KUNIT_EXPECT_EQ(test, srn_moderation_waits(&m), row->waits != 0);
	}
}

/* Nothing is due of which nothing waits; what is taken does not wait any more. */
static void srn_moderation_due_test(struct kunit *test)
{
	struct srn_moderation m = {};
	const u64 now = 5 * US;

	KUNIT_ASSERT_EQ(test, srn_moderation_set(&m, 2, 100), 0);
	KUNIT_EXPECT_FALSE(test, srn_moderation_is_due(&m, now));
	KUNIT_EXPECT_FALSE(test, srn_moderation_take(&m));
	KUNIT_EXPECT_FALSE(test, srn_moderation_add(&m, 1, ANY, now));
	KUNIT_EXPECT_EQ(test, m.due_ns, now + 100 * US);
	KUNIT_EXPECT_FALSE(test, srn_moderation_is_due(&m, m.due_ns - 1));
	KUNIT_EXPECT_TRUE(test, srn_moderation_is_due(&m, m.due_ns));
	/* Whoever changes what is wanted tells of what waits, or it waits as it did. */
	KUNIT_EXPECT_EQ(test, srn_moderation_set(&m, 0, 0), 0);
	KUNIT_EXPECT_TRUE(test, srn_moderation_is_due(&m, now + 100 * US));
	KUNIT_EXPECT_TRUE(test, srn_moderation_take(&m));
	KUNIT_EXPECT_FALSE(test, srn_moderation_waits(&m));
	KUNIT_EXPECT_FALSE(test, srn_moderation_is_due(&m, m.due_ns));
	KUNIT_EXPECT_FALSE(test, srn_moderation_take(&m));
}

static struct kunit_case srn_moderation_cases[] = {
	KUNIT_CASE_PARAM(srn_moderation_set_test, set_gen_params),
	KUNIT_CASE_PARAM(srn_moderation_add_test, add_gen_params),
	KUNIT_CASE(srn_moderation_due_test),
	{}
};

static struct kunit_suite srn_moderation_suite = {
	.name = "srn_moderation",
	.test_cases = srn_moderation_cases,
};

kunit_test_suite(srn_moderation_suite);
