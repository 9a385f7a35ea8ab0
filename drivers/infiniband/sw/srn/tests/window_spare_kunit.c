// SPDX-License-Identifier: GPL-2.0-only
/* What is in flight after a silence in which nothing was lost. */
#include "fake_flight.h"

#include <kunit/test.h>

/* Back to the oldest, which goes again alone. */
static void fall_silent(struct srn_window *w, bool longer)
{
	srn_window_silent(w, longer);
	srn_window_seek(w, (struct srn_cursor){ .psn = w->una });
	srn_window_sent(w, 1, true, false);
}

/* All before @to is answered, more than went again. Returns where the cursor goes on from. */
static u32 jump(struct srn_window *w, u32 to, bool sacks)
{
	srn_window_acked(w, to);
	to = srn_window_spare(w, sacks);
	srn_window_seek(w, (struct srn_cursor){ .psn = to });
	return to;
}

/* The same silence again is no more of one; and what comes after all is as if there had been none. Twice: one may
 * be the answer to what went again.
 */
static void srn_window_spare_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);
	int i;

	fake_fill(w);
	for (i = 0; i < 3; i++) {
		fall_silent(w, i);
		KUNIT_EXPECT_EQ(test, w->cwnd, 1);
		KUNIT_EXPECT_EQ(test, w->ssthresh, SRN_WINDOW / 2);
	}
	KUNIT_EXPECT_EQ(test, jump(w, psn(32), true), psn(32));
	KUNIT_EXPECT_EQ(test, w->cwnd, 2);
	KUNIT_EXPECT_EQ(test, w->ssthresh, SRN_WINDOW / 2);
	fake_fill(w);
	KUNIT_EXPECT_EQ(test, jump(w, psn(64), true), psn(SRN_WINDOW));
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, w->ssthresh, SRN_WINDOW);
	/* Once. */
	KUNIT_EXPECT_EQ(test, srn_window_spare(w, true), psn(64));
	/* The next silence is another one. */
	srn_window_acked(w, psn(SRN_WINDOW));
	fake_fill(w);
	fall_silent(w, false);
	KUNIT_EXPECT_LE(test, w->ssthresh, SRN_WINDOW / 2);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1);
}

/* Nor has one of many lost anything then, which it has for who hears nothing to the end. */
static void srn_window_spare_of_many_test(struct kunit *test)
{
	const struct srn_legacy none = {};
	struct srn_window w;
	int i;

	for (i = 0; i < 2; i++) {
		srn_window_start(&w, FIRST, 1024);
		srn_window_inherit(&w, &none);
		KUNIT_EXPECT_TRUE(test, srn_window_is_of_many(&w));
		fake_fill(&w);
		fall_silent(&w, false);
		fall_silent(&w, true);
		KUNIT_EXPECT_FALSE(test, srn_window_is_of_many(&w));
		jump(&w, psn(2), true);
		fake_fill(&w);
		if (i)
			srn_window_guilty(&w);
		jump(&w, psn(6), true);
		KUNIT_EXPECT_EQ(test, srn_window_is_of_many(&w), !i);
		srn_window_widen(&w);
		KUNIT_EXPECT_EQ(test, w.ssthresh == w.most, !i);
	}
}

/* All at once at the end: what goes next is no more than a connection begins with, and doubles. */
static void srn_window_spare_all_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);

	fake_fill(w);
	fall_silent(w, false);
	jump(w, psn(2), true);
	fake_fill(w);
	KUNIT_EXPECT_EQ(test, jump(w, psn(SRN_WINDOW), true), psn(SRN_WINDOW));
	KUNIT_EXPECT_LE(test, w->cwnd, SRN_WINDOW / 2 + SRN_WINDOW_FEW);
	KUNIT_EXPECT_EQ(test, w->ssthresh, SRN_WINDOW);
	KUNIT_EXPECT_FALSE(test, w->cut);
	/* By one answer: nobody knows, but there is nothing to be sent again. */
	srn_window_start(w, FIRST, 1024);
	w->cwnd = w->full;
	fake_fill(w);
	fall_silent(w, false);
	KUNIT_EXPECT_EQ(test, jump(w, psn(SRN_WINDOW), true), psn(SRN_WINDOW));
	KUNIT_EXPECT_EQ(test, w->ssthresh, SRN_WINDOW / 2);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW / 2);
}

/* What was growing goes on, and what was not does not: by no more than what came. */
static void srn_window_spare_grows_test(struct kunit *test)
{
	static const struct { u32 ssthresh, cwnd; } rows[] = {
		{ SRN_WINDOW, 22 }, { 20, 20 }, { 8, 16 },
	};
	struct srn_window *w = grown_window(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_window_start(w, FIRST, 1024);
		w->ssthresh = rows[i].ssthresh;
		fake_fill(w);
		fall_silent(w, false);
		jump(w, psn(4), true);
		fake_fill(w);
		jump(w, psn(10), true);
		KUNIT_EXPECT_EQ_MSG(test, w->cwnd, rows[i].cwnd, "%d", i);
	}
}

