// SPDX-License-Identifier: GPL-2.0-only
/* How often a peer is told. */
#include "../notify.h"

#include <kunit/test.h>
#include <linux/time64.h>

#define PAUSE_NS	(50 * NSEC_PER_USEC)

static void srn_notify_pause_test(struct kunit *test)
{
	u64 next = 0, told = 0, last = 0, now;

	/* The first mark at once; of one each microsecond, then, one in fifty. */
	for (now = NSEC_PER_SEC; now < NSEC_PER_SEC + NSEC_PER_MSEC; now += NSEC_PER_USEC) {
		if (!srn_notify_is_time(&next, now, PAUSE_NS))
			continue;
		KUNIT_EXPECT_TRUE(test, !told || now - last == PAUSE_NS);
		last = now;
		told++;
	}
	KUNIT_EXPECT_EQ(test, told, 20);
	/* After a while without marks none is owed. */
	now += NSEC_PER_SEC;
	KUNIT_EXPECT_TRUE(test, srn_notify_is_time(&next, now, PAUSE_NS));
	KUNIT_EXPECT_FALSE(test, srn_notify_is_time(&next, now, PAUSE_NS));
}

static struct kunit_case srn_notify_cases[] = {
	KUNIT_CASE(srn_notify_pause_test),
	{}
};

static struct kunit_suite srn_notify_suite = {
	.name = "srn_notify",
	.test_cases = srn_notify_cases,
};

kunit_test_suite(srn_notify_suite);
