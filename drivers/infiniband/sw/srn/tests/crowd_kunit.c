// SPDX-License-Identifier: GPL-2.0-only
/* When a loss is a full queue, how much of one may stand then, and when that ends. */
#include "../crowd.h"

#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/time64.h>

#define US	((u64)NSEC_PER_USEC)
#define MS	((u64)NSEC_PER_MSEC)
#define LEAST	(200 * US)
#define NOISE	(500 * US)
#define FULL	(8 * MS)
#define STAY	256u
#define VAIN	256
#define CWND	64u

/* It is known how long the path is, and it was not looked at lately. */
static struct srn_crowd *new_crowd(struct kunit *test, u64 least_ns)
{
	struct srn_crowd *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	srn_crowd_start(c);
	srn_crowd_sample(c, least_ns, least_ns, MS, CWND, false);
	return c;
}

/* An answer that took so much longer than the path. */
static void answer(struct srn_crowd *c, u64 delay_ns)
{
	srn_crowd_sample(c, c->least_ns + delay_ns, c->least_ns, c->now_ns, CWND, false);
}

static enum srn_crowd_loss lost(struct srn_crowd *c, u32 num)
{
	srn_crowd_missed(c, num);
	return srn_crowd_lost(c, CWND, c->now_ns);
}

/* Its queue was full just now, and the path has been looked at for that. */
static struct srn_crowd *crowded(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, LEAST);

	answer(c, FULL);
	KUNIT_ASSERT_EQ(test, lost(c, 1), SRN_CROWD_BLIND);
	KUNIT_ASSERT_TRUE(test, srn_crowd_is(c));
	answer(c, FULL);
	return c;
}

static void srn_crowd_sample_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, LEAST);

	KUNIT_EXPECT_EQ(test, srn_crowd_sample(c, 3 * LEAST, LEAST, MS, CWND, false), 2 * LEAST);
	KUNIT_EXPECT_EQ(test, srn_crowd_sample(c, 3 * LEAST, 2 * LEAST, MS, CWND, false), LEAST);
	KUNIT_EXPECT_EQ(test, srn_crowd_sample(c, LEAST, U64_MAX, MS, CWND, false), 0ull);
	KUNIT_EXPECT_EQ(test, c->least_ns, LEAST);
}

/* A loss while nothing queues is one by chance; while much does, a full queue: once so much as is
 * no noise, later half of what was too much.
 */
static void srn_crowd_loss_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, LEAST);

	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_CHANCE);
	answer(c, NOISE - 1);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_CHANCE);
	KUNIT_EXPECT_FALSE(test, srn_crowd_is(c));
	answer(c, NOISE);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_BLIND);
	KUNIT_EXPECT_TRUE(test, srn_crowd_is(c));
	answer(c, FULL);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
	answer(c, FULL / 2 - 1);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_CHANCE);
	answer(c, FULL / 2);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
}

/* On a long path answers vary by more. */
static void srn_crowd_noise_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, 80 * MS);

	answer(c, 10 * MS - 1);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_CHANCE);
	answer(c, 10 * MS);
	/* To look would cost a round trip for each that is lost. */
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
	KUNIT_EXPECT_FALSE(test, srn_crowd_looks(c));
}

/* Of a path of which nothing is known a loss says the worst. */
static void srn_crowd_unknown_test(struct kunit *test)
{
	struct srn_crowd *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	srn_crowd_start(c);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
	KUNIT_EXPECT_TRUE(test, srn_crowd_is(c));
	/* Which is no reason to stand still. */
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 4);
	KUNIT_EXPECT_EQ(test, srn_crowd_excess(c, CWND), 0);
}

/* More than a quarter of what was out, twice in a row, is no chance. */
static void srn_crowd_heavy_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, LEAST);

	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_CHANCE);
	KUNIT_EXPECT_EQ(test, lost(c, CWND / 4 + 1), SRN_CROWD_CHANCE);
	KUNIT_EXPECT_EQ(test, lost(c, CWND / 4), SRN_CROWD_CHANCE);
	KUNIT_EXPECT_EQ(test, lost(c, CWND / 4 + 1), SRN_CROWD_CHANCE);
	KUNIT_EXPECT_EQ(test, lost(c, CWND / 4 + 1), SRN_CROWD_BLIND);
	KUNIT_EXPECT_EQ(test, lost(c, CWND / 4 + 1), SRN_CROWD_CHANCE);
}

