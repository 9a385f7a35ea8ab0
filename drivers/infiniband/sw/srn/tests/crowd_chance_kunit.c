// SPDX-License-Identifier: GPL-2.0-only
/* How much a very long path loses by chance, and what is more than that. */
#include "../crowd.h"

#include <kunit/test.h>
#include <linux/time64.h>

#define MS	((u64)NSEC_PER_MSEC)
#define PATH	(100 * MS)
#define FULL	256
#define SOME	128
#define FEW	64
#define LOT	16

static struct srn_crowd *new_crowd(struct kunit *test, u64 least_ns)
{
	struct srn_crowd *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	srn_crowd_start(c);
	srn_crowd_set_spread(c, true);
	srn_crowd_sample(c, least_ns, least_ns, MS, SOME, false);
	return c;
}

static void lose(struct srn_crowd *c, u32 num, u32 sent, u32 cwnd)
{
	srn_crowd_missed(c, num);
	srn_crowd_learn(c, sent, cwnd, FULL);
	srn_crowd_lost(c, sent, c->now_ns);
}

struct learn_row {
	const char *desc;
	u64 path_ns;
	u32 lost, sent, cwnd;	/* twice; then nothing of nothing, with more out */
	bool knows;
};

static const struct learn_row learn_rows[] = {
	{ "of many that go while some are out", PATH, 15, 512, SOME, true },
	{ "of fewer once more are out", PATH, 6, 128, SOME, true },
	{ "not of as good as none", PATH, 6, 112, SOME, false },
	{ "not while more are out", PATH, 25, 512, SOME + 1, false },
	{ "not while as good as none are", PATH, 25, 512, FEW, false },
	{ "not what is no chance", PATH, 52, 512, SOME, false },
	{ "not on a shorter path", 40 * MS - 1, 25, 512, SOME, false },
};

static void srn_crowd_learns_test(struct kunit *test)
{
	const struct learn_row *row;
	struct srn_crowd *c;
	int i;

	for (i = 0; i < ARRAY_SIZE(learn_rows); i++) {
		row = &learn_rows[i];
		c = new_crowd(test, row->path_ns);
		lose(c, row->lost, row->sent, row->cwnd);
		KUNIT_EXPECT_FALSE_MSG(test, c->knows, "%s", row->desc);
		lose(c, row->lost, row->sent, row->cwnd);
		lose(c, 0, 0, SOME + 1);
		KUNIT_EXPECT_EQ_MSG(test, (bool)c->knows, row->knows, "%s", row->desc);
	}
	/* Once. */
	c = new_crowd(test, PATH);
	lose(c, 50, 1024, SOME);
	lose(c, 0, 1 << 20, SOME);
	KUNIT_EXPECT_EQ(test, c->seen_sent[1], 1024 / LOT);
}

/* What grows with what is out is no chance: none of 256 may be two, and 13 may be 21. */
static void srn_crowd_learns_of_fewer_test(struct kunit *test)
{
	static const struct { u32 lost, sent, chance; } rows[] = { { 0, 256, 8 }, { 13, 256, 51 }, { 0, 240, 51 } };
	struct srn_crowd *c;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		c = new_crowd(test, PATH);
		lose(c, rows[i].lost, rows[i].sent, FEW);
		lose(c, 51, 1024, SOME);
		KUNIT_EXPECT_TRUE_MSG(test, c->knows, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, c->seen_lost[1], rows[i].chance, "%d", i);
	}
}

/* What is lost beside a queue, also one that was there before, or without answers, is none. */
static void srn_crowd_learns_of_no_queue_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	srn_crowd_sample(c, PATH + 7 * MS, PATH, MS, SOME, false);
	lose(c, 25, 512, SOME);
	lose(c, 25, 512, SOME);
	srn_crowd_sample(c, PATH + 7 * MS, PATH, MS, SOME, false);
	srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
	lose(c, 25, 512, SOME);
	srn_crowd_few(c);
	lose(c, 25, 512, SOME);
	lose(c, 25, 512, SOME);
	srn_crowd_few(c);
	srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
	lose(c, 25, 512, SOME);
	c->left = 100;
	srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
	lose(c, 25, 512, SOME);
	KUNIT_EXPECT_EQ(test, c->seen_sent[1], 0);
	/* Nor where no answer came since a loss that was a queue's. */
	c->mixed = false;
	lose(c, 25, 512, SOME);
	KUNIT_EXPECT_EQ(test, c->seen_sent[1], 0);
	c->left = 0;
	lose(c, 25, 512, SOME);
	KUNIT_EXPECT_EQ(test, c->seen_sent[1], 512 / LOT);
}

