// SPDX-License-Identifier: GPL-2.0-only
/* What is sent again beside the cursor. */
#include "again.h"

#include <linux/ktime.h>
#include <linux/limits.h>
#include <rdma/ib_pack.h>

#include "board.h"
#include "build.h"
#include "build_request.h"
#include "gaps.h"
#include "hello.h"
#include "lost.h"
#include "psn.h"
#include "qp.h"
#include "resend.h"
#include "retry.h"
#include "segment.h"
#include "sq.h"
#include "stats.h"
#include "train.h"
#include "window.h"
#include "xmit.h"

/* Probes of what cannot be made again that tell what the peer has, before it fails, where no timeout ends that. */
#define PROBES_BARE	5

static struct srn_wqe *wqe_of(struct srn_qp *qp, u32 psn)
{
	return srn_sq_wqe(&qp->sq, srn_sq_find(&qp->sq, psn));
}

/* @most: PSNs, of the answer to a READ. */
static enum srn_verdict send(struct srn_qp *qp, u32 psn, u32 most, bool ask, bool follows,
			     struct srn_plan *plan)
{
	struct srn_wqe *wqe = wqe_of(qp, psn);
	struct sk_buff *skb;
	unsigned int flags;
	enum srn_verdict v;

	srn_segment(wqe, qp->svc, qp->mtu, psn, plan);
	srn_segment_part(qp->mtu, most, plan);
	flags = (ask ? SRN_BUILD_ACKREQ : 0) |
		(srn_plan_is_solicited(wqe, plan) ? SRN_BUILD_SE : 0);
	v = srn_build_request(qp, wqe, plan, flags, &skb);
	if (v)
		return v;
	srn_count(qp->dev, SRN_CNT_RETRANS);
	srn_train_add(&qp->req.train, &qp->path, skb, follows);
	return SRN_OK;
}

bool srn_again_ask(struct srn_qp *qp, u32 psn)
{
	struct srn_plan plan;

	return !send(qp, psn, U32_MAX, true, false, &plan);
}

/* Where an SGE of the oldest WR is dead by now, the cursor, which runs next, meets it and fails it. */
static void let_cursor_meet(struct srn_qp *qp, u32 psn, enum srn_verdict v)
{
	if (v != SRN_V_AGAIN && psn == qp->window.una)
		srn_retry_go_back(qp);
}

/* Without memory it is as if it were lost once more. */
static bool send_part(struct srn_qp *qp, u32 psn, u32 most, bool ask, bool follows,
		      struct srn_plan *plan)
{
	enum srn_verdict v = send(qp, psn, most, ask, follows, plan);

	if (v)
		let_cursor_meet(qp, psn, v);
	return !v;
}

static bool send_again(struct srn_qp *qp, u32 psn, bool ask, bool follows, struct srn_plan *plan)
{
	return send_part(qp, psn, U32_MAX, ask, follows, plan);
}

/* Of the oldest READ's answer; what is asked of later ones is not waited for yet. */
static void note_asked(struct srn_qp *qp, const struct srn_plan *plan)
{
	if (plan->psn == qp->window.una && srn_wqe_is_answered(wqe_of(qp, plan->psn)))
		srn_resend_asked(&qp->resend, plan->psn, srn_psn_add(plan->psn, plan->npsn));
}

/* What is missing in a row: only the last packet of it asks, and the last before a wait. */
static void send_run(struct srn_qp *qp, int *budget)
{
	struct srn_resend *r = &qp->resend;
	struct srn_plan plan;
	bool last;

	while (r->left && *budget > 0 && srn_window_is_out(&qp->window, r->psn)) {
		last = r->left == 1 || *budget == 1 ||
		       srn_psn_add(r->psn, 1) == qp->window.at.psn;
		--*budget;
		if (!send_again(qp, r->psn, last, !last, &plan) && !r->left)
			break;
		note_asked(qp, &plan);
		srn_resend_sent(r, plan.npsn);
	}
	if (!srn_window_is_out(&qp->window, r->psn))
		r->left = 0;
}

static void send_ask(struct srn_qp *qp, int *budget)
{
	struct srn_resend *r = &qp->resend;
	u32 psn = r->ask_psn;
	struct srn_plan plan;

	r->ask = false;
	if (!srn_window_is_out(&qp->window, psn) || !srn_wqe_is_answered(wqe_of(qp, psn)))
		return;
	if (send_again(qp, psn, true, false, &plan))
		note_asked(qp, &plan);
	--*budget;
}

/* The newest PSN in flight that is of no READ and no atomic; the oldest one if there is none. */
static u32 newest_plain(struct srn_qp *qp)
{
	u32 psn = srn_psn_add(qp->window.at.psn, -1);
	const struct srn_wqe *wqe;

	while (srn_window_is_out(&qp->window, psn)) {
		wqe = wqe_of(qp, psn);
		if (!srn_wqe_is_answered(wqe))
			return psn;
		psn = srn_psn_add(wqe->first_psn, -1);
	}
	return qp->window.una;
}

/* The last packet: if it is all that is lost, it is repaired, and if not, the answer names the
 * gap. Not a READ: of its answer all would come again; the last in front of it then, or of all that is lost
 * behind the oldest one the peer would hear nothing, and take one packet for each probe. The oldest one, where
 * the gap is known and what was sent for it is lost, and every third time: so that the answer to the one cannot
 * be lost for ever.
 */
