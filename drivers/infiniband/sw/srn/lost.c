// SPDX-License-Identifier: GPL-2.0-only
/* SACKs to holes. */
#include "lost.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "board.h"
#include "hello.h"
#include "psn.h"
#include "qp.h"
#include "reorder.h"
#include "sack.h"
#include "score.h"
#include "spread.h"
#include "stats.h"
#include "trace.h"
#include "window.h"

static void note_out(struct srn_qp *qp)
{
	srn_window_set_out(&qp->window, srn_score_out(qp->score, qp->window.at.psn));
}

/* That the peer had room for little it said of what it held. */
void srn_lost_stop(struct srn_qp *qp)
{
	if (qp->score)
		srn_window_set_reach(&qp->window, max(qp->window.reach, qp->peer.ahead));
	srn_board_drop(qp, &qp->score);
	qp->window.gone = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_lost_stop);

/* A peer may let go of what it holds, and it tells of a hole in front of that first: what it said
 * before of PSNs behind this one is as old.
 */
void srn_lost_missed(struct srn_qp *qp)
{
	const u32 una = qp->window.una;

	if (!qp->score || !srn_psns_has(&qp->score->has, una))
		return;
	/* It was acknowledged, or one behind it was answered, and it is a READ's answer that is missing: a peer
	 * that names it again and again would else be sent what is behind it for ever.
	 */
	if ((qp->early.reached_any && srn_psn_diff(qp->early.reached, una) >= 0) || srn_early_holds(&qp->early))
		return;
	srn_lost_stop(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_lost_missed);

/* How much of a map behind @expected is of what is in flight: a peer can say anything. */
static u32 in_flight(const struct srn_window *w, u32 expected, u32 num)
{
	u32 all = min_t(u32, srn_window_inflight(w), SRN_PSNS - 1);
	s32 left = all - srn_psn_diff(expected, w->una) - 1;

	return clamp_t(s32, left, 0, num);
}

static void note_twice(struct srn_qp *qp, u32 twice)
{
	u32 more = srn_reorder_twice(&qp->order, twice);

	if (!more || !qp->order.resent)
		return;
	srn_count_add(qp->dev, SRN_CNT_VAIN, min(more, qp->order.resent));
	qp->order.resent -= min(more, qp->order.resent);
	srn_reorder_vain(&qp->order);
	srn_rtt_vain(&qp->rtt);
}

static void came(struct srn_qp *qp, u32 num)
{
	u32 was = qp->window.cwnd;

	srn_window_came(&qp->window, num);
	trace_srn_window(qp, was, SRN_WINDOW_GREW);
}

/* A READ in front of @expected waits for its answer; what is behind that has arrived. The map takes 1 KiB of stack:
 * what this calls from here on is short.
 */
bool srn_lost_heard(struct srn_qp *qp, u32 expected, struct sk_buff *skb)
{
	struct srn_window *w = &qp->window;
	struct srn_score_wait wait;
	struct srn_sack_map map;
	struct srn_sack sack;
	u32 num, added;
	bool any;

	if (!srn_sack_read(skb, &sack) || !srn_window_is_out(w, expected) || !srn_sack_read_map(skb, &map))
		return false;
	note_twice(qp, sack.twice);
	num = in_flight(w, expected, map.num);
	qp->peer.parts |= sack.parts;
	any = !bitmap_empty(map.bits, num) && srn_board_get(qp, &qp->score);
	/* How little it has room for is over with what it holds (srn_lost_stop()); of which nothing is known without
	 * memory, here or there, as if the SACK were lost.
	 */
	if (qp->score)
		srn_window_set_reach(w, clamp_t(u32, sack.ahead, SRN_WINDOW, SRN_HOLD_WIDE));
	if (!any)
		return false;
	wait = srn_board_wait(qp);
	added = srn_score_heard(qp->score, expected, map.bits, num, &wait, ktime_get_ns());
	srn_board_heard(qp, qp->score);
	note_out(qp);
	if (added)
		came(qp, added);
	return added;
}
EXPORT_SYMBOL_IF_KUNIT(srn_lost_heard);

/* Requests are executed in their order. This is of them alone: the answers in front of it stay missing (gaps.c). */
void srn_lost_answered(struct srn_qp *qp, u32 psn)
{
	static const unsigned long none[1];
	struct srn_score_wait wait;

	if (likely(!qp->score) || !srn_window_is_out(&qp->window, psn))
		return;
	wait = srn_board_wait(qp);
	if (srn_score_heard(qp->score, srn_psn_add(psn, 1), none, 0, &wait, ktime_get_ns()))
		note_out(qp);
	srn_board_heard(qp, qp->score);
}

static void refilled(struct srn_qp *qp)
{
	u32 was = qp->window.cwnd;

	srn_window_refilled(&qp->window);
	trace_srn_window(qp, was, SRN_WINDOW_SETTLED);
}

void srn_lost_acked(struct srn_qp *qp)
{
	if (likely(!qp->score))
		return;
	/* It holds nothing any more: that it had room for little is over. */
	if (srn_board_acked(qp, qp->score))
		note_out(qp);
	else
		srn_lost_stop(qp);
	if (srn_psn_diff(qp->window.at.psn, qp->window.una) >= 0)
		refilled(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_lost_acked);

/* Within the window, in which what is lost takes no room, once or more often. */
u32 srn_lost_next(struct srn_qp *qp, u64 now_ns, u32 *psn)
{
	struct srn_score_wait wait = srn_board_wait(qp);
	struct srn_window *w = &qp->window;
	struct srn_score *s = qp->score;
	u32 len = s ? srn_board_pick(qp, s, now_ns, psn) : 0;

	if (!len)
		return 0;
	note_out(qp);
	if (!srn_score_may_go(s, &wait, now_ns, srn_window_takes_again(w), srn_window_is_tight(w)))
		return 0;
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(srn_lost_next);

void srn_lost_sent(struct srn_qp *qp, u64 now_ns, u32 psn, u32 len)
{
	qp->order.resent += len;
	srn_board_sent(qp, qp->score, now_ns, psn, len);
	if (srn_spread_is_on(&qp->window))
		srn_spread_sent(&qp->window, qp->rtt.srtt_ns, len);
	note_out(qp);
}
EXPORT_SYMBOL_IF_KUNIT(srn_lost_sent);