/* One in fifty: of 4096 80 are twice that and 24 more at most. Nothing goes off for those. Of few nothing is known. */
static void srn_crowd_chance_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	lose(c, 20, 1024, SOME);
	lose(c, 160 + 24, 4096, 2000);
	KUNIT_EXPECT_FALSE(test, srn_crowd_lost_much(c));
	KUNIT_EXPECT_FALSE(test, srn_crowd_overdoes(c, 2000, FULL));
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 2000), 0);
	lose(c, 9, 205, 2000);
	KUNIT_EXPECT_FALSE(test, srn_crowd_lost_much(c));
	lose(c, 9, 204, 2000);
	KUNIT_EXPECT_TRUE(test, srn_crowd_lost_much(c));
	KUNIT_EXPECT_FALSE(test, c->tight);
	lose(c, 160 + 25, 4096, 2000);
	KUNIT_EXPECT_TRUE(test, srn_crowd_lost_much(c));
	KUNIT_EXPECT_TRUE(test, srn_crowd_overdoes(c, 2000, FULL));
	KUNIT_EXPECT_FALSE(test, srn_crowd_overdoes(c, SOME, FULL));
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 2000), 2000 * 185 / 2 / 4096);
	KUNIT_EXPECT_TRUE(test, c->tight);
}

/* More than one in ten is none, whatever was learned. */
static void srn_crowd_chance_most_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	lose(c, 102, 1024, SOME);
	KUNIT_EXPECT_TRUE(test, c->knows);
	lose(c, 204, 2048, 2000);
	KUNIT_EXPECT_FALSE(test, srn_crowd_lost_much(c));
	lose(c, 205, 2048, 2000);
	KUNIT_EXPECT_TRUE(test, srn_crowd_lost_much(c));
}

/* Of a path that turns out to be shorter, by its answers or by what they took when little was out, nothing counts. */
static void srn_crowd_chance_shorter_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	lose(c, 51, 1024, SOME);
	lose(c, 205, 2048, 2000);
	KUNIT_EXPECT_TRUE(test, c->tight);
	lose(c, 50, 1024, 2000);
	c->path_ns = 40 * MS - 1;
	KUNIT_EXPECT_TRUE(test, srn_crowd_lost_much(c));
	KUNIT_EXPECT_FALSE(test, srn_crowd_overdoes(c, 2000, FULL));
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 2000), 2000 * 50 / 2 / 1024);
	c->path_ns = 40 * MS;
	KUNIT_EXPECT_FALSE(test, srn_crowd_lost_much(c));
	srn_crowd_sample(c, 40 * MS - 1, 40 * MS - 1, MS, 2000, false);
	KUNIT_EXPECT_FALSE(test, c->knows);
	KUNIT_EXPECT_FALSE(test, c->tight);
	KUNIT_EXPECT_EQ(test, c->seen_sent[1], 0);
	KUNIT_EXPECT_TRUE(test, srn_crowd_lost_much(c));
}

/* Others filled a queue while that was learned: of 2048 102 are to be lost, and not a quarter of that is. */
static void srn_crowd_chance_less_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	lose(c, 51, 1024, SOME);
	lose(c, 25, 2048, 2000);
	KUNIT_EXPECT_EQ(test, c->seen_lost[1], 51);
	/* Too few of that to tell: 31. */
	lose(c, 1, 640, 2000);
	KUNIT_EXPECT_EQ(test, c->seen_lost[1], 51);
	lose(c, 24, 2048, 2000);
	KUNIT_EXPECT_EQ(test, c->seen_lost[1], 24);
	lose(c, 0, 2048, 2000);
	KUNIT_EXPECT_EQ(test, c->seen_lost[1], 0);
	KUNIT_EXPECT_TRUE(test, c->knows);
	/* One in fifty, and by what that varies, is no chance any more. */
	lose(c, 40 + 6, 2048, 2000);
	KUNIT_EXPECT_FALSE(test, srn_crowd_lost_much(c));
	lose(c, 40 + 7, 2048, 2000);
	KUNIT_EXPECT_TRUE(test, srn_crowd_lost_much(c));
}

/* With a queue it goes off in spite of that. */
static void srn_crowd_chance_queue_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	lose(c, 51, 1024, SOME);
	srn_crowd_sample(c, PATH + 12 * MS, PATH, MS, 2000, false);
	lose(c, 10, 2048, 2000);
	KUNIT_EXPECT_GT(test, srn_crowd_cut(c, 2000), 200);
}

