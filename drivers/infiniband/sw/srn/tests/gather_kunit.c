// SPDX-License-Identifier: GPL-2.0-only
/* Which doorbells are put off. */
#include "../gather.h"
#include "../limits.h"

#include <kunit/test.h>
#include <linux/jiffies.h>

/* Doorbells that are served at once until one is put off again. */
static u32 pause_of(struct srn_gather *g)
{
	u32 num;

	for (num = 0; num <= 2 * SRN_GATHER_PAUSE_MAX && srn_gather_pauses(g); num++)
		;
	srn_gather_begin(g, 0, 1, 1);
	return num;
}

/* From the last index on to the first: @num WQEs more in one go. */
static void gather(struct kunit *test, struct srn_gather *g, u32 num)
{
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(g, U32_MAX - 1, U32_MAX, 1));
	srn_gather_end(g, U32_MAX + num, 0);
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

	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 1, 1));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, 0, 2, 1));
	KUNIT_EXPECT_EQ(test, g.from, 1);
	srn_gather_end(&g, 5, 0);
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 5, 6, 1));
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
		srn_gather_end(&g, 1, 0);
		pause = pause < SRN_GATHER_PAUSE_MAX ? 2 * pause : pause;
	}
	KUNIT_EXPECT_EQ(test, pause, SRN_GATHER_PAUSE_MAX);
	/* Once it was worth it, all is forgotten. */
	pause_of(&g);
	srn_gather_end(&g, 1 + SRN_GATHER_WORTH, 0);
	gather(test, &g, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), SRN_GATHER_PAUSE);
}

/* Neither is there anything to gather where nothing was posted, nor where a round has enough. */
static void srn_gather_not_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, 7, 7, 0));
	KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, U32_MAX, U32_MAX + SRN_ROUND_BUDGET, 0));
	KUNIT_EXPECT_FALSE(test, g.on);
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, U32_MAX, U32_MAX + SRN_ROUND_BUDGET - 1, 1));
}

/* Nor where what was posted takes so long to send that a doorbell is nothing beside it. */
static void srn_gather_long_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, 0, 1, SRN_GATHER_PSNS));
	KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, 0, 1, U32_MAX));
	KUNIT_EXPECT_FALSE(test, srn_gather_begin(&g, 0, 8, SRN_GATHER_PSNS / 8));
	KUNIT_EXPECT_FALSE(test, g.on);
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 7, SRN_GATHER_PSNS / 8));
	srn_gather_end(&g, 7 + SRN_GATHER_WORTH, 0);
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 1, SRN_GATHER_PSNS - 1));
	srn_gather_end(&g, 0, 0);
	g.pause = 0;
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, SRN_ROUND_BUDGET - 1, 1));
}

/* Doorbells at @now until one is of a stream. */
static u32 row_of(struct srn_gather *g, u16 now)
{
	u32 num;

	for (num = 0; num <= SRN_GATHER_ROW && !srn_gather_rang(g, now); num++)
		;
	return num;
}

/* Who posts on though nothing is told waits for nothing. */
static void srn_gather_row_test(struct kunit *test)
{
	struct srn_gather g = { .rang = U16_MAX };

	KUNIT_EXPECT_EQ(test, row_of(&g, U16_MAX), SRN_GATHER_ROW);
	KUNIT_EXPECT_TRUE(test, srn_gather_rang(&g, U16_MAX + SRN_GATHER_OLD));
	/* The first one after a while may be the only one. */
	KUNIT_EXPECT_FALSE(test, srn_gather_rang(&g, U16_MAX + 2 * SRN_GATHER_OLD + 1));
	KUNIT_EXPECT_EQ(test, row_of(&g, U16_MAX + 2 * SRN_GATHER_OLD + 1), SRN_GATHER_ROW - 1);
}

/* But who was told of something may have waited for that. */
static void srn_gather_told_test(struct kunit *test)
{
	struct srn_gather g = {};
	int i;

	for (i = 1; i < 1000; i++) {
		KUNIT_EXPECT_FALSE(test, srn_gather_rang(&g, 0));
		if (i % SRN_GATHER_ROW == 0)
			srn_gather_told(&g);
	}
}

/* Nor does who posts seldom show by that that he streams. */
static void srn_gather_seldom_test(struct kunit *test)
{
	struct srn_gather g = {};
	int i;

	for (i = 1; i < 100; i++)
		KUNIT_EXPECT_FALSE(test, srn_gather_rang(&g, i * (SRN_GATHER_OLD + 1)));
}