static u32 probe_psn(struct srn_qp *qp)
{
	if (qp->retry.rewound || qp->score || qp->gaps || qp->resend.asked || qp->retry.probes % 3 == 0)
		return qp->window.una;
	return newest_plain(qp);
}

bool srn_again_ask_bare(struct srn_qp *qp, u32 psn)
{
	u32 before = srn_hello_psn(&qp->peer, qp->window.una);
	struct sk_buff *skb;

	if (!srn_window_has(&qp->window, psn) || srn_qp_signals(qp, wqe_of(qp, psn)) ||
	    srn_wqe_is_answered(wqe_of(qp, psn)) || before == SRN_HELLO_NO_PSN)
		return false;
	skb = srn_build(IB_OPCODE_RC_RDMA_WRITE_ONLY, SRN_BUILD_ALONE | SRN_BUILD_ACKREQ,
			qp->dest_qpn, before, 0);
	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return true;
	}
	srn_build_reth(skb, 0, 0, 0);
	srn_xmit(&qp->path, skb, NULL);
	return true;
}

/* Returns false if it is to be made again, so that it fails where that cannot be. */
static bool probe_bare(struct srn_qp *qp, u32 psn, enum srn_verdict v)
{
	if (v == SRN_V_AGAIN || (!qp->timeout && qp->retry.probes > PROBES_BARE) ||
	    !srn_again_ask_bare(qp, psn))
		return false;
	srn_count(qp->dev, SRN_CNT_RETRANS);
	srn_count(qp->dev, SRN_CNT_PROBES);
	return true;
}

/* Returns false if it could not be made again. */
static bool probe(struct srn_qp *qp, u32 psn, int *budget)
{
	struct srn_plan plan;
	enum srn_verdict v;

	--*budget;
	v = send(qp, psn, srn_gaps_oldest(qp), true, false, &plan);
	if (v) {
		if (!probe_bare(qp, psn, v))
			let_cursor_meet(qp, psn, v);
		return false;
	}
	srn_count(qp->dev, SRN_CNT_PROBES);
	/* The first one does not spoil a sample, which is too long at most and makes later ones rarer: where
	 * the path has become longer there would else be none for long.
	 */
	if (qp->retry.probes > 1)
		srn_window_time_again(&qp->window, plan.psn, plan.npsn);
	note_asked(qp, &plan);
	return true;
}

/* The second time the oldest goes, too: who tells of a gap once, by a NAK, and that was lost, is silent to
 * what is behind it.
 */
static void send_probe(struct srn_qp *qp, int *budget)
{
	u32 una = qp->window.una, psn;

	qp->resend.probe = false;
	if (!srn_window_is_out(&qp->window, una))
		return;
	psn = probe_psn(qp);
	if (probe(qp, psn, budget) && psn != una && qp->retry.probes == 2 && !qp->peer.sacks)
		probe(qp, una, budget);
}

/* All that is lost, each run of it behind the other; the last packet of a run asks, and the last
 * before a wait, and the last that the window lets go: what makes room is its answer.
 */
static void send_lost(struct srn_qp *qp, u64 now, int *budget)
{
	struct srn_plan plan;
	u32 psn, len;
	bool last;

	while (*budget > 0 && (len = srn_lost_next(qp, now, &psn))) {
		last = len == 1 || *budget == 1 || !srn_window_takes_two(&qp->window);
		--*budget;
		if (!send_again(qp, psn, last, !last, &plan) && !qp->score)
			break;
		srn_count(qp->dev, SRN_CNT_SACK_RETRANS);
		note_asked(qp, &plan);
		srn_retry_resent(&qp->retry, now);
		srn_lost_sent(qp, now, psn, min(len, plan.npsn));
	}
}

/* A gap of answers, as much of it as is of one request. Returns false if all is asked for anew. */
static bool ask_for(struct srn_qp *qp, u64 now, u32 psn, u32 len)
{
	const struct srn_wqe *wqe = wqe_of(qp, psn);
	struct srn_plan plan;

	if (!srn_wqe_is_answered(wqe)) {
		srn_gaps_skip(qp, psn, min_t(u32, len, srn_psn_diff(wqe->last_psn, psn) + 1));
		return true;
	}
	if (send_part(qp, psn, len, true, true, &plan))
		srn_count(qp->dev, SRN_CNT_IMPLIED_NAK);
	else if (!qp->gaps)
		return false;
	srn_retry_resent(&qp->retry, now);
	if (srn_gaps_sent(qp, now, psn, plan.npsn))
		srn_retry_asked(qp);
	return true;
}

/* All that is missing of answers. */
static void ask_for_gaps(struct srn_qp *qp, u64 now, int *budget)
{
	u32 psn, len;

	while (*budget > 0 && (len = srn_gaps_next(qp, now, &psn))) {
		--*budget;
		if (!ask_for(qp, now, psn, len))
			break;
	}
}

/* What becomes due meanwhile was not looked at: the alarm is of the same moment. */
static void send_missing(struct srn_qp *qp, int *budget)
{
	u64 now = ktime_get_ns();

	if (qp->score)
		send_lost(qp, now, budget);
	if (qp->gaps)
		ask_for_gaps(qp, now, budget);
	srn_board_watch(qp, now);
}

void srn_again_run(struct srn_qp *qp, int *budget)
{
	struct srn_resend *r = &qp->resend;

	if (qp->score || qp->gaps)
		send_missing(qp, budget);
	if (r->ask)
		send_ask(qp, budget);
	if (r->left)
		send_run(qp, budget);
	if (r->probe)
		send_probe(qp, budget);
}
