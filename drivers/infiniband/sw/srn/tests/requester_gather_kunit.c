// SPDX-License-Identifier: GPL-2.0-only
/* Posts of who streams are left for a moment, to go with those that follow. */
#include "../gather.h"
#include "../limits.h"
#include "../run.h"
#include "../sq.h"
#include "fake_sender.h"

#include <linux/jiffies.h>

static bool was_enabled;	/* by the parameter */

#define LAG	(SRN_GATHER_CQES + 4)	/* completions that a program has left unpolled */

/* A program's QP with such a CQ, on a machine whose other CPUs have no time; as in a softirq. */
static struct srn_qp *new_streamer(struct kunit *test)
{
	struct srn_qp *qp;
	struct srn_sq *sq;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, 15);
	sq = &qp->sq;
	qp->who.kernel = false;
	qp->page = fake_page(test);
	sq->stride = srn_send_stride(1, 0);
	sq->slots = kunit_kcalloc(test, sq->entries, sq->stride, GFP_KERNEL);	/* WRITEs of 0 B */
	KUNIT_ASSERT_NOT_NULL(test, sq->slots);
	qp->scq = new_cq(test, qp, 2 * LAG);
	qp->rcq = new_cq(test, qp, 4);
	qp->scq->prod = LAG;
	qp->scq->waiting = LAG - 1;
	qp->turn.away_pause = jiffies + 1000 * HZ;
	was_enabled = srn_gather_enabled;
	srn_gather_enabled = true;
	local_bh_disable();
	return qp;
}

/* Its alarm may have left the turn to the NAPI. */
static void leave_streamer(struct kunit *test, struct srn_qp *qp)
{
	srn_gather_enabled = was_enabled;
	local_bh_enable();
	migrate_enable();
	srn_clock_stop(&qp->clock);
	KUNIT_EXPECT_TRUE(test, wait_idle(qp));
}

/* The same after @tail posts and a doorbell. */
static u64 post(struct srn_qp *qp, u32 tail)
{
	qp->page->sq_tail = tail;
	srn_round_doorbell(qp);
	return num_sent(qp);
}

static bool gathers(const struct srn_qp *qp)
{
	return qp->page->status == SRN_QP_GATHERS &&
	       srn_clock_is_set(&qp->clock, SRN_ALARM_GATHER) && qp->req.bell.gather.on;
}

/* The first post of who streams waits for those that follow, until he rings. */
static void srn_requester_gather_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	KUNIT_EXPECT_EQ(test, post(qp, 1), 0);
	KUNIT_EXPECT_TRUE(test, gathers(qp));
	qp->page->sq_tail = 5;
	KUNIT_EXPECT_EQ(test, srn_round_doorbell(qp), SRN_HEARD_MUCH);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 5);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	KUNIT_EXPECT_FALSE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_GATHER));
	KUNIT_EXPECT_EQ(test, post(qp, 6), 5);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_GATHERINGS), 2);
	leave_streamer(test, qp);
}

/* Or until an alarm comes, and not another one; which was for one post, so that the next goes. */
static void srn_requester_gather_alarm_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	KUNIT_EXPECT_EQ(test, post(qp, 1), 0);
	srn_turn_own(&qp->turn);
	srn_clock_set(&qp->clock, SRN_ALARM_GATHER, 100ull * NSEC_PER_SEC);
	srn_turn_disown(&qp->turn);
	srn_turn_kick(&qp->turn, SRN_TURN_TIMER);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 0);
	KUNIT_EXPECT_TRUE(test, gathers(qp));
	qp->clock.due[SRN_ALARM_GATHER] = 1;
	srn_turn_kick(&qp->turn, SRN_TURN_TIMER);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 1);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	KUNIT_EXPECT_EQ(test, post(qp, 2), 2);
	leave_streamer(test, qp);
}

static struct {
	struct srn_qp *qp;
	unsigned int packets, alarms;
} looked;

static void look(void)
{
	looked.packets++;
	looked.alarms += srn_clock_is_set(&looked.qp->clock, SRN_ALARM_GATHER);
}