/* To send what was gathered may take long. */
static void srn_gather_takes_long_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 1, 1));
	srn_gather_end(&g, 1 + SRN_GATHER_WORTH, 1000);
	KUNIT_EXPECT_TRUE(test, srn_gather_rang(&g, 1000 + SRN_GATHER_OLD));
}

/* Where it paid the next post is left too, whatever was told; but not a lone one later. */
static void srn_gather_pays_test(struct kunit *test)
{
	struct srn_gather g = {};

	gather(test, &g, SRN_GATHER_WORTH);
	srn_gather_told(&g);
	KUNIT_EXPECT_TRUE(test, srn_gather_rang(&g, SRN_GATHER_OLD));
	KUNIT_EXPECT_FALSE(test, srn_gather_rang(&g, 1 + 2 * SRN_GATHER_OLD));
	KUNIT_EXPECT_FALSE(test, srn_gather_rang(&g, 1 + 2 * SRN_GATHER_OLD));
	gather(test, &g, SRN_GATHER_WORTH);
	gather(test, &g, SRN_GATHER_WORTH - 1);
	KUNIT_EXPECT_FALSE(test, srn_gather_rang(&g, SRN_GATHER_OLD));
}

/* Many posts and then silence: who waits for what they bring about would wait each time. */
static void srn_gather_late_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 1, 1));
	KUNIT_EXPECT_TRUE(test, srn_gather_look(&g, 100));
	KUNIT_EXPECT_FALSE(test, srn_gather_look(&g, 100 + SRN_GATHER_WORTH - 1));
	srn_gather_end(&g, 100 + SRN_GATHER_WORTH - 1, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), SRN_GATHER_PAUSE);
	KUNIT_EXPECT_FALSE(test, srn_gather_look(&g, SRN_GATHER_WORTH));
	srn_gather_end(&g, 100, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), 2 * SRN_GATHER_PAUSE);
	srn_gather_end(&g, 100, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), 0);
}

/* Who still posts then may go on once, and it was worth it, whoever ends it. */
static void srn_gather_slow_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 1, 1));
	KUNIT_EXPECT_TRUE(test, srn_gather_look(&g, 1 + SRN_GATHER_WORTH));
	KUNIT_EXPECT_FALSE(test, srn_gather_look(&g, 1 + 2 * SRN_GATHER_WORTH));
	srn_gather_end(&g, 1 + 2 * SRN_GATHER_WORTH, 0);
	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 1, 1));
	KUNIT_EXPECT_TRUE(test, srn_gather_look(&g, 1 + SRN_GATHER_WORTH));
	srn_gather_end(&g, 1 + SRN_GATHER_WORTH, 0);
	KUNIT_EXPECT_TRUE(test, g.pays);
	KUNIT_EXPECT_EQ(test, pause_of(&g), 0);
	/* Of what came the time before nothing counts. */
	srn_gather_end(&g, 2, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), SRN_GATHER_PAUSE);
}

/* One that was given to a worker took less than was rung for. */
static void srn_gather_end_early_test(struct kunit *test)
{
	struct srn_gather g = {};

	KUNIT_EXPECT_TRUE(test, srn_gather_begin(&g, 0, 3, 1));
	srn_gather_end(&g, 0, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), SRN_GATHER_PAUSE);
}

/* A round without posts that were put off teaches nothing. */
static void srn_gather_end_of_none_test(struct kunit *test)
{
	struct srn_gather g = {};

	srn_gather_end(&g, 1, 0);
	KUNIT_EXPECT_EQ(test, pause_of(&g), 0);
}

static struct kunit_case srn_gather_cases[] = {
	KUNIT_CASE(srn_gather_again_test),
	KUNIT_CASE(srn_gather_once_test),
	KUNIT_CASE(srn_gather_pause_test),
	KUNIT_CASE(srn_gather_not_test),
	KUNIT_CASE(srn_gather_long_test),
	KUNIT_CASE(srn_gather_row_test),
	KUNIT_CASE(srn_gather_told_test),
	KUNIT_CASE(srn_gather_seldom_test),
	KUNIT_CASE(srn_gather_takes_long_test),
	KUNIT_CASE(srn_gather_pays_test),
	KUNIT_CASE(srn_gather_late_test),
	KUNIT_CASE(srn_gather_slow_test),
	KUNIT_CASE(srn_gather_end_early_test),
	KUNIT_CASE(srn_gather_end_of_none_test),
	{}
};

static struct kunit_suite srn_gather_suite = {
	.name = "srn_gather",
	.test_cases = srn_gather_cases,
};

kunit_test_suite(srn_gather_suite);
