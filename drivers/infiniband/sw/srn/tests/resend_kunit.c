// SPDX-License-Identifier: GPL-2.0-only
/* What goes again beside the cursor, for peers that keep what comes early and for those that do
 * not.
 */
#include "../resend.h"

#include <kunit/test.h>

#define FIRST	0xfffff0u
#define MANY	1000u

static struct srn_resend *new_resend(struct kunit *test)
{
	struct srn_resend *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	srn_resend_start(r);
	return r;
}

static u32 psn(int n)
{
	return srn_psn_add(FIRST, n);
}

/* All that it names goes; how many packets that was. */
static u32 send_all(struct srn_resend *r)
{
	u32 n = 0;

	for (; r->left; n++)
		srn_resend_sent(r, 1);
	return n;
}

/* A gap right behind the last run says that the peer drops: twice as many, in the end all. */
static void srn_resend_doubles_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);
	int at = 0, i;
	u32 run;

	for (run = 1; run <= 16; run *= 2) {
		KUNIT_EXPECT_TRUE(test, srn_resend_gap(r, psn(at), MANY));
		KUNIT_EXPECT_EQ(test, r->psn, psn(at));
		KUNIT_EXPECT_EQ(test, send_all(r), run);
		at += run;
		srn_resend_acked(r, psn(at));
	}
	for (i = 0; i < 32; i++)
		KUNIT_EXPECT_FALSE_MSG(test, srn_resend_gap(r, psn(at), MANY), "gap %d", i);
	/* It may be another path by now. */
	KUNIT_EXPECT_TRUE(test, srn_resend_gap(r, psn(at), MANY));
	KUNIT_EXPECT_EQ(test, send_all(r), 1);
}

/* A gap beyond the run, or an acknowledgment beyond it: the peer kept what had followed. */
static void srn_resend_kept_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);

	srn_resend_gap(r, psn(0), MANY);
	send_all(r);
	srn_resend_gap(r, psn(1), MANY);
	KUNIT_EXPECT_EQ(test, send_all(r), 2);
	srn_resend_gap(r, psn(10), MANY);
	KUNIT_EXPECT_EQ(test, send_all(r), 1);
	srn_resend_gap(r, psn(11), MANY);
	KUNIT_EXPECT_EQ(test, send_all(r), 2);
	srn_resend_acked(r, psn(14));
	srn_resend_gap(r, psn(14), MANY);
	KUNIT_EXPECT_EQ(test, send_all(r), 1);
}

/* Within the run: part of it was lost. That says nothing of the peer. */
static void srn_resend_part_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);

	r->run = 4;
	srn_resend_gap(r, psn(0), MANY);
	send_all(r);
	srn_resend_gap(r, psn(2), MANY);
	KUNIT_EXPECT_EQ(test, send_all(r), 4);
}

/* An ACK; whether it is of the run alone. */
static bool acked(struct srn_resend *r, u32 una)
{
	srn_resend_acked(r, una);
	return srn_resend_is_stalled(r, una);
}

/* All that was sent again was taken, and nothing of what had followed, and that is all it says. */
static void srn_resend_stalled_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);

	srn_resend_gap(r, psn(0), 8);
	KUNIT_EXPECT_EQ(test, send_all(r), 1);
	KUNIT_EXPECT_TRUE(test, acked(r, psn(1)));
	srn_resend_gap(r, psn(1), 7);
	KUNIT_EXPECT_EQ(test, r->left, 2);
	KUNIT_EXPECT_FALSE(test, acked(r, psn(2)));
	send_all(r);
	/* That was all. */
	srn_resend_gap(r, psn(7), 1);
	send_all(r);
	KUNIT_EXPECT_FALSE(test, acked(r, psn(8)));
}

static void srn_resend_again_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);

	srn_resend_gap(r, psn(5), MANY);
	send_all(r);
	KUNIT_EXPECT_TRUE(test, srn_resend_gap_again(r, psn(5), MANY));
	KUNIT_EXPECT_EQ(test, r->psn, psn(5));
	KUNIT_EXPECT_EQ(test, send_all(r), 1);
}

