// SPDX-License-Identifier: GPL-2.0-only
/* Which answers are here, and which are asked for again. */
#include "gaps.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/limits.h>

#include "board.h"
#include "psn.h"
#include "qp.h"
#include "reorder.h"
#include "score.h"
#include "window.h"

/* More at once than a peer remembers to answer (replay.h) would be in vain: of new holes, and of pieces of those
 * that are lost again. What goes at one time counts as one.
 */
#define ASKED	(SRN_REPLAY_PARTS - SRN_SCORE_PIECES)

static void note_out(struct srn_qp *qp)
{
	srn_window_set_coming(&qp->window, srn_score_out(qp->gaps, qp->window.at.psn));
}

/* What was taken when there was no scoreboard. */
static void note_taken(struct srn_qp *qp)
{
	struct srn_score_wait wait = srn_board_wait(qp);
	u32 num = min_t(u32, srn_window_inflight(&qp->window), SRN_EARLY), i;
	u64 now = ktime_get_ns();

	for (i = 1; i < num; i++)
		if (srn_early_has(&qp->early, srn_psn_add(qp->window.una, i)))
			srn_score_came(qp->gaps, srn_psn_add(qp->window.una, i), &wait, now);
}

/* The one that @psn belongs to. What the cursor has to send again is asked for by that. */
static struct srn_score *board_of(struct srn_qp *qp, u32 psn)
{
	bool any = qp->gaps;

	if (!qp->peer.parts || !srn_window_is_out(&qp->window, psn) ||
	    !srn_board_get(qp, &qp->gaps))
		return NULL;
	if (any)
		return qp->gaps;
	qp->gaps->most = ASKED;
	if (qp->early.any)
		note_taken(qp);
	return qp->gaps;
}

void srn_gaps_stop(struct srn_qp *qp)
{
	srn_board_drop(qp, &qp->gaps);
	qp->window.came = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gaps_stop);

bool srn_gaps_reached(struct srn_qp *qp, u32 psn)
{
	struct srn_score *s = board_of(qp, psn);
	struct srn_score_wait wait;

	if (!s)
		return false;
	wait = srn_board_wait(qp);
	srn_score_reached(s, srn_psn_add(psn, 1), &wait, ktime_get_ns());
	note_out(qp);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gaps_reached);

void srn_gaps_came(struct srn_qp *qp, u32 psn)
{
	struct srn_score *s = board_of(qp, psn);
	struct srn_score_wait wait;

	if (!s)
		return;
	wait = srn_board_wait(qp);
	srn_score_came(s, psn, &wait, ktime_get_ns());
	srn_board_heard(qp, s);
	note_out(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_gaps_came);

/* Once for all that is missing: one queue that was longer than it looked makes many of them. */
bool srn_gaps_twice(struct srn_qp *qp)
{
	if (!qp->gaps)
		return false;
	if (!qp->gaps->resent || qp->gaps->vain)
		return true;
	qp->gaps->vain = true;
	srn_reorder_vain(&qp->order);
	srn_rtt_vain(&qp->rtt);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gaps_twice);

void srn_gaps_acked(struct srn_qp *qp)
{
	if (likely(!qp->gaps))
		return;
	if (srn_board_acked(qp, qp->gaps))
		note_out(qp);
	else
		srn_gaps_stop(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_gaps_acked);

/* Also where queues are minded: the requests are small, and much waits for the answers. */
u32 srn_gaps_next(struct srn_qp *qp, u64 now_ns, u32 *psn)
{
	struct srn_score_wait wait = srn_board_wait(qp);
	struct srn_score *s = qp->gaps;
	u32 len = s ? srn_board_pick(qp, s, now_ns, psn) : 0;

	if (!len)
		return 0;
	note_out(qp);
	if (!srn_score_may_go(s, &wait, now_ns, srn_window_takes_part(&qp->window), false))
		return 0;
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gaps_next);

void srn_gaps_skip(struct srn_qp *qp, u32 psn, u32 len)
{
	srn_score_skip(qp->gaps, psn, len);
	note_out(qp);
}

bool srn_gaps_sent(struct srn_qp *qp, u64 now_ns, u32 psn, u32 len)
{
	bool first = psn == qp->window.una && srn_psn_diff(psn, qp->gaps->next) >= 0;

	srn_board_sent(qp, qp->gaps, now_ns, psn, len);
	note_out(qp);
	return first;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gaps_sent);

u32 srn_gaps_oldest(const struct srn_qp *qp)
{
	const struct srn_score *s = qp->gaps;

	return s ? srn_psn_diff(srn_psns_next(&s->has, s->una, s->high), s->una) ?: 1 : U32_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gaps_oldest);
