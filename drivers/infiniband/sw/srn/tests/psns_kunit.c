// SPDX-License-Identifier: GPL-2.0-only
/* Sets of PSNs, over the end of the ring and of the PSN space. */
#include "../psns.h"

#include <kunit/test.h>
#include <linux/prandom.h>

static struct srn_psns *new_set(struct kunit *test)
{
	struct srn_psns *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, set);
	return set;
}

static void srn_psns_wrap_test(struct kunit *test)
{
	static const u32 firsts[] = { 0xfffffe, SRN_PSNS - 2, 0x123456 };
	struct srn_psns *set = new_set(test);
	u32 i, psn, end;

	for (i = 0; i < ARRAY_SIZE(firsts); i++) {
		psn = firsts[i];
		end = srn_psn_add(psn, 10);
		KUNIT_EXPECT_EQ(test, srn_psns_add(set, srn_psn_add(psn, 1), 4), 4);
		KUNIT_EXPECT_EQ(test, srn_psns_add(set, srn_psn_add(psn, 3), 4), 2);
		KUNIT_EXPECT_EQ(test, set->num, 6);
		KUNIT_EXPECT_FALSE(test, srn_psns_has(set, psn));
		KUNIT_EXPECT_TRUE(test, srn_psns_has(set, srn_psn_add(psn, 6)));
		KUNIT_EXPECT_EQ(test, srn_psns_next(set, psn, end), srn_psn_add(psn, 1));
		KUNIT_EXPECT_EQ(test, srn_psns_next_hole(set, srn_psn_add(psn, 1), end),
				srn_psn_add(psn, 7));
		KUNIT_EXPECT_EQ(test, srn_psns_next(set, srn_psn_add(psn, 7), end), end);
		KUNIT_EXPECT_EQ(test, srn_psns_holes(set, psn, end), 4);
		srn_psns_drop(set, psn, 10);
		KUNIT_EXPECT_EQ(test, set->num, 0);
		KUNIT_EXPECT_TRUE(test, bitmap_empty(set->bits, SRN_PSNS));
	}
}

/* All of the ring at once, and nothing. */
static void srn_psns_ends_test(struct kunit *test)
{
	struct srn_psns *set = new_set(test);

	KUNIT_EXPECT_EQ(test, srn_psns_add(set, 0xffff00, SRN_PSNS), SRN_PSNS);
	KUNIT_EXPECT_EQ(test, srn_psns_next_hole(set, 0xffff00, 0xf00), 0xf00);
	KUNIT_EXPECT_EQ(test, srn_psns_next(set, 5, 5), 5);
	KUNIT_EXPECT_EQ(test, srn_psns_next_hole(set, 5, 4), 4);
	srn_psns_drop(set, 0xffff00, SRN_PSNS);
	KUNIT_EXPECT_EQ(test, set->num, 0);
}

/* Beside an array of booleans. */
static void srn_psns_model_test(struct kunit *test)
{
	bool *model = kunit_kzalloc(test, SRN_PSNS, GFP_KERNEL);
	struct srn_psns *set = new_set(test);
	u32 base = 0xfff800, at, len, i, turn, num = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, model);
	prandom_seed_state(&rnd, 5);
	for (turn = 0; turn < 2000; turn++) {
		at = prandom_u32_state(&rnd) % SRN_PSNS;
		len = prandom_u32_state(&rnd) % min_t(u32, 70, SRN_PSNS - at + 1);
		if (turn % 3)
			srn_psns_add(set, srn_psn_add(base, at), len);
		else
			srn_psns_drop(set, srn_psn_add(base, at), len);
		for (i = at; i < at + len; i++) {
			num += (turn % 3 != 0) - model[i];
			model[i] = turn % 3 != 0;
		}
		KUNIT_ASSERT_EQ(test, set->num, num);
		for (i = at; i < SRN_PSNS && !model[i]; i++)
			;
		KUNIT_ASSERT_EQ(test, srn_psns_next(set, srn_psn_add(base, at),
						    srn_psn_add(base, SRN_PSNS)),
				srn_psn_add(base, i));
	}
}

/* Maps, and what of them is read back, bit by bit. */
static void srn_psns_map_test(struct kunit *test)
{
	struct srn_psns *set = new_set(test), *slow = new_set(test);
	DECLARE_BITMAP(map, 200);
	struct rnd_state rnd;
	u32 turn, psn, num, i, added, word;

	prandom_seed_state(&rnd, 7);
	for (turn = 0; turn < 500; turn++) {
		psn = srn_psn_add(0xfff800, prandom_u32_state(&rnd) % SRN_PSNS);
		num = prandom_u32_state(&rnd) % 200;
		prandom_bytes_state(&rnd, map, sizeof(map));
		for (i = 0, added = 0; i < num; i++)
			added += test_bit(i, map) ? srn_psns_add(slow, srn_psn_add(psn, i), 1) : 0;
		KUNIT_ASSERT_EQ(test, srn_psns_add_map(set, psn, map, num), added);
		KUNIT_ASSERT_EQ(test, set->num, slow->num);
		KUNIT_ASSERT_TRUE(test, bitmap_equal(set->bits, slow->bits, SRN_PSNS));
		for (i = 0, word = 0; i < 32; i++)
			word |= (u32)srn_psns_has(slow, srn_psn_add(psn, i)) << i;
		KUNIT_ASSERT_EQ(test, srn_psns_word(set, psn), word);
		psn = srn_psn_add(psn, 77);
		KUNIT_ASSERT_EQ(test, srn_psns_drop(set, psn, 300), srn_psns_drop(slow, psn, 300));
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(srn_psns_wrap_test),
	KUNIT_CASE(srn_psns_ends_test),
	KUNIT_CASE(srn_psns_model_test),
	KUNIT_CASE(srn_psns_map_test),
	{}
};

static struct kunit_suite suite = {
	.name = "srn_psns",
	.test_cases = cases,
};

kunit_test_suite(suite);
