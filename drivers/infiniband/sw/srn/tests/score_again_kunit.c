// SPDX-License-Identifier: GPL-2.0-only
/* What went again: how much at a time, when it is lost again, and since when it was out. */
#include "fake_score.h"

#include <kunit/test.h>

/* What was sent again is lost again if something that left later came, or too much time went by. */
static void srn_score_again_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	add(s, 2, 40, &at_once, 0);
	expect_lost(test, s, &at_once, 0, 0, 2);
	add(s, 45, 5, &at_once, 10);	/* left before */
	expect_lost(test, s, &at_once, 10, 42, 3);
	expect_lost(test, s, &at_once, 10, 0, 0);
	add(s, 50, 1, &at_once, 20);
	expect_lost(test, s, &at_once, 20, 0, 2);
	add(s, 0, 1, &at_once, 20);	/* of two one comes */
	expect_lost(test, s, &at_once, 20, 42, 3);
	expect_lost(test, s, &at_once, 20, 0, 0);
	KUNIT_EXPECT_EQ(test, srn_score_due(s, &at_once, 20), 1000);
	expect_lost(test, s, &at_once, 1019, 0, 0);
	expect_lost(test, s, &at_once, 1020, 1, 1);
}

/* A long hole, which goes packet by packet, is one run. */
static void srn_score_run_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u32 i, lost;

	add(s, 300, 10, &at_once, 0);
	for (i = 0; i < 300; i++) {
		KUNIT_ASSERT_EQ(test, srn_score_pick(s, &at_once, 0, &lost), 300 - i);
		KUNIT_ASSERT_EQ(test, lost, psn(i));
		srn_score_sent(s, lost, 1, psn(400), 0);
	}
	KUNIT_EXPECT_EQ(test, s->num_tries, 1);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(310)), 300);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 2000, &lost), 300);
}

/* Runs that fall to pieces: when there is no place for more of them, something is always picked,
 * or it is known when there will be something, and in the end all went again.
 */
static void srn_score_pieces_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u64 now = 0, due;
	u32 lost, len;

	add(s, 900, 1, &at_once, now);
	len = srn_score_pick(s, &at_once, now, &lost);
	srn_score_sent(s, lost, len, psn(1000), now);
	add_alternate(s, &at_once, now);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(1001)), 451);
	for (now = 1000; now < 200000 && !srn_score_is_over(s); now += due) {
		while ((len = srn_score_pick(s, &at_once, now, &lost))) {
			KUNIT_ASSERT_EQ(test, len, 1);
			srn_score_sent(s, lost, len, psn(1001), now);
		}
		due = srn_score_due(s, &at_once, now);
		KUNIT_ASSERT_GT(test, due, 0);
		KUNIT_ASSERT_LE(test, due, 1000);
		KUNIT_ASSERT_LE(test, s->num_tries, SRN_SCORE_TRIES);
		srn_score_acked(s, psn(now / 1000 * 20));
	}
	KUNIT_EXPECT_TRUE(test, srn_score_is_over(s));
	KUNIT_EXPECT_EQ(test, s->out, 0);
}

/* What came lets as much go again beyond the window, and what was let go is used up. */
static void srn_score_owed_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	add(s, 10, 3, &at_once, 0);
	KUNIT_EXPECT_EQ(test, s->owed, 3);
	add(s, 11, 2, &at_once, 0);
	KUNIT_EXPECT_EQ(test, s->owed, 3);
	KUNIT_EXPECT_TRUE(test, srn_score_may_go(s, &at_once, 0, false, false));
	expect_lost(test, s, &at_once, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, s->owed, 0);
	srn_score_acked(s, psn(5));
	KUNIT_EXPECT_EQ(test, s->owed, 5);
	add(s, 20, 100, &at_once, 0);
	KUNIT_EXPECT_EQ(test, s->owed, SRN_SCORE_OWED);
	srn_score_used(s, 30);
	KUNIT_EXPECT_EQ(test, s->owed, SRN_SCORE_OWED - 30);
}

/* What is lost again is not on its way, from the moment on that it is known. */
static void srn_score_lost_twice_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u32 lost;

	add(s, 10, 3, &at_once, 0);
	expect_lost(test, s, &at_once, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 50 - 13 + 10);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 1000, &lost), 10);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 50 - 13);
	add(s, 20, 1, &at_once, 1000);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 50 - 21);
	srn_score_sent(s, psn(0), 4, psn(50), 1000);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 50 - 21 + 4);
	expect_lost(test, s, &at_once, 1000, 4, 6);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 50 - 21 + 10);
	srn_score_acked(s, psn(7));
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 50 - 21 + 3);
}

