// SPDX-License-Identifier: GPL-2.0-only
/* Silence: how long it may be, and what an answer after it says. */
#include "../sack.h"
#include "fake_waiter.h"
#include "fake_rx.h"

#include <linux/ktime.h>

struct patience_row {
	const char *desc;
	enum srn_recovery recovery;
	u64 srtt_ns;
	u32 bound_ns;
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
	{ "become too long, 0", SRN_RECOVERY_SACK, MS, 1000 * MS, 0 },
	{ "become too long, 3", SRN_RECOVERY_HOLD, MS, 1000 * MS, 3 },
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
	u64 begin = ktime_get_ns(), retrans;	/* what the test takes is of the path, too */
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);

	answer(test, qp, 100 * MS, SRN_WINDOW_FEW - 1);
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_EQ(test, qp->rtt.srtt_ns, 0);
	KUNIT_EXPECT_GE(test, qp->rtt.bound_ns, 100 * MS);
	KUNIT_EXPECT_LE(test, qp->rtt.bound_ns, 110 * MS + ktime_get_ns() - begin);
	retrans = srn_stats_sum(qp->dev, SRN_CNT_RETRANS);
	run(qp);
	answer(test, qp, 110 * MS, srn_psn_diff(qp->window.end, qp->sq_psn) - 1);
	end();
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_GE(test, qp->rtt.srtt_ns, 110 * MS);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 0);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(qp->dev, SRN_CNT_RETRANS), retrans);
}

/* So it is where it has become that much longer, when that was seen twice: what was known of it is too little, and
 * counts no more until there is a sample.
 */
static void srn_retry_learns_longer_path_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
	int i;

	qp->rtt = (struct srn_rtt){ .srtt_ns = MS, .var_ns = MS / 10, .wait = 30 };
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
	srn_retry_sent(qp);
	for (i = 1; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 0);
		KUNIT_EXPECT_EQ(test, qp->known->path->rota.answers, 0u);
		qp->dev->rota = i == 2 ? SRN_ROTA_ALWAYS : SRN_ROTA_OFF;
		answer(test, qp, 100 * MS, srn_psn_diff(qp->window.end, qp->sq_psn) - 1);
		KUNIT_EXPECT_EQ(test, timeouts(qp), i);
		KUNIT_EXPECT_EQ(test, qp->rtt.srtt_ns, MS);
		run(qp);
		KUNIT_EXPECT_TRUE(test, qp->window.timed);
	}
	KUNIT_EXPECT_GE(test, qp->rtt.bound_ns, 100 * MS);
	/* And others that have it in common are told, where they take turns. */
	KUNIT_EXPECT_GT(test, qp->known->path->rota.answers, 0u);
	answer(test, qp, 100 * MS, srn_psn_diff(qp->window.end, qp->sq_psn) - 1);
	end();
	KUNIT_EXPECT_EQ(test, timeouts(qp), 2);
	KUNIT_EXPECT_GT(test, qp->rtt.srtt_ns, 10 * MS);
	KUNIT_EXPECT_EQ(test, qp->rtt.bound_ns, 0);
}

/* Whether a very long path is one is the device's to say, and the peer's, with each answer. */
static void srn_retry_may_spread_test(struct kunit *test)
{
	static const struct { bool on; u32 reach; bool spreads; } rows[] = {
		{ true, SRN_HOLD_WIDE, true }, { false, SRN_HOLD_WIDE, false }, { true, SRN_HOLD_AHEAD, false },
	};
	struct srn_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
		qp->rtt = (struct srn_rtt){ .srtt_ns = MS, .var_ns = MS / 10, .wait = 30 };
		KUNIT_EXPECT_FALSE_MSG(test, qp->window.crowd.spreads, "%d", i);
		qp->dev->spread = rows[i].on;
		srn_window_set_reach(&qp->window, rows[i].reach);
		answer(test, qp, MS, SRN_WINDOW_FEW - 1);
		KUNIT_EXPECT_EQ_MSG(test, (bool)qp->window.crowd.spreads, rows[i].spreads, "%d", i);
		/* Until it is said anew. */
		run(qp);
		qp->dev->spread = !rows[i].on;
		answer(test, qp, MS, srn_psn_diff(qp->window.end, qp->sq_psn) - 1);
		KUNIT_EXPECT_EQ_MSG(test, (bool)qp->window.crowd.spreads,
				    !rows[i].on && rows[i].reach > SRN_HOLD_AHEAD, "%d", i);
		end();
	}
}

