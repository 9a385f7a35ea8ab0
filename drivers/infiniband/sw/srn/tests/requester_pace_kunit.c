// SPDX-License-Identifier: GPL-2.0-only
/* What leaves at a pace, who asks for an ACK before a wait for it, and that it is no silence. */
#include "../limits.h"
#include "../pace.h"
#include "../react.h"
#include "../retry.h"
#include "../spread.h"
#include "fake_sender.h"

#include <linux/bits.h>
#include <linux/ktime.h>

/* With a limit of one packet, or of short ones that are half as much again. */
static void give_pace(struct srn_qp *qp)
{
	qp->req.train.pace = &qp->pace;
	srn_pace_reset(&qp->pace);
	srn_pace_set_mtu(&qp->pace, qp->mtu);
	srn_pace_limit(&qp->pace, SRN_PACE_USER, 100);
}

/* The last that goes before a wait for the pace asks for an ACK; an alarm goes on. */
static void srn_requester_asks_before_the_pace_test(struct kunit *test)
{
	int budget = SRN_ROUND_BUDGET;
	struct srn_qp *qp;

	migrate_disable();
	qp = new_sender(test, 60);
	give_pace(qp);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	local_bh_enable();
	migrate_enable();
	/* Of 58 bytes each, until no packet of a whole MTU may go. */
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window),
			(qp->mtu + SRN_PACE_HEADERS) / 2 / 58 + 1);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0u);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_PACED), 1);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_PACE));
	/* The answers in front of a NAK may wait for the same alarm. */
	srn_requester_reset(qp);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_PACE));
}

/* It rings when the pace does: earlier only where what is spread may wait for it, too. */
static void srn_requester_pace_alarm_test(struct kunit *test)
{
	static const bool spreads[] = { false, true };
	struct srn_qp *qp;
	ktime_t due;
	int i;

	for (i = 0; i < ARRAY_SIZE(spreads); i++) {
		qp = new_sender(test, 1);
		give_pace(qp);
		srn_pace_ask(&qp->pace, SRN_PACE_REQUESTS, ktime_get_ns());
		srn_pace_sent(&qp->pace, 10000);
		qp->window.most = SRN_WINDOW_SPREAD * qp->window.full;
		srn_crowd_set_spread(&qp->window.crowd, spreads[i]);
		local_bh_disable();
		KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
		srn_clock_set(&qp->clock, SRN_ALARM_PACE, NSEC_PER_SEC);
		due = qp->clock.due[SRN_ALARM_PACE];
		srn_react_wait(qp, SRN_PACE_REQUESTS, ktime_get_ns());
		local_bh_enable();
		KUNIT_EXPECT_EQ_MSG(test, qp->clock.due[SRN_ALARM_PACE] == due, spreads[i], "%d", i);
		KUNIT_EXPECT_GE_MSG(test, qp->clock.due[SRN_ALARM_PACE], due, "%d", i);
	}
}

/* What goes beside the cursor keeps to the pace, and the last before the wait asks. */
static void srn_requester_repeats_at_the_pace_test(struct kunit *test)
{
	int i, budget = SRN_ROUND_BUDGET;
	struct srn_qp *qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, 30);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	KUNIT_EXPECT_EQ(test, num_sent(qp), 30);
	give_pace(qp);
	qp->resend.run = 16;
	KUNIT_EXPECT_TRUE(test, srn_resend_gap_again(&qp->resend, qp->window.una, 30));
	for (i = 0; i < 2; i++) {
		budget = SRN_ROUND_BUDGET;
		KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
		KUNIT_EXPECT_EQ(test, num_sent(qp), 31);
		KUNIT_EXPECT_EQ(test, qp->resend.left, 15);
		KUNIT_EXPECT_TRUE(test, left.asked);
		KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_PACE));
	}
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_PACED), 1);
}

/* What has not gone again for its pace was not answered: that is no silence of the peer's. Once. */
static void srn_requester_pace_is_no_silence_test(struct kunit *test)
{
	struct srn_qp *qp = new_sender(test, 4);
	int i;

	qp->state = IB_QPS_RTS;
	qp->timeout = 12;
	qp->retry_cnt = 7;
	qp->retry.retries = 7;
	qp->retry.step_ns = 4096ull << 12;
	srn_window_sent(&qp->window, 4, true, false);
	give_pace(qp);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_EXPECT_TRUE(test, srn_resend_gap(&qp->resend, qp->window.una, 4));
	srn_pace_wait(&qp->pace, SRN_PACE_REQUESTS, ktime_get_ns());
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, qp->retry.retries, 7);
		KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 0);
		srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	}
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, qp->retry.retries, 6);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 1);
}

/* How long is waited in all may become less than what was waited by then: then it is over, not endless. */
static void srn_requester_pace_shorter_wait_test(struct kunit *test)
{
	struct srn_qp *qp = new_sender(test, 4);

	qp->recovery = SRN_RECOVERY_GBN;
	qp->timeout = 12;
	qp->retry.waited_ns = 10 * (4096ull << 12);
	qp->retry.step_ns = 1;
	srn_window_sent(&qp->window, 4, true, false);
	give_pace(qp);
	srn_resend_probe(&qp->resend);
	srn_pace_wait(&qp->pace, SRN_PACE_REQUESTS, ktime_get_ns());
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, qp->retry.excused);
	KUNIT_EXPECT_EQ(test, qp->retry.step_ns, 0);
}

static struct kunit_case srn_requester_pace_cases[] = {
	KUNIT_CASE(srn_requester_asks_before_the_pace_test),
	KUNIT_CASE(srn_requester_pace_alarm_test),
	KUNIT_CASE(srn_requester_repeats_at_the_pace_test),
	KUNIT_CASE(srn_requester_pace_is_no_silence_test),
	KUNIT_CASE(srn_requester_pace_shorter_wait_test),
	{}
};

static struct kunit_suite srn_requester_pace_suite = {
	.name = "srn_requester_pace",
	.test_cases = srn_requester_pace_cases,
};

kunit_test_suite(srn_requester_pace_suite);
