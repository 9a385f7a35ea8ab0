// SPDX-License-Identifier: GPL-2.0-only
/* What comes early is kept, sorted, bounded, and given up, over the end of the PSN space. */
#include "../hold.h"
#include "../parse.h"
#include "../psn.h"
#include "fake.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/skbuff.h>

#define EXPECTED	0xfffffeu

struct held {
	struct srn_dev *dev;
	struct srn_hold hold;
};

static void purge(void *h)
{
	struct held *held = h;

	srn_hold_purge(held->dev, &held->hold);
}

static struct held *new_hold(struct kunit *test)
{
	struct held *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, h);
	h->dev = fake_dev(test);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, purge, h));
	return h;
}

/* Its byte says which copy it is. */
static enum srn_held add(struct kunit *test, struct held *h, int ahead, u8 byte)
{
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	enum srn_held held;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	*srn_pkt(skb) = (struct srn_pkt){ .psn = srn_psn_add(EXPECTED, ahead) };
	skb_put_u8(skb, byte);
	held = srn_hold_add(h->dev, &h->hold, skb, EXPECTED);
	kfree_skb(skb);
	return held;
}

static int take(struct held *h, int ahead)
{
	u32 expected = srn_psn_add(EXPECTED, ahead);
	int byte, budget = SRN_HOLD_WIDE;
	struct sk_buff *skb;

	srn_hold_drop_behind(h->dev, &h->hold, expected, &budget);
	skb = srn_hold_take(h->dev, &h->hold, expected);

	if (!skb)
		return -1;
	byte = skb->data[0];
	kfree_skb(skb);
	return byte;
}

static void expect_empty(struct kunit *test, const struct held *h)
{
	KUNIT_EXPECT_TRUE(test, srn_hold_is_empty(&h->hold));
	KUNIT_EXPECT_NULL(test, h->hold.last);
	KUNIT_EXPECT_EQ(test, h->hold.bytes, 0);
	KUNIT_EXPECT_EQ(test, h->hold.num, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&h->dev->hold_bytes), 0);
}

static void srn_hold_order_test(struct kunit *test)
{
	static const int order[] = { 5, 1, 3, 2, 7, 6 };
	struct held *h = new_hold(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_EXPECT_EQ(test, add(test, h, order[i], order[i]), SRN_HELD_NEW);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(h->dev, SRN_CNT_HELD), ARRAY_SIZE(order));
	KUNIT_EXPECT_FALSE(test, srn_hold_is_due(&h->hold, EXPECTED));
	KUNIT_EXPECT_EQ(test, take(h, 0), -1);
	for (i = 1; i <= 3; i++) {
		KUNIT_EXPECT_TRUE(test, srn_hold_is_due(&h->hold, srn_psn_add(EXPECTED, i)));
		KUNIT_EXPECT_EQ(test, take(h, i), i);
	}
	KUNIT_EXPECT_EQ(test, take(h, 4), -1);
	for (i = 5; i <= 7; i++)
		KUNIT_EXPECT_EQ(test, take(h, i), i);
	expect_empty(test, h);
}

static void srn_hold_first_copy_stays_test(struct kunit *test)
{
	struct held *h = new_hold(test);

	KUNIT_EXPECT_EQ(test, add(test, h, 2, 10), SRN_HELD_NEW);
	KUNIT_EXPECT_EQ(test, add(test, h, 2, 11), SRN_HELD_AGAIN);
	KUNIT_EXPECT_EQ(test, add(test, h, 1, 12), SRN_HELD_NEW);
	KUNIT_EXPECT_EQ(test, add(test, h, 2, 13), SRN_HELD_AGAIN);
	KUNIT_EXPECT_EQ(test, take(h, 1), 12);
	KUNIT_EXPECT_EQ(test, take(h, 2), 10);
	expect_empty(test, h);
}

/* A later copy was executed: those behind are of no use, those ahead are. */
static void srn_hold_behind_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	int i;

	for (i = 1; i <= 4; i++)
		add(test, h, i, i);
	KUNIT_EXPECT_EQ(test, take(h, 3), 3);
	KUNIT_EXPECT_EQ(test, take(h, 4), 4);
	expect_empty(test, h);
	add(test, h, 1, 1);
	KUNIT_EXPECT_EQ(test, take(h, 2), -1);
	expect_empty(test, h);
}

