// SPDX-License-Identifier: GPL-2.0-only
/* Execution of RC and UC requests that passed their checks. */
#include "arrival.h"

#include "ack.h"
#include "atomic.h"
#include "limits.h"
#include "mem.h"
#include "mw.h"
#include "qp.h"
#include "rq.h"
#include "sgl.h"

static enum srn_verdict place(struct srn_arrival *a)
{
	unsigned int from = srn_pkt_payload(a->skb);
	enum srn_verdict v;
	struct srn_sgl sgl;

	if (!a->pkt->len)
		return SRN_OK;
	if (a->info->op == SRN_OP_WRITE) {
		srn_mem_write_skb(a->mem, a->range.va + a->offset, a->skb, from, a->pkt->len);
		return SRN_OK;
	}
	sgl = srn_rq_sgl(a->qp);
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
	return srn_mem_invalidate(&a->qp->windows, cqe->inv_rkey, true) ? SRN_V_REM_ACCESS : SRN_OK;
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
	} else if (a->last->hdrs & SRN_HDR_IETH) {
		v = invalidate(a, &cqe);
	}
	if (!v)
		srn_rq_complete(a->qp, &cqe, a->pkt->flags & SRN_PKT_SE);
	return v;
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
	v = a->end ? complete_receive(a) : SRN_OK;
	if (v)
		return v;
	/* What the program was not told, since its CQ is full, the peer is not told either: no ACK, no MSN. */
	if (unlikely(a->qp->state == IB_QPS_ERR))
		return SRN_OK;
	srn_arrival_done(a, a->pkt->more + 1);
	if (a->qp->svc->reliable)
		srn_ack_done(a->qp, srn_pkt_last_psn(a->skb),
			     a->ack_owed || (a->pkt->flags & SRN_PKT_ACKREQ));
	return SRN_OK;
}

/* The READ counts as done from here on: a duplicate of it must not move the MSN. */
static enum srn_verdict execute_read(struct srn_arrival *a)
{
	u32 npsn = srn_replay_npsn(a->range.len, a->qp->mtu);

	srn_arrival_done(a, npsn);
	srn_replay_add_read(&a->qp->resp.replay, a->pkt->psn, npsn, a->msg->msn, &a->range);
	/* More than a round sends: not in the time of who happens to receive here. */
	if (npsn > SRN_ROUND_BUDGET)
		a->qp->answer_later = true;
	return SRN_OK;
}

static u64 do_atomic(const struct srn_arrival *a)
{
	const struct srn_atomic_eth *eth = srn_pkt_atomic(a->skb);
	u64 value;

	switch (a->info->op) {
	case SRN_OP_CMP_SWAP:
		return srn_atomic_cmp_swap(a->mem, a->range.va, be64_to_cpu(eth->compare),
					   be64_to_cpu(eth->swap_add));
	case SRN_OP_FETCH_ADD:
		return srn_atomic_fetch_add(a->mem, a->range.va, be64_to_cpu(eth->swap_add));
	default:
		/* check_length() saw eight bytes. */
		skb_copy_bits(a->skb, srn_pkt_payload(a->skb), &value, sizeof(value));
		srn_atomic_write(a->mem, a->range.va, value);
		return 0;
	}
}

static enum srn_verdict execute_atomic(struct srn_arrival *a)
{
	u64 orig = do_atomic(a);

	srn_arrival_done(a, 1);
	srn_replay_add_atomic(&a->qp->resp.replay, a->info->op, a->pkt->psn, a->msg->msn, orig);
	return SRN_OK;
}

enum srn_verdict srn_arrival_execute(struct srn_arrival *a)
{
	if (a->info->is_stream)
		return execute_data(a);
	if (a->info->op == SRN_OP_READ_REQ)
		return execute_read(a);
	return execute_atomic(a);
}
