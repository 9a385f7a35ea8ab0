// SPDX-License-Identifier: GPL-2.0-only
/* What is in flight, over the end of the PSN space. */
#include "../window.h"

#include <kunit/test.h>

#define FIRST	0xfffffeu

static struct srn_window *new_window(struct kunit *test)
{
	struct srn_window *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	srn_window_start(w, FIRST, 1024);
	return w;
}

static u32 psn(int n)
{
	return srn_psn_add(FIRST, n);
}

static void srn_window_starts_full_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);

	KUNIT_EXPECT_EQ(test, w->full, SRN_WINDOW);
	KUNIT_EXPECT_FALSE(test, srn_window_is_full(w, SRN_WINDOW));
	KUNIT_EXPECT_TRUE(test, srn_window_is_full(w, SRN_WINDOW + 1));
	srn_window_start(w, FIRST, 4096);
	KUNIT_EXPECT_EQ(test, w->full, SRN_WINDOW_BYTES / 4096);
}

static void srn_window_sent_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);
	int i;

	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_FALSE(test, srn_window_sent(w, 1, false, false));
	KUNIT_EXPECT_EQ(test, srn_window_inflight(w), 5u);
	KUNIT_EXPECT_EQ(test, w->unasked, 5u);
	KUNIT_EXPECT_EQ(test, w->end, psn(5));
	srn_window_sent(w, 1, true, false);
	KUNIT_EXPECT_EQ(test, w->unasked, 0u);
	srn_window_acked(w, psn(4));
	KUNIT_EXPECT_EQ(test, srn_window_inflight(w), 2u);
}

/* Answers count from the oldest unanswered PSN to the newest that was ever sent. */
static void srn_window_has_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);

	KUNIT_EXPECT_FALSE(test, srn_window_has(w, psn(0)));
	srn_window_sent(w, 1, true, false);
	srn_window_sent(w, 4, true, true);
	srn_window_acked(w, psn(2));
	KUNIT_EXPECT_FALSE(test, srn_window_has(w, psn(1)));
	KUNIT_EXPECT_TRUE(test, srn_window_has(w, psn(2)));
	KUNIT_EXPECT_TRUE(test, srn_window_has(w, psn(4)));
	KUNIT_EXPECT_FALSE(test, srn_window_has(w, psn(5)));
	srn_window_seek(w, (struct srn_cursor){ .psn = psn(2) });
	KUNIT_EXPECT_TRUE(test, srn_window_has(w, psn(4)));
}

static void srn_window_reads_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);

	srn_window_sent(w, 64, true, true);
	srn_window_sent(w, 1, true, false);
	srn_window_sent(w, 3, true, true);
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 2u);
	srn_window_acked(w, psn(63));
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 2u);
	srn_window_acked(w, psn(64));
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 1u);
	srn_window_acked(w, psn(68));
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 0u);
}

/* What is sent again is in flight when it was sent again, and known as such. */
static void srn_window_seek_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);
	int i;

	for (i = 0; i < 4; i++) {
		srn_window_sent(w, 1, false, i == 2);
		srn_window_pass(w);
	}
	srn_window_acked(w, psn(1));
	srn_window_seek(w, (struct srn_cursor){ .index = 1, .psn = psn(1) });
	KUNIT_EXPECT_EQ(test, srn_window_inflight(w), 0u);
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 0u);
	KUNIT_EXPECT_EQ(test, w->unasked, 0u);
	KUNIT_EXPECT_EQ(test, w->end, psn(4));
	for (i = 1; i < 4; i++)
		KUNIT_EXPECT_TRUE(test, srn_window_sent(w, 1, false, i == 2));
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 1u);
	KUNIT_EXPECT_FALSE(test, srn_window_sent(w, 1, false, false));
	KUNIT_EXPECT_EQ(test, w->end, psn(5));
}

static struct kunit_case srn_window_cases[] = {
	KUNIT_CASE(srn_window_starts_full_test),
	KUNIT_CASE(srn_window_sent_test),
	KUNIT_CASE(srn_window_has_test),
	KUNIT_CASE(srn_window_reads_test),
	KUNIT_CASE(srn_window_seek_test),
	{}
};

static struct kunit_suite srn_window_suite = {
	.name = "srn_window",
	.test_cases = srn_window_cases,
};

kunit_test_suite(srn_window_suite);
