// SPDX-License-Identifier: GPL-2.0-only
/* Which packets are lost, rule by rule. */
#include "../limits.h"
#include "fake_score.h"

#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/limits.h>

/* All holes are known at once, and each goes once. */
static void srn_score_holes_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	KUNIT_EXPECT_EQ(test, add(s, 2, 3, &at_once, 1), 3);
	KUNIT_EXPECT_EQ(test, add(s, 4, 2, &at_once, 1), 1);
	KUNIT_EXPECT_EQ(test, add(s, 20, 10, &at_once, 1), 10);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 20);
	expect_lost(test, s, &at_once, 1, 0, 2);
	expect_lost(test, s, &at_once, 1, 6, 14);
	expect_lost(test, s, &at_once, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 36);
	KUNIT_EXPECT_FALSE(test, srn_score_acked(s, psn(6)));
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 34);
	KUNIT_EXPECT_FALSE(test, srn_score_acked(s, psn(30)));
	KUNIT_EXPECT_TRUE(test, srn_score_is_over(s));
	KUNIT_EXPECT_EQ(test, s->out, 0);
}

/* On a path that reorders a hole has time to close, and then it is no loss. */
static void srn_score_reorder_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	add(s, 2, 1, &patient, 1000);
	expect_lost(test, s, &patient, 1099, 0, 0);
	KUNIT_EXPECT_EQ(test, srn_score_due(s, &patient, 1060), 40);
	add(s, 4, 1, &patient, 1090);
	expect_lost(test, s, &patient, 1100, 0, 2);
	expect_lost(test, s, &patient, 1189, 3, 0);
	KUNIT_EXPECT_TRUE(test, srn_score_acked(s, psn(5)));
}

/* However many holes there are, none is forgotten. */
static void srn_score_many_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u32 lost, len, num = 0;

	add_alternate(s, &at_once, 0);
	KUNIT_EXPECT_EQ(test, s->has.num, 500);
	while ((len = srn_score_pick(s, &at_once, 0, &lost))) {
		srn_score_sent(s, lost, len, psn(2000), 0);
		KUNIT_ASSERT_EQ(test, lost, psn(2 * num));
		num++;
	}
	KUNIT_EXPECT_EQ(test, num, SRN_SCORE_NEW);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(1000)), SRN_SCORE_NEW);
	srn_score_acked(s, psn(50));
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 0, &lost), 1);
	KUNIT_EXPECT_EQ(test, lost, psn(2 * SRN_SCORE_NEW));
}

/* Whose board it is may want fewer to be out; what is lost again goes in any case. */
static void srn_score_most_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	s->most = 2;
	add_alternate(s, &at_once, 0);
	expect_lost(test, s, &at_once, 0, 0, 1);
	expect_lost(test, s, &at_once, 0, 2, 1);
	expect_lost(test, s, &at_once, 0, 0, 0);
	expect_lost(test, s, &at_once, 1000, 0, 1);
	srn_score_acked(s, psn(2));
	expect_lost(test, s, &at_once, 1000, 2, 1);
	srn_score_acked(s, psn(4));
	expect_lost(test, s, &at_once, 1000, 4, 1);
}

/* All that is in flight went again, as so many runs as are remembered. */
static void try_all(struct srn_score *s)
{
	const u32 len = SRN_HOLD_WIDE / SRN_SCORE_TRIES;
	u32 i;

	for (i = 0; i < SRN_SCORE_TRIES; i++)
		srn_score_sent(s, psn(i * len), len, psn(SRN_HOLD_WIDE), i);
}

/* What a peer can say in one packet costs no more than a packet does, whatever went again: without a checker some
 * microseconds, and milliseconds by bits. The fastest of some, since a CPU may be elsewhere.
 */