/* One READ may use up the PSNs of thousands: they go in parts, and nothing is taken until then. */
static void srn_hold_behind_in_parts_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	u32 expected = srn_psn_add(EXPECTED, 9);
	int i, budget = 4;

	for (i = 1; i <= 10; i++)
		add(test, h, i, i);
	KUNIT_EXPECT_FALSE(test, srn_hold_drop_behind(h->dev, &h->hold, expected, &budget));
	KUNIT_EXPECT_EQ(test, budget, 0);
	KUNIT_EXPECT_EQ(test, h->hold.num, 6);
	KUNIT_EXPECT_TRUE(test, srn_hold_is_due(&h->hold, expected));
	KUNIT_EXPECT_NULL(test, srn_hold_take(h->dev, &h->hold, expected));
	budget = 9;
	KUNIT_EXPECT_TRUE(test, srn_hold_drop_behind(h->dev, &h->hold, expected, &budget));
	KUNIT_EXPECT_EQ(test, budget, 5);
	KUNIT_EXPECT_EQ(test, take(h, 9), 9);
	KUNIT_EXPECT_EQ(test, take(h, 10), 10);
	expect_empty(test, h);
}

/* What is due stays, though others that are behind are not gone yet. */
static void srn_hold_shed_beside_behind_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	u32 expected = srn_psn_add(EXPECTED, 3), first;
	int i;

	for (i = 1; i <= 5; i++)
		add(test, h, i, i);
	add(test, h, 7, 7);
	KUNIT_EXPECT_EQ(test, srn_hold_shed(h->dev, &h->hold, &expected, U32_MAX, &first), 1);
	KUNIT_EXPECT_EQ(test, first, srn_psn_add(EXPECTED, 7));
	for (i = 3; i <= 5; i++)
		KUNIT_EXPECT_EQ(test, take(h, i), i);
	expect_empty(test, h);
}

static void srn_hold_put_back_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	struct sk_buff *skb;
	u32 bytes;

	add(test, h, 1, 1);
	add(test, h, 2, 2);
	bytes = h->hold.bytes;
	skb = srn_hold_take(h->dev, &h->hold, srn_psn_add(EXPECTED, 1));
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_LT(test, h->hold.bytes, bytes);
	srn_hold_put_back(h->dev, &h->hold, skb);
	KUNIT_EXPECT_EQ(test, h->hold.bytes, bytes);
	KUNIT_EXPECT_EQ(test, take(h, 1), 1);
	KUNIT_EXPECT_EQ(test, take(h, 2), 2);
	expect_empty(test, h);
}

#ifdef CONFIG_FAILSLAB
/* Nor is it lost for want of memory, though it was all that was held: the peer may have been told of it. */
static void srn_hold_put_back_poorly_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	struct sk_buff *skb;

	add(test, h, 1, 1);
	skb = srn_hold_take(h->dev, &h->hold, srn_psn_add(EXPECTED, 1));
	KUNIT_ASSERT_NOT_NULL(test, skb);
	current->fail_nth = 1;
	srn_hold_put_back(h->dev, &h->hold, skb);
	current->fail_nth = 0;
	KUNIT_EXPECT_TRUE(test, srn_hold_is_due(&h->hold, srn_psn_add(EXPECTED, 1)));
	KUNIT_EXPECT_EQ(test, take(h, 1), 1);
	expect_empty(test, h);
}
#endif

static void srn_hold_far_test(struct kunit *test)
{
	struct held *h = new_hold(test);

	KUNIT_EXPECT_EQ(test, add(test, h, SRN_HOLD_AHEAD, 1), SRN_HELD_NEW);
	KUNIT_EXPECT_EQ(test, add(test, h, SRN_HOLD_AHEAD + 1, 2), SRN_HELD_NOT);
	KUNIT_EXPECT_EQ(test, take(h, SRN_HOLD_AHEAD), 1);
	expect_empty(test, h);
}

