// SPDX-License-Identifier: GPL-2.0-only
/* What is missing of READs' answers: what is asked for, what room it takes, and what is left of it. */
#include "../board.h"
#include "../gaps.h"
#include "../requester.h"
#include "../retry.h"
#include "../score.h"
#include "fake_round.h"

#include <kunit/test.h>

#define MTU	1024
#define RTT_NS	(100 * NSEC_PER_MSEC)
#define NUM	40u
#define MANY	1000u
#define PART	32u

static void stop(void *qp)
{
	srn_gaps_stop(qp);
	srn_early_free(&((struct srn_qp *)qp)->early);
}

/* A READ of @num packets is in flight, to a peer that answers each part. */
static struct srn_qp *new_reader(struct kunit *test, u32 num)
{
	struct srn_qp *qp = &new_owner(test)->qp;
	struct srn_wqe *wqe;

	qp->state = IB_QPS_RTS;
	qp->mtu = MTU;
	qp->recovery = SRN_RECOVERY_SACK;
	qp->peer = (struct srn_peer){ .sacks = true, .parts = true };
	give_clock(test, qp);
	know_path(qp);
	qp->rtt.srtt_ns = RTT_NS;
	give_sends(test, qp, 1);
	qp->sq.fetched = 1;
	wqe = srn_sq_wqe(&qp->sq, 0);
	wqe->opcode = IB_WR_RDMA_READ;
	wqe->length = num * MTU;
	srn_sq_start(wqe, 0, num, 64);
	srn_window_sent(&qp->window, num, true, true);
	qp->window.at.index = 1;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop, qp));
	return qp;
}

static struct srn_qp *new_qp(struct kunit *test)
{
	return new_reader(test, NUM);
}

static long charged(const struct srn_qp *qp)
{
	return atomic_long_read(&qp->dev->hold_bytes);
}

static void expect_next(struct kunit *test, struct srn_qp *qp, u64 now, u32 want, u32 want_len)
{
	u32 psn = 0, len = srn_gaps_next(qp, now, &psn);

	KUNIT_ASSERT_EQ(test, len, want_len);
	if (!len)
		return;
	KUNIT_EXPECT_EQ(test, psn, want);
	srn_gaps_sent(qp, now, psn, len);
}

/* All gaps, each once, and neither what is here nor what is lost takes room. */
static void srn_gaps_all_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	u64 now = ktime_get_ns();
	u32 psn;

	srn_gaps_came(qp, 2);
	srn_gaps_came(qp, 5);
	srn_gaps_came(qp, 6);
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), NUM - 7);
	KUNIT_EXPECT_EQ(test, srn_gaps_oldest(qp), 2);
	KUNIT_EXPECT_EQ(test, srn_gaps_next(qp, now, &psn), 2);
	KUNIT_EXPECT_TRUE(test, srn_gaps_sent(qp, now, psn, 2));
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), NUM - 5);
	KUNIT_EXPECT_EQ(test, srn_gaps_next(qp, now, &psn), 2);
	KUNIT_EXPECT_EQ(test, psn, 3);
	KUNIT_EXPECT_FALSE(test, srn_gaps_sent(qp, now, psn, 2));
	expect_next(test, qp, now, 0, 0);
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), NUM - 3);
}

/* Nothing came, and yet later when a round trip and a half is over. */
static void srn_gaps_again_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	u64 now = ktime_get_ns();
	u32 psn;

	srn_gaps_came(qp, 1);
	expect_next(test, qp, now, 0, 1);
	expect_next(test, qp, now + RTT_NS, 0, 0);
	srn_board_watch(qp, now);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_GAP));
	KUNIT_EXPECT_EQ(test, srn_gaps_next(qp, now + 2 * RTT_NS, &psn), 1);
	/* That is no news of the oldest one. */
	KUNIT_EXPECT_FALSE(test, srn_gaps_sent(qp, now + 2 * RTT_NS, psn, 1));
}

