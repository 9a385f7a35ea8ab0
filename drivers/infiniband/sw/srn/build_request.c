// SPDX-License-Identifier: GPL-2.0-only
/* A plan made into a packet: headers of the opcode, payload of the WQE. */
#include "build_request.h"

#include <kunit/visibility.h>
#include <rdma/ib_pack.h>

#include "build.h"
#include "opcode.h"
#include "pack.h"
#include "psn.h"
#include "qp.h"
#include "run.h"
#include "segment.h"
#include "wr_op.h"

static void put_headers(struct sk_buff *skb, struct srn_qp *qp, struct srn_wqe *wqe,
			const struct srn_plan *plan)
{
	const struct srn_wr_op *op = &srn_wr_ops[wqe->opcode];
	u16 hdrs = srn_opcodes[plan->opcode].hdrs;

	if (hdrs & SRN_HDR_DETH)
		/* A Q_Key with its upper bit set stands for the QP's own. */
		srn_build_deth(skb, wqe->ud.qkey & BIT(31) ? qp->qkey : wqe->ud.qkey,
			       qp->ibqp.qp_num);
	if (hdrs & SRN_HDR_RETH)
		/* A READ may be asked for in parts; a WRITE says at its start how long it is. */
		srn_build_reth(skb, wqe->rdma.addr + plan->offset, wqe->rdma.rkey,
			       op->what & SRN_WR_ANSWERED ? plan->len : wqe->length);
	if (hdrs & SRN_HDR_ATOMIC) {
		if (wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP)
			srn_build_atomic(skb, wqe->rdma.addr, wqe->rdma.rkey, wqe->rdma.swap,
					 wqe->rdma.compare_add);
		else
			srn_build_atomic(skb, wqe->rdma.addr, wqe->rdma.rkey,
					 wqe->rdma.compare_add, 0);
	}
	if (hdrs & SRN_HDR_IMM)
		srn_build_imm(skb, wqe->imm);
	if (hdrs & SRN_HDR_IETH)
		srn_build_ieth(skb, wqe->inv_rkey);
}

/* Of the last packet, all there is to say. */
static void put_run(struct sk_buff *skb, struct srn_qp *qp, struct srn_wqe *wqe,
		    const struct srn_plan *plan, unsigned int flags)
{
	u16 hdrs = srn_opcodes[plan->end].hdrs;
	struct srn_run run = {
		.num = plan->num,
		.each = qp->mtu,
		.opcode = plan->end,
		.flags = (flags & SRN_BUILD_ACKREQ ? SRN_PKT_ACKREQ : 0) |
			 (flags & SRN_BUILD_SE ? SRN_PKT_SE : 0),
	};

	if (hdrs & SRN_HDR_IMM)
		run.word = wqe->imm;
	else if (hdrs & SRN_HDR_IETH)
		run.word = cpu_to_be32(wqe->inv_rkey);
	srn_run_put(skb, &qp->path, &run);
}

/* Payload of a packet; @refs: as page references where that is possible. */
static enum srn_verdict put_payload(struct sk_buff *skb, struct srn_qp *qp, struct srn_wqe *wqe,
				    const struct srn_plan *plan, bool refs)
{
	bool word = srn_wr_ops[wqe->opcode].what & SRN_WR_WORD;
	struct srn_sgl sgl;
	void *to;

	if (!srn_opcodes[plan->opcode].has_payload || !plan->len)
		return SRN_OK;
	if (!refs || word || (wqe->flags & IB_SEND_INLINE)) {
		to = srn_build_payload(skb, plan->len);
		if (!to)
			return SRN_V_AGAIN;
	}
	if (word) {
		memcpy(to, &wqe->rdma.compare_add, sizeof(u64));
		return SRN_OK;
	}
	if (wqe->flags & IB_SEND_INLINE) {
		memcpy(to, wqe->data + plan->offset, plan->len);
		return SRN_OK;
	}
	sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);
	if (refs)
		return srn_sgl_attach(&sgl, plan->offset, skb, plan->len);
	return srn_sgl_read(&sgl, plan->offset, to, plan->len);
}

static enum srn_verdict make_packet(struct srn_qp *qp, struct srn_wqe *wqe,
				    const struct srn_plan *plan, unsigned int flags, bool refs,
				    struct sk_buff **skb)
{
	bool payload = srn_opcodes[plan->opcode].has_payload, run = plan->num > 1;
	u32 dqpn = qp->dest_qpn;
	enum srn_verdict v;

	if (srn_opcodes[plan->opcode].hdrs & SRN_HDR_DETH)
		dqpn = wqe->ud.qpn;
	if (run && !refs)
		return SRN_V_AGAIN;
	*skb = srn_build(plan->opcode, run ? 0 : flags, dqpn, plan->psn,
			 run ? sizeof(struct srn_run) : payload && !refs ? plan->len : 0);
	if (!*skb)
		return SRN_V_AGAIN;
	put_headers(*skb, qp, wqe, plan);
	if (run)
		put_run(*skb, qp, wqe, plan, flags);
	v = put_payload(*skb, qp, wqe, plan, refs);
	if (v) {
		kfree_skb(*skb);
		*skb = NULL;
	}
	return v;
}

