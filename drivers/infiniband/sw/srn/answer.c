// SPDX-License-Identifier: GPL-2.0-only
/* Answers to READs and atomics (IBTA vol. 1, 9.7.5.1.3): proven, built, sent. */
#include "answer.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <rdma/ib_pack.h>

#include "ack.h"
#include "build.h"
#include "head.h"
#include "lease.h"
#include "limits.h"
#include "mem.h"
#include "opcode.h"
#include "psn.h"
#include "qp.h"
#include "replay.h"
#include "run.h"
#include "sgl.h"
#include "stats.h"
#include "straight.h"
#include "train.h"

static enum srn_verdict get_mem(struct srn_qp *qp, u64 va, u32 rkey, u32 len, struct srn_mem **mem)
{
	*mem = NULL;
	if (!len)
		return SRN_OK;
	return srn_mem_get_remote(&qp->who, rkey, va, len, IB_ACCESS_REMOTE_READ, mem);
}

static void put_mem(struct srn_mem *mem)
{
	if (mem)
		srn_mem_put(mem);
}

/* A standard peer that asks again has given up what it asked for before. What is one too many is as
 * if it were lost.
 */
static void answer_again(struct srn_qp *qp, struct srn_replay_slot *slot, u32 psn, u32 len)
{
	if (!srn_qp_sacks(qp))
		srn_replay_again(&qp->resp.replay, slot, psn, len);
	else if (!srn_replay_add_part(&qp->resp.replay, slot, psn, len, qp->mtu))
		srn_count(qp->dev, SRN_CNT_PARTS_FULL);
}

/* A duplicate may be a stray copy from the network that comes after the memory
 * was rightly taken back: no reason for a NAK.
 */
void srn_answer_again_read(struct srn_qp *qp, u32 psn, const struct srn_range *range)
{
	struct srn_replay_slot *slot = srn_replay_find(&qp->resp.replay, psn);
	struct srn_mem *mem;

	if (!slot || !srn_replay_part(slot, qp->mtu, psn, range))
		return;
	if (get_mem(qp, range->va, range->rkey, range->len, &mem))
		return;
	put_mem(mem);
	/* All that is on its way is behind it: carried_psn may go back for it. */
	static_assert(SRN_RUN_DOUBT >= SRN_WINDOW_READS && SRN_RUN_DOUBT <= U16_MAX);
	/* It may have been lost for being a run. */
	qp->resp.doubt = SRN_RUN_DOUBT;
	answer_again(qp, slot, psn, range->len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_answer_again_read);

void srn_answer_again_atomic(struct srn_qp *qp, u8 op, u32 psn)
{
	struct srn_replay_slot *slot = srn_replay_find(&qp->resp.replay, psn);

	if (slot && slot->op == op)
		answer_again(qp, slot, psn, 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_answer_again_atomic);

/* To those that leave when nothing is held any more. One that could not be built is lost, as on
 * a bad wire: the peer asks again.
 */
static void collect(struct srn_qp *qp, struct sk_buff_head *built, struct sk_buff *skb, u32 psn)
{
	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return;
	}
	__skb_queue_tail(built, skb);
	srn_ack_implied(qp, psn);
}

/* Up to and including @psn. What is answered for the first time is behind all that was. */
static void carried(struct srn_qp *qp, const struct srn_replay_slot *slot, u32 psn)
{
	u32 end = srn_psn_add(psn, 1);

	if (!slot->again || srn_psn_diff(end, qp->resp.carried_psn) > 0)
		qp->resp.carried_psn = end;
}

/* In runs and trains, where the path takes them; the last one does not wait for the next answer. */
static void transmit(struct srn_qp *qp, struct sk_buff_head *built)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(built)))
		srn_run_or_train(&qp->resp.train, &qp->path, skb, !skb_queue_empty(built));
	srn_train_leave(&qp->resp.train, &qp->path);
}

static struct sk_buff *build_read(struct srn_qp *qp, const struct srn_replay_slot *slot,
				  const struct srn_read_packet *pkt, struct srn_mem *mem,
				  bool alone)
{
	struct sk_buff *skb;
	void *to;

	skb = srn_build(pkt->opcode, alone ? SRN_BUILD_ALONE : 0, qp->dest_qpn, slot->psn,
			pkt->len);
	if (!skb)
		return NULL;
	if (pkt->aeth)
		srn_build_aeth(skb, srn_rq_syndrome(qp), slot->msn);
	if (!pkt->len)
		return skb;
	to = srn_build_payload(skb, pkt->len);
	if (!to) {
		kfree_skb(skb);
		return NULL;
	}
	srn_mem_read(mem, pkt->va, to, pkt->len);
	return skb;
}

/* Nothing may overtake the NAK; but a second answer nobody depends on. */
static enum srn_verdict refuse_rest(struct srn_qp *qp, struct srn_replay_slot *slot,
				    enum srn_verdict v)
{
	srn_replay_done(&qp->resp.replay, slot);
	if (slot->again)
		return SRN_OK;
	srn_replay_abandon(&qp->resp.replay);
	return v;
}

