// SPDX-License-Identifier: GPL-2.0-only
/* Silence of a peer that is late, not gone: what it answered meanwhile was to copies, and costs no retry. */
#include "fake_waiter.h"

/* An answer comes to a copy of the first packet, which was answered, and then nothing. */
static u64 time_out_late(struct kunit *test, struct srn_qp *qp)
{
	say(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
	return time_out(test, qp);
}

/* A queue that became slow holds copies, whose answers come one by one: the peer lives, and what is waited for is
 * behind them. That costs no retry, as often as there are retries.
 */
static void srn_retry_late_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 3);
	int i;

	say(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
	for (i = 0; i < 3; i++) {
		time_out_late(test, qp);
		KUNIT_EXPECT_EQ(test, qp->retry.retries, 3);
		KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 1);
	}
	for (i = 0; i < 3; i++) {
		time_out_late(test, qp);
		KUNIT_EXPECT_EQ(test, qp->retry.retries, 2 - i);
	}
	time_out_late(test, qp);
	end();
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRY_EXCEEDED), 1);
}

/* Silence is charged, whatever came before it; after progress it begins anew. */
static void srn_retry_late_then_silent_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_GBN, 3);
	int i;

	say(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
	for (i = 0; i < 2; i++) {
		time_out_late(test, qp);
		KUNIT_EXPECT_EQ(test, qp->retry.retries, 3);
		time_out(test, qp);
		KUNIT_EXPECT_EQ(test, qp->retry.retries, 2);
		say(test, qp, SRN_SYN_ACK_UNLIMITED, i + 1);
		KUNIT_EXPECT_EQ(test, qp->retry.late_num, 0);
		KUNIT_EXPECT_EQ(test, qp->retry.retries, 3);
		run(qp);
	}
	say(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
	say(test, qp, SRN_SYN_ACK_UNLIMITED, 3);
	run(qp);
	time_out(test, qp);
	end();
	KUNIT_EXPECT_EQ(test, qp->retry.retries, 2);
}

/* Charged or not, from timeout to timeout more is waited, and what the window was before the first one is not
 * forgotten.
 */
static void srn_retry_late_is_silence_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_GBN, 7);
	u32 ssthresh, i;
	u64 first;

	say(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
	first = time_out_late(test, qp);
	ssthresh = qp->window.ssthresh;
	KUNIT_EXPECT_GE(test, first, TIMEOUT);
	for (i = 1; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, time_out_late(test, qp), first << min(i, 2));
		KUNIT_EXPECT_EQ(test, qp->window.ssthresh, ssthresh);
	}
	end();
	KUNIT_EXPECT_EQ(test, qp->retry.retries, 7);
}

/* What came while nothing was waited for says nothing of who is silent later. */
static void srn_retry_late_of_before_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);

	say(test, qp, SRN_SYN_ACK_UNLIMITED, SRN_WINDOW_FEW - 1);
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 0);
	say(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
	run(qp);
	KUNIT_EXPECT_GT(test, srn_window_inflight(&qp->window), 0);
	time_out(test, qp);
	end();
	KUNIT_EXPECT_EQ(test, qp->retry.retries, 6);
}

/* Who asked for no retry gets none. */
static void srn_retry_late_without_retries_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 0);

	say(test, qp, SRN_SYN_ACK_UNLIMITED, 0);
	time_out_late(test, qp);
	end();
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
}

static struct kunit_case srn_retry_late_cases[] = {
	KUNIT_CASE(srn_retry_late_test),
	KUNIT_CASE(srn_retry_late_then_silent_test),
	KUNIT_CASE(srn_retry_late_is_silence_test),
	KUNIT_CASE(srn_retry_late_of_before_test),
	KUNIT_CASE(srn_retry_late_without_retries_test),
	{}
};

static struct kunit_suite srn_retry_late_suite = {
	.name = "srn_retry_late",
	.test_cases = srn_retry_late_cases,
};

kunit_test_suite(srn_retry_late_suite);