/* The oldest one is asked for twice, and then it comes. */
static void ask_twice(struct kunit *test, struct srn_qp *qp, u32 oldest)
{
	u64 now = ktime_get_ns();

	srn_gaps_came(qp, oldest + 1);
	expect_next(test, qp, now, oldest, 1);
	expect_next(test, qp, now + 2 * RTT_NS, oldest, 1);
	srn_window_acked(&qp->window, oldest + 2);
	srn_gaps_acked(qp);
}

/* What is asked for again and again, while nothing is timed, tells that answers take longer, if some come twice. */
static void srn_gaps_took_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);

	ask_twice(test, qp, 0);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 0);
	srn_rtt_vain(&qp->rtt);
	ask_twice(test, qp, 2);
	KUNIT_EXPECT_GT(test, qp->rtt.bound_ns, 0);
	/* As soon as it is here, and no longer than four timeouts. */
	qp->timeout = 8;
	qp->rtt.bound_ns = 0;
	srn_gaps_came(qp, 6);
	KUNIT_ASSERT_NOT_NULL(test, qp->gaps);
	qp->gaps->watches = true;
	qp->gaps->watched = 8;
	srn_gaps_came(qp, 8);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 4u * (4096 << 8));
}

/* Once for all that is in flight, as for other requests. */
static void srn_gaps_cut_once_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	u32 was = qp->window.cwnd;
	u64 now = ktime_get_ns();

	srn_gaps_came(qp, 1);
	srn_gaps_came(qp, 3);
	expect_next(test, qp, now, 0, 1);
	expect_next(test, qp, now, 2, 1);
	KUNIT_EXPECT_EQ(test, qp->window.cwnd, was - was / 4);
}

/* All that may go now, in parts of which each leaves at a time of its own: how many. */
static u32 ask_for_all(struct srn_qp *qp, u64 *now)
{
	u32 psn, len, asks;

	for (asks = 0; asks < MANY && (len = srn_gaps_next(qp, *now, &psn)); asks++)
		srn_gaps_sent(qp, (*now)++, psn, min(len, PART));
	return asks;
}

/* A burst is lost, is asked for in parts, and of these answers every second packet is lost: no more is asked for at
 * once than a peer of this kind remembers.
 */
static void srn_gaps_asks_test(struct kunit *test)
{
	struct srn_qp *qp = new_reader(test, MANY);
	u64 now;
	u32 i;

	srn_gaps_came(qp, MANY - 1);
	now = ktime_get_ns();
	qp->window.cwnd = 2 * MANY;
	KUNIT_EXPECT_EQ(test, ask_for_all(qp, &now), DIV_ROUND_UP(MANY - 1, PART));
	for (i = 1; i < MANY; i += 2)
		srn_gaps_came(qp, i);
	now += 2 * RTT_NS;
	qp->window.cwnd = 2 * MANY;
	KUNIT_EXPECT_EQ(test, ask_for_all(qp, &now), SRN_REPLAY_PARTS);
	KUNIT_EXPECT_EQ(test, qp->gaps->num_tries, SRN_REPLAY_PARTS);
}

/* Charged while something is missing. */
static void srn_gaps_charge_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);

	KUNIT_EXPECT_TRUE(test, srn_gaps_reached(qp, 3));
	KUNIT_EXPECT_EQ(test, charged(qp), sizeof(struct srn_score));
	/* No more at once than a peer of this kind remembers. */
	KUNIT_EXPECT_LT(test, qp->gaps->most, SRN_REPLAY_PARTS);
	srn_window_acked(&qp->window, 3);
	srn_gaps_acked(qp);
	KUNIT_EXPECT_NOT_NULL(test, qp->gaps);
	srn_window_acked(&qp->window, 4);
	srn_gaps_acked(qp);
	KUNIT_EXPECT_NULL(test, qp->gaps);
	KUNIT_EXPECT_EQ(test, charged(qp), 0);
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), NUM - 4);
}