/* Copies, since the peer may take the memory back, and does not wait for what is on its way. */
static bool copy_pages(struct sk_buff *skb, struct srn_mem *mem, u64 va, u32 len)
{
	void *to;
	u32 here;

	for (; len; len -= here, va += here) {
		to = srn_head_add_page(skb, len, &here);
		if (!to)
			return false;
		srn_mem_read(mem, va, to, here);
	}
	return true;
}

/* What stands in front of the @len bytes of @num packets as one. */
static struct sk_buff *begin_run(struct srn_qp *qp, const struct srn_replay_slot *slot,
				 const struct srn_read_packet *pkt, u32 num, u32 len,
				 const struct srn_lease *lease, bool bare)
{
	struct srn_run run = {
		.num = num,
		.each = qp->mtu,
		.opcode = IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
		.flags = (lease ? SRN_PKT_LENT : 0) | (bare ? SRN_PKT_BARE : 0),
		.rest = bare ? len - (num - 1) * qp->mtu : 0,
	};
	struct sk_buff *skb;

	if (len == pkt->left) {
		run.opcode = IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST;
		run.word = srn_build_smsn(srn_rq_syndrome(qp), slot->msn);
	}
	skb = srn_build(pkt->opcode, 0, qp->dest_qpn, slot->psn, sizeof(run) + sizeof(*lease));
	if (!skb)
		return NULL;
	if (pkt->aeth)
		srn_build_aeth(skb, srn_rq_syndrome(qp), slot->msn);
	srn_run_put(skb, &qp->path, &run);
	if (lease)
		skb_put_data(skb, lease, sizeof(*lease));
	return skb;
}

/* By reference; who takes the memory back does not wait for it, it is lost then. NULL: not so. */
static struct sk_buff *lend_run(struct srn_qp *qp, const struct srn_replay_slot *slot,
				const struct srn_read_packet *pkt, struct srn_mem *mem, u32 num,
				u32 len)
{
	struct srn_lease lease;
	struct sk_buff *skb;

	srn_lease_make(&lease, mem, qp->who.qpn);
	skb = begin_run(qp, slot, pkt, num, len, &lease, false);
	if (!skb || !srn_mem_attach(mem, pkt->va, skb, len))
		return skb;
	kfree_skb(skb);
	return NULL;
}

static struct sk_buff *copy_run(struct srn_qp *qp, const struct srn_replay_slot *slot,
				const struct srn_read_packet *pkt, struct srn_mem *mem, u32 num,
				u32 len)
{
	struct sk_buff *skb = begin_run(qp, slot, pkt, num, len, NULL, false);

	if (!skb || copy_pages(skb, mem, pkt->va, len))
		return skb;
	kfree_skb(skb);
	return NULL;
}

/* @num packets as one; @whole: which nothing on this host has to cut. */
static struct sk_buff *build_run(struct srn_qp *qp, const struct srn_replay_slot *slot,
				 const struct srn_read_packet *pkt, struct srn_mem *mem, u32 num,
				 bool whole)
{
	u32 len = min(num * qp->mtu, pkt->left);
	struct sk_buff *skb = NULL;

	if (whole && srn_lease_may(mem))
		skb = lend_run(qp, slot, pkt, mem, num, len);
	return skb ?: copy_run(qp, slot, pkt, mem, num, len);
}

/* One by itself would be carried, and so would be what follows until it has come: none is left over at
 * the end. Where a round has room for one alone it is carried all the same.
 */
static u32 bare_packets(struct srn_qp *qp, const struct srn_read_packet *pkt, int budget)
{
	u32 left = DIV_ROUND_UP(pkt->left, qp->mtu), num = min_t(u32, budget, left);

	if (pkt->last || qp->resp.doubt)
		return 1;
	if (left - num == 1 && num > 2)
		num--;
	return srn_run_bare_packets(&qp->path, num);
}

/* Where who asked is on this host too, and nobody looks in between: the bytes go to their place, and what
 * leaves says so. NULL: not so.
 */
static struct sk_buff *place(struct srn_qp *qp, const struct srn_replay_slot *slot,
			     const struct srn_read_packet *pkt, struct srn_mem *mem, u32 num)
{
	u32 len = min(num * qp->mtu, pkt->left);

	if (num < 2 || !srn_straight_place(qp, slot->psn, num, mem, pkt->va, len))
		return NULL;
	return begin_run(qp, slot, pkt, num, len, NULL, true);
}

static u32 run_packets(struct srn_qp *qp, const struct srn_read_packet *pkt, int budget,
		       bool *whole)
{
	if (pkt->last || qp->resp.doubt || qp->mtu < SRN_REF_MIN)
		return 1;
	return srn_run_packets(&qp->path, min_t(u32, budget, DIV_ROUND_UP(pkt->left, qp->mtu)),
			       qp->mtu, whole);
}

/* What has its bytes: a run, if it may be one, or a packet; @num: how many packets that is. @first: nothing
 * leaves before it.
 */