/* Where more was lost than by chance what is out grows by as much in each round trip, whatever it is. */
static void srn_crowd_tight_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	srn_crowd_path(c, false);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 2048, 256, 1000), 128);
	lose(c, 14, 511, 2048);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 2048, 256, 1000), 128);
	lose(c, 14, 512, 2048);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 2048, 256, 1000), 32);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 256, 256, 16), 32);
	/* Of a queue a thirty-second of what is out, half of that at least; no more than what is minded lets. */
	srn_crowd_sample(c, PATH + 2 * MS, PATH, MS, 512, false);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 256, 256, 16), 16);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 512, 256, 32), 16);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 2048, 256, 128), 32);
	srn_crowd_sample(c, PATH, PATH, MS, 2048, false);
	c->left = 1;
	srn_crowd_few(c);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 256, 256, 1), 1);
}

/* Once it is known half of what is out comes in a round trip, until two answers in a row are late, or more was lost. */
static void srn_crowd_fast_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);
	int i;

	srn_crowd_path(c, false);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, 200, 4), 12);
	lose(c, 20, 1024, SOME);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, 200, 4), 100);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 512, 256, 256), 128);
	for (i = 0; i < 3; i++) {
		srn_crowd_sample(c, PATH + 2 * MS, PATH, MS, 512, false);
		srn_crowd_path(c, true);
		srn_crowd_sample(c, PATH, PATH, MS, 512, false);
		srn_crowd_path(c, true);
	}
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 512, 256, 256), 128);
	for (i = 0; i < 2; i++) {
		srn_crowd_sample(c, PATH + 2 * MS, PATH, MS, 512, false);
		srn_crowd_path(c, true);
	}
	srn_crowd_sample(c, PATH, PATH, MS, 512, false);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 512, 256, 256), 32);

	c = new_crowd(test, PATH);
	srn_crowd_path(c, false);
	lose(c, 20, 1024, SOME);
	lose(c, 15, 300, 512);
	KUNIT_EXPECT_FALSE(test, c->met);
	lose(c, 17, 300, 512);
	KUNIT_EXPECT_EQ(test, srn_crowd_wide_steps(c, 512, 256, 256), 32);
}

/* What was lost before the first answer was no queue of a path that is very long, unless that shows: in 16 answers. It
 * is one where nobody wants it spread.
 */
static void srn_crowd_lost_first_test(struct kunit *test)
{
	static const struct { u64 path_ns, queue_ns; bool spreads, is; } rows[] = {
		{ PATH, 0, true, false }, { PATH, 50 * MS, true, true }, { 40 * MS - 1, 0, true, true },
		{ PATH, 0, false, true },
	};
	struct srn_crowd *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	int i, n;

	KUNIT_ASSERT_NOT_NULL(test, c);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_crowd_start(c);
		srn_crowd_set_spread(c, rows[i].spreads);
		srn_crowd_missed(c, 1);
		KUNIT_EXPECT_EQ_MSG(test, srn_crowd_lost(c, 16, MS), SRN_CROWD_FULL, "%d", i);
		for (n = 0; n < 16; n++) {
			u64 took = rows[i].path_ns + (n == 14 ? rows[i].queue_ns : 0);

			srn_crowd_sample(c, took, rows[i].path_ns, MS, SOME, false);
			KUNIT_EXPECT_EQ_MSG(test, srn_crowd_is(c), n < 15 || rows[i].is, "%d", i);
		}
	}
}

/* Likewise if that is wanted later, as what the peer keeps is known later; but not if something queued by then, nor of
 * what was lost since.
 */
static void srn_crowd_lost_first_later_test(struct kunit *test)
{
	static const struct { u64 queue_ns; u32 lost; bool is; } rows[] = {
		{ 0, 0, false }, { 50 * MS, 0, true }, { 0, 8, true },
	};
	struct srn_crowd *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	int i, n;

	KUNIT_ASSERT_NOT_NULL(test, c);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_crowd_start(c);
		srn_crowd_lost(c, 16, MS);
		srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
		srn_crowd_sample(c, PATH + rows[i].queue_ns, PATH, MS, SOME, false);
		srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
		/* Half of what went, twice, is a queue. */
		for (n = 0; n < 2; n++) {
			srn_crowd_missed(c, rows[i].lost);
			srn_crowd_lost(c, 16, MS);
		}
		srn_crowd_set_spread(c, true);
		for (n = 0; n < 16; n++)
			srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
		KUNIT_EXPECT_EQ_MSG(test, srn_crowd_is(c), rows[i].is, "%d", i);
	}
}

/* Who set it up does not want it, or has not said so yet: a very long path is as any other, and what was learned is
 * forgotten.
 */