/* No more than what is in flight, and nothing that was answered meanwhile. */
static void srn_resend_bounds_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);

	r->run = 8;
	srn_resend_gap(r, psn(0), 3);
	KUNIT_EXPECT_EQ(test, r->left, 3);
	srn_resend_acked(r, psn(2));
	KUNIT_EXPECT_EQ(test, r->psn, psn(2));
	KUNIT_EXPECT_EQ(test, send_all(r), 1);
	KUNIT_EXPECT_EQ(test, r->psn, psn(3));
	srn_resend_gap(r, psn(20), 8);
	srn_resend_acked(r, psn(40));
	KUNIT_EXPECT_EQ(test, send_all(r), 0);
}

static void srn_resend_jumped_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);

	r->patience = 7;
	KUNIT_EXPECT_FALSE(test, srn_resend_gap(r, psn(0), MANY));
	srn_resend_jumped(r);
	KUNIT_EXPECT_TRUE(test, srn_resend_gap(r, psn(0), MANY));
	KUNIT_EXPECT_EQ(test, send_all(r), 1);
}

/* What was asked for brings what follows it, up to its end, too. */
static void srn_resend_ask_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);

	KUNIT_EXPECT_TRUE(test, srn_resend_ask(r, psn(3)));
	KUNIT_EXPECT_FALSE(test, srn_resend_ask(r, psn(3)));
	KUNIT_EXPECT_TRUE(test, srn_resend_any(r));
	srn_resend_asked(r, psn(3), psn(20));
	KUNIT_EXPECT_FALSE(test, srn_resend_any(r));
	KUNIT_EXPECT_FALSE(test, srn_resend_ask(r, psn(3)));
	srn_resend_acked(r, psn(10));
	KUNIT_EXPECT_FALSE(test, srn_resend_ask(r, psn(19)));
	KUNIT_EXPECT_TRUE(test, srn_resend_ask(r, psn(20)));
	srn_resend_asked(r, psn(20), psn(30));
	srn_resend_ask_again(r, psn(20));
	KUNIT_EXPECT_TRUE(test, r->ask);
	/* It came after all. */
	srn_resend_acked(r, psn(21));
	KUNIT_EXPECT_FALSE(test, srn_resend_any(r));
	srn_resend_asked(r, psn(21), psn(30));
	srn_resend_acked(r, psn(30));
	KUNIT_EXPECT_TRUE(test, srn_resend_ask(r, psn(30)));
}

static void srn_resend_stop_test(struct kunit *test)
{
	struct srn_resend *r = new_resend(test);

	srn_resend_gap(r, psn(0), MANY);
	srn_resend_ask(r, psn(0));
	srn_resend_probe(r);
	KUNIT_EXPECT_TRUE(test, srn_resend_any(r));
	srn_resend_stop(r);
	KUNIT_EXPECT_FALSE(test, srn_resend_any(r));
	/* Of a run that the cursor has sent once more nobody knows what the next gap means. */
	srn_resend_gap(r, psn(1), MANY);
	KUNIT_EXPECT_EQ(test, r->left, 1);
}

static struct kunit_case srn_resend_cases[] = {
	KUNIT_CASE(srn_resend_doubles_test),
	KUNIT_CASE(srn_resend_kept_test),
	KUNIT_CASE(srn_resend_part_test),
	KUNIT_CASE(srn_resend_stalled_test),
	KUNIT_CASE(srn_resend_again_test),
	KUNIT_CASE(srn_resend_bounds_test),
	KUNIT_CASE(srn_resend_jumped_test),
	KUNIT_CASE(srn_resend_ask_test),
	KUNIT_CASE(srn_resend_stop_test),
	{}
};

static struct kunit_suite srn_resend_suite = {
	.name = "srn_resend",
	.test_cases = srn_resend_cases,
};

kunit_test_suite(srn_resend_suite);
