// SPDX-License-Identifier: GPL-2.0-only
/* How long a poller looks in vain. */
#include "../vigil.h"

#include <kunit/test.h>
#include <linux/time64.h>

#define MOST	(1000 * NSEC_PER_USEC)
#define STEP	(10 * NSEC_PER_USEC)

/* Looks every @step from @now on until it is over; how many. */
static u32 looks_with(struct srn_vigil *v, u64 *now, u64 step, bool shared, u32 most)
{
	u32 num = 0;

	do {
		*now += step;
		num++;
	} while (!srn_vigil_is_over(v, *now, shared, most) && num < 100000);
	return num;
}

/* With the CPU for itself. */
static u32 looks(struct srn_vigil *v, u64 *now, u64 step, u32 most)
{
	return looks_with(v, now, step, false, most);
}

static void srn_vigil_time_test(struct kunit *test)
{
	struct srn_vigil v;
	u64 now = 12345;

	srn_vigil_begin(&v, now, MOST);
	KUNIT_EXPECT_EQ(test, looks(&v, &now, STEP, MOST), MOST / STEP);
	/* What is found begins it anew. */
	srn_vigil_found(&v, now);
	now += MOST - STEP;
	srn_vigil_found(&v, now);
	KUNIT_EXPECT_EQ(test, looks(&v, &now, STEP, MOST), MOST / STEP);
	/* What the parameter says now is the most, whatever it was. */
	srn_vigil_found(&v, now);
	KUNIT_EXPECT_EQ(test, looks(&v, &now, STEP, MOST / 4), MOST / 4 / STEP);
	srn_vigil_found(&v, now);
	KUNIT_EXPECT_EQ(test, looks(&v, &now, STEP, 0), 1);
}

/* While others have the CPU it does not look. */
static void srn_vigil_others_test(struct kunit *test)
{
	struct srn_vigil v;
	u64 now = 0;

	srn_vigil_begin(&v, now, MOST);
	KUNIT_EXPECT_EQ(test, looks_with(&v, &now, 4 * NSEC_PER_MSEC, true, MOST),
			MOST / SRN_VIGIL_LOOK_NS);
	srn_vigil_found(&v, now);
	KUNIT_EXPECT_EQ(test, looks_with(&v, &now, STEP, true, MOST), MOST / STEP);
}

/* A look at many QPs takes long by itself. */
static void srn_vigil_long_look_test(struct kunit *test)
{
	struct srn_vigil v;
	u64 now = 0;

	srn_vigil_begin(&v, now, MOST);
	KUNIT_EXPECT_EQ(test, looks(&v, &now, MOST / 4, MOST), 4);
	srn_vigil_found(&v, now);
	KUNIT_EXPECT_EQ(test, looks(&v, &now, 4 * MOST, MOST), 1);
}

/* However often it is told that it is time, and goes on. */
static void srn_vigil_goes_on_test(struct kunit *test)
{
	struct srn_vigil v;
	u64 now = 0;
	int i;

	srn_vigil_begin(&v, now, NSEC_PER_SEC);
	for (i = 0; i < 10; i++) {
		now += NSEC_PER_SEC;
		KUNIT_EXPECT_TRUE(test, srn_vigil_is_over(&v, now, false, NSEC_PER_SEC));
	}
}

/* Who sleeps long looks less, and who is woken soon more, within bounds. */
static void srn_vigil_limit_test(struct kunit *test)
{
	struct srn_vigil v;
	u64 now = 0;
	int i;

	srn_vigil_begin(&v, now, MOST);
	now += MOST + 1;
	srn_vigil_woken(&v, now, MOST);
	KUNIT_EXPECT_EQ(test, v.limit_ns, MOST / 2);
	KUNIT_EXPECT_EQ(test, looks(&v, &now, STEP, MOST), MOST / 2 / STEP);
	for (i = 0; i < 10; i++) {
		now += 1ULL << 40;
		srn_vigil_woken(&v, now, MOST);
	}
	KUNIT_EXPECT_EQ(test, v.limit_ns, srn_vigil_least(MOST));
	now += MOST;
	srn_vigil_woken(&v, now, MOST);
	KUNIT_EXPECT_EQ(test, v.limit_ns, 2 * srn_vigil_least(MOST));
	for (i = 0; i < 10; i++)
		srn_vigil_woken(&v, ++now, MOST);
	KUNIT_EXPECT_EQ(test, v.limit_ns, MOST);
	/* 0 forbids new ones, and is one that sleeps at once. */
	srn_vigil_woken(&v, ++now, 0);
	KUNIT_EXPECT_EQ(test, v.limit_ns, 0);
	srn_vigil_woken(&v, ++now, MOST);
	KUNIT_EXPECT_EQ(test, v.limit_ns, srn_vigil_least(MOST));
	/* The longest that there may be. */
	srn_vigil_begin(&v, now, NSEC_PER_SEC);
	for (i = 0; i < 10; i++)
		srn_vigil_woken(&v, ++now, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, v.limit_ns, NSEC_PER_SEC);
}

static struct kunit_case srn_vigil_cases[] = {
	KUNIT_CASE(srn_vigil_time_test),
	KUNIT_CASE(srn_vigil_others_test),
	KUNIT_CASE(srn_vigil_long_look_test),
	KUNIT_CASE(srn_vigil_goes_on_test),
	KUNIT_CASE(srn_vigil_limit_test),
	{}
};

static struct kunit_suite srn_vigil_suite = {
	.name = "srn_vigil",
	.test_cases = srn_vigil_cases,
};

kunit_test_suite(srn_vigil_suite);
