// SPDX-License-Identifier: GPL-2.0-only
/* Scoreboards: their memory, and what is the same for both. */
#include "board.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "clock.h"
#include "known.h"
#include "psn.h"
#include "qp.h"
#include "reorder.h"
#include "trace.h"
#include "window.h"

/* As wire.rst has it. */
static_assert(sizeof(struct srn_score) <= SZ_8K);
static_assert(sizeof(struct srn_psns) <= SZ_2K);

/* What will be due is not looked at all the time. */
#define WATCH_MIN_NS	(50 * NSEC_PER_USEC)

struct srn_score_wait srn_board_wait(const struct srn_qp *qp)
{
	return (struct srn_score_wait){
		.reorder = srn_reorder_ns(&qp->order, qp->rtt.srtt_ns),
		.again = srn_rtt_again_ns(&qp->rtt),
		.soon = qp->rtt.srtt_ns / 2,
	};
}
EXPORT_SYMBOL_IF_KUNIT(srn_board_wait);

struct srn_score *srn_board_get(struct srn_qp *qp, struct srn_score **board)
{
	struct srn_score *s = *board;

	if (s)
		return s;
	if (!srn_hold_take_room(qp->dev, sizeof(*s)))
		return NULL;
	s = kmalloc(sizeof(*s), GFP_ATOMIC | __GFP_NOWARN);
	if (!s) {
		srn_hold_give_back(qp->dev, sizeof(*s));
		return NULL;
	}
	srn_score_start(s, qp->window.una);
	*board = s;
	return s;
}
EXPORT_SYMBOL_IF_KUNIT(srn_board_get);

void srn_board_drop(struct srn_qp *qp, struct srn_score **board)
{
	if (likely(!*board))
		return;
	kfree(*board);
	srn_hold_give_back(qp->dev, sizeof(**board));
	*board = NULL;
	if (!qp->score && !qp->gaps)
		srn_clock_clear(&qp->clock, SRN_ALARM_GAP);
}
EXPORT_SYMBOL_IF_KUNIT(srn_board_drop);

/* A packet that was overtaken and came by itself was late, not the path long. */
static void untime_holes(struct srn_window *w, const struct srn_score *s)
{
	if (w->timed && srn_psn_diff(w->timed_psn, s->high) < 0)
		srn_window_untime(w);
}

/* Where much is lost, and what goes is what was lost, nothing is timed for long. If a queue has grown meanwhile all
 * would be taken for lost again, and go again, many times in the time of one answer.
 */
void srn_board_heard(struct srn_qp *qp, struct srn_score *s)
{
	u64 took = s->watches ? srn_score_took(s, ktime_get_ns()) : 0;

	if (unlikely(took))
		srn_rtt_longer(&qp->rtt, took, srn_rtt_asked_ns(qp->timeout));
}

bool srn_board_acked(struct srn_qp *qp, struct srn_score *s)
{
	untime_holes(&qp->window, s);
	if (srn_score_acked(s, qp->window.una))
		srn_reorder_seen(&qp->order);
	srn_board_heard(qp, s);
	if (!srn_score_is_over(s))
		return true;
	if (s->resent)
		srn_reorder_lost(&qp->order);
	return false;
}

/* What went last may find twice the queue that was seen. */
static u64 drain_span_ns(const struct srn_qp *qp, const struct srn_score_wait *wait)
{
	return wait->again + 2 * qp->window.crowd.delay_ns;
}

/* While a queue drains nothing new goes, so nothing would show that the last of what was out is lost:
 * what was not heard of by then is.
 */
static void conclude(struct srn_qp *qp, const struct srn_score_wait *wait, u64 now)
{
	u32 out = srn_window_drained(&qp->window, drain_span_ns(qp, wait), now);
	u32 end = srn_psn_add(qp->window.una, min_t(u32, out, SRN_PSNS - 1));

	if (qp->score)
		srn_score_reached(qp->score, end, wait, now);
	if (qp->gaps)
		srn_score_reached(qp->gaps, end, wait, now);
}

u32 srn_board_pick(struct srn_qp *qp, struct srn_score *s, u64 now_ns, u32 *psn)
{
	struct srn_score_wait wait = srn_board_wait(qp);
	u32 len;

	conclude(qp, &wait, now_ns);
	len = srn_score_pick(s, &wait, now_ns, psn);
	return len && srn_window_is_out(&qp->window, *psn) ? len : 0;
}

/* Less in flight for a gap, as for the first NAK of one. */
void srn_board_sent(struct srn_qp *qp, struct srn_score *s, u64 now_ns, u32 psn, u32 len)
{
	struct srn_window *w = &qp->window;
	u32 was = w->cwnd;

	srn_window_lost(w, len, srn_score_tried_ns(s, psn), now_ns);
	srn_known_lost(qp->known, &w->crowd, now_ns);
	trace_srn_window(qp, was, SRN_WINDOW_LOST);
	srn_window_untime_run(w, psn, len);
	srn_score_sent(s, psn, len, w->at.psn, now_ns);
}
EXPORT_SYMBOL_IF_KUNIT(srn_board_sent);

static u64 due_of(const struct srn_score *s, const struct srn_score_wait *wait, u64 now)
{
	return s ? srn_score_due(s, wait, now) : U64_MAX;
}

void srn_board_watch(struct srn_qp *qp, u64 now_ns)
{
	struct srn_score_wait wait = srn_board_wait(qp);
	u64 due = min(due_of(qp->score, &wait, now_ns) ?: U64_MAX,
		      due_of(qp->gaps, &wait, now_ns) ?: U64_MAX);

	if (qp->window.tail && (qp->score || qp->gaps))
		due = min(due, drain_span_ns(qp, &wait));
	if (due != U64_MAX)
		srn_clock_set(&qp->clock, SRN_ALARM_GAP, max_t(u64, due, WATCH_MIN_NS));
}
EXPORT_SYMBOL_IF_KUNIT(srn_board_watch);