/* No more than may be out on the path that it is by then. */
static void srn_window_spare_most_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);

	w->most = 4 * SRN_WINDOW;
	w->cwnd = 4 * SRN_WINDOW;
	w->ssthresh = 4 * SRN_WINDOW;
	fake_fill(w);
	fall_silent(w, false);
	srn_window_move(w);
	jump(w, psn(2), true);
	fake_fill(w);
	jump(w, psn(8), true);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, w->ssthresh, SRN_WINDOW);
}

/* READs that the cursor passes would be in flight no more: those that are out, those that it has yet to send again,
 * and those that left since. Nor is what it has yet to send again on its way.
 */
static void srn_window_spare_from_una_test(struct kunit *test)
{
	static const struct { u32 read, silences, after; } rows[] = {
		{ 0, 1, 0 }, { 8, 1, 0 }, { 8, 2, 0 }, { 16, 2, 0 }, { 16, 1, 1 }, { 16, 1, 2 },
	};
	struct srn_window *w = grown_window(test);
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_window_start(w, FIRST, 1024);
		for (k = 0; k < 16; k++)
			srn_window_sent(w, 1, true, k == rows[i].read);
		srn_window_acked(w, psn(1));
		if (rows[i].read == 0)
			srn_window_sent(w, 1, true, true);
		for (k = 0; k < rows[i].silences; k++)
			fall_silent(w, false);
		/* All goes again, and a READ for the first time; then the cursor is back without silence. */
		while (rows[i].after && w->at.psn != w->end)
			srn_window_sent(w, 1, true, false);
		if (rows[i].after) {
			srn_window_sent(w, 1, true, true);
			srn_window_seek(w, (struct srn_cursor){ .psn = w->una });
			srn_window_sent(w, 1, true, false);
		}
		if (rows[i].after == 2)
			fall_silent(w, false);
		KUNIT_EXPECT_EQ_MSG(test, jump(w, psn(4), true), psn(4), "%d", i);
		srn_window_sent(w, 1, true, false);
		KUNIT_EXPECT_EQ_MSG(test, jump(w, psn(6), true), psn(6), "%d", i);
		KUNIT_EXPECT_LE_MSG(test, w->ssthresh, SRN_WINDOW / 2, "%d", i);
	}
}

/* Nothing is spared where something was lost, where too much was out, or where all had to go again; nor of a peer
 * that does not tell what it keeps.
 */
static void srn_window_spares_not_test(struct kunit *test)
{
	struct srn_window *w = grown_window(test);
	bool sacks;
	u32 to;
	int how;

	for (how = 0; how < 6; how++) {
		sacks = how != 5;
		srn_window_start(w, FIRST, 1024);
		fake_fill(w);
		fall_silent(w, false);
		if (how == 0)
			gap(w);
		else if (how == 1)
			srn_window_collapsed(w);
		else if (how == 2)
			srn_window_guilty(w);
		else if (how == 3)
			srn_window_reset(w, 0);
		while (how == 4 && w->at.psn != w->end)
			srn_window_sent(w, 1, true, false);
		to = how == 4 ? w->end : psn(3);
		KUNIT_EXPECT_EQ_MSG(test, jump(w, to, sacks), w->una, "%d", how);
		srn_window_sent(w, 1, true, false);
		to = how == 4 ? w->end : psn(6);
		KUNIT_EXPECT_EQ_MSG(test, jump(w, to, sacks), w->una, "%d", how);
		KUNIT_EXPECT_LE_MSG(test, w->ssthresh, SRN_WINDOW_FEW / 2, "%d", how);
	}
}

/* What was answered late since the path is short and its queue long, or since it is long. */
static void srn_window_answered_again_test(struct kunit *test)
{
	static const struct { u64 least, took, timeout; bool queue, spares; } rows[] = {
		{ 1000, 2001, 4000, true, false }, { 1000, 2000, 4000, true, true },
		{ 1000, 2001, 4000, false, true }, { 1000, 2001, 0, true, true },
		{ U64_MAX, 2001, 4000, true, true },
	};
	struct srn_window *w = grown_window(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w->spare = 2;
		w->crowd.least_ns = rows[i].least;
		srn_window_time(w, FIRST, 0, rows[i].queue);
		srn_window_answered_again(w, rows[i].took, rows[i].timeout);
		KUNIT_EXPECT_FALSE(test, w->timed);
		KUNIT_EXPECT_EQ_MSG(test, w->spare > 0, rows[i].spares, "%d", i);
	}
}

static struct kunit_case srn_window_spare_cases[] = {
	KUNIT_CASE(srn_window_spare_test),
	KUNIT_CASE(srn_window_spare_of_many_test),
	KUNIT_CASE(srn_window_spare_all_test),
	KUNIT_CASE(srn_window_spare_grows_test),
	KUNIT_CASE(srn_window_spare_most_test),
	KUNIT_CASE(srn_window_spare_from_una_test),
	KUNIT_CASE(srn_window_spares_not_test),
	KUNIT_CASE(srn_window_answered_again_test),
	{}
};

static struct kunit_suite srn_window_spare_suite = {
	.name = "srn_window_spare",
	.test_cases = srn_window_spare_cases,
};

kunit_test_suite(srn_window_spare_suite);
