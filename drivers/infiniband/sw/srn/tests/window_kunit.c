// SPDX-License-Identifier: GPL-2.0-only
/* What is in flight, and how much may be. */
#include "fake_flight.h"

#include <kunit/test.h>

/* Sends what the window takes and has all of it acknowledged. */
static void turn_over(struct srn_window *w)
{
	fake_fill(w);
	srn_window_acked(w, w->at.psn);
}

/* Hundreds may begin at once, and the path is not known: few, and twice as many with each that is
 * answered.
 */
static void srn_window_begins_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);
	u32 few;

	KUNIT_EXPECT_FALSE(test, srn_window_is_full(w, SRN_WINDOW_FEW));
	KUNIT_EXPECT_TRUE(test, srn_window_is_full(w, SRN_WINDOW_FEW + 1));
	for (few = SRN_WINDOW_FEW; few < SRN_WINDOW; few *= 2) {
		KUNIT_EXPECT_EQ(test, w->cwnd, few);
		turn_over(w);
	}
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
}

/* As many small packets as are no burst may leave at once, and nothing else; but not where anything is known that
 * speaks against it.
 */
static void srn_window_lends_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);

	KUNIT_ASSERT_TRUE(test, srn_window_is_young(w));
	srn_window_lend(w, 100);
	KUNIT_EXPECT_FALSE(test, srn_window_is_full(w, SRN_WINDOW_SMALL));
	KUNIT_EXPECT_TRUE(test, srn_window_is_full(w, SRN_WINDOW_SMALL + 1));
	KUNIT_EXPECT_FALSE(test, srn_window_next_is_lent(w));
	srn_window_sent(w, SRN_WINDOW_FEW - 2, true, false);
	KUNIT_EXPECT_FALSE(test, srn_window_next_is_lent(w));
	srn_window_sent(w, 1, true, false);
	KUNIT_EXPECT_TRUE(test, srn_window_next_is_lent(w));
	srn_window_sent(w, 1, true, false);
	srn_window_take_back(w);
	KUNIT_EXPECT_FALSE(test, srn_window_next_is_lent(w));
	KUNIT_EXPECT_TRUE(test, srn_window_is_full(w, 1));
	/* Something is out. */
	KUNIT_EXPECT_FALSE(test, srn_window_is_young(w));
	srn_window_acked(w, w->at.psn);
	KUNIT_EXPECT_TRUE(test, srn_window_is_young(w));
	/* No more than it has of itself. */
	srn_window_lend(w, w->cwnd);
	KUNIT_EXPECT_EQ(test, w->lent, 0);
	srn_window_lend(w, 1);
	KUNIT_EXPECT_EQ(test, w->lent, 0);
	/* It has all that it would be lent. */
	turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW_SMALL);
	KUNIT_EXPECT_FALSE(test, srn_window_is_young(w));
	srn_window_lend(w, SRN_WINDOW_SMALL);
	KUNIT_EXPECT_EQ(test, w->lent, 0);
}

static void hear_nothing(struct srn_window *w)
{
	srn_window_silent(w, false);
	srn_window_seek(w, (struct srn_cursor){ .psn = w->una });
}

static void go_again(struct srn_window *w)
{
	srn_window_seek(w, (struct srn_cursor){ .psn = w->una });
}

static void mind_queues(struct srn_window *w)
{
	w->crowd.left = 1;
}

static void look(struct srn_window *w)
{
	w->cwnd = 1;
}

static void srn_window_lends_no_more_test(struct kunit *test)
{
	static void (* const ends[])(struct srn_window *w) = {
		gap, srn_window_late, srn_window_collapsed, hear_nothing, go_again, mind_queues, look,
	};
	struct srn_window *w;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		w = new_window(test);
		srn_window_sent(w, 4, true, false);
		srn_window_acked(w, psn(3));
		ends[i](w);
		if (ends[i] != go_again)
			srn_window_acked(w, psn(4));
		w->at.psn = w->una;
		KUNIT_EXPECT_FALSE_MSG(test, srn_window_is_young(w), "%u", i);
	}
}

