// SPDX-License-Identifier: GPL-2.0-only
/* Which messages leave in one pack. */
#include "packing.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

#include "asking.h"
#include "build_request.h"
#include "mem.h"
#include "pace.h"
#include "pack.h"
#include "qp.h"
#include "run.h"
#include "segment.h"
#include "shift.h"
#include "spread.h"
#include "sq.h"
#include "train.h"
#include "window.h"
#include "wqe.h"

void srn_packing_leave(struct srn_qp *qp)
{
	if (likely(!qp->req.pack.skb))
		return;
	srn_window_take_back(&qp->window);
	srn_run_leave_pack(&qp->req.pack, &qp->req.train, &qp->path);
}

/* How many messages may leave as one, from the planned one on, of which there is another. */
static u32 pack_messages(struct srn_qp *qp, const struct srn_wqe *wqe,
			 const struct srn_plan *plan)
{
	const struct srn_wqe *next = srn_sq_wqe(&qp->sq, qp->window.at.index + 1);

	if (!plan->last || qp->window.doubt || qp->retry.probing || next->started ||
	    next->length > SRN_PACK_PAYLOAD || !srn_build_packs(qp, wqe, plan))
		return 1;
	if (!qp->req.pack_most)
		qp->req.pack_most = srn_run_messages(&qp->path);
	return qp->req.pack_most;
}

bool srn_packing_takes(const struct srn_qp *qp, const struct srn_wqe *wqe,
		       const struct srn_plan *plan)
{
	return srn_build_packs(qp, wqe, plan) &&
	       srn_pack_has_room(&qp->req.pack, plan->opcode, plan->len);
}

static enum srn_verdict begin_pack(struct srn_qp *qp, struct srn_wqe *wqe,
				   const struct srn_plan *plan, unsigned int flags, u32 most)
{
	const struct srn_wqe *next = srn_sq_wqe(&qp->sq, qp->window.at.index + 1);
	bool young = srn_window_is_young(&qp->window);
	struct srn_pack *pack = &qp->req.pack;
	enum srn_verdict v = srn_build_pack(qp, wqe, plan, flags, most, pack);

	/* A list is not to be several packs, each with an answer, where a window has not grown yet. */
	if (unlikely(young) && !v)
		srn_window_lend(&qp->window,
				srn_pack_alike(pack, plan->opcode, max(plan->len, next->length)));
	return v;
}

enum srn_verdict srn_packing_build(struct srn_qp *qp, struct srn_wqe *wqe,
				   const struct srn_plan *plan, unsigned int flags, bool follows)
{
	struct srn_pack *pack = &qp->req.pack;
	u32 most;

	if (pack->skb) {
		if (srn_packing_takes(qp, wqe, plan))
			return srn_build_packed(qp, wqe, plan, flags, pack);
		srn_packing_leave(qp);
	}
	most = follows ? pack_messages(qp, wqe, plan) : 1;
	return most > 1 ? begin_pack(qp, wqe, plan, flags, most) : SRN_V_AGAIN;
}

bool srn_packing_strands_next(const struct srn_qp *qp, u8 opcode, u32 len)
{
	const struct srn_wqe *next = srn_sq_wqe(&qp->sq, qp->window.at.index + 1);

	return srn_window_next_is_lent(&qp->window) &&
	       (next->length > SRN_PACK_PAYLOAD ||
		!srn_pack_has_room_for(&qp->req.pack, opcode, len, next->length));
}

/* Whether no packet is accounted for by itself. What else the requester asks at each step is answered
 * with the one before, which began the pack or was added, for all that are plain: while a round sends
 * nothing comes, so that neither state nor silence nor loss is another.
 */
static bool is_simple(const struct srn_qp *qp)
{
	return !qp->credit.on && !qp->score && !qp->gaps && !srn_pace_is_on(&qp->pace) &&
	       !srn_spread_is_on(&qp->window) && srn_shift_packs(qp);
}

/* Whether a WQE is a WRITE of one packet that is copied, and waits for nothing that is before it. */
static bool is_plain(const struct srn_qp *qp, const struct srn_wqe *wqe)
{
	return wqe->opcode == IB_WR_RDMA_WRITE && !wqe->status && !wqe->started && !wqe->done &&
	       !(wqe->flags & IB_SEND_FENCE) && wqe->length <= qp->mtu && srn_build_copies(wqe);
}

/* The WQE at @index if it was fetched and is plain, else NULL. */
static struct srn_wqe *plain_at(const struct srn_qp *qp, u32 index)
{
	struct srn_wqe *wqe = srn_sq_wqe(&qp->sq, index);

	return index != qp->sq.fetched && is_plain(qp, wqe) ? wqe : NULL;
}

/* Whether a plain WQE at the cursor may go, unasked for an ACK, if the next one is plain, too. Only RC packs. */
static bool goes_on(const struct srn_qp *qp)
{
	static const struct srn_plan one = { .npsn = 1, .num = 1 };
	const struct srn_window *w = &qp->window;

	return w->at.index + 1 - qp->sq.una < SRN_WINDOW_WQES && !srn_asking_needs(qp, &one);
}

/* False: the pack has no room for it, or its memory can't be read. */
static bool pack_plain(struct srn_qp *qp, struct srn_wqe *wqe, struct srn_mem **held)
{
	enum srn_verdict v = srn_build_write(qp, wqe, &qp->req.pack, held);

	if (v == SRN_V_AGAIN)
		return false;
	srn_sq_start(wqe, qp->window.at.psn, 1, 1);
	wqe->status = v;
	if (v)
		return false;
	srn_window_sent_one(&qp->window);
	srn_window_pass(&qp->window);
	return true;
}

void srn_packing_go_on(struct srn_qp *qp, int *budget)
{
	struct srn_wqe *wqe = is_simple(qp) ? plain_at(qp, qp->window.at.index) : NULL, *next;
	u32 num = qp->req.pack.num, bytes = qp->req.pack.bytes;
	bool lent = qp->window.lent;
	struct srn_mem *held = NULL;

	for (; wqe && *budget > 0 && goes_on(qp); wqe = next) {
		next = plain_at(qp, qp->window.at.index + 1);
		if (!next ||
		    (unlikely(lent) &&
		     srn_packing_strands_next(qp, IB_OPCODE_RC_RDMA_WRITE_ONLY, wqe->length)) ||
		    !pack_plain(qp, wqe, &held))
			break;
		--*budget;
	}
	srn_mem_let_go(&held);
	srn_shift_charge(qp, qp->req.pack.bytes - bytes, qp->req.pack.num - num);
	srn_train_charge(&qp->req.train, &qp->path, qp->req.pack.num - num,
			 qp->req.pack.bytes - bytes);
}
