// SPDX-License-Identifier: GPL-2.0-only
/* Going back, waiting, and giving up. */
#include "retry.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/limits.h>

#include "clock.h"
#include "gaps.h"
#include "hello.h"
#include "known.h"
#include "lazy.h"
#include "lost.h"
#include "note.h"
#include "pace.h"
#include "qp.h"
#include "resend.h"
#include "rnr.h"
#include "rtt.h"
#include "score.h"
#include "shift.h"
#include "sq.h"
#include "stats.h"
#include "trace.h"
#include "window.h"

/* Two answers within this time are to the same packets. */
#define SOON_NS		(50 * NSEC_PER_USEC)
/* From then on the time between probes does not double any more. */
#define PROBE_SHIFT_MAX	10

void srn_retry_refill(struct srn_qp *qp)
{
	qp->retry.retries = qp->retry_cnt;
	qp->retry.rnr_retries = qp->rnr_retry;
	qp->retry.late = false;
	qp->retry.late_num = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_refill);

void srn_retry_move(struct srn_qp *qp)
{
	u32 was = qp->window.cwnd;

	srn_window_move(&qp->window);
	trace_srn_window(qp, was, SRN_WINDOW_SETTLED);
	qp->rtt = (struct srn_rtt){};
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_move);

void srn_retry_reset(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;

	srn_resend_stop(&qp->resend);
	srn_lost_stop(qp);
	srn_gaps_stop(qp);
	retry->probes = 0;
	retry->rnr_wait = false;
	retry->rewound = false;
	retry->probing = false;
	retry->refused = false;
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
	srn_clock_clear(&qp->clock, SRN_ALARM_RNR);
}

/* The local ACK timeout that was asked for (9.7.6.1.3), ns; 0: none. */
static u64 timeout_ns(const struct srn_qp *qp)
{
	return srn_rtt_asked_ns(qp->timeout);
}

/* Timeouts in a row without progress, charged or not. */
static u32 used(const struct srn_qp *qp)
{
	return qp->retry_cnt - qp->retry.retries + qp->retry.late_num;
}

/* A requester may wait between one and four times the local ACK timeout (9.7.6.1.3). */
static u64 ack_timeout(const struct srn_qp *qp)
{
	if (!qp->timeout)	/* there are probes, and nobody gives up */
		return U64_MAX;
	return srn_rtt_patience_ns(&qp->rtt, timeout_ns(qp), used(qp));
}

/* From probe to probe the time doubles, but not after the first one: that, or its answer, may be lost
 * as what it asks for was.
 */
static u32 probe_shift(u32 probes)
{
	return clamp_t(u32, probes, 1, PROBE_SHIFT_MAX + 1) - 1;
}

/* On the way to the local ACK timeout, probes. They are not charged: what a peer that is late hears
 * of them is a few packets. @more_ns are no part of it.
 */
static void await(struct srn_qp *qp, u64 more_ns)
{
	struct srn_retry *retry = &qp->retry;
	u64 all = ack_timeout(qp), left = all - min(all, retry->waited_ns);

	retry->step_ns = left;
	if (srn_qp_holds(qp))
		retry->step_ns = min(left, srn_rtt_probe_ns(&qp->rtt, all) << probe_shift(retry->probes));
	srn_clock_set(&qp->clock, SRN_ALARM_ACK, retry->step_ns + more_ns);
}

