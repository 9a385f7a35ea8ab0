// SPDX-License-Identifier: GPL-2.0-only
/* When a requester asks for an ACK: with which packets, what it does where the last one did not ask, and when it waits
 * for what it asked before it sends more.
 */
#include "asking.h"

#include <kunit/visibility.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/minmax.h>

#include "again.h"
#include "gate.h"
#include "hello.h"
#include "lazy.h"
#include "limits.h"
#include "pace.h"
#include "psn.h"
#include "qp.h"
#include "retry.h"
#include "segment.h"
#include "shift.h"
#include "spread.h"
#include "sq.h"
#include "stats.h"
#include "window.h"

/* Without an ACK asked for this many packets, ask: keeps the window open. */
#define ACKREQ_EVERY	32u

/* A quarter of a window, at most, of runs that pass whole: there an ACK is as dear as a run. What passes whole as
 * far as the route tells may have a long way behind that.
 */
static u32 most_unasked(const struct srn_qp *qp, const struct srn_plan *plan)
{
	const struct srn_window *w = &qp->window;

	if (!plan->whole || w->crowd.least_ns >= SRN_WINDOW_PATH_NS)
		return ACKREQ_EVERY;
	/* Now, if the next one would be too many. */
	return max(w->full / 4 + 1 - min(plan->num, w->full / 4), ACKREQ_EVERY);
}

/* Where few may be out, twice for what is: only what asks is timed. */
static u32 ask_every(const struct srn_qp *qp, const struct srn_plan *plan)
{
	return min(qp->window.cwnd / 2, most_unasked(qp, plan));
}

/* Nothing is known of the path yet, and soon will be. Not with gbn, where nothing needs it early. */
static bool is_first(const struct srn_qp *qp)
{
	return !qp->rtt.srtt_ns && !qp->window.timed && !srn_window_inflight(&qp->window) &&
	       srn_qp_holds(qp);
}

/* Nothing is known to be lost, and nothing limits what may be out: no ACK is needed early. With gbn, or a timeout
 * shorter than the time to a probe, an ACK that nobody asked for costs a retry. And a place (shift.h) that nothing
 * more goes from would be kept from others until it came.
 */
static bool is_calm(const struct srn_qp *qp)
{
	return qp->state == IB_QPS_RTS && srn_retry_asks_first(qp) && !qp->credit.on &&
	       !srn_pace_is_on(&qp->pace) && !srn_spread_is_on(&qp->window) &&
	       !srn_window_is_narrow(&qp->window) &&
	       !qp->retry.rewound && !qp->retry.refused && !qp->score && !qp->gaps &&
	       !srn_shift_is_on(qp);
}

/* All that is out was asked about, and was not out before. (Behind silence some of it may not have been; then a probe
 * asks.) Half of it or more stands in queues, which are not empty before the rest may go: where the way is long it is
 * the window that limits, and each wait would take its time.
 */
