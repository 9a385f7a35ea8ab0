// SPDX-License-Identifier: GPL-2.0-only
/* What is out on a very long path is spread over the time that its answers take. */
#include "../spread.h"
#include "../board.h"
#include "../gate.h"
#include "../lost.h"
#include "../retry.h"
#include "fake_sender.h"
#include "fake_window.h"

#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/time64.h>

#define MS	((u64)NSEC_PER_MSEC)
#define PATH	(100 * MS)

/* Of a path that takes so long, with so many let out. */
static struct srn_window *new_window(struct kunit *test, u64 path_ns, u32 cwnd, u32 ssthresh)
{
	struct srn_window *w = fake_window(test, 0);

	srn_window_set_reach(w, SRN_HOLD_WIDE);
	srn_window_set_spread(w, true);
	srn_window_time(w, w->una, 0, true);
	srn_window_delay(w, path_ns, path_ns);
	w->cwnd = cwnd;
	w->ssthresh = ssthresh;
	return w;
}

#define TICKS(ns)	((u32)((ns) >> SRN_SPREAD_TICK_SHIFT))

struct gap_row {
	u64 path_ns;
	u32 cwnd, ssthresh, num;
};

/* A little faster than the window says, and twice as fast while that doubles; on a shorter path, or
 * with few out, not at all.
 */
static void srn_spread_gap_test(struct kunit *test)
{
	static const struct gap_row rows[] = {
		{ PATH, 800, 800, 900 }, { PATH, 800, 801, 1600 }, { PATH, 33, 1, 37 }, { PATH, 32, 1, 0 },
		{ 40 * MS, 256, 1, 288 }, { 39 * MS, 256, 1, 0 }, { MS, 256, 1, 0 },
	};
	struct srn_window *w;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = new_window(test, rows[i].path_ns, rows[i].cwnd, rows[i].ssthresh);
		KUNIT_EXPECT_EQ_MSG(test, srn_spread_is_on(w), rows[i].num > 0, "%d", i);
		if (rows[i].num)
			KUNIT_EXPECT_EQ_MSG(test, srn_spread_gap(w, rows[i].path_ns),
					    TICKS(rows[i].path_ns) / rows[i].num, "%d", i);
	}
	/* And nowhere, where that is not wanted. */
	w = new_window(test, PATH, 800, 800);
	srn_crowd_set_spread(&w->crowd, false);
	KUNIT_EXPECT_FALSE(test, srn_spread_is_on(w));
	/* However long it is said to be, and however many are out. */
	KUNIT_EXPECT_EQ(test, srn_spread_gap(new_window(test, PATH, 2560, 1), 1), 1);
	KUNIT_EXPECT_EQ(test, srn_spread_gap(new_window(test, PATH, 1, 1), U64_MAX), TICKS(NSEC_PER_SEC));
}

/* As many go at a time as what goes in a millisecond, two at least and eight at most, and so many in a second as
 * the gap says.
 */
static void srn_spread_keeps_time_test(struct kunit *test)
{
	static const struct { u32 cwnd, run; } rows[] = { { 2560, 8 }, { 512, 5 }, { 256, 2 }, { 16, 2 } };
	u64 now, begin = (1ull << 37) - 500 * MS, wait;
	u32 sent, most, may, rate;
	struct srn_window *w;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = new_window(test, PATH, rows[i].cwnd, 1);
		rate = 10 * (rows[i].cwnd + rows[i].cwnd / 8);
		for (now = begin, sent = 0, most = 0; now < begin + 1000 * MS; now += wait) {
			for (may = 0; srn_spread_ask(w, PATH, now); may++)
				srn_spread_sent(w, PATH, 1);
			wait = srn_spread_wait(w, PATH, now);
			KUNIT_ASSERT_GT(test, wait, 0);
			sent += may;
			if (now > begin)
				most = max(most, may);
		}
		KUNIT_EXPECT_EQ_MSG(test, most, rows[i].run, "%d", i);
		KUNIT_EXPECT_LE_MSG(test, sent, rate + rate / 100 + 40, "%d", i);
		KUNIT_EXPECT_GE_MSG(test, sent, rate - rate / 100 - 9, "%d", i);
	}
}

/* Who had nothing to send, or was woken late, does not send all of that at once; nor is what went again waited for
 * for long.
 */