void srn_retry_sent(struct srn_qp *qp)
{
	/* Runs from the round in which the oldest in flight left, not from the latest. */
	if (srn_clock_is_set(&qp->clock, SRN_ALARM_ACK))
		return;
	if (!qp->timeout && !srn_qp_holds(qp))	/* code 0: no timeout */
		return;
	qp->retry.waited_ns = 0;
	qp->retry.excused = false;
	qp->retry.late = false;
	await(qp, 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_sent);

bool srn_retry_asks_first(const struct srn_qp *qp)
{
	const struct srn_rtt *rtt = &qp->rtt;
	u64 all = ack_timeout(qp);

	return srn_qp_holds(qp) && rtt->srtt_ns &&
	       srn_rtt_probe_ns(rtt, all) + srn_rtt_again_ns(rtt) <= all;
}

/* Progress, or what comes to the same, is waited for anew, from the end of the requester's round on: what it lets
 * go is to have left.
 */
static void restart(struct srn_qp *qp)
{
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
}

/* What is sent from here on has the whole timeout to be answered. */
static void seek(struct srn_qp *qp, u32 psn)
{
	u32 was = qp->window.cwnd;

	srn_lost_stop(qp);
	srn_gaps_stop(qp);
	srn_window_seek(&qp->window, (struct srn_cursor){
		.index = srn_sq_find(&qp->sq, psn), .psn = psn,
	});
	trace_srn_window(qp, was, SRN_WINDOW_SETTLED);
	qp->retry.probing = false;
	srn_resend_stop(&qp->resend);
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
}

/* The SQ is ahead of what was passed again. */
static bool is_passed(const struct srn_qp *qp)
{
	return (s32)(qp->window.at.index - qp->sq.una) < 0;
}

static void narrow(struct srn_qp *qp, void (*how)(struct srn_window *w), enum srn_window_why why)
{
	u32 was = qp->window.cwnd;

	how(&qp->window);
	trace_srn_window(qp, was, why);
}

/* A gap, of which nobody says how long it is. What is behind it is answered when that is filled. */
static void lose(struct srn_qp *qp, u64 now)
{
	u32 was = qp->window.cwnd;

	srn_window_lost(&qp->window, 1, 0, now);
	srn_known_lost(qp->known, &qp->window.crowd, now);
	srn_window_untime(&qp->window);
	trace_srn_window(qp, was, SRN_WINDOW_LOST);
}

/* What waits in queues on the way, in those of this host first of all, delays the answers,
 * and at the local ACK timeout all of it would be sent once more. So before that there is to
 * be less in them. The time that the path takes without queues does not count.
 */
static void look_at_late(struct srn_qp *qp, u64 delay)
{
	if (!srn_window_is_late(&qp->window, delay, timeout_ns(qp)))
		return;
	srn_count(qp->dev, SRN_CNT_LATE);
	narrow(qp, srn_window_late, SRN_WINDOW_LATE);
}

/* Who began with few, as one of many, need not go on so where it has turned out that no turns are taken, or that the
 * others are few, or have nothing to send.
 */
static void look_at_many(struct srn_qp *qp, u64 now)
{
	const struct srn_rota *rota = &qp->known->path->rota;
	enum srn_rota_when when = READ_ONCE(qp->dev->rota);
	bool free = !when || srn_rota_is_free(rota, when);
	u32 was = qp->window.cwnd;

	if (!free && !srn_rota_has_few(rota, &qp->known->shift, now))
		return;
	srn_window_widen(&qp->window);
	/* If turns have ended all do so at once. Who has a place shares when it finds that. */
	if (free && qp->window.cwnd != was && !srn_shift_is_on(qp))
		srn_shift_share(qp);
}

/* What is known of the queue, and that alone. Of an answer that is timed to its end the first packet has its part in
 * that, too: with the last one lost it is what the loss is judged by. But less is out once for both.
 */
static u64 look_at_queue(struct srn_qp *qp, u64 took, u64 now)
{
	struct srn_window *w = &qp->window;
	bool old = srn_crowd_is_stale(&w->crowd) || srn_crowd_is_old(&w->crowd, now);
	u64 was_ns = old ? 0 : w->crowd.delay_ns, delay;
	u32 was = w->cwnd;

	srn_window_set_spread(w, READ_ONCE(qp->dev->spread));
	delay = srn_window_delay(w, srn_known_least(qp->known->path, took, now), now);
	srn_known_look(qp->known->path, &w->crowd, READ_ONCE(qp->dev->rota));
	if (!srn_window_times_on(w, was_ns))
		srn_window_mind(w);
	if (srn_window_is_of_many(w))
		look_at_many(qp, now);
	trace_srn_window(qp, was, SRN_WINDOW_CROWDED);
	/* While it holds something it says itself what it has room for. */
	if (!qp->score && srn_window_wants_reach(w))
		srn_hello_again(&qp->peer);
	return delay;
}

/* How long the path is, and whether it is late, the first packet of an answer says: behind it there is what the
 * peer sends by its own pace.
 */
static void look_at_first(struct srn_qp *qp)
{
	struct srn_window *w = &qp->window;
	u64 now = ktime_get_ns(), took = now - w->timed_ns;

	if (w->timed_again) {
		srn_known_look_again(qp->known->path, READ_ONCE(qp->dev->rota));
		srn_rtt_bound(&qp->rtt, took, timeout_ns(qp));
		srn_window_answered_again(w, took, timeout_ns(qp));
		return;
	}
	srn_rtt_sample(&qp->rtt, took);
	look_at_late(qp, look_at_queue(qp, took, now));
}

static void look_at_last(struct srn_qp *qp)
{
	struct srn_window *w = &qp->window;
	u64 now = ktime_get_ns();

	if (w->timed_again)
		srn_window_untime(w);
	else
		look_at_queue(qp, now - w->timed_ns, now);
}

static void look_at_delay(struct srn_qp *qp)
{
	srn_hello_later(&qp->peer);
	if (qp->window.timed_last)
		look_at_last(qp);
	else
		look_at_first(qp);
}

/* The peer is ahead of the cursor. */
static void jump(struct srn_qp *qp)
{
	u32 was = qp->window.cwnd, to;

	srn_resend_jumped(&qp->resend);
	to = srn_window_spare(&qp->window, srn_qp_sacks(qp));
	trace_srn_window(qp, was, to == qp->window.una ? SRN_WINDOW_COLLAPSED : SRN_WINDOW_SPARED);
	seek(qp, to);
}

void srn_retry_progress(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;

	retry->rewound = false;
	retry->probing = false;
	retry->rnr_wait = false;	/* the peer took what it had refused */
	retry->refused = false;
	retry->probes = 0;
	srn_retry_refill(qp);
	srn_lost_acked(qp);
	srn_gaps_acked(qp);
	while (srn_window_is_timed(&qp->window))	/* an answer's first, and its last */
		look_at_delay(qp);
	srn_resend_acked(&qp->resend, qp->window.una);
	if (srn_psn_diff(qp->window.una, qp->window.at.psn) > 0)
		jump(qp);
	else if (is_passed(qp))
		seek(qp, qp->window.una);
	srn_clock_clear(&qp->clock, SRN_ALARM_RNR);
	restart(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_progress);

void srn_retry_go_back(struct srn_qp *qp)
{
	seek(qp, qp->window.una);
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_go_back);

void srn_retry_late(struct srn_qp *qp)
{
	qp->retry.late = true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_late);

/* Send again from the oldest PSN on, or fail if that was done often enough. */
static void again(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;

	if (retry->retries) {
		retry->retries--;
		seek(qp, qp->window.una);
		return;
	}
	srn_count(qp->dev, SRN_CNT_RETRY_EXCEEDED);
	srn_sq_fail(qp, srn_sq_oldest(&qp->sq), SRN_V_RETRY_EXC);
}

/* Before an answer to what was sent again can be here, nothing that comes says that it was lost. */
static bool is_soon(struct srn_qp *qp, u64 now)
{
	return now - qp->retry.resent_ns < max_t(u64, qp->rtt.srtt_ns, SOON_NS);
}

static void note_gap(struct srn_qp *qp, u64 now)
{
	qp->retry.resent_ns = now;
	lose(qp, now);
}

/* Part of a READ's answer: it is asked for from there on, and what comes beyond it is taken. */
static void ask_from(struct srn_qp *qp, u32 psn)
{
	if (!srn_resend_ask(&qp->resend, psn))
		return;
	srn_count(qp->dev, SRN_CNT_IMPLIED_NAK);
	note_gap(qp, ktime_get_ns());
	restart(qp);
}

/* Uncharged, and the ACK timeout goes on: it ends what a peer could keep up for ever. */
void srn_retry_implied_again(struct srn_qp *qp, u32 psn)
{
	u64 now = ktime_get_ns();

	if (is_soon(qp, now))
		return;
	srn_resend_ask_again(&qp->resend, psn);
	note_gap(qp, now);
}

/* Go back and ask again, once. If that is lost too, the timer asks. */
void srn_retry_implied_nak(struct srn_qp *qp, u32 psn)
{
	if (srn_qp_holds(qp)) {
		ask_from(qp, psn);
		return;
	}
	if (qp->retry.rewound)
		return;
	srn_count(qp->dev, SRN_CNT_IMPLIED_NAK);
	qp->retry.rewound = true;
	lose(qp, ktime_get_ns());
	seek(qp, psn);
}

/* What is missing goes again, and the cursor stays where it is. The same gap once more: that was
 * lost too, which is not charged: the ACK timeout goes on. Returns false if the peer does not keep
 * what comes early.
 */
static bool fill_gap(struct srn_qp *qp)
{
	u32 una = qp->window.una, inflight = srn_window_inflight(&qp->window);
	u64 now = ktime_get_ns();

	if (!inflight)
		return true;	/* the cursor went back before it, and has yet to send it */
	if (qp->retry.rewound) {
		if (is_soon(qp, now))
			return true;
		if (!srn_resend_gap_again(&qp->resend, una, inflight))
			return false;
	} else {
		if (!srn_resend_gap(&qp->resend, una, inflight))
			return false;
		restart(qp);
	}
	note_gap(qp, now);
	qp->retry.rewound = true;
	return true;
}

/* Peers send one NAK for a gap: a second one says that what was resent got lost too,
 * and costs a retry as a timeout does.
 */
void srn_retry_nak(struct srn_qp *qp)
{
	/* What the peer refused it misses when the next packet comes: nothing was lost. Of what it
	 * holds more is known from its SACKs.
	 */
	if (qp->retry.rnr_wait || qp->score)
		return;
	if (srn_qp_holds(qp) && fill_gap(qp))
		return;
	if (qp->retry.rewound) {
		narrow(qp, srn_window_collapsed, SRN_WINDOW_COLLAPSED);
		srn_window_untime(&qp->window);
		again(qp);
	} else {
		lose(qp, ktime_get_ns());
		seek(qp, qp->window.una);
	}
	qp->retry.rewound = true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_nak);

/* It is no progress of what is oldest, but the peer is there, and what is lost goes again. */
void srn_retry_heard(struct srn_qp *qp)
{
	struct srn_window *w = &qp->window;

	qp->retry.probes = 0;
	/* Of a READ that says that its request is there, and nothing of the answer behind the first packet. */
	if (w->timed && !w->timed_last && srn_psns_has(&qp->score->has, w->timed_psn)) {
		w->timed_rest = 0;
		look_at_delay(qp);
	}
	restart(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_heard);

/* No progress of what is oldest either: the local ACK timeout runs on. */
void srn_retry_early(struct srn_qp *qp, u32 psn)
{
	if (qp->window.timed && qp->window.timed_psn == psn)
		look_at_delay(qp);
}

/* Once for each that is the oldest: who answers a little now and then has no more time for it. */
void srn_retry_asked(struct srn_qp *qp)
{
	restart(qp);
}

void srn_retry_rnr(struct srn_qp *qp, u8 code)
{
	struct srn_retry *retry = &qp->retry;

	/* Nothing was sent since the last one: it is of the same packets, or a copy. */
	if (retry->rnr_wait)
		return;
	if (!retry->rnr_retries) {
		srn_count(qp->dev, SRN_CNT_RNR_EXCEEDED);
		srn_sq_fail(qp, srn_sq_oldest(&qp->sq), SRN_V_RNR_EXC);
		return;
	}
	if (qp->rnr_retry != 7)		/* 7: without end (9.7.5.2.8) */
		retry->rnr_retries--;
	seek(qp, qp->window.una);
	srn_window_untime(&qp->window);
	/* A peer that is slow need not refuse a window each time: one packet asks. */
	retry->probing = retry->refused;
	retry->refused = true;
	retry->rewound = false;
	retry->rnr_wait = true;
	trace_srn_rnr_wait(qp, srn_rnr_ns(code));
	/* Alarms are never early: the peer's minimum is kept. */
	srn_clock_set(&qp->clock, SRN_ALARM_RNR, srn_rnr_ns(code));
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_rnr);

/* Who answers copies of what was answered long ago has yet to come to what is waited for: a queue that
 * became slow holds them all. A peer that says so for ever is not waited for for ever.
 */
static bool is_late(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;
	bool late = retry->late && retry->late_num < qp->retry_cnt;

	retry->late = false;
	retry->late_num += late;
	return late;
}

static void timed_out(struct srn_qp *qp)
{
	u32 was = qp->window.cwnd;

	srn_count(qp->dev, SRN_CNT_TIMEOUT);
	srn_note_timeout(qp);
	qp->retry.rewound = false;
	srn_window_silent(&qp->window, used(qp));
	trace_srn_window(qp, was, SRN_WINDOW_COLLAPSED);
	if (is_late(qp))
		seek(qp, qp->window.una);
	else
		again(qp);
	/* Silence may be a lost tail, a lost ACK, or a peer that is late.
	 * One packet finds out; a window sent again for nothing would
	 * make a late peer later.
	 */
	qp->retry.probing = true;
}

static void probe(struct srn_qp *qp)
{
	trace_srn_silence(qp, true);
	if (qp->window.unasked && !qp->retry.probes) {
		srn_lazy_silent(&qp->req.lazy);
		/* Until now nobody was asked. */
		qp->retry.waited_ns = 0;
	}
	qp->retry.probes++;
	srn_lost_missed(qp);
	srn_hello_later(&qp->peer);
	srn_resend_probe(&qp->resend);
	await(qp, 0);
}

/* What is to go again has not gone: nobody can have answered it. The oldest goes when the pace
 * opens, so that is waited for once; a peer that has it sent again for ever is not.
 */
static bool excuse(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;

	if (likely(!srn_pace_is_closed(&qp->pace)) || retry->excused ||
	    !(qp->score || qp->gaps || srn_resend_any(&qp->resend)))
		return false;
	retry->excused = true;
	await(qp, srn_pace_opens_in(&qp->pace, ktime_get_ns()));
	return true;
}

static void silent(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;

	if (!srn_window_inflight(&qp->window) ||
	    (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD))
		return;
	if (!qp->timeout && !srn_qp_holds(qp))	/* modified since */
		return;
	if (excuse(qp))
		return;
	retry->waited_ns += retry->step_ns;
	if (retry->waited_ns < ack_timeout(qp))
		probe(qp);
	else
		timed_out(qp);
}

void srn_retry_alarm(struct srn_qp *qp, unsigned int due)
{
	if (due & BIT(SRN_ALARM_RNR))
		qp->retry.rnr_wait = false;
	if (due & BIT(SRN_ALARM_ACK))
		silent(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_retry_alarm);
