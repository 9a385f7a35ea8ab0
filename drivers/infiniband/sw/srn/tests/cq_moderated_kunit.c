// SPDX-License-Identifier: GPL-2.0-only
/* Events that are put off: by count, by time, and by nothing that would lose one. */
#include "../cq.h"
#include "../limits.h"
#include "fake.h"

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/time64.h>

#define ENTRIES	16

struct ctx {
	struct srn_cq *cq;
	unsigned int comps;	/* calls of the handler */
	struct task_struct *who;	/* made the last one */
	ktime_t when;		/* of the last one */
};

static void on_comp(struct ib_cq *cq, void *arg)
{
	struct ctx *c = arg;

	c->when = ktime_get();
	c->who = current;
	WRITE_ONCE(c->comps, c->comps + 1);
}

static void free_cq(void *cq)
{
	srn_destroy_cq(cq, NULL);
}

static int moderated_test_init(struct kunit *test)
{
	const struct ib_cq_init_attr attr = { .cqe = ENTRIES };
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->cq = kunit_kzalloc(test, sizeof(*c->cq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->cq);
	c->cq->ibcq.device = &fake_dev(test)->ibdev;
	c->cq->ibcq.comp_handler = on_comp;
	c->cq->ibcq.cq_context = c;
	KUNIT_ASSERT_EQ(test, srn_create_cq(&c->cq->ibcq, &attr, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_cq, &c->cq->ibcq), 0);
	test->priv = c;
	return 0;
}

static void moderate(struct kunit *test, u16 count, u16 period_us)
{
	struct ctx *c = test->priv;

	KUNIT_ASSERT_EQ(test, srn_modify_cq(&c->cq->ibcq, count, period_us), 0);
}

/* For longer than a program may say. */
static void moderate_for(struct kunit *test, u16 count, u32 period_ns)
{
	struct ctx *c = test->priv;

	moderate(test, count, 1);
	c->cq->moderation.period_ns = period_ns;
}

/* By count alone: no machine is so slow that the period ends. */
static void moderate_for_long(struct kunit *test, u16 count)
{
	moderate_for(test, count, U32_MAX);	/* 4 s */
}

static void arm(struct ctx *c)
{
	srn_req_notify_cq(&c->cq->ibcq, IB_CQ_NEXT_COMP);
}

static void put(struct kunit *test, u32 num, bool solicited)
{
	static const struct srn_cqe cqes[ENTRIES];
	struct ctx *c = test->priv;

	KUNIT_ASSERT_EQ(test, srn_cq_post_many(c->cq, cqes, num, solicited, NULL), num);
}

/* And takes them out, so that there is room for the next. */
static void post(struct kunit *test, u32 num, bool solicited)
{
	struct ctx *c = test->priv;

	put(test, num, solicited);
	c->cq->cons = c->cq->prod;
}

static bool is_told(struct ctx *c, unsigned int comps)
{
	int i;

	for (i = 0; i < 1000 && READ_ONCE(c->comps) < comps; i++)
		msleep(1);
	return READ_ONCE(c->comps) == comps;
}

/* The event of the last of them, in its own time; what is put off stays armed. */
static void srn_cq_moderated_count_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	int round;

	moderate_for_long(test, 4);
	for (round = 1; round < 4; round++) {
		arm(c);
		post(test, 1, false);
		post(test, 1, false);
		arm(c);		/* twice is once */
		post(test, 1, false);
		KUNIT_EXPECT_EQ(test, c->comps, round - 1);
		KUNIT_EXPECT_TRUE(test, srn_cq_is_armed(c->cq));
		post(test, 1, false);
		KUNIT_EXPECT_EQ(test, c->comps, round);
		KUNIT_EXPECT_FALSE(test, srn_cq_is_armed(c->cq));
	}
	arm(c);
	post(test, 5, false);
	KUNIT_EXPECT_EQ(test, c->comps, round);
}

