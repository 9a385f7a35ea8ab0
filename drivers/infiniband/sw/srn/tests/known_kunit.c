// SPDX-License-Identifier: GPL-2.0-only
/* What connections know together of how long paths are, and for how long. */
#include "../known.h"
#include "../path.h"

#include <kunit/test.h>
#include <linux/ktime.h>

#define FAR	1000000

static struct srn_known *new_known(struct kunit *test)
{
	struct srn_known *known = kunit_kzalloc(test, sizeof(*known), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, known);
	srn_known_init(known);
	return known;
}

static struct srn_known_user *get(struct kunit *test, struct srn_known *known, u32 to, int oif)
{
	struct srn_path path = { .v4.daddr = htonl(to), .oif = oif };
	struct srn_known_user *p = srn_known_get(known, &path, NULL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

static u64 least(struct srn_known_user *p, u64 took)
{
	u64 least_ns;

	local_bh_disable();
	least_ns = srn_known_least(p->path, took, ktime_get_ns());
	local_bh_enable();
	return least_ns;
}

/* All that go to one address know the same; who goes to another one, or by another netdev, does not. */
static void srn_known_shared_test(struct kunit *test)
{
	struct srn_known *known = new_known(test);
	struct srn_known_user *all[100], *same;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		all[i] = get(test, known, i / 2, i % 2);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		KUNIT_EXPECT_EQ(test, least(all[i], 100 + i), 100ull + i);
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		same = get(test, known, i / 2, i % 2);
		KUNIT_EXPECT_PTR_EQ(test, same->path, all[i]->path);
		KUNIT_EXPECT_EQ(test, least(same, FAR), 100ull + i);
		srn_known_put(same);
	}
	for (i = 0; i < ARRAY_SIZE(all); i++)
		srn_known_put(all[i]);
}

/* One of IPv6 whose last bits are those of IPv4's is another address; so is one that differs in one. */
static void srn_known_v6_test(struct kunit *test)
{
	struct srn_known *known = new_known(test);
	struct srn_path path = { .is_v6 = true, .v6.daddr.s6_addr[15] = 9 };
	struct srn_known_user *v4 = get(test, known, 9, 0), *v6 = srn_known_get(known, &path, NULL), *near;

	path.v6.daddr.s6_addr[0] = 1;
	near = srn_known_get(known, &path, NULL);
	KUNIT_ASSERT_NOT_NULL(test, v6);
	KUNIT_ASSERT_NOT_NULL(test, near);
	KUNIT_EXPECT_EQ(test, least(v4, 1), 1ull);
	KUNIT_EXPECT_EQ(test, least(v6, 2), 2ull);
	KUNIT_EXPECT_EQ(test, least(near, 3), 3ull);
	srn_known_put(near);
	srn_known_put(v6);
	srn_known_put(v4);
}

/* With the last connection it is forgotten, and not before. */
static void srn_known_put_test(struct kunit *test)
{
	struct srn_known *known = new_known(test);
	struct srn_known_user *first = get(test, known, 1, 0), *second = get(test, known, 1, 0);
	int i, left = 0;

	least(first, 100);
	srn_known_put(first);
	KUNIT_EXPECT_EQ(test, least(second, FAR), 100ull);
	srn_known_put(second);
	srn_known_put(NULL);
	for (i = 0; i < SRN_KNOWN_BUCKETS; i++)
		left += !hlist_empty(&known->buckets[i]);
	KUNIT_EXPECT_EQ(test, left, 0);
	second = get(test, known, 1, 0);
	KUNIT_EXPECT_EQ(test, least(second, FAR), (u64)FAR);
	srn_known_put(second);
}

/* Who brings nothing new waits for nobody who does. */
static void srn_known_unlocked_test(struct kunit *test)
{
	struct srn_known *known = new_known(test);
	struct srn_known_user *p = get(test, known, 1, 0);

	KUNIT_EXPECT_EQ(test, least(p, 100), 100ull);
	spin_lock_bh(&p->path->lock);
	KUNIT_EXPECT_EQ(test, srn_known_least(p->path, 100, ktime_get_ns()), 100ull);
	KUNIT_EXPECT_EQ(test, srn_known_least(p->path, FAR, ktime_get_ns()), 100ull);
	/* Later than it came, for this CPU. */
	KUNIT_EXPECT_EQ(test, srn_known_least(p->path, FAR, 0), 100ull);
	spin_unlock_bh(&p->path->lock);
	KUNIT_EXPECT_EQ(test, least(p, 99), 99ull);
	KUNIT_EXPECT_EQ(test, least(p, FAR), 99ull);
	srn_known_put(p);
}

/* What is known goes on into the next span, and no further. */
static void srn_known_spans_test(struct kunit *test)
{
	struct srn_known *known = new_known(test);
	struct srn_known_user *p = get(test, known, 1, 0);
	u64 start = p->path->took.since_ns;

	local_bh_disable();
	KUNIT_EXPECT_EQ(test, srn_known_least(p->path, 100, start), 100ull);
	KUNIT_EXPECT_EQ(test, srn_known_least(p->path, 400, start + SRN_LATELY_NS), 100ull);
	KUNIT_EXPECT_EQ(test, srn_known_least(p->path, 500, start + 2 * SRN_LATELY_NS - 1), 100ull);
	KUNIT_EXPECT_EQ(test, srn_known_least(p->path, 500, start + 2 * SRN_LATELY_NS), 400ull);
	KUNIT_EXPECT_EQ(test, srn_known_least(p->path, 900, start + 4 * SRN_LATELY_NS), 900ull);
	local_bh_enable();
	srn_known_put(p);
}

/* For one span and at most two. */
static void srn_lately_test(struct kunit *test)
{
	const u64 start = 1000 * (u64)NSEC_PER_SEC, span = SRN_LATELY_NS;
	struct srn_lately l;

	srn_lately_start(&l, start);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 300, start), 300ull);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 100, start + 1), 100ull);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 500, start + span - 1), 100ull);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 400, start + span), 100ull);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 500, start + 2 * span - 1), 100ull);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 500, start + 2 * span), 400ull);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 900, start + 3 * span), 500ull);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 900, start + 2 * span), 500ull);
	/* Nobody asked for long. */
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 1000, start + 5 * span), 1000ull);
	/* Nor after that, but once in each. */
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 2000, start + 7 * span - 1), 1000ull);
	KUNIT_EXPECT_EQ(test, srn_lately_least(&l, 3000, start + 7 * span), 2000ull);
}

static struct kunit_case srn_known_cases[] = {
	KUNIT_CASE(srn_known_shared_test),
	KUNIT_CASE(srn_known_v6_test),
	KUNIT_CASE(srn_known_put_test),
	KUNIT_CASE(srn_known_unlocked_test),
	KUNIT_CASE(srn_known_spans_test),
	KUNIT_CASE(srn_lately_test),
	{}
};

static struct kunit_suite srn_known_suite = {
	.name = "srn_known",
	.test_cases = srn_known_cases,
};
kunit_test_suite(srn_known_suite);
