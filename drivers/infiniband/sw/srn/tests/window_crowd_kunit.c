// SPDX-License-Identifier: GPL-2.0-only
/* What is in flight after a full queue, until it has drained, and while queues are minded. */
#include "../window.h"
#include "fake_window.h"

#include <kunit/test.h>
#include <linux/time64.h>

#define MS	((u64)NSEC_PER_MSEC)
#define LEAST	(MS / 5)
#define FULL	(8 * MS)
#define AGAIN	(10 * MS)
#define START	(1000 * MS)

/* The packet that was timed was answered so much later than the fastest. */
static void answer(struct srn_window *w, u64 delay_ns, u64 now_ns)
{
	srn_window_time(w, w->una, now_ns - LEAST - delay_ns, true);
	srn_window_delay(w, LEAST, now_ns);
	srn_window_mind(w);
}

/* It has filled a queue with 64 packets, and its path is not to be looked at. */
static struct srn_window *new_window(struct kunit *test)
{
	struct srn_window *w = fake_window(test, 0);

	w->cwnd = 64;
	w->crowd.look_ns = U64_MAX;
	fake_fill(w);
	answer(w, FULL, START);
	return w;
}

/* And something was lost by it. */
static struct srn_window *crowded(struct kunit *test)
{
	struct srn_window *w = new_window(test);

	srn_window_lost(w, 1, 0, START);
	KUNIT_ASSERT_EQ(test, w->cwnd, 48);
	KUNIT_ASSERT_TRUE(test, srn_window_is_tight(w));
	return w;
}

/* Down to one packet, not below. */
static void srn_window_full_queue_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);
	int i;

	srn_window_lost(w, 1, 0, START);
	KUNIT_EXPECT_EQ(test, w->cwnd, 48);
	for (i = 0; i < 20; i++) {
		srn_window_acked(w, w->at.psn);
		fake_fill(w);
		srn_window_lost(w, 1, 0, START);
	}
	KUNIT_EXPECT_EQ(test, w->cwnd, 1);
	srn_window_acked(w, w->at.psn);
	KUNIT_EXPECT_FALSE(test, srn_window_is_full(w, 1));
}

/* Nor below what is asked for: where nobody asks in silence. */
static void srn_window_floor_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);
	int i;

	w->floor = 4;
	for (i = 0; i < 20; i++) {
		srn_window_acked(w, w->at.psn);
		fake_fill(w);
		answer(w, FULL, START);
		srn_window_lost(w, 1, 0, START);
	}
	KUNIT_EXPECT_EQ(test, w->cwnd, 4);
	/* As few as may be, and nothing is gained by it. */
	for (i = 0; i < 256; i++)
		answer(w, FULL, START);
	KUNIT_EXPECT_FALSE(test, srn_crowd_is(&w->crowd));
	srn_window_collapsed(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 4);
	w->cut = false;
	srn_window_late(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 4);
}

/* While nothing is timed, since only what is lost goes, more of it does, but not twice as much. */
static void srn_window_stale_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);

	w->crowd.look_ns = 0;
	srn_window_acked(w, w->at.psn);
	fake_fill(w);
	srn_window_lost(w, 1, 0, START);
	KUNIT_ASSERT_EQ(test, w->cwnd, 1);
	KUNIT_ASSERT_EQ(test, w->ssthresh, 24);
	srn_window_set_out(w, 1);
	srn_window_came(w, 1);
	KUNIT_EXPECT_EQ(test, w->cwnd, 2);
	srn_window_came(w, 1);
	KUNIT_EXPECT_EQ(test, w->cwnd, 2);
	srn_window_came(w, 1);
	KUNIT_EXPECT_EQ(test, w->cwnd, 3);
}

/* What went again since the last cut, and was lost again, is another loss; only where queues are
 * minded.
 */
static void srn_window_lost_again_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);

	srn_window_lost(w, 1, START, START + MS);
	KUNIT_EXPECT_EQ(test, w->cwnd, 48);
	srn_window_lost(w, 1, START + 1, START + MS);
	KUNIT_EXPECT_EQ(test, w->cwnd, 36);
	srn_window_lost(w, 1, START + MS, START + 2 * MS);
	KUNIT_EXPECT_EQ(test, w->cwnd, 36);

	w = new_window(test);
	answer(w, 0, START);
	srn_window_lost(w, 1, 0, START);
	KUNIT_ASSERT_EQ(test, w->cwnd, 48);
	srn_window_lost(w, 1, START + 1, START + MS);
	KUNIT_EXPECT_EQ(test, w->cwnd, 48);
}

