// SPDX-License-Identifier: GPL-2.0-only
/* Cutting messages into packets. */
#include "segment.h"

#include <kunit/visibility.h>

#include "psn.h"
#include "service.h"
#include "wqe.h"
#include "wr_op.h"

/* Of a BTH opcode. */
#define SVC_BITS	0xe0

bool srn_plan_is_solicited(const struct srn_wqe *wqe, const struct srn_plan *plan)
{
	return plan->last && (wqe->flags & IB_SEND_SOLICITED) &&
	       srn_wr_ops[wqe->opcode].what & SRN_WR_EVENT;
}

u32 srn_wqe_npsn(const struct srn_wqe *wqe, u32 mtu)
{
	if (srn_wr_ops[wqe->opcode].what & SRN_WR_PACKET)
		return 1;
	return wqe->length ? DIV_ROUND_UP(wqe->length, mtu) : 1;
}
EXPORT_SYMBOL_IF_KUNIT(srn_wqe_npsn);

static void plan_single(const struct srn_wr_op *op, struct srn_plan *plan)
{
	plan->opcode |= op->only;
	plan->len = op->what & SRN_WR_WORD ? sizeof(u64) : 0;
}

/* Up to the end of its chunk, also when asked again from the middle: a responder
 * repeats parts of requests that it had, nothing else.
 */
static void plan_read(const struct srn_wqe *wqe, const struct srn_wr_op *op, u32 mtu,
		      struct srn_plan *plan)
{
	u32 index = srn_psn_diff(plan->psn, wqe->first_psn);

	plan->opcode |= op->only;
	plan->first = true;
	plan->npsn = min_t(u32, srn_psn_diff(wqe->last_psn, plan->psn) + 1,
			   wqe->chunk - index % wqe->chunk);
	plan->len = min(wqe->length - plan->offset, plan->npsn * mtu);
	plan->last = srn_psn_add(plan->psn, plan->npsn - 1) == wqe->last_psn;
}

static void plan_data(const struct srn_wqe *wqe, const struct srn_wr_op *op, u32 mtu,
		      struct srn_plan *plan)
{
	plan->len = min(mtu, wqe->length - plan->offset);
	if (plan->first)
		plan->opcode |= plan->last ? op->only : op->first;
	else
		plan->opcode |= plan->last ? op->last : op->middle;
}

void srn_segment(const struct srn_wqe *wqe, const struct srn_service *svc, u32 mtu, u32 psn,
		 struct srn_plan *plan)
{
	const struct srn_wr_op *op = &srn_wr_ops[wqe->opcode];
	u32 index = srn_psn_diff(psn, wqe->first_psn);

	plan->opcode = svc->code << 5;
	plan->psn = psn;
	plan->first = index == 0;
	plan->last = psn == wqe->last_psn;
	plan->npsn = 1;
	plan->num = 1;
	plan->whole = false;
	plan->offset = index * mtu;
	if (op->what & SRN_WR_PACKET)
		plan_single(op, plan);
	else if (op->what & SRN_WR_ANSWERED)
		plan_read(wqe, op, mtu, plan);
	else
		plan_data(wqe, op, mtu, plan);
	plan->end = plan->opcode;
}
EXPORT_SYMBOL_IF_KUNIT(srn_segment);

u32 srn_segment_requests(const struct srn_wqe *wqe)
{
	u16 what = srn_wr_ops[wqe->opcode].what;

	if (!(what & SRN_WR_ANSWERED) || what & SRN_WR_PACKET)
		return 1;
	return DIV_ROUND_UP(srn_psn_diff(wqe->last_psn, wqe->first_psn) + 1, wqe->chunk);
}
EXPORT_SYMBOL_IF_KUNIT(srn_segment_requests);

u32 srn_segment_left(const struct srn_wqe *wqe, const struct srn_plan *plan)
{
	if (srn_wr_ops[wqe->opcode].what & (SRN_WR_PACKET | SRN_WR_ANSWERED))
		return 1;
	return srn_psn_diff(wqe->last_psn, plan->psn) + 1;
}
EXPORT_SYMBOL_IF_KUNIT(srn_segment_left);

void srn_segment_part(u32 mtu, u32 npsn, struct srn_plan *plan)
{
	if (plan->npsn <= npsn)
		return;
	plan->npsn = npsn;
	plan->len = npsn * mtu;
	plan->last = false;
}

void srn_segment_run(const struct srn_wqe *wqe, u32 mtu, u32 num, struct srn_plan *plan)
{
	const struct srn_wr_op *op = &srn_wr_ops[wqe->opcode];
	u8 svc = plan->opcode & SVC_BITS;

	plan->num = num;
	plan->npsn = num;
	plan->last = srn_psn_add(plan->psn, num - 1) == wqe->last_psn;
	plan->len = min(num * mtu, wqe->length - plan->offset);
	plan->end = svc | (plan->last ? op->last : op->middle);
}
EXPORT_SYMBOL_IF_KUNIT(srn_segment_run);