/* Nothing is left of it where all is asked for anew, or nothing any more. */
static void srn_gaps_end_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);

	srn_gaps_came(qp, 7);
	srn_retry_go_back(qp);
	KUNIT_EXPECT_NULL(test, qp->gaps);
	KUNIT_EXPECT_EQ(test, qp->window.came, 0);
	KUNIT_EXPECT_EQ(test, charged(qp), 0);
	/* What the cursor has to send again is its own. */
	KUNIT_EXPECT_FALSE(test, srn_gaps_reached(qp, 7));
	KUNIT_EXPECT_NULL(test, qp->gaps);
	srn_window_sent(&qp->window, NUM, true, true);
	KUNIT_EXPECT_TRUE(test, srn_gaps_reached(qp, 7));
	srn_requester_reset(qp);
	KUNIT_EXPECT_NULL(test, qp->gaps);
	KUNIT_EXPECT_EQ(test, charged(qp), 0);
}

/* Others are asked as the standard has it, and so is this one where there is no room. */
static void srn_gaps_not_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	long full = 2l * SRN_DEV_HOLD_BYTES + 1;

	atomic_long_set(&qp->dev->hold_bytes, full);
	KUNIT_EXPECT_FALSE(test, srn_gaps_reached(qp, 3));
	KUNIT_EXPECT_EQ(test, charged(qp), full);
	atomic_long_set(&qp->dev->hold_bytes, 0);
	qp->peer.parts = false;
	KUNIT_EXPECT_FALSE(test, srn_gaps_reached(qp, 3));
	KUNIT_EXPECT_FALSE(test, srn_gaps_twice(qp));
	srn_gaps_came(qp, 3);
	KUNIT_EXPECT_NULL(test, qp->gaps);
	KUNIT_EXPECT_EQ(test, srn_window_load(&qp->window), NUM);
	KUNIT_EXPECT_EQ(test, srn_gaps_oldest(qp), U32_MAX);
}

/* What was taken before anything was known of gaps is not asked for. */
static void srn_gaps_taken_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	u64 now = ktime_get_ns();

	KUNIT_ASSERT_TRUE(test, srn_early_make_room(&qp->early));
	srn_early_add(&qp->early, 1);
	srn_early_add(&qp->early, 4);
	KUNIT_EXPECT_TRUE(test, srn_gaps_reached(qp, 5));
	expect_next(test, qp, now, 0, 1);
	expect_next(test, qp, now, 2, 2);
	expect_next(test, qp, now, 5, 1);
	expect_next(test, qp, now, 0, 0);
}

/* One that comes twice was asked for too soon: once for all of them. */
static void srn_gaps_twice_test(struct kunit *test)
{
	struct srn_qp *qp = new_qp(test);
	u64 now = ktime_get_ns();

	srn_gaps_came(qp, 2);
	KUNIT_EXPECT_TRUE(test, srn_gaps_twice(qp));
	KUNIT_EXPECT_EQ(test, qp->order.steps, 0);
	KUNIT_EXPECT_FALSE(test, qp->rtt.vain);
	srn_gaps_stop(qp);
	srn_gaps_came(qp, 2);
	expect_next(test, qp, now, 0, 2);
	KUNIT_EXPECT_TRUE(test, srn_gaps_twice(qp));
	KUNIT_EXPECT_TRUE(test, srn_gaps_twice(qp));
	KUNIT_EXPECT_EQ(test, qp->order.steps, 1);
	KUNIT_EXPECT_TRUE(test, qp->rtt.vain);
}

static struct kunit_case srn_gaps_cases[] = {
	KUNIT_CASE(srn_gaps_all_test),
	KUNIT_CASE(srn_gaps_again_test),
	KUNIT_CASE(srn_gaps_took_test),
	KUNIT_CASE(srn_gaps_cut_once_test),
	KUNIT_CASE(srn_gaps_asks_test),
	KUNIT_CASE(srn_gaps_charge_test),
	KUNIT_CASE(srn_gaps_end_test),
	KUNIT_CASE(srn_gaps_not_test),
	KUNIT_CASE(srn_gaps_taken_test),
	KUNIT_CASE(srn_gaps_twice_test),
	{}
};

static struct kunit_suite srn_gaps_suite = {
	.name = "srn_gaps",
	.test_cases = srn_gaps_cases,
};

kunit_test_suite(srn_gaps_suite);
