// SPDX-License-Identifier: GPL-2.0-only
/* Cutting messages into packets. */
#include "segment.h"

#include <kunit/visibility.h>
#include <rdma/ib_pack.h>

#include "psn.h"
#include "requester.h"
#include "wqe.h"

/* Base opcodes of a family by position; the service's bits are added. */
struct family {
	u8 first, middle, last, only;
};

/* RC numbering; UC has the same in its own range, UD knows ONLY. */
static const struct family send_plain = {
	IB_OPCODE_SEND_FIRST, IB_OPCODE_SEND_MIDDLE, IB_OPCODE_SEND_LAST, IB_OPCODE_SEND_ONLY
};

static const struct family send_imm = {
	IB_OPCODE_SEND_FIRST, IB_OPCODE_SEND_MIDDLE,
	IB_OPCODE_SEND_LAST_WITH_IMMEDIATE, IB_OPCODE_SEND_ONLY_WITH_IMMEDIATE
};

static const struct family send_inv = {
	IB_OPCODE_SEND_FIRST, IB_OPCODE_SEND_MIDDLE,
	IB_OPCODE_SEND_LAST_WITH_INVALIDATE, IB_OPCODE_SEND_ONLY_WITH_INVALIDATE
};

static const struct family write_plain = {
	IB_OPCODE_RDMA_WRITE_FIRST, IB_OPCODE_RDMA_WRITE_MIDDLE,
	IB_OPCODE_RDMA_WRITE_LAST, IB_OPCODE_RDMA_WRITE_ONLY
};

static const struct family write_imm = {
	IB_OPCODE_RDMA_WRITE_FIRST, IB_OPCODE_RDMA_WRITE_MIDDLE,
	IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE, IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE
};

static const struct family *family_of(u8 opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
		return &write_plain;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return &write_imm;
	case IB_WR_SEND_WITH_IMM:
		return &send_imm;
	case IB_WR_SEND_WITH_INV:
		return &send_inv;
	default:
		return &send_plain;
	}
}

static u8 service_of(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_UC:
		return IB_OPCODE_UC;
	case IB_QPT_RC:
		return IB_OPCODE_RC;
	default:
		return IB_OPCODE_UD;
	}
}

/* Opcodes of requests that are one packet whatever their length; 0 for others
 * (0 is SEND FIRST, which is never alone).
 */
static u8 single_opcode(u8 opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_READ:
		return IB_OPCODE_RC_RDMA_READ_REQUEST;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return IB_OPCODE_RC_COMPARE_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return IB_OPCODE_RC_FETCH_ADD;
	case IB_WR_ATOMIC_WRITE:
		return IB_OPCODE_RC_ATOMIC_WRITE;
	default:
		return 0;
	}
}

u32 srn_wqe_npsn(const struct srn_wqe *wqe, u32 mtu)
{
	u8 single = single_opcode(wqe->opcode);

	if (single && single != IB_OPCODE_RC_RDMA_READ_REQUEST)
		return 1;
	return wqe->length ? DIV_ROUND_UP(wqe->length, mtu) : 1;
}
EXPORT_SYMBOL_IF_KUNIT(srn_wqe_npsn);

void srn_segment(const struct srn_wqe *wqe, enum ib_qp_type type, u32 mtu, u32 psn,
		 struct srn_plan *plan)
{
	u32 index = srn_psn_diff(psn, wqe->first_psn);
	const struct family *f = family_of(wqe->opcode);
	u8 single = single_opcode(wqe->opcode);

	plan->psn = psn;
	plan->first = index == 0;
	plan->last = psn == wqe->last_psn;
	plan->npsn = 1;
	plan->offset = index * mtu;

	if (single == IB_OPCODE_RC_RDMA_READ_REQUEST) {
		plan->opcode = single;
		plan->first = true;
		/* Up to the end of its chunk, also when asked again from the middle:
		 * a responder repeats parts of requests that it had, nothing else.
		 */
		plan->npsn = min_t(u32, srn_psn_diff(wqe->last_psn, psn) + 1,
				   SRN_READ_CHUNK - index % SRN_READ_CHUNK);
		plan->len = min(wqe->length - plan->offset, plan->npsn * mtu);
		plan->last = srn_psn_add(psn, plan->npsn - 1) == wqe->last_psn;
		return;
	}
	plan->len = min(mtu, wqe->length - plan->offset);
	if (single) {
		plan->opcode = single;
		plan->len = wqe->opcode == IB_WR_ATOMIC_WRITE ? sizeof(u64) : 0;
		return;
	}
	if (plan->first)
		plan->opcode = plan->last ? f->only : f->first;
	else
		plan->opcode = plan->last ? f->last : f->middle;
	plan->opcode |= service_of(type);
}
EXPORT_SYMBOL_IF_KUNIT(srn_segment);