/* Pages may be referenced only where the peer's answer proves that the data is
 * not needed any more: RC. UC and UD complete when they are sent. And only once: a
 * program that writes while we send makes an ICRC wrong, and would each time.
 */
bool srn_build_references(const struct srn_qp *qp, const struct srn_wqe *wqe,
			  const struct srn_plan *plan)
{
	bool again = srn_psn_diff(plan->psn, qp->window.end) < 0;

	return !again && qp->svc->reliable && plan->len >= SRN_REF_MIN &&
	       !(wqe->flags & IB_SEND_INLINE) && srn_opcodes[plan->opcode].has_payload;
}

enum srn_verdict srn_build_request(struct srn_qp *qp, struct srn_wqe *wqe,
				   const struct srn_plan *plan, unsigned int flags,
				   struct sk_buff **skb)
{
	bool refs = srn_build_references(qp, wqe, plan);
	enum srn_verdict v;

	v = make_packet(qp, wqe, plan, flags, refs, skb);
	/* Pages that can't be referenced, or too many pieces: copy. */
	if (v == SRN_V_AGAIN && refs && plan->num == 1)
		v = make_packet(qp, wqe, plan, flags, false, skb);
	return v;
}
EXPORT_SYMBOL_IF_KUNIT(srn_build_request);

bool srn_build_packs(const struct srn_qp *qp, const struct srn_wqe *wqe,
		     const struct srn_plan *plan)
{
	return srn_pack_may_have(plan->opcode) && plan->psn == qp->window.end &&
	       srn_build_copies(wqe);
}

enum srn_verdict srn_build_pack(struct srn_qp *qp, struct srn_wqe *wqe,
				const struct srn_plan *plan, unsigned int flags, u32 most,
				struct srn_pack *pack)
{
	const struct srn_wqe *next = srn_sq_wqe(&qp->sq, qp->window.at.index + 1);
	u32 waiting = qp->sq.fetched - qp->window.at.index;
	u32 size = srn_pack_size(plan->opcode, max(plan->len, next->length), min(waiting, most));
	enum srn_verdict v;
	struct sk_buff *skb;

	static_assert(SRN_REF_MIN <= SRN_PACK_PAYLOAD && SRN_MAX_INLINE <= SRN_PACK_PAYLOAD &&
		      SRN_PACK_PAYLOAD <= SRN_BUILD_LINEAR);
	skb = srn_build(plan->opcode, flags | SRN_BUILD_PACK, qp->dest_qpn, plan->psn, size);
	if (!skb)
		return SRN_V_AGAIN;
	put_headers(skb, qp, wqe, plan);
	v = put_payload(skb, qp, wqe, plan, false);
	if (v)
		kfree_skb(skb);
	else
		srn_pack_begin(pack, skb, plan->len, size, most);
	return v;
}

enum srn_verdict srn_build_packed(struct srn_qp *qp, struct srn_wqe *wqe,
				  const struct srn_plan *plan, unsigned int flags,
				  struct srn_pack *pack)
{
	u32 was = pack->skb->len;
	enum srn_verdict v;

	srn_pack_add(pack, plan->opcode,
		     (flags & SRN_BUILD_ACKREQ ? SRN_PKT_ACKREQ : 0) |
		     (flags & SRN_BUILD_SE ? SRN_PKT_SE : 0), plan->len);
	put_headers(pack->skb, qp, wqe, plan);
	v = put_payload(pack->skb, qp, wqe, plan, false);
	if (v)
		skb_trim(pack->skb, was);
	else
		srn_pack_added(pack, plan->opcode, plan->len);
	return v;
}

static enum srn_verdict put_write(struct srn_qp *qp, struct srn_wqe *wqe, struct srn_reth *reth,
				  struct srn_mem **held)
{
	struct srn_sgl sgl = srn_qp_sgl(qp, wqe->sge, wqe->num_sge);

	srn_reth_set(reth, wqe->rdma.addr, wqe->rdma.rkey, wqe->length);
	if (!wqe->length)
		return SRN_OK;
	if (!(wqe->flags & IB_SEND_INLINE))
		return srn_sgl_read_held(&sgl, reth + 1, wqe->length, held);
	memcpy(reth + 1, wqe->data, wqe->length);
	return SRN_OK;
}

enum srn_verdict srn_build_write(struct srn_qp *qp, struct srn_wqe *wqe, struct srn_pack *pack,
				 struct srn_mem **held)
{
	u32 was = pack->skb->len;
	struct srn_reth *reth;
	enum srn_verdict v;

	reth = srn_pack_next(pack, IB_OPCODE_RC_RDMA_WRITE_ONLY, 0, wqe->length);
	if (!reth)
		return SRN_V_AGAIN;
	v = put_write(qp, wqe, reth, held);
	if (v)
		skb_trim(pack->skb, was);
	else
		srn_pack_added(pack, IB_OPCODE_RC_RDMA_WRITE_ONLY, wqe->length);
	return v;
}
