// SPDX-License-Identifier: GPL-2.0-only
/* What a RC or UC request must be to be executed: one visible list of checks, at
 * the end. None but the last two changes anything.
 */
#include "arrival.h"

#include <kunit/visibility.h>
#include <linux/align.h>
#include <linux/export.h>

#include "limits.h"
#include "mem.h"
#include "qp.h"
#include "responder.h"
#include "rq.h"

static void read_range(struct srn_arrival *a)
{
	const struct srn_atomic_eth *atomic;
	const struct srn_reth *reth;

	if (a->info->hdrs & SRN_HDR_RETH) {
		reth = srn_pkt_reth(a->skb);
		a->va = be64_to_cpu(reth->va);
		a->rkey = be32_to_cpu(reth->rkey);
		a->total = be32_to_cpu(reth->len);
	} else if (a->info->hdrs & SRN_HDR_ATOMIC) {
		atomic = srn_pkt_atomic(a->skb);
		a->va = be64_to_cpu(atomic->va);
		a->rkey = be32_to_cpu(atomic->rkey);
		a->total = sizeof(u64);
	} else if (!a->start) {
		a->va = a->resp->va;
		a->rkey = a->resp->rkey;
		a->total = a->resp->dma_len;
		a->offset = a->resp->received;
	}
}

void srn_arrival_init(struct srn_arrival *a, struct srn_qp *qp, struct sk_buff *skb)
{
	*a = (struct srn_arrival) {
		.qp = qp,
		.resp = &qp->resp,
		.skb = skb,
		.pkt = srn_pkt(skb),
		.info = srn_pkt_info(skb),
	};
	a->start = a->info->pos == SRN_POS_ONLY || a->info->pos == SRN_POS_FIRST;
	a->end = a->info->pos == SRN_POS_ONLY || a->info->pos == SRN_POS_LAST;
	read_range(a);
}

bool srn_responder_may_follow(u8 cur_op, u8 op, u8 pos)
{
	bool start = pos == SRN_POS_ONLY || pos == SRN_POS_FIRST;

	if (cur_op == SRN_OP_NONE)
		return start && op != SRN_OP_NONE;
	return !start && op == cur_op;
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_may_follow);

/* Reserved opcodes have no operation and may follow nothing. */
static enum srn_verdict check_sequence(const struct srn_arrival *a)
{
	return srn_responder_may_follow(a->resp->cur_op, a->info->op, a->info->pos) ?
		SRN_OK : SRN_V_INV_REQ;
}

bool srn_responder_len_fits(u8 pos, u32 len, u32 mtu)
{
	switch (pos) {
	case SRN_POS_FIRST:
	case SRN_POS_MIDDLE:
		return len == mtu;
	case SRN_POS_LAST:
		return len >= 1 && len <= mtu;
	default:
		return len <= mtu;
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_responder_len_fits);

/* offset is at most SRN_MAX_MSG_SIZE and len at most 4096 here: no overflow. */
static bool message_fits(const struct srn_arrival *a)
{
	u32 sum = a->offset + a->pkt->len;

	if (a->info->op == SRN_OP_SEND)
		return sum <= SRN_MAX_MSG_SIZE;
	if (a->total > SRN_MAX_MSG_SIZE)
		return false;
	return a->end ? sum == a->total : sum < a->total;
}

static enum srn_verdict check_length(const struct srn_arrival *a)
{
	bool fits;

	switch (a->info->op) {
	case SRN_OP_SEND:
	case SRN_OP_WRITE:
		fits = srn_responder_len_fits(a->info->pos, a->pkt->len, a->qp->mtu) &&
		       message_fits(a);
		break;
	case SRN_OP_READ_REQ:
		fits = a->total <= SRN_MAX_MSG_SIZE;
		break;
	case SRN_OP_ATOMIC_WRITE:
		fits = a->pkt->len == sizeof(u64) && a->total == sizeof(u64);
		break;
	default:
		fits = true;
	}
	return fits ? SRN_OK : SRN_V_INV_REQ;
}

static int access_needed(u8 op)
{
	switch (op) {
	case SRN_OP_WRITE:
	case SRN_OP_ATOMIC_WRITE:
		return IB_ACCESS_REMOTE_WRITE;
	case SRN_OP_READ_REQ:
		return IB_ACCESS_REMOTE_READ;
	case SRN_OP_CMP_SWAP:
	case SRN_OP_FETCH_ADD:
		return IB_ACCESS_REMOTE_ATOMIC;
	default:
		return 0;
	}
}

/* The start of a message proves its whole range, so that it fails before it has
 * done half its work; the others prove their part again: the key may have gone.
 */
static enum srn_verdict get_mem(struct srn_arrival *a, int access)
{
	u64 from = a->start ? a->va : a->va + a->offset;
	u32 len = a->start ? a->total : a->pkt->len;

	if (!len)
		return SRN_OK;	/* C9-88: no bytes, no key */
	return srn_mem_get_remote(a->qp->dev, a->qp->ibqp.pd, a->qp->ibqp.qp_num, a->rkey, from,
				  len, access, &a->mem);
}

/* By address as the standard has it, and in memory, where a region that begins
 * anywhere may put an aligned address.
 */
static bool is_aligned(const struct srn_arrival *a)
{
	unsigned int off;

	srn_mem_page(a->mem, a->va, &off);
	return IS_ALIGNED(a->va, sizeof(u64)) && IS_ALIGNED(off, sizeof(u64));
}

/* A right that the QP lacks is an unsupported request; one that the region lacks
 * is an access error.
 */
static enum srn_verdict check_rights(struct srn_arrival *a)
{
	int access = access_needed(a->info->op);
	enum srn_verdict v;

	if (!access)
		return SRN_OK;
	if (!(a->qp->access & access))
		return SRN_V_INV_REQ;
	if (srn_arrival_is_atomic(a) && !IS_ALIGNED(a->va, sizeof(u64)))
		return SRN_V_INV_REQ;
	v = get_mem(a, access);
	if (v)
		return v;
	return srn_arrival_is_atomic(a) && !is_aligned(a) ? SRN_V_INV_REQ : SRN_OK;
}

/* Where the payload of a SEND goes, and whom an immediate is told. */
static enum srn_verdict check_receive(const struct srn_arrival *a)
{
	bool send = a->info->op == SRN_OP_SEND;
	enum srn_verdict v;

	if (!send && !srn_arrival_has_imm(a))
		return SRN_OK;
	v = srn_rq_open(a->qp);
	if (v)
		return v;
	if (send && (u64)a->offset + a->pkt->len > a->resp->rwqe.length)
		return SRN_V_RESP_LEN;
	return SRN_OK;
}

/* A peer with more READs and atomics open than was agreed on. */
static enum srn_verdict check_replay(const struct srn_arrival *a)
{
	if (a->info->op != SRN_OP_READ_REQ && !srn_arrival_is_atomic(a))
		return SRN_OK;
	return srn_replay_has_room(&a->resp->replay) ? SRN_OK : SRN_V_INV_REQ;
}

/* In the order of the standard (9.7.4). Rights come before the receive WQE, since
 * taking one cannot be undone.
 */
enum srn_verdict srn_arrival_check(struct srn_arrival *a)
{
	return check_sequence(a) ?:
	       check_length(a) ?:
	       check_rights(a) ?:
	       check_replay(a) ?:
	       check_receive(a);
}
