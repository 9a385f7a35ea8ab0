// SPDX-License-Identifier: GPL-2.0-only
/* What is in flight on long paths: more than fills a short one, and how that comes and goes. */
#include "../window.h"
#include "fake_window.h"

#include <kunit/test.h>
#include <linux/time64.h>

#define MS	((u64)NSEC_PER_MSEC)
#define PATH	(100 * MS)
/* A queue, and the fastest answer lately is as late. */
#define HIDDEN	(104 * MS)

/* What was timed took so long, and the fastest lately @least_ns. */
static void answer(struct srn_window *w, u64 took_ns, u64 least_ns)
{
	srn_window_time(w, w->una, 0, true);
	srn_window_delay(w, least_ns, took_ns);
	srn_window_mind(w);
}

/* Its peer holds what is ahead, and so many may be in flight, which are spread, or not. */
static struct srn_window *new_window_of(struct kunit *test, u32 cwnd, bool spreads)
{
	struct srn_window *w = fake_window(test, 0);

	srn_window_set_reach(w, SRN_HOLD_WIDE);
	srn_window_set_spread(w, spreads);
	answer(w, PATH, PATH);
	w->cwnd = cwnd;
	w->ssthresh = SRN_WINDOW;
	return w;
}

/* As it is where nobody asked for more. */
static struct srn_window *new_window(struct kunit *test, u32 cwnd)
{
	return new_window_of(test, cwnd, false);
}

/* All but one are answered: the program has more. */
static void turn_over(struct srn_window *w)
{
	fake_fill(w);
	srn_window_acked(w, srn_psn_add(w->at.psn, -1));
}

/* As many as fill a short path for each part of it, in packets and bytes; to a peer that holds them. */
static void srn_window_wide_most_test(struct kunit *test)
{
	static const struct { u64 path; u32 mtu, reach, most; } rows[] = {
		{ MS, 1024, SRN_HOLD_WIDE, SRN_WINDOW },
		{ 10 * MS, 1024, SRN_HOLD_WIDE, SRN_WINDOW },
		{ 12 * MS, 1024, SRN_HOLD_WIDE, SRN_WINDOW },
		{ 12500000, 1024, SRN_HOLD_WIDE, SRN_WINDOW * 5 / 4 },
		{ 15 * MS, 1024, SRN_HOLD_WIDE, SRN_WINDOW * 3 / 2 },
		{ 100 * MS, 1024, SRN_HOLD_WIDE, 10 * SRN_WINDOW },
		{ 100 * MS, 256, SRN_HOLD_WIDE, 10 * SRN_WINDOW },
		{ 1000 * MS, 1024, SRN_HOLD_WIDE, SRN_WINDOW_WIDE },
		{ U64_MAX / 2, 1024, SRN_HOLD_WIDE, SRN_WINDOW_WIDE },
		{ 1000 * MS, 4096, SRN_HOLD_WIDE, SRN_WINDOW_WIDE_BYTES / 4096 },
		{ 100 * MS, 1024, SRN_HOLD_AHEAD + 1, 10 * SRN_WINDOW },
		{ 100 * MS, 1024, SRN_HOLD_AHEAD, SRN_WINDOW },
		{ 100 * MS, 1024, SRN_PSN_MASK / 2, SRN_WINDOW },
		{ 1000 * MS, 4096, SRN_PSN_MASK / 2, SRN_WINDOW_BYTES / 4096 },
	};
	struct srn_window *w = new_window(test, SRN_WINDOW);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_window_start(w, 0, rows[i].mtu);
		srn_window_set_reach(w, rows[i].reach);
		answer(w, rows[i].path, rows[i].path);
		KUNIT_EXPECT_EQ_MSG(test, w->most, rows[i].most, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, w->ssthresh, rows[i].most, "%d", i);
		/* A path that has become short takes no more than that. */
		w->cwnd = w->most;
		answer(w, MS, MS);
		KUNIT_EXPECT_EQ_MSG(test, w->cwnd, w->full, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, w->ssthresh, w->full, "%d", i);
	}
}

