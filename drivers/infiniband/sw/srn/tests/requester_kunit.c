// SPDX-License-Identifier: GPL-2.0-only
/* When a program is told to ring; who asks for an ACK; what comes behind SQE. */
#include "../limits.h"
#include "../mw.h"
#include "../recovery.h"
#include "../requester.h"
#include "../retry.h"
#include "../run.h"
#include "../stats.h"
#include "fake_sender.h"

#include <kunit/test.h>
#include <linux/bits.h>

static ktime_t due(const struct srn_qp *qp)
{
	return qp->clock.due[SRN_ALARM_QUIET];
}

/* Answers do not set the alarm anew, each of them. */
static void srn_requester_alarm_once_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);
	ktime_t first;

	KUNIT_EXPECT_FALSE(test, srn_bell_idle(qp));
	KUNIT_EXPECT_FALSE(test, rings(qp));
	first = due(qp);
	KUNIT_EXPECT_NE(test, first, 0);
	srn_window_acked(&qp->window, 1);
	KUNIT_EXPECT_FALSE(test, srn_bell_idle(qp));
	KUNIT_EXPECT_EQ(test, due(qp), first);
}

/* With answers since then it is set once more; in silence the program rings. */
static void srn_requester_silence_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);
	int i;

	srn_bell_idle(qp);
	srn_window_acked(&qp->window, 1);
	for (i = 0; i < 2; i++) {
		srn_clock_clear(&qp->clock, SRN_ALARM_QUIET);
		srn_bell_alarm(qp, BIT(SRN_ALARM_QUIET));
		srn_bell_idle(qp);
		KUNIT_EXPECT_EQ(test, rings(qp), i == 1);
		KUNIT_EXPECT_EQ(test, !due(qp), i == 1);
	}
	/* Until there are answers. */
	srn_bell_idle(qp);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	srn_window_acked(&qp->window, 2);
	srn_bell_idle(qp);
	KUNIT_EXPECT_FALSE(test, rings(qp));
}

/* Few in flight: each post is rung for, and no alarm is needed. */
static void srn_requester_few_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);

	srn_bell_idle(qp);
	srn_window_acked(&qp->window, SRN_DB_INFLIGHT + 1);
	srn_bell_idle(qp);
	KUNIT_EXPECT_TRUE(test, rings(qp));
	KUNIT_EXPECT_EQ(test, due(qp), 0);
}

/* What was set for a worker that did not come is not waited for any longer. */
static void srn_requester_back_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);
	ktime_t begin = ktime_get(), away;
	s64 for_worker, for_posts;

	srn_bell_hush(qp);
	away = due(qp);
	for_worker = ktime_sub(away, begin);
	srn_bell_idle(qp);
	for_posts = ktime_sub(due(qp), ktime_get());
	KUNIT_EXPECT_FALSE(test, rings(qp));
	KUNIT_EXPECT_NE(test, due(qp), away);
	/* However long this CPU was away in between: each from its own moment on. */
	KUNIT_EXPECT_LT(test, for_posts, for_worker);
}

/* The first of two packets has left, and the turn is owned, in a softirq's place. */
static struct srn_qp *half_sent(struct kunit *test)
{
	int budget = 1;
	struct srn_qp *qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, 2);
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_EXPECT_TRUE(test, srn_requester_run(qp, &budget));
	return qp;
}

/* What was out for the whole of the ACK timeout may be in a queue: as little goes as can, and for a
 * while in packets of their own.
 */
static void srn_requester_narrow_in_silence_test(struct kunit *test)
{
	struct srn_qp *qp = half_sent(test);
	u32 cwnd = qp->window.cwnd;

	qp->timeout = 14;
	qp->retry.retries = 1;
	qp->retry.waited_ns = NSEC_PER_SEC;
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT), 1);
	KUNIT_EXPECT_GT(test, cwnd, qp->window.floor);
	KUNIT_EXPECT_EQ(test, qp->window.cwnd, qp->window.floor);
	KUNIT_EXPECT_EQ(test, qp->window.doubt, SRN_RUN_DOUBT);
}

/* The first packet left the asking to the second, which may not leave any more. */
static void srn_requester_asks_when_drained_test(struct kunit *test)
{
	struct srn_qp *qp = half_sent(test);
	int budget = SRN_ROUND_BUDGET;

	KUNIT_EXPECT_EQ(test, left.packets, 1);
	KUNIT_EXPECT_FALSE(test, left.asked);
	qp->state = IB_QPS_SQD;
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	/* The first once more. */
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	KUNIT_EXPECT_TRUE(test, left.asked);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), 1);
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	local_bh_enable();
	migrate_enable();
}