/* What is held stays; what is one too many is refused, and counted. */
static void srn_hold_full_test(struct kunit *test)
{
	static const struct { long all; u32 own; enum srn_held want; int qps; u32 mtu; } rows[] = {
		{ 0, SRN_HOLD_BYTES - 1, SRN_HELD_NEW },
		{ 0, SRN_HOLD_BYTES, SRN_HELD_NOT },
		{ SRN_DEV_HOLD_BYTES / 2, SRN_HOLD_SCARCE_BYTES, SRN_HELD_NEW },
		{ SRN_DEV_HOLD_BYTES / 2 + 1, SRN_HOLD_SCARCE_BYTES - 1, SRN_HELD_NEW },
		{ SRN_DEV_HOLD_BYTES / 2 + 1, SRN_HOLD_SCARCE_BYTES, SRN_HELD_NOT },
		{ SRN_DEV_HOLD_BYTES, 0, SRN_HELD_NEW },
		{ SRN_DEV_HOLD_BYTES + 1, SRN_HOLD_SCARCE_BYTES - 1, SRN_HELD_NEW },
		{ SRN_DEV_HOLD_BYTES + 1, SRN_HOLD_SCARCE_BYTES, SRN_HELD_NOT },
		{ SRN_DEV_HOLD_BYTES + 1, SRN_HOLD_LEAST_BYTES - 1, SRN_HELD_NEW, SRN_MAX_QP },
		{ SRN_DEV_HOLD_BYTES + 1, SRN_HOLD_LEAST_BYTES, SRN_HELD_NOT, SRN_MAX_QP },
		{ 2 * SRN_DEV_HOLD_BYTES, 0, SRN_HELD_NEW },
		{ 2 * SRN_DEV_HOLD_BYTES + 1, 0, SRN_HELD_NOT },
		/* Of peers that know each other one has much, and all together no more than leaves some to others. */
		{ SRN_HOLD_WIDE_BYTES - 1, SRN_HOLD_WIDE_BYTES - 1, SRN_HELD_NEW, 0, 1024 },
		{ SRN_HOLD_WIDE_BYTES, SRN_HOLD_WIDE_BYTES, SRN_HELD_NOT, 0, 1024 },
		{ SRN_HOLD_WIDE_BYTES, SRN_HOLD_WIDE_EACH - 1, SRN_HELD_NEW, 0, 1024 },
		{ SRN_HOLD_WIDE_BYTES, SRN_HOLD_WIDE_EACH, SRN_HELD_NOT, 0, 1024 },
		{ SRN_DEV_HOLD_BYTES / 2, SRN_HOLD_WIDE_EACH - 1, SRN_HELD_NEW, 0, 1024 },
	};
	struct held *h = new_hold(test);
	int i, full = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		atomic_long_set(&h->dev->hold_bytes, rows[i].all);
		h->hold.bytes = rows[i].own;
		h->hold.mtu = rows[i].mtu;
		atomic_set(&h->dev->num_qps, rows[i].qps);
		KUNIT_EXPECT_EQ_MSG(test, add(test, h, 1, 7), rows[i].want, "row %d", i);
		full += rows[i].want == SRN_HELD_NOT;
		KUNIT_EXPECT_EQ(test, srn_stats_sum(h->dev, SRN_CNT_HOLD_FULL), full);
		KUNIT_EXPECT_EQ(test, take(h, 1), rows[i].want == SRN_HELD_NOT ? -1 : 7);
		KUNIT_EXPECT_EQ(test, h->hold.bytes, rows[i].own);
	}
	atomic_long_set(&h->dev->hold_bytes, 0);
	h->hold.bytes = 0;
}

static void srn_hold_purge_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	int i;

	for (i = 1; i < 10; i++)
		add(test, h, i * i, i);
	KUNIT_EXPECT_GT(test, atomic_long_read(&h->dev->hold_bytes), 0);
	srn_hold_purge(h->dev, &h->hold);
	expect_empty(test, h);
}

/* What a peer that can be told is told of is charged like it, from the first request on. */
static void srn_hold_wide_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	u32 one;

	KUNIT_EXPECT_EQ(test, add(test, h, 2, 2), SRN_HELD_NEW);
	one = h->hold.bytes;
	KUNIT_EXPECT_NULL(test, h->hold.held);
	srn_hold_widen(h->dev, &h->hold, 1024);
	KUNIT_ASSERT_NOT_NULL(test, h->hold.held);
	KUNIT_EXPECT_TRUE(test, srn_psns_has(h->hold.held, srn_psn_add(EXPECTED, 2)));
	KUNIT_EXPECT_EQ(test, add(test, h, SRN_HOLD_WIDE, 3), SRN_HELD_NEW);
	KUNIT_EXPECT_EQ(test, h->hold.held->num, 2);
	KUNIT_EXPECT_EQ(test, h->hold.bytes, 2 * one + sizeof(*h->hold.held));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&h->dev->hold_bytes), h->hold.bytes);
	KUNIT_EXPECT_EQ(test, take(h, 2), 2);
	KUNIT_EXPECT_EQ(test, h->hold.bytes, one + sizeof(*h->hold.held));
	KUNIT_EXPECT_EQ(test, take(h, SRN_HOLD_WIDE), 3);
	KUNIT_EXPECT_NULL(test, h->hold.held);
	expect_empty(test, h);
}