/* Nothing grows by what was in the queue then. */
static void srn_window_draining_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);

	answer(w, 0, START);
	srn_window_acked(w, 16);
	KUNIT_EXPECT_TRUE(test, w->draining);
	KUNIT_EXPECT_EQ(test, w->cwnd, 48);
	srn_window_acked(w, 17);
	KUNIT_EXPECT_FALSE(test, w->draining);
	srn_window_acked(w, 63);
	KUNIT_EXPECT_GT(test, w->cwnd, 48);
}

/* By what SACKs tell it grows as by what is acknowledged, once. */
static void srn_window_came_test(struct kunit *test)
{
	struct srn_window *w = new_window(test), *v = new_window(test);

	w->ssthresh = 256;
	v->ssthresh = 256;
	answer(w, 0, START);
	answer(v, 0, START);
	srn_window_acked(v, 40);
	srn_window_set_out(w, 30);
	srn_window_came(w, 39);
	srn_window_acked(w, 40);
	KUNIT_EXPECT_EQ(test, w->cwnd, 64 + 40);
	KUNIT_EXPECT_EQ(test, v->cwnd, 64 + 40);
}

/* Of what was out then, what was not heard of in time is lost: once, and all of it but what went since. */
static void srn_window_tail_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);

	KUNIT_EXPECT_EQ(test, srn_window_drained(w, AGAIN, START + AGAIN - 1), 0);
	srn_window_acked(w, 29);
	srn_window_acked(w, 30);
	fake_fill(w);
	KUNIT_EXPECT_FALSE(test, w->draining);
	KUNIT_EXPECT_EQ(test, srn_window_drained(w, AGAIN, START + AGAIN), 34);
	KUNIT_EXPECT_EQ(test, srn_window_drained(w, AGAIN, START + AGAIN), 0);

	w = crowded(test);
	srn_window_acked(w, 64);
	KUNIT_EXPECT_EQ(test, srn_window_drained(w, AGAIN, START + AGAIN), 0);

	w = crowded(test);
	srn_window_seek(w, (struct srn_cursor){ .psn = 0 });
	fake_fill(w);
	KUNIT_EXPECT_EQ(test, srn_window_drained(w, AGAIN, START + AGAIN), 0);
	KUNIT_EXPECT_FALSE(test, w->draining);
}

/* Each answer that finds too much takes off some, not what was cut before, and not all. */
static void srn_window_mind_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);
	int i;

	answer(w, FULL, START);
	KUNIT_EXPECT_EQ(test, w->cwnd, 48);
	srn_window_acked(w, w->at.psn);
	answer(w, FULL, START);
	KUNIT_EXPECT_EQ(test, w->cwnd, 36);
	KUNIT_EXPECT_EQ(test, w->ssthresh, 36);
	for (i = 0; i < 20; i++)
		answer(w, FULL, START);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1);
	answer(w, 0, START);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1);
	fake_fill(w);
	srn_window_acked(w, w->at.psn);
	KUNIT_EXPECT_GT(test, w->cwnd, 1);
}

/* In time one packet goes alone, to see how long the path is without the others, and then as many as
 * before.
 */
static void srn_window_look_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);
	int i;

	srn_window_acked(w, w->at.psn);
	fake_fill(w);
	w->crowd.look_ns = START + MS;
	answer(w, MS / 10, START + MS - 1);
	KUNIT_EXPECT_EQ(test, w->cwnd, 48);
	answer(w, MS / 10, START + MS);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1);
	KUNIT_EXPECT_TRUE(test, w->draining);
	srn_window_acked(w, w->at.psn);
	for (i = 0; i < 6; i++) {
		fake_fill(w);
		srn_window_acked(w, w->at.psn);
	}
	KUNIT_EXPECT_EQ(test, w->cwnd, 48);
}