static struct {
	const struct srn_clock *clock;
	bool waits;	/* for the peer, before all has left */
} leaving;

static int leave_and_look(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	leaving.waits |= srn_clock_is_set(leaving.clock, SRN_ALARM_ACK);
	return leave(net, sk, skb);
}

/* The wait for the peer begins when all that may go has left, in as many rounds as that takes: trains take their
 * time.
 */
static void srn_requester_waits_at_the_end_test(struct kunit *test)
{
	int budget, rounds = 0;
	struct srn_qp *qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, 10);
	qp->timeout = 14;
	qp->window.cwnd = 8;	/* then a train waits for what may not follow yet */
	qp->path.route.dst->output = leave_and_look;
	leaving.clock = &qp->clock;
	leaving.waits = false;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	WRITE_ONCE(srn_run_stopped, true);	/* trains, no packs */
	do {
		KUNIT_EXPECT_FALSE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_ACK));
		budget = 3;
		rounds++;
	} while (srn_requester_run(qp, &budget));
	WRITE_ONCE(srn_run_stopped, false);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_ACK));
	KUNIT_EXPECT_FALSE(test, leaving.waits);
	KUNIT_EXPECT_EQ(test, rounds, 3);
	KUNIT_EXPECT_EQ(test, left.packets, 3);
	KUNIT_EXPECT_EQ(test, num_sent(qp), 8);
	/* So it does after progress. */
	srn_window_acked(&qp->window, srn_psn_add(qp->window.una, 1));
	srn_retry_progress(qp);
	KUNIT_EXPECT_FALSE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_ACK));
	budget = SRN_ROUND_BUDGET;
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_ACK));
}

/* What was begun fails while the QP drains, too, when its turn comes; what was not waits. */
static void srn_requester_fails_in_sqd_test(struct kunit *test)
{
	int budget = SRN_ROUND_BUDGET, started;
	struct srn_wqe *wqe;
	struct srn_qp *qp;

	for (started = 0; started < 2; started++) {
		qp = half_sent(test);
		local_bh_enable();
		qp->scq = new_cq(test, qp, 4);
		local_bh_disable();
		srn_window_acked(&qp->window, qp->window.at.psn);
		srn_sq_oldest(&qp->sq)->done = true;
		srn_sq_retire(qp);
		wqe = srn_sq_wqe(&qp->sq, 1);
		wqe->status = SRN_V_LOC_PROT;
		wqe->started = started;
		qp->state = IB_QPS_SQD;
		KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
		local_bh_enable();
		migrate_enable();
		KUNIT_EXPECT_EQ(test, qp->state, started ? IB_QPS_ERR : IB_QPS_SQD);
	}
}

#define STALE	(SRN_ROUND_BUDGET + 36)	/* more than a part */

/* Its send queue has just been taken out of SQE with STALE WQEs, and one more was posted. */
static struct srn_qp *new_mended(struct kunit *test, u32 cq_entries)
{
	struct srn_qp *qp = new_sender(test, STALE);

	qp->scq = new_cq(test, qp, cq_entries);
	qp->state = IB_QPS_SQE;
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	srn_sq_end_error(qp);
	qp->state = IB_QPS_RTS;
	qp->sq.tail++;
	return qp;
}

/* What was posted before SQE was left is flushed, part by part, what came later is sent. */
static void srn_requester_stale_test(struct kunit *test)
{
	struct srn_qp *qp;
	u32 i;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_mended(test, 128);
	srn_sq_wqe(&qp->sq, STALE)->opcode = IB_WR_SEND;
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, qp->turn.run(&qp->turn, SRN_TURN_MORE), SRN_LEFT_LATER);
	KUNIT_EXPECT_EQ(test, qp->sq.una, SRN_ROUND_BUDGET);
	KUNIT_EXPECT_EQ(test, left.packets, 0);
	KUNIT_EXPECT_EQ(test, qp->turn.run(&qp->turn, SRN_TURN_MORE), SRN_LEFT_NOTHING);
	KUNIT_EXPECT_EQ(test, left.packets, 1);
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, qp->sq.una, STALE);
	for (i = 0; i < STALE; i++)
		KUNIT_EXPECT_EQ(test, qp->scq->cqes[i].status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_RTS);
}

/* Where the flush fills the CQ, the QP is in error and stays there; all is flushed then. */
static void srn_requester_stale_overrun_test(struct kunit *test)
{
	struct srn_qp *qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_mended(test, 4);
	local_bh_disable();
	qp->turn.run(&qp->turn, SRN_TURN_MORE);
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp->sq.una, STALE + 1);
	KUNIT_EXPECT_EQ(test, left.packets, 0);
}

