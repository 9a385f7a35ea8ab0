// SPDX-License-Identifier: GPL-2.0-only
/* Which packets are lost: rule by rule, and on a channel that loses, doubles and reorders. */
#include "../limits.h"
#include "../reorder.h"
#include "../score.h"

#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#define FIRST	0xfffff0u

static const struct srn_score_wait at_once = { .reorder = 0, .again = 1000 };
static const struct srn_score_wait patient = { .reorder = 100, .again = 1000 };

static struct srn_score *new_score(struct kunit *test)
{
	struct srn_score *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	srn_score_start(s, FIRST);
	return s;
}

static u32 psn(int n)
{
	return srn_psn_add(FIRST, n);
}

/* The peer has @len PSNs from the @at-th on; the oldest ones it says by what it expects. */
static u32 add(struct srn_score *s, int at, u32 len, const struct srn_score_wait *wait, u64 now)
{
	s32 first = srn_psn_diff(psn(at), s->una) - 1;
	DECLARE_BITMAP(map, 1024) = {};

	if (first < 0)
		return srn_score_heard(s, psn(at + len), map, 0, wait, now);
	bitmap_set(map, first, len);
	return srn_score_heard(s, s->una, map, first + len, wait, now);
}

/* Expects @len PSNs from the @at-th on to be lost, and sends them again. */
static void expect_lost(struct kunit *test, struct srn_score *s, const struct srn_score_wait *wait,
			u64 now, int at, u32 len)
{
	u32 lost = 0;

	KUNIT_ASSERT_EQ(test, srn_score_pick(s, wait, now, &lost), len);
	if (!len)
		return;
	KUNIT_EXPECT_EQ(test, lost, psn(at));
	srn_score_sent(s, lost, len, srn_psn_diff(s->high, psn(50)) > 0 ? s->high : psn(50), now);
}

/* All holes are known at once, and each goes once. */
static void srn_score_holes_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	KUNIT_EXPECT_EQ(test, add(s, 2, 3, &at_once, 1), 3);
	KUNIT_EXPECT_EQ(test, add(s, 4, 2, &at_once, 1), 1);
	KUNIT_EXPECT_EQ(test, add(s, 20, 10, &at_once, 1), 10);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 20);
	expect_lost(test, s, &at_once, 1, 0, 2);
	expect_lost(test, s, &at_once, 1, 6, 14);
	expect_lost(test, s, &at_once, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 36);
	KUNIT_EXPECT_FALSE(test, srn_score_acked(s, psn(6)));
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(50)), 34);
	KUNIT_EXPECT_FALSE(test, srn_score_acked(s, psn(30)));
	KUNIT_EXPECT_TRUE(test, srn_score_is_over(s));
	KUNIT_EXPECT_EQ(test, s->out, 0);
}

/* On a path that reorders a hole has time to close, and then it is no loss. */
static void srn_score_reorder_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	add(s, 2, 1, &patient, 1000);
	expect_lost(test, s, &patient, 1099, 0, 0);
	KUNIT_EXPECT_EQ(test, srn_score_due(s, &patient, 1060), 40);
	add(s, 4, 1, &patient, 1090);
	expect_lost(test, s, &patient, 1100, 0, 2);
	expect_lost(test, s, &patient, 1189, 3, 0);
	KUNIT_EXPECT_TRUE(test, srn_score_acked(s, psn(5)));
}

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

/* Every second one of a thousand. */
static void add_alternate(struct srn_score *s, const struct srn_score_wait *wait, u64 now)
{
	DECLARE_BITMAP(map, 1000) = {};
	u32 i;

	for (i = 0; i < 1000; i += 2)
		__set_bit(i, map);
	srn_score_heard(s, s->una, map, 1000, wait, now);
}

/* However many holes there are, none is forgotten. */
static void srn_score_many_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u32 lost, len, num = 0;

	add_alternate(s, &at_once, 0);
	KUNIT_EXPECT_EQ(test, s->has.num, 500);
	while ((len = srn_score_pick(s, &at_once, 0, &lost))) {
		srn_score_sent(s, lost, len, psn(2000), 0);
		KUNIT_ASSERT_EQ(test, lost, psn(2 * num));
		num++;
	}
	KUNIT_EXPECT_EQ(test, num, SRN_SCORE_NEW);
	KUNIT_EXPECT_EQ(test, srn_score_out(s, psn(1000)), SRN_SCORE_NEW);
	srn_score_acked(s, psn(50));
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 0, &lost), 1);
	KUNIT_EXPECT_EQ(test, lost, psn(2 * SRN_SCORE_NEW));
}

/* Whose board it is may want fewer to be out; what is lost again goes in any case. */
static void srn_score_most_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	s->most = 2;
	add_alternate(s, &at_once, 0);
	expect_lost(test, s, &at_once, 0, 0, 1);
	expect_lost(test, s, &at_once, 0, 2, 1);
	expect_lost(test, s, &at_once, 0, 0, 0);
	expect_lost(test, s, &at_once, 1000, 0, 1);
	srn_score_acked(s, psn(2));
	expect_lost(test, s, &at_once, 1000, 2, 1);
	srn_score_acked(s, psn(4));
	expect_lost(test, s, &at_once, 1000, 4, 1);
}

/* All that is in flight went again, as so many runs as are remembered. */
static void try_all(struct srn_score *s)
{
	const u32 len = SRN_HOLD_WIDE / SRN_SCORE_TRIES;
	u32 i;

	for (i = 0; i < SRN_SCORE_TRIES; i++)
		srn_score_sent(s, psn(i * len), len, psn(SRN_HOLD_WIDE), i);
}

/* What a peer can say in one packet costs no more than a packet does, whatever went again: without a checker some
 * microseconds, and milliseconds by bits. The fastest of some, since a CPU may be elsewhere.
 */
