// SPDX-License-Identifier: GPL-2.0-only
/* Which packets are lost on a channel that loses, doubles and reorders. */
#include "../reorder.h"
#include "fake_score.h"

#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/time64.h>

static void srn_score_steps_test(struct kunit *test)
{
	struct srn_reorder o = {};
	int i;

	KUNIT_EXPECT_EQ(test, srn_reorder_ns(&o, NSEC_PER_MSEC), 0);
	srn_reorder_seen(&o);
	KUNIT_EXPECT_EQ(test, srn_reorder_ns(&o, NSEC_PER_MSEC), NSEC_PER_MSEC / 4);
	KUNIT_EXPECT_EQ(test, srn_reorder_twice(&o, 3), 3);
	KUNIT_EXPECT_EQ(test, srn_reorder_twice(&o, 2), 0);
	for (i = 0; i < 20; i++)
		srn_reorder_vain(&o);
	KUNIT_EXPECT_EQ(test, srn_reorder_ns(&o, NSEC_PER_MSEC), 2 * NSEC_PER_MSEC);
	for (i = 0; i < SRN_REORDER_CALM; i++)
		srn_reorder_lost(&o);
	KUNIT_EXPECT_EQ(test, srn_reorder_ns(&o, NSEC_PER_MSEC), 0);
}

/* A channel: a packet a tick, and so many ticks there, and back. */
#define DELAY		100
#define SLOTS		256
#define PER_SLOT	8
#define WINDOW		256
#define PACKETS		30000
/* One thread's arithmetic races with nobody, and takes a race detector minutes. */
#define SEEDS		(IS_ENABLED(CONFIG_KCSAN) ? 1 : 3)
#define TICK_NS		1000ull

struct feedback {
	bool any;
	u32 expected;
	u32 twice;
	struct srn_psns held;
};

struct channel {
	struct rnd_state rnd;
	u32 loss, dup, late;		/* per 10000 */
	u32 num[SLOTS];
	u32 on_way[SLOTS][PER_SLOT];
	struct feedback back[SLOTS];
	/* receiver */
	u32 expected;
	u32 twice;
	struct srn_psns held;
	/* sender */
	struct srn_score score;
	struct srn_reorder order;
	u32 una, nxt, progress_at;
	/* what happened */
	u32 lost, sent_again, again_late, probes;
	/* too much for a stack */
	u32 words[SRN_PSNS / 32];
	DECLARE_BITMAP(map, SRN_PSNS);
};

static bool happens(struct channel *c, u32 per_myriad)
{
	return prandom_u32_state(&c->rnd) % 10000 < per_myriad;
}

static void put(struct channel *c, u32 tick, u32 p)
{
	u32 slot = tick % SLOTS;

	if (c->num[slot] < PER_SLOT)
		c->on_way[slot][c->num[slot]++] = p;
	else
		put(c, tick + 1, p);
}

static void transmit(struct channel *c, u32 tick, u32 p)
{
	if (happens(c, c->loss)) {
		c->lost++;
		return;
	}
	put(c, tick + DELAY + (happens(c, c->late) ? 32 : 0), p);
	if (happens(c, c->dup))
		put(c, tick + DELAY + 3, p);
}

static struct srn_score_wait wait_of(const struct channel *c)
{
	return (struct srn_score_wait){
		.reorder = srn_reorder_ns(&c->order, 2 * DELAY * TICK_NS),
		.again = 3 * DELAY * TICK_NS,
	};
}

static void send_one(struct channel *c, u32 tick)
{
	struct srn_score_wait wait = wait_of(c);
	u64 now = tick * TICK_NS;
	u32 p;

	if (srn_score_pick(&c->score, &wait, now, &p)) {
		srn_score_sent(&c->score, p, 1, c->nxt, now);
		c->sent_again++;
		c->again_late += tick > 100 * DELAY;
	} else if (srn_psn_diff(c->nxt, psn(PACKETS)) < 0 &&
		   srn_score_out(&c->score, c->nxt) < WINDOW &&
		   srn_psn_diff(c->nxt, c->una) < SRN_PSNS - 1) {
		p = c->nxt;
		c->nxt = srn_psn_add(p, 1);
	} else if (tick - c->progress_at > 8 * DELAY) {
		c->progress_at = tick;
		c->probes++;
		p = c->una;
	} else {
		return;
	}
	transmit(c, tick, p);
}