struct before_row {
	const char *desc;
	u8 opcode, flags;	/* of what stands behind a SEND */
	bool asked;
};

static const struct before_row before_rows[] = {
	{ "a SEND goes with it", IB_WR_SEND, 0, false },
	{ "a READ may wait for others", IB_WR_RDMA_READ, 0, true },
	{ "an atomic, too", IB_WR_ATOMIC_FETCH_AND_ADD, 0, true },
	{ "a fence, too", IB_WR_SEND, IB_SEND_FENCE, true },
	{ "what is done here leaves nothing", IB_WR_REG_MR, 0, true },
};

/* Only what goes at once can ask for both. */
static void srn_requester_asks_before_test(struct kunit *test)
{
	const struct before_row *row;
	struct srn_wqe *wqe;
	struct srn_qp *qp;
	int budget, i;

	for (i = 0; i < ARRAY_SIZE(before_rows); i++) {
		row = &before_rows[i];
		memset(&left, 0, sizeof(left));
		budget = 1;
		migrate_disable();
		qp = new_sender(test, 2);
		wqe = srn_sq_wqe(&qp->sq, 1);
		wqe->opcode = row->opcode;
		wqe->flags = row->flags;
		local_bh_disable();
		KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
		KUNIT_EXPECT_TRUE(test, srn_requester_run(qp, &budget));
		local_bh_enable();
		migrate_enable();
		KUNIT_EXPECT_EQ(test, left.packets, 1);
		KUNIT_EXPECT_EQ_MSG(test, left.asked, row->asked, "%s", row->desc);
	}
}

/* What is sent again while the QP drains is the last that leaves, and asks itself. */
static void srn_requester_asks_in_sqd_test(struct kunit *test)
{
	struct srn_qp *qp = half_sent(test);
	int budget = SRN_ROUND_BUDGET;

	srn_window_seek(&qp->window, (struct srn_cursor){ .psn = qp->window.una });
	qp->state = IB_QPS_SQD;
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	KUNIT_EXPECT_TRUE(test, left.asked);
}

/* The last packet that the window takes asks, and none has to be sent twice for it. */
static void srn_requester_asks_at_the_end_test(struct kunit *test)
{
	int budget = SRN_ROUND_BUDGET;
	struct srn_qp *qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, 8);
	qp->window.cwnd = 3;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 3u);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0u);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), 0);
}

/* So is the last that may begin before others are done. */
static void srn_requester_asks_for_many_test(struct kunit *test)
{
	struct srn_qp *qp;
	int budget;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, SRN_WINDOW_WQES + 8);
	qp->recovery = SRN_RECOVERY_HOLD;
	qp->window.cwnd = 2 * SRN_WINDOW_WQES;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	do {
		budget = SRN_ROUND_BUDGET;
	} while (srn_requester_run(qp, &budget));
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), SRN_WINDOW_WQES);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0u);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), 0);
}

/* A bind between SENDs that are sent again: it has been done, and is not done once more. */
static void srn_requester_passes_done_test(struct kunit *test)
{
	int budget = SRN_ROUND_BUDGET;
	struct srn_wqe *wqe;
	struct srn_qp *qp;

	memset(&left, 0, sizeof(left));
	migrate_disable();
	qp = new_sender(test, 3);
	srn_mw_owner_init(&qp->windows, &qp->who);
	qp->sq.fetched = 3;
	wqe = srn_sq_wqe(&qp->sq, 1);
	wqe->opcode = IB_WR_BIND_MW;
	wqe->done = true;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, left.packets, 2);
	KUNIT_EXPECT_EQ(test, qp->window.at.index, 3);
	KUNIT_EXPECT_EQ(test, wqe->status, SRN_OK);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_RTS);
}

/* A program's tail before what was fetched: it took something back, which cannot be. */
static void srn_requester_tail_back_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);
	int budget = SRN_ROUND_BUDGET;
	struct srn_sq *sq = &qp->sq;

	qp->mtu = 1024;
	sq->lim = (struct srn_wqe_limits){ .who = &qp->who, .svc = qp->svc };
	sq->wqe_size = srn_wqe_size(1, 0);
	sq->wqes = kunit_kcalloc(test, sq->entries, sq->wqe_size, GFP_KERNEL);
	sq->stride = srn_send_stride(1, 0);
	sq->slots = kunit_kcalloc(test, sq->entries, sq->stride, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sq->wqes);
	KUNIT_ASSERT_NOT_NULL(test, sq->slots);
	sq->fetched = 4;
	qp->window.at.index = 4;
	qp->page->sq_tail = 2;
	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, sq->fetched, 4);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp->last_error, SRN_V_LOC_QP_OP);
}