/* From what fills a short path on it grows by a sixteenth while nothing queues, slower with a little, and with
 * more not at all; below that as ever.
 */
static void srn_window_wide_grows_test(struct kunit *test)
{
	static const struct { u32 cwnd; u64 queue; u32 more; } rows[] = {
		{ SRN_WINDOW, 0, SRN_WINDOW / 16 },
		{ SRN_WINDOW, MS, SRN_WINDOW / 16 },
		{ SRN_WINDOW, 2 * MS, SRN_WINDOW / 32 },
		{ SRN_WINDOW, 4 * MS, SRN_WINDOW / 32 },
		{ SRN_WINDOW, 5 * MS, 0 },
		{ SRN_WINDOW - 16, 5 * MS, 16 },
		{ 4 * SRN_WINDOW, MS / 2, SRN_WINDOW / 4 },
		{ 4 * SRN_WINDOW, 2 * MS, SRN_WINDOW / 8 },
		{ 4 * SRN_WINDOW, 3 * MS, 0 },
		{ 8 * SRN_WINDOW, 2 * MS, SRN_WINDOW / 4 },
		{ 8 * SRN_WINDOW, 3 * MS, 0 },
	};
	struct srn_window *w;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = new_window(test, rows[i].cwnd);
		answer(w, PATH + rows[i].queue, PATH);
		turn_over(w);
		KUNIT_EXPECT_LE_MSG(test, w->cwnd, rows[i].cwnd + rows[i].more, "%d", i);
		KUNIT_EXPECT_GE_MSG(test, w->cwnd, rows[i].cwnd + rows[i].more - rows[i].more / 8, "%d", i);
	}
	/* Of a path that is not as long no more than a sixteenth. */
	w = new_window(test, SRN_WINDOW);
	answer(w, 20 * MS, 20 * MS);
	answer(w, 21 * MS, 20 * MS);
	turn_over(w);
	KUNIT_EXPECT_GT(test, w->cwnd, SRN_WINDOW);
	w->cwnd = SRN_WINDOW;
	answer(w, 22 * MS, 20 * MS);
	turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	/* Until it has lost something it doubles, up to the most. */
	w = new_window(test, SRN_WINDOW);
	w->ssthresh = w->most;
	turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 2 * SRN_WINDOW - 1);
	w->cwnd = w->most - 1;
	turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 10 * SRN_WINDOW);
}

/* What stands in a queue that is twice as long as it may grow with is taken off, down to what fills a short
 * path.
 */
static void srn_window_wide_shrinks_test(struct kunit *test)
{
	static const struct { u32 cwnd; u64 queue; u32 left; } rows[] = {
		{ 1024, 4 * MS, 1024 },
		{ 1024, 9 * MS, 1024 - 1024 * 5 / 109 },
		{ 260, 400 * MS, SRN_WINDOW },
		{ SRN_WINDOW, 400 * MS, SRN_WINDOW },
	};
	struct srn_window *w;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = new_window(test, rows[i].cwnd);
		answer(w, PATH + rows[i].queue, PATH);
		KUNIT_EXPECT_EQ_MSG(test, w->cwnd, rows[i].left, "%d", i);
		KUNIT_EXPECT_LE(test, w->ssthresh, w->cwnd);
	}
}

/* The queue that what is out makes itself is one though no answer lately was without it. */
static void srn_window_wide_hidden_test(struct kunit *test)
{
	struct srn_window *w = new_window(test, 4 * SRN_WINDOW);

	answer(w, HIDDEN, HIDDEN);
	turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 4 * SRN_WINDOW);
	/* With less out it is the path that is longer now. */
	w = new_window(test, SRN_WINDOW);
	answer(w, HIDDEN, HIDDEN);
	KUNIT_EXPECT_EQ(test, w->most, SRN_WINDOW * 104 / 10);
	turn_over(w);
	KUNIT_EXPECT_GT(test, w->cwnd, SRN_WINDOW);
}

