// SPDX-License-Identifier: GPL-2.0-only
/* A place of one's own. */
#include "shift.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>

#include "stats.h"
#include "turn.h"
#include "wqe.h"

/* That one who finds that turns are not taken any more sends on their way. The one that is given its place does so,
 * too.
 */
#define RELEASED	16

/* Where nothing is asked in silence, and nobody gives up, a place might be kept for ever. After silence one packet
 * asks, of each.
 */
static bool takes_part(const struct srn_qp *qp)
{
	return srn_shift_is_wanted(qp) && (qp->timeout || srn_qp_holds(qp)) && !qp->retry.probing;
}

/* Who sends little, and waits for an answer each time, is no burden. */
static bool is_small(const struct srn_qp *qp, const struct srn_wqe *wqe)
{
	return wqe->length <= SRN_ROTA_SMALL && !srn_window_inflight(&qp->window);
}

/* More is posted: that will want a place in any case, and what goes with it is asked for once. */
static bool is_followed(const struct srn_qp *qp)
{
	return qp->sq.fetched - qp->window.at.index > 1;
}

/* Whether nobody needs turns any more, as when nothing was lost for long: from here on each one sees that. Who has a place
 * does so before it sends, and tells those that wait. With the lock.
 */
static bool finds_calm(struct srn_qp *qp)
{
	enum srn_rota_when when = READ_ONCE(qp->dev->rota);
	struct srn_rota *rota = &qp->known->path->rota;

	if (when == SRN_ROTA_LOSSY)
		srn_rota_calm(rota, ktime_get_ns());
	return srn_rota_is_free(rota, when);
}

static bool is_over(const struct srn_qp *qp)
{
	return srn_rota_is_over(&qp->known->path->rota, &qp->known->shift, 0, srn_shift_out(qp));
}

/* Where nobody waits the next shift begins. */
static bool goes_on(struct srn_qp *qp)
{
	struct srn_shift *shift = &qp->known->shift;

	if (likely(!is_over(qp) && !shift->due))
		return true;
	if (srn_rota_is_wanted(&qp->known->path->rota))
		return false;
	shift->sent = 0;
	shift->due = false;
	return true;
}

/* Others may have been on it since, and who was not among them begins. With the lock. */
static void take(struct srn_qp *qp)
{
	qp->known->shift.begins = false;
	if (!srn_window_inflight(&qp->window))
		srn_window_inherit(&qp->window, &qp->known->path->rota.legacy);
}

/* It was given the place that it waited for. */
static void begin(struct srn_qp *qp)
{
	spin_lock(&qp->known->path->rota_lock);
	take(qp);
	spin_unlock(&qp->known->path->rota_lock);
}

static bool is_on(const struct srn_qp *qp)
{
	/* Pairs with the release of who gives places. */
	return smp_load_acquire(&qp->known->shift.on);
}

/* What it has out is to be answered first. */
static bool is_silent(const struct srn_qp *qp)
{
	return qp->retry.probes && srn_window_inflight(&qp->window);
}

/* With the lock, without which it may be gone. */
static void wake(const struct srn_shift *shift)
{
	srn_turn_defer(container_of(shift, struct srn_known_user, shift)->turn, SRN_TURN_SQ);
}

/* With the lock. A place that it has is another one's then, who is told. */
static void give_up(struct srn_qp *qp)
{
	struct srn_shift *next = srn_rota_yield(&qp->known->path->rota, &qp->known->shift);

	if (next)
		wake(next);
}

static bool gets_place(struct srn_qp *qp)
{
	struct srn_known_path *path = qp->known->path;
	bool on, waited, calm;

	if (is_silent(qp))
		return false;
	/* Who is just told that it need not wait any more is not yet off the list: with the lock it is, and asks anew. */
	spin_lock(&path->rota_lock);
	waited = qp->known->shift.waits;
	calm = finds_calm(qp);
	if (calm)
		srn_rota_excuse(&path->rota, &qp->known->shift);
	on = !calm && srn_rota_ask(&path->rota, &qp->known->shift);
	if (on)
		take(qp);
	spin_unlock(&path->rota_lock);
	if (!on && !calm && !waited)
		srn_count(qp->dev, SRN_CNT_SHIFT_WAITS);
	return on || calm;
}

/* The path is far, or nothing is lost: who has a place goes on as if there were none, and so do those that wait. One of
 * them has that place then, and does the same.
 */
static void disband(struct srn_qp *qp)
{
	struct srn_known_path *path = qp->known->path;
	int i;

	spin_lock(&path->rota_lock);
	give_up(qp);
	for (i = 0; i < RELEASED && srn_rota_release(&path->rota, wake); i++)
		;
	spin_unlock(&path->rota_lock);
	srn_window_widen(&qp->window);
	srn_shift_share(qp);
}

/* Small messages, even a pack of them, are no burden: a connection begins as one of many with the first that is long, unless
 * those have let it grow.
 */