/* That a path is short is known to all that have it in common, whether they take turns or not. */
static void srn_retry_tells_short_path_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
	struct srn_rota *rota = &qp->known->path->rota;
	bool before;

	answer(test, qp, 100 * MS, SRN_WINDOW_FEW - 1);
	run(qp);
	answer(test, qp, 110 * MS, srn_psn_diff(qp->window.end, qp->sq_psn) - 1);
	before = srn_rota_is_near(rota);
	run(qp);
	answer(test, qp, MS, srn_psn_diff(qp->window.end, qp->sq_psn) - 1);
	end();
	KUNIT_EXPECT_FALSE(test, before);
	KUNIT_EXPECT_TRUE(test, srn_rota_is_near(rota));
}

/* Who began as one of many, with few, goes on as one of few with an answer that comes when it is not one of many any
 * more: the others are few, or the path is far, or no turns are wanted. Not if it lost something.
 */
static void srn_retry_widens_test(struct kunit *test)
{
	static const struct { u32 taken; enum srn_rota_when when; bool needed, far, lost, widens; } rows[] = {
		{ SRN_ROTA_FEW + 1, SRN_ROTA_ALWAYS, false, false, false, false },
		{ SRN_ROTA_FEW + 1, SRN_ROTA_OFF, false, false, false, true },
		{ SRN_ROTA_FEW + 1, SRN_ROTA_LOSSY, true, false, false, false },
		{ SRN_ROTA_FEW + 1, SRN_ROTA_LOSSY, false, false, false, true },
		{ SRN_ROTA_FEW + 1, SRN_ROTA_ALWAYS, false, true, false, true },
		{ SRN_ROTA_FEW + 1, SRN_ROTA_ALWAYS, false, true, true, false },
		{ SRN_ROTA_FEW, SRN_ROTA_ALWAYS, false, false, false, true },
		{ SRN_ROTA_FEW, SRN_ROTA_ALWAYS, false, false, true, false },
	};
	struct srn_known_user *known;
	struct srn_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
		known = qp->known;
		qp->dev->rota = rows[i].when;
		known->path->rota.needed = rows[i].needed;
		known->path->rota.lost_ns = ktime_get_ns();
		known->path->rota.taken = rows[i].taken;
		known->path->rota.far = rows[i].far;
		known->shift.few_ns = 1;
		qp->window.many = true;
		qp->window.cwnd = 8;
		qp->window.ssthresh = 8;
		if (rows[i].lost)
			srn_window_lost(&qp->window, 1, 0, ktime_get_ns());
		answer(test, qp, rows[i].far ? 30 * MS : MS, SRN_WINDOW_FEW - 1);
		end();
		KUNIT_EXPECT_EQ_MSG(test, qp->window.ssthresh == qp->window.most, rows[i].widens, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, qp->window.cwnd >= SRN_WINDOW_FEW, rows[i].widens, "%d", i);
		known->path->rota.taken = 0;
	}
}

