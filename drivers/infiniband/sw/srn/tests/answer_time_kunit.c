// SPDX-License-Identifier: GPL-2.0-only
/* What the first packet of a READ's answer says, and what its last one. */
#include "../crowd.h"
#include "../known.h"
#include "../retry.h"
#include "../stats.h"
#include "fake_sender.h"

#include <linux/ktime.h>

/* Queues are minded, and of an answer to all that is in flight the first packet came, after @ns; the last is timed.
 * @age_ns ago an answer took a second.
 */
static struct srn_qp *new_answered_since(struct kunit *test, u64 ns, u64 age_ns)
{
	struct srn_qp *qp = new_busy(test);
	struct srn_window *w = &qp->window;
	u64 now = ktime_get_ns();

	KUNIT_ASSERT_GE(test, srn_window_inflight(w), 2);
	qp->timeout = 16;
	w->crowd.left = 2;
	w->crowd.full_ns = now;
	w->crowd.look_ns = U64_MAX;
	srn_known_least(qp->known->path, 0, now);
	srn_window_time(w, w->una, now - ns, true);
	w->timed_rest = srn_window_inflight(w) - 1;
	if (age_ns) {
		w->crowd.least_ns = 1000;
		w->crowd.delay_ns = NSEC_PER_SEC;
		w->crowd.now_ns = now - age_ns;
	}
	srn_window_acked(w, srn_psn_add(w->una, 1));
	srn_retry_progress(qp);
	KUNIT_ASSERT_TRUE(test, w->timed_last);
	return qp;
}

static struct srn_qp *new_answered(struct kunit *test, u64 ns)
{
	return new_answered_since(test, ns, 0);
}

/* How long the path is, and whether it is late, an answer's first packet says. Of its last one only the queue. */
static void srn_answer_time_last_is_not_late_test(struct kunit *test)
{
	struct srn_qp *qp = new_answered(test, NSEC_PER_MSEC);
	struct srn_window *w = &qp->window;
	u64 now = ktime_get_ns(), srtt = qp->rtt.srtt_ns;

	KUNIT_EXPECT_GE(test, srtt, NSEC_PER_MSEC);
	KUNIT_EXPECT_TRUE(test, w->timed);
	KUNIT_EXPECT_EQ(test, w->timed_psn, srn_psn_add(w->at.psn, -1));
	w->timed_ns = now - NSEC_PER_SEC;
	srn_window_acked(w, w->at.psn);
	srn_retry_progress(qp);
	KUNIT_EXPECT_FALSE(test, w->timed);
	KUNIT_EXPECT_EQ(test, qp->rtt.srtt_ns, srtt);
	KUNIT_EXPECT_GE(test, w->crowd.delay_ns, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_LATE), 0);
}

/* The first says how long the queue is, so that a loss of the rest is judged by that; less is out when the last one
 * is here, once.
 */
static void srn_answer_time_lost_last_test(struct kunit *test)
{
	struct srn_qp *qp = new_answered(test, 4 * NSEC_PER_MSEC);
	struct srn_window *w = &qp->window;
	u32 was = w->cwnd;

	KUNIT_EXPECT_GE(test, w->crowd.delay_ns, 4 * NSEC_PER_MSEC);
	KUNIT_EXPECT_GT(test, srn_crowd_excess(&w->crowd, was), 0);
	srn_window_acked(w, w->at.psn);
	srn_retry_progress(qp);
	KUNIT_EXPECT_LT(test, w->cwnd, was);

	qp = new_answered(test, 4 * NSEC_PER_MSEC);
	w = &qp->window;
	KUNIT_EXPECT_EQ(test, w->cwnd, was);
	srn_window_untime_run(w, w->timed_psn, 1);
	KUNIT_EXPECT_FALSE(test, w->timed);
	w->crowd.look_ns = U64_MAX;
	KUNIT_EXPECT_EQ(test, srn_crowd_lost(&w->crowd, 1000, ktime_get_ns()), SRN_CROWD_FULL);
}

/* Until the last one is here the queue is no shorter than it was; unless that was long ago. */
static void srn_answer_time_queue_was_test(struct kunit *test)
{
	struct srn_qp *qp = new_answered_since(test, 4 * NSEC_PER_MSEC, NSEC_PER_MSEC);

	KUNIT_EXPECT_EQ(test, qp->window.crowd.delay_ns, NSEC_PER_SEC);
	qp = new_answered_since(test, 4 * NSEC_PER_MSEC, 5 * NSEC_PER_SEC);
	KUNIT_EXPECT_LT(test, qp->window.crowd.delay_ns, NSEC_PER_SEC);
}

/* What went again, and is the last of an answer, says nothing of the path at all. */
static void srn_answer_time_last_again_test(struct kunit *test)
{
	struct srn_qp *qp = new_answered(test, NSEC_PER_MSEC);
	struct srn_window *w = &qp->window;

	qp->rtt = (struct srn_rtt){};
	w->spare = 1;
	w->timed_ns -= NSEC_PER_SEC;
	w->timed_again = true;
	w->una = w->at.psn;
	srn_retry_progress(qp);
	KUNIT_EXPECT_FALSE(test, w->timed);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 0);
	KUNIT_EXPECT_EQ(test, w->spare, 1);
	KUNIT_EXPECT_LT(test, w->crowd.delay_ns, NSEC_PER_SEC);
}

static struct kunit_case srn_answer_time_cases[] = {
	KUNIT_CASE(srn_answer_time_last_is_not_late_test),
	KUNIT_CASE(srn_answer_time_lost_last_test),
	KUNIT_CASE(srn_answer_time_queue_was_test),
	KUNIT_CASE(srn_answer_time_last_again_test),
	{}
};

static struct kunit_suite srn_answer_time_suite = {
	.name = "srn_answer_time",
	.test_cases = srn_answer_time_cases,
};

kunit_test_suite(srn_answer_time_suite);
