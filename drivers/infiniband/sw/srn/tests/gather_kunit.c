// SPDX-License-Identifier: GPL-2.0-only
/* Which doorbells are put off. */
#include "../gather.h"
#include "../limits.h"

#include <kunit/test.h>

/* Doorbells that are served at once until one is put off again. */
static u32 pause_of(struct srn_gather *g)
{
	u32 num;

	for (num = 0; num <= 2 * SRN_GATHER_PAUSE_MAX && !srn_gather_begin(g, 0, 1); num++)
		;
	return num;
}

/* From the last index on to the first: @num WQEs more in one go. */
static void gather(struct kunit *test, struct srn_gather *g, u32 num)
{
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(g, U32_MAX - 1, U32_MAX));
	srn_gather_end(g, U32_MAX + num);
	KUNIT_EXPECT_FALSE(test, g->on);
}

static void srn_gather_again_test(struct kunit *test)
{
	struct srn_gather g = {};

	gather(test, &g, SRN_GATHER_WORTH);
	gather(test, &g, 1000);
	KUNIT_EXPECT_EQ(test, pause_of(&g), 0);
}

/* Who rings while posts are gathered is not put off for as long once more. */
static void srn_gather_once_test(struct kunit *test)
{
	struct srn_gather g = {};
	int i;

	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 1));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, 0, 2));
	KUNIT_EXPECT_EQ(test, g.from, 1);
	srn_gather_end(&g, 5);
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 5, 6));
}

/* Who posts one at a time is put off seldom, and more and more so. */
static void srn_gather_pause_test(struct kunit *test)
{
	struct srn_gather g = {};
	u32 pause = SRN_GATHER_PAUSE;
	int i;

	gather(test, &g, SRN_GATHER_WORTH - 1);
	for (i = 0; i < 12; i++) {
		KUNIT_EXPECT_EQ(test, pause_of(&g), pause);
		srn_gather_end(&g, 1);
		pause = pause < SRN_GATHER_PAUSE_MAX ? 2 * pause : pause;
	}
	KUNIT_EXPECT_EQ(test, pause, SRN_GATHER_PAUSE_MAX);
	/* Once it was worth it, all is forgotten. */
	pause_of(&g);
	srn_gather_end(&g, 1 + SRN_GATHER_WORTH);
	gather(test, &g, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), SRN_GATHER_PAUSE);
}

/* Neither is there anything to gather where nothing was posted, nor where a round has enough. */
static void srn_gather_not_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, 7, 7));
	KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, U32_MAX, U32_MAX + SRN_ROUND_BUDGET));
	KUNIT_EXPECT_FALSE(test, g.on);
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, U32_MAX, U32_MAX + SRN_ROUND_BUDGET - 1));
}

/* Many posts and then silence: who waits for what they bring about would wait each time. */
static void srn_gather_late_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 1));
	srn_gather_is_late(&g);
	srn_gather_end(&g, 100);
	KUNIT_EXPECT_EQ(test, pause_of(&g), SRN_GATHER_PAUSE);
	srn_gather_end(&g, 100);
	KUNIT_EXPECT_EQ(test, pause_of(&g), 0);
}

/* One that was given to a worker took less than was rung for. */
static void srn_gather_end_early_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 3));
	srn_gather_end(&g, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), SRN_GATHER_PAUSE);
}

/* A round without posts that were put off teaches nothing. */
static void srn_gather_end_of_none_test(struct kunit *test)
{
	struct srn_gather g = {};

	srn_gather_end(&g, 1);
	KUNIT_EXPECT_EQ(test, pause_of(&g), 0);
}

static struct kunit_case srn_gather_cases[] = {
	KUNIT_CASE(srn_gather_again_test),
	KUNIT_CASE(srn_gather_once_test),
	KUNIT_CASE(srn_gather_pause_test),
	KUNIT_CASE(srn_gather_not_test),
	KUNIT_CASE(srn_gather_late_test),
	KUNIT_CASE(srn_gather_end_early_test),
	KUNIT_CASE(srn_gather_end_of_none_test),
	{}
};

static struct kunit_suite srn_gather_suite = {
	.name = "srn_gather",
	.test_cases = srn_gather_cases,
};

kunit_test_suite(srn_gather_suite);