/* A new life has nothing of the former one: no wait, no alarm, no suspicion. */
static void srn_requester_reset_test(struct kunit *test)
{
	static const enum srn_alarm alarms[] = {
		SRN_ALARM_ACK, SRN_ALARM_RNR, SRN_ALARM_QUIET, SRN_ALARM_GATHER,
	};
	struct srn_qp *qp = new_busy(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(alarms); i++)
		srn_clock_set(&qp->clock, alarms[i], 100ull * NSEC_PER_SEC);
	qp->retry = (struct srn_retry){
		.rewound = true, .probing = true, .rnr_wait = true, .refused = true,
	};
	qp->req.psns = 7;
	srn_requester_reset(qp);
	KUNIT_EXPECT_EQ(test, qp->req.psns, 0);
	KUNIT_EXPECT_FALSE(test, qp->retry.rewound);
	KUNIT_EXPECT_FALSE(test, qp->retry.probing);
	KUNIT_EXPECT_FALSE(test, qp->retry.rnr_wait);
	KUNIT_EXPECT_FALSE(test, qp->retry.refused);
	for (i = 0; i < ARRAY_SIZE(alarms); i++)
		KUNIT_EXPECT_FALSE(test, srn_clock_is_set(&qp->clock, alarms[i]));
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), 0u);
}

/* What was refused is a new beginning: the next gap is the first one, and costs no retry. */
static void srn_requester_gap_after_refusal_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);

	qp->rnr_retry = 7;
	qp->retry.retries = 3;
	qp->retry.rnr_retries = 7;
	srn_retry_nak(qp);
	srn_retry_rnr(qp, 0);
	KUNIT_EXPECT_TRUE(test, qp->retry.rnr_wait);
	qp->retry.rnr_wait = false;
	srn_retry_nak(qp);
	KUNIT_EXPECT_EQ(test, qp->retry.retries, 3);
	srn_retry_nak(qp);
	KUNIT_EXPECT_EQ(test, qp->retry.retries, 2);
}

/* Where no timeout was asked for no answer is late. */
static void srn_requester_late_test(struct kunit *test)
{
	struct srn_qp *qp = new_busy(test);
	u8 timeout;

	for (timeout = 0; timeout < 2; timeout++) {
		qp->timeout = timeout;
		srn_window_time(&qp->window, srn_psn_add(qp->window.at.psn, -1), 0, true);
		srn_known_least(qp->known->path, 0, ktime_get_ns());
		srn_window_acked(&qp->window, qp->window.at.psn);
		srn_retry_progress(qp);
		KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_LATE), timeout);
	}
}

/* There is never room for less, as there may be more READs in flight than may begin now. */
static void srn_requester_alloc_test(struct kunit *test)
{
	static const struct { u32 num, room; } rows[] = {
		{ 0, 0 }, { 1, 1 }, { 3, 4 }, { 4, 4 }, { 1, 4 }, { 0, 4 }, { 128, 128 },
	};
	struct srn_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ(test, srn_requester_alloc(qp, rows[i].num), 0);
		KUNIT_EXPECT_EQ(test, qp->window.rd_room, rows[i].room);
	}
	srn_requester_free(qp);
}

static struct kunit_case srn_requester_cases[] = {
	KUNIT_CASE(srn_requester_alloc_test),
	KUNIT_CASE(srn_requester_stale_test),
	KUNIT_CASE(srn_requester_stale_overrun_test),
	KUNIT_CASE(srn_requester_asks_when_drained_test),
	KUNIT_CASE(srn_requester_narrow_in_silence_test),
	KUNIT_CASE(srn_requester_waits_at_the_end_test),
	KUNIT_CASE(srn_requester_fails_in_sqd_test),
	KUNIT_CASE(srn_requester_alarm_once_test),
	KUNIT_CASE(srn_requester_silence_test),
	KUNIT_CASE(srn_requester_few_test),
	KUNIT_CASE(srn_requester_back_test),
	KUNIT_CASE(srn_requester_asks_before_test),
	KUNIT_CASE(srn_requester_asks_in_sqd_test),
	KUNIT_CASE(srn_requester_asks_at_the_end_test),
	KUNIT_CASE(srn_requester_asks_for_many_test),
	KUNIT_CASE(srn_requester_passes_done_test),
	KUNIT_CASE(srn_requester_tail_back_test),
	KUNIT_CASE(srn_requester_reset_test),
	KUNIT_CASE(srn_requester_gap_after_refusal_test),
	KUNIT_CASE(srn_requester_late_test),
	{}
};

static struct kunit_suite srn_requester_suite = {
	.name = "srn_requester",
	.test_cases = srn_requester_cases,
};

kunit_test_suite(srn_requester_suite);
