// SPDX-License-Identifier: GPL-2.0-only
#include "../credit.h"

#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>

/* IBTA vol. 1, table 44, as it stands there. */
static const u32 table[31] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

static void srn_credit_table_test(struct kunit *test)
{
	u32 receives, code = 0;

	for (receives = 0; receives < 70000; receives++) {
		if (code < 30 && receives == table[code + 1])
			code++;
		if (srn_credit_code(receives) != code)
			break;
	}
	KUNIT_EXPECT_EQ(test, receives, 70000);
	KUNIT_EXPECT_EQ(test, srn_credit_code(U32_MAX), 30);
	for (code = 0; code < ARRAY_SIZE(table); code++)
		KUNIT_EXPECT_EQ(test, srn_credit_count(code), table[code]);
}

/* The first request is limited to its first packet; with its answer the rest may go. */
static void srn_credit_limited_test(struct kunit *test)
{
	struct srn_credit c;

	srn_credit_start(&c, true);
	srn_credit_begin(&c, 0xffffff);
	KUNIT_EXPECT_TRUE(test, c.limited);
	KUNIT_EXPECT_FALSE(test, srn_credit_stops(&c, 0xffffff, 0xfffffe));
	KUNIT_EXPECT_FALSE(test, srn_credit_stops(&c, 0xfffffe, 0xfffffe));	/* sent again */
	KUNIT_EXPECT_TRUE(test, srn_credit_stops(&c, 0, 0xfffffe));
	KUNIT_EXPECT_FALSE(test, srn_credit_stops(&c, 0, 0));
	/* Of the request before it, with nothing new. */
	srn_credit_heard(&c, 0, 0, 0xffffff);
	KUNIT_EXPECT_TRUE(test, srn_credit_stops(&c, 0, 0xffffff));
	/* Whether it says that there is a receive, or that the packet has found one. */
	srn_credit_heard(&c, 0, 0, 0);
	KUNIT_EXPECT_FALSE(test, c.limited);
}

/* What is sent again in front of the limited one is not. */
static void srn_credit_rewound_test(struct kunit *test)
{
	struct srn_credit c;

	srn_credit_start(&c, true);
	srn_credit_begin(&c, 0xfffffe);
	srn_credit_heard(&c, 1, 1, 0xffffff);
	srn_credit_begin(&c, 0xffffff);
	KUNIT_EXPECT_FALSE(test, srn_credit_asks(&c, 0xffffff));
	srn_credit_begin(&c, 0);
	KUNIT_EXPECT_FALSE(test, srn_credit_asks(&c, 0xffffff));
	KUNIT_EXPECT_TRUE(test, srn_credit_asks(&c, 0));
	srn_credit_heard(&c, 2, 1, 0xffffff);
	KUNIT_EXPECT_FALSE(test, srn_credit_asks(&c, 0));
}

/* As many as the peer has said, then one that is limited. */
static void srn_credit_count_test(struct kunit *test)
{
	struct srn_credit c;
	u32 psn;

	srn_credit_start(&c, true);
	srn_credit_begin(&c, 0);
	srn_credit_heard(&c, 3, 1, 1);
	for (psn = 1; psn <= 3; psn++) {
		srn_credit_begin(&c, psn);
		KUNIT_EXPECT_FALSE(test, c.limited);
	}
	srn_credit_begin(&c, 4);
	KUNIT_EXPECT_TRUE(test, c.limited);
	/* Three are done, and as many were posted. */
	srn_credit_heard(&c, 3, 4, 4);
	KUNIT_EXPECT_FALSE(test, c.limited);
	KUNIT_EXPECT_EQ(test, c.lsn, 7);
	srn_credit_heard(&c, 2, 3, 4);	/* late: says less */
	KUNIT_EXPECT_EQ(test, c.lsn, 7);
}