/* Four of a few are chance, five of them twice in a row are not. */
static void srn_crowd_heavy_few_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, LEAST);
	int i;

	for (i = 0; i < 10; i++) {
		srn_crowd_missed(c, 4);
		KUNIT_EXPECT_EQ(test, srn_crowd_lost(c, 0, MS), SRN_CROWD_CHANCE);
	}
	srn_crowd_missed(c, 5);
	KUNIT_EXPECT_EQ(test, srn_crowd_lost(c, 0, MS), SRN_CROWD_CHANCE);
	srn_crowd_missed(c, 5);
	KUNIT_EXPECT_EQ(test, srn_crowd_lost(c, 0, MS), SRN_CROWD_BLIND);
}

/* What was queued long ago is no reason of a loss; but answers of a long queue are as far apart as it is long. */
static void srn_crowd_old_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, LEAST);
	const u64 old = MS + 100 * MS + 4 * (LEAST + FULL);

	answer(c, FULL);
	KUNIT_EXPECT_EQ(test, srn_crowd_lost(c, CWND, old + 1), SRN_CROWD_CHANCE);
	KUNIT_EXPECT_NE(test, srn_crowd_lost(c, CWND, old), SRN_CROWD_CHANCE);
}

/* One packet at a time, and the queue stays: it is not its own. */
static void srn_crowd_in_vain_test(struct kunit *test)
{
	struct srn_crowd *c = crowded(test);
	int i;

	for (i = 0; i < 100; i++) {
		answer(c, FULL);
		srn_crowd_sample(c, LEAST + FULL, LEAST, MS, 2, false);
	}
	for (i = 0; i < VAIN - 1; i++)
		srn_crowd_sample(c, LEAST + FULL, LEAST, MS, 1, true);
	srn_crowd_sample(c, LEAST, LEAST, MS, 1, true);
	for (i = 0; i < VAIN - 1; i++)
		srn_crowd_sample(c, LEAST + FULL, LEAST, MS, 1, true);
	KUNIT_EXPECT_TRUE(test, srn_crowd_is(c));
	srn_crowd_sample(c, LEAST + FULL, LEAST, MS, 1, true);
	KUNIT_EXPECT_FALSE(test, srn_crowd_is(c));
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, 1, 4), 4);
}

/* The path is looked at again after a second and 400 of its round trips, in which a loss says that, or
 * nothing is lost.
 */
static void srn_crowd_looks_test(struct kunit *test)
{
	struct srn_crowd *c = crowded(test);
	u64 again = c->now_ns + NSEC_PER_SEC + 400 * LEAST;

	c->now_ns = again - 1;
	answer(c, FULL);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
	KUNIT_EXPECT_FALSE(test, srn_crowd_looks(c));
	c->now_ns = again;
	KUNIT_EXPECT_TRUE(test, srn_crowd_looks(c));
	KUNIT_EXPECT_FALSE(test, srn_crowd_looks(c));
	answer(c, FULL);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
	c->now_ns = again + NSEC_PER_SEC + 400 * LEAST;
	answer(c, FULL);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_BLIND);
	KUNIT_EXPECT_FALSE(test, srn_crowd_looks(c));
}

/* Where queues are not minded there is nothing to look for. */
static void srn_crowd_looks_not_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, LEAST);

	c->now_ns = 1000 * (u64)NSEC_PER_SEC;
	KUNIT_EXPECT_FALSE(test, srn_crowd_looks(c));
}

/* Until so many answers in a row found less than half of what may stand. */
static void srn_crowd_ends_test(struct kunit *test)
{
	struct srn_crowd *c = crowded(test);
	u32 i;

	for (i = 0; i < STAY - 1; i++)
		answer(c, 0);
	KUNIT_EXPECT_TRUE(test, srn_crowd_is(c));
	answer(c, c->enough_ns / 2);
	for (i = 0; i < STAY - 1; i++)
		answer(c, c->enough_ns / 2 - 1);
	KUNIT_EXPECT_TRUE(test, srn_crowd_is(c));
	answer(c, 0);
	KUNIT_EXPECT_FALSE(test, srn_crowd_is(c));
	/* And what was too much then is forgotten. */
	answer(c, NOISE);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
}

/* The fewer are out the more may stand: (0.5 + 6 sqrt(2 / cwnd)) of the noise, but no more than three
 * quarters of what was too much.
 */