/* Where queues are minded what came makes no room, and one goes at a time. */
static void srn_score_tight_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u32 lost;

	add(s, 10, 3, &at_once, 500);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 500, &lost), 10);
	KUNIT_EXPECT_TRUE(test, srn_score_may_go(s, &at_once, 500, true, true));
	KUNIT_EXPECT_FALSE(test, srn_score_may_go(s, &at_once, 500, false, true));
	KUNIT_EXPECT_EQ(test, srn_score_due(s, &at_once, 500), 1000);
	KUNIT_EXPECT_TRUE(test, srn_score_may_go(s, &at_once, 1500, false, true));
	KUNIT_EXPECT_FALSE(test, srn_score_may_go(s, &at_once, 1500, false, true));
	KUNIT_EXPECT_TRUE(test, srn_score_may_go(s, &at_once, 1500, false, false));
}

/* When what is picked went again, if it did. */
static void srn_score_tried_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u32 lost;

	add(s, 10, 3, &at_once, 500);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 500, &lost), 10);
	KUNIT_EXPECT_EQ(test, srn_score_tried_ns(s, lost), 0ull);
	srn_score_sent(s, lost, 4, psn(50), 500);
	srn_score_sent(s, psn(4), 6, psn(50), 700);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 1500, &lost), 4);
	KUNIT_EXPECT_EQ(test, srn_score_tried_ns(s, lost), 500ull);
	srn_score_sent(s, lost, 4, psn(50), 1500);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 1700, &lost), 6);
	KUNIT_EXPECT_EQ(test, srn_score_tried_ns(s, lost), 700ull);
}

/* Of one that went again more than once it is known since when, when it comes; of those that went once nothing is. */
static void srn_score_took_test(struct kunit *test)
{
	static const struct srn_score_wait slow = { .again = 10 << 10 };
	struct srn_score *s = new_score(test);

	add(s, 2, 1, &slow, 5 << 10);
	add(s, 4, 1, &slow, 5 << 10);
	expect_lost(test, s, &slow, 5 << 10, 0, 2);
	expect_lost(test, s, &slow, 6 << 10, 3, 1);
	add(s, 0, 1, &slow, 7 << 10);
	KUNIT_EXPECT_EQ(test, srn_score_took(s, 7 << 10), 0ull);
	expect_lost(test, s, &slow, 15 << 10, 1, 1);
	expect_lost(test, s, &slow, 16 << 10, 3, 1);
	expect_lost(test, s, &slow, 25 << 10, 1, 1);
	KUNIT_EXPECT_EQ(test, srn_score_took(s, 25 << 10), 0ull);
	expect_lost(test, s, &slow, 26 << 10, 3, 1);
	KUNIT_EXPECT_FALSE(test, srn_score_acked(s, psn(2)));
	KUNIT_EXPECT_EQ(test, srn_score_took(s, 27 << 10), 23ull << 10);
	KUNIT_EXPECT_EQ(test, srn_score_took(s, 28 << 10), 0ull);
	/* The other one, whose time is that of when it went again first as well, not of when it is watched. */
	expect_lost(test, s, &slow, 36 << 10, 3, 1);
	add(s, 3, 1, &slow, 37 << 10);
	KUNIT_EXPECT_EQ(test, srn_score_took(s, 37 << 10), 32ull << 10);
}

/* Where nothing makes room a few go nevertheless, each time that they could be answered. */
static void srn_score_ease_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u64 now;
	u32 lost;

	add(s, 10, 3, &at_once, 500);
	srn_score_used(s, 3);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 500, &lost), 10);
	KUNIT_EXPECT_FALSE(test, srn_score_may_go(s, &at_once, 500, false, false));
	KUNIT_EXPECT_TRUE(test, srn_score_may_go(s, &at_once, 500, true, false));
	for (now = 1500; now < 5000; now += 1000) {
		KUNIT_EXPECT_FALSE(test, srn_score_may_go(s, &at_once, now - 1, false, false));
		KUNIT_EXPECT_EQ(test, srn_score_due(s, &at_once, now - 300), 300);
		KUNIT_EXPECT_TRUE(test, srn_score_may_go(s, &at_once, now, false, false));
		KUNIT_EXPECT_EQ(test, s->owed, SRN_SCORE_EASE);
		srn_score_used(s, SRN_SCORE_EASE);
		KUNIT_EXPECT_FALSE(test, srn_score_may_go(s, &at_once, now, false, false));
	}
}

static struct kunit_case srn_score_again_cases[] = {
	KUNIT_CASE(srn_score_again_test),
	KUNIT_CASE(srn_score_run_test),
	KUNIT_CASE(srn_score_pieces_test),
	KUNIT_CASE(srn_score_owed_test),
	KUNIT_CASE(srn_score_lost_twice_test),
	KUNIT_CASE(srn_score_tight_test),
	KUNIT_CASE(srn_score_tried_test),
	KUNIT_CASE(srn_score_took_test),
	KUNIT_CASE(srn_score_ease_test),
	{}
};

static struct kunit_suite srn_score_again_suite = {
	.name = "srn_score_again",
	.test_cases = srn_score_again_cases,
};

kunit_test_suite(srn_score_again_suite);