/* A loss in such a queue is no chance; one without takes half of its part, as on any long path. */
static void srn_window_wide_lost_test(struct kunit *test)
{
	struct srn_window *w;
	int spreads;

	for (spreads = 0; spreads < 2; spreads++) {
		w = new_window_of(test, 1024, spreads);
		srn_window_sent(w, 1000, true, false);
		srn_window_lost(w, 10, 0, PATH);
		KUNIT_EXPECT_EQ_MSG(test, w->cwnd, 1024 - 1024 * 10 / 2 / 1000, "%d", spreads);
		w = new_window_of(test, 1024, spreads);
		srn_window_sent(w, 1000, true, false);
		w->cut = true;
		answer(w, PATH + 5 * MS, PATH);
		w->cut = false;
		w->cwnd = 1024;
		srn_window_lost(w, 10, 0, PATH);
		/* Twice what is too much of it, where that is spread; else a quarter. */
		KUNIT_EXPECT_EQ_MSG(test, 1024 - w->cwnd,
				    spreads ? 2 * srn_crowd_wide_excess(&w->crowd, 1024, SRN_WINDOW) : 256,
				    "%d", spreads);
	}
	w->most = SRN_WINDOW_SPREAD * SRN_WINDOW - 1;
	w->cut = false;
	w->cwnd = 1024;
	srn_window_lost(w, 10, 0, PATH);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1024 - 256);
}

/* It does not double again where it had to be less, however much the path takes. */
static void srn_window_wide_keeps_threshold_test(struct kunit *test)
{
	struct srn_window *w = new_window(test, SRN_WINDOW);

	w->ssthresh = SRN_WINDOW / 2;
	answer(w, PATH, PATH);
	KUNIT_EXPECT_EQ(test, w->ssthresh, SRN_WINDOW / 2);
	w->ssthresh = 8 * SRN_WINDOW;
	answer(w, 30 * MS, 30 * MS);
	KUNIT_EXPECT_EQ(test, w->most, 3 * SRN_WINDOW);
	KUNIT_EXPECT_LT(test, w->ssthresh, 3 * SRN_WINDOW);
	/* Nor when it takes more again. */
	answer(w, PATH, PATH);
	KUNIT_EXPECT_EQ(test, w->most, 10 * SRN_WINDOW);
	KUNIT_EXPECT_LT(test, w->ssthresh, 3 * SRN_WINDOW);
}

/* More than fills a short path grows with what is used of it, and, where much was lost, not while what was out then
 * is. By how much that varies is allowed for where it is spread.
 */
static void srn_window_wide_used_test(struct kunit *test)
{
	static const struct { u32 cwnd, out, gone, lost; bool cut, grows, spreads; } rows[] = {
		{ 1024, 512, 0, 0, false, true }, { 1024, 511, 0, 0, false, false },
		{ 1024, 700, 188, 0, false, true }, { 1024, 700, 189, 0, false, false },
		{ 1024, 1024, 0, 21, true, false }, { 1024, 1024, 0, 20, true, true },
		{ 1024, 1024, 0, 21, false, true },
		{ SRN_WINDOW, SRN_WINDOW / 2 - 1, 0, 0, false, false },
		{ SRN_WINDOW - 1, 32, 0, 0, false, true }, { SRN_WINDOW - 1, 255, 0, 21, true, true },
		{ 1024, 512, 0, 0, false, true, true }, { 1024, 511, 0, 0, false, false, true },
		{ 1024, 1024, 0, 25, true, false, true }, { 1024, 1024, 0, 24, true, true, true },
		{ 1024, 1024, 0, 25, false, true, true },
		{ SRN_WINDOW - 1, 32, 0, 0, false, true, true }, { SRN_WINDOW - 1, 255, 0, 25, true, true, true },
	};
	struct srn_window *w;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = new_window_of(test, rows[i].cwnd, rows[i].spreads);
		w->ssthresh = w->most;
		srn_window_sent(w, rows[i].out, true, false);
		w->gone = rows[i].gone;
		w->crowd.was_lost = rows[i].lost;
		w->crowd.was_sent = 1000;
		w->cut = rows[i].cut;
		w->cut_end = w->end;
		srn_window_acked(w, 16);
		KUNIT_EXPECT_EQ_MSG(test, w->cwnd > rows[i].cwnd, rows[i].grows, "%d", i);
		/* So it is with what a SACK tells of, which was out until then. */
		w = new_window_of(test, rows[i].cwnd, rows[i].spreads);
		w->ssthresh = w->most;
		srn_window_sent(w, rows[i].out, true, false);
		w->gone = rows[i].gone + 16;
		w->crowd.was_lost = rows[i].lost;
		w->crowd.was_sent = 1000;
		w->cut = rows[i].cut;
		srn_window_came(w, 16);
		KUNIT_EXPECT_EQ_MSG(test, w->cwnd > rows[i].cwnd, rows[i].grows, "%d", i);
	}
}