static struct sk_buff *carry(struct srn_qp *qp, struct srn_replay_slot *slot,
			     const struct srn_read_packet *pkt, struct srn_mem *mem, bool first,
			     int budget, u32 *num)
{
	struct sk_buff *skb = NULL;
	bool whole = false;

	*num = run_packets(qp, pkt, budget, &whole);
	if (*num > 1)
		skb = build_run(qp, slot, pkt, mem, *num, whole);
	if (!skb) {
		*num = 1;
		skb = build_read(qp, slot, pkt, mem, pkt->last && first);
	}
	carried(qp, slot, srn_psn_add(slot->psn, *num - 1));
	return skb;
}

/* A packet of the answer, or a run; returns how many packets that are. */
static u32 build_next(struct srn_qp *qp, struct srn_replay_slot *slot, struct srn_mem *mem,
		      struct sk_buff_head *built, struct srn_read_packet *pkt, int budget)
{
	struct sk_buff *skb;
	u32 num;

	srn_replay_packet(slot, qp->mtu, pkt);
	num = bare_packets(qp, pkt, budget);
	skb = place(qp, slot, pkt, mem, num);
	if (!skb)
		skb = carry(qp, slot, pkt, mem, skb_queue_empty(built), budget, &num);
	qp->resp.doubt -= min_t(u32, qp->resp.doubt, num);
	collect(qp, built, skb, srn_psn_add(slot->psn, num - 1));
	return num;
}

/* What this round's budget has of a READ's answer. Returns true if that was the end of it. */
static bool build_part(struct srn_qp *qp, struct srn_replay_slot *slot, struct srn_mem *mem,
		       struct sk_buff_head *built, int *budget)
{
	struct srn_read_packet pkt;
	bool end;
	u32 num;

	do {
		num = build_next(qp, slot, mem, built, &pkt, *budget);
		end = num * qp->mtu >= pkt.left;
		srn_replay_advance(slot, num);
		*budget -= num;
	} while (!end && *budget > 0);
	return end;
}

/* The key is proven for what is left of the answer, once a round: a region that goes away in
 * the middle ends the answer with a NAK (remote access error). Nothing is held when packets
 * leave: who takes the memory back must not wait for the stack below.
 */
static enum srn_verdict send_read(struct srn_qp *qp, struct srn_replay_slot *slot, int *budget)
{
	struct srn_read_packet pkt;
	struct sk_buff_head built;
	enum srn_verdict v;
	struct srn_mem *mem;
	bool end;

	srn_replay_packet(slot, qp->mtu, &pkt);
	v = get_mem(qp, pkt.va, slot->range.rkey, pkt.left, &mem);
	if (v) {
		--*budget;
		return refuse_rest(qp, slot, v);
	}
	__skb_queue_head_init(&built);
	end = build_part(qp, slot, mem, &built, budget);
	put_mem(mem);
	transmit(qp, &built);
	if (end)
		srn_replay_done(&qp->resp.replay, slot);
	return SRN_OK;
}

/* Annex A19: an atomic write is answered like a READ of nothing. */
static struct sk_buff *build_atomic(struct srn_qp *qp, const struct srn_replay_slot *slot)
{
	bool write = slot->op == SRN_OP_ATOMIC_WRITE;
	struct sk_buff *skb;

	skb = srn_build(write ? IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY :
				IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
			SRN_BUILD_ALONE, qp->dest_qpn, slot->first_psn, 0);
	if (!skb)
		return NULL;
	srn_build_aeth(skb, srn_rq_syndrome(qp), slot->msn);
	if (!write)
		srn_build_atomic_ack(skb, slot->orig);
	return skb;
}

static enum srn_verdict send_slot(struct srn_qp *qp, struct srn_replay_slot *slot, int *budget)
{
	struct sk_buff_head built;

	if (slot->op == SRN_OP_READ_REQ)
		return send_read(qp, slot, budget);
	__skb_queue_head_init(&built);
	collect(qp, &built, build_atomic(qp, slot), slot->first_psn);
	carried(qp, slot, slot->first_psn);
	transmit(qp, &built);
	srn_replay_done(&qp->resp.replay, slot);
	--*budget;
	return SRN_OK;
}

/* Before what is answered for the first time: so what a peer asked for later comes later. Each takes
 * of the budget, also one that is not answered any more.
 */
static void send_parts(struct srn_qp *qp, int *budget)
{
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot as;

	while (replay->num_parts && *budget > 0) {
		if (!srn_replay_first_part(replay, &as)) {
			--*budget;
			continue;
		}
		send_slot(qp, &as, budget);
		srn_replay_part_sent(replay, &as);
	}
}

enum srn_verdict srn_answer_send(struct srn_qp *qp, int *budget, u32 *psn)
{
	struct srn_replay_slot *slot;
	enum srn_verdict v = SRN_OK;
	u32 age = 0;

	send_parts(qp, budget);
	while (!v && *budget > 0) {
		slot = srn_replay_next(&qp->resp.replay, &age);
		if (!slot)
			break;
		v = send_slot(qp, slot, budget);
		*psn = slot->psn;
	}
	return v;
}
EXPORT_SYMBOL_IF_KUNIT(srn_answer_send);