/* But only to its part, where turns have ended and all do so at once. */
static void srn_retry_widens_shares_test(struct kunit *test)
{
	static const struct { enum srn_rota_when when; u32 users, had; bool far, on; u32 cwnd; } rows[] = {
		{ SRN_ROTA_LOSSY, 4 * SRN_ROTA_PLACES, 8, false, false, SRN_WINDOW_FEW / 4 },
		{ SRN_ROTA_LOSSY, SRN_ROTA_PLACES, 8, false, false, SRN_WINDOW_FEW },
		{ SRN_ROTA_OFF, 4 * SRN_ROTA_PLACES, 8, false, false, SRN_WINDOW_FEW },
		{ SRN_ROTA_LOSSY, 4 * SRN_ROTA_PLACES, 8, true, false, SRN_WINDOW_FEW },
		/* Not what was its part before; nor twice. */
		{ SRN_ROTA_LOSSY, 4 * SRN_ROTA_PLACES, SRN_WINDOW_FEW, false, false, SRN_WINDOW_FEW },
		{ SRN_ROTA_LOSSY, 4 * SRN_ROTA_PLACES, 8, false, true, SRN_WINDOW_FEW },
	};
	u32 users, i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
		struct srn_known_path *path = qp->known->path;

		users = path->users;
		path->users = rows[i].users;
		path->rota.far = rows[i].far;
		qp->dev->rota = rows[i].when;
		qp->window.many = true;
		qp->window.cwnd = rows[i].had;
		qp->window.ssthresh = rows[i].had;
		qp->known->shift.on = rows[i].on;
		answer(test, qp, rows[i].far ? 30 * MS : MS, 1);
		qp->known->shift.on = false;
		end();
		KUNIT_EXPECT_FALSE_MSG(test, srn_window_is_of_many(&qp->window), "%d", i);
		KUNIT_EXPECT_LE_MSG(test, qp->window.cwnd, rows[i].cwnd + 2, "%d", i);
		KUNIT_EXPECT_GE_MSG(test, qp->window.cwnd, rows[i].cwnd, "%d", i);
		path->users = users;
	}
}

/* To another address it is another path. */
static void srn_retry_move_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);

	end();
	qp->rtt = (struct srn_rtt){ .srtt_ns = 100 * MS, .bound_ns = 200 * MS, .doubt = true };
	qp->window.most = 10 * SRN_WINDOW;
	qp->window.cwnd = 5 * SRN_WINDOW;
	qp->window.ssthresh = 6 * SRN_WINDOW;
	srn_crowd_sample(&qp->window.crowd, MS, MS, 0, 16, false);
	srn_retry_move(qp);
	KUNIT_EXPECT_EQ(test, srn_rtt_ns(&qp->rtt), 0);
	KUNIT_EXPECT_FALSE(test, qp->rtt.doubt);
	KUNIT_EXPECT_EQ(test, qp->window.most, SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, qp->window.cwnd, SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, qp->window.ssthresh, SRN_WINDOW);
	KUNIT_EXPECT_EQ(test, qp->window.crowd.least_ns, U64_MAX);
	KUNIT_EXPECT_FALSE(test, qp->window.timed);
}

/* More might be out on a path as long, if the peer were known to have heard of us: it is asked. */
static void srn_retry_asks_for_reach_test(struct kunit *test)
{
	static const struct { u64 path_ns; bool knows, due; } rows[] = {
		{ 30 * MS, false, true }, { 30 * MS, true, false }, { MS, false, false },
	};
	struct srn_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
		qp->peer = (struct srn_peer){ .sacks = true, .knows = rows[i].knows, .left = 4 };
		srn_window_set_reach(&qp->window, rows[i].knows ? SRN_HOLD_WIDE : SRN_HOLD_AHEAD);
		answer(test, qp, rows[i].path_ns, SRN_WINDOW_FEW - 1);
		end();
		KUNIT_EXPECT_EQ_MSG(test, qp->peer.due, rows[i].due, "%d", i);
	}
}

/* What went again in silence was not lost: as many may be out as before it. One answer may be to what went again,
 * and those before it lost.
 */
static void srn_retry_spares_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
	u32 ssthresh = qp->window.ssthresh;

	qp->peer.sacks = true;
	answer(test, qp, 100 * MS, 0);
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	run(qp);
	answer(test, qp, 0, 4);
	run(qp);
	KUNIT_EXPECT_EQ(test, srn_psn_diff(qp->window.at.psn, qp->sq_psn), 7);
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