/* What the program has after all was answered, or what goes again from the oldest on, leaves as fast as the wire is:
 * no more than on a short path, and twice as much with each window that is answered.
 */
static void srn_window_wide_burst_test(struct kunit *test)
{
	struct srn_window *w = new_window(test, 1024);

	srn_window_sent(w, 1000, true, false);
	srn_window_acked(w, 999);
	KUNIT_EXPECT_GE(test, w->cwnd, 1024);
	srn_window_acked(w, 1000);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	KUNIT_EXPECT_GE(test, w->ssthresh, 1024);
	w = new_window(test, 1024);
	srn_window_sent(w, 1000, true, false);
	srn_window_seek(w, (struct srn_cursor){ .psn = w->una });
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, w->ssthresh, 1024);
	turn_over(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 2 * SRN_WINDOW - 1);
	/* Nothing is on its way behind a READ's last answer, either, which many came before. */
	w = new_window(test, 1024);
	srn_window_sent(w, 200, true, true);
	srn_window_set_coming(w, 50);
	srn_window_acked(w, 200);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	/* Nor is any of what the peer had, or lost, before all was answered. */
	w = new_window(test, 1024);
	srn_window_sent(w, 200, true, false);
	srn_window_set_out(w, 50);
	srn_window_acked(w, 200);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	/* Forward it is what is on its way, and some. */
	w = new_window(test, 1024);
	srn_window_sent(w, 1000, true, false);
	srn_window_seek(w, w->at);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1024);
}

/* However long nothing was lost, a loss is of many, not of a few, or of more than there are. */
static void srn_window_wide_long_test(struct kunit *test)
{
	static const u32 ago[] = { 1 << 22, (1 << 23) + 1, SRN_PSN_MASK };
	struct srn_window *w;
	u32 i, psn;

	for (i = 0; i < ARRAY_SIZE(ago); i++) {
		w = new_window(test, 1024);
		for (psn = 0; psn + 1024 < ago[i]; psn += 1024) {
			srn_window_sent(w, 1024, true, false);
			srn_window_acked(w, w->at.psn);
			answer(w, PATH, PATH);
		}
		w->cwnd = 1024;
		srn_window_sent(w, 1000, true, false);
		KUNIT_EXPECT_GE(test, srn_psn_diff(w->end, w->judged_end), 1 << 21);
		srn_window_lost(w, 100, 0, PATH);
		KUNIT_EXPECT_GE(test, w->cwnd, 1023);
	}
}

/* One in fifty is no chance, and a queue of which nothing is seen. */
static void srn_window_wide_lost_much_test(struct kunit *test)
{
	static const struct { u32 cwnd, lost, left; bool spreads; } rows[] = {
		{ 1024, 20, 1024 - 1024 * 20 / 2 / 1000 }, { 1024, 21, 1024 - 256 },
		{ SRN_WINDOW, 21, SRN_WINDOW - SRN_WINDOW * 21 / 2 / 1000 },
		{ 1024, 24, 1024 - 1024 * 24 / 2 / 1000, true }, { 1024, 25, 1024 - 341, true },
		{ SRN_WINDOW, 25, SRN_WINDOW - SRN_WINDOW * 25 / 2 / 1000, true },
	};
	struct srn_window *w;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = new_window_of(test, rows[i].cwnd, rows[i].spreads);
		srn_window_sent(w, 1000, true, false);
		srn_window_lost(w, rows[i].lost, 0, PATH);
		KUNIT_EXPECT_EQ_MSG(test, w->cwnd, rows[i].left, "%d", i);
	}
}

