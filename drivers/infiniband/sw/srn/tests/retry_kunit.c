// SPDX-License-Identifier: GPL-2.0-only
/* Silence: how long it may be, and what an answer after it says. Time is what the alarms are set to;
 * the clock does not go.
 */
#include "../completer.h"
#include "../recovery.h"
#include "../retry.h"
#include "fake_sender.h"

#include <linux/ktime.h>
#include <linux/unaligned.h>
#include <rdma/ib_pack.h>

#define NUM	40u
#define MS	((u64)NSEC_PER_MSEC)
/* Code 14. */
#define TIMEOUT	(4096ull << 14)

static void run(struct srn_qp *qp)
{
	int budget = SRN_ROUND_BUDGET;

	srn_requester_run(qp, &budget);
}

/* It has sent what it begins with. */
static struct srn_qp *new_waiter(struct kunit *test, enum srn_recovery recovery, u8 retry_cnt)
{
	struct srn_qp *qp;

	migrate_disable();
	qp = new_sender(test, NUM);
	qp->recovery = recovery;
	qp->timeout = 14;
	qp->retry_cnt = retry_cnt;
	srn_retry_refill(qp);
	qp->scq = new_cq(test, qp, 4);
	qp->window.cwnd = SRN_WINDOW_FEW;
	qp->window.floor = 1;
	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srn_turn_take(&qp->turn, SRN_TURN_SQ));
	run(qp);
	KUNIT_EXPECT_EQ(test, srn_window_inflight(&qp->window), SRN_WINDOW_FEW);
	return qp;
}

static void end(void)
{
	local_bh_enable();
	migrate_enable();
}

static u64 timeouts(const struct srn_qp *qp)
{
	return srn_stats_sum(qp->dev, SRN_CNT_TIMEOUT);
}

static void age(struct srn_qp *qp, u64 ns)
{
	qp->window.timed_ns -= ns;
}

/* What is waited for does not come. Returns how long that was. */
static u64 wait(struct srn_qp *qp)
{
	u64 ns = qp->retry.step_ns;

	age(qp, ns);
	srn_retry_alarm(qp, BIT(SRN_ALARM_ACK));
	if (qp->state == IB_QPS_RTS)
		run(qp);
	return ns;
}

/* So much time passes in all, and an ACK of all up to @psn comes. */
static void answer(struct kunit *test, struct srn_qp *qp, u64 after, u32 psn)
{
	struct sk_buff *skb = new_packet(test, IB_OPCODE_RC_ACKNOWLEDGE, srn_psn_add(qp->sq_psn, psn));

	while (after >= qp->retry.step_ns)
		after -= wait(qp);
	age(qp, after);
	put_unaligned_be32((u32)SRN_SYN_ACK_UNLIMITED << 24,
			   skb->data + srn_pkt(skb)->bth + sizeof(struct srn_bth));
	srn_completer_rx(qp, skb);
}

struct patience_row {
	const char *desc;
	enum srn_recovery recovery;
	u64 srtt_ns;
	u64 bound_ns;
	u8 retry_cnt;
};

static const struct patience_row patience_rows[] = {
	{ "unknown, 0", SRN_RECOVERY_SACK, 0, 0, 0 },
	{ "unknown, 3", SRN_RECOVERY_SACK, 0, 0, 3 },
	{ "unknown, 7", SRN_RECOVERY_SACK, 0, 0, 7 },
	{ "short, 0", SRN_RECOVERY_SACK, MS, 0, 0 },
	{ "short, 7", SRN_RECOVERY_SACK, MS, 0, 7 },
	{ "late, 0", SRN_RECOVERY_SACK, 60 * MS, 0, 0 },
	{ "late, 3", SRN_RECOVERY_HOLD, 60 * MS, 0, 3 },
	{ "long, 0", SRN_RECOVERY_SACK, 100 * MS, 0, 0 },
	{ "long, 3", SRN_RECOVERY_HOLD, 100 * MS, 0, 3 },
	{ "long, 7", SRN_RECOVERY_SACK, 100 * MS, 0, 7 },
	{ "too long, 0", SRN_RECOVERY_SACK, 5000 * MS, 0, 0 },
	{ "too long, 7", SRN_RECOVERY_HOLD, 5000 * MS, 0, 7 },
	{ "become too long, 0", SRN_RECOVERY_SACK, MS, 5000 * MS, 0 },
	{ "become too long, 3", SRN_RECOVERY_HOLD, MS, 5000 * MS, 3 },
	{ "go-back-N, unknown, 3", SRN_RECOVERY_GBN, 0, 0, 3 },
	{ "go-back-N, too long, 0", SRN_RECOVERY_GBN, 5000 * MS, 0, 0 },
	{ "go-back-N, too long, 7", SRN_RECOVERY_GBN, 5000 * MS, 0, 7 },
};