/* Nor comes one while they are sent, which may take long, and finds that no more were posted. */
static void srn_requester_gather_sent_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	looked = (typeof(looked)){ .qp = qp };
	KUNIT_EXPECT_EQ(test, post(qp, 1), 0);
	left.look = look;
	KUNIT_EXPECT_EQ(test, post(qp, 5), 5);
	left.look = NULL;
	KUNIT_EXPECT_GT(test, looked.packets, 0);
	KUNIT_EXPECT_EQ(test, looked.alarms, 0);
	KUNIT_EXPECT_TRUE(test, qp->req.bell.gather.pays);
	leave_streamer(test, qp);
}

/* Who is posting when it comes may go on, once. */
static void srn_requester_gather_slow_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	KUNIT_EXPECT_EQ(test, post(qp, 1), 0);
	qp->page->sq_tail = 1 + SRN_GATHER_WORTH;
	qp->clock.due[SRN_ALARM_GATHER] = 1;
	srn_turn_kick(&qp->turn, SRN_TURN_TIMER);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 0);
	KUNIT_EXPECT_TRUE(test, gathers(qp));
	qp->page->sq_tail = 1 + 2 * SRN_GATHER_WORTH;
	qp->clock.due[SRN_ALARM_GATHER] = 1;
	srn_turn_kick(&qp->turn, SRN_TURN_TIMER);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 1 + 2 * SRN_GATHER_WORTH);
	KUNIT_EXPECT_TRUE(test, qp->req.bell.gather.pays);
	leave_streamer(test, qp);
}

/* Who has polled all, posts long messages, or what may not go, waits for no other posts. */
static void srn_requester_gather_not_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	qp->scq->page->cons = LAG - SRN_GATHER_CQES + 1;
	qp->page->sq_tail = 1;
	KUNIT_EXPECT_EQ(test, srn_round_doorbell(qp), SRN_HEARD);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 1);
	qp->scq->page->cons = 0;
	srn_gather_enabled = false;
	KUNIT_EXPECT_EQ(test, post(qp, 2), 2);
	srn_gather_enabled = true;
	KUNIT_EXPECT_EQ(test, post(qp, 2), 2);	/* nothing new */
	KUNIT_EXPECT_TRUE(test, rings(qp));
	qp->req.psns = SRN_GATHER_PSNS;
	KUNIT_EXPECT_EQ(test, post(qp, 3), 3);
	KUNIT_EXPECT_EQ(test, qp->req.psns, 1);
	qp->retry.rnr_wait = true;
	KUNIT_EXPECT_EQ(test, post(qp, 4), 3);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_GATHERINGS), 0);
	leave_streamer(test, qp);
}

/* Nor has who is to be woken by a completion time to wait for: he may sleep by then. */
static void srn_requester_gather_armed_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	qp->scq->page->arm = SRN_CQ_ARM_NEXT;
	KUNIT_EXPECT_EQ(test, post(qp, 1), 1);
	qp->scq->page->arm = SRN_CQ_DISARMED;
	qp->rcq->page->arm = SRN_CQ_ARM_SOLICITED;
	KUNIT_EXPECT_EQ(test, post(qp, 2), 2);
	qp->rcq->page->arm = SRN_CQ_DISARMED;
	KUNIT_EXPECT_EQ(test, post(qp, 3), 2);
	KUNIT_EXPECT_TRUE(test, gathers(qp));
	leave_streamer(test, qp);
}

/* Messages of some packets are left where they pass whole: else to wait is to leave the path empty. */
static void srn_requester_gather_long_test(struct kunit *test)
{
	bool was_stopped = srn_run_stopped;
	struct srn_qp *qp = new_streamer(test);

	srn_run_stopped = true;
	qp->req.psns = 16;
	KUNIT_EXPECT_EQ(test, post(qp, 1), 1);
	srn_run_stopped = false;
	qp->req.psns = 16;
	KUNIT_EXPECT_EQ(test, post(qp, 2), 1);
	KUNIT_EXPECT_TRUE(test, gathers(qp));
	KUNIT_EXPECT_EQ(test, post(qp, 6), 6);
	/* Of the longest packets a window has fewer. */
	qp->window.full = SRN_WINDOW / 2;
	qp->req.psns = SRN_GATHER_PSNS / 2;
	KUNIT_EXPECT_EQ(test, post(qp, 7), 7);
	qp->window.full = SRN_WINDOW;
	qp->req.psns = SRN_GATHER_PSNS / 2;
	KUNIT_EXPECT_EQ(test, post(qp, 8), 7);
	KUNIT_EXPECT_TRUE(test, gathers(qp));
	srn_run_stopped = was_stopped;
	leave_streamer(test, qp);
}

