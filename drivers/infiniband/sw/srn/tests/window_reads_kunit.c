// SPDX-License-Identifier: GPL-2.0-only
/* READs in flight: how many, how long each, and what of their answers is to come. */
#include "fake_flight.h"

#include <kunit/test.h>
#include <linux/string.h>

/* The chunks that may be in flight fill the window, and never the wire's queue after a loss. */
static void srn_window_chunk_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);

	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 16, false), 64u);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 1, false), SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 2, false), SRN_WINDOW / 2);
	srn_window_collapsed(w);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 16, false), 8u);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 1, false), 8u);
}

/* Where parts are asked for again a gap alone makes them shorter, and not as short. */
static void srn_window_chunk_of_parts_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);

	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 16, true), 64u);
	gap(w);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 16, false), 64u);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 16, true), 32u);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 1, true), w->cwnd);
	w->cwnd = 20;
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 1000, 16, true), 10u);
	srn_window_collapsed(w);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 128, 1, true), 4u);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 129, 1, true), 8u);
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

/* Of a READ the answer is to come, whatever the peer has; and it is told only so far. */
static void srn_window_reads_load_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);

	srn_window_set_reach(w, 3000);
	srn_window_sent(w, 200, true, false);
	srn_window_set_out(w, 10);
	KUNIT_EXPECT_EQ(test, srn_window_load(w), 10);
	KUNIT_EXPECT_EQ(test, srn_window_room(w), SRN_WINDOW - 10);
	KUNIT_EXPECT_TRUE(test, srn_window_takes_again(w));
	srn_window_sent(w, 20, true, true);
	KUNIT_EXPECT_EQ(test, srn_window_load(w), 220);
	KUNIT_EXPECT_EQ(test, srn_window_room(w), SRN_WINDOW - 220);
	srn_window_acked(w, w->at.psn);
	srn_window_set_out(w, 0);
	KUNIT_EXPECT_EQ(test, srn_window_load(w), 0);
	w->cwnd = 3000;
	srn_window_sent(w, 20, true, true);
	KUNIT_EXPECT_FALSE(test, srn_window_is_full(w, SRN_WINDOW_READS - 20));
	KUNIT_EXPECT_TRUE(test, srn_window_is_full(w, SRN_WINDOW_READS - 20 + 1));
}

/* Of answers that are here, or lost, none is to come; what is known of requests does not count. */
static void srn_window_answers_came_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);

	srn_window_sent(w, 200, true, true);
	srn_window_set_out(w, 10);
	KUNIT_EXPECT_EQ(test, srn_window_load(w), 200);
	srn_window_set_coming(w, 50);
	KUNIT_EXPECT_EQ(test, srn_window_load(w), 50);
	KUNIT_EXPECT_EQ(test, srn_window_room(w), SRN_WINDOW - 50);
	w->cwnd = 50;
	KUNIT_EXPECT_FALSE(test, srn_window_takes_part(w));
	srn_window_set_coming(w, 49);
	KUNIT_EXPECT_TRUE(test, srn_window_takes_part(w));
	/* More than is in flight is none that is here. */
	srn_window_set_coming(w, 1000);
	KUNIT_EXPECT_EQ(test, srn_window_load(w), 200);
}

/* More may be in flight than before while some are, over the end of their index. */
static void srn_window_set_room_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);
	u32 few[4], more[8];
	int i;

	w->rd_head = w->rd_tail = U32_MAX - 1;
	KUNIT_EXPECT_NOT_NULL(test, srn_window_set_room(w, few, ARRAY_SIZE(few)));
	for (i = 0; i < 4; i++)
		srn_window_sent(w, i + 1, true, true);
	srn_window_acked(w, psn(1));
	KUNIT_EXPECT_PTR_EQ(test, srn_window_set_room(w, more, ARRAY_SIZE(more)), &few[0]);
	memset(few, 0, sizeof(few));
	for (i = 0; i < 5; i++)
		srn_window_sent(w, 1, true, true);
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 8u);
	/* Behind the last of each, and not before, it is answered. */
	srn_window_acked(w, psn(2));
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 8u);
	srn_window_acked(w, psn(3));
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 7u);
	srn_window_acked(w, psn(9));
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 6u);
	srn_window_acked(w, psn(14));
	KUNIT_EXPECT_EQ(test, srn_window_reads(w), 1u);
}

static struct kunit_case srn_window_reads_cases[] = {
	KUNIT_CASE(srn_window_chunk_test),
	KUNIT_CASE(srn_window_chunk_of_parts_test),
	KUNIT_CASE(srn_window_reads_test),
	KUNIT_CASE(srn_window_reads_load_test),
	KUNIT_CASE(srn_window_answers_came_test),
	KUNIT_CASE(srn_window_set_room_test),
	{}
};

static struct kunit_suite srn_window_reads_suite = {
	.name = "srn_window_reads",
	.test_cases = srn_window_reads_cases,
};

kunit_test_suite(srn_window_reads_suite);