/* A peer that may drop what follows a gap, or does not say that it kept it, is sent the others. */
static void srn_retry_spares_who_tells_test(struct kunit *test)
{
	static const enum srn_recovery recoveries[] = {
		SRN_RECOVERY_GBN, SRN_RECOVERY_HOLD, SRN_RECOVERY_SACK,
	};
	struct srn_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(recoveries); i++) {
		qp = new_waiter(test, recoveries[i], 7);
		answer(test, qp, 100 * MS, 4);
		qp->window.cwnd = 2;
		run(qp);
		answer(test, qp, 0, SRN_WINDOW_FEW / 2);
		end();
		KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
		KUNIT_EXPECT_LE(test, qp->window.ssthresh, SRN_WINDOW_FEW / 2);
		KUNIT_EXPECT_EQ(test, qp->window.at.psn, qp->window.una);
	}
}

/* Where nothing came through either way the first answer is one that was lost, to what the peer has: the others are
 * not on their way.
 */
static void srn_retry_spares_no_outage_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
	u32 i;

	qp->peer.sacks = true;
	answer(test, qp, 100 * MS, 7);
	KUNIT_EXPECT_EQ(test, qp->window.at.psn, qp->window.una);
	for (i = 8; i < SRN_WINDOW_FEW; i++) {
		run(qp);
		KUNIT_EXPECT_GT(test, srn_window_inflight(&qp->window), 0);
		answer(test, qp, 0, i);
		KUNIT_EXPECT_LE(test, qp->window.ssthresh, SRN_WINDOW_FEW / 2);
	}
	end();
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
}

/* Where the path is known to be short it was a queue, in which all that was out stood. */
static void srn_retry_spares_no_queue_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);

	qp->peer.sacks = true;
	qp->window.timed_queue = true;
	srn_crowd_sample(&qp->window.crowd, MS, MS, 0, qp->window.cwnd, false);
	KUNIT_EXPECT_EQ(test, qp->window.timed_psn, qp->sq_psn);
	answer(test, qp, 100 * MS, 4);
	KUNIT_EXPECT_EQ(test, timeouts(qp), 1);
	KUNIT_EXPECT_EQ(test, qp->window.spare, 0);
	qp->window.cwnd = 2;
	run(qp);
	answer(test, qp, 0, SRN_WINDOW_FEW / 2);
	end();
	KUNIT_EXPECT_LE(test, qp->window.ssthresh, SRN_WINDOW_FEW / 2);
	KUNIT_EXPECT_EQ(test, qp->window.at.psn, qp->window.una);
}

/* All before @psn is here, and it is missing. */
static void say_sack(struct kunit *test, struct srn_qp *qp, u32 psn)
{
	struct sk_buff *skb = new_packet(test, SRN_OPCODE_SACK, srn_psn_add(qp->sq_psn, psn));
	struct srn_sack_fields *fields = skb_put_zero(skb, sizeof(*fields));

	put_unaligned_be32(SRN_SACK_MAGIC << 16 | SRN_SACK_VERSION << 8 | SRN_SACK_HELD, &fields->what);
	put_unaligned_be32(SRN_HOLD_WIDE, &fields->ahead);
	srn_pkt(skb)->len = sizeof(*fields);
	rx_answer(qp, skb);
}

/* An answer that tells of a gap, or that the peer was not ready, says why it was silent, whatever it acknowledges. */
static void srn_retry_spares_no_gap_test(struct kunit *test)
{
	static const u8 syndromes[] = { SRN_SYN_NAK_SEQ, SRN_SYN_RNR_NAK, 0 };
	struct srn_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(syndromes); i++) {
		qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
		qp->peer.sacks = true;
		qp->retry.rnr_retries = 1;
		time_out(test, qp);
		say(test, qp, SRN_SYN_ACK_UNLIMITED, 4);
		KUNIT_EXPECT_EQ(test, qp->window.spare, 1);
		if (syndromes[i])
			say(test, qp, syndromes[i], 8);
		else
			say_sack(test, qp, 8);
		end();
		KUNIT_EXPECT_EQ(test, srn_psn_diff(qp->window.una, qp->sq_psn), 8);
		KUNIT_EXPECT_LE(test, qp->window.ssthresh, SRN_WINDOW_FEW / 2);
		KUNIT_EXPECT_EQ(test, qp->window.at.psn, qp->window.una);
	}
}