KUNIT_ARRAY_PARAM_DESC(patience, patience_rows, desc);

/* However long a path is, a peer that is dead is given up within what the standard allows. */
static void srn_retry_patience_test(struct kunit *test)
{
	const struct patience_row *row = test->param_value;
	struct srn_qp *qp = new_waiter(test, row->recovery, row->retry_cnt);
	u32 tries = row->retry_cnt + 1, i;
	u64 waited = 0;

	qp->rtt = (struct srn_rtt){ .srtt_ns = row->srtt_ns, .bound_ns = row->bound_ns };
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
	srn_retry_sent(qp);
	for (i = 0; i < 100 * tries && qp->state == IB_QPS_RTS; i++)
		waited += wait(qp);
	end();
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, timeouts(qp), tries);
	KUNIT_EXPECT_GE(test, waited, tries * TIMEOUT);
	KUNIT_EXPECT_LE(test, waited, 4 * tries * TIMEOUT);
	if (row->retry_cnt == 0)
		KUNIT_EXPECT_LT(test, waited, 4 * TIMEOUT - TIMEOUT / 8);
}

/* A path that is longer than the timeout: what its first answer took is known, and the next one comes in
 * time and is a sample. Nothing goes again for its length from then on.
 */
static void srn_retry_learns_long_path_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
	u64 retrans;

	answer(test, qp, 100 * MS, SRN_WINDOW_FEW - 1);
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_EQ(test, qp->rtt.srtt_ns, 0);
	KUNIT_EXPECT_GE(test, qp->rtt.bound_ns, 100 * MS);
	KUNIT_EXPECT_LE(test, qp->rtt.bound_ns, 110 * MS);
	retrans = srn_stats_sum(qp->dev, SRN_CNT_RETRANS);
	run(qp);
	answer(test, qp, 110 * MS, 2 * SRN_WINDOW_FEW - 1);
	end();
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_GE(test, qp->rtt.srtt_ns, 110 * MS);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), retrans);
}

/* So it is where it has become that much longer: what was known of it is too little, and counts no more
 * until there is a sample.
 */
static void srn_retry_learns_longer_path_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);

	qp->rtt = (struct srn_rtt){ .srtt_ns = MS, .var_ns = MS / 10, .wait = 30 };
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
	srn_retry_sent(qp);
	answer(test, qp, 100 * MS, SRN_WINDOW_FEW - 1);
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_EQ(test, qp->rtt.srtt_ns, MS);
	KUNIT_EXPECT_GE(test, qp->rtt.bound_ns, 100 * MS);
	run(qp);
	KUNIT_EXPECT_TRUE(test, qp->window.timed);
	answer(test, qp, 100 * MS, 2 * SRN_WINDOW_FEW - 1);
	end();
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_GT(test, qp->rtt.srtt_ns, 10 * MS);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 0);
}