/* How much is lost by chance is learned on a very long path, if that is spread, of what is sent without READs, and each
 * learns it anew. Whether it is to be spread nobody inherits.
 */
static void srn_window_wide_learns_test(struct kunit *test)
{
	static const struct { u64 path; bool spreads, read; u32 seen; } rows[] = {
		{ PATH, true, false, 512 / 16 }, { PATH, true, true, 0 }, { PATH, false, false, 0 },
		{ 40 * MS, true, false, 512 / 16 }, { 39 * MS, true, false, 0 },
	};
	struct srn_legacy legacy = {};
	struct srn_window *w;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = new_window_of(test, SRN_WINDOW / 2, rows[i].spreads);
		answer(w, rows[i].path, rows[i].path);
		srn_window_sent(w, 512, true, rows[i].read);
		srn_window_lost(w, 10, 0, PATH);
		KUNIT_EXPECT_EQ_MSG(test, w->crowd.seen_sent[1], rows[i].seen, "%d", i);
		w->crowd.knows = true;
		w->crowd.tight = true;
		srn_window_leave(w, &legacy);
		w = new_window_of(test, SRN_WINDOW / 2, !rows[i].spreads);
		srn_window_inherit(w, &legacy);
		KUNIT_EXPECT_NE_MSG(test, (bool)w->crowd.spreads, rows[i].spreads, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, w->crowd.least_ns, rows[i].path, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, w->crowd.seen_sent[1], 0, "%d", i);
		KUNIT_EXPECT_FALSE_MSG(test, w->crowd.knows, "%d", i);
		KUNIT_EXPECT_FALSE_MSG(test, w->crowd.tight, "%d", i);
	}
}

/* To a peer that keeps no more than each does a very long path is as any other. */
static void srn_window_wide_peer_test(struct kunit *test)
{
	static const struct { u32 reach; bool on, spreads; } rows[] = {
		{ SRN_HOLD_WIDE, true, true }, { SRN_HOLD_AHEAD + 1, true, true }, { SRN_HOLD_AHEAD, true, false },
		{ SRN_PSN_MASK / 2, true, false }, { SRN_HOLD_WIDE, false, false },
	};
	struct srn_window *w;
	int i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = fake_window(test, 0);
		srn_window_set_reach(w, rows[i].reach);
		srn_window_sent(w, SRN_WINDOW_FEW, true, false);
		srn_window_lost(w, 1, 0, MS);
		srn_window_set_spread(w, rows[i].on);
		for (n = 0; n < 16; n++)
			answer(w, PATH, PATH);
		KUNIT_EXPECT_EQ_MSG(test, srn_window_is_very_long(w), rows[i].spreads, "%d", i);
		KUNIT_EXPECT_NE_MSG(test, srn_crowd_is(&w->crowd), rows[i].spreads, "%d", i);
		w->crowd.was_lost = 100;
		w->crowd.was_sent = 1000;
		KUNIT_EXPECT_EQ_MSG(test, srn_crowd_overdoes(&w->crowd, SRN_WINDOW, SRN_WINDOW), rows[i].spreads,
				    "%d", i);
	}
}