/* Of how much there is memory for: less where others hold much, and where it is full no more than what is held. */
static void srn_hold_ahead_of_others_test(struct kunit *test)
{
	static const struct { long all; u32 own, want; } rows[] = {
		{ 0, 0, SRN_HOLD_WIDE },
		{ SRN_HOLD_WIDE_BYTES - 1, SRN_HOLD_WIDE_BYTES - 1, SRN_HOLD_WIDE },
		{ SRN_HOLD_WIDE_BYTES, 0, SRN_HOLD_WIDE_EACH_PSNS },
		{ SRN_HOLD_WIDE_BYTES, SRN_HOLD_WIDE_EACH - 1, SRN_HOLD_WIDE_EACH_PSNS },
		{ SRN_HOLD_WIDE_BYTES, SRN_HOLD_WIDE_EACH, 8 },
		{ SRN_HOLD_WIDE_BYTES, SRN_HOLD_WIDE_BYTES, 8 },
		{ SRN_DEV_HOLD_BYTES / 2, SRN_HOLD_WIDE_EACH - 1, SRN_HOLD_WIDE_EACH_PSNS },
		{ SRN_DEV_HOLD_BYTES / 2 + 1, SRN_HOLD_SCARCE_BYTES, 8 },
	};
	struct held *h = new_hold(test);
	u32 own, i;

	srn_hold_widen(h->dev, &h->hold, 1024);
	KUNIT_EXPECT_EQ(test, add(test, h, 7, 7), SRN_HELD_NEW);
	own = h->hold.bytes;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		atomic_long_set(&h->dev->hold_bytes, rows[i].all);
		h->hold.bytes = rows[i].own;
		KUNIT_EXPECT_EQ_MSG(test, srn_hold_ahead(h->dev, &h->hold, EXPECTED), rows[i].want,
				    "row %u", i);
	}
	atomic_long_set(&h->dev->hold_bytes, own);
	h->hold.bytes = own;
	KUNIT_EXPECT_EQ(test, take(h, 7), 7);
	expect_empty(test, h);
}

/* Of a device that is full the peer is told that nothing more is kept. */
static void srn_hold_ahead_test(struct kunit *test)
{
	struct held *h = new_hold(test);

	srn_hold_widen(h->dev, &h->hold, 1024);
	KUNIT_EXPECT_EQ(test, add(test, h, 7, 7), SRN_HELD_NEW);
	KUNIT_EXPECT_EQ(test, srn_hold_ahead(h->dev, &h->hold, EXPECTED), SRN_HOLD_WIDE);
	atomic_long_add(2l * SRN_DEV_HOLD_BYTES, &h->dev->hold_bytes);
	KUNIT_EXPECT_EQ(test, srn_hold_ahead(h->dev, &h->hold, EXPECTED), 8);
	KUNIT_EXPECT_FALSE(test, srn_hold_take_room(h->dev, 1));
	atomic_long_sub(2l * SRN_DEV_HOLD_BYTES, &h->dev->hold_bytes);
	KUNIT_EXPECT_TRUE(test, srn_hold_take_room(h->dev, 1));
	srn_hold_give_back(h->dev, 1);
	KUNIT_EXPECT_EQ(test, take(h, 7), 7);
	expect_empty(test, h);
}

static u32 shed(struct held *h, u32 bytes)
{
	u32 expected = EXPECTED, first;

	return srn_hold_shed(h->dev, &h->hold, &expected, bytes, &first);
}

/* What is nearest is executed first, and stays for longest. */
static void srn_hold_shed_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	u32 one;
	int i;

	KUNIT_EXPECT_EQ(test, shed(h, 1), 0);
	add(test, h, 3, 3);
	one = h->hold.bytes;
	for (i = 1; i <= 6; i++)
		add(test, h, i, i);
	KUNIT_EXPECT_EQ(test, srn_hold_last(&h->hold), srn_psn_add(EXPECTED, 6));
	KUNIT_EXPECT_EQ(test, shed(h, 1), 1);
	KUNIT_EXPECT_EQ(test, shed(h, one + 1), 2);
	KUNIT_EXPECT_EQ(test, srn_hold_last(&h->hold), srn_psn_add(EXPECTED, 3));
	KUNIT_EXPECT_EQ(test, h->hold.bytes, 3 * one);
	KUNIT_EXPECT_EQ(test, take(h, 1), 1);
	KUNIT_EXPECT_EQ(test, shed(h, U32_MAX), 2);
	expect_empty(test, h);
}

