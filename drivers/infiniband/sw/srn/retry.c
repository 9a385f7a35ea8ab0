// SPDX-License-Identifier: GPL-2.0-only
/* Going back, waiting, and giving up. */
#include "retry.h"

#include <linux/ktime.h>

#include "clock.h"
#include "qp.h"
#include "rnr.h"
#include "sq.h"
#include "stats.h"
#include "window.h"

void srn_retry_refill(struct srn_qp *qp)
{
	qp->retry.retries = qp->retry_cnt;
	qp->retry.rnr_retries = qp->rnr_retry;
}

void srn_retry_reset(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;

	retry->rnr_wait = false;
	retry->rewound = false;
	retry->probing = false;
	retry->refused = false;
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
	srn_clock_clear(&qp->clock, SRN_ALARM_RNR);
}

/* The local ACK timeout that was asked for (9.7.6.1.3), ns; of code 0, which means none, too. */
static u64 timeout_ns(const struct srn_qp *qp)
{
	return 4096ull << qp->timeout;
}

/* A requester may wait between one and four times the local ACK timeout
 * (9.7.6.1.3). The first loss is repaired after one; a peer that still does not
 * answer is short of time, and gets it before the retries are used up.
 */
static u64 ack_timeout(const struct srn_qp *qp)
{
	unsigned int used = qp->retry_cnt - qp->retry.retries;

	return timeout_ns(qp) << min(used, 2u);
}

void srn_retry_sent(struct srn_qp *qp)
{
	/* Runs from the oldest packet in flight, not from the latest. */
	if (srn_clock_is_set(&qp->clock, SRN_ALARM_ACK) || !qp->timeout) /* code 0: no timeout */
		return;
	srn_clock_set(&qp->clock, SRN_ALARM_ACK, ack_timeout(qp));
}

/* What is sent from here on has the whole timeout to be answered. */
static void seek(struct srn_qp *qp, u32 psn)
{
	srn_window_seek(&qp->window, (struct srn_cursor){
		.index = srn_sq_find(&qp->sq, psn), .psn = psn,
	});
	qp->retry.probing = false;
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
}

/* The peer is ahead of what was sent again, or the SQ of what was passed again. */
static bool is_behind(const struct srn_qp *qp)
{
	return srn_psn_diff(qp->window.una, qp->window.at.psn) > 0 ||
	       (s32)(qp->window.at.index - qp->sq.una) < 0;
}

/* What waits in queues on the way, in those of this host first of all, delays the answers,
 * and at the local ACK timeout all of it would be sent once more. So before that there is to
 * be less in them. The time that the path takes without queues does not count.
 */
static void look_at_delay(struct srn_qp *qp)
{
	u64 delay = srn_window_delay(&qp->window, ktime_get_ns());

	if (!qp->timeout || delay <= timeout_ns(qp) / 4)
		return;
	srn_count(qp->dev, SRN_CNT_LATE);
	srn_window_late(&qp->window);
}

void srn_retry_progress(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;

	retry->rewound = false;
	retry->probing = false;
	retry->rnr_wait = false;	/* the peer took what it had refused */
	retry->refused = false;
	srn_retry_refill(qp);
	if (srn_window_is_timed(&qp->window))
		look_at_delay(qp);
	if (is_behind(qp))
		seek(qp, qp->window.una);
	srn_clock_clear(&qp->clock, SRN_ALARM_RNR);
	srn_clock_clear(&qp->clock, SRN_ALARM_ACK);
	if (srn_window_inflight(&qp->window))
		srn_retry_sent(qp);
}

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

/* Ask again, once. If that is lost too, the timer asks. */
void srn_retry_implied_nak(struct srn_qp *qp, u32 psn)
{
	if (qp->retry.rewound)
		return;
	srn_count(qp->dev, SRN_CNT_IMPLIED_NAK);
	qp->retry.rewound = true;
	srn_window_lost(&qp->window);
	seek(qp, psn);
}

/* Peers send one NAK for a gap: a second one says that what was resent got lost too,
 * and costs a retry as a timeout does.
 */
void srn_retry_nak(struct srn_qp *qp)
{
	/* What the peer refused it misses when the next packet comes: nothing was lost. */
	if (qp->retry.rnr_wait)
		return;
	if (qp->retry.rewound) {
		srn_window_collapsed(&qp->window);
		again(qp);
	} else {
		srn_window_lost(&qp->window);
		seek(qp, qp->window.una);
	}
	qp->retry.rewound = true;
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
	/* A peer that is slow need not refuse a window each time: one packet asks. */
	retry->probing = retry->refused;
	retry->refused = true;
	retry->rewound = false;
	retry->rnr_wait = true;
	/* Alarms are never early: the peer's minimum is kept. */
	srn_clock_set(&qp->clock, SRN_ALARM_RNR, srn_rnr_ns(code));
}

static void timed_out(struct srn_qp *qp)
{
	if (!srn_window_inflight(&qp->window) ||
	    (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD))
		return;
	srn_count(qp->dev, SRN_CNT_TIMEOUT);
	qp->retry.rewound = false;
	srn_window_collapsed(&qp->window);
	again(qp);
	/* Silence may be a lost tail, a lost ACK, or a peer that is late.
	 * One packet finds out; a window sent again for nothing would
	 * make a late peer later.
	 */
	qp->retry.probing = true;
}

void srn_retry_alarm(struct srn_qp *qp, unsigned int due)
{
	if (due & BIT(SRN_ALARM_RNR))
		qp->retry.rnr_wait = false;
	if (due & BIT(SRN_ALARM_ACK))
		timed_out(qp);
}