static void begin_in_crowd(struct srn_qp *qp)
{
	if (qp->window.lent)
		return;
	qp->known->shift.fresh = false;
	if (qp->window.cwnd <= SRN_WINDOW_FEW)
		srn_window_start_in_crowd(&qp->window);
}

bool srn_shift_ask(struct srn_qp *qp, const struct srn_wqe *wqe)
{
	bool may;

	srn_turn_assert_owned(&qp->turn);
	if (srn_shift_begins(qp, wqe))
		begin_in_crowd(qp);
	if (unlikely(srn_rota_is_free(&qp->known->path->rota, READ_ONCE(qp->dev->rota)))) {
		if (is_on(qp))
			disband(qp);
		return true;
	}
	/* Also who takes no part any more: others wait for its place. Who was given it while there were few enough of
	 * them not to ask may have had its turn by now, and begins all the same.
	 */
	if (is_on(qp)) {
		if (qp->known->shift.begins)
			begin(qp);
		may = goes_on(qp);
	} else {
		may = !takes_part(qp) || (is_small(qp, wqe) && !is_followed(qp)) || gets_place(qp) ||
		      is_small(qp, wqe);
	}
	qp->known->shift.stopped = !may;
	return may;
}
EXPORT_SYMBOL_IF_KUNIT(srn_shift_ask);

/* To who waits longest; who has more to send stands behind all others for that. */
static void pass_on(struct srn_qp *qp, bool more)
{
	struct srn_known_path *path = qp->known->path;

	give_up(qp);
	/* Nobody waits any more, or need not. */
	if (more && (!takes_part(qp) || srn_rota_ask(&path->rota, &qp->known->shift)))
		wake(&qp->known->shift);
}

/* One probe, or one answer, may be lost as what it asks for was; and a full queue may take longer than one waits before
 * it asks: what is out is in it, and is not to be followed by another one's.
 */
static bool is_lost(const struct srn_qp *qp)
{
	return qp->retry.probes >= SRN_ROTA_SILENT || (qp->retry.probing && !srn_qp_holds(qp));
}

/* Who is paced, or is answered slowly, has few bytes in much time; and one packet of many may never be answered. At
 * the end of a round, whose last packet has asked for an answer.
 */
static bool is_long(struct srn_qp *qp)
{
	struct srn_shift *shift = &qp->known->shift;
	u64 kept;

	/* Nobody does most of the time, and the clock is dear. */
	if (!srn_rota_is_wanted(&qp->known->path->rota)) {
		shift->wanted_ns = 0;
		shift->due = false;
		return false;
	}
	kept = srn_rota_kept_ns(&qp->known->path->rota, shift, ktime_get_ns());
	shift->due = kept >= srn_rota_due_ns(qp->rtt.srtt_ns);
	return kept >= srn_rota_last_ns(qp->rtt.srtt_ns);
}

/* @stopped: it had to wait in this round. If it was given the place since then there will be another one. */
static bool is_done(struct srn_qp *qp, bool stopped)
{
	if (!is_on(qp) || (stopped && qp->known->shift.begins))
		return false;
	return !srn_window_inflight(&qp->window) || is_lost(qp) || is_long(qp);
}

void srn_shift_yield(struct srn_qp *qp)
{
	bool more = qp->known->shift.stopped, out = srn_window_inflight(&qp->window);
	struct srn_known_path *path = qp->known->path;

	srn_turn_assert_owned(&qp->turn);
	qp->known->shift.stopped = false;
	if (!is_done(qp, more))
		return;
	if (out)
		srn_count(qp->dev, SRN_CNT_SHIFT_STALLS);
	else if (more)
		srn_count(qp->dev, SRN_CNT_SHIFT_WAITS);
	spin_lock(&path->rota_lock);
	/* A window that silence has just shut says nothing of the path. */
	if (!out && !qp->known->shift.begins && !qp->retry.probing)
		srn_window_leave(&qp->window, &path->rota.legacy);
	/* Who waits asks no more, and each holder may have its full shift before one gets a place: so who gives up looks, too. */
	finds_calm(qp);
	if (srn_rota_is_wanted(&path->rota))
		srn_shift_share(qp);
	pass_on(qp, more && !out);
	spin_unlock(&path->rota_lock);
}
EXPORT_SYMBOL_IF_KUNIT(srn_shift_yield);

void srn_shift_leave(struct srn_qp *qp)
{
	struct srn_known_user *known = qp->known;

	srn_turn_assert_owned(&qp->turn);
	if (!known)
		return;
	known->shift.stopped = false;
	/* In this order: who is given a place has it before it waits no more. */
	if (!smp_load_acquire(&known->shift.waits) && !is_on(qp))
		return;
	spin_lock_bh(&known->path->rota_lock);
	pass_on(qp, false);
	spin_unlock_bh(&known->path->rota_lock);
}
EXPORT_SYMBOL_IF_KUNIT(srn_shift_leave);