/* Of a long message there is much to receive, too. */
static void srn_requester_long_is_much_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	qp->scq->page->cons = LAG;
	qp->req.psns = SRN_ROUND_BUDGET - 1;
	KUNIT_EXPECT_EQ(test, srn_round_doorbell(qp), SRN_HEARD);
	qp->req.psns = SRN_ROUND_BUDGET;
	KUNIT_EXPECT_EQ(test, srn_round_doorbell(qp), SRN_HEARD_MUCH);
	leave_streamer(test, qp);
}

/* Unpolled completions are not all that shows a stream: few of its requests may have one. A machine that
 * stands still for a while makes what was posted before old.
 */
static void srn_requester_gather_silent_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);
	u32 tail = 0;

	qp->scq->page->cons = LAG;
	while (tail < 5 && !gathers(qp)) {
		qp->req.bell.gather.row = SRN_GATHER_ROW;
		qp->req.bell.gather.rang = jiffies;
		post(qp, ++tail);
	}
	KUNIT_EXPECT_TRUE(test, gathers(qp));
	KUNIT_EXPECT_EQ(test, post(qp, tail + 4), tail + 4);
	KUNIT_EXPECT_TRUE(test, qp->req.bell.gather.pays);
	leave_streamer(test, qp);
}

/* But who armed a CQ may sleep. */
static void srn_requester_gather_silent_armed_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	qp->scq->page->cons = LAG;
	qp->req.bell.gather.rang = jiffies;
	qp->req.bell.gather.row = SRN_GATHER_ROW;
	qp->scq->page->arm = SRN_CQ_ARM_NEXT;
	KUNIT_EXPECT_EQ(test, post(qp, 1), 1);
	qp->req.bell.gather.rang = jiffies;
	qp->req.bell.gather.row = SRN_GATHER_ROW;
	qp->scq->page->arm = SRN_CQ_DISARMED;
	qp->rcq->page->arm = SRN_CQ_ARM_SOLICITED;
	KUNIT_EXPECT_EQ(test, post(qp, 2), 2);
	leave_streamer(test, qp);
}

/* What completes is told. */
static void srn_requester_gather_told_test(struct kunit *test)
{
	struct srn_qp *qp = new_streamer(test);

	KUNIT_EXPECT_EQ(test, post(qp, 1), 0);
	KUNIT_EXPECT_EQ(test, post(qp, 5), 5);
	qp->req.bell.gather.row = 7;
	srn_sq_wqe(&qp->sq, 0)->done = true;
	srn_sq_retire(qp);
	KUNIT_EXPECT_EQ(test, qp->req.bell.gather.row, 7);
	srn_sq_wqe(&qp->sq, 1)->flags = IB_SEND_SIGNALED;
	srn_sq_wqe(&qp->sq, 1)->done = true;
	srn_sq_retire(qp);
	KUNIT_EXPECT_EQ(test, qp->req.bell.gather.row, 0);
	leave_streamer(test, qp);
}

static struct kunit_case srn_requester_gather_cases[] = {
	KUNIT_CASE(srn_requester_gather_test),
	KUNIT_CASE(srn_requester_gather_alarm_test),
	KUNIT_CASE(srn_requester_gather_sent_test),
	KUNIT_CASE(srn_requester_gather_slow_test),
	KUNIT_CASE(srn_requester_gather_not_test),
	KUNIT_CASE(srn_requester_gather_armed_test),
	KUNIT_CASE(srn_requester_gather_long_test),
	KUNIT_CASE(srn_requester_long_is_much_test),
	KUNIT_CASE(srn_requester_gather_silent_test),
	KUNIT_CASE(srn_requester_gather_silent_armed_test),
	KUNIT_CASE(srn_requester_gather_told_test),
	{}
};

static struct kunit_suite srn_requester_gather_suite = {
	.name = "srn_requester_gather",
	.test_cases = srn_requester_gather_cases,
};

kunit_test_suite(srn_requester_gather_suite);
