/* SPDX-License-Identifier: GPL-2.0-only */
/* A scoreboard over the end of the PSN space, and what its peer says that it has. */
#ifndef SRN_TESTS_FAKE_SCORE_H
#define SRN_TESTS_FAKE_SCORE_H

#include "../score.h"

#include <kunit/test.h>

#define FIRST	0xfffff0u

static const struct srn_score_wait at_once = { .reorder = 0, .again = 1000 };
static const struct srn_score_wait patient = { .reorder = 100, .again = 1000 };

static inline struct srn_score *new_score(struct kunit *test)
{
	struct srn_score *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	srn_score_start(s, FIRST);
	return s;
}

static inline u32 psn(int n)
{
	return srn_psn_add(FIRST, n);
}

/* The peer has @len PSNs from the @at-th on; the oldest ones it says by what it expects. */
static inline u32 add(struct srn_score *s, int at, u32 len, const struct srn_score_wait *wait, u64 now)
{
	s32 first = srn_psn_diff(psn(at), s->una) - 1;
	DECLARE_BITMAP(map, 1024) = {};

	if (first < 0)
		return srn_score_heard(s, psn(at + len), map, 0, wait, now);
	bitmap_set(map, first, len);
	return srn_score_heard(s, s->una, map, first + len, wait, now);
}

/* Every second one of a thousand. */
static inline void add_alternate(struct srn_score *s, const struct srn_score_wait *wait, u64 now)
{
	DECLARE_BITMAP(map, 1000) = {};
	u32 i;

	for (i = 0; i < 1000; i += 2)
		__set_bit(i, map);
	srn_score_heard(s, s->una, map, 1000, wait, now);
}

/* Expects @len PSNs from the @at-th on to be lost, and sends them again. */
static inline void expect_lost(struct kunit *test, struct srn_score *s, const struct srn_score_wait *wait,
			       u64 now, int at, u32 len)
{
	u32 lost = 0;

	KUNIT_ASSERT_EQ(test, srn_score_pick(s, wait, now, &lost), len);
	if (!len)
		return;
	KUNIT_EXPECT_EQ(test, lost, psn(at));
	srn_score_sent(s, lost, len, srn_psn_diff(s->high, psn(50)) > 0 ? s->high : psn(50), now);
}

#endif