/* A long path is no queue: what counts is what comes on top of the fastest answer. */
static void srn_window_delay_test(struct kunit *test)
{
	static const struct { u64 took, least, delay; } rows[] = {
		{ 100000000, U64_MAX, 0 }, { 130000000, 100000000, 30000000 },
		{ 90000000, 90000000, 0 }, { 130000000, 90000000, 40000000 },
	};
	struct srn_window *w = grown_window(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_window_sent(w, 1, true, false);
		srn_window_time(w, srn_psn_add(w->at.psn, -1), 1000, true);
		srn_window_acked(w, w->at.psn);
		KUNIT_EXPECT_EQ(test, srn_window_delay(w, rows[i].least, 1000 + rows[i].took), rows[i].delay);
	}
	/* Another connection, another path. */
	srn_window_start(w, FIRST, 1024);
	srn_window_time(w, srn_psn_add(w->at.psn, -1), 0, true);
	KUNIT_EXPECT_EQ(test, srn_window_delay(w, 200000000, 200000000), 0ull);
}

/* An answer that is late halves what may be out, once for all that was; what was sent twice
 * is not timed.
 */
static void srn_window_late_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);
	int i;

	srn_window_sent(w, 1, true, false);
	srn_window_time(w, srn_psn_add(w->at.psn, -1), 1000, true);
	srn_window_sent(w, 1, true, false);
	KUNIT_EXPECT_FALSE(test, srn_window_is_timed(w));
	srn_window_acked(w, psn(1));
	KUNIT_ASSERT_TRUE(test, srn_window_is_timed(w));
	KUNIT_EXPECT_EQ(test, srn_window_delay(w, U64_MAX, 5000), 0ull);
	KUNIT_EXPECT_FALSE(test, srn_window_is_timed(w));
	srn_window_late(w);
	srn_window_late(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW / 2);
	turn_over(w);
	srn_window_late(w);
	KUNIT_EXPECT_LE(test, w->cwnd, SRN_WINDOW / 4 + 8);
	for (i = 0; i < 20; i++) {
		turn_over(w);
		srn_window_late(w);
	}
	KUNIT_EXPECT_LE(test, w->cwnd, 16u);
	srn_window_sent(w, 1, true, false);
	srn_window_time(w, srn_psn_add(w->at.psn, -1), 1000, true);
	srn_window_seek(w, (struct srn_cursor){ .psn = w->una });
	srn_window_sent(w, 1, true, false);
	srn_window_acked(w, w->at.psn);
	KUNIT_EXPECT_TRUE(test, srn_window_is_timed(w));
	KUNIT_EXPECT_TRUE(test, w->timed_again);
}

/* Of what is timed a second one is out when that PSN goes again, and with another packet none is. */
static void srn_window_time_again_test(struct kunit *test)
{
	static const struct { u32 psn, num; bool again; } rows[] = {
		{ 2, 1, false }, { 4, 4, false }, { 3, 1, true }, { 0, 3, false }, { 0, 4, true },
	};
	struct srn_window *w = grown_window(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_window_time(w, psn(3), 0, false);
		srn_window_time_again(w, psn(rows[i].psn), rows[i].num);
		KUNIT_EXPECT_TRUE(test, w->timed);
		KUNIT_EXPECT_EQ_MSG(test, w->timed_again, rows[i].again, "%d", i);
	}
	srn_window_time(w, psn(3), 0, false);
	KUNIT_EXPECT_FALSE(test, w->timed_again);
	srn_window_reset(w, 0);
	KUNIT_EXPECT_FALSE(test, w->timed);
}

static void srn_window_gap_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);
	int i;

	fake_fill(w);
	gap(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW * 3 / 4);
	/* More gaps in what was out then say nothing new. */
	srn_window_acked(w, psn(10));
	gap(w);
	KUNIT_EXPECT_GE(test, w->cwnd, SRN_WINDOW * 3 / 4);
	srn_window_seek(w, (struct srn_cursor){ .psn = w->una });
	turn_over(w);
	turn_over(w);
	gap(w);
	KUNIT_EXPECT_LT(test, w->cwnd, SRN_WINDOW * 3 / 4);
	for (i = 0; i < 100; i++) {
		turn_over(w);
		gap(w);
	}
	KUNIT_EXPECT_GE(test, w->cwnd, 16u);
	for (i = 0; i < 64; i++)
		turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
}

static void srn_window_silence_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);
	int i;

	for (i = 0; i < 10; i++)
		srn_window_collapsed(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1u);
	srn_window_start(w, FIRST, 1024);
	w->cwnd = w->full;
	turn_over(w);
	srn_window_silent(w, false);
	/* Doubles up to the half of what was too much, then creeps. */
	for (i = 0; i < 7; i++)
		turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW / 2);
	turn_over(w);
	KUNIT_EXPECT_LE(test, w->cwnd, SRN_WINDOW / 2 + 8);
	for (i = 0; i < 64; i++)
		turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
}