static void srn_score_time_test(struct kunit *test)
{
	unsigned long *map = kunit_kzalloc(test, SRN_PSNS / 8, GFP_KERNEL);
	struct srn_score *s = new_score(test);
	u64 start, least = U64_MAX;
	u32 i, turn;

	KUNIT_ASSERT_NOT_NULL(test, map);
	for (i = 0; i < SRN_HOLD_WIDE; i += 2)
		__set_bit(i, map);
	for (turn = 0; turn < 10; turn++) {
		srn_score_start(s, FIRST);
		try_all(s);
		KUNIT_ASSERT_EQ(test, s->num_tries, SRN_SCORE_TRIES);
		start = ktime_get_ns();
		srn_score_heard(s, FIRST, map, SRN_HOLD_WIDE, &at_once, 0);
		least = min(least, ktime_get_ns() - start);
	}
	KUNIT_EXPECT_EQ(test, s->has.num, SRN_HOLD_WIDE / 2);
	KUNIT_EXPECT_EQ(test, s->num_tries, SRN_SCORE_TRIES);
	KUNIT_EXPECT_EQ(test, s->out, SRN_HOLD_WIDE / 2);
	KUNIT_EXPECT_LT(test, least, 500ull * NSEC_PER_USEC);
}

/* One by one; and that something is beyond says as much as that it is here. */
static void srn_score_came_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	srn_score_came(s, psn(2), &at_once, 1);
	expect_lost(test, s, &at_once, 1, 0, 2);
	srn_score_came(s, psn(2), &at_once, 1);
	expect_lost(test, s, &at_once, 1, 0, 0);
	srn_score_reached(s, psn(6), &at_once, 1);
	expect_lost(test, s, &at_once, 1, 3, 3);
	srn_score_reached(s, psn(4), &at_once, 1);
	KUNIT_EXPECT_EQ(test, s->high, psn(6));
	srn_score_acked(s, psn(3));
	KUNIT_EXPECT_FALSE(test, srn_score_is_over(s));
	srn_score_acked(s, psn(6));
	KUNIT_EXPECT_TRUE(test, srn_score_is_over(s));
}

/* What was asked for later is here: what was asked for before is lost again, if the path keeps the
 * order.
 */
static void srn_score_overtaken_test(struct kunit *test)
{
	/* Of the last try a round trip is not over: it may be the answer to one before. */
	static const struct srn_score_wait soon = { .again = 1000, .soon = 100 };
	const struct srn_score_wait *waits[] = { &at_once, &patient, &soon };
	struct srn_score *s = new_score(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		srn_score_start(s, FIRST);
		srn_score_came(s, psn(1), waits[i], 1);
		srn_score_came(s, psn(3), waits[i], 1);
		srn_score_came(s, psn(5), waits[i], 1);
		expect_lost(test, s, waits[i], 200, 0, 1);
		expect_lost(test, s, waits[i], 200, 2, 1);
		expect_lost(test, s, waits[i], 201, 4, 1);
		KUNIT_EXPECT_EQ(test, s->out, 3);
		srn_score_came(s, psn(4), waits[i], 300);
		KUNIT_EXPECT_EQ(test, s->out, i ? 2 : 0);
		expect_lost(test, s, waits[i], 300, 0, i ? 0 : 1);
		expect_lost(test, s, waits[i], 300, 2, i ? 0 : 1);
		expect_lost(test, s, waits[i], 300, 0, 0);
	}
}

/* What has no answer of its own is not asked for, and is in nobody's way. */
static void srn_score_skip_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u32 lost;

	srn_score_came(s, psn(4), &at_once, 1);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 1, &lost), 4);
	srn_score_skip(s, lost, 2);
	expect_lost(test, s, &at_once, 1, 2, 2);
	expect_lost(test, s, &at_once, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, s->out, 2);
	srn_score_acked(s, psn(5));
	KUNIT_EXPECT_TRUE(test, srn_score_is_over(s));
}

static struct kunit_case srn_score_cases[] = {
	KUNIT_CASE(srn_score_holes_test),
	KUNIT_CASE(srn_score_reorder_test),
	KUNIT_CASE(srn_score_many_test),
	KUNIT_CASE(srn_score_most_test),
	KUNIT_CASE(srn_score_time_test),
	KUNIT_CASE(srn_score_came_test),
	KUNIT_CASE(srn_score_overtaken_test),
	KUNIT_CASE(srn_score_skip_test),
	{}
};

static struct kunit_suite srn_score_suite = {
	.name = "srn_score",
	.test_cases = srn_score_cases,
};

kunit_test_suite(srn_score_suite);
