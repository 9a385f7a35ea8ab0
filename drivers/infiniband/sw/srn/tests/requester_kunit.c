// SPDX-License-Identifier: GPL-2.0-only
/* When a program is told to ring. */
#include "../limits.h"
#include "../requester.h"
#include "fake_round.h"

#include <kunit/test.h>
#include <linux/bits.h>

/* A program's QP with as much in flight as hushes it. */
static struct srn_qp *new_busy(struct kunit *test)
{
	struct srn_qp *qp = &new_owner(test)->qp;

	qp->state = IB_QPS_RTS;
	qp->who.kernel = false;
	qp->page = fake_page(test);
	qp->sq = (struct srn_sq){ .entries = 64, .max_wr = 64 };
	give_clock(test, qp);
	srn_window_start(&qp->window, 0, 1024);
	qp->window.at.psn = 2 * SRN_DB_INFLIGHT;
	qp->window.end = qp->window.at.psn;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	return qp;
}

static bool rings(const struct srn_qp *qp)
{
	return qp->page->status & SRN_QP_NEED_DB;
}

static ktime_t due(const struct srn_qp *qp)
{
	return qp->clock.due[SRN_ALARM_QUIET];
}

/* Answers do not set the alarm anew, each of them. */
static void srn_requester_alarm_once_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);
	ktime_t first;

	KUNIT_EXPECT_FALSE(test, srn_requester_idle(qp));
	KUNIT_EXPECT_FALSE(test, rings(qp));
	first = due(qp);
	KUNIT_EXPECT_NE(test, first, 0);
	srn_window_acked(&qp->window, 1);
	KUNIT_EXPECT_FALSE(test, srn_requester_idle(qp));
	KUNIT_EXPECT_EQ(test, due(qp), first);
}

/* With answers since then it is set once more; in silence the program rings. */
static void srn_requester_silence_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);
	int i;

	srn_requester_idle(qp);
	srn_window_acked(&qp->window, 1);
	for (i = 0; i < 2; i++) {
		srn_clock_clear(&qp->clock, SRN_ALARM_QUIET);
		srn_requester_alarm(qp, BIT(SRN_ALARM_QUIET));
		srn_requester_idle(qp);
		KUNIT_EXPECT_EQ(test, rings(qp), i == 1);
		KUNIT_EXPECT_EQ(test, !due(qp), i == 1);
	}
	/* Until there are answers. */
	srn_requester_idle(qp);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	srn_window_acked(&qp->window, 2);
	srn_requester_idle(qp);
	KUNIT_EXPECT_FALSE(test, rings(qp));
}

/* Few in flight: each post is rung for, and no alarm is needed. */
static void srn_requester_few_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);

	srn_requester_idle(qp);
	srn_window_acked(&qp->window, SRN_DB_INFLIGHT + 1);
	srn_requester_idle(qp);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	KUNIT_EXPECT_EQ(test, due(qp), 0);
}

/* What was set for a worker that did not come is not waited for any longer. */
static void srn_requester_back_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);
	ktime_t away;

	srn_requester_hush(qp);
	away = due(qp);
	srn_requester_idle(qp);
	KUNIT_EXPECT_FALSE(test, rings(qp));
	KUNIT_EXPECT_TRUE(test, ktime_before(due(qp), away));
}

static struct kunit_case srn_requester_cases[] = {
	KUNIT_CASE(srn_requester_alarm_once_test),
	KUNIT_CASE(srn_requester_silence_test),
	KUNIT_CASE(srn_requester_few_test),
	KUNIT_CASE(srn_requester_back_test),
	{}
};

static struct kunit_suite srn_requester_suite = {
	.name = "srn_requester",
	.test_cases = srn_requester_cases,
};

kunit_test_suite(srn_requester_suite);