bool srn_asking_waits_for_room(const struct srn_qp *qp)
{
	const struct srn_window *w = &qp->window;

	return srn_window_is_nearly_full(w) && !w->unasked && w->at.psn == w->end && w->cwnd <= w->full &&
	       srn_crowd_is_half_queue(&w->crowd) && !srn_window_reads(w) && !qp->retry.probes && is_calm(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_asking_waits_for_room);

/* Nothing that left before counts on it. */
static bool is_alone(const struct srn_qp *qp)
{
	return !qp->window.unasked || srn_lazy_rests(&qp->req.lazy, qp->window.at.psn);
}

/* Nothing that it has to do with completes by its ACK, and nothing is posted behind it: all that is was
 * fetched, as the caller has looked. Where the PSN in front of all that is out may come once more
 * (hello.h) it can be asked about without its bytes, which the program may have given up by then.
 */
static bool may_wait(const struct srn_qp *qp, const struct srn_wqe *wqe,
		     const struct srn_plan *plan)
{
	const struct srn_window *w = &qp->window;

	return !srn_qp_signals(qp, wqe) && plan->last && w->at.index + 1 == qp->sq.fetched &&
	       w->at.psn == w->end && !srn_wqe_is_answered(wqe) && is_alone(qp) &&
	       w->unasked + plan->num < SRN_LAZY_PSNS && srn_hello_psn(&qp->peer, w->una) != SRN_HELLO_NO_PSN &&
	       qp->sq.fetched - qp->sq.una <= qp->sq.max_wr / 2 && is_calm(qp);
}

/* Apart: of many that follow each other none comes here. */
static noinline enum srn_asking asks_as_last(const struct srn_qp *qp, const struct srn_wqe *wqe,
					     const struct srn_plan *plan)
{
	if (!may_wait(qp, wqe, plan))
		return SRN_ASKING_ASKS;
	return srn_lazy_spares(&qp->req.lazy) ? SRN_ASKING_SPARED : SRN_ASKING_PAUSED;
}

bool srn_asking_needs(const struct srn_qp *qp, const struct srn_plan *plan)
{
	const struct srn_window *w = &qp->window;

	return w->unasked + plan->num >= ask_every(qp, plan) || qp->retry.probing ||
	       srn_window_is_full(w, plan->npsn + 1) || is_first(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_asking_needs);

enum srn_asking srn_asking_of(const struct srn_qp *qp, const struct srn_wqe *wqe,
			      const struct srn_plan *plan, bool follows)
{
	if (!qp->svc->reliable)
		return SRN_ASKING_NOT;
	if (srn_asking_needs(qp, plan))
		return SRN_ASKING_ASKS;
	return follows ? SRN_ASKING_NOT : asks_as_last(qp, wqe, plan);
}
EXPORT_SYMBOL_IF_KUNIT(srn_asking_of);

void srn_asking_sent(struct srn_lazy *lazy, const struct srn_plan *plan, enum srn_asking asking)
{
	if (unlikely(asking == SRN_ASKING_PAUSED))
		srn_lazy_paused(lazy);
	if (srn_asking_asks(asking))
		srn_lazy_asked(lazy);
	else if (asking == SRN_ASKING_SPARED)
		srn_lazy_spared(lazy, srn_psn_add(plan->psn, plan->npsn));
}

/* The last packet did not ask for an ACK, as its successor would; but that cannot leave:
 * its memory is gone, the QP drains, or it waits for the ACK. Of a message that cannot go on none
 * is needed. Where none was to ask, and something waits all the same, it did not pay.
 */
static void ask(struct srn_qp *qp)
{
	u32 psn = srn_psn_add(qp->window.at.psn, -1);
	struct srn_wqe *wqe;

	while (srn_window_has(&qp->window, psn)) {
		wqe = srn_sq_wqe(&qp->sq, srn_sq_find(&qp->sq, psn));
		if (srn_wqe_is_answered(wqe))
			break;
		if (srn_again_ask(qp, psn))
			break;
		psn = srn_psn_add(wqe->first_psn, -1);
	}
	if (!srn_window_has(&qp->window, psn) && srn_again_ask_bare(qp, qp->window.una))
		srn_count(qp->dev, SRN_CNT_RETRANS);
	if (qp->req.lazy.skipped)
		srn_lazy_silent(&qp->req.lazy);
	srn_window_asked(&qp->window);
	srn_lazy_asked(&qp->req.lazy);
}

/* What has no completion may go on unasked, but nothing is to wait for it. */
static bool is_awaited(const struct srn_qp *qp)
{
	const struct srn_window *w = &qp->window;

	return !srn_lazy_rests(&qp->req.lazy, w->at.psn) || qp->state == IB_QPS_SQD ||
	       w->at.index != qp->sq.fetched;
}

/* Whether a round ends with packets in flight that nobody asked about, and somebody should. */
static bool must_ask(const struct srn_qp *qp)
{
	return qp->window.unasked && qp->svc->reliable &&
	       srn_window_inflight(&qp->window) && srn_gate_qp(qp) == SRN_GATE_OPEN &&
	       is_awaited(qp);
}

void srn_asking_end(struct srn_qp *qp)
{
	if (must_ask(qp))
		ask(qp);
}