/* To a peer that does not keep what it said no more is out than to any; it may say so anew. */
static void srn_window_hold_back_test(struct kunit *test)
{
	struct srn_window *w = new_window_of(test, 1024, true);

	srn_window_hold_back(w);
	KUNIT_EXPECT_FALSE(test, w->crowd.spreads);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, w->most, SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, w->reach, SRN_HOLD_AHEAD);
	KUNIT_EXPECT_TRUE(test, srn_window_wants_reach(w));
	answer(w, PATH, PATH);
	KUNIT_EXPECT_EQ(test, w->most, SRN_WINDOW);
	srn_window_set_reach(w, SRN_HOLD_WIDE);
	KUNIT_EXPECT_FALSE(test, srn_window_wants_reach(w));
	answer(w, PATH, PATH);
	KUNIT_EXPECT_EQ(test, w->most, 10 * SRN_WINDOW);
	/* Nobody said anything. */
	srn_window_start(w, 0, 1024);
	srn_window_hold_back(w);
	KUNIT_EXPECT_GT(test, w->reach, SRN_HOLD_WIDE);
	answer(w, PATH, PATH);
	KUNIT_EXPECT_FALSE(test, srn_window_wants_reach(w));
	/* Less than that stays. */
	srn_window_set_reach(w, SRN_WINDOW);
	srn_window_hold_back(w);
	KUNIT_EXPECT_EQ(test, w->reach, SRN_WINDOW);
}

/* A READ asks for no more at once than the window of a short path. */
static void srn_window_wide_chunk_test(struct kunit *test)
{
	struct srn_window *w = new_window(test, 10 * SRN_WINDOW);
	u32 reads;

	for (reads = 1; reads <= SRN_MAX_RD_ATOMIC; reads *= 2) {
		w->ssthresh = SRN_WINDOW / 2;
		KUNIT_EXPECT_LE(test, srn_window_chunk(w, 5000, reads, true), SRN_WINDOW);
		KUNIT_EXPECT_LE(test, srn_window_chunk(w, 5000, reads, false), SRN_WINDOW);
		w->ssthresh = 10 * SRN_WINDOW;
		KUNIT_EXPECT_LE(test, srn_window_chunk(w, 5000, reads, true), SRN_WINDOW);
		KUNIT_EXPECT_LE(test, srn_window_chunk(w, 5000, reads, false), SRN_WINDOW);
	}
}

/* When a gap is filled, what was behind it makes room at once: not all of that leaves as one, where it is not
 * spread.
 */
static void srn_window_refilled_test(struct kunit *test)
{
	struct srn_window *w = new_window_of(test, 1024, true);

	srn_window_sent(w, 100, true, false);
	srn_window_refilled(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1024);
	w->most = SRN_WINDOW_SPREAD * SRN_WINDOW - 1;
	srn_window_refilled(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 164);
	/* READs never are. */
	w = new_window_of(test, 1024, true);
	srn_window_sent(w, 100, true, true);
	srn_window_refilled(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 164);
	w = new_window(test, 1024);
	srn_window_sent(w, 100, true, false);
	srn_window_refilled(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 164);
	KUNIT_EXPECT_EQ(test, w->ssthresh, 1024);
	w = new_window(test, 1024);
	srn_window_sent(w, 1000, true, false);
	srn_window_refilled(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, 1024);
	w = new_window(test, SRN_WINDOW);
	srn_window_refilled(w);
	KUNIT_EXPECT_EQ(test, w->cwnd, SRN_WINDOW);
}

static struct kunit_case srn_window_wide_cases[] = {
	KUNIT_CASE(srn_window_wide_most_test),
	KUNIT_CASE(srn_window_wide_grows_test),
	KUNIT_CASE(srn_window_wide_shrinks_test),
	KUNIT_CASE(srn_window_wide_hidden_test),
	KUNIT_CASE(srn_window_wide_lost_test),
	KUNIT_CASE(srn_window_wide_long_test),
	KUNIT_CASE(srn_window_wide_lost_much_test),
	KUNIT_CASE(srn_window_wide_learns_test),
	KUNIT_CASE(srn_window_wide_keeps_threshold_test),
	KUNIT_CASE(srn_window_wide_used_test),
	KUNIT_CASE(srn_window_wide_burst_test),
	KUNIT_CASE(srn_window_wide_peer_test),
	KUNIT_CASE(srn_window_hold_back_test),
	KUNIT_CASE(srn_window_wide_chunk_test),
	KUNIT_CASE(srn_window_refilled_test),
	{}
};

static struct kunit_suite srn_window_wide_suite = {
	.name = "srn_window_wide",
	.test_cases = srn_window_wide_cases,
};
kunit_test_suite(srn_window_wide_suite);