/* A READ that left after silence, and that the cursor, back again, has yet to send: it is known to be out all the
 * while, and a fence behind it waits.
 */
static void srn_retry_spares_no_read_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);
	u32 i, una = SRN_WINDOW_FEW - 2;

	qp->peer.sacks = true;
	qp->max_rd_atomic = 4;
	srn_sq_wqe(&qp->sq, SRN_WINDOW_FEW)->opcode = IB_WR_RDMA_READ;
	srn_sq_wqe(&qp->sq, SRN_WINDOW_FEW + 1)->flags = IB_SEND_FENCE;
	time_out(test, qp);
	for (i = 0; i < una; i++) {
		say(test, qp, SRN_SYN_ACK_UNLIMITED, i);
		qp->window.cwnd = i + 1 < una ? 1 : SRN_WINDOW_FEW;
		run(qp);
	}
	KUNIT_EXPECT_EQ(test, srn_window_reads(&qp->window), 1);
	KUNIT_EXPECT_EQ(test, qp->window.at.index, SRN_WINDOW_FEW + 1);
	time_out(test, qp);
	KUNIT_EXPECT_EQ(test, srn_window_reads(&qp->window), 0);
	for (i = 0; i < 2; i++) {
		say(test, qp, SRN_SYN_ACK_UNLIMITED, una + 1);
		qp->window.cwnd = SRN_WINDOW_FEW;
		run(qp);
		KUNIT_EXPECT_EQ(test, qp->window.at.index, SRN_WINDOW_FEW + 1);
		KUNIT_EXPECT_EQ(test, srn_window_reads(&qp->window), 1);
	}
	end();
}

/* A peer with SACKs that names a gap without one keeps less than it said. */
static void srn_retry_nak_holds_back_test(struct kunit *test)
{
	struct srn_qp *qp = new_waiter(test, SRN_RECOVERY_SACK, 7);

	qp->peer.sacks = true;
	srn_window_set_reach(&qp->window, SRN_HOLD_WIDE);
	qp->window.most = 8 * SRN_WINDOW;
	qp->window.cwnd = 4 * SRN_WINDOW;
	say(test, qp, SRN_SYN_NAK_SEQ, 4);
	end();
	KUNIT_EXPECT_EQ(test, qp->window.reach, SRN_HOLD_AHEAD);
	KUNIT_EXPECT_EQ(test, qp->window.most, SRN_WINDOW);
	KUNIT_EXPECT_LE(test, qp->window.cwnd, SRN_WINDOW);
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
	KUNIT_CASE(srn_retry_may_spread_test),
	KUNIT_CASE(srn_retry_tells_short_path_test),
	KUNIT_CASE(srn_retry_widens_test),
	KUNIT_CASE(srn_retry_widens_shares_test),
	KUNIT_CASE(srn_retry_move_test),
	KUNIT_CASE(srn_retry_asks_for_reach_test),
	KUNIT_CASE(srn_retry_spares_test),
	KUNIT_CASE(srn_retry_spares_who_tells_test),
	KUNIT_CASE(srn_retry_spares_no_outage_test),
	KUNIT_CASE(srn_retry_spares_no_queue_test),
	KUNIT_CASE(srn_retry_spares_no_gap_test),
	KUNIT_CASE(srn_retry_spares_no_read_test),
	KUNIT_CASE(srn_retry_nak_holds_back_test),
	KUNIT_CASE(srn_retry_gap_is_not_timed_test),
	KUNIT_CASE(srn_retry_shorter_wait_test),
	{}
};

static struct kunit_suite srn_retry_suite = {
	.name = "srn_retry",
	.test_cases = srn_retry_cases,
};
kunit_test_suite(srn_retry_suite);