static void srn_crowd_enough_test(struct kunit *test)
{
	static const struct { u32 cwnd; u64 us; } rows[] = {
		{ 1, 4492 }, { 2, 3250 }, { 32, 1000 }, { 128, 625 }, { 512, 500 },
	};
	struct srn_crowd *c = crowded(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		srn_crowd_sample(c, LEAST, LEAST, MS, rows[i].cwnd, false);
		KUNIT_EXPECT_GE(test, c->enough_ns + US, rows[i].us * US);
		KUNIT_EXPECT_LE(test, c->enough_ns, (rows[i].us + 2) * US);
	}
	c = new_crowd(test, LEAST);
	answer(c, 4 * MS);
	lost(c, 1);
	srn_crowd_sample(c, LEAST, LEAST, MS, 1, true);
	KUNIT_EXPECT_EQ(test, c->enough_ns, 3 * MS);
}

/* Before anything was lost by a queue that was seen, too; and what is noise is no queue. */
static void srn_crowd_enough_unknown_test(struct kunit *test)
{
	struct srn_crowd *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	srn_crowd_start(c);
	KUNIT_ASSERT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
	srn_crowd_sample(c, LEAST, LEAST, MS, 32, false);
	KUNIT_EXPECT_EQ(test, c->enough_ns, 1000 * US);
	c = new_crowd(test, LEAST);
	answer(c, NOISE);
	lost(c, 1);
	srn_crowd_sample(c, LEAST, LEAST, MS, 1, true);
	KUNIT_EXPECT_EQ(test, c->enough_ns, NOISE);
}

/* It is forgotten in time, whatever answers take: what stays may be no queue of its own. */
static void srn_crowd_longest_test(struct kunit *test)
{
	struct srn_crowd *c = crowded(test);
	const u64 end = c->now_ns + 32 * (u64)NSEC_PER_SEC;

	srn_crowd_sample(c, LEAST + FULL, LEAST, end - 1, CWND, false);
	KUNIT_EXPECT_TRUE(test, srn_crowd_is(c));
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_BLIND);
	srn_crowd_sample(c, LEAST + FULL, LEAST, end, CWND, false);
	KUNIT_EXPECT_TRUE(test, srn_crowd_is(c));
	srn_crowd_sample(c, LEAST + FULL, LEAST, 2 * end, CWND, false);
	KUNIT_EXPECT_FALSE(test, srn_crowd_is(c));
}

/* Above that less, by how much too long it is, and at most a quarter. */
static void srn_crowd_excess_test(struct kunit *test)
{
	struct srn_crowd *c = crowded(test);
	const u64 enough = c->enough_ns;

	answer(c, enough - 1);
	KUNIT_EXPECT_EQ(test, srn_crowd_excess(c, CWND), 0);
	answer(c, enough);
	KUNIT_EXPECT_EQ(test, srn_crowd_excess(c, CWND), 1);
	answer(c, enough * 8 / 7);
	KUNIT_EXPECT_LE(test, srn_crowd_excess(c, CWND), CWND / 8);
	KUNIT_EXPECT_GE(test, srn_crowd_excess(c, CWND), CWND / 8 - 1);
	answer(c, 4 * enough);
	KUNIT_EXPECT_EQ(test, srn_crowd_excess(c, CWND), CWND / 4);
	KUNIT_EXPECT_EQ(test, srn_crowd_excess(c, 2), 1);
	/* Where no queue was full they may be as long as they are. */
	c = new_crowd(test, LEAST);
	answer(c, FULL);
	KUNIT_EXPECT_EQ(test, srn_crowd_excess(c, CWND), 0);
}

/* Below it one more in a round trip; while nothing stands as many as where nothing is minded. */
static void srn_crowd_steps_test(struct kunit *test)
{
	struct srn_crowd *c = crowded(test);

	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 0);
	answer(c, c->enough_ns);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 0);
	answer(c, c->enough_ns - 1);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 1);
	answer(c, NOISE / 2);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 1);
	answer(c, NOISE / 2 - 1);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 4);
	c = new_crowd(test, LEAST);
	answer(c, FULL);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 4);
}

/* As good as nothing is out: until the next answer it is not known how much may be, and some more goes. */
static void srn_crowd_few_test(struct kunit *test)
{
	struct srn_crowd *c = crowded(test);

	srn_crowd_few(c);
	KUNIT_EXPECT_TRUE(test, srn_crowd_is_stale(c));
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 1);
	KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_FULL);
	answer(c, FULL);
	KUNIT_EXPECT_FALSE(test, srn_crowd_is_stale(c));
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 0);
	/* Where queues are not minded the delay says nothing in any case. */
	c = new_crowd(test, LEAST);
	srn_crowd_few(c);
	KUNIT_EXPECT_FALSE(test, srn_crowd_is_stale(c));
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, CWND, 4), 4);
}