/* One beyond what the peer has said asks; the next one waits while an answer may come. */
static void srn_credit_waits_test(struct kunit *test)
{
	struct srn_credit c;

	srn_credit_start(&c, true);
	KUNIT_EXPECT_FALSE(test, srn_credit_waits(&c, true, true));
	srn_credit_begin(&c, 0);
	srn_credit_heard(&c, 0, 0, 1);	/* of a part of it */
	KUNIT_EXPECT_FALSE(test, c.limited);
	KUNIT_EXPECT_TRUE(test, srn_credit_waits(&c, true, true));
	KUNIT_EXPECT_FALSE(test, srn_credit_waits(&c, false, true));
	KUNIT_EXPECT_FALSE(test, srn_credit_waits(&c, true, false));
	srn_credit_heard(&c, 0, 1, 3);
	KUNIT_EXPECT_FALSE(test, srn_credit_waits(&c, true, true));
	c.on = false;
	c.ssn = 9;
	KUNIT_EXPECT_FALSE(test, srn_credit_waits(&c, true, true));
}

/* A WRITE or READ takes none, and leaves as many to others as there were. */
static void srn_credit_none_taken_test(struct kunit *test)
{
	struct srn_credit c;

	srn_credit_start(&c, true);
	srn_credit_pass(&c, 1);
	KUNIT_EXPECT_FALSE(test, c.limited);
	srn_credit_heard(&c, 1, 0, 0);	/* does not know of it yet */
	srn_credit_pass(&c, 1);
	srn_credit_heard(&c, 1, 2, 2);
	srn_credit_begin(&c, 2);
	KUNIT_EXPECT_FALSE(test, c.limited);
	srn_credit_begin(&c, 3);
	KUNIT_EXPECT_TRUE(test, c.limited);
}

/* A long READ is as many as it is cut into: the MSN moves for each. */
static void srn_credit_requests_test(struct kunit *test)
{
	struct srn_credit c;

	srn_credit_start(&c, true);
	srn_credit_begin(&c, 0);
	srn_credit_heard(&c, 1, 1, 1);
	srn_credit_pass(&c, 3);
	srn_credit_heard(&c, 1, 4, 193);
	srn_credit_begin(&c, 193);
	KUNIT_EXPECT_FALSE(test, c.limited);
	KUNIT_EXPECT_EQ(test, c.ssn, 5);
	srn_credit_begin(&c, 194);
	KUNIT_EXPECT_TRUE(test, c.limited);
}

/* 24 bits, all of them. */
static void srn_credit_wrap_test(struct kunit *test)
{
	struct srn_credit c;

	srn_credit_start(&c, true);
	c.ssn = 0xffffff;
	c.lsn = 0xffffff;
	srn_credit_heard(&c, 2, 0xffffff, 7);
	KUNIT_EXPECT_EQ(test, c.lsn, 1);
	srn_credit_begin(&c, 7);
	srn_credit_begin(&c, 8);
	KUNIT_EXPECT_FALSE(test, c.limited);
	KUNIT_EXPECT_EQ(test, c.ssn, 1);
	srn_credit_begin(&c, 9);
	KUNIT_EXPECT_TRUE(test, c.limited);
}

/* Who has none to give is not waited for: as if nobody kept to them. */
static void srn_credit_off_test(struct kunit *test)
{
	struct srn_credit c;

	srn_credit_start(&c, true);
	srn_credit_begin(&c, 0);
	srn_credit_heard(&c, 31, 0, 0);
	KUNIT_EXPECT_FALSE(test, c.on);
	KUNIT_EXPECT_FALSE(test, srn_credit_stops(&c, 1, 0));
	KUNIT_EXPECT_FALSE(test, srn_credit_waits(&c, true, true));
}

static struct kunit_case srn_credit_cases[] = {
	KUNIT_CASE(srn_credit_table_test),
	KUNIT_CASE(srn_credit_limited_test),
	KUNIT_CASE(srn_credit_rewound_test),
	KUNIT_CASE(srn_credit_count_test),
	KUNIT_CASE(srn_credit_waits_test),
	KUNIT_CASE(srn_credit_none_taken_test),
	KUNIT_CASE(srn_credit_requests_test),
	KUNIT_CASE(srn_credit_wrap_test),
	KUNIT_CASE(srn_credit_off_test),
	{}
};

static struct kunit_suite srn_credit_suite = {
	.name = "srn_credit",
	.test_cases = srn_credit_cases,
};

kunit_test_suite(srn_credit_suite);