static void srn_crowd_chance_plain_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	srn_crowd_start(c);
	srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
	lose(c, 51, 1024, SOME);
	lose(c, 0, 0, SOME + 1);
	KUNIT_EXPECT_FALSE(test, c->knows);
	srn_crowd_set_spread(c, true);
	lose(c, 51, 1024, SOME);
	lose(c, 205, 2048, 2000);
	KUNIT_EXPECT_TRUE(test, c->knows);
	KUNIT_EXPECT_TRUE(test, c->tight);
	srn_crowd_set_spread(c, false);
	KUNIT_EXPECT_FALSE(test, srn_crowd_overdoes(c, 2000, FULL));
	srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
	KUNIT_EXPECT_FALSE(test, c->knows);
	KUNIT_EXPECT_FALSE(test, c->tight);
}

static void age(struct srn_crowd *c, u32 answers)
{
	while (answers--)
		srn_crowd_sample(c, PATH, PATH, MS, 2000, false);
}

/* With 256 answers after what last said so neither what was learned counts, nor that much was lost. */
static void srn_crowd_ages_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	lose(c, 51, 1024, SOME);
	lose(c, 205, 2048, 2000);
	age(c, 255);
	KUNIT_EXPECT_TRUE(test, c->knows);
	KUNIT_EXPECT_TRUE(test, c->tight);
	/* As much as by chance, or a quarter of it, is no more than that. */
	lose(c, 25, 2048, 2000);
	age(c, 1);
	KUNIT_EXPECT_TRUE(test, c->knows);
	KUNIT_EXPECT_FALSE(test, c->tight);
	/* Less, or more, says nothing for it. */
	age(c, 253);
	lose(c, 6, 600, 2000);
	lose(c, 205, 2048, 2000);
	KUNIT_EXPECT_TRUE(test, c->tight);
	age(c, 1);
	KUNIT_EXPECT_TRUE(test, c->knows);
	age(c, 1);
	KUNIT_EXPECT_FALSE(test, c->knows);
	KUNIT_EXPECT_EQ(test, c->seen_sent[1], 0);
	KUNIT_EXPECT_TRUE(test, c->tight);
	/* How much may be out was found by then. */
	KUNIT_EXPECT_TRUE(test, c->met);
	/* What is learned anew, or was so again, is as young as it was at first. */
	lose(c, 51, 1024, SOME);
	age(c, 255);
	KUNIT_EXPECT_TRUE(test, c->knows);
	lose(c, 205, 2048, 2000);
	age(c, 200);
	lose(c, 205, 2048, 2000);
	age(c, 255);
	KUNIT_EXPECT_TRUE(test, c->tight);
}

/* A peer that says that it keeps less, and then more again, does not make one forget that more was lost: only a path that is
 * shorter does.
 */
static void srn_crowd_met_stays_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, PATH);

	lose(c, 20, 1024, SOME);
	lose(c, 300, 600, 512);
	KUNIT_EXPECT_TRUE(test, c->knows && c->met && c->tight);
	srn_crowd_set_spread(c, false);
	srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
	srn_crowd_set_spread(c, true);
	srn_crowd_sample(c, PATH, PATH, MS, SOME, false);
	KUNIT_EXPECT_FALSE(test, c->knows || c->tight);
	KUNIT_EXPECT_TRUE(test, c->met);
	srn_crowd_sample(c, 30 * MS, 30 * MS, MS, SOME, false);
	KUNIT_EXPECT_FALSE(test, c->met || c->tight);
}

static struct kunit_case srn_crowd_chance_cases[] = {
	KUNIT_CASE(srn_crowd_learns_test),
	KUNIT_CASE(srn_crowd_learns_of_fewer_test),
	KUNIT_CASE(srn_crowd_learns_of_no_queue_test),
	KUNIT_CASE(srn_crowd_chance_test),
	KUNIT_CASE(srn_crowd_chance_most_test),
	KUNIT_CASE(srn_crowd_chance_shorter_test),
	KUNIT_CASE(srn_crowd_chance_less_test),
	KUNIT_CASE(srn_crowd_chance_queue_test),
	KUNIT_CASE(srn_crowd_tight_test),
	KUNIT_CASE(srn_crowd_fast_test),
	KUNIT_CASE(srn_crowd_lost_first_test),
	KUNIT_CASE(srn_crowd_lost_first_later_test),
	KUNIT_CASE(srn_crowd_chance_plain_test),
	KUNIT_CASE(srn_crowd_ages_test),
	KUNIT_CASE(srn_crowd_met_stays_test),
	{}
};

static struct kunit_suite srn_crowd_chance_suite = {
	.name = "srn_crowd_chance",
	.test_cases = srn_crowd_chance_cases,
};

kunit_test_suite(srn_crowd_chance_suite);