/* Senders that share a queue of @room PSNs, which drops what is too much, and answers of
 * which each comes a turn later.
 */
static void srn_window_shares_queue_test(struct kunit *test)
{
	struct srn_window *w[8];
	u32 room = 200, queued, passed = 0, dropped = 0;
	int turn, i;

	for (i = 0; i < ARRAY_SIZE(w); i++)
		w[i] = grown_window(test);
	for (turn = 0; turn < 1000; turn++) {
		for (i = 0, queued = 0; i < ARRAY_SIZE(w); i++) {
			u32 n = w[i]->cwnd, fits = min(n, room - queued);

			fake_fill(w[i]);
			srn_window_acked(w[i], srn_psn_add(w[i]->una, fits));
			if (!fits)
				srn_window_collapsed(w[i]);
			else if (fits < n)
				gap(w[i]);
			srn_window_seek(w[i], (struct srn_cursor){ .psn = w[i]->una });
			queued += fits;
			passed += turn >= 100 ? fits : 0;
			dropped += turn >= 100 ? n - fits : 0;
		}
	}
	KUNIT_EXPECT_GT(test, passed, 900 * room * 8 / 10);
	KUNIT_EXPECT_LT(test, dropped, passed / 4);
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

/* What the former connection lost, and has not made good, says nothing of this one. */
static void srn_window_new_life_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);
	int life;

	for (life = 0; life < 2; life++) {
		srn_window_start(w, FIRST, 1024);
		w->cwnd = w->full;
		fake_fill(w);
		gap(w);
		KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW * 3 / 4);
	}
}

/* Whatever is lost or late, one packet may go; and a loss opens no window. */
static void srn_window_never_closes_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);
	int i;

	srn_window_collapsed(w);
	for (i = 0; i < 4; i++) {
		w->cut = false;
		srn_window_late(w);
		KUNIT_EXPECT_FALSE(test, srn_window_is_full(w, 1));
		w->cut = false;
		gap(w);
		KUNIT_EXPECT_EQ(test, w->cwnd, 1u);
	}
}

/* When all that was out is answered, to the last packet, the next loss is another one. */
static void srn_window_cut_ends_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);
	u32 cwnd;

	srn_window_sent(w, 8, true, false);
	gap(w);
	srn_window_acked(w, psn(7));
	KUNIT_EXPECT_TRUE(test, w->cut);
	srn_window_acked(w, psn(8));
	cwnd = w->cwnd;
	gap(w);
	KUNIT_EXPECT_LT(test, w->cwnd, cwnd);
}

/* For a while after a loss nothing leaves as a run. */
static void srn_window_doubt_test(struct kunit *test)
{
	struct srn_window *w = new_window(test);

	KUNIT_EXPECT_EQ(test, w->doubt, 0);
	gap(w);
	srn_window_sent(w, SRN_RUN_DOUBT - 1, false, false);
	KUNIT_EXPECT_EQ(test, w->doubt, 1);
	srn_window_sent(w, 3, false, false);
	KUNIT_EXPECT_EQ(test, w->doubt, 0);
	srn_window_collapsed(w);
	KUNIT_EXPECT_EQ(test, w->doubt, SRN_RUN_DOUBT);
}

static struct kunit_case srn_window_cases[] = {
	KUNIT_CASE(srn_window_doubt_test),
	KUNIT_CASE(srn_window_begins_test),
	KUNIT_CASE(srn_window_lends_test),
	KUNIT_CASE(srn_window_lends_no_more_test),
	KUNIT_CASE(srn_window_delay_test),
	KUNIT_CASE(srn_window_late_test),
	KUNIT_CASE(srn_window_time_again_test),
	KUNIT_CASE(srn_window_gap_test),
	KUNIT_CASE(srn_window_silence_test),
	KUNIT_CASE(srn_window_shares_queue_test),
	KUNIT_CASE(srn_window_sent_test),
	KUNIT_CASE(srn_window_has_test),
	KUNIT_CASE(srn_window_seek_test),
	KUNIT_CASE(srn_window_new_life_test),
	KUNIT_CASE(srn_window_never_closes_test),
	KUNIT_CASE(srn_window_cut_ends_test),
	{}
};

static struct kunit_suite srn_window_suite = {
	.name = "srn_window",
	.test_cases = srn_window_cases,
};

kunit_test_suite(srn_window_suite);
