// SPDX-License-Identifier: GPL-2.0-only
/* Execution of RC and UC requests that passed their checks. */
#include "arrival.h"

#include "ack.h"
#include "atomic.h"
#include "sgl.h"
#include "mem.h"
#include "psn.h"
#include "qp.h"
#include "responder.h"
#include "rq.h"
#include "wire.h"

static enum srn_verdict place(struct srn_arrival *a)
{
	unsigned int from = srn_pkt_payload(a->skb);
	enum srn_verdict v;
	struct srn_sgl sgl;

	if (!a->pkt->len)
		return SRN_OK;
	if (a->info->op == SRN_OP_WRITE) {
		srn_mem_write_skb(a->mem, a->va + a->offset, a->skb, from, a->pkt->len);
		return SRN_OK;
	}
	sgl = srn_qp_sgl(a->qp, a->resp->rwqe.sge, a->resp->rwqe.num_sge);
	v = srn_sgl_write_skb(&sgl, a->offset, a->skb, from, a->pkt->len);
	switch (v) {
	case SRN_OK:
		return SRN_OK;
	case SRN_V_LOC_LEN:
		return SRN_V_RESP_LEN;
	default:
		return SRN_V_RESP_PROT;
	}
}

/* SEND with invalidate: before its completion, which says that the key is dead. */
static enum srn_verdict invalidate(struct srn_arrival *a, struct srn_cqe *cqe)
{
	cqe->inv_rkey = be32_to_cpu(srn_pkt_imm(a->skb));
	cqe->wc_flags |= SRN_WC_WITH_INV;
	return srn_mem_invalidate(a->qp->dev, a->qp->ibqp.pd, a->qp->ibqp.qp_num, cqe->inv_rkey,
				  true) ? SRN_V_REM_ACCESS : SRN_OK;
}

static enum srn_verdict complete_receive(struct srn_arrival *a)
{
	enum srn_verdict v = SRN_OK;
	struct srn_cqe cqe;

	if (a->info->op != SRN_OP_SEND && !srn_arrival_has_imm(a))
		return SRN_OK;
	srn_rq_cqe(a->qp, &cqe);
	cqe.byte_len = a->offset + a->pkt->len;
	if (a->info->op == SRN_OP_WRITE)
		cqe.opcode = IB_WC_RECV_RDMA_WITH_IMM;
	if (srn_arrival_has_imm(a)) {
		cqe.imm = srn_pkt_imm(a->skb);
		cqe.wc_flags |= SRN_WC_WITH_IMM;
	} else if (a->info->hdrs & SRN_HDR_IETH) {
		v = invalidate(a, &cqe);
	}
	if (!v)
		srn_rq_complete(a->qp, &cqe, a->pkt->flags & SRN_PKT_SE);
	return v;
}

static void end_message(struct srn_responder *resp)
{
	resp->cur_op = SRN_OP_NONE;
	resp->received = 0;
	resp->msn = (resp->msn + 1) & SRN_AETH_MSN;
}

static void continue_message(const struct srn_arrival *a)
{
	struct srn_responder *resp = a->resp;

	resp->cur_op = a->info->op;
	resp->va = a->va;
	resp->rkey = a->rkey;
	resp->dma_len = a->total;
	resp->received = a->offset + a->pkt->len;
}

static enum srn_verdict execute_data(struct srn_arrival *a)
{
	enum srn_verdict v = place(a);

	if (v)
		return v;
	/* Not held while a completion handler runs, which may post what invalidates it. */
	if (a->mem)
		srn_mem_put(a->mem);
	a->mem = NULL;
	if (!a->end) {
		continue_message(a);
	} else {
		v = complete_receive(a);
		if (v)
			return v;
		end_message(a->resp);
	}
	a->resp->psn = srn_psn_add(a->pkt->psn, 1);
	if (a->qp->ibqp.qp_type == IB_QPT_RC)
		srn_ack_done(a->qp, a->pkt->psn,
			     a->ack_owed || (a->pkt->flags & SRN_PKT_ACKREQ));
	return SRN_OK;
}

/* The READ counts as done from here on: a duplicate of it must not move the MSN. */
static enum srn_verdict execute_read(struct srn_arrival *a)
{
	end_message(a->resp);
	srn_replay_add_read(a->qp, a->pkt->psn, a->va, a->rkey, a->total);
	a->resp->psn = srn_psn_add(a->pkt->psn, srn_replay_npsn(a->total, a->qp->mtu));
	return SRN_OK;
}

static u64 do_atomic(const struct srn_arrival *a)
{
	const struct srn_atomic_eth *eth = srn_pkt_atomic(a->skb);
	u64 value;

	switch (a->info->op) {
	case SRN_OP_CMP_SWAP:
		return srn_atomic_cmp_swap(a->mem, a->va, be64_to_cpu(eth->compare),
					   be64_to_cpu(eth->swap_add));
	case SRN_OP_FETCH_ADD:
		return srn_atomic_fetch_add(a->mem, a->va, be64_to_cpu(eth->swap_add));
	default:
		/* check_length() saw eight bytes. */
		skb_copy_bits(a->skb, srn_pkt_payload(a->skb), &value, sizeof(value));
		srn_atomic_write(a->mem, a->va, value);
		return 0;
	}
}

static enum srn_verdict execute_atomic(struct srn_arrival *a)
{
	u64 orig = do_atomic(a);

	end_message(a->resp);
	srn_replay_add_atomic(a->qp, a->info->op, a->pkt->psn, orig);
	a->resp->psn = srn_psn_add(a->pkt->psn, 1);
	return SRN_OK;
}

enum srn_verdict srn_arrival_execute(struct srn_arrival *a)
{
	if (a->info->op == SRN_OP_SEND || a->info->op == SRN_OP_WRITE)
		return execute_data(a);
	if (a->info->op == SRN_OP_READ_REQ)
		return execute_read(a);
	return execute_atomic(a);
}