static void srn_score_time_test(struct kunit *test)
{
	unsigned long *map = kunit_kzalloc(test, SRN_PSNS / 8, GFP_KERNEL);
	struct srn_score *s = new_score(test);
	u64 start, least = U64_MAX;
	u32 i, turn;

	KUNIT_ASSERT_NOT_NULL(test, map);
	for (i = 0; i < SRN_HOLD_WIDE; i += 2)
		__set_bit(i, map);
	for (turn = 0; turn < 10; turn++) {
		srn_score_start(s, FIRST);
		try_all(s);
		KUNIT_ASSERT_EQ(test, s->num_tries, SRN_SCORE_TRIES);
		start = ktime_get_ns();
		srn_score_heard(s, FIRST, map, SRN_HOLD_WIDE, &at_once, 0);
		least = min(least, ktime_get_ns() - start);
	}
	KUNIT_EXPECT_EQ(test, s->has.num, SRN_HOLD_WIDE / 2);
	KUNIT_EXPECT_EQ(test, s->num_tries, SRN_SCORE_TRIES);
	KUNIT_EXPECT_EQ(test, s->out, SRN_HOLD_WIDE / 2);
	KUNIT_EXPECT_LT(test, least, 500ull * NSEC_PER_USEC);
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
		for (seed = 1; seed <= 3; seed++) {
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

	for (seed = 1; seed <= 3; seed++) {
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

	for (seed = 1; seed <= 3; seed++) {
		c = run_channel(test, 2000, 1000, 1000, seed);
		kunit_kfree(test, c);
	}
}

/* One by one; and that something is beyond says as much as that it is here. */
static void srn_score_came_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);

	srn_score_came(s, psn(2), &at_once, 1);
	expect_lost(test, s, &at_once, 1, 0, 2);
	srn_score_came(s, psn(2), &at_once, 1);
	expect_lost(test, s, &at_once, 1, 0, 0);
	srn_score_reached(s, psn(6), &at_once, 1);
	expect_lost(test, s, &at_once, 1, 3, 3);
	srn_score_reached(s, psn(4), &at_once, 1);
	KUNIT_EXPECT_EQ(test, s->high, psn(6));
	srn_score_acked(s, psn(3));
	KUNIT_EXPECT_FALSE(test, srn_score_is_over(s));
	srn_score_acked(s, psn(6));
	KUNIT_EXPECT_TRUE(test, srn_score_is_over(s));
}

/* What was asked for later is here: what was asked for before is lost again, if the path keeps the
 * order.
 */
static void srn_score_overtaken_test(struct kunit *test)
{
	/* Of the last try a round trip is not over: it may be the answer to one before. */
	static const struct srn_score_wait soon = { .again = 1000, .soon = 100 };
	const struct srn_score_wait *waits[] = { &at_once, &patient, &soon };
	struct srn_score *s = new_score(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		srn_score_start(s, FIRST);
		srn_score_came(s, psn(1), waits[i], 1);
		srn_score_came(s, psn(3), waits[i], 1);
		srn_score_came(s, psn(5), waits[i], 1);
		expect_lost(test, s, waits[i], 200, 0, 1);
		expect_lost(test, s, waits[i], 200, 2, 1);
		expect_lost(test, s, waits[i], 201, 4, 1);
		KUNIT_EXPECT_EQ(test, s->out, 3);
		srn_score_came(s, psn(4), waits[i], 300);
		KUNIT_EXPECT_EQ(test, s->out, i ? 2 : 0);
		expect_lost(test, s, waits[i], 300, 0, i ? 0 : 1);
		expect_lost(test, s, waits[i], 300, 2, i ? 0 : 1);
		expect_lost(test, s, waits[i], 300, 0, 0);
	}
}

/* What has no answer of its own is not asked for, and is in nobody's way. */
static void srn_score_skip_test(struct kunit *test)
{
	struct srn_score *s = new_score(test);
	u32 lost;

	srn_score_came(s, psn(4), &at_once, 1);
	KUNIT_EXPECT_EQ(test, srn_score_pick(s, &at_once, 1, &lost), 4);
	srn_score_skip(s, lost, 2);
	expect_lost(test, s, &at_once, 1, 2, 2);
	expect_lost(test, s, &at_once, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, s->out, 2);
	srn_score_acked(s, psn(5));
	KUNIT_EXPECT_TRUE(test, srn_score_is_over(s));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(srn_score_holes_test),
	KUNIT_CASE(srn_score_reorder_test),
	KUNIT_CASE(srn_score_again_test),
	KUNIT_CASE(srn_score_many_test),
	KUNIT_CASE(srn_score_most_test),
	KUNIT_CASE(srn_score_time_test),
	KUNIT_CASE(srn_score_run_test),
	KUNIT_CASE(srn_score_pieces_test),
	KUNIT_CASE(srn_score_owed_test),
	KUNIT_CASE(srn_score_lost_twice_test),
	KUNIT_CASE(srn_score_tight_test),
	KUNIT_CASE(srn_score_tried_test),
	KUNIT_CASE(srn_score_took_test),
	KUNIT_CASE(srn_score_ease_test),
	KUNIT_CASE(srn_score_steps_test),
	KUNIT_CASE(srn_score_loss_test),
	KUNIT_CASE(srn_score_order_test),
	KUNIT_CASE(srn_score_storm_test),
	KUNIT_CASE(srn_score_came_test),
	KUNIT_CASE(srn_score_overtaken_test),
	KUNIT_CASE(srn_score_skip_test),
	{}
};

static struct kunit_suite suite = {
	.name = "srn_score",
	.test_cases = cases,
};

kunit_test_suite(suite);