/* How long answers take is looked at more often where it decides how many may go. */
static void srn_window_narrow_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);

	KUNIT_EXPECT_FALSE(test, srn_window_is_narrow(w));
	KUNIT_EXPECT_FALSE(test, srn_window_is_tight(w));
	w->cwnd = SRN_WINDOW_FEW - 1;
	KUNIT_EXPECT_TRUE(test, srn_window_is_narrow(w));
	w->cwnd = SRN_WINDOW_FEW;
	KUNIT_EXPECT_FALSE(test, srn_window_is_narrow(w));
	w = crowded(test);
	KUNIT_EXPECT_TRUE(test, srn_window_is_narrow(w));
	/* Beside a READ what the peer has takes room, too. */
	srn_window_acked(w, 1);
	srn_window_sent(w, 1, true, true);
	KUNIT_EXPECT_FALSE(test, srn_window_is_tight(w));
}

/* Short READs begin with few, and where queues are minded with so few that all of them are 16. */
static void srn_window_chunk_of_few_test(struct kunit *test)
{
	struct srn_window *w = fake_window(test, 0);

	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 128, 16, false), 8);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 128, 16, true), 8);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 129, 16, false), 64);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 129, 16, true), 64);
	w = crowded(test);
	w->cwnd = 1;
	/* A long one keeps it. */
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 129, 16, true), 8);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 129, 1, true), 32);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 128, 16, true), 1);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 128, 16, false), 1);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 128, 4, false), 4);
	KUNIT_EXPECT_EQ(test, srn_window_chunk(w, 128, 0, false), 16);
}

/* Whether more is timed of an answer that has @rest PSNs behind its first, which waited so long. */
static bool times_on(struct srn_window *w, u32 rest, u64 delay_ns)
{
	srn_window_time(w, 10, START, true);
	w->timed_rest = rest;
	w->timed = false;
	w->crowd.delay_ns = delay_ns;
	return srn_window_times_on(w, 0);
}

/* Of an answer that has more the last is timed as well, once, if queues are minded and the first says that there is
 * one.
 */
static void srn_window_times_on_test(struct kunit *test)
{
	struct srn_window *w = crowded(test);
	u64 much = w->crowd.enough_ns / 2;

	KUNIT_EXPECT_FALSE(test, times_on(w, 0, much));
	KUNIT_EXPECT_FALSE(test, times_on(w, 5, much - 1));
	KUNIT_EXPECT_FALSE(test, w->timed);
	KUNIT_EXPECT_EQ(test, w->timed_psn, 10);
	KUNIT_EXPECT_TRUE(test, times_on(w, 5, much));
	KUNIT_EXPECT_TRUE(test, w->timed);
	KUNIT_EXPECT_TRUE(test, w->timed_last);
	KUNIT_EXPECT_EQ(test, w->timed_psn, 15);
	KUNIT_EXPECT_EQ(test, w->crowd.delay_ns, much);
	KUNIT_EXPECT_FALSE(test, srn_window_times_on(w, 0));
	/* It is as long as that at least, and as it was. */
	w->timed_rest = 5;
	KUNIT_EXPECT_TRUE(test, srn_window_times_on(w, much + 1));
	KUNIT_EXPECT_EQ(test, w->crowd.delay_ns, much + 1);
	w->timed_rest = 0;
	KUNIT_EXPECT_FALSE(test, srn_window_times_on(w, much + 2));
	KUNIT_EXPECT_EQ(test, w->crowd.delay_ns, much + 1);
	srn_window_time(w, 20, START, true);
	KUNIT_EXPECT_FALSE(test, w->timed_last);
	w->crowd.left = 0;
	KUNIT_EXPECT_FALSE(test, times_on(w, 5, NSEC_PER_SEC));
}

static struct kunit_case srn_window_crowd_cases[] = {
	KUNIT_CASE(srn_window_full_queue_test),
	KUNIT_CASE(srn_window_floor_test),
	KUNIT_CASE(srn_window_stale_test),
	KUNIT_CASE(srn_window_lost_again_test),
	KUNIT_CASE(srn_window_draining_test),
	KUNIT_CASE(srn_window_came_test),
	KUNIT_CASE(srn_window_tail_test),
	KUNIT_CASE(srn_window_mind_test),
	KUNIT_CASE(srn_window_times_on_test),
	KUNIT_CASE(srn_window_look_test),
	KUNIT_CASE(srn_window_narrow_test),
	KUNIT_CASE(srn_window_chunk_of_few_test),
	{}
};

static struct kunit_suite srn_window_crowd_suite = {
	.name = "srn_window_crowd",
	.test_cases = srn_window_crowd_cases,
};
kunit_test_suite(srn_window_crowd_suite);
