// SPDX-License-Identifier: GPL-2.0-only
/* Local ACK timeout and RNR wait. */
#include "retry.h"

#include "completer.h"
#include "qp.h"
#include "sq.h"

/* Hundredths of a millisecond of each RNR timer code (IBTA vol. 1, table 45). */
static const u32 rnr_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

u64 srn_rnr_ns(u8 code)
{
	return (u64)rnr_10us[code & 31] * 10 * NSEC_PER_USEC;
}

static enum hrtimer_restart fired(struct hrtimer *timer)
{
	struct srn_qp *qp = container_of(timer, struct srn_qp, retry.timer);

	srn_turn_kick(&qp->turn, SRN_TURN_TIMER);
	return HRTIMER_NORESTART;
}

static void arm(struct srn_retry *retry, ktime_t when)
{
	retry->armed = when;
	hrtimer_start(&retry->timer, when, HRTIMER_MODE_ABS_SOFT);
}

static void set_deadline(struct srn_retry *retry, u64 ns)
{
	retry->deadline = ktime_add_ns(ktime_get(), ns);
	/* Armed for earlier: it will look at the deadline when it fires. */
	if (!retry->armed || ktime_before(retry->deadline, retry->armed))
		arm(retry, retry->deadline);
}

/* A requester may wait between one and four times the local ACK timeout
 * (9.7.6.1.3). The first loss is repaired after one; a peer that still does not
 * answer is short of time, and gets it before the retries are used up.
 */
static u64 ack_timeout(const struct srn_qp *qp)
{
	unsigned int used = qp->retry_cnt - qp->req.retries;

	return (4096ull << qp->timeout) << min(used, 2u);
}

void srn_retry_ack_timer(struct srn_qp *qp)
{
	/* Runs from the oldest packet in flight, not from the latest. */
	if (qp->retry.deadline || !qp->timeout)	/* code 0: no timeout */
		return;
	set_deadline(&qp->retry, ack_timeout(qp));
}

void srn_retry_rnr_timer(struct srn_qp *qp, u8 code)
{
	/* hrtimers never fire early: the peer's minimum is kept. */
	set_deadline(&qp->retry, srn_rnr_ns(code));
}

void srn_retry_room_timer(struct srn_qp *qp)
{
	set_deadline(&qp->retry, SRN_UNSENT_WAIT_NS);
}

void srn_retry_clear(struct srn_qp *qp)
{
	qp->retry.deadline = 0;
}

void srn_retry_again(struct srn_qp *qp)
{
	struct srn_requester *req = &qp->req;

	if (req->retries) {
		req->retries--;
		req->rewound = false;
		srn_requester_seek(qp, req->una_psn);
		return;
	}
	srn_count(qp->dev, SRN_CNT_RETRY_EXCEEDED);
	srn_completer_fail(qp, srn_sq_wqe(qp, req->una), SRN_V_RETRY_EXC);
}

void srn_retry_expired(struct srn_qp *qp)
{
	struct srn_retry *retry = &qp->retry;

	retry->armed = 0;
	if (!retry->deadline)
		return;
	if (ktime_before(ktime_get(), retry->deadline)) {
		arm(retry, retry->deadline);
		return;
	}
	retry->deadline = 0;
	if (qp->req.rnr_wait)
		qp->req.rnr_wait = false;
	else if (srn_requester_inflight(qp) &&
		 (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)) {
		srn_count(qp->dev, SRN_CNT_TIMEOUT);
		srn_retry_again(qp);
		/* Silence may be a lost tail, a lost ACK, or a peer that is late.
		 * One packet finds out; a window sent again for nothing would
		 * make a late peer later.
		 */
		qp->req.probing = true;
	}
}

void srn_retry_init(struct srn_qp *qp)
{
	hrtimer_init(&qp->retry.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->retry.timer.function = fired;
}

void srn_retry_stop(struct srn_qp *qp)
{
	hrtimer_cancel(&qp->retry.timer);
	qp->retry.armed = 0;
	qp->retry.deadline = 0;
}