static void receive(struct kunit *test, struct channel *c, u32 tick)
{
	struct feedback *back = &c->back[(tick + DELAY) % SLOTS];
	u32 slot = tick % SLOTS, i, p;

	for (i = 0; i < c->num[slot]; i++) {
		p = c->on_way[slot][i];
		if (srn_psn_diff(p, c->expected) < 0 || !srn_psns_add(&c->held, p, 1)) {
			c->twice++;
			continue;
		}
		KUNIT_ASSERT_LT(test, srn_psn_diff(p, c->expected), SRN_PSNS);
		while (srn_psns_has(&c->held, c->expected)) {
			srn_psns_drop(&c->held, c->expected, 1);
			c->expected = srn_psn_add(c->expected, 1);
		}
	}
	if (c->num[slot])
		*back = (struct feedback){ true, c->expected, c->twice, c->held };
	c->num[slot] = 0;
}

static void add_all(struct channel *c, const struct feedback *back, u32 tick)
{
	u32 num = SRN_PSNS - 2 - srn_psn_diff(back->expected, c->una), i;
	struct srn_score_wait wait = wait_of(c);

	for (i = 0; i < ARRAY_SIZE(c->words); i++)
		c->words[i] = srn_psns_word(&back->held, srn_psn_add(back->expected, 1 + 32 * i));
	bitmap_from_arr32(c->map, c->words, SRN_PSNS);
	srn_score_heard(&c->score, back->expected, c->map, num, &wait, tick * TICK_NS);
}

static void hear(struct channel *c, u32 tick)
{
	struct feedback *back = &c->back[tick % SLOTS];

	if (!back->any)
		return;
	back->any = false;
	if (srn_reorder_twice(&c->order, back->twice) && c->score.resent)
		srn_reorder_vain(&c->order);
	if (back->expected != c->una) {
		if (srn_score_acked(&c->score, back->expected))
			srn_reorder_seen(&c->order);
		c->una = back->expected;
		c->progress_at = tick;
	}
	add_all(c, back, tick);
}

static struct channel *run_channel(struct kunit *test, u32 loss, u32 dup, u32 late, u64 seed)
{
	struct channel *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	u32 tick;

	KUNIT_ASSERT_NOT_NULL(test, c);
	prandom_seed_state(&c->rnd, seed);
	c->loss = loss;
	c->dup = dup;
	c->late = late;
	c->expected = FIRST;
	c->una = FIRST;
	c->nxt = FIRST;
	srn_score_start(&c->score, FIRST);
	for (tick = 0; c->una != psn(PACKETS) && tick < 20 * PACKETS; tick++) {
		receive(test, c, tick);
		hear(c, tick);
		send_one(c, tick);
	}
	KUNIT_EXPECT_EQ(test, c->una, psn(PACKETS));
	return c;
}

/* What is lost is sent again, and little else. */
static void srn_score_loss_test(struct kunit *test)
{
	static const struct {
		u32 loss, percent;
	} rows[] = { { 10, 105 }, { 100, 105 }, { 500, 125 } };
	struct channel *c;
	u32 i, seed;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (seed = 1; seed <= SEEDS; seed++) {
			c = run_channel(test, rows[i].loss, 0, 0, seed);
			KUNIT_EXPECT_GT(test, c->lost, PACKETS / 10000 * rows[i].loss / 2);
			KUNIT_EXPECT_LE_MSG(test, c->sent_again * 100, c->lost * rows[i].percent,
					    "%u lost, %u sent again", c->lost, c->sent_again);
			KUNIT_EXPECT_LE(test, c->probes, 3);
			kunit_kfree(test, c);
		}
	}
}

/* Overtaking without loss: it is learned in the beginning, and then nothing is sent again. */
static void srn_score_order_test(struct kunit *test)
{
	struct channel *c;
	u32 seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		c = run_channel(test, 0, 0, 100, seed);
		KUNIT_EXPECT_GT(test, c->order.steps, 0);
		KUNIT_EXPECT_LE_MSG(test, c->again_late, PACKETS / 500, "%u sent again",
				    c->again_late);
		kunit_kfree(test, c);
	}
}

/* All of it together ends, too. */
static void srn_score_storm_test(struct kunit *test)
{
	struct channel *c;
	u32 seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		c = run_channel(test, 2000, 1000, 1000, seed);
		kunit_kfree(test, c);
	}
}

static struct kunit_case srn_score_channel_cases[] = {
	KUNIT_CASE(srn_score_steps_test),
	KUNIT_CASE(srn_score_loss_test),
	KUNIT_CASE(srn_score_order_test),
	KUNIT_CASE(srn_score_storm_test),
	{}
};

static struct kunit_suite srn_score_channel_suite = {
	.name = "srn_score_channel",
	.test_cases = srn_score_channel_cases,
};

kunit_test_suite(srn_score_channel_suite);
