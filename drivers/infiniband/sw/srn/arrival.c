// SPDX-License-Identifier: GPL-2.0-only
/* The message under way: which packet may follow which, and how far it is. */
#include "arrival.h"

#include <kunit/visibility.h>
#include <linux/export.h>

#include "psn.h"
#include "qp.h"
#include "stats.h"
#include "wire.h"

static void read_range(struct srn_arrival *a)
{
	const struct srn_atomic_eth *atomic;
	const struct srn_reth *reth;

	if (a->info->hdrs & SRN_HDR_RETH) {
		reth = srn_pkt_reth(a->skb);
		a->range.va = be64_to_cpu(reth->va);
		a->range.rkey = be32_to_cpu(reth->rkey);
		a->range.len = be32_to_cpu(reth->len);
	} else if (a->info->hdrs & SRN_HDR_ATOMIC) {
		atomic = srn_pkt_atomic(a->skb);
		a->range.va = be64_to_cpu(atomic->va);
		a->range.rkey = be32_to_cpu(atomic->rkey);
		a->range.len = sizeof(u64);
	} else if (!a->start) {
		a->range = a->msg->range;
		a->offset = a->msg->received;
	}
}

void srn_arrival_init(struct srn_arrival *a, struct srn_qp *qp, struct sk_buff *skb)
{
	*a = (struct srn_arrival) {
		.qp = qp,
		.msg = &qp->resp.msg,
		.skb = skb,
		.pkt = srn_pkt(skb),
		.info = srn_pkt_info(skb),
		.last = srn_pkt_last(skb),
	};
	a->start = a->info->pos == SRN_POS_ONLY || a->info->pos == SRN_POS_FIRST;
	a->end = a->last->pos == SRN_POS_ONLY || a->last->pos == SRN_POS_LAST;
	read_range(a);
}

bool srn_arrival_may_follow(u8 cur_op, u8 op, u8 pos)
{
	bool start = pos == SRN_POS_ONLY || pos == SRN_POS_FIRST;

	if (cur_op == SRN_OP_NONE)
		return start && op != SRN_OP_NONE;
	return !start && op == cur_op;
}
EXPORT_SYMBOL_IF_KUNIT(srn_arrival_may_follow);

bool srn_arrival_len_fits(u8 pos, u32 len, u32 mtu)
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
EXPORT_SYMBOL_IF_KUNIT(srn_arrival_len_fits);

void srn_message_start(struct srn_message *msg, u32 psn)
{
	*msg = (struct srn_message) { .psn = psn };
}

static void forget(struct srn_message *msg)
{
	msg->op = SRN_OP_NONE;
	msg->received = 0;
}

void srn_arrival_done(const struct srn_arrival *a, u32 npsn)
{
	struct srn_message *msg = a->msg;

	if (a->end) {
		forget(msg);
		msg->msn = (msg->msn + 1) & SRN_AETH_MSN;
	} else {
		msg->op = a->info->op;
		msg->range = a->range;
		msg->received = a->offset + a->pkt->len;
	}
	msg->psn = srn_psn_add(a->pkt->psn, npsn);
}

void srn_message_pass(struct srn_message *msg, u32 num)
{
	msg->msn = (msg->msn + num) & SRN_AETH_MSN;
	msg->psn = srn_psn_add(msg->psn, num);
}

void srn_arrival_drop(const struct srn_arrival *a)
{
	forget(a->msg);
	a->msg->lost = !a->end;
}

enum srn_verdict srn_arrival_resync(const struct srn_arrival *a)
{
	struct srn_message *msg = a->msg;
	bool gap = a->pkt->psn != msg->psn;

	msg->psn = srn_psn_add(a->pkt->psn, 1);
	if (!gap && !msg->lost && srn_arrival_may_follow(msg->op, a->info->op, a->info->pos))
		return SRN_OK;
	if (!msg->lost && (gap || msg->op != SRN_OP_NONE))
		srn_count(a->qp->dev, SRN_CNT_UC_LOST);
	forget(msg);
	msg->lost = !a->start && !a->end;
	return a->start ? SRN_OK : SRN_V_DROP;
}