/* What comes while nobody waits is found by who arms, and looks then. */
static void srn_cq_moderated_unarmed_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, 3);
	post(test, 8, false);
	KUNIT_EXPECT_FALSE(test, srn_moderation_waits(&c->cq->moderation));
	KUNIT_EXPECT_FALSE(test, hrtimer_is_queued(&c->cq->timer));
	arm(c);
	post(test, 2, false);
	KUNIT_EXPECT_EQ(test, c->comps, 0);
	post(test, 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
}

/* At its end, not before; and once. */
static void srn_cq_moderated_period_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	ktime_t begin;
	int round;

	moderate(test, 8, 2000);
	for (round = 1; round < 4; round++) {
		arm(c);
		begin = ktime_get();
		post(test, 1, false);
		KUNIT_EXPECT_TRUE(test, is_told(c, round));
		KUNIT_EXPECT_GE(test, ktime_us_delta(c->when, begin), 2000);
		KUNIT_EXPECT_FALSE(test, srn_cq_is_armed(c->cq));
	}
	msleep(5);
	KUNIT_EXPECT_EQ(test, c->comps, 3);
}

/* The timer of those that were told of by count fires too early for those that came then. It may
 * come a tick late, and is early still.
 */
static void srn_cq_moderated_timer_moves_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	ktime_t begin;

	moderate_for(test, 2, 10 * NSEC_PER_MSEC);
	arm(c);
	post(test, 1, false);
	post(test, 1, false);
	KUNIT_EXPECT_TRUE(test, is_told(c, 1));
	moderate_for(test, 2, 60 * NSEC_PER_MSEC);
	arm(c);
	begin = ktime_get();
	post(test, 1, false);
	KUNIT_EXPECT_TRUE(test, is_told(c, 2));
	KUNIT_EXPECT_GE(test, ktime_ms_delta(c->when, begin), 60);
}

/* A shorter period does not wait for the timer of a longer one. */
static void srn_cq_moderated_shorter_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, 2);
	arm(c);
	post(test, 1, false);
	post(test, 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
	KUNIT_EXPECT_TRUE(test, hrtimer_is_queued(&c->cq->timer));
	moderate(test, 2, 1000);
	arm(c);
	post(test, 1, false);
	KUNIT_EXPECT_LE(test, ktime_ms_delta(hrtimer_get_expires(&c->cq->timer), ktime_get()), 1);
	KUNIT_EXPECT_TRUE(test, is_told(c, 2));
}

/* Who waits for these is told at once, and of nothing else. */
static void srn_cq_moderated_solicited_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, 8);
	srn_req_notify_cq(&c->cq->ibcq, IB_CQ_SOLICITED);
	post(test, 8, false);
	KUNIT_EXPECT_EQ(test, c->comps, 0);
	KUNIT_EXPECT_FALSE(test, srn_moderation_waits(&c->cq->moderation));
	post(test, 1, true);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
	/* Who waits for any has them put off with the others. */
	arm(c);
	post(test, 1, true);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
	post(test, 7, false);
	KUNIT_EXPECT_EQ(test, c->comps, 2);
}

/* A ring that is full loses completions: so many do not wait. */
static void srn_cq_moderated_half_full_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, U16_MAX);
	arm(c);
	post(test, ENTRIES / 2 - 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 0);
	post(test, 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
}

/* Of a ring that is more than half full, since nobody polls, nothing is put off. */
static void srn_cq_moderated_unpolled_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, U16_MAX);
	put(test, ENTRIES / 2 - 1, false);
	arm(c);
	put(test, 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 0);
	put(test, 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
	arm(c);
	put(test, 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 2);
}

/* Who destroys another QP leaves the timer: what is put off meanwhile may need it. */
static void srn_cq_moderated_others_timer_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, 8);
	arm(c);
	post(test, 1, false);
	srn_cq_settle(c->cq);
	KUNIT_EXPECT_TRUE(test, hrtimer_is_queued(&c->cq->timer));
}

struct off_row {
	const char *desc;
	u16 count, period_us;
};

static const struct off_row off_rows[] = {
	{ "both", 0, 0 },
	{ "count", 0, 1000 },
	{ "count of one", 1, 1000 },
	{ "period", 8, 0 },
};

KUNIT_ARRAY_PARAM_DESC(off, off_rows, desc);