/* But not what waits for its turn alone. */
static void srn_hold_shed_due_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	u32 expected = srn_psn_add(EXPECTED, 1), first = 0;
	int i;

	srn_hold_widen(h->dev, &h->hold, 1024);
	for (i = 1; i <= 6; i++)
		if (i != 4)
			add(test, h, i, i);
	KUNIT_EXPECT_EQ(test, srn_hold_shed(h->dev, &h->hold, &expected, U32_MAX, &first), 2);
	KUNIT_EXPECT_EQ(test, first, srn_psn_add(EXPECTED, 5));
	KUNIT_EXPECT_EQ(test, srn_hold_last(&h->hold), srn_psn_add(EXPECTED, 3));
	KUNIT_EXPECT_EQ(test, srn_hold_shed(h->dev, &h->hold, NULL, U32_MAX, &first), 3);
	KUNIT_EXPECT_EQ(test, first, expected);
	expect_empty(test, h);
}

/* The peer that can be told hears nothing of what has gone. */
static void srn_hold_shed_wide_test(struct kunit *test)
{
	struct held *h = new_hold(test);

	srn_hold_widen(h->dev, &h->hold, 1024);
	add(test, h, 1, 1);
	add(test, h, 5, 5);
	KUNIT_ASSERT_NOT_NULL(test, h->hold.held);
	KUNIT_EXPECT_EQ(test, shed(h, 1), 1);
	KUNIT_EXPECT_TRUE(test, srn_psns_has(h->hold.held, srn_psn_add(EXPECTED, 1)));
	KUNIT_EXPECT_FALSE(test, srn_psns_has(h->hold.held, srn_psn_add(EXPECTED, 5)));
	KUNIT_EXPECT_EQ(test, shed(h, h->hold.bytes), 1);
	KUNIT_EXPECT_NULL(test, h->hold.held);
	expect_empty(test, h);
}

/* With @own bytes held already. */
static enum srn_held add_to(struct kunit *test, struct held *h, u32 own)
{
	enum srn_held held;

	h->hold.bytes = own;
	held = add(test, h, 1, 1);
	take(h, 1);
	h->hold.bytes = 0;
	return held;
}

/* For a while after memory was short, and no longer. */
static void srn_hold_scarce_test(struct kunit *test)
{
	struct held *h = new_hold(test);
	unsigned long end;

	KUNIT_EXPECT_EQ(test, add_to(test, h, SRN_HOLD_SCARCE_BYTES), SRN_HELD_NEW);
	srn_hold_note_scarce();
	end = jiffies + 5 * HZ;
	KUNIT_EXPECT_EQ(test, add_to(test, h, SRN_HOLD_SCARCE_BYTES), SRN_HELD_NOT);
	KUNIT_EXPECT_EQ(test, add_to(test, h, SRN_HOLD_SCARCE_BYTES - 1), SRN_HELD_NEW);
	while (add_to(test, h, SRN_HOLD_SCARCE_BYTES) == SRN_HELD_NOT && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_EQ(test, add_to(test, h, SRN_HOLD_SCARCE_BYTES), SRN_HELD_NEW);
	expect_empty(test, h);
}

static struct kunit_case srn_hold_cases[] = {
	KUNIT_CASE(srn_hold_order_test),
	KUNIT_CASE(srn_hold_first_copy_stays_test),
	KUNIT_CASE(srn_hold_behind_test),
	KUNIT_CASE(srn_hold_behind_in_parts_test),
	KUNIT_CASE(srn_hold_shed_beside_behind_test),
	KUNIT_CASE(srn_hold_put_back_test),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(srn_hold_put_back_poorly_test),
#endif
	KUNIT_CASE(srn_hold_far_test),
	KUNIT_CASE(srn_hold_full_test),
	KUNIT_CASE(srn_hold_purge_test),
	KUNIT_CASE(srn_hold_wide_test),
	KUNIT_CASE(srn_hold_ahead_test),
	KUNIT_CASE(srn_hold_ahead_of_others_test),
	KUNIT_CASE(srn_hold_shed_test),
	KUNIT_CASE(srn_hold_shed_due_test),
	KUNIT_CASE(srn_hold_shed_wide_test),
	KUNIT_CASE(srn_hold_scarce_test),
	{}
};

static struct kunit_suite srn_hold_suite = {
	.name = "srn_hold",
	.test_cases = srn_hold_cases,
};

kunit_test_suite(srn_hold_suite);