static void srn_spread_late_test(struct kunit *test)
{
	struct srn_window *w = new_window(test, PATH, 800, 1);
	u32 may, gap = srn_spread_gap(w, PATH);

	srn_spread_ask(w, PATH, 5000 * MS);
	may = srn_spread_ask(w, PATH, 6000 * MS);
	KUNIT_EXPECT_GE(test, may, 8 + 9);
	KUNIT_EXPECT_LE(test, may, 8 + 9 + 1);
	srn_spread_sent(w, PATH, may);
	KUNIT_EXPECT_EQ(test, srn_spread_ask(w, PATH, 6000 * MS), 0);
	/* An alarm that is late finds it open. */
	KUNIT_EXPECT_EQ(test, srn_spread_wait(w, PATH, 7000 * MS), 0);
	srn_spread_sent(w, PATH, 1000);
	KUNIT_EXPECT_EQ(test, srn_spread_ask(w, PATH, 6000 * MS), 0);
	KUNIT_EXPECT_EQ(test, srn_spread_wait(w, PATH, 6000 * MS), (8 + 7) * (u64)gap << SRN_SPREAD_TICK_SHIFT);
}

/* Whether what goes next has to wait behind two more; @read: what a READ in its place meets just before. On a slow host their
 * time may be over by then.
 */
static bool has_to_wait(struct srn_qp *qp, enum srn_gate *read)
{
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, qp->window.at.index);
	enum ib_wr_opcode opcode = wqe->opcode;
	int i;

	for (i = 0; i < 100; i++) {
		srn_spread_sent(&qp->window, qp->rtt.srtt_ns, 2);
		wqe->opcode = IB_WR_RDMA_READ;
		*read = srn_gate_wqe(qp, wqe);
		wqe->opcode = opcode;
		if (srn_gate_wqe(qp, wqe) == SRN_GATE_SPREAD)
			return true;
	}
	return false;
}

/* SENDs wait for their time, and an alarm is set. */
static void srn_spread_gate_test(struct kunit *test)
{
	int budget = SRN_ROUND_BUDGET;
	enum srn_gate read;
	struct srn_qp *qp;
	u32 spread_at;

	migrate_disable();
	qp = new_sender(test, 60);
	srn_crowd_set_spread(&qp->window.crowd, true);
	qp->window.most = SRN_WINDOW_SPREAD * qp->window.full;
	qp->window.cwnd = qp->window.full;
	qp->rtt.srtt_ns = NSEC_PER_SEC;
	qp->window.spread_at = ktime_get_ns() >> SRN_SPREAD_TICK_SHIFT;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	KUNIT_EXPECT_FALSE(test, srn_requester_run(qp, &budget));
	local_bh_enable();
	migrate_enable();
	KUNIT_EXPECT_LE(test, srn_window_inflight(&qp->window), 8);
	KUNIT_EXPECT_GE(test, srn_window_inflight(&qp->window), 1);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_PACE));
	/* The last before that asks, and does not go again to do so. */
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), 0);
	KUNIT_EXPECT_EQ(test, qp->window.unasked, 0);
	/* What goes again takes its time from what is new. */
	spread_at = qp->window.spread_at;
	KUNIT_ASSERT_NOT_NULL(test, srn_board_get(qp, &qp->score));
	srn_lost_sent(qp, ktime_get_ns(), qp->window.una, 1);
	KUNIT_EXPECT_GT(test, (s32)(qp->window.spread_at - spread_at), 0);
	srn_lost_stop(qp);
	/* What a READ asks for the peer sends. */
	qp->max_rd_atomic = 1;
	KUNIT_EXPECT_TRUE(test, has_to_wait(qp, &read));
	KUNIT_EXPECT_EQ(test, read, SRN_GATE_OPEN);
	/* Another path may be short. */
	srn_retry_move(qp);
	KUNIT_EXPECT_FALSE(test, srn_spread_is_on(&qp->window));
}

static struct kunit_case srn_spread_cases[] = {
	KUNIT_CASE(srn_spread_gap_test),
	KUNIT_CASE(srn_spread_keeps_time_test),
	KUNIT_CASE(srn_spread_late_test),
	KUNIT_CASE(srn_spread_gate_test),
	{}
};

static struct kunit_suite srn_spread_suite = {
	.name = "srn_spread",
	.test_cases = srn_spread_cases,
};

kunit_test_suite(srn_spread_suite);