/* A long path on which nothing queues: a sixteenth more, and half of what was lost less. */
static void srn_crowd_long_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, 2 * MS);

	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, 512, 4), 32);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, 16, 4), 4);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 512), 128);
	srn_crowd_lost(c, 512, MS);
	srn_crowd_missed(c, 20);
	srn_crowd_lost(c, 512, MS);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 512), 10);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 256), 5);
	srn_crowd_missed(c, 500);
	srn_crowd_lost(c, 512, MS);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 512), 128);
	answer(c, NOISE / 2);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, 512, 4), 4);
	c = new_crowd(test, 2 * MS - 1);
	KUNIT_EXPECT_EQ(test, srn_crowd_steps(c, 512, 4), 4);
}

/* However often what was sent is lost: in 32 bits it would be nothing. */
static void srn_crowd_long_lost_often_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, 2 * MS);

	srn_crowd_missed(c, 1 << 24);
	srn_crowd_lost(c, 1, MS);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 512), 128);
}

/* Bursts of its own are no queue there. */
static void srn_crowd_bursts_test(struct kunit *test)
{
	static const struct {
		u64 path, noise;
	} rows[] = {
		{ 2 * MS, NOISE }, { 4 * MS, MS }, { 10 * MS, 2500 * US },
		{ 20 * MS, 2500 * US }, { 40 * MS, 5 * MS },
	};
	struct srn_crowd *c;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		c = new_crowd(test, rows[i].path);
		answer(c, rows[i].noise - 1);
		KUNIT_EXPECT_EQ(test, lost(c, 1), SRN_CROWD_CHANCE);
		answer(c, rows[i].noise);
		KUNIT_EXPECT_NE(test, lost(c, 1), SRN_CROWD_CHANCE);
	}
	/* Who has few makes none. */
	c = new_crowd(test, 10 * MS);
	srn_crowd_sample(c, 10 * MS + 1250 * US, 10 * MS, MS, CWND - 1, false);
	KUNIT_EXPECT_NE(test, lost(c, 1), SRN_CROWD_CHANCE);
}

/* A queue on it that is not full takes off what stands in it: the path is still filled then. */
static void srn_crowd_long_queue_test(struct kunit *test)
{
	struct srn_crowd *c = new_crowd(test, 10 * MS);

	srn_crowd_lost(c, 512, MS);
	answer(c, 2 * MS);
	srn_crowd_missed(c, 20);
	srn_crowd_lost(c, 512, MS);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 240), 40);
	answer(c, 5 * MS);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 240), 60);
	answer(c, 2500 * US / 2);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 240), 26);
	srn_crowd_missed(c, 150);
	srn_crowd_lost(c, 512, MS);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 240), 240 * 150 / 2 / 512);
	/* A short one has but a queue to be filled. */
	c = new_crowd(test, MS);
	srn_crowd_missed(c, 1);
	srn_crowd_lost(c, 512, MS);
	answer(c, MS + MS / 10);
	KUNIT_EXPECT_EQ(test, srn_crowd_cut(c, 220), 220 / 4);
}

static struct kunit_case srn_crowd_cases[] = {
	KUNIT_CASE(srn_crowd_sample_test),
	KUNIT_CASE(srn_crowd_loss_test),
	KUNIT_CASE(srn_crowd_noise_test),
	KUNIT_CASE(srn_crowd_unknown_test),
	KUNIT_CASE(srn_crowd_heavy_test),
	KUNIT_CASE(srn_crowd_heavy_few_test),
	KUNIT_CASE(srn_crowd_old_test),
	KUNIT_CASE(srn_crowd_in_vain_test),
	KUNIT_CASE(srn_crowd_looks_test),
	KUNIT_CASE(srn_crowd_looks_not_test),
	KUNIT_CASE(srn_crowd_ends_test),
	KUNIT_CASE(srn_crowd_enough_test),
	KUNIT_CASE(srn_crowd_enough_unknown_test),
	KUNIT_CASE(srn_crowd_longest_test),
	KUNIT_CASE(srn_crowd_excess_test),
	KUNIT_CASE(srn_crowd_steps_test),
	KUNIT_CASE(srn_crowd_few_test),
	KUNIT_CASE(srn_crowd_long_test),
	KUNIT_CASE(srn_crowd_long_lost_often_test),
	KUNIT_CASE(srn_crowd_bursts_test),
	KUNIT_CASE(srn_crowd_long_queue_test),
	{}
};

static struct kunit_suite srn_crowd_suite = {
	.name = "srn_crowd",
	.test_cases = srn_crowd_cases,
};
kunit_test_suite(srn_crowd_suite);