/* What went again in silence was not lost: as many may be out as before it. */
static void srn_retry_spares_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
	u32 ssthresh = qp->window.ssthresh;

	answer(test, qp, 100 * MS, 0);
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	run(qp);
	KUNIT_EXPECT_LT(test, qp->window.cwnd, SRN_WINDOW_FEW);
	answer(test, qp, 0, SRN_WINDOW_FEW / 2);
	KUNIT_EXPECT_GE(test, qp->window.cwnd, SRN_WINDOW_FEW);
	KUNIT_EXPECT_EQ(test, qp->window.ssthresh, ssthresh);
	/* The others will be answered, too: they do not go again. */
	KUNIT_EXPECT_EQ(test, srn_psn_diff(qp->window.at.psn, qp->sq_psn), SRN_WINDOW_FEW);
	KUNIT_EXPECT_EQ(test, qp->window.at.index, SRN_WINDOW_FEW);
	KUNIT_EXPECT_TRUE(test, srn_clock_is_set(&qp->clock, SRN_ALARM_ACK));
	end();
}

/* A peer that drops what follows a gap does not have the others. */
static void srn_retry_spares_go_back_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_GBN, 7);

	answer(test, qp, 100 * MS, SRN_WINDOW_FEW / 2);
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_GE(test, qp->window.cwnd, SRN_WINDOW_FEW);
	KUNIT_EXPECT_EQ(test, qp->window.at.psn, qp->window.una);
	end();
}

/* Where the path is known to be short it was a queue, in which all that was out stood. */
static void srn_retry_spares_no_queue_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);

	qp->window.timed_queue = true;
	srn_crowd_sample(&qp->window.crowd, MS, MS, 0, qp->window.cwnd, false);
	answer(test, qp, 100 * MS, SRN_WINDOW_FEW / 2);
	end();
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_LT(test, qp->window.cwnd, SRN_WINDOW_FEW);
	KUNIT_EXPECT_EQ(test, qp->window.ssthresh, SRN_WINDOW_FEW / 2);
	KUNIT_EXPECT_EQ(test, qp->window.at.psn, qp->window.una);
}

/* What a gap is in front of, or the peer was not ready for, is answered late for that. */
static void srn_retry_gap_is_not_timed_test(struct kunit *test)
{
	static const struct { enum srn_recovery recovery; bool ready; } rows[] = {
		{ SRN_RECOVERY_HOLD, true }, { SRN_RECOVERY_GBN, true }, { SRN_RECOVERY_HOLD, false },
	};
	struct srn_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		qp = new_waiter(test, rows[i].recovery, 7);
		qp->retry.rnr_retries = 1;
		KUNIT_EXPECT_TRUE(test, qp->window.timed);
		if (rows[i].ready)
			srn_retry_nak(qp);
		else
			srn_retry_rnr(qp, 1);
		end();
		KUNIT_EXPECT_FALSE_MSG(test, qp->window.timed, "%d", i);
	}
}

/* The wait may become shorter than what was waited: then it is over, not endless. */
static void srn_retry_shorter_wait_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);

	qp->rtt = (struct srn_rtt){ .bound_ns = 100 * MS };
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
	srn_retry_sent(qp);
	wait(qp);
	KUNIT_EXPECT_GT(test, qp->retry.waited_ns, TIMEOUT);
	qp->rtt = (struct srn_rtt){ .srtt_ns = MS };
	wait(qp);
	end();
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
}

static struct kunit_case srn_retry_cases[] = {
	KUNIT_CASE_PARAM(srn_retry_patience_test, patience_gen_params),
	KUNIT_CASE(srn_retry_learns_long_path_test),
	KUNIT_CASE(srn_retry_learns_longer_path_test),
	KUNIT_CASE(srn_retry_spares_test),
	KUNIT_CASE(srn_retry_spares_go_back_test),
	KUNIT_CASE(srn_retry_spares_no_queue_test),
	KUNIT_CASE(srn_retry_gap_is_not_timed_test),
	KUNIT_CASE(srn_retry_shorter_wait_test),
	{}
};

static struct kunit_suite srn_retry_suite = {
	.name = "srn_retry",
	.test_cases = srn_retry_cases,
};
kunit_test_suite(srn_retry_suite);