/* What was put off is told of, and nothing is from then on. */
static void srn_cq_moderated_off_test(struct kunit *test)
{
	const struct off_row *row = test->param_value;
	struct ctx *c = test->priv;

	moderate_for_long(test, 8);
	arm(c);
	post(test, 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 0);
	moderate(test, row->count, row->period_us);
	KUNIT_EXPECT_TRUE(test, is_told(c, 1));
	KUNIT_EXPECT_PTR_EQ(test, c->who, current);	/* no thread of softirqs was waited for */
	arm(c);
	post(test, 1, false);
	KUNIT_EXPECT_FALSE(test, srn_cq_is_armed(c->cq));
	KUNIT_EXPECT_FALSE(test, srn_moderation_waits(&c->cq->moderation));
	KUNIT_EXPECT_TRUE(test, is_told(c, 2));
}

static void srn_cq_moderated_refused_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, 2);
	arm(c);
	post(test, 1, false);
	KUNIT_EXPECT_EQ(test, srn_modify_cq(&c->cq->ibcq, 2, SRN_MAX_MODERATE_US + 1), -EINVAL);
	KUNIT_EXPECT_TRUE(test, srn_moderation_waits(&c->cq->moderation));
	post(test, 1, false);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
}

/* A program that takes its arm back is not told; who arms then is, as ever. */
static void srn_cq_moderated_disarmed_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, 8);
	arm(c);
	post(test, 1, false);
	WRITE_ONCE(c->cq->page->arm, SRN_CQ_DISARMED);
	moderate(test, 8, 1000);
	msleep(5);
	KUNIT_EXPECT_EQ(test, c->comps, 0);
	KUNIT_EXPECT_FALSE(test, c->cq->notifying);
	arm(c);
	post(test, 1, false);
	KUNIT_EXPECT_TRUE(test, is_told(c, 1));
}

/* Of QPs that are gone no event is left to the timer. */
static void srn_cq_moderated_settles_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate_for_long(test, 8);
	arm(c);
	post(test, 1, false);
	srn_cq_settle(c->cq);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
	KUNIT_EXPECT_PTR_EQ(test, c->who, current);
	KUNIT_EXPECT_FALSE(test, srn_moderation_waits(&c->cq->moderation));
	KUNIT_EXPECT_FALSE(test, c->cq->notifying);
	srn_cq_settle(c->cq);
	KUNIT_EXPECT_EQ(test, c->comps, 1);
}

static void srn_cq_moderated_gone_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	moderate(test, 8, SRN_MAX_MODERATE_US);
	arm(c);
	post(test, 1, false);
	kunit_release_action(test, free_cq, &c->cq->ibcq);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&c->cq->timer));
	KUNIT_EXPECT_LE(test, c->comps, 1);	/* the machine may be slow */
}

static struct kunit_case moderated_cases[] = {
	KUNIT_CASE(srn_cq_moderated_count_test),
	KUNIT_CASE(srn_cq_moderated_unarmed_test),
	KUNIT_CASE(srn_cq_moderated_period_test),
	KUNIT_CASE(srn_cq_moderated_timer_moves_test),
	KUNIT_CASE(srn_cq_moderated_shorter_test),
	KUNIT_CASE(srn_cq_moderated_solicited_test),
	KUNIT_CASE(srn_cq_moderated_half_full_test),
	KUNIT_CASE(srn_cq_moderated_unpolled_test),
	KUNIT_CASE_PARAM(srn_cq_moderated_off_test, off_gen_params),
	KUNIT_CASE(srn_cq_moderated_refused_test),
	KUNIT_CASE(srn_cq_moderated_disarmed_test),
	KUNIT_CASE(srn_cq_moderated_settles_test),
	KUNIT_CASE(srn_cq_moderated_others_timer_test),
	KUNIT_CASE(srn_cq_moderated_gone_test),
	{}
};

static struct kunit_suite moderated_suite = {
	.name = "srn_cq_moderated",
	.init = moderated_test_init,
	.test_cases = moderated_cases,
};

kunit_test_suite(moderated_suite);
